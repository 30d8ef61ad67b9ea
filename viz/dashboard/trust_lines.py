"""The Python lines that make what the Trust page shows."""

from __future__ import annotations

from stacklens.viz.dashboard.extractions import Settings, settings_known
from stacklens.viz.dashboard.networks import file_of

__all__ = ["lines_for"]

_REST = (("stacklens.extract.names", "reference_of"), ("stacklens.models.loading", "load_network"))
_CALLS: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "claims": ((("stacklens.viz.trust", "claim_table"),), ("claim_table(result.report())",)),
    "checks": ((("stacklens.viz.trust", "check_table"),), ("check_table(result.report())",)),
    "coverage": ((("stacklens.viz.coverage", "coverage_table"),), ("coverage_table(result.automaton)",)),
    "accuracy": (
        (("stacklens.viz.accuracy", "accuracy_figure"), ("stacklens.viz.lengths", "scores_by_size")),
        ("accuracy_figure(scores_by_size(checkpoint.model, reference, result.automaton)).show()",),
    ),
    "judged": (
        (("pathlib", "Path"), ("stacklens.viz.word_list", "judge, parse_words, word_table")),
        (
            "words = parse_words(Path('words.txt').read_text(), checkpoint.model.alphabet)",
            "word_table(judge(checkpoint.model, words, result.automaton, reference, result.stacks.stacks))",
        ),
    ),
}


def lines_for(panel: str, name: str) -> str:
    """Return the Python lines that make a panel of the page: "claims", "checks", "coverage", "accuracy", "judged".

    Raises:
        StacklensError: there is no network called ``name``.
    """
    settings = settings_known(name) or Settings()
    language, config = settings.arguments()
    imports, call = _CALLS[panel]
    extraction = ("stacklens.extract.extraction", "ExtractionConfig, extract" if config else "extract")
    lines = [
        *(f"from {module} import {made}" for module, made in sorted((extraction, *_REST, *imports))),
        "",
        f"checkpoint = load_network({file_of(name)!r})",
        f"reference = reference_of(checkpoint{language})",
        f"result = extract(checkpoint.model, reference{config})",
        *call,
    ]
    return "\n".join(lines)
