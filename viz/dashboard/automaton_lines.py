"""The Python lines that make what the Automaton page shows."""

from __future__ import annotations

from stacklens.viz.dashboard.automaton_views import Shown
from stacklens.viz.dashboard.networks import file_of

__all__ = ["python_lines"]


def python_lines(one: Shown, text: str, rounded: bool) -> dict[str, str]:
    """Return, for every panel by name, the Python lines that make it."""
    language, config = one.settings.arguments()
    begin = [
        f"from stacklens.extract.extraction import {'ExtractionConfig, ' if config else ''}extract",
        "from stacklens.extract.names import reference_of",
        "from stacklens.models.loading import load_network",
    ]
    automaton = [
        "",
        f"checkpoint = load_network({file_of(one.network)!r})",
        f"reference = reference_of(checkpoint{language})",
        f"found = extract(checkpoint.model, reference{config})",
        f"pda = found.{'raw' if one.raw else 'automaton'}",
    ]
    runner = f"{'Rounded(checkpoint.model)' if rounded else 'checkpoint.model'}"
    tracing = [
        *(["from stacklens.models.rounding import Rounded"] if rounded else []),
        "from stacklens.probe.trace import trace",
    ]
    words = "trace(network, visiting_words(network, reference), stacks=False)"

    def lines(imports: list[str], body: list[str]) -> str:
        return "\n".join([*begin, *imports, *automaton, *body])

    return {
        "drawing": lines(
            ["from pathlib import Path", "from stacklens.viz.automaton_drawing import automaton_drawing"],
            ['Path("automaton.svg").write_text(automaton_drawing(pda), encoding="utf-8")'],
        ),
        "stacks": lines(
            [
                "from stacklens.languages.words import parse_word",
                *tracing,
                "from stacklens.viz.automaton_stacks import stacks_figure",
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
                "from stacklens.viz.automaton_runs import run_table",
            ],
            [f"print(run_table(pda, parse_word({text!r}, checkpoint.model.alphabet)))"],
        ),
        "transitions": lines(["from stacklens.viz.tables import transition_table"], ["print(transition_table(pda))"]),
        "definition": lines(["from stacklens.viz.tables import formal_definition"], ["print(formal_definition(pda))"]),
        "map": lines(
            [*tracing, "from stacklens.viz.visits import state_map, visiting_words"],
            [f"network = {runner}", f"state_map(network, {words}, pda).show()"],
        ),
        "visits": lines(
            [*tracing, "from stacklens.viz.visits import visit_table, visiting_words"],
            [f"network = {runner}", f"print(visit_table(pda, {words}))"],
        ),
    }
