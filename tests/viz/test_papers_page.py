"""The Papers page without a browser: what the server answers for every table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.viz.test_dashboard import answer
from tests.viz.test_papers_page_tables import GRID, results

from stacklens.errors import FileFormatError
from stacklens.viz.dashboard import papers_page
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.paper_figures import grid_figures
from stacklens.viz.paper_tables import PaperTables, frame_of, paper_tables, table_names


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    client: FlaskClient = new_application().server.test_client()
    return client


def shown(
    client: FlaskClient, output: str, name: str, page: str = "papers", more: dict[str, Any] | None = None
) -> dict[str, Any]:
    return answer(client, output, {"papers-name": name, "page": page, **(more or {})}, {})


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> PaperTables:
    """Return an experiment that has figures, in the place of all."""
    table = paper_tables("sun1993-claims").tables[0]
    found = PaperTables(
        "A paper", "two models", "a command", True, (table, table), tuple(grid_figures(GRID, results()))
    )
    monkeypatch.setattr(papers_page, "paper_tables", lambda _: found)
    return found


@pytest.mark.parametrize("name", list(table_names()))
def test_every_experiment_fills_as_many_tables_as_it_has(name: str, client: FlaskClient) -> None:
    tables = paper_tables(name).tables
    for number, place in enumerate(("papers-first", "papers-second")):
        found = shown(client, f"{place}.rowData", name)
        assert found[f"{place}-place"]["hidden"] == (number >= len(tables))
        if number < len(tables):
            assert found[place]["rowData"] == frame_of(tables[number]).to_dict("records")
            assert found[f"{place}-caption"]["children"] == tables[number].caption
            exec(found[f"{place}-line"]["children"], {})
    assert len(tables) <= 2


def test_the_command_and_whether_it_was_run_are_told(client: FlaskClient) -> None:
    found = shown(client, "papers-command.children", "verify")
    assert found["papers-command"]["children"] == "stacklens verify --all"
    assert found["papers-state"]["children"] == ""
    assert found["papers-problem"]["children"] is None
    assert found["papers-drawn"]["hidden"] is True


def test_an_experiment_with_figures_shows_the_one_that_is_chosen(client: FlaskClient, drawn: PaperTables) -> None:
    found = shown(client, "papers-command.children", "a-grid")
    assert found["papers-drawn"]["hidden"] is False
    assert found["papers-score"]["options"] == [{"label": "test", "value": 0}]
    figure = shown(client, "papers-figure.figure", "a-grid", more={"papers-score": 0, "theme": "dark"})
    assert figure["papers-figure"]["figure"]["layout"]["paper_bgcolor"] == "#16181D"
    assert figure["papers-figure"]["figure"]["data"][0]["x"] == list(drawn.figures[0].data[0].x)
    assert shown(client, "papers-figure.figure", "a-grid", more={"papers-score": 9}) == {}


def test_a_file_that_cannot_be_read_is_one_sentence(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> PaperTables:
        raise FileFormatError(f"{Path(name)}.json: no results")

    monkeypatch.setattr(papers_page, "paper_tables", broken)
    found = shown(client, "papers-command.children", "verify")
    assert found["papers-problem"]["children"] == "verify.json: no results."
    assert shown(client, "papers-first.rowData", "verify")["papers-first-place"]["hidden"] is True


def test_nothing_is_said_before_a_table_is_chosen(client: FlaskClient) -> None:
    for output in ("papers-first.rowData", "papers-command.children", "papers-figure.figure"):
        assert answer(client, output, {"papers-name": None, "page": "papers"}, {}) == {}


@pytest.mark.parametrize("output", ["papers-first.rowData", "papers-command.children", "papers-figure.figure"])
def test_nothing_is_answered_while_another_page_is_shown(output: str, client: FlaskClient) -> None:
    assert shown(client, output, "verify", page="trust") == {}
