"""Files that are sent to the page, results and sweeps that are opened on it, and how a visit begins."""

import json
import os
import pickle
import stat
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from flask.testing import FlaskClient
from tests.face.quick import save_parentheses, sweep_quickly
from tests.refusals import refused
from tests.viz.networks import REPRESENTATIVES
from tests.viz.page_client import asked, filled

import stacklens as sl
from stacklens.automata.formats.json import to_json
from stacklens.extract.evaluation.sweep import load_sweep, sweep
from stacklens.languages.catalogue import get_language
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import ZOO, digest_of, save_model
from stacklens.viz.dashboard import networks
from stacklens.viz.dashboard.app import beginning_answer, word_answer
from stacklens.viz.dashboard.extractions import known, settings_known, shipped
from stacklens.viz.dashboard.networks import (
    LARGEST_UPLOAD,
    OWN,
    PREFIX,
    checkpoint_of,
    keep_upload,
    network_names,
    random_word,
    store,
    store_folder,
    uploaded,
)
from stacklens.viz.dashboard.opening import LARGEST_RESULT, opened_at_start
from stacklens.viz.dashboard.requests import LARGEST_JSON

# ---- Files that are dropped on the page: kept under a name of their own, read as plain data, refused in one sentence.
NET = (ZOO / "nnpda-1n0n.pt").read_bytes()
pytestmark = pytest.mark.usefixtures("own_store")


def test_a_file_comes_back_as_it_was_sent() -> None:
    name = keep_upload(NET, "my net.pt").name
    assert name.startswith(PREFIX)
    assert uploaded(name).data == NET
    assert networks.file_of(name) == "my net.pt"
    assert networks.checkpoint_of(name).model.name == "nnpda"
    assert keep_upload(NET, "my net.pt").name == name
    assert keep_upload(NET, "other.pt").name != name


@pytest.mark.parametrize("title", ["../../etc/passwd", "..\\evil.pt", "/tmp/x/evil.pt", "", "x" * 300])
def test_no_file_is_written_under_its_own_name(title: str, tmp_path: Path, own_store: Path) -> None:
    kept = keep_upload(NET, title)
    assert len(kept.title) <= 120
    assert "/" not in kept.title
    assert "\\" not in kept.title
    assert [path for path in tmp_path.iterdir() if path != own_store] == []


def test_the_store_is_its_owners_alone_and_says_in_a_sentence_why_it_cannot_be_made(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store_folder() == own_store
    assert stat.S_IMODE(own_store.stat().st_mode) == 0o700
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "file"))
    refused(r"file: File exists; name a folder in STACKLENS_CACHE$", store_folder)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "^bad.pt: the file is empty; expected a network: "),
        (pickle.dumps(os.getcwd), "^bad.pt: holds objects other than tensors and plain data"),
        (bytes(LARGEST_UPLOAD + 1), "^bad.pt: larger than 20 MB; expected a trained network"),
    ],
    ids=["empty", "code", "large"],
)
def test_what_is_no_network_is_refused_and_not_kept(data: bytes, said: str) -> None:
    assert "stacklens-" not in refused(said, keep_upload, data, "bad.pt")  # where the file lay
    assert len(store()) == 0


DRAWERS = ("figures", "accuracy", "words", "checks", "automaton")
SHOWN = ["network", "word", "words", *(f"drawer {name}" for name in DRAWERS)]


@pytest.mark.parametrize("route", SHOWN)
def test_a_network_is_shown_on_when_its_day_is_over(route: str, client: FlaskClient) -> None:
    name = keep_upload(NET, "mine.pt").name
    networks.checkpoint_of.cache_clear()
    assert networks.checkpoint_of(name).model.name == "nnpda"
    del store()[name]
    assert (networks.file_of(name), networks.network_title(name)) == ("mine.pt", "mine.pt (opened)")
    assert "files are kept for a day" not in str(shown(client, route, name, 200))


@pytest.mark.parametrize("route", SHOWN)
def test_a_network_that_is_gone_is_one_sentence(route: str, client: FlaskClient) -> None:
    found = shown(client, route, "upload-gone", 400)
    assert "no file upload-gone here; files are kept for a day: open it again." in str(found)


def shown(client: FlaskClient, route: str, name: str, status: int) -> Any:
    """Return what the server answers on one of the routes that are `SHOWN`, a drawer whole."""
    kind, _, drawer = route.partition(" ")
    if drawer:
        return filled(client, drawer, network=name, word="10", table="steps", words="10")
    return asked(client, kind, status, network=name, word="10")


def test_a_file_is_sent_as_it_is_and_is_a_network_from_then_on(client: FlaskClient) -> None:
    name = client.post("/api/upload", query_string={"title": "my сеть\n.pt"}, data=NET).json["network"]
    assert uploaded(name) == networks.Upload(name, "my сеть.pt", NET)
    answer = client.get("/api/file", query_string={"network": name, "suffix": "pt"})
    assert answer.headers["Content-Disposition"].endswith("*=UTF-8''my%20%D1%81%D0%B5%D1%82%D1%8C.pt")
    large = client.post("/api/upload?title=bad.pt", data=bytes(LARGEST_UPLOAD + 1))
    assert large.json == {"problem": "bad.pt: larger than 20 MB; expected a trained network or a saved result."}


HERE = {"drawer": "figures", "network": "nnpda-1n0n"}


@pytest.mark.parametrize(
    ("route", "given", "problem"),
    [
        ("network", {}, "network is null; expected a text."),
        ("word", {"network": "../x"}, "unknown network '../x': expected one of "),
        ("other-word", {"network": "nnpda-1n0n", "seed": "-1"}, 'seed is "-1"; expected a whole number from 0.'),
        ("other-word", {"network": "nnpda-1n0n", "seed": "9" * 99}, 'seed is "9999'),
        ("file", {"network": "nnpda-1n0n", "suffix": "exe"}, 'suffix is "exe"; expected one of dot, json, '),
        ("drawer", {"network": "nnpda-1n0n"}, "drawer is null; expected a text."),
        ("drawer", {**HERE, "drawer": "x"}, 'drawer is "x"; expected one of checks, '),
        ("drawer", {**HERE, "network": 1}, "network is 1; expected a text."),
        ("drawer", {**HERE, "figure": "x"}, 'figure is "x"; expected one of '),
        ("drawer", {**HERE, "theme": "x"}, 'theme is "x"; expected one of light, dark.'),
        ("drawer", {**HERE, "drawer": "papers", "table": "../x"}, "unknown "),
    ],
)
def test_what_no_page_asks_is_refused_in_one_sentence(
    route: str, given: dict[str, Any], problem: str, client: FlaskClient
) -> None:
    how: Any = {"method": "POST", "json": given} if route == "drawer" else {"query_string": given}
    found: Any = client.open(f"/api/{route}", **how)
    assert found.status_code == 400
    assert found.json["problem"].startswith(problem)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"{", "the body of this request is no JSON."),
        (b"[" * 100_000, "the body of this request is no JSON."),
        (b"[]", "the body of this request is no object."),
        (b'{"network": "\\ud800"}', 'network is "\\ud800"; expected a text.'),
        (b" " * (LARGEST_JSON + 1), "the body of this request is larger than 2,000,000 bytes, or of no known size."),
    ],
)
def test_a_body_that_is_none_is_refused(data: bytes, problem: str, client: FlaskClient) -> None:
    for route in ("extract", "cancel", "drawer"):
        answer = client.post(f"/api/{route}", data=data)
        assert (answer.status_code, answer.json) == (400, {"problem": problem})


def test_a_request_that_is_far_too_large_is_not_read(client: FlaskClient) -> None:
    for path in ("/api/extract", "/api/drawer"):
        answer = client.post(path, data=b" " * 41_000_000, content_type="application/json")
        assert answer.status_code in (400, 413)


def test_dash_is_asked_nothing(client: FlaskClient) -> None:
    answer = client.post("/_dash-update-component", json={"output": "filled.children"})
    assert (answer.status_code, answer.text) == (404, "no callback of this page asks the server\n")


# ---- The beginning of a long word: shown before its turn has come, and what the whole word says there. ----
DYCK, LONG = "marnn-stack-rnn-dyck-2-drifting", "([]([]))" * 75


def values(row: dict[str, Any]) -> list[Any]:
    """Return what a row shows at each step, whatever numbers its names have."""
    if row["type"] == "heat":
        return list(row["values"])
    return [None if place < 0 else row["names"][place] for place in row.get("at", [])]


@pytest.mark.parametrize("name", REPRESENTATIVES)
@pytest.mark.parametrize("rounded", [False, True])
def test_a_beginning_says_what_the_whole_word_says_there(name: str, rounded: bool) -> None:
    word = (random_word(name, 3) * 300)[:600]
    begun = beginning_answer(name, word, rounded, 1)
    model = checkpoint_of(name).model
    if begun is None:
        found = known(name)
        assert model.end is not None or not model.real_time or found is None or found.automaton is None
        return
    whole = word_answer(name, word, rounded)
    assert (len(begun["letters"]), begun["of"]) == (240, len(whole["letters"]))
    rows = {row["name"]: row for row in whole["rows"]}
    assert [name for name in rows if name in {row["name"] for row in begun["rows"]}] == [
        row["name"] for row in begun["rows"]
    ]  # deeper cells of the stack may come later
    for first in begun["rows"]:
        row = rows[first["name"]]
        assert values(first) == values(row)[: len(values(first))], row["name"]
        marks = first.get("marks") or ""
        assert marks == (row.get("marks") or "")[: len(marks)]
    assert begun["wrong"] == [step for step in whole["wrong"] if step <= 240]


def test_only_a_long_word_at_an_early_step_has_a_beginning(client: FlaskClient) -> None:
    begun = asked(client, "word", network=DYCK, word=LONG, beginning=1, step=300)["beginning"]
    assert (len(begun["letters"]), begun["of"]) == (400, 600)
    assert begun["sentence"] == [{"text": "The first 400 of 600 symbols are shown; the others are being read."}]
    for word, step in ((LONG, 401), (LONG[:500], 1), (LONG, 599)):
        assert asked(client, "word", network=DYCK, word=word, beginning=1, step=step) == {"beginning": None}
    said = asked(client, "word", 400, network=DYCK, word=LONG + "x", beginning=1, step=1)["problem"]
    assert said == "symbol 'x' is not in the alphabet ( ) [ ]."


# ---- Saved results that are opened on the page: with their network, without it, and what is refused. ----
NAME = "nnpda-1n0n"
RESULT = (ZOO / f"{NAME}.json").read_bytes()
DIFFERENT = (ZOO / "nnpda-parentheses.json").read_bytes()  # a word is known that the network gets wrong


def changed(of: bytes = RESULT, **parts: Any) -> bytes:
    """Return the result with other entries; those of "network" are put into its own."""
    content = json.loads(of)
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
    groups = asked(client, "networks", opened=name)["groups"]
    assert [one["title"] for one in groups[0]["networks"]] == ["r.json (result)"]


def test_what_a_result_says_is_never_said_of_the_network_itself(client: FlaskClient) -> None:
    assert known(sent(client, changed(language="nothing-at-all")).json["network"]) != known(NAME)
    assert known(NAME) == shipped(NAME)
    assert settings_known(NAME) == settings_known(next(other for other in network_names() if other != NAME))


def test_a_result_whose_network_is_not_here_says_so_and_shows_its_automaton(
    client: FlaskClient, tmp_path: Path
) -> None:
    secret = tmp_path / "mine.pt"
    secret.write_bytes(b"nobody reads this")
    away = changed(network={"sha256": "0" * 64, "path": str(secret), "file": "mine.pt", "name": "mine"})
    with mock.patch("stacklens.extract.saved.open_card", side_effect=AssertionError("a file was opened")):
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
    line = asked(client, "networks", opened=name)["groups"][0]["networks"][0]["line"]
    assert line.startswith("only an automaton, its network is not here. As stored, not checked: proved equal to 1n0n")
    for drawer in ("accuracy", "automaton", "figures"):
        said = filled(client, drawer, network=name, word="10", rounded=False)
        assert "is not here, only its automaton" in str(said)
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
        (changed(DIFFERENT, network={"alphabet": ["a", "b"]}), "r.json: horizon network difference word is not over "),
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


# ---- What the app is started with beside networks: sweeps as tables with links, folders of sweeps, folders of rau.
RAU = Path(__file__).parents[1] / "data" / "rau" / "dyck2-depth3-lstm"


@pytest.fixture
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OWN, "")
    sweep_quickly(monkeypatch)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two networks, a file that is none, and their sweep."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for seed in (2, 10):
        save_parentheses(runs / f"seed-{seed}.pt", seed=seed)
    (runs / "bad.pt").write_bytes(b"nothing")
    sweep([*sorted(runs.glob("seed*")), runs / "bad.pt"], "parentheses").save(runs / "sweep.json")
    return runs


@pytest.mark.usefixtures("_own_places")
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
    assert kept[str(folder / "seed-10.pt")].report is not None
    assert shown["headline"].lower().startswith("proved equal to parentheses")
    word = asked(client, "word", network=opens["seed-10.pt"]["network"], word="(())")
    assert "agrees with the network to the end" in "".join(part["text"] for part in word["sentence"])


@pytest.mark.usefixtures("_own_places")
def test_a_network_that_was_moved_or_changed_says_so_in_its_row_and_shows_its_automaton(
    folder: Path, client: FlaskClient
) -> None:
    (folder / "seed-2.pt").unlink()
    save_parentheses(folder / "seed-10.pt", seed=11)
    (view,) = opened_at_start(str(folder / "sweep.json"))
    drawer = filled(client, "sweep", network="nnpda-1n0n", word="", sweep=view["sweep"])
    rows = {Path(row["network"]).name: row for row in drawer.table("sweep")}
    assert rows["seed-2.pt"]["not opened"] == "its file is not here"
    assert rows["seed-10.pt"]["not opened"] == "its file has been changed since"
    first = drawer.opens("sweep")[[Path(row["network"]).name for row in drawer.table("sweep")].index("seed-2.pt")]
    shown = asked(client, "network", network=first["network"])
    assert "is not here, only its automaton" in shown["missing"]
    assert shown["automaton"]["svg"]


@pytest.mark.usefixtures("_own_places")
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


@pytest.mark.usefixtures("_own_places")
def test_a_folder_without_a_sweep_and_a_sweep_that_is_damaged_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused(r"^empty: a folder without a sweep; stacklens sweep empty --out ", opened_at_start, "empty")
    (tmp_path / "bad.json").write_text('{"format": "stacklens sweep", "schema": 9, "rows": []}', encoding="utf-8")
    refused(r"^bad.json: no sweep of this version of stacklens; sweep again$", opened_at_start, "bad.json")


@pytest.mark.usefixtures("_own_places")
def test_a_folder_of_rau_is_opened_where_it_lies(client: FlaskClient) -> None:
    (view,) = opened_at_start(str(RAU))
    shown = asked(client, "network", network=view["network"])
    assert shown["title"] == "dyck2-depth3-lstm"
    symbol = shown["alphabet"][0]
    assert asked(client, "word", network=view["network"], word=symbol * 2)["letters"][:2] == [symbol] * 2
    assert asked(client, "network", 400, network=str(RAU.parent))["problem"]  # only what was named is opened
