"""Asking the page's server, and jobs that it is given."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from flask.testing import FlaskClient

from stacklens.viz.dashboard.jobs import Tell


# ---- The page's server as a browser asks it, without one. ----
def asked(client: FlaskClient, route: str, status: int = 200, **given: Any) -> Any:
    """Return what the server answers to a question, and check that it answers so."""
    answer = client.get(f"/api/{route}", query_string=given)
    assert answer.status_code == status, answer.text
    return json.loads(answer.text)


def sent(client: FlaskClient, route: str, body: Any, status: int = 200) -> Any:
    """Return what the server answers to what is sent."""
    answer = client.post(f"/api/{route}", json=body)
    assert answer.status_code == status, answer.text
    return json.loads(answer.text)


@dataclass(frozen=True)
class Drawer:
    """What Dash shows in a drawer, its components, or the problem, or why it is to be asked again."""

    components: Any
    problem: str = ""

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """Return the properties of all components of a kind, in order."""
        return [one["props"] for one in _walked(self.components) if one.get("type") == kind]

    @property
    def figures(self) -> list[dict[str, Any]]:
        """Return the figures, as plotly's data."""
        return [one["figure"] for one in self.of_type("Graph")]

    @property
    def lines(self) -> list[str]:
        """Return the Python lines under figures and tables."""
        return [one["children"] for one in self.of_type("Pre")]

    @property
    def said(self) -> list[Any]:
        """Return the paragraphs, or the problem."""
        return [self.problem] if self.problem else [one["children"] for one in self.of_type("P")]

    def table(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of the table called ``name``, without the columns that are not shown."""
        (grid,) = (one for one in self.of_type("AgGrid") if one["id"] == {"grid": name})
        fields = [column["field"] for column in grid["columnDefs"]]
        return [{field: row[field] for field in fields} for row in grid["rowData"]]

    def opens(self, name: str) -> list[Any]:
        """Return what the links in the rows of a table bring onto the bench."""
        (grid,) = (one for one in self.of_type("AgGrid") if one["id"] == {"grid": name})
        links = [row["open"] for row in grid["rowData"]]
        return [one and dict(parse_qsl(one["href"][1:], keep_blank_values=True)) for one in links]


def _walked(part: Any) -> Iterator[dict[str, Any]]:
    """Yield all components in ``part``, in the order in which they stand on the page."""
    if isinstance(part, list):
        for one in part:
            yield from _walked(one)
    elif isinstance(part, dict) and "props" in part:
        yield part
        yield from _walked(part["props"].get("children"))


def filled(client: FlaskClient, drawer: str, **given: Any) -> Drawer:
    """Return what stands in a drawer once it has been asked for."""
    answer = client.post("/api/drawer", json={"drawer": drawer, **given})
    found: Any = answer.json
    if answer.status_code == 200:
        return Drawer(found)
    assert answer.status_code in (202, 400), answer.text
    return Drawer([], found["wait" if answer.status_code == 202 else "problem"])


# ---- Jobs for tests, which a process of their own finds by name. ----
def spelled(tell: Tell, word: str, times: int) -> list[str]:
    tell([word, times])
    return [word] * times


def failing(tell: Tell, word: str) -> None:
    tell([word])
    raise ValueError(f"no {word} here")


def endless(tell: Tell) -> None:
    tell([os.getpid()])
    time.sleep(600)
