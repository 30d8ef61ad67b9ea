"""`make findings`: the figures of docs/findings.md, from what lies in papers/results and, of automata, from the zoo."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from stacklens.automata.formats.dot import render, to_dot
from stacklens.languages import get_language
from stacklens.papers.foreseen import foreseen
from stacklens.papers.observations import observations
from stacklens.papers.sun1993_measures import zoo_automaton
from stacklens.viz.calibration import calibration_figure
from stacklens.viz.paper_figures import (
    OUTCOMES,
    Trained,
    horizons_figure,
    measured_grids,
    outcome_of,
    outcomes_figure,
    trained_networks,
)
from stacklens.viz.pictures import picture

FOLDER = Path(__file__).parent
# figures of Sun et al. 1993 by the network whose automaton they show, with its levels a neuron: before merging states,
# those that become one in a box, and after it
AUTOMATA = {"parentheses": (5, "7", None), "1n0n": (2, "8", "9"), "palindrome": (2, "11", "12")}


def main() -> None:
    """Write all figures, and print what came of how many networks."""
    simplest = get_language("palindrome").automaton
    (FOLDER / "sun1993-fig10.svg").write_bytes(render(to_dot(simplest, "Sun et al. 1993, figure 10"), "svg"))
    for name, figures in AUTOMATA.items():
        _draw_automata(name, *figures)
    networks = trained_networks()
    known = foreseen(observations(measured_grids()))
    pictures = {
        "outcomes": outcomes_figure(networks),
        "horizons": horizons_figure(networks),
        "calibration": calibration_figure(known.values()),
    }
    for name, figure in pictures.items():
        path = FOLDER / f"findings-{name}.svg"
        path.write_bytes(picture(figure, "svg", "stacklens: findings"))
        print(f"wrote docs/{path.name}")
    counts = Counter(outcome_of(one.network) for one in networks)
    print("; ".join(f"{outcome}: {counts[outcome]}" for outcome in OUTCOMES))
    for model in dict.fromkeys(map(_model, networks)):
        if model:
            counts = Counter(outcome_of(one.network) for one in networks if _model(one) == model)
            print(f"{model}: " + "; ".join(f"{outcome}: {counts[outcome]}" for outcome in OUTCOMES))


def _draw_automata(name: str, levels: int, before: str, after: str | None) -> None:
    found = zoo_automaton(name, levels)
    for figure, pda in ((before, found.raw), (after, found.alike.automaton)):
        if figure is not None:
            path = FOLDER / f"sun1993-fig{figure}.svg"
            groups = {state: found.alike.states[state] for state in pda.states}
            path.write_bytes(render(to_dot(pda, f"Sun et al. 1993, figure {figure}: ours", groups), "svg"))
            print(f"wrote docs/{path.name}")


def _model(one: Trained) -> str:
    """Return which of the models of Suzgun et al. it is, "" for those of others."""
    return one.row.split(",")[0] if one.table.startswith("suzgun") else ""


if __name__ == "__main__":
    main()
