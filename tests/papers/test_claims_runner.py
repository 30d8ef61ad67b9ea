"""Claims that are measured one after the other: a run that is stopped goes on, and nothing of another run is taken."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stacklens.core.errors import StacklensError
from stacklens.papers.results import Experiment, Finding, PaperClaim, read_results, result_path
from stacklens.papers.runner import part_of, run_into


class Stop(BaseException):
    """What a user does with Ctrl-C."""


def three(measured: list[str], stop_at: str = "") -> Experiment:
    """Return three claims that write down when they are measured; one of them stops the run."""

    def claim(name: str) -> PaperClaim:
        def measure() -> Finding:
            if name == stop_at:
                raise Stop
            measured.append(name)
            return Finding(f"{name} is {len(name)}", {"length": len(name)})

        return PaperClaim("4.1", name, "not reported", measure)

    return Experiment("toy", "Nobody 1993", "three claims", tuple(map(claim, ("one", "three", "eleven"))), (7,))


def test_a_run_that_was_stopped_measures_what_is_left(tmp_path: Path) -> None:
    with pytest.raises(Stop):
        run_into(three([], "eleven"), tmp_path)
    assert not result_path("toy", tmp_path).exists()
    measured: list[str] = []
    told: list[str] = []
    results = run_into(three(measured), tmp_path, told.append)
    assert measured == ["eleven"]
    assert [claim.figures["length"] for claim in results.claims] == [3, 5, 6]
    assert len(told) == 3  # the bar moves over those that were measured before
    assert read_results("toy", tmp_path) == results
    assert list(tmp_path.iterdir()) == [result_path("toy", tmp_path)]


def test_results_stay_until_a_new_run_is_whole(tmp_path: Path) -> None:
    whole = run_into(three([]), tmp_path)
    with pytest.raises(Stop):
        run_into(three([], "three"), tmp_path)
    assert read_results("toy", tmp_path) == whole


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.update(seeds=[8]),
        lambda content: content["versions"].update(torch="0.1"),
        lambda content: content["claims"][0].update(claim="another"),
        lambda content: content["claims"][0].update(paper="4 errors"),
        lambda content: content.pop("claims"),
    ],
)
def test_a_part_of_another_run_is_not_taken(tmp_path: Path, spoil: Callable[[dict[str, object]], object]) -> None:
    experiment = three([], "eleven")
    with pytest.raises(Stop):
        run_into(experiment, tmp_path)
    part = part_of(experiment, tmp_path)
    content = json.loads(part.read_text(encoding="utf-8"))
    spoil(content)
    part.write_text(json.dumps(content), encoding="utf-8")
    measured: list[str] = []
    run_into(three(measured), tmp_path)
    assert measured == ["one", "three", "eleven"]


def test_a_part_with_more_claims_than_there_are_is_not_taken(tmp_path: Path) -> None:
    with pytest.raises(Stop):
        run_into(three([], "eleven"), tmp_path)
    measured: list[str] = []
    whole = three(measured)
    run_into(replace(whole, claims=whole.claims[:1]), tmp_path)
    assert measured == ["one"]


def test_a_folder_that_is_not_there_is_said_before_a_second_claim_is_measured(tmp_path: Path) -> None:
    measured: list[str] = []
    with pytest.raises(StacklensError, match="nowhere"):
        run_into(three(measured), tmp_path / "nowhere")
    assert measured == ["one"]
