"""Extractions that the page starts: what its form says, what is kept of them, and jobs as processes of their own."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.viz import page_jobs

from stacklens.errors import StacklensError
from stacklens.extract.extraction import Extraction, ExtractionConfig, extract
from stacklens.extract.names import reference_of
from stacklens.viz.dashboard import extraction_job as job
from stacklens.viz.dashboard.extractions import Settings, fingerprint, keep, known, settings_known
from stacklens.viz.dashboard.job_process import a_place
from stacklens.viz.dashboard.jobs import Jobs
from stacklens.viz.dashboard.networks import load, network_names
from stacklens.viz.dashboard.store import store

NAME = "nnpda-palindrome"
QUICK = ExtractionConfig(max_length=4, long_words=100, deep_words=1, depth=30, height=5, walks=5)


@pytest.fixture(scope="module")
def result() -> Extraction:
    checkpoint = load(NAME)
    return extract(checkpoint.model, reference_of(checkpoint), QUICK)


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKLENS_CACHE", str(tmp_path / "store"))


def started(**values: Any) -> tuple[dict[str, Any], list[list[Any]]]:
    """Return what comes of an extraction in this process, and what it told on the way."""
    told: list[list[Any]] = []
    given = {"network": NAME, "states": None, "stack_symbols": None, "max_length": None, "seed": None, "language": None}
    found = job.extraction_job(lambda values: told.append(list(values)), 1, **{**given, **values}, visit="x")
    return found, told


def test_what_is_kept_is_what_was_found(result: Extraction) -> None:
    assert known(NAME) is None
    assert settings_known(NAME) is None
    keep(NAME, Settings(max_length=4), result)
    found = known(NAME, Settings(max_length=4))
    assert found is not None
    assert (found.automaton, found.raw) == (result.automaton, result.raw)
    assert found.stacks == result.stacks.stacks
    assert found.report == json.loads(json.dumps(result.report()))
    assert found.summary.startswith("network    nnpda over a b c; language palindrome\n")
    assert known(NAME, Settings(max_length=5)) is None


def test_the_usual_settings_come_before_the_last_ones(result: Extraction) -> None:
    for settings in (Settings(max_length=4), Settings(seed=1)):
        keep(NAME, settings, result)
        assert settings_known(NAME) == settings
    assert known(NAME) is not None
    keep(NAME, Settings(), result)
    keep(NAME, Settings(seed=2), result)
    assert settings_known(NAME) == Settings()


def test_every_network_of_the_zoo_has_a_fingerprint_of_its_own() -> None:
    found = {fingerprint(load(name)) for name in network_names()}
    assert len(found) == len(network_names())
    assert {len(one) for one in found} == {64}
    load.cache_clear()
    assert {fingerprint(load(name)) for name in network_names()} == found


def test_a_form_that_is_left_empty_asks_for_nothing() -> None:
    assert job.settings_of(None, None, None, None, " ") == Settings()
    assert job.settings_of(4, 3.0, 6, 2, "palindrome ") == Settings(4, 3, 6, 2, "palindrome")
    assert Settings(4, 3, 6, 2, "x").config() == ExtractionConfig(states=4, stack_symbols=3, max_length=6, seed=2)


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"states": 0}, "states is 0; expected a whole number from 1 to 512, or nothing."),
        ({"max_length": 2.5}, "max length is 2.5; expected a whole number from 0 to 1,000, or nothing."),
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


def test_an_extraction_tells_its_stages_and_keeps_what_it_found(
    result: Extraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "config", lambda _: QUICK)
    found, told = started(max_length=4, seed=0)
    assert told == [[stage, number] for number, stage in enumerate(job.STAGES)]
    assert found == {"network": NAME, "settings": {**vars(Settings(max_length=4))}, "problem": None}
    kept = known(NAME, Settings(**found["settings"]))
    assert kept is not None
    assert kept.automaton == result.automaton
    assert started(max_length=4) == (found, [])  # it is known by now


def test_whatever_an_extraction_dies_of_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise MemoryError("much too large")

    monkeypatch.setattr(job, "extract", broken)
    assert started()[0]["problem"] == "the extraction failed: MemoryError('much too large')."


def test_who_finds_no_place_waits_until_there_is_one() -> None:
    waited = []

    def leave() -> None:
        waited.append(True)
        inside.__exit__(None, None, None)

    inside = a_place(1, lambda: None)
    inside.__enter__()
    with a_place(2, leave):
        assert not waited
    with a_place(1, leave):
        assert waited == [True]


def result_of(jobs: Jobs, key: str, number: int, done: Callable[[Any], bool]) -> Any:
    """Return the first result of a job for which ``done`` says so."""
    for _ in range(600):
        found = jobs.get_result(key, number)
        if done(found):
            return found
        time.sleep(0.1)
    raise AssertionError("the job does not end")


@pytest.mark.slow
def test_a_job_is_a_process_whose_progress_and_result_are_in_the_store() -> None:
    jobs = Jobs("stopped")
    number = jobs.call_job_fn("key", page_jobs.spelled, ["ab", 3], {})
    assert number != os.getpid()
    assert result_of(jobs, "key", number, lambda found: found is not jobs.UNDEFINED) == ["ab", "ab", "ab"]
    assert store().get("key") is None
    failed = jobs.call_job_fn("other", page_jobs.failing, ["luck"], {})
    found = result_of(jobs, "other", failed, lambda found: found is not jobs.UNDEFINED)
    assert found["background_callback_error"]["msg"] == "no luck here"


@pytest.mark.slow
def test_a_job_that_is_killed_says_so_and_nothing_is_left_of_it() -> None:
    jobs = Jobs("stopped")
    number = jobs.call_job_fn("key", page_jobs.endless, [], {})
    for _ in range(600):
        progress = jobs.get_progress("key")  # type: ignore[no-untyped-call]
        if progress is not None:
            break
        time.sleep(0.1)
    assert progress == [number]
    assert jobs.get_result("key", number) is jobs.UNDEFINED
    jobs.terminate_job(number)  # type: ignore[no-untyped-call]
    assert result_of(jobs, "key", number, lambda found: found is not jobs.UNDEFINED) == "stopped"
    for _ in range(100):
        if not psutil.pid_exists(number):
            break
        time.sleep(0.1)
    assert not psutil.pid_exists(number)


@pytest.mark.slow
def test_a_job_ends_with_its_server() -> None:
    server = (
        "import os, time; from tests.viz import page_jobs; from stacklens.viz.dashboard.jobs import Jobs\n"
        "jobs = Jobs(None); print(jobs.call_job_fn('key', page_jobs.endless, [], {}))\n"
        "while jobs.get_progress('key') is None: time.sleep(0.1)\n"
        "os._exit(0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", server], env=environment, stdout=subprocess.PIPE, check=True)
    for _ in range(100):
        if not psutil.pid_exists(int(done.stdout)):
            break
        time.sleep(0.1)
    assert not psutil.pid_exists(int(done.stdout))


def test_only_plain_data_is_kept() -> None:
    with pytest.raises(TypeError, match=r"^only plain data can be kept, not object$"):
        store().set("key", object())
    with pytest.raises(StacklensError):
        known("none")
