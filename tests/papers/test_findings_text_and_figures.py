"""The text and the figures of the findings."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from docs.findings.__main__ import findings
from docs.findings.figures import OUTCOMES, horizons_figure, outcomes_figure, shown
from docs.findings.load import networks, outcome_of
from docs.findings.text import figures_of, filled
from tests.architecture.docs_scripts import docs_script

from stacklens.core.errors import StacklensError
from stacklens.papers.grid import Grid, GridResults, GridRow, Network, RowResult, read_grid
from stacklens.papers.results import FOLDER, write_results

# ---- The text of the findings: made from the results alone, byte for byte, with no number of its own. ----

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATE = DOCS / "findings_text.md"
# what may stand in the text with digits of its own: names, references, and definitions
NAMES = (
    r"\{\{[^}]*\}\}|\]\([^)]*\)|<!--.*?-->|`[^`]*`|\b(19|20)\d\d\b|\bD\d\b|[Ff]igures? \d+( to \d+)?|1\\\^n 0\\\^n"
    r"|\b(5|9[59]) %|about 100 symbols|[Ss]tatus 0|section \d[\d.() ]*"
)


def test_text_and_results_do_not_part() -> None:
    assert findings().encode() == (DOCS / "findings.md").read_bytes(), "run `make findings`"


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
    write_results(replace(found, rows=rows), folder)
    text = TEMPLATE.read_text(encoding="utf-8")
    before, after = (figures_of(one) for one in (FOLDER, folder))
    assert before["converged"] != after["converged"]
    assert before["all read"] != after["all read"]
    assert filled(text, before) != filled(text, after)


@pytest.mark.parametrize(
    ("names", "message"),
    [([], "no results of any table"), (["suzgun2019-table2"], "the text asks for .*, of which nothing is measured")],
)
def test_a_folder_with_too_few_results_is_refused_in_one_line(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        shutil.copy(FOLDER / f"{name}.json", tmp_path)
    with pytest.raises(StacklensError, match=message):
        findings(tmp_path)


def test_a_figure_that_is_not_measured_is_named() -> None:
    with pytest.raises(StacklensError, match="asks for 'no such thing', of which nothing is measured"):
        filled("There are {{ no such thing }}.", {})


def test_statements_are_what_a_recount_of_the_files_gives() -> None:
    """Read as plain JSON, with no code of the package but names of rows with a memory."""
    figures, learned, asked, hours = figures_of(), [], [], {"training": 0.0, "extraction": 0.0}
    for path in sorted(FOLDER.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for row in content.get("rows", ()):
            for part in hours:
                hours[part] += row["seconds"].get(f"{part}, CPU", 0) / 3600
            memory = row["name"].partition(",")[0] not in ("RNN", "LSTM", "Vanilla RNN", "Vanilla LSTM")
            for one in row["networks"] if memory and "no stack" not in row["name"] else ():
                if one["converged"]:
                    learned.append(one["extraction"] or {"status": 3})
                    if re.fullmatch("suzgun2019-table[234]", path.stem) and one.get("measures"):
                        asked.append((path.stem[-1], row["name"].partition("+")[0], one["measures"]["long words"]))
    read = [one for one in learned if one["status"] != 3]
    assert figures["all read"].startswith(f"{len(read)} of {len(learned)} ")
    as_it_is = [one for one in read if one["caution"] and not one["stacks"]["words"]]  # no stack was left out of these
    assert figures["read unrounded"] == str(len(as_it_is)) == "5"
    assert {part: f"{spent:.1f}" for part, spent in hours.items()} == {
        part: figures[f"hours of {part}"] for part in ("training", "extraction")
    }
    several = [
        one["proof"]["verdict"] for one in read if len(one["stacks"]["kept"]) - len(one["stacks"]["push_only"]) > 1
    ]
    assert (figures["several stacks"], figures["several stacks proved"]) == ("12", "0 of 12")
    assert (len(several), several.count("equal")) == (12, 0)

    def right(net: str, kind: str, table: str = "", family: str = "") -> float:
        told = [one[net] for number, name, one in asked if number.startswith(table) and name.startswith(family)]
        return 100 * fmean(one[kind]["accuracy"][-1] for one in told if one.get("drawn"))

    for net, short in (("network", "soft"), ("rounded network", "rounded")):
        for kind, of in (("control", "shallow"), ("drawn", "deep")):
            assert figures[f"long {short} {of}"] == f"{right(net, kind):.0f} %"
    for table, family, name in (
        ("2", "Stack-RNN", "Stack-RNN on D2"),
        ("4", "Stack-RNN by J&M", "Stack-RNN by J&M on D6"),
    ):
        own = [one for one in asked if one[:2] == (table, family)]
        shallow, deep = (
            100 * fmean(one["network"][kind]["accuracy"][-1] for *_, one in own if one["network"].get("drawn"))
            for kind in ("control", "drawn")
        )
        assert f"{name} ({shallow:.0f} % of shallow words, {deep:.0f} % of others)" in figures["long worse on deep"]
    assert "1 of 5 against 10 of 10 (p = 0.004" in figures["apart by count"]
    for cell in ("List RNN 40+5, anbn 41 against 100", "List RNN 40+5, anbmcnm 59 against 100"):
        assert cell in figures["far apart"]


def test_what_is_watched_on_d6_are_the_networks_of_the_table_and_more() -> None:
    """The text counts them once."""
    grid = json.loads((FOLDER / "suzgun2019-table4.json").read_text(encoding="utf-8"))
    (table,) = (r for r in grid["rows"] if (r["name"], r["protocol"]) == ("Stack-RNN+Softmax", "paper"))
    (watched,) = json.loads((FOLDER / "suzgun2019-traces.json").read_text(encoding="utf-8"))["claims"]
    ends = {one["seed"]: one["test"]["last"] for one in watched["figures"]["networks"]}
    assert [one["scores"]["test"] for one in table["networks"]] == pytest.approx(
        [ends[one["seed"]] for one in table["networks"]], abs=1e-4
    )


def test_readme_counts_who_learns_simple_palindromes() -> None:
    def learned(experiment: str, *parts: str) -> str:
        content = json.loads((FOLDER / f"{experiment}.json").read_text(encoding="utf-8"))
        rows = [row["networks"] for row in content["rows"] if all(part in row["name"] for part in parts)]
        return f"{sum(one['converged'] for own in rows for one in own)} of {sum(map(len, rows))}"

    readme = " ".join((DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    rings = learned("suzgun2019-simple-palindrome", "Baby-NTM", ", 5 a cell")
    batches = learned("suzgun2019-simple-palindrome-search", "Stack-RNN", ", batches")
    assert (
        f"learned by {rings} Baby-NTMs and by no stack by the paper's settings, and by {batches} Stack-RNNs in batches"
        in readme
    )
    assert learned("suzgun2019-simple-palindrome", "Stack-", ", 5 a cell").startswith("0 of")


@pytest.mark.parametrize("page", ["shell.md", "findings.md", "glossary.md", "reading-a-result.md"])
def test_where_a_horizon_is_explained_it_is_said_to_be_of_fresh_stacks(page: str) -> None:
    told = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    assert re.search(r"[Hh]orizon.{,400} begins with (a )?fresh", told)


# ---- What all tables say together: every network is counted once, under the best that can be said of it. ----


def extraction(status: int, proof: str = "equal", certificate: str = "not certified", **more: Any) -> dict[str, Any]:
    automaton = None if status == 3 else {"states": 1}
    verdicts = {"proof": {"verdict": proof}, "certificate": {"verdict": certificate}}
    horizon = {"rounded network": {"shortest_difference": {"length": 20}}}
    measures = {"action_margin": 0.3, "horizon": horizon, "seconds": 1.0}
    return {"status": status, "automaton": automaton, **verdicts, **measures, **more}


FOUND: dict[str, dict[str, Any] | None] = {
    "certified": extraction(0, certificate="certified"),
    "extracted, proved": extraction(0),
    "extracted": extraction(0, proof="undecided"),
    "proved, and the network leaves it": extraction(1),
    "extracted, contradicted": extraction(1, proof="different"),
    "no automaton": extraction(3),
    "not converged": None,
}


def results(*networks: Network, stacks: bool = True) -> tuple[Grid, GridResults]:
    seeds = tuple(network.seed for network in networks)
    row = RowResult("a row", "fast", seeds, 1.0, "cpu", networks, {}, {}, "")
    grid = Grid("a-table", "a paper", "a title", (GridRow("a row", {}, lambda _: [], stacks=stacks),), ())
    return grid, GridResults("a paper", "a-table", "a title", (row,))


def everything() -> tuple[Grid, GridResults]:
    return results(*(Network(seed, {}, found is not None, found) for seed, found in enumerate(FOUND.values())))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_network_is_called_by_the_best_that_can_be_said_of_it(outcome: str) -> None:
    assert outcome_of(Network(0, {}, True, FOUND[outcome])) == outcome


def test_every_network_is_in_one_bar_of_its_row() -> None:
    found = shown(networks([everything()]))
    bars = outcomes_figure(found).data
    counts = Counter(found.outcome)
    assert {bar.name: sum(bar.x) for bar in bars} == dict(counts)
    assert {row for bar in bars for row in bar.y} == {"a-table: a row"}


def test_every_network_that_was_looked_into_is_a_mark_with_its_measures() -> None:
    marks = horizons_figure(shown(networks([everything()]))).data
    assert [mark.name for mark in marks] == list(OUTCOMES)[:-1]
    assert all((mark.x[0], mark.y[0]) == (0.3, 20) for mark in marks)
    assert len({(mark.marker.color, mark.marker.symbol) for mark in marks}) == len(marks)


def test_restarts_are_shown_apart_and_those_above_the_average_entropy_are_not_in_the_mean() -> None:
    scores = [{"n = 10": 0.6, "n = 5": 1.0}, {"n = 10": 0.4, "n = 5": 0.8}, {"n = 10": 0.0, "n = 5": 0.0}]
    for unlikely in ({"entropy": (0.1, 0.2, 0.9)}, {"validation": (0.9, 0.8, 0.1)}):
        (name, of), *_ = unlikely.items()
        nets = [Network(seed, {**one, name: of[seed], "n = 5 rounded": 0.0}, False) for seed, one in enumerate(scores)]
        (done,) = results(*nets)[1].rows
        *lines, mean = docs_script("addition").restarts_figure(done).data
        assert [(line.name, line.line.dash) for line in lines] == [
            ("seed 0", "solid"),
            ("seed 1", "solid"),
            ("seed 2, would be restarted", "dot"),
        ]
        assert [tuple(line.y) for line in lines] == [(1.0, 0.6), (0.8, 0.4), (0.0, 0.0)]
        assert mean.x == (5, 10)
        assert mean.y == pytest.approx((0.9, 0.5))
