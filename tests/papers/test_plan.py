"""What is left to run, and for how long: nothing is run to say it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stacklens.__main__ import app
from stacklens.core.errors import StacklensError
from stacklens.papers import experiments
from stacklens.papers.grid import (
    Grid,
    GridResults,
    GridRow,
    Network,
    Outcome,
    RowResult,
    RunSettings,
    read_grid,
)
from stacklens.papers.results import write_results
from stacklens.papers.runner import Plan, plan_of

TWO = RunSettings((0, 1))


def trained(settings: RunSettings) -> list[Outcome]:
    return [Outcome(seed, {"test": settings.data_seed / 10}) for seed in settings.seeds]


def toy(name: str = "toy", data_seeds: bool = True) -> Grid:
    rows = tuple(GridRow(one, {"model": one}, trained) for one in ("a", "b", "c"))
    return Grid(name, "Nobody 1993", "t", rows, ("test",), ("mean",), seeds=2, data_seeds=data_seeds)


def done(row: str, seconds: float, nets: int = 4) -> RowResult:
    networks = tuple(Network(seed, {"test": 0.0}, False) for seed in range(nets))
    spent = {"training, CPU": seconds, "training, wall": 999.0, "extraction, CPU": seconds}
    return RowResult(row, "fast", tuple(range(nets)), 1.0, "cpu", networks, spent, {}, "")


def test_seconds_are_those_that_networks_of_the_same_row_and_protocol_took(tmp_path: Path) -> None:
    write_results(GridResults("", "toy", "", (done("a", 60.0), done("b", 20.0))), tmp_path)
    assert plan_of(toy(), TWO, tmp_path) == Plan(6, 3, 2 * (30.0 + 10.0), 1)
    assert plan_of(toy(), RunSettings((0, 1, 2, 3)), tmp_path) == Plan(4, 1, 0.0, 1)  # a and b are there already
    assert plan_of(toy(), RunSettings((0, 1, 2, 3)), tmp_path, ["b"], fresh=True) == Plan(4, 1, 40.0, 0)
    assert plan_of(toy(), RunSettings((0,), data_seed=3), tmp_path, ["a"]).seconds == 30.0
    assert plan_of(toy(), RunSettings((0,), "paper"), tmp_path).unknown == 3


def papers(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["papers", "run", *map(str, arguments)], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.fixture
def two_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    grids = {"toy": toy, "apart": lambda: toy("apart", data_seeds=False)}
    monkeypatch.setattr(experiments, "EXPERIMENTS", grids)


def test_a_grid_with_settings_of_its_own_is_left_out_by_the_protocol_of_the_paper(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = replace(toy("own"), protocols=("fast",))
    monkeypatch.setattr(experiments, "EXPERIMENTS", {"toy": toy, "own": lambda: own})
    for protocol, grids in (("fast", ["own", "toy"]), ("paper", ["toy"])):
        (tmp_path / protocol).mkdir()
        papers("--all", "--quiet", "--protocol", protocol, "--results", tmp_path / protocol)
        assert sorted(path.stem for path in (tmp_path / protocol).iterdir()) == grids
    with pytest.raises(StacklensError, match="the rows of own have settings of their own: leave out --protocol"):
        papers("own", "--quiet", "--protocol", "paper", "--results", tmp_path)
    with pytest.raises(StacklensError, match="unknown protocol 'papers'"):
        papers("--all", "--protocol", "papers", "--results", tmp_path)


@pytest.mark.usefixtures("two_grids")
def test_all_grids_are_run_one_after_the_other_and_what_is_done_stays(tmp_path: Path) -> None:
    said = papers("--all", "--forecast", "--results", tmp_path)
    assert said.splitlines()[-1].startswith("all: 6 rows, 12 networks")
    assert not list(tmp_path.iterdir())
    papers("--all", "--quiet", "--results", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["apart.json", "toy.json"]
    assert papers("--all", "--forecast", "--results", tmp_path).splitlines()[-1] == "all: nothing is left to do"
    assert "toy: 3 rows" in papers("--all", "--forecast", "--data-seed", "1", "--results", tmp_path)


@pytest.mark.usefixtures("two_grids")
def test_data_seeds_and_protocols_stand_side_by_side_in_one_file(tmp_path: Path) -> None:
    for options in ((), ("--data-seed", "2"), ("--protocol", "paper")):
        papers("toy", "--quiet", "--results", tmp_path, *options)
    found = read_grid("toy", tmp_path)
    assert found is not None
    assert [(row.name, row.protocol, row.data_seed) for row in found.rows][:3] == [
        ("a", "fast", 0),
        ("a", "fast", 2),
        ("a", "paper", 0),
    ]
    assert (
        found.rows[1].command == 'stacklens papers run toy --rows "a" --seeds 2 --data-seed 2 --protocol fast --fresh'
    )
    assert all(row.processor for row in found.rows)
    with pytest.raises(StacklensError, match=r"^apart has no words that all networks of a row share: leave out --data"):
        papers("apart", "--data-seed", "2", "--quiet", "--results", tmp_path)


@pytest.mark.usefixtures("two_grids")
def test_all_and_a_name_exclude_each_other_and_all_has_no_rows(tmp_path: Path) -> None:
    for wrong in ((), ("toy", "--all")):
        with pytest.raises(StacklensError, match="give the name of an experiment, or --all: one of the two"):
            papers(*wrong, "--results", tmp_path)
    with pytest.raises(StacklensError, match="--all runs whole experiments: leave out --rows"):
        papers("--all", "--rows", "a", "--results", tmp_path)


def test_claims_have_no_forecast(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match="sun1993-claims has claims and no rows of networks: there is no forecast"):
        papers("sun1993-claims", "--forecast", "--results", tmp_path)
