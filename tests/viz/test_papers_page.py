"""The papers' tables without a browser: what the server answers for every one."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from tests.viz.page_client import asked
from tests.viz.test_papers_page_tables import GRID, results

from stacklens.errors import FileFormatError
from stacklens.viz.dashboard import drawer_routes
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.paper_figures import grid_figures
from stacklens.viz.paper_tables import PaperTables, frame_of, paper_tables, table_names


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    client: FlaskClient = new_application().test_client()
    return client


@pytest.mark.parametrize("name", list(table_names()))
def test_every_experiment_shows_its_tables_with_their_lines(name: str, client: FlaskClient) -> None:
    tables = paper_tables(name).tables
    found = asked(client, "paper", name=name)
    assert found["command"] == paper_tables(name).command
    assert len(found["tables"]) == len(tables)
    for shown, table in zip(found["tables"], tables, strict=True):
        assert shown["rows"] == frame_of(table).to_numpy().tolist()
        assert (shown["title"], shown["caption"]) == (table.title, table.caption)
        exec(shown["python"], {})


def test_all_tables_are_listed(client: FlaskClient) -> None:
    assert {one["name"]: one["what"] for one in asked(client, "papers")["tables"]} == table_names()


def test_an_experiment_with_figures_shows_them(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    table = paper_tables("sun1993-claims").tables[0]
    drawn = PaperTables("A paper", "two models", "a command", True, (table,), tuple(grid_figures(GRID, results())))
    monkeypatch.setattr(drawer_routes, "paper_tables", lambda _: drawn)
    (figure,) = asked(client, "paper", name="a-grid", theme="dark")["figures"]
    assert figure["title"] == "test"
    assert figure["figure"]["layout"]["paper_bgcolor"] == "#16181D"
    assert figure["figure"]["data"][0]["x"] == list(drawn.figures[0].data[0].x)


def test_a_file_that_cannot_be_read_is_one_sentence(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> PaperTables:
        raise FileFormatError(f"{Path(name)}.json: no results")

    monkeypatch.setattr(drawer_routes, "paper_tables", broken)
    assert asked(client, "paper", 400, name="verify") == {"problem": "verify.json: no results."}
