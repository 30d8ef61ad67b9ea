"""`make findings`: the figures of docs/findings.md, from what lies in papers/results and, of automata, from the zoo."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from stacklens.automata.formats.dot import render, to_dot
from stacklens.extract.by_name import specification_of
from stacklens.extract.extraction import ExtractionConfig, extract
from stacklens.languages import get_language
from stacklens.models.io import load_checkpoint
from stacklens.viz.paper_figures import (
    OUTCOMES,
    Trained,
    horizons_figure,
    outcome_of,
    outcomes_figure,
    trained_networks,
)
from stacklens.viz.pictures import picture

FOLDER = Path(__file__).parent
ZOO = FOLDER.parent / "models" / "zoo"
# figures of Sun et al. 1993 by the network whose automaton they show: before merging states, and after it
AUTOMATA = {"parentheses": ("7", None), "1n0n": ("8", "9"), "palindrome": ("11", "12")}


def main() -> None:
    """Write all figures, and print what came of how many networks."""
    simplest = get_language("palindrome").automaton
    (FOLDER / "sun1993-fig10.svg").write_bytes(render(to_dot(simplest, "Sun et al. 1993, figure 10"), "svg"))
    for name, figures in AUTOMATA.items():
        _draw_automata(name, figures)
    networks = trained_networks()
    pictures = {
        "outcomes": outcomes_figure(networks),
        "horizons": horizons_figure(networks),
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


def _draw_automata(name: str, figures: tuple[str, str | None]) -> None:
    checkpoint = load_checkpoint(ZOO / f"nnpda-{name}.pt")
    found = extract(
        checkpoint.model, specification_of(checkpoint), ExtractionConfig(method="kmeans")
    )  # as the paper does
    for figure, pda in zip(figures, (found.raw, found.minimised), strict=True):
        if figure is not None and pda is not None:
            path = FOLDER / f"sun1993-fig{figure}.svg"
            path.write_bytes(render(to_dot(pda, f"Sun et al. 1993, figure {figure}: ours"), "svg"))
            print(f"wrote docs/{path.name}")


def _model(one: Trained) -> str:
    """Return which of the models of Suzgun et al. it is, "" for those of others."""
    return one.row.split(",")[0] if one.table.startswith("suzgun") else ""


if __name__ == "__main__":
    main()
