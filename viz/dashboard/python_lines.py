"""The Python lines that make what the Automaton and the Trust page show."""

from __future__ import annotations

from stacklens.viz.dashboard.automaton_views import (
    Shown,
)
from stacklens.viz.dashboard.extractions import (
    ExtractionSettings,
    settings_known,
)
from stacklens.viz.dashboard.networks import file_of

__all__ = ["automaton_lines", "trust_lines"]

_REST = (("stacklens.extract.by_name", "specification_of"), ("stacklens.models.io", "load_network"))
_CALLS: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "claims": ((("stacklens.extract.evaluation.trust", "claim_table"),), ("claim_table(result.report())",)),
    "checks": ((("stacklens.extract.evaluation.trust", "check_table"),), ("check_table(result.report())",)),
    "coverage": ((("stacklens.extract.evaluation.trust", "coverage_table"),), ("coverage_table(result.automaton)",)),
    "accuracy": (
        (
            ("stacklens.viz.curves", "accuracy_figure"),
            ("stacklens.extract.evaluation.accuracy_by_size", "scores_by_size"),
        ),
        ("accuracy_figure(scores_by_size(checkpoint.model, specification, result.automaton)).show()",),
    ),
    "judged": (
        (("pathlib", "Path"), ("stacklens.extract.evaluation.word_list", "judge_words, parse_words, word_table")),
        (
            "words = parse_words(Path('words.txt').read_text(), checkpoint.model.alphabet)",
            "word_table(judge_words(checkpoint.model, words, result.automaton, specification, result.stacks.stacks))",
        ),
    ),
}


def automaton_lines(one: Shown, text: str, rounded: bool) -> dict[str, str]:
    """Return, for every panel by name, the Python lines that make it."""
    language, config = one.settings.arguments()
    begin = [
        f"from stacklens.extract.extraction import {'ExtractionConfig, ' if config else ''}extract",
        "from stacklens.extract.by_name import specification_of",
        "from stacklens.models.io import load_network",
    ]
    automaton = [
        "",
        f"checkpoint = load_network({file_of(one.network)!r})",
        f"specification = specification_of(checkpoint{language})",
        f"found = extract(checkpoint.model, specification{config})",
        f"pda = found.{'raw' if one.raw else 'automaton'}",
    ]
    runner = f"{'Rounded(checkpoint.model)' if rounded else 'checkpoint.model'}"
    tracing = [
        *(["from stacklens.models.rounding import Rounded"] if rounded else []),
        "from stacklens.probe.trace import trace",
    ]
    words = "trace(network, visiting_words(network, specification), stacks=False)"

    def lines(imports: list[str], body: list[str]) -> str:
        return "\n".join([*begin, *imports, *automaton, *body])

    return {
        "drawing": lines(
            ["from pathlib import Path", "from stacklens.viz.automaton import automaton_drawing"],
            ['Path("automaton.svg").write_text(automaton_drawing(pda), encoding="utf-8")'],
        ),
        "stacks": lines(
            [
                "from stacklens.languages.words import parse_word",
                *tracing,
                "from stacklens.viz.automaton import stacks_figure",
            ],
            [
                f"network = {runner}",
                f"word = parse_word({text!r}, network.alphabet)",
                "stacks_figure(network, trace(network, [word], stacks=True), pda, stacks=found.stacks.stacks).show()",
            ],
        ),
        "steps": lines(
            [
                "from stacklens.languages.words import parse_word",
                "from stacklens.extract.evaluation.automaton_runs import run_table",
            ],
            [f"print(run_table(pda, parse_word({text!r}, checkpoint.model.alphabet)))"],
        ),
        "transitions": lines(
            ["from stacklens.automata.description import transition_table"], ["print(transition_table(pda))"]
        ),
        "definition": lines(
            ["from stacklens.automata.description import formal_definition"], ["print(formal_definition(pda))"]
        ),
        "map": lines(
            [
                *tracing,
                "from stacklens.extract.evaluation.automaton_runs import visiting_words",
                "from stacklens.viz.hidden import state_map",
            ],
            [f"network = {runner}", f"state_map(network, {words}, pda).show()"],
        ),
        "visits": lines(
            [*tracing, "from stacklens.extract.evaluation.automaton_runs import visit_table, visiting_words"],
            [f"network = {runner}", f"print(visit_table(pda, {words}))"],
        ),
    }


def trust_lines(panel: str, name: str) -> str:
    """Return the Python lines that make a panel of the page: "claims", "checks", "coverage", "accuracy", "judged".

    Raises:
        StacklensError: there is no network called ``name``.
    """
    settings = settings_known(name) or ExtractionSettings()
    language, config = settings.arguments()
    imports, call = _CALLS[panel]
    extraction = ("stacklens.extract.extraction", "ExtractionConfig, extract" if config else "extract")
    lines = [
        *(f"from {module} import {made}" for module, made in sorted((extraction, *_REST, *imports))),
        "",
        f"checkpoint = load_network({file_of(name)!r})",
        f"specification = specification_of(checkpoint{language})",
        f"result = extract(checkpoint.model, specification{config})",
        *call,
    ]
    return "\n".join(lines)
