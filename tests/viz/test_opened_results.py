"""Saved results that are opened on the page: with their network, without it, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from flask.testing import FlaskClient
from tests.viz.page_client import asked, filled

import stacklens as sl
from stacklens.automata.formats.json import to_json
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import ZOO, Checkpoint, digest_of, save_model
from stacklens.viz.dashboard.extractions import known, settings_known, shipped
from stacklens.viz.dashboard.networks import network_names
from stacklens.viz.dashboard.opening import LARGEST_RESULT

NAME = "nnpda-1n0n"
RESULT = (ZOO / f"{NAME}.json").read_bytes()

pytestmark = pytest.mark.usefixtures("own_store")


def changed(**parts: Any) -> bytes:
    """Return the result with other entries; those of "network" are put into its own."""
    content = json.loads(RESULT)
    content["network"] |= parts.pop("network", {})
    content.pop("digests", None)  # with which the first thing that is changed is refused
    return json.dumps(content | parts).encode()


def sent(client: FlaskClient, data: bytes, title: str = "r.json") -> Any:
    return client.post("/api/upload", data=data, query_string={"title": title})


def test_a_result_of_a_network_of_the_zoo_is_shown_with_it(client: FlaskClient) -> None:
    name = sent(client, RESULT).json["network"]
    shown = asked(client, "network", network=name)
    assert (shown["title"], shown["saved"], "missing" in shown) == ("r.json (result)", True, False)
    assert shown["python"].splitlines()[-3:-1] == ["result = sl.load('r.json')", "network = result.model"]
    word = asked(client, "word", network=name, word="1100")
    assert word["rows"] == asked(client, "word", network=NAME, word="1100")["rows"]
    groups = asked(client, "networks", opened=name)
    assert [one["title"] for one in groups[0]["networks"]] == ["r.json (result)"]


def test_what_a_result_says_is_never_said_of_the_network_itself(client: FlaskClient) -> None:
    forged = changed(language="nothing-at-all")
    name = sent(client, forged).json["network"]
    assert known(name) != known(NAME)
    assert known(NAME) == shipped(NAME)
    assert settings_known(NAME) == settings_known(next(other for other in network_names() if other != NAME))


def test_a_result_whose_network_is_not_here_says_so_and_shows_its_automaton(
    client: FlaskClient, tmp_path: Path
) -> None:
    secret = tmp_path / "mine.pt"
    secret.write_bytes(b"nobody reads this")
    away = changed(network={"sha256": "0" * 64, "path": str(secret), "file": "mine.pt", "name": "mine"})
    with mock.patch("stacklens.extract.report.open_card", side_effect=AssertionError("a file was opened")):
        name = sent(client, away, "gone.json").json["network"]
        shown = asked(client, "network", network=name)
    assert shown["missing"] == (
        f"The network of gone.json is not here, only its automaton; open {secret}, too, to see what the network does."
    )
    assert shown["automaton"]["svg"] == asked(client, "network", network=NAME)["automaton"]["svg"]
    word = asked(client, "word", network=name, word="1100")
    alone = {row["name"]: row for row in word["rows"]}
    there = {row["name"]: row for row in asked(client, "word", network=NAME, word="1100")["rows"]}
    assert alone["automaton says"]["at"] == [0, 0, 0, 1]
    assert [alone[row]["at"] for row in ("state", "top", "height")] == [
        there[row]["at"] for row in ("state", "top", "height")
    ]
    assert [part["text"] for part in word["sentence"]][-1] == "only the automaton runs: its network is not here."
    assert asked(client, "other-word", network=name)["word"] == "10"
    assert asked(client, "word", 400, network=name, word="1x")["problem"].startswith(
        "symbol 'x' is not in the alphabet"
    )
    line = asked(client, "networks", opened=name)[0]["networks"][0]["line"]
    assert line.startswith("only an automaton, its network is not here. As stored, not checked: proved equal to 1n0n")
    for drawer in ("accuracy", "automaton", "figures"):
        said = json.dumps(filled(client, drawer, network=name, word="10", rounded=False).components)
        assert "is not here, only its automaton" in said
    assert filled(client, "checks", network=name).table("checks")


def test_a_result_finds_its_network_once_that_is_opened(client: FlaskClient, tmp_path: Path) -> None:
    save_model(tmp_path / "mine.pt", Checkpoint(sl.load(NAME), {}, {"seed": 99}))
    mine = changed(network={"sha256": digest_of(tmp_path / "mine.pt"), "path": "mine.pt"})
    name = sent(client, mine).json["network"]
    assert "missing" in asked(client, "network", network=name)
    sent(client, (tmp_path / "mine.pt").read_bytes(), "mine.pt")
    assert "missing" not in asked(client, "network", network=name)
    assert asked(client, "word", network=name, word="10")["kind"] == "recognition"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b'{"format": "stacklens sweep", "schema": 1, "rows": []}',
            "r.json: a sweep; it names networks by their files, ",
        ),
        (to_json(get_language("dyck-1").automaton).encode(), "r.json: an automaton; the page opens networks and "),
        (b'{"word": "ab", "steps": []}', "r.json: JSON, but neither a network nor a saved result; "),
        (b"[1, 2]", "r.json: JSON, but neither a network nor a saved result; "),
        (b'{"format": ', "r.json: damaged JSON; expected a network or a saved result"),
        (b"[" * 100_000, "r.json: damaged JSON; expected a network or a saved result"),
        (b"{" + b" " * LARGEST_RESULT + b"}", "r.json: larger than 5 MB; expected a saved result"),
        (changed(schema=1), "r.json: a result of another schema than 2, which this stacklens reads"),
        (changed(network={"alphabet": ["a", "b"]}), "r.json: horizon network difference word is not over "),
        (changed(network={"n_stacks": 3}), "r.json: a result of another network than its hash says"),
        (changed(checks=7, fields={}), "r.json: "),
        (b"step,symbol\n1,a\n", "r.json: "),
    ],
)
def test_what_is_no_result_is_one_line_and_nothing_is_kept(client: FlaskClient, data: bytes, said: str) -> None:
    answer = sent(client, data)
    assert answer.status_code == 400
    assert answer.json["problem"].startswith(said)
    assert "\n" not in answer.json["problem"]
    assert "/tmp" not in answer.json["problem"]
