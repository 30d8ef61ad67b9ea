"""Results as files: what is written is read back, what is no result is refused, what is committed can be shown."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.models.checkpoint import ZOO
from stacklens.papers import results
from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.findings import BEGIN, END, claims_table, replace_section, with_section
from stacklens.papers.grid import Grid, read_grid
from stacklens.papers.results import (
    FOLDER,
    Experiment,
    Finding,
    PaperClaim,
    Results,
    read_results,
    result_path,
    write_results,
)
from stacklens.papers.runner import run_experiment
from stacklens.papers.sun1993 import Sizes, claims_experiment
from stacklens.papers.tables import markdown_table

LISTS = [name for name, made in EXPERIMENTS.items() if isinstance(made(), Experiment)]
GRIDS = [name for name in EXPERIMENTS if name not in LISTS and read_grid(name) is not None]


def toy() -> Experiment:
    claim = PaperClaim("4.1", "words of length <= 2", "0 errors", lambda: Finding("1 error", {"errors": 1}))
    return Experiment("toy", "Nobody 1993", "a|b", (claim,), (7,))


def test_results_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    told: list[str] = []
    measured = run_experiment(toy(), told.append)
    assert write_results(measured, tmp_path) == tmp_path / "toy.json"
    assert read_results("toy", tmp_path) == measured
    assert told == ["4.1 words of length <= 2"]


def test_a_result_says_what_was_run_from_which_seeds_and_with_which_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([12.0, 14.5])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    measured = run_experiment(toy())
    assert measured.claims[0].command == "stacklens papers run toy"
    assert measured.claims[0].figures == {"errors": 1}
    assert measured.seeds == (7,)
    assert {"python", "stacklens", "torch", "numpy"} <= set(measured.versions)
    assert (measured.claims[0].seconds, measured.seconds) == (2.5, 2.5)


def test_missing_results_name_the_command_that_measures_them(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match=r"toy.json: no such file; measure it with `stacklens papers run toy`"):
        read_results("toy", tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema": 2}', '{"schema": 1, "paper": "x"}', "\xff"])
def test_what_is_no_result_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "toy.json").write_text(content, encoding="latin-1")
    with pytest.raises(FileFormatError, match=r"toy.json: no results of an experiment"):
        read_results("toy", tmp_path)


def test_a_claim_that_lacks_something_is_refused() -> None:
    content = run_experiment(toy()).to_dict()
    del content["claims"][0]["ours"]
    with pytest.raises(StacklensError, match="expected claim, command, figures, ours, paper"):
        Results.from_dict(content)


@pytest.mark.parametrize("name", LISTS)
def test_what_is_committed_covers_every_claim_in_the_papers_words(name: str) -> None:
    experiment = EXPERIMENTS[name]()
    assert isinstance(experiment, Experiment)
    assert json.loads(result_path(name).read_text(encoding="utf-8"))["schema"] == 1
    measured = read_results(name)
    expected = [(claim.section, claim.claim, claim.paper) for claim in experiment.claims]
    assert [(claim.section, claim.claim, claim.paper) for claim in measured.claims] == expected
    assert measured.seeds == experiment.seeds
    assert all(claim.ours for claim in measured.claims)


@pytest.mark.parametrize("name", GRIDS)
def test_what_is_committed_of_a_grid_are_rows_that_it_has_at_full_size(name: str) -> None:
    grid, measured = EXPERIMENTS[name](), read_grid(name)
    assert isinstance(grid, Grid)
    assert measured is not None
    assert measured.rows
    assert (measured.paper, measured.experiment) == (grid.paper, name)
    assert {row.name for row in measured.rows} <= {row.name for row in grid.rows}
    assert all(row.scale == 1 and row.seconds["training, CPU"] > 0 for row in measured.rows)


def test_all_grids_but_one_have_been_measured() -> None:
    assert set(EXPERIMENTS) - {*LISTS, *GRIDS} <= {"joulin2015-table4"}


def test_every_file_of_results_belongs_to_an_experiment() -> None:
    others = {"verify"}  # the table of `stacklens verify --all`
    assert {path.stem for path in FOLDER.glob("*.json")} - others <= set(EXPERIMENTS)


# small checks of the same claims: what is searched for, and what short words come to, depends on none of these
_SHORT = partial(claims_experiment, Sizes(long_words=200, extraction_length=5, extraction_depth=20))
_LONG = ("length <= 20", "length <= 15", "length 50 to 100")  # claims on millions of words, or on as many as are drawn
_CHEAP: dict[str, Callable[[], Experiment | Grid]] = {
    "sun1993-claims": _SHORT,
    **{f"suzgun2019-{name}": EXPERIMENTS[f"suzgun2019-{name}"] for name in ("counts", "figure2", "repeated-blocks")},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _CHEAP)
def test_what_is_committed_is_what_the_code_of_today_measures(name: str) -> None:
    """Where this fails the results are older than the code: `stacklens papers run` them again, in half a minute.

    Networks that a claim trains take longer, and come out otherwise on another processor: their results name a commit.
    """
    experiment = _CHEAP[name]()
    assert isinstance(experiment, Experiment)
    kept = {claim.claim: claim.ours for claim in read_results(name).claims}
    cheap = [claim for claim in experiment.claims if not any(part in claim.claim for part in _LONG)]
    assert len(cheap) >= len(kept) / 2
    assert {claim.claim: claim.measure().ours for claim in cheap} == {claim.claim: kept[claim.claim] for claim in cheap}


def test_the_table_of_the_zoo_has_all_its_networks_as_their_own_results_have_them() -> None:
    rows = json.loads((FOLDER / "verify.json").read_text(encoding="utf-8"))["networks"]
    table = {row["network"].removesuffix(".pt"): row for row in rows}
    for path in ZOO.glob("*.pt"):
        row, own = table[path.stem], json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        report = own.get("report", own)
        sizes = [None if one["automaton"] is None else one["automaton"]["states"] for one in (row, report)]
        assert sizes[0] == sizes[1], path.stem
        for part in ("proof", "certificate"):
            assert row[part]["verdict"] == report[part]["verdict"], path.stem


def test_every_file_of_results_names_the_commit_of_its_code_and_every_automaton_its_search() -> None:
    for path in FOLDER.glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        runs = content.get("rows", [content])
        for run in runs:
            assert re.fullmatch(r"[0-9a-f]{40}( with changes| \(history of the file\))?", run["versions"]["commit"]), (
                path
            )
        found = [one["extraction"] or {"status": 3} for run in runs for one in run.get("networks", ()) if "seed" in one]
        assert {one["method"] for one in found if one["status"] != 3} <= {"learn", "learn-mealy", "kmeans"}


def test_a_run_says_which_commit_it_is_of_and_whether_code_differs_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> str:
        own = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", "-C", tmp_path, *own, *arguments], check=True, capture_output=True, text=True
        ).stdout

    code, result = tmp_path / "papers" / "results.py", tmp_path / "papers" / "results" / "a.json"
    result.parent.mkdir(parents=True)
    monkeypatch.setattr(results, "__file__", str(code))
    commit = results._commit.__wrapped__
    assert commit() == ""  # installed, or a folder in a repository of another project
    git("init", "-q")
    assert commit() == ""  # nothing is committed yet
    code.write_text("1", encoding="utf-8")
    result.write_text("1", encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "m")
    head = git("rev-parse", "HEAD").strip()
    result.write_text("2", encoding="utf-8")  # what a run itself changes
    assert commit() == head
    code.write_text("2", encoding="utf-8")
    assert commit() == f"{head} with changes"


def test_a_markdown_table_keeps_signs_that_mean_something_in_markdown() -> None:
    lines = markdown_table(claims_table(run_experiment(toy()))).splitlines()
    assert lines[-3] == "| 4.1 | words of length &lt;= 2 | 0 errors | 1 error |"


def test_the_section_is_replaced_and_nothing_else() -> None:
    once = replace_section(f"# Title\n\n{BEGIN}\nold\n{END}\n\n## Next\n", "new")
    assert once == f"# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\n## Next\n"
    assert replace_section(once, "new") == once


def test_a_missing_end_marker_is_put_in_and_what_follows_is_kept() -> None:
    assert replace_section(f"a\n{BEGIN}\n\n## Next\n", "new") == f"a\n{BEGIN}\n\nnew\n\n{END}\n\n## Next\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "README.md: expected the line <!-- results: written by stacklens papers report --> once"),
        (f"{BEGIN}\n{BEGIN}\n", "found it 2 times"),
        (f"{END}\n{BEGIN}\n", "stands before"),
    ],
)
def test_a_readme_without_its_markers_is_left_as_it_is(tmp_path: Path, text: str, message: str) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text, encoding="utf-8")
    with pytest.raises(StacklensError, match=message):
        with_section(readme, "new")
    assert readme.read_text(encoding="utf-8") == text
