"""Jobs of the page that extract, and who may reach it."""

import hashlib
import json
import math
import os
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from tests.face.quick import QUICK, quick_result
from tests.refusals import refused
from tests.viz import page_client
from tests.viz.page_client import asked, sent

from stacklens.core.errors import StacklensError
from stacklens.extract import repair as repairing
from stacklens.extract.by_name import specification_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.models.checkpoint import ZOO, load_checkpoint, save_model
from stacklens.viz.dashboard import extractions as job
from stacklens.viz.dashboard.app import new_application
from stacklens.viz.dashboard.extractions import ExtractionSettings, keep_extraction, known, settings_known
from stacklens.viz.dashboard.jobs import Jobs
from stacklens.viz.dashboard.networks import checkpoint_of, keep_upload, network_names, store
from stacklens.viz.dashboard.requests import Access

# ---- Extractions that the page starts: what its form says, what is kept of them, and jobs as processes of their own.
NAME = "nnpda-palindrome"
# a network that a word is known against
DRIFTING = max({"marnn-stack-rnn-dyck-2", "marnn-stack-rnn-dyck-2-drifting"} & {*network_names()})
CONFIG = ExtractionConfig(**QUICK)
pytestmark = pytest.mark.usefixtures("own_store")


def started(**values: Any) -> tuple[dict[str, Any], list[list[Any]]]:
    """Return what comes of an extraction in this process, and what it told on the way."""
    told: list[list[Any]] = []
    network, again = values.pop("network", NAME), values.pop("again", False)
    try:
        settings = job.settings_of(values)
    except StacklensError as error:
        return {"network": network, "settings": None, "problem": f"{error}."}, told
    return job.extraction_job(lambda values: told.append(list(values)), network, vars(settings), again), told


def test_what_is_kept_is_what_was_found() -> None:
    result = quick_result(NAME)
    assert known(NAME, ExtractionSettings(max_length=4)) is None
    assert settings_known(NAME) == ExtractionSettings()  # which comes with the zoo
    keep_extraction(NAME, ExtractionSettings(max_length=4), result)
    found = known(NAME, ExtractionSettings(max_length=4))
    assert (found.automaton, found.raw) == (result.automaton, result.raw)
    assert found.stacks == result.stacks.stacks
    assert found.report == json.loads(json.dumps(result.report()))
    assert found.summary.startswith("Proved equal to palindrome; ")
    assert known(NAME, ExtractionSettings(max_length=5)) is None


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"states": 0}, "states is 0; expected a whole number from 1 to 512, or nothing."),
        ({"max_length": 2.5}, "max length is 2.5; expected a whole number from 0 to 1,000, or nothing."),
        ({"method": "guess"}, "method is 'guess'; expected one of auto, kmeans, learn, "),
        ({"budget": 0}, "budget is 0; expected a whole number from 1 to 600, or nothing."),
        ({"seed": -1}, "seed is -1; expected a whole number from 0 to 4,294,967,295, or nothing."),
        ({"seed": math.inf}, "seed is inf; expected a whole number from 0 to 4,294,967,295, or nothing."),
        ({"states": math.nan}, "states is nan; expected a whole number from 1 to 512, or nothing."),
        (
            {"max_length": 30},
            "there are more than 50,000,000 words of length <= 30 over 3 symbols; extract-pda in a shell",
        ),
        ({"stack_symbols": 2}, "this nnpda pushes the symbol it reads: leave stack symbols empty."),
        ({"language": "nonsense"}, "unknown language 'nonsense': expected one of "),
        ({"language": "anbn"}, "language anbn has the alphabet a b, the network a b c; name the language that it was "),
        ({"network": "none"}, "unknown network 'none': expected one of "),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(form: dict[str, Any], problem: str) -> None:
    found, _ = started(**form)
    assert found["settings"] is None
    assert found["problem"].startswith(problem)
    assert found["problem"].endswith(".")


def test_an_extraction_tells_its_stages_and_keeps_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    caused = mock.Mock(side_effect=lambda result: result)
    monkeypatch.setattr(ExtractionSettings, "config", lambda _: CONFIG)
    monkeypatch.setattr(job, "with_causality", caused)
    found, told = started(max_length=4, seed=0)
    stages = [stage for stage in job.STAGES if stage != "certify up to a length"]  # it is certified for every length
    assert told == [[stage, job.STAGES.index(stage), len(job.STAGES)] for stage in stages]
    assert found == {"network": NAME, "settings": {**vars(ExtractionSettings(max_length=4))}, "problem": None}
    kept = known(NAME, ExtractionSettings(**found["settings"]))
    assert kept.automaton == quick_result(NAME).automaton
    assert started(max_length=4) == (found, [])  # it is known by now
    assert started(max_length=4, again=True) == (found, told)
    assert caused.call_count == 2  # what is found anew is kept with what causes what


TURNS = Jobs(2, 3, lambda before: ["waits", before], full="full", stopped="stopped")


def until(wanted: Callable[[], bool], seconds: int = 120) -> None:
    """Return once something is as it is wanted."""
    end = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < end
        time.sleep(0.1)


def ended(jobs: Jobs, key: str) -> Any:
    """Return what comes of a job."""
    until(lambda: (state := jobs.state(key)) is not None and not state.running)
    return jobs.state(key).result


def told(jobs: Jobs, key: str, wanted: Callable[[list[Any]], bool]) -> list[Any]:
    """Return what a job tells of its progress, once it is what is wanted."""
    until(lambda: (state := jobs.state(key)) is not None and state.progress is not None and wanted(state.progress))
    return list(jobs.state(key).progress)


def gone(number: int) -> None:
    """Return once a process has ended, within ten seconds."""
    until(lambda: not psutil.pid_exists(number), 10)


def children() -> list[int]:
    return [process.pid for process in psutil.Process().children()]


def test_at_most_so_many_wait_nobody_overtakes_and_what_is_cancelled_is_never_begun() -> None:
    jobs = Jobs(0, 3, TURNS.in_line, full="full", stopped="stopped")  # nothing has its turn

    def waits() -> list[Any]:
        return [state and (state.progress or state.result) for state in map(jobs.state, "abcd")]

    for key in "abcd":
        jobs.start(key, page_client.endless, [])
    assert waits() == [["waits", 0], ["waits", 1], ["waits", 2], "full"]
    jobs.cancel("b")
    jobs.start("d", page_client.endless, [])
    assert waits() == [["waits", 0], "stopped", ["waits", 1], ["waits", 2]]
    jobs.start("a", page_client.endless, [])  # which keeps its place
    assert waits()[0] == ["waits", 0]
    for key in ("a", "c", "d", "d", "none"):
        jobs.cancel(key)
    assert waits() == ["stopped"] * 4


def test_a_job_that_waits_is_no_process_and_one_too_many_is_told_so_at_once() -> None:
    jobs = Jobs(1, 2, TURNS.in_line, full="full", stopped="stopped")
    before = {*children()}
    jobs.start("first", page_client.endless, [])
    (number,) = told(jobs, "first", lambda said: said[0] != "waits")
    jobs.start("first", page_client.endless, [])  # the same: there is no second process
    for key in ("second", "third"):
        jobs.start(key, page_client.spelled, [key, 1])
    assert told(jobs, "third", lambda said: said == ["waits", 1])
    jobs.start("late", page_client.spelled, ["ab", 3])
    assert ended(jobs, "late") == "full"
    assert {*children()} - before == {number}
    for key in ("second", "third"):
        state = TURNS.state(key)
        assert state.running
    TURNS.cancel("second")
    assert ended(TURNS, "second") == "stopped"
    assert told(jobs, "third", lambda said: said == ["waits", 0])
    TURNS.cancel("first")
    assert ended(jobs, "first") == "stopped"
    assert ended(jobs, "third") == ["third"]
    gone(number)


def test_a_job_is_a_process_whose_progress_and_result_are_in_the_store() -> None:
    assert TURNS.state("key") is None
    TURNS.start("key", page_client.spelled, ["ab", 3])
    assert ended(TURNS, "key") == ["ab", "ab", "ab"]
    TURNS.start("other", page_client.failing, ["luck"])
    assert ended(TURNS, "other") == {"error": "ValueError('no luck here')"}
    TURNS.start("key", page_client.spelled, ["c", 1])  # again, and what came of it first is gone
    assert ended(TURNS, "key") == ["c"]


SERVER = """
import os, sys, time
from tests.viz import page_client
from stacklens.viz.dashboard.jobs import Jobs
jobs = Jobs(1, 3, lambda before: ["waits", before], "full", "stopped")
for key in ("key", "next"): jobs.start(key, page_client.endless, [])
while (said := jobs.state("key").progress) is None or said[0] == "waits": time.sleep(0.1)
while (waits := jobs.state("next").progress) is None: time.sleep(0.1)
print(*said, *waits, flush=True)
os._exit(0)
"""


def test_jobs_end_with_their_server_and_their_places_are_free() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", SERVER], env=environment, stdout=subprocess.PIPE, check=True)
    number, *waits = done.stdout.decode().split()
    assert waits == ["waits", "0"]
    gone(int(number))
    assert ended(TURNS, "key") == "stopped"
    assert ended(TURNS, "next") == "stopped"
    alone = Jobs(1, 1, TURNS.in_line, full="full", stopped="stopped")
    alone.start("mine", page_client.spelled, ["ab", 1])
    assert ended(alone, "mine") == ["ab"]


@pytest.mark.slow
@pytest.mark.parametrize(("route", "asks"), [("extract", {"settings": {"max_length": 12}}), ("repair", {"seconds": 9})])
def test_whoever_looks_at_a_network_sees_its_jobs_and_can_cancel_them(route: str, asks: dict[str, Any]) -> None:
    one, two = (new_application().server.test_client() for _ in range(2))
    body = {"network": DRIFTING, **asks}
    assert asked(two, "jobs", network=DRIFTING)["jobs"] == []
    sent(one, route, body)
    (seen,) = asked(two, "jobs", network=DRIFTING)["jobs"]
    assert (seen["running"], seen["what"], seen["problem"]) == (True, route, None)
    sent(two, route, body)  # the same: there is no second
    assert len(asked(one, "jobs", network=DRIFTING)["jobs"]) == 1
    assert asked(two, "jobs", network=NAME)["jobs"] == []
    sent(two, "cancel", {"network": NAME, "key": seen["key"]})  # which is not its job
    assert asked(one, "jobs", network=DRIFTING)["jobs"][0]["running"]
    sent(two, "cancel", {"network": DRIFTING, "key": seen["key"]})
    (seen,) = asked(one, "jobs", network=DRIFTING)["jobs"]
    assert (seen["running"], seen["problem"]) == (False, "This was stopped before it came to a result.")


# ---- Repairs: what is offered and refused, and what is kept of one ----


@pytest.fixture
def softer(tmp_path: Path) -> str:
    """Return the name of a network that is certified, but not as itself, however it is kept in the zoo."""
    checkpoint = load_checkpoint(ZOO / "stack-rnn-anbn.pt")
    scale = re.search(r"2\^(\d+)", checkpoint.provenance.pop("hardened", "2^0"))
    for layer, rows in checkpoint.model.action_layer().items():
        checkpoint.model.get_parameter(layer).data[rows] /= 2.0 ** int(scale[1])
    save_model(tmp_path / "net.pt", checkpoint)
    name = keep_upload((tmp_path / "net.pt").read_bytes(), "my net.pt").name
    opened = checkpoint_of(name)
    keep_extraction(name, ExtractionSettings(), extract(opened.model, specification_of(opened), CONFIG))
    return name


def test_what_is_hardened_is_a_network_of_the_session_and_can_be_saved(softer: str, tmp_path: Path) -> None:
    client, other = (new_application().server.test_client() for _ in range(2))
    page = asked(client, "network", network=softer)
    assert (page["card"]["file"], (offer := page["mending"])["what"], offer["problem"]) == ("my net.pt", "harden", None)
    assert offer["command"] == "stacklens harden 'my net.pt' --language anbn --out 'my net-hardened.pt'"
    sent(client, "repair", {"network": softer})
    while (seen := asked(other, "jobs", network=softer)["jobs"][0])["running"]:  # as after a reload
        time.sleep(0.3)
    made = seen["network"]
    assert (seen["problem"], seen["title"]) == (None, "my net (hardened)")
    assert [line.split()[0] for line in seen["lines"]] == ["before", "after", "actions"]
    own = asked(client, "networks", opened=made)["groups"][0]
    assert [one["title"] for one in own["networks"]] == ["my net (hardened)"]
    answer = client.get("/api/file", query_string={"network": made, "suffix": "pt"})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="my net-hardened.pt"'
    (tmp_path / "saved.pt").write_bytes(answer.data)
    assert load_checkpoint(tmp_path / "saved.pt").provenance["command"] == offer["command"]
    about = asked(client, "network", network=made)
    assert "the network itself follows it on words of every length" in about["headline"]
    assert about["mending"] is None
    # before and after on the word that broke it
    runs = (asked(client, "word", network=name, word=seen["word"]) for name in (softer, made))
    assert [bool(run["wrong"]) for run in runs] == [True, False]


def test_a_repair_tells_its_rounds_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExtractionSettings, "config", lambda _: CONFIG)
    monkeypatch.setattr(repairing, "_STEPS", (1,))
    told: list[Any] = []
    found = job.repair_job(told.append, DRIFTING, "repair", 30, None)
    assert (found["problem"], found["title"], found["rounded"]) == (None, f"{DRIFTING} (repaired)", True)
    heads = ["before", "round", "after", "actions", "left", "changed", "test"]
    assert [line.split()[0] for line in found["lines"]] == heads
    assert told[-1][3]["lines"] == [line for line in found["lines"] if line.startswith("round    1 steps, ")]
    assert all(0 <= done <= of == 30 for _, done, of, _ in told)


@pytest.mark.parametrize(
    ("network", "seconds", "problem"),
    [
        *((DRIFTING, wrong, "seconds is .*; expected a whole number from 1 to 600") for wrong in (0, 601, 1.5, "60")),
        (NAME, 60, "this nnpda network recognises palindrome: train it anew"),
        ("result-0", 60, "no result result-0 here"),
        ("none", 60, "unknown network 'none'"),
    ],
)
def test_what_cannot_be_repaired_is_one_line_and_not_offered(network: str, seconds: Any, problem: str) -> None:
    client = new_application().server.test_client()
    found = sent(client, "repair", {"network": network, "seconds": seconds}, 400)["problem"]
    assert re.search(problem, found)
    if network in network_names() and network != DRIFTING:
        assert asked(client, "network", network=network)["mending"]["problem"] == found[:-1]


@pytest.mark.parametrize(
    "settings",
    [{"states": "x"}, {"states": [1]}, [], {"method": 1}, {"language": {}}, {"budget": True}, {"seed": 1e99}],
)
def test_settings_that_no_page_sends_are_refused(settings: Any) -> None:
    client = new_application().server.test_client()
    assert sent(client, "extract", {"network": NAME, "settings": settings}, 400)["problem"].endswith(".")


@pytest.mark.parametrize("name", network_names())
def test_what_comes_with_a_network_of_the_zoo_was_read_out_of_it(name: str) -> None:
    path = ZOO / f"{name}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["network"]["sha256"] == hashlib.sha256((ZOO / f"{name}.pt").read_bytes()).hexdigest()
    assert path.stat().st_size < 200_000
    found = job.shipped(name)
    assert found is not None
    assert known(name) == found


def test_what_comes_with_the_zoo_is_not_shown_for_another_network(monkeypatch: pytest.MonkeyPatch) -> None:
    job.shipped.cache_clear()
    stranger = checkpoint_of("nnpda-palindrome")
    monkeypatch.setattr("stacklens.viz.dashboard.networks.checkpoint_of", lambda _: stranger)
    assert job.shipped("nnpda-1n0n") is None
    job.shipped.cache_clear()


def test_only_plain_data_is_kept() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        store().set("key", object())
    refused("", known, "none")


# ---- Who may use the page, and what a browser may do with its answers: hosts, origins, tokens, policies. ----
TOKEN = "a-long-token-of-ours"
PATHS = (
    *("/", "/_dash-layout", "/_dash-dependencies", "/_dash-component-suites/x/y", "/no-such-page"),
    *("/api/papers", "/api/networks", "/api/word?network=none", "/assets/main.js", "/assets/none", "/assets/icon.svg"),
)
HERE = {"HTTP_HOST": "localhost:8050", "REMOTE_ADDR": "127.0.0.1", "REQUEST_METHOD": "GET"}
ROOT = Path(__file__).parents[2]
OPEN: Flask = new_application(Access()).server
CLOSED: Flask = new_application(Access(TOKEN, frozenset({"page.example.org"}))).server


@pytest.fixture
def closed() -> FlaskClient:
    return CLOSED.test_client()


def refusal(access: Access, **changed: str) -> str | None:
    return access.refusal({**HERE, **changed})


NAMED = Access(TOKEN, frozenset({"page.example.org"}))
FAR, POST = {"REMOTE_ADDR": "10.0.0.7"}, {"REQUEST_METHOD": "POST"}
FOREIGN = ("http://evil.example", "null", "http://localhost:8051", "http://[", "localhost:8050")
LED_HERE = (
    *("evil.example", "localhost.evil.example", "evil@localhost", "localhost/x"),
    *("10.0.0.1", "0.0.0.0:8050", "", "[::1"),
)
ELSEWHERE = "this page is for the machine that it runs on: whoever runs it sets STACKLENS_TOKEN to let others in"
# who may ask, how, what differs from a request of this machine, and why it is refused, "None" where it is answered
ASKED: dict[str, tuple[Access, dict[str, str], str, tuple[str, ...], str]] = {
    "this machine": (Access(), {}, "HTTP_HOST", ("localhost", "LOCALHOST:1", "127.9.9.9", "[::1]:8050"), "None"),
    "a name that somebody led here": (Access(), {}, "HTTP_HOST", LED_HERE, "this page is not called"),
    "elsewhere": (Access(), {}, "REMOTE_ADDR", ("10.0.0.7", "192.168.1.2", "2001:db8::1", ""), ELSEWHERE),
    "a proxy": (Access(), {}, "HTTP_X_FORWARDED_FOR", ("10.0.0.7",), "behind a proxy"),
    "a proxy, with a token": (Access(TOKEN), {}, "HTTP_X_FORWARDED_FOR", ("10.0.0.7",), "None"),
    "addresses": (NAMED, FAR, "HTTP_HOST", ("10.0.0.1:8050", "[2001:db8::1]:80"), "None"),
    "named hosts": (NAMED, FAR, "HTTP_HOST", ("page.example.org", "Page.Example.org:443"), "None"),
    "other hosts": (NAMED, FAR, "HTTP_HOST", ("evil.example", "x.page.example.org", "page.example.org.evil"),
                    "names its hosts in STACKLENS_HOSTS"),
    "another page that looks": (Access(), {}, "HTTP_ORIGIN", FOREIGN, "None"),  # its browser does not let it
    "another page": (Access(), POST, "HTTP_ORIGIN", FOREIGN, "this comes from another page than ours"),
    "another site": (Access(), POST, "HTTP_SEC_FETCH_SITE", ("cross-site",), "this comes from another page"),
    "our page": (Access(), POST, "HTTP_ORIGIN", ("http://localhost:8050",), "None"),
    "our site": (Access(), POST, "HTTP_SEC_FETCH_SITE", ("same-origin",), "None"),
    "a program": (Access(), POST, "HTTP_HOST", ("localhost:8050",), "None"),
    "no pattern": (Access(TOKEN, frozenset({"*"})), {}, "HTTP_HOST", ("evil.example",), "this page is not called"),
    "our page by its name": (NAMED, POST, "HTTP_ORIGIN", ("https://page.example.org",), "None"),
}  # fmt: skip


@pytest.mark.parametrize("who", ASKED)
def test_who_is_answered_and_who_is_not(who: str) -> None:
    access, way, key, values, why = ASKED[who]
    for value in values:
        said = str(refusal(access, **way, **{key: value}))
        assert said == "None" if why == "None" else why in said, value


def test_without_the_token_nothing_is_shown(closed: FlaskClient) -> None:
    for path in PATHS:
        answer = closed.get(path)
        assert (answer.status_code, "a token is needed" in answer.text) == (403, True)
    for path in ("/api/extract", "/api/repair", "/api/cancel", "/api/drawer"):
        assert closed.post(path, json={}).status_code == 403
        assert closed.post(f"{path}?token={TOKEN}", json={}).status_code == 403


@pytest.mark.parametrize("wrong", ["", "x", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "é", "%00", "%FF"])
def test_a_wrong_token_opens_nothing(closed: FlaskClient, wrong: str) -> None:
    assert closed.get(f"/?token={wrong}").status_code == 403
    closed.set_cookie("stacklens-token-80", wrong)
    assert closed.get("/").status_code == 403


def test_a_link_with_the_token_lets_a_browser_in_and_the_token_leaves_the_address(closed: FlaskClient) -> None:
    answer = closed.get(f"/?token={TOKEN}&network=nnpda-1n0n&word=%28+%26")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/?network=nnpda-1n0n&word=%28+%26")
    cookie = answer.headers["Set-Cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert closed.get("/").status_code == 200
    again = closed.get(f"/?token={TOKEN}")
    assert (again.status_code, again.headers["Location"]) == (303, "/")


def test_the_token_is_never_a_way_to_another_site(closed: FlaskClient) -> None:
    for path in ("/%2Fevil.example/x", "/%5Cevil.example", "/http://evil.example"):
        assert closed.get(f"{path}?token={TOKEN}").headers["Location"] == "/"


@pytest.mark.parametrize("kind", ["Bearer", "token"])
def test_a_program_sends_the_token_in_a_header(closed: FlaskClient, kind: str) -> None:
    for path in ("/api/papers", "/_dash-layout"):
        assert closed.get(path, headers={"Authorization": f"{kind} {TOKEN}"}).status_code == 200
        assert closed.get(path, headers={"Authorization": f"{kind} nonsense"}).status_code == 403


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_says_what_a_browser_may_do_with_it(path: str) -> None:
    with OPEN.test_client().get(path) as answer:
        headers = answer.headers
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy["script-src"]
    assert "http" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_deployer_names_token_and_hosts_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKLENS_TOKEN", TOKEN)
    monkeypatch.setenv("STACKLENS_HOSTS", "page.example.org, Other.example ,")
    assert Access.from_environment() == Access(TOKEN, frozenset({"page.example.org", "other.example"}))
    visitor = runpy.run_path(str(ROOT / "app.py"))["server"].test_client()
    far: Any = {"environ_base": {"REMOTE_ADDR": "10.0.0.7"}, "base_url": "https://page.example.org"}
    assert visitor.get("/", **far).status_code == 403
    answer = visitor.get(f"/?token={TOKEN}", **far)
    assert answer.status_code == 303
    assert "Secure" in answer.headers["Set-Cookie"]
    monkeypatch.setenv("STACKLENS_TOKEN", " ")
    monkeypatch.setenv("STACKLENS_HOSTS", "")
    assert Access.from_environment() == Access()


@pytest.mark.parametrize("token", ["short", "a token with spaces", "é" * 20])
def test_a_token_that_is_easily_guessed_or_mangled_is_refused(token: str) -> None:
    refused(r"^STACKLENS_TOKEN has \d+ characters; expected at least 16, ", Access, token)


@pytest.mark.parametrize("host", ["http://page.example.org", "page.example.org:80", "a b", "x/y"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    refused(r"^STACKLENS_HOSTS names ", Access, TOKEN, frozenset({host}))


@given(host=st.text(), origin=st.text(), peer=st.text())
def test_whatever_a_request_says_it_is_answered_or_refused(host: str, origin: str, peer: str) -> None:
    for access in (Access(), Access(TOKEN)):
        refusal(access, HTTP_HOST=host, HTTP_ORIGIN=origin, REMOTE_ADDR=peer, REQUEST_METHOD="POST")
