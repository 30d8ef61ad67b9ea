"""Tasks on several processes, and jobs that are killed at any moment."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.refusals import refused

from stacklens.automata.formats.json import to_json
from stacklens.core.errors import StacklensError
from stacklens.extract.jobs import finished, results_in_order
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import ZOO

# ---- Running `stacklens verify` in a process of its own, to be killed in the middle. ----

ROOT = Path(__file__).parents[3]
_PATIENCE = 120  # seconds; a machine that is busy takes long to start Python


class Run:
    """One job in a folder: the palindrome network, its language's automaton, all words of length <= 14."""

    def __init__(self, folder: Path, max_length: int = 14) -> None:
        self.journal, self.report = folder / "journal.jsonl", folder / "report.json"
        automaton = folder / "palindrome.json"
        automaton.write_text(to_json(get_language("palindrome").automaton), encoding="utf-8")
        self.command = [sys.executable, "-m", "stacklens", "verify", str(ZOO / "nnpda-palindrome.pt")]
        self.command += ["--automaton", str(automaton), "--max-length", str(max_length)]
        self.command += ["--journal", str(self.journal), "--report", str(self.report)]
        self.folder = folder

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Return the running command, started outside the repository: its `automata` is not automata-lib."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
        out = subprocess.PIPE
        return subprocess.Popen(
            [*self.command, *options], cwd=self.folder, env=environment, stdout=out, stderr=out, text=True
        )

    def finish(self, *options: str) -> dict[str, Any]:
        """Return the report of a run that is left alone; its journal is gone then."""
        process = self.start(*options)
        out, error = process.communicate(timeout=_PATIENCE)
        assert process.returncode == 0, f"{out}{error}"
        assert not self.journal.exists()
        content: dict[str, Any] = json.loads(self.report.read_text(encoding="utf-8"))
        self.report.unlink()
        return content

    def chunks(self) -> list[int]:
        """Return the chunks that the journal has whole lines for."""
        lines = self.journal.read_bytes().splitlines(keepends=True) if self.journal.exists() else []
        content = [json.loads(line) for line in lines if line.endswith(b"\n")]
        return [line["chunk"] for line in content if "chunk" in line]


def kill_when(ready: Callable[[], bool], victims: Callable[[], list[int]]) -> None:
    """Wait until something is ``ready``, then kill -9 the ``victims``."""
    end = time.monotonic() + _PATIENCE
    while not ready():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.002)
    for victim in victims():
        os.kill(victim, signal.SIGKILL)


def children(parent: int, of: str) -> list[int]:
    """Return the processes that ``parent`` has started, or these have, with ``of`` in their command line."""
    family = psutil.Process(parent).children(recursive=True)
    return [process.pid for process in family if of in " ".join(process.cmdline())]


# ---- Tasks on several processes: the same results, and a clear line when a worker or a scheduler is not there.


def square(number: int) -> int:
    return number**2


def kill_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_order_and_those_after_the_last_one_asked_for_are_dropped(jobs: int) -> None:
    assert list(results_in_order(square, range(12), jobs)) == [number**2 for number in range(12)]
    endless = results_in_order(square, itertools.count(), jobs)
    assert [next(endless), next(endless)] == [0, 1]
    endless.close()  # type: ignore[attr-defined]


def test_a_killed_worker_is_a_clear_line() -> None:
    refused(r"a worker process was killed.*go on with --resume", list, finished(kill_at_three, range(6), jobs=2))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("stacklens.extract.jobs._PATIENCE", 0.2)
    for address in ("tcp://127.0.0.1:9", "nowhere-at-all"):
        with pytest.raises(
            StacklensError, match=f"no Dask scheduler with a worker at '{address}': expected an address"
        ):
            list(finished(square, range(3), scheduler=address))


# ---- Jobs that are killed at any moment go on from what was finished, and count nothing twice. ----

WORKER = "popen_loky"
CHUNKS = 82


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the report of a run that nobody disturbs, in one process."""
    report = Run(tmp_path_factory.mktemp("whole")).finish()
    assert report["chunks"] == CHUNKS
    assert [check["words"] for check in report["checks"]] == [7_174_453] * 3
    assert [check["accepted"] for check in report["checks"]] == [127] * 3
    return report


def test_the_parent_is_killed(tmp_path: Path, whole: dict[str, Any]) -> None:
    run = Run(tmp_path)
    process = run.start("--jobs", "2")
    workers: list[int] = []

    def family() -> list[int]:
        workers.extend(children(process.pid, WORKER))
        return [process.pid]

    kill_when(lambda: len(run.chunks()) >= 3, family)
    for worker in workers:  # they would end by themselves, half a minute after their last task
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    process.communicate()
    done = run.chunks()
    assert 3 <= len(done) < CHUNKS
    assert len(set(done)) == len(done)
    with run.journal.open("ab") as file:  # as if it had been killed while it wrote a line
        file.write(b'{"chunk": 80, "words": 44')
    assert run.finish("--resume") == whole  # in one process this time


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Return the address of a Dask scheduler with two workers, and the process that keeps the workers."""
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("dask")
    dask = [sys.executable, "-m", "dask"]
    contact = folder / "scheduler.json"
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    with (folder / "log").open("wb") as logs, ExitStack() as running:

        def start(*arguments: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen([*dask, *arguments], cwd=folder, stdout=logs, stderr=logs, env=environment)
            running.callback(process.wait, timeout=60)
            running.callback(process.send_signal, signal.SIGTERM)
            return process

        here = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(contact))
        start("scheduler", "--port", "0", *here)
        end = time.monotonic() + 60
        while not (contact.exists() and contact.read_text(encoding="utf-8").rstrip().endswith("}")):
            assert time.monotonic() < end, "the scheduler did not start"  # workers read the whole file, too
            time.sleep(0.1)
        keeper = start("worker", "--nworkers", "2", "--nthreads", "1", "--local-directory", str(folder), *here)
        yield json.loads(contact.read_text(encoding="utf-8"))["address"], keeper.pid


def test_a_dask_worker_is_killed(tmp_path: Path, whole: dict[str, Any], cluster: tuple[str, int]) -> None:
    """Dask repeats elsewhere what was lost, and the run goes on."""
    address, keeper = cluster
    run = Run(tmp_path)
    process = run.start("--scheduler", address)
    kill_when(lambda: len(run.chunks()) >= 3, lambda: children(keeper, "multiprocessing")[-1:])
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, f"{out}{error}"
    assert json.loads(run.report.read_text(encoding="utf-8")) == whole
    assert not run.journal.exists()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_task_that_kills_every_worker_of_a_cluster_is_given_up(
    cluster: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """joblib would wait for it for ever."""
    monkeypatch.setattr("stacklens.extract.jobs._SILENCE", 6)
    with pytest.raises(StacklensError, match="the cluster finished nothing in 6 seconds; look at it; what is finished"):
        list(finished(kill_at_three, range(6), scheduler=cluster[0]))
