"""`make findings`: the tables and the figures of docs/findings.md, from what lies in papers/results."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from stacklens.viz.findings import OUTCOMES, margins_figure, outcome_of, outcomes_figure, trained_networks
from stacklens.viz.pictures import picture

FOLDER = Path(__file__).parent


def main() -> None:
    """Write docs/findings-outcomes.svg and docs/findings-margins.svg, and print what came of how many networks."""
    networks = trained_networks()
    for name, figure in (("outcomes", outcomes_figure(networks)), ("margins", margins_figure(networks))):
        path = FOLDER / f"findings-{name}.svg"
        path.write_bytes(picture(figure, "svg", "stacklens: findings"))
        print(f"wrote docs/{path.name}")
    counts = Counter(outcome_of(one.network) for one in networks)
    print("; ".join(f"{outcome}: {counts[outcome]}" for outcome in OUTCOMES))


if __name__ == "__main__":
    main()
