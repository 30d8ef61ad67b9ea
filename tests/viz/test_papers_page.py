"""The papers' tables without a browser: what the server answers for every one."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from tests.viz.page_client import asked, filled
from tests.viz.test_papers_page_tables import GRID, results

from stacklens.viz.dashboard import drawers
from stacklens.viz.papers import PaperTables, frame_of, grid_figures, paper_tables, table_names

NAME = "nnpda-1n0n"


@pytest.mark.parametrize("name", list(table_names()))
def test_every_experiment_shows_its_tables_with_their_lines(name: str, client: FlaskClient) -> None:
    tables = paper_tables(name).tables
    found = filled(client, "papers", network=NAME, table=name)
    assert found.of_type("Code")[0]["children"] == paper_tables(name).command
    assert len(found.of_type("AgGrid")) == len(tables)
    titles, captions = [one["children"] for one in found.of_type("H3")], found.said[1:]
    for place, table in enumerate(tables):
        assert [list(row.values()) for row in found.table(table.title)] == frame_of(table).to_numpy().tolist()
        assert (titles[place], captions[place]) == (table.title, table.caption)
        exec(found.lines[place], {})


def test_all_tables_are_listed(client: FlaskClient) -> None:
    assert {one["name"]: one["what"] for one in asked(client, "papers")["tables"]} == table_names()


def test_an_experiment_with_figures_shows_them(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    table = paper_tables("sun1993-claims").tables[0]
    drawn = PaperTables("A paper", "two models", "a command", True, (table,), tuple(grid_figures(GRID, results())))
    monkeypatch.setattr(drawers, "paper_tables", lambda _: drawn)
    found = filled(client, "papers", network=NAME, table="a-grid", theme="dark")
    (figure,) = found.figures
    assert found.of_type("H3")[-1]["children"] == "test"
    assert figure["layout"]["paper_bgcolor"] == "#16181D"
    assert figure["data"][0]["x"] == list(drawn.figures[0].data[0].x)
