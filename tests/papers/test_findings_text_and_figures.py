"""The text and the figures of the findings, and the grid of networks."""

import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from docs.findings.__main__ import RESULTS, ROWS, findings
from docs.findings.ablation import ARMS
from docs.findings.text import figures_of, filled
from docs.papers.explained import costs_and_reruns, differences, with_part
from tests.refusals import refused
from tests.shell.commands import papers

from stacklens.core.errors import FileFormatError, UnknownNameError
from stacklens.models.checkpoint import load_checkpoint
from stacklens.papers import runner
from stacklens.papers.grid import STATISTICS, Grid, GridResults, GridRow, Outcome, RunSettings, read_grid, statistic
from stacklens.papers.results import FOLDER, write_results
from stacklens.papers.runner import EXPERIMENTS, extraction_of, left_to_do, run_grid
from stacklens.papers.sun1993 import zoo_path
from stacklens.papers.tables import findings_section, grid_tables, readme_section, run_command, with_section

# ---- The text of the findings: made from the results alone, byte for byte, with no number of its own. ----

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATE = DOCS / "findings_text.md"
EXPERIMENTS_OF = ("fresh", "design", "bottom", "mechanism", "ablation", "parts", "boxes")
# what may stand in the text with digits of its own: names, references, and definitions
NAMES = (
    r"\{\{[^}]*\}\}|\]\([^)]*\)|<!--.*?-->|`[^`]*`|\b(19|20)\d\d\b|\b[DH]\d+\b|[Ff]igures? \d+( to \d+)?|^## \d"
    r"|\b9[59] %|[Ss]tatus 0|section \d[\d.() ]*|[Rr]esults? \d( and \d)?"
)


def test_text_and_results_do_not_part() -> None:
    assert findings().encode() == (DOCS / "findings.md").read_bytes(), "run `make findings`"
    rows = with_part(with_section(ROWS, findings_section(EXPERIMENTS, FOLDER)), "differences", differences())
    assert rows == ROWS.read_text(encoding="utf-8")
    results = with_part(with_section(RESULTS, readme_section(EXPERIMENTS, FOLDER)), "costs", costs_and_reruns())
    assert results == RESULTS.read_text(encoding="utf-8")


def test_a_sentence_is_of_a_row_of_note(tmp_path: Path) -> None:
    reasons = tmp_path / "reasons.toml"
    reasons.write_text('[rows]\n"suzgun2019-table2 | Vanilla RNN" = "why"\n[claims]\n', encoding="utf-8")
    refused("Vanilla RNN' is no row of note; take its sentence out", differences, reasons=reasons)


def test_the_text_has_no_number_of_its_own() -> None:
    prose = re.sub(NAMES, "", TEMPLATE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^\d\.|H\d+", "", prose, flags=re.MULTILINE)  # numbers of results and of hypotheses
    assert [line for line in prose.splitlines() if re.search(r"\d", line)] == []


def test_other_results_make_another_text(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    shutil.copytree(FOLDER, folder)
    found = read_grid("suzgun2019-table2", folder)
    place = next(i for i, row in enumerate(found.rows) if row.protocol == "paper" and row.networks[0].converged)
    row = found.rows[place]
    lost = tuple(replace(one, converged=False, scores={**one.scores, "test": 0.0}) for one in row.networks)
    rows = (*found.rows[:place], replace(row, networks=lost), *found.rows[place + 1 :])
    write_results(replace(found, rows=rows), folder)
    text = TEMPLATE.read_text(encoding="utf-8")
    before, after = (figures_of(one) for one in (FOLDER, folder))
    assert before["paper learned"] != after["paper learned"]
    assert filled(text, before) != filled(text, after)


@pytest.mark.parametrize(
    ("names", "message"),
    [([], "no results of any table"), (["suzgun2019-table2"], "the text asks for .*, of which nothing is measured")],
)
def test_a_folder_with_too_few_results_is_refused_in_one_line(tmp_path: Path, names: list[str], message: str) -> None:
    for name in names:
        shutil.copy(FOLDER / f"{name}.json", tmp_path)
    refused(message, findings, tmp_path)


def test_statements_are_what_a_recount_of_the_files_gives() -> None:
    """Read as plain JSON, with no code of the package but names of rows with a memory."""
    learned: dict[str, list[dict[str, Any]]] = {"paper": [], "fast": []}
    figures, hours = figures_of(), {"training": 0.0, "extraction": 0.0}
    for path in sorted(FOLDER.glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")).get("rows", ()):
            for part in hours:
                hours[part] += row["seconds"].get(f"{part}, CPU", 0) / 3600
            memory = row["name"].partition(",")[0] not in ("RNN", "LSTM", "Vanilla RNN", "Vanilla LSTM")
            for one in row["networks"] if memory and "no stack" not in row["name"] else ():
                if one["converged"]:
                    learned[row["protocol"]].append(one["extraction"] or {"status": 3})
    for protocol, own in learned.items():
        read = [one for one in own if one["status"] != 3]
        proved = sum(one["proof"]["verdict"] == "equal" for one in read)
        assert figures[f"{protocol} read"].startswith(f"{len(read)} of {len(own)} ")
        assert figures[f"{protocol} proved"].startswith(f"{proved} of {len(own)} ")
        assert figures[f"{protocol} good"].startswith(f"{sum(one['status'] == 0 for one in own)} of {len(own)} ")
    assert {part: f"{spent:.1f}" for part, spent in hours.items()} == {
        part: figures[f"hours of {part}"] for part in ("training", "extraction")
    }
    for cell in ("List RNN 40+5, anbn 41 against 100", "List RNN 40+5, anbmcnm 59 against 100"):
        assert cell in figures["far apart"]


def test_statements_of_the_fresh_networks_are_what_a_recount_gives() -> None:
    """Read as plain JSON, digit by digit."""
    figures = figures_of()
    there = {
        name: json.loads((DOCS / "findings" / f"{name}.json").read_text(encoding="utf-8")) for name in EXPERIMENTS_OF
    }
    assert all(content["commits"] and all(content["commits"]) and content["processors"] for content in there.values())
    rows = there["design"]["rows"]
    learned = sum(sum(one["learned"]) for one in there["fresh"]["rows"])
    assert figures["design networks"] == figures["fresh learned"] == str(len(rows)) == str(learned)
    # the longest words stand last: a fifth of the cells
    stand = sum(sum(map(int, one["soft"][-27:])) >= 0.99 * 27 * 8 for one in rows)
    assert figures["design stand"].startswith(f"{stand} of {len(rows)} ")
    by_row: dict[str, list[float]] = {}
    for one in rows:
        digits = np.array([int(digit) for digit in one["rounded"]]).reshape(5, 3, 3, 3)  # length, floor, cap, turn
        by_row.setdefault(one["task"] + one["row"], []).append(
            100 * float((digits[:, :, 2] - digits[:, :, 0]).mean()) / 8
        )
    assert figures["effect H1"].startswith(f"{fmean(map(fmean, by_row.values())):.0f} (")
    low = there["bottom"]["rows"]
    wrong = sum(20 - right for one in low for right, _ in one["rounded"])
    empty, closes = (
        sum(one[f"rounded, {what}"] for one in low)
        for what in ("first wrong on an empty stack", "and lets a bracket close")
    )
    assert (figures["bottom empty rounded"], figures["bottom closes rounded"]) == (
        f"{empty} of {wrong}",
        f"{closes} of {empty}",
    )
    seen: dict[str, dict[str, int]] = {}
    for name in ("ablation", "parts"):
        lines = there[name]["rows"]
        by_arm = [{(one["task"], one["row"], one["seed"]) for one in lines if one["arm"] == arm} for arm in ARMS]
        whole = set.intersection(*by_arm)
        seen[name] = dict.fromkeys(ARMS, 0)
        for one in lines:
            seen[name][one["arm"]] += (one["task"], one["row"], one["seed"]) in whole and one["after"]["certified"]
    for hypothesis, name, arm in (("H6", "ablation", ARMS[1]), ("H10", "parts", ARMS[1]), ("H11", "parts", ARMS[2])):
        both = f"{seen[name]['all parts']} and {seen[name][arm]}"
        assert figures[f"says {hypothesis}"].split("certified ")[1].partition(";")[0] == both
    found = [one for one in there["mechanism"]["rows"] if one.get("automata")]
    tested = [
        one["automata"]
        for one in found
        if {"raw", "minimised"} <= {name for name, a in one["automata"].items() if a["same as"] is None}
        and one["equal to the task"]
        and all(a["equal"] for a in one["automata"].values() if a["same as"] is None)
    ]
    raw = sum(one["raw"]["mechanism"] for one in tested)
    assert figures["mechanism raw"].startswith(f"{raw} of {len(tested)} ")
    repaired = json.loads((DOCS / "repairs.json").read_text(encoding="utf-8"))
    fresh = [one["after"]["itself"] for one in repaired if "/" in one["network"]]
    assert figures["repair fresh"] == f"{sum(fresh)} of {len(fresh)}"


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


# ---- Grids: running and resuming, what is kept of a network, and the tables that come of it. ----
TWO = RunSettings((0, 1))


class Trained:
    """Stands for training: counts calls, and fails on demand; the networks may be one of parentheses."""

    def __init__(self, score: float = 0.5, fails: bool = False, model: Any = None) -> None:
        self.score, self.fails, self.model, self.calls = score, fails, model, list[RunSettings]()

    def __call__(self, settings: RunSettings) -> list[Outcome]:
        self.calls.append(settings)
        if self.fails:
            raise KeyboardInterrupt
        scores = {seed: {"test": self.score + seed / 100} for seed in settings.seeds}
        return [Outcome(seed, of, self.model, self.model and "parentheses") for seed, of in scores.items()]


def grid(**trains: Callable[[RunSettings], list[Outcome]]) -> Grid:
    rows = tuple(
        GridRow(f"{name} net", {"model": name}, train, {"test median": "99"}, "section 1")
        for name, train in trains.items()
    )
    return Grid("toy", "Nobody 1993", "a|b", rows, ("test",), ("median", "max"), seeds=2, data_seeds=True)


def rows_shown(results: GridResults, of: Grid) -> dict[str, dict[str, str]]:
    (table,) = grid_tables(of, results)
    return {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_rows_that_are_done_outlive_a_kill_and_are_not_run_again(tmp_path: Path) -> None:
    first, second = Trained(), Trained(fails=True)
    with pytest.raises(KeyboardInterrupt):
        run_grid(grid(first=first, second=second), TWO, tmp_path)
    kept = read_grid("toy", tmp_path)
    assert [row.name for row in kept.rows] == ["first net"]
    second.fails = False
    told: list[tuple[str, int]] = []
    done = run_grid(grid(first=first, second=second), TWO, tmp_path, progress=lambda row, n: told.append((row, n)))
    assert [row.name for row in done.rows] == ["first net", "second net"]
    assert (len(first.calls), len(second.calls)) == (1, 2)
    assert done == read_grid("toy", tmp_path)
    assert told == [("second net", 1), ("", 2)]


@pytest.mark.parametrize(
    ("changed", "calls"),
    [
        ({}, 1),
        ({"device": "cpu:0"}, 1),
        ({"protocol": "paper"}, 2),
        ({"seeds": (0, 2)}, 2),
        ({"scale": 0.5}, 2),
        ({"data_seed": 1}, 2),
    ],
)
def test_a_row_is_run_again_by_other_settings_only(tmp_path: Path, changed: dict[str, Any], calls: int) -> None:
    train = Trained()
    run_grid(grid(first=train), TWO, tmp_path)
    done = run_grid(grid(first=train), replace(TWO, **changed), tmp_path)
    assert len(train.calls) == calls
    keys = {("fast", 0), (changed.get("protocol", "fast"), changed.get("data_seed", 0))}  # these stand side by side
    assert {(row.protocol, row.data_seed) for row in done.rows} == keys
    assert sum(row.is_of(replace(TWO, **changed)) for row in done.rows) == 1


def test_two_runs_share_the_rows_of_a_grid(tmp_path: Path) -> None:
    second = Trained()

    def first(settings: RunSettings) -> list[Outcome]:  # while it is trained, the other run ends
        run_grid(both, settings, tmp_path, rows=["second net"])
        return Trained()(settings)

    both = grid(first=first, second=second)
    done = run_grid(both, TWO, tmp_path, rows=["first net"])
    assert [row.name for row in done.rows] == ["first net", "second net"]
    assert done == read_grid("toy", tmp_path)
    assert [row.command for row in done.rows] == [
        f'stacklens papers run toy --rows "{name} net" --seeds 2 --protocol fast --fresh'
        for name in ("first", "second")
    ]


def test_the_command_of_a_table_is_the_one_that_ran_it(tmp_path: Path) -> None:
    both = grid(first=Trained(), second=Trained())
    nothing = GridResults(both.paper, both.name, both.title)
    assert run_command(both, nothing) == run_command(both, run_grid(both, TWO, tmp_path)) == "stacklens papers run toy"
    (tmp_path / "paper").mkdir()
    results = run_grid(both, RunSettings((0, 1, 2), "paper", data_seed=4), tmp_path / "paper")
    assert run_command(both, results) == "stacklens papers run toy --protocol paper --seeds 3 --data-seed 4"
    mixed = run_grid(both, TWO, tmp_path / "paper", rows=["first net"])
    assert run_command(both, mixed) == "stacklens papers run toy"
    (tmp_path / "alone").mkdir()
    (row,) = run_grid(grid(first=Trained()), RunSettings((5, 6, 7), "paper", "cpu:0"), tmp_path / "alone").rows
    assert "--seeds 3 --first-seed 5 --protocol paper --device cpu:0" in row.command


def killed(_: RunSettings) -> list[Outcome]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_a_killed_process_is_told_of_with_what_to_do(tmp_path: Path) -> None:
    both, says = grid(first=killed, second=Trained()), r"^a worker process was killed.* done are kept: run it again$"
    refused(says, run_grid, both, TWO, tmp_path, jobs=2)


def test_rows_that_the_grid_has_no_longer_are_dropped(tmp_path: Path) -> None:
    run_grid(grid(old=Trained()), TWO, tmp_path)
    assert [row.name for row in run_grid(grid(new=Trained()), TWO, tmp_path).rows] == ["new net"]


def test_several_processes_give_the_same_rows(tmp_path: Path) -> None:
    both = grid(first=Trained(0.25), second=Trained(0.5))
    rows = run_grid(both, TWO, tmp_path, jobs=2).rows
    alone = run_grid(both, TWO, tmp_path, fresh=True).rows
    assert [(row.name, row.networks) for row in rows] == [(row.name, row.networks) for row in alone]


def test_a_row_that_was_not_run_says_so_in_every_column(tmp_path: Path) -> None:
    both = grid(first=Trained(), second=Trained())
    results = run_grid(both, TWO, tmp_path, rows=["first net"])
    lines = rows_shown(results, both)
    assert lines["second"]["test median, ours / paper"] == "not run / 99"
    assert {value for key, value in lines["second"].items() if "paper" not in key and key != "model"} == {"not run"}
    assert "" not in (line := lines["first"]).values()
    assert [line[key] for key in ("test median, ours / paper", "test max", "converged", "extracted")] == [
        *("50.5 / 99", "51.0", "0 of 2", "–")
    ]
    assert [row.name for row in left_to_do(both, TWO, results)] == ["second net"]


def test_a_grid_can_put_one_cell_across(tmp_path: Path) -> None:
    rows = tuple(
        GridRow(
            f"{model}, {task}", {"model": model, "task": task}, Trained(), {"test max": "7"} if model == "A" else {}
        )
        for model in "AB"
        for task in ("x", "y")
    )
    wide = Grid("toy", "Nobody", "t", rows, ("test", "rounded"), ("max",), across="task", score_names={"test": ""})
    scores, extraction = grid_tables(wide, run_grid(wide, TWO, tmp_path, rows=["A, x", "B, y"]))
    assert scores.columns == ("networks", "of the seeds", "x", "y")
    assert scores.rows == (("A", "max", "51.0 / 7", "not run / 7"), ("B", "max", "not run", "51.0"))
    assert [row[:3] for row in extraction.rows][:2] == [("A", "x", "0 of 2"), ("A", "y", "not run")]


@pytest.mark.slow
def test_what_converged_is_extracted_and_counted(tmp_path: Path) -> None:
    one = grid(zoo=Trained(0.985, model=load_checkpoint(zoo_path("parentheses")).model))
    results = run_grid(one, TWO, tmp_path)
    bad, good = results.rows[0].networks
    assert bad.extraction is None
    assert good.extraction["status"] == 0
    (line,) = rows_shown(results, one).values()
    assert line["converged"] == line["extracted"] == line["proved"] == "1 of 2"
    assert line["states"] == "1 (3)"
    assert line["stack symbols"] == "1 (1)"


@pytest.mark.parametrize(
    ("given", "says"), [(["palindrome"], "alphabet"), (["parentheses", 0.005], "the budget of 0.005 seconds ended")]
)
def test_a_network_that_nothing_can_be_read_from_in_time_says_why(given: list[Any], says: str) -> None:
    found = extraction_of(load_checkpoint(zoo_path("parentheses")).model, *given)
    assert (found["status"], says in found["reason"]) == (3, True)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": 1, "kind": "grid"}', '{"schema": 1, "claims": []}'])
def test_a_damaged_file_is_named_and_left_alone_unless_fresh(tmp_path: Path, content: str) -> None:
    path = tmp_path / "toy.json"
    path.write_text(content, encoding="utf-8")
    train = Trained()
    says = r"toy.json: no results of a grid: .* --fresh, which forgets this file"
    refused(says, run_grid, grid(first=train), TWO, tmp_path, error=FileFormatError)
    assert path.read_text(encoding="utf-8") == content
    assert not train.calls
    assert len(run_grid(grid(first=train), TWO, tmp_path, fresh=True).rows) == 1


def test_networks_of_other_seeds_and_rows_that_lack_something_are_refused(tmp_path: Path) -> None:
    content = run_grid(grid(first=Trained()), TWO, tmp_path).to_dict()
    content["rows"][0]["networks"][0]["seed"] = 5
    refused("not those of the seeds", GridResults.from_dict, content)
    others = grid(first=lambda _: [Outcome(9, {})])
    refused("other networks than those of the seeds", run_grid, others, TWO, tmp_path, fresh=True)
    del content["rows"][0]["seconds"]
    refused("expected command, data_seed", GridResults.from_dict, content)


def test_an_unknown_row_is_named_with_the_known_ones(tmp_path: Path) -> None:
    both, says = grid(first=Trained(), second=Trained()), "unknown row of toy 'third': expected one of 'first net', 'se"
    refused(says, run_grid, both, TWO, tmp_path, rows=["third"], error=UnknownNameError)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"seeds": ()}, "expected at least one"),
        ({"seeds": (1, 1)}, "each of them once"),
        ({"protocol": "quick"}, "unknown protocol 'quick': expected one of fast, paper"),
        ({"scale": 0.0}, "scale 0.0: expected a number above 0 and at most 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(values: dict[str, Any], message: str) -> None:
    refused(message, replace, TWO, **values)


def test_a_grid_that_makes_no_sense_is_refused() -> None:
    row = GridRow("a", {"model": "A"}, Trained())
    refused("two rows have the same name among a, a", Grid, "toy", "", "", (row, row), ("test",))
    other = replace(row, name="b", cells={"task": "B"})
    refused("every row should have the columns model", Grid, "toy", "", "", (row, other), ("test",))
    refused("unknown statistic 'mode'", Grid, "toy", "", "", (row,), ("test",), ("mode",), error=UnknownNameError)


def test_statistics_are_those_of_their_names_and_chosen_looks_at_validation_only() -> None:
    networks = [{"test": 0.2, "validation": 0.9}, {"test": 1.0, "validation": 0.1}, {"test": 0.6, "validation": 0.9}]
    found = {name: statistic(name, networks, "test") for name in STATISTICS}
    mean = pytest.approx(0.6)
    assert found == {"min": 0.2, "median": 0.6, "mean": mean, "max": 1.0, "chosen": 0.2, "chosen unrounded": None}
    both = [
        {"test rounded": 0.3, "validation": 0.9, "validation rounded": 0.1},
        {"test rounded": 0.8, "validation": 0.2, "validation rounded": 0.7},
    ]
    assert statistic("chosen", both, "test rounded") == 0.8
    assert statistic("chosen unrounded", both, "test rounded") == 0.3
    assert statistic("min", [*networks, {}], "test") is None


def test_the_command_line_runs_shows_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = Trained()
    monkeypatch.setattr(runner, "EXPERIMENTS", {"toy": lambda: grid(first=train, second=Trained())})
    there = ("--results", tmp_path)
    said = papers(
        "run", "toy", "--rows", "first net", "--seeds", "3", "--first-seed", "5", "--protocol", "paper", *there
    )
    assert train.calls == [RunSettings((5, 6, 7), "paper")]
    assert "not run" in said
    assert said.endswith(f"wrote {tmp_path / 'toy.json'}\n")
    assert "1 row " in papers("list", *there)
    assert papers("table", "toy", *there) in said
    assert papers("run", "toy", "--quiet", *there) == ""
    kept = [(row.protocol, row.seeds) for row in (read_grid("toy", tmp_path) or GridResults("", "", "")).rows]
    assert kept == [("fast", (0, 1)), ("paper", (5, 6, 7)), ("fast", (0, 1))]  # protocols stand side by side
    refused("device 'abacus' cannot be used here", papers, "run", "toy", "--device", "abacus", "--fresh", *there)


def test_networks_that_are_kept_are_not_trained_again(tmp_path: Path) -> None:
    train = Trained(model=load_checkpoint(zoo_path("parentheses")).model)
    one, kept = grid(zoo=train), tmp_path / "kept"
    first = run_grid(one, TWO, tmp_path, networks=kept)
    again = run_grid(one, TWO, tmp_path, networks=kept, fresh=True)
    assert len(train.calls) == 1
    for old, new in zip(first.rows[0].networks, again.rows[0].networks, strict=True):
        assert (old.seed, old.scores, old.converged) == (new.seed, new.scores, new.converged)
    run_grid(one, RunSettings((0, 1), scale=0.5), tmp_path, networks=kept, fresh=True)  # others: trained, and kept
    assert len(train.calls) == 2
    (broken, *_) = sorted((kept / "toy").iterdir())
    broken.write_bytes(b"no network")
    refused("zoo-net-fast-seed-0", run_grid, one, TWO, tmp_path, networks=kept, fresh=True)
