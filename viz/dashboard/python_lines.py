"""The Python lines that make what the pages show: the public face, and what draws where that has no method for it."""

from __future__ import annotations

from collections.abc import Sequence

from stacklens.viz.dashboard.automaton_views import Shown
from stacklens.viz.dashboard.extractions import ExtractionSettings, settings_known
from stacklens.viz.dashboard.networks import file_of
from stacklens.viz.dashboard.saved import is_saved, saved

__all__ = ["automaton_lines", "program", "trust_lines", "word_lines"]

_TRUST = "stacklens.extract.evaluation.trust"
_JUDGE = "judge_words(network, words, result.minimised, result.language, result.memories)"
_CALLS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # of claims and checks: imports and lines
    "claims": ((f"from {_TRUST} import claim_table",), ("claim_table(result.report())",)),
    "checks": ((f"from {_TRUST} import check_table",), ("check_table(result.report())",)),
    "coverage": ((f"from {_TRUST} import coverage_table",), ("coverage_table(result.automaton)",)),
    "accuracy": (
        (
            "from stacklens.extract.evaluation.accuracy_by_size import scores_by_size",
            "from stacklens.viz.curves import accuracy_figure",
        ),
        ("accuracy_figure(scores_by_size(network, result.language, result.minimised)).show()",),
    ),
    "causes": (
        ("from stacklens.viz.probing import causality_figure",),
        ("causality_figure(result.causal()).show()",),
    ),
    "interchanges": ((), ("result.causal()",)),
    "judged": (
        (
            "from pathlib import Path",
            "from stacklens.extract.evaluation.word_list import judge_words, parse_words, word_table",
        ),
        ("words = parse_words(Path('words.txt').read_text(), network.alphabet)", f"word_table({_JUDGE})"),
    ),
}


def program(network: str, imports: Sequence[str], body: Sequence[str]) -> str:
    """Return the lines that open the network, or the saved result, called ``network``, and then do ``body``."""
    opening = [f"network = sl.load({file_of(network)!r})"]
    if is_saved(network):  # nothing is extracted again
        opening = [f"result = {saved(network).call}", "network = result.model"]
        body = [line for line in body if not line.startswith("result = ")]
    return "\n".join(["import stacklens as sl", *imports, "", *opening, *body])


def automaton_lines(one: Shown, text: str, rounded: bool) -> dict[str, str]:
    """Return, for every panel by name, the Python lines that make it."""
    pda = f"result.{'raw' if one.raw else 'automaton'}"
    word = f"parse_word({text!r}, network.alphabet)"
    how = ", rounded=True" if rounded else ""
    on_the_word = f"seen = sl.trace(network, {text!r}{how}, stacks=True)"
    on_many = f"seen = sl.trace(network, visiting_words(network, result.language){how}, stacks=False)"
    runs = "from stacklens.extract.evaluation.automaton_runs import"
    panels: dict[str, tuple[list[str], list[str]]] = {
        "drawing": ([], [f'{pda}.save("automaton.svg")']),
        "stacks": (
            ["from stacklens.viz.automaton import stacks_figure"],
            [on_the_word, f"stacks_figure(seen.model, seen, {pda}, stacks=result.memories).show()"],
        ),
        "steps": (
            [f"{runs} run_table", "from stacklens.languages.words import parse_word"],
            [f"print(run_table({pda}, {word}))"],
        ),
        "transitions": (
            ["from stacklens.automata.description import transition_table"],
            [f"print(transition_table({pda}))"],
        ),
        "definition": ([], [f"print({pda})"]),
        "map": (
            [f"{runs} visiting_words", "from stacklens.viz.hidden import state_map"],
            [on_many, f"state_map(seen.model, seen, {pda}).show()"],
        ),
        "drift": (
            ["from stacklens.viz.drift_curve import drift_figure"],
            ["if result.drift is not None:", "    drift_figure(result.drift).show()"],
        ),
        "visits": ([f"{runs} visit_table, visiting_words"], [on_many, f"print(visit_table({pda}, seen))"]),
    }
    extracted = f"result = {one.settings.call()}"
    return {name: program(one.network, imports, [extracted, *body]) for name, (imports, body) in panels.items()}


def trust_lines(panel: str, name: str) -> str:
    """Return the Python lines that make a panel of the page: "claims", "checks", "coverage", "accuracy",
    "causes", "interchanges", "judged".

    Raises:
        StacklensError: there is no network called ``name``.
    """
    settings = settings_known(name) or ExtractionSettings()
    imports, call = _CALLS[panel]
    return program(name, imports, [f"result = {settings.call()}", *call])


def word_lines(name: str, text: str, rounded: bool) -> str:
    """Return the Python lines that give what stands in the step table of a word."""
    given = "Rounded(network)" if rounded else "network"
    imports = ["from stacklens.languages.words import parse_word", "from stacklens.viz.bench.word import word_data"]
    if rounded:
        imports.insert(1, "from stacklens.models.rounding import Rounded")
    settings = settings_known(name)
    found = [] if settings is None else [f"result = {settings.call()}"]
    rest = "" if settings is None else ", result.minimised, result.language"
    word = f"parse_word({text!r}, network.alphabet)"
    return program(name, imports, [*found, f"word_data({given}, {word}{rest})"])
