"""The counts of the text: against counting in the results' files, and what is committed against those files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stacklens.core.errors import StacklensError
from stacklens.papers.results import FOLDER, read_results
from stacklens.papers.runner import run_experiment
from stacklens.papers.suzgun2019_studies import counts_experiment


def scores(table: str) -> dict[str, list[float]]:
    content = json.loads((FOLDER / f"suzgun2019-{table}.json").read_text(encoding="utf-8"))
    runs = [run for run in content["rows"] if (run["protocol"], run.get("data_seed", 0)) == ("fast", 0)]
    return {run["name"]: [one["scores"]["test"] for one in run["networks"]] for run in runs}


def test_what_is_committed_is_what_the_tables_have_now() -> None:
    now, kept = run_experiment(counts_experiment()), read_results("suzgun2019-counts")
    assert [claim.figures for claim in kept.claims] == [claim.figures for claim in now.claims], (
        "stacklens papers run suzgun2019-counts"
    )
    assert [claim.ours for claim in kept.claims] == [claim.ours for claim in now.claims]


def test_counts_are_those_of_the_tables_files() -> None:
    found = {claim.claim: claim.figures for claim in run_experiment(counts_experiment()).claims}
    full = sum(score == 1 for score in scores("table2")["Stack-RNN+Softmax"])
    assert found["D2: Stack-RNN+Softmax with full accuracy on the test"]["right"] == full
    every = [score for row, of in scores("table3").items() if not row.startswith("Vanilla") for score in of]
    counted = found["D3: all with a memory, 99 % or more on the test"]
    assert (counted["networks"], counted["right"]) == (len(every), sum(score >= 0.99 for score in every))
    assert len(counted["rows"]) == 10
    theirs = found["string reversal: theirs with full accuracy on the test"]
    assert len(theirs["rows"]) == 9
    assert "Stack-RNN by J&M" not in theirs["rows"]
    ones = found["simple palindromes, 1 a cell: 99 % or more on the test"]
    fives = found["simple palindromes, 5 a cell: 99 % or more on the test"]
    assert not set(ones["rows"]) & set(fives["rows"])


def test_the_highest_score_of_d6_with_one_number_is_that_of_its_file() -> None:
    (found,) = (claim for claim in run_experiment(counts_experiment()).claims if "highest" in claim.claim)
    content = json.loads((FOLDER / "suzgun2019-d6-one-number.json").read_text(encoding="utf-8"))
    runs = [run for run in content["rows"] if run["protocol"] == "fast" and run["name"] != "Stack-RNN by J&M"]
    networks = [one["scores"] for run in runs for one in run["networks"]]
    highest = max(max(scores["train"], scores["test"]) for scores in networks)
    assert max(found.figures["rows"].values()) == highest
    assert found.ours.startswith(f"{100 * highest:.2f} % (")
    assert found.figures["full"] == sum(scores["test"] == 1 for scores in networks)


def test_without_results_the_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match="run `stacklens papers run suzgun2019-table2` first"):
        run_experiment(counts_experiment(tmp_path))
