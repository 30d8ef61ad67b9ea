"""Tasks on several processes: the same results, and a clear line when a worker or a scheduler is not there."""

from __future__ import annotations

import itertools
import os
import signal

import pytest

from stacklens.core.errors import StacklensError
from stacklens.extract.jobs import finished, results_in_order


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
    with pytest.raises(StacklensError, match=r"a worker process was killed.*go on with --resume"):
        list(finished(kill_at_three, range(6), jobs=2))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("stacklens.extract.jobs._PATIENCE", 0.2)
    for address in ("tcp://127.0.0.1:9", "nowhere-at-all"):
        with pytest.raises(
            StacklensError, match=f"no Dask scheduler with a worker at '{address}': expected an address"
        ):
            list(finished(square, range(3), scheduler=address))
