"""What the app is started with beside networks: sweeps as tables with links, folders of sweeps, folders of rau."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from tests.face.quick import read_once
from tests.models.hand_made import parentheses_net
from tests.viz.page_client import asked, filled

from stacklens.core.errors import StacklensError
from stacklens.extract.accuracy import scores_by_size
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation import sweep as sweep_row
from stacklens.extract.evaluation.sweep import load_sweep, sweep
from stacklens.models.checkpoint import Checkpoint, save_model
from stacklens.viz.dashboard.networks import OWN
from stacklens.viz.dashboard.opening import opened_at_start

OURS = {"kind": "recognition", "language": "parentheses"}
QUICK = ExtractionConfig(max_length=5, long_words=50, deep_words=1, depth=20, height=5, climbs=1, walks=5, cycles=8)
RAU = Path(__file__).parents[1] / "data" / "rau" / "dyck2-depth3-lstm"


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    monkeypatch.setenv(OWN, "")
    monkeypatch.setattr(sweep_row, "scores_by_size", partial(scores_by_size, largest=12))
    monkeypatch.setattr(sweep_row, "extract", lambda model, language, _: read_once(model, language, QUICK))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two networks, a file that is none, and their sweep."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for seed in (2, 10):
        save_model(runs / f"seed-{seed}.pt", Checkpoint(parentheses_net(), OURS, {"seed": seed}))
    (runs / "bad.pt").write_bytes(b"nothing")
    sweep([*sorted(runs.glob("seed*")), runs / "bad.pt"], "parentheses").save(runs / "sweep.json")
    return runs


def test_a_sweep_is_a_table_whose_rows_open_their_networks_with_their_results(
    folder: Path, client: FlaskClient
) -> None:
    (view,) = opened_at_start(str(folder))
    assert view == {"drawer": "sweep", "sweep": view["sweep"]}
    drawer = filled(client, "sweep", network="nnpda-1n0n", word="", sweep=view["sweep"])
    rows = {Path(row["network"]).name: row for row in drawer.table("sweep")}
    assert {name: row["status"] for name, row in rows.items()} == {"seed-2.pt": 0, "seed-10.pt": 0, "bad.pt": 2}
    assert rows["seed-2.pt"]["automaton"] == rows["seed-10.pt"]["automaton"] == 1
    assert rows["seed-2.pt"]["follows rounded network"] == "every length"
    assert rows["seed-2.pt"]["states"] == 1
    assert rows["bad.pt"]["reason"]
    opens = dict(zip((Path(row["network"]).name for row in drawer.table("sweep")), drawer.opens("sweep"), strict=True))
    assert opens["bad.pt"] is None
    shown = asked(client, "network", network=opens["seed-10.pt"]["network"])
    assert (shown["title"], shown["saved"]) == ("seed-10.pt of sweep.json (result)", True)
    assert shown["card"]["seed"] == "10"
    assert shown["automaton"]["svg"]
    kept = {row.network: row for row in load_sweep(folder / "sweep.json").rows}
    report = kept[str(folder / "seed-10.pt")].report
    assert report is not None
    assert shown["headline"].lower().startswith("proved equal to parentheses")
    word = asked(client, "word", network=opens["seed-10.pt"]["network"], word="(())")
    assert "agrees with the network to the end" in "".join(part["text"] for part in word["sentence"])


def test_a_network_that_was_moved_or_changed_says_so_in_its_row_and_shows_its_automaton(
    folder: Path, client: FlaskClient
) -> None:
    (folder / "seed-2.pt").unlink()
    save_model(folder / "seed-10.pt", Checkpoint(parentheses_net(), OURS, {"seed": 11}))
    (view,) = opened_at_start(str(folder / "sweep.json"))
    drawer = filled(client, "sweep", network="nnpda-1n0n", word="", sweep=view["sweep"])
    rows = {Path(row["network"]).name: row for row in drawer.table("sweep")}
    assert rows["seed-2.pt"]["not opened"] == "its file is not here"
    assert rows["seed-10.pt"]["not opened"] == "its file has been changed since"
    first = drawer.opens("sweep")[[Path(row["network"]).name for row in drawer.table("sweep")].index("seed-2.pt")]
    shown = asked(client, "network", network=first["network"])
    assert "is not here, only its automaton" in shown["missing"]
    assert shown["automaton"]["svg"]


def test_a_sweep_of_an_earlier_version_opens_its_networks_without_results(folder: Path, client: FlaskClient) -> None:
    content = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    for row in content["rows"]:
        del row["report"]
    rows = ",\n".join(map(json.dumps, content["rows"]))
    text = f'{{"format": "stacklens sweep", "schema": 1, "rows": [\n{rows}\n]}}\n'
    (folder / "sweep.json").write_text(text, encoding="utf-8")
    (view,) = opened_at_start(str(folder / "sweep.json"))
    opens = filled(client, "sweep", network="nnpda-1n0n", word="", sweep=view["sweep"]).opens("sweep")
    names = [one["network"] for one in opens if one is not None]
    assert len(names) == 2
    assert not asked(client, "network", network=names[0])["extracted"]


def test_a_folder_without_a_sweep_and_a_sweep_that_is_damaged_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StacklensError, match=r"^empty: a folder without a sweep; stacklens sweep empty --out "):
        opened_at_start("empty")
    (tmp_path / "bad.json").write_text('{"format": "stacklens sweep", "schema": 9, "rows": []}', encoding="utf-8")
    with pytest.raises(StacklensError, match=r"^bad.json: no sweep of this version of stacklens; sweep again$"):
        opened_at_start("bad.json")


def test_a_folder_of_rau_is_opened_where_it_lies(client: FlaskClient) -> None:
    (view,) = opened_at_start(str(RAU))
    shown = asked(client, "network", network=view["network"])
    assert shown["title"] == "dyck2-depth3-lstm"
    symbol = shown["alphabet"][0]
    assert asked(client, "word", network=view["network"], word=symbol * 2)["letters"][:2] == [symbol] * 2
    assert asked(client, "network", 400, network=str(RAU.parent))["problem"]  # only what was named is opened
