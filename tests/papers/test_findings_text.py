"""The text of the findings: made from the results alone, byte for byte, with no number of its own."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from stacklens.errors import StacklensError
from stacklens.papers.comparisons import Comparison, comparisons, comparisons_table, holm
from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.findings import BEGIN, END, findings_section, with_section
from stacklens.papers.grid import Grid, GridRow
from stacklens.papers.grid_results import GridResults, Network, RowResult, read_grid, write_grid
from stacklens.papers.results import FOLDER
from stacklens.papers.statements import figures_of, filled

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATE = DOCS / "findings_text.md"
# what may stand in the text with digits of its own: names, references, and definitions
NAMES = (
    r"\{\{[^}]*\}\}|\]\([^)]*\)|<!--.*?-->|`[^`]*`|\b(19|20)\d\d\b|\bD\d\b|[Ff]igures? \d+( to \d+)?|1\\\^n 0\\\^n"
    r"|\b(5|9[59]) %|about 100 symbols|[Ss]tatus 0|section \d[\d.() ]*"
)


def test_text_and_results_do_not_part() -> None:
    figures = figures_of(EXPERIMENTS, FOLDER, DOCS / "interchanges.json")
    written = with_section(TEMPLATE, findings_section(EXPERIMENTS, FOLDER), figures)
    assert written.encode() == (DOCS / "findings.md").read_bytes(), "run `make findings`"


def test_the_text_has_no_number_of_its_own() -> None:
    prose = re.sub(NAMES, "", TEMPLATE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert [line for line in prose.splitlines() if re.search(r"\d", line)] == []


def test_other_results_make_another_text(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    shutil.copytree(FOLDER, folder)
    name = "suzgun2019-table2"
    found = read_grid(name, folder)
    assert found is not None
    place = next(i for i, row in enumerate(found.rows) if any(one.converged for one in row.networks))
    row = found.rows[place]
    lost = tuple(replace(one, converged=False, scores={**one.scores, "test": 0.0}) for one in row.networks)
    rows = (*found.rows[:place], replace(row, networks=lost), *found.rows[place + 1 :])
    write_grid(replace(found, rows=rows), folder)
    text = TEMPLATE.read_text(encoding="utf-8")
    before, after = (figures_of(EXPERIMENTS, one) for one in (FOLDER, folder))
    assert before["converged"] != after["converged"]
    assert before["all read"] != after["all read"]
    assert filled(text, before) != filled(text, after)


def test_a_figure_that_is_not_measured_is_named(tmp_path: Path) -> None:
    template = tmp_path / "text.md"
    template.write_text(f"There are {{{{ no such thing }}}}.\n{BEGIN}\n{END}\n", encoding="utf-8")
    with pytest.raises(
        StacklensError, match=r"text\.md: the text asks for .no such thing., of which nothing is measured"
    ):
        with_section(template, "tables", {})


def test_only_differences_beyond_noise_are_called_so() -> None:
    rows = tuple(
        GridRow(name, {"model": name}, lambda _: [], {"test mean": printed})
        for name, printed in (("same", "70"), ("noise", "40"), ("less", "100"))
    )
    grid = Grid("toy", "Nobody 1993", "t", rows, ("test",), ("mean",))

    def run(name: str, data_seed: int) -> RowResult:
        networks = tuple(Network(seed, {"test": float(seed < 7)}, seed < 7) for seed in range(10))
        return RowResult(name, "fast", tuple(range(10)), 1.0, "cpu", networks, {}, {}, "", data_seed=data_seed)

    found = comparisons([(grid, GridResults("", "toy", "", tuple(run(row.name, 0) for row in rows)))])
    assert [(one.row, one.differs) for one in found] == [("same", False), ("noise", False), ("less", False)]
    both = tuple(run(row.name, data) for row in rows for data in (0, 1, 2))
    (differing,) = comparisons_table(comparisons([(grid, GridResults("", "toy", "", both))])).rows
    assert differing[:6] == ("toy", "less", "fast", "30", "70.0", "100.0")


def test_many_comparisons_are_allowed_for() -> None:
    def compared(z: float) -> Comparison:
        return Comparison("toy", "row", "fast", 10, 0.5, 0.5, z)

    every = [compared(z) for z in (2.0, 0.1, -3.5, 0.0)]
    ordered = sorted(every, key=lambda one: one.p)  # Holm 1979, step by step
    stepped, largest = {}, 0.0
    for number, one in enumerate(ordered):
        largest = max(largest, min(1.0, (len(every) - number) * one.p))
        stepped[one.z] = largest
    assert holm(every) == pytest.approx([stepped[one.z] for one in every])
    assert [one.differs for one in every] == [True, False, True, False]
    assert [p < 0.05 for p in holm(every)] == [False, False, True, False]
    assert holm([]) == []
