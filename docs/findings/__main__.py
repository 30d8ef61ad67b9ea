"""`make findings`: write docs/findings.md, the tables in docs/papers/rows.md and results.md, and the figures.

    python -m docs.findings [--results FOLDER]

Everything is computed from the results files here and in papers/results; the automata of Sun et al. 1993, from the zoo.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from docs.findings import load
from docs.findings.comparisons import comparisons
from docs.findings.effects import asked, mechanisms
from docs.findings.experiments import compared
from docs.findings.figures import (
    boxes_figure,
    design_figure,
    draw_automata,
    mechanism_figure,
    repair_figure,
    rows_figure,
    steady,
)
from docs.findings.text import figures_of, filled
from docs.papers.explained import costs_and_reruns, differences, with_part
from plotly.graph_objects import Figure

from stacklens.core.errors import StacklensError
from stacklens.core.files import write_whole
from stacklens.papers.results import FOLDER
from stacklens.papers.runner import EXPERIMENTS
from stacklens.papers.tables import findings_section, readme_section, with_section
from stacklens.viz.report import picture

DOCS = Path(__file__).parents[1]
RESULTS, ROWS = DOCS / "papers" / "results.md", DOCS / "papers" / "rows.md"


def findings(folder: Path = FOLDER) -> str:
    """Return the whole text of docs/findings.md, from the results in ``folder``."""
    template = (DOCS / "findings_text.md").read_text(encoding="utf-8")
    return filled(template, figures_of(folder))


def drawn(measured: load.Measured) -> dict[str, Figure]:
    """Return the five figures, one a result, by the names of their files."""
    repairs = json.loads((DOCS / "repairs.json").read_text(encoding="utf-8"))
    return {
        "rows": rows_figure(comparisons(measured, load.networks(measured))),
        "design": design_figure(asked()),
        "mechanism": mechanism_figure(mechanisms()),
        "repair": repair_figure([one for one in repairs if "/" in one["network"]]),
        "boxes": boxes_figure(compared()),
    }


def main() -> None:
    """Write all, and print what came of how many networks."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--results", type=Path, default=FOLDER, help="folder of the results (default: ours)")
    folder = options.parse_args().results
    try:  # nothing is written before all of the text is there
        results = with_part(with_section(RESULTS, readme_section(EXPERIMENTS, folder)), "costs", costs_and_reruns())
        rows = with_part(with_section(ROWS, findings_section(EXPERIMENTS, folder)), "differences", differences(folder))
        written = {RESULTS: results, ROWS: rows, DOCS / "findings.md": findings(folder)}
    except StacklensError as error:
        options.error(str(error))
    for path, content in written.items():
        write_whole(path, content)
    measured = load.measured_grids(folder)
    for name, figure in drawn(measured).items():
        (DOCS / f"findings-{name}.svg").write_bytes(steady(picture(figure, "svg", "stacklens: findings")))
        print(f"wrote docs/findings-{name}.svg")
    draw_automata(DOCS)


if __name__ == "__main__":
    main()
