"""What whoever can reach the page cannot have it do, typed into its form or standing in a file that is opened."""

import functools
import os
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from tests.viz.networks import said
from tests.viz.page_client import asked, filled

from stacklens.automata.formats.json import to_json
from stacklens.languages.catalogue import get_language
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import save_model
from stacklens.viz.dashboard import jobs as turns
from stacklens.viz.dashboard import panels
from stacklens.viz.dashboard.app import word_answer
from stacklens.viz.dashboard.extractions import ExtractionSettings, Known, extraction_job, settings_of
from stacklens.viz.dashboard.jobs import LONG, NotYetError, Turns
from stacklens.viz.dashboard.networks import checkpoint_of, keep_upload, random_word
from stacklens.viz.dashboard.panels import (
    LONGEST_STACKS,
    Shown,
    drawn,
    figure_lines,
    known_specification,
    table_lines,
    tabled,
    words_to_try,
)
from stacklens.viz.dashboard.requests import View
from stacklens.viz.figures import FIGURES

NAME, LONG_NAME = "nnpda-1n0n", "marnn-stack-rnn-dyck-2-drifting"
PATHS = ("{folder}/secret.json", "{folder}/secret", "secret.json", "./secret", "secret")
TRUTH = get_language("1n0n").automaton


@pytest.fixture(autouse=True)
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where there are two files with a language that would suit the network; nobody may open them."""

    def opened(path: str | Path) -> None:
        raise AssertionError(f"{path} was opened")

    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))
    monkeypatch.setattr("stacklens.languages.catalogue.language_from_file", opened)
    monkeypatch.chdir(tmp_path)
    for name in ("secret", "secret.json"):
        (tmp_path / name).write_text(to_json(TRUTH), encoding="utf-8")
    return tmp_path


def upload_of(language: str, name: str = NAME) -> str:
    """Return the name under which the page keeps a network that is said to have been trained on ``language``."""
    model = checkpoint_of(name).model
    path = Path("upload.pt")
    save_model(path, Checkpoint(model, {"kind": model.task_kind, "language": language}))
    return keep_upload(path.read_bytes(), "upload.pt").name


def problem_of(network: str, language: str | None) -> str:
    settings = settings_of({"max_length": 4, "language": language})
    found = extraction_job(lambda _: None, network, vars(settings), again=True)
    assert found["settings"] is None
    return str(found["problem"])


def nothing_expected(network: str, word: str) -> bool:
    """Return whether the page says that nothing is right or wrong, for it does not know what was trained."""
    return "what it was trained on is not known" in str(word_answer(network, word, False)["sentence"])


def said_of(path: str, kind: str = "language") -> str:
    """Return how the sentence on a path begins, whatever is there."""
    return f"unknown {kind} {path!r}: expected one of "


@pytest.mark.parametrize(("network", "kind"), [(NAME, "language"), (LONG_NAME, "task")])
def test_what_is_answered_does_not_tell_what_there_is_on_the_server(network: str, kind: str, secret: Path) -> None:
    (secret / "closed").touch(mode=0)
    there = [str(secret / name) for name in ("secret", "closed", "none")]
    paths = ["/etc/passwd", "/", "/none/such", "..", "none", *there, *(path.format(folder=secret) for path in PATHS)]
    answers = {problem_of(network, path).replace(repr(path), "…") for path in paths}
    assert len(answers) == 1
    assert answers.pop().startswith(f"unknown {kind} …: expected one of ")


@pytest.mark.parametrize("path", PATHS)
def test_no_language_is_read_from_a_file_that_an_opened_network_names(path: str, secret: Path) -> None:
    path = path.format(folder=secret)
    network = upload_of(path)
    assert problem_of(network, None).startswith(said_of(path))
    assert random_word(network, 0) == "10"
    assert nothing_expected(network, "10")
    assert drawn(View(network, "10")).data
    assert known_specification(network) is None
    assert words_to_try(network, 0) == "ε\n1\n0"
    one = Shown(network, ExtractionSettings(language=path), Known(TRUTH, TRUTH, {}, dict), raw=False)
    assert panels.seen_on_many(one, rounded=False).words
    predictor = upload_of(path, LONG_NAME)
    assert problem_of(predictor, None).startswith(said_of(path, "task"))
    assert nothing_expected(predictor, "()")


@pytest.mark.parametrize("network", ["nnpda-palindrome", "stack-rnn-anbn", "neural-stack-reversal"])
def test_the_stacks_of_long_words_are_not_drawn_and_all_else_is(network: str) -> None:
    word = checkpoint_of(network).model.alphabet[0] * (LONGEST_STACKS + 1)
    for figure in FIGURES:
        view = View(network, word, figure=figure)
        if figure in ("actions", "hidden", "map"):
            assert "Nothing to draw" not in str(drawn(view).layout)
            assert ", stacks=False)  # stacks are " in figure_lines(view)
        elif figure == "predictions":
            assert re.search("predicts nothing|at most 120 steps, and this word 1,001", said(drawn(view)))
        else:
            assert said(drawn(view)) == "Nothing to draw: stacks are drawn for words of at most 1,000 symbols."
    frame = tabled(view, "steps")
    assert len(frame) >= LONGEST_STACKS
    assert "stack" not in frame.columns
    assert ", stacks=False)  # stacks are " in table_lines(view, "steps")
    assert len(word_answer(network, word, False)["letters"]) >= LONGEST_STACKS


@pytest.mark.parametrize("name", ["dyck-N", "dyck-99999999999", f"dyck-{'9' * 400}", "x" * 400])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    assert problem_of(NAME, name).startswith(f"unknown language '{name}': expected one of 1n0n, ")
    assert random_word(upload_of(name), 0) == "10"


@pytest.mark.parametrize("network", [NAME, LONG_NAME])
def test_no_language_is_made_that_is_far_too_large_for_the_network(network: str) -> None:
    assert "dyck-99999 has more symbols than the network, " in problem_of(network, "dyck-99999")
    assert random_word(upload_of("dyck-99999", network), 0) == "".join(checkpoint_of(network).model.alphabet)
    assert nothing_expected(upload_of("dyck-99999", network), checkpoint_of(network).model.alphabet[0])


LONG_WORD = "()" * LONG
RULE = f"proofs, and words of more than {LONG} symbols, are worked on one at a time"


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """Return the turns of this test."""
    mine = Turns(waiting=3, soon=0.05)
    monkeypatch.setattr(turns, "TURNS", mine)
    return mine


class Gate:
    """Work that goes on until it is let through."""

    def __init__(self) -> None:
        self.open, self.begun = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.open.wait(60)
        return "done"


def test_pieces_are_done_one_at_a_time_in_the_order_they_came(own: Turns) -> None:
    gate, done = Gate(), list[str]()
    with pytest.raises(NotYetError, match=f"^{RULE}: the result appears here by itself$"):
        own.result("gate", gate)
    for number, name in enumerate("ab", 1):
        with pytest.raises(NotYetError, match=rf"; {number} pieces? of work comes? first: the result appears"):
            own.result(name, functools.partial(done.append, name))
    with pytest.raises(NotYetError, match=r"; 3 wait, which is the most: try again in a minute$"):
        own.result("c", lambda: done.append("c"))
    assert done == []
    gate.open.set()
    own.result("b", lambda: done.append("again"), patience=60)
    assert done == ["a", "b"]
    assert own.result("gate", lambda: "other") == "done"


def test_what_goes_wrong_is_said_to_whoever_asked_and_the_next_piece_is_done(own: Turns) -> None:
    def wrong() -> None:
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        own.result("wrong", wrong, patience=60)
    assert own.result("right", lambda: 1, patience=60) == 1


def test_eight_users_with_long_words_keep_nobody_from_being_answered(client: FlaskClient, own: Turns) -> None:
    gate = Gate()
    with pytest.raises(NotYetError):
        own.result("somebody's", gate)
    assert gate.begun.wait(60)
    for number in range(8):
        long = "()" * (LONG + number)
        assert asked(client, "word", 202, network=LONG_NAME, word=long)["wait"].startswith(RULE)
        assert filled(client, "figures", network=LONG_NAME, word=long, figure="actions").problem.startswith(RULE)
    assert asked(client, "word", network=LONG_NAME, word="()")["letters"] == ["(", ")"]
    gate.open.set()


def test_a_long_word_is_shown_once_it_has_had_its_turn(client: FlaskClient) -> None:
    for _ in range(600):
        answer = client.get(f"/api/word?network={LONG_NAME}&word={LONG_WORD}")
        if answer.status_code == 200:
            break
        threading.Event().wait(0.05)
    found = answer.json
    assert found["letters"] == list(LONG_WORD)
    assert {len(row["at"]) for row in found["rows"] if row["type"] == "operation"} == {len(LONG_WORD)}
    assert _process_beside() != os.getpid()


def _process_beside() -> int:
    """Return the process for long words, once it has begun and waits for work."""
    end = time.monotonic() + 120
    while (found := int(panels._in_the_process(os.getpid))) == os.getpid() and time.monotonic() < end:
        time.sleep(0.1)  # it begins, or a word of an earlier test has it
    return found


def ends_here_alone(killed: str) -> int:
    """Never end in the first process that does it, which it names in the file ``killed``; else return the process."""
    if not Path(killed).exists():
        Path(killed).write_text(str(os.getpid()), encoding="utf-8")
        time.sleep(600)
    return os.getpid()


def test_a_process_for_long_words_that_is_killed_is_replaced_and_who_asked_has_an_answer(tmp_path: Path) -> None:
    first, file = _process_beside(), tmp_path / "killed"
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(panels._in_the_process, ends_here_alone, str(file))
        while not file.exists():
            time.sleep(0.05)
        os.kill(first, signal.SIGKILL)
        assert answer.result(60) == os.getpid()  # it was worked on here
    assert _process_beside() not in (first, os.getpid())
