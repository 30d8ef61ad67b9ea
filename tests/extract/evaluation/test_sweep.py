"""Sweeps: a row a network whatever becomes of it, in the order asked for, kept as soon as it is known."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.face.quick import QUICK, read_once
from tests.models.hand_made import parentheses_net
from tests.refusals import refused

import stacklens as sl
from stacklens.core.errors import StacklensError
from stacklens.extract.accuracy import scores_by_size
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation import sweep as sweep_row
from stacklens.extract.evaluation.sweep import SweepRow, networks_named, sweep
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import save_model

CONFIG = ExtractionConfig(**QUICK)
OURS = {"kind": "recognition", "language": "parentheses"}


@pytest.fixture(autouse=True)
def _few_words_and_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_row, "scores_by_size", partial(scores_by_size, largest=24))
    monkeypatch.setattr(sweep_row, "extract", read_once)  # in this process: others extract


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three networks and two files that are none."""
    place = tmp_path / "runs"
    place.mkdir()
    for seed in (10, 9, 2):
        save_model(place / f"seed-{seed}.pt", Checkpoint(parentheses_net(), OURS, {"epochs": seed, "seed": seed}))
    (place / "broken.pt").write_bytes(b"no network")
    (place / "empty.pt").write_bytes(b"")
    return place


def untimed(row: SweepRow) -> SweepRow:
    """Return a row without the time that it took."""
    report = row.report and {key: value for key, value in row.report.items() if key not in ("seconds", "budget")}
    return replace(row, seconds=0.0, report=report)


def test_every_file_is_a_row_and_what_cannot_be_read_says_why_in_one_line(folder: Path) -> None:
    found = sweep([folder, "no-such-network"], None, CONFIG)
    table = found.to_frame().set_index("network")
    assert [Path(name).stem for name in table.index] == [
        *("broken", "empty", "seed-2", "seed-9", "seed-10"),
        "no-such-network",
    ]
    assert table.status.tolist() == [2, 2, 0, 0, 0, 2]
    bad = table[table.status == 2]
    assert bad.headline.isna().all()
    assert all("\n" not in reason for reason in bad.reason)
    assert all(name in reason for name, reason in bad.reason.items())
    good = table[table.status == 0]
    assert (good.proof.tolist(), good.automaton.tolist()) == (["equal"] * 3, [1, 1, 1])
    assert good.epochs.tolist() == good.seed.tolist() == [2, 9, 10]
    assert (good.accuracy == 1).all()
    assert {"accuracy 1-2", "accuracy 23-24"} <= set(table.columns)


def test_a_defect_in_one_network_costs_its_own_row_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fragile(model: Any, *rest: Any) -> Any:
        if model.origin.name == "seed-9":
            raise ZeroDivisionError("division\nby zero")
        return read_once(model, *rest)

    monkeypatch.setattr(sweep_row, "extract", fragile)
    found = sweep(str(folder / "seed-*.pt"), None, CONFIG)
    assert [row.status for row in found.rows] == [0, 70, 0]
    assert found.rows[1].reason == ("a defect of stacklens, please report it: ZeroDivisionError: division by zero")


class Killed(BaseException):
    """What a kill looks like from within."""


def test_a_sweep_that_was_killed_goes_on_from_its_journal_also_over_more_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, seen = tmp_path / "journal", list[str]()

    def killed(row: SweepRow) -> None:
        seen.append(Path(row.network).stem)
        if row.network.endswith("seed-9.pt"):
            raise Killed

    files = [folder / f"seed-{seed}.pt" for seed in (2, 9, 10)]
    with pytest.raises(Killed):
        sweep(files[:2], None, CONFIG, journal=journal, progress=killed)
    assert seen == ["seed-2", "seed-9"]
    asked = list[str]()

    def counted(model: Any, *rest: Any) -> Any:
        asked.append(model.origin.name)
        return read_once(model, *rest)

    monkeypatch.setattr(sweep_row, "extract", counted)
    resumed = sweep(files, None, CONFIG, journal=journal)
    assert asked == ["seed-10"]  # a row is kept before anybody is told of it
    assert list(map(untimed, resumed.rows)) == list(map(untimed, sweep(files, None, CONFIG).rows))


def test_a_journal_is_of_one_language_and_one_effort(folder: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    sweep(folder / "seed-2.pt", None, CONFIG, journal=journal)
    with pytest.raises(StacklensError, match="the journal of another job: its config is"):
        sweep(folder / "seed-2.pt", None, replace(CONFIG, seed=1), journal=journal)
    with pytest.raises(StacklensError, match="the journal of another job: its sweep is None"):
        sweep(folder / "seed-2.pt", "parentheses", CONFIG, journal=journal)


def test_patterns_and_folders_stand_for_files_as_people_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert list(map(str, networks_named("seed-*.pt"))) == ["seed-2.pt", "seed-9.pt", "seed-10.pt"]
    assert networks_named(["nnpda-1n0n", "seed-9*"]) == ["nnpda-1n0n", Path("seed-9.pt")]
    Path("odd [1].pt").touch()
    assert networks_named("odd [1].pt") == ["odd [1].pt"]
    none: list[Any] = ["nothing-*.pt", [], folder.parent]
    for nothing in none:
        refused(r"no file matches|there is no network", networks_named, nothing)
    refused("expected networks, or their files, not one of type int", networks_named, [1])


def test_a_sweep_is_saved_and_read_back(folder: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    found = sl.sweep(folder, journal=journal, **QUICK)
    assert not journal.exists()
    found.save(tmp_path / "sweep.json")
    assert sl.load(tmp_path / "sweep.json") == found
    found.save(tmp_path / "sweep.csv")
    assert (
        (tmp_path / "sweep.csv").read_text(encoding="utf-8").startswith("network,language,updates,epochs,seed,status")
    )
    refused(r"expected a name that ends in \.csv, \.json", found.save, tmp_path / "sweep.xlsx")
    text = (tmp_path / "sweep.json").read_text(encoding="utf-8")
    for spoilt, told in [
        (text[:-20], "not JSON"),
        (text.replace('"scores"', '"score"'), "a row without its scores"),
        (text.replace('"status": 0', '"status": "0"'), "status is '0'; expected a whole number"),
        (text.replace('"rows"', '"lines"'), "has no rows"),
        (text.replace('"schema": 1', '"schema": 2'), "no sweep of this version"),
    ]:
        (tmp_path / "sweep.json").write_text(spoilt, encoding="utf-8")
        refused(told, sl.load, tmp_path / "sweep.json")
