"""Long jobs: independent tasks, run by joblib on the processes of this machine or on a Dask cluster.

Nothing here distributes anything: joblib does, and its Dask backend where a scheduler is named. Tasks are pure
functions of what they are given, so who runs them, when, and how many at a time makes no difference to their results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from stacklens.errors import StacklensError
from stacklens.extras import needing
from stacklens.whole import check_whole

__all__ = ["check_scheduler", "finished", "in_order"]

T = TypeVar("T")
R = TypeVar("R")
_IDLE = 20  # seconds after which a process without a task ends, as those do whose parent was killed
# joblib's Dask backend waits for ever for a task that has killed several workers: a time without any result ends it.
_SILENCE = 1_800  # seconds, much more than any chunk takes
_KEPT = "what is finished is kept: go on with --resume"
_SCHEMES = ("tcp", "tls", "ws", "wss")  # of a scheduler in another process
_PATIENCE = 20  # seconds to wait for a scheduler, and as many for its workers


def finished(
    task: Callable[[T], R], arguments: Iterable[T], jobs: int = 1, scheduler: str | None = None, *, kept: str = _KEPT
) -> Iterator[R]:
    """Yield ``task(argument)`` for each of ``arguments``, in the order in which they are finished.

    Args:
        task: a picklable function; with more than one process its arguments and results must be picklable too.
        arguments: what it is called with, one at a time.
        jobs: processes on this machine; 1 for none but this one.
        scheduler: the address of a Dask scheduler, ``tcp://host:8786``, whose workers run the tasks instead.
        kept: what becomes of the results so far where a worker is killed, and what to do, for the message.

    Raises:
        StacklensError: ``jobs`` is no whole number of at least 1, a worker was killed, there is no scheduler, or the
            extra "distributed" is not installed.

    >>> sorted(finished(abs, [-2, 1, -3]))
    [1, 2, 3]
    """
    check_whole("jobs", jobs, 1)
    if jobs == 1 and scheduler is None:
        yield from map(task, arguments)
        return
    from multiprocessing import TimeoutError as NoResult

    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    with _workers(scheduler):
        size, silence = (jobs, None) if scheduler is None else (-1, _SILENCE)
        pool = Parallel(n_jobs=size, batch_size=1, timeout=silence, return_as="generator_unordered")
        try:
            yield from pool(delayed(task)(argument) for argument in arguments)
        except BrokenProcessPool:
            raise StacklensError(f"a worker process was killed, perhaps for want of memory; {kept}") from None
        except NoResult:
            raise StacklensError(f"the cluster finished nothing in {_SILENCE:,} seconds; look at it; {kept}") from None


def in_order(task: Callable[[T], R], arguments: Iterable[T], jobs: int = 1) -> Iterator[R]:
    """Yield ``task(argument)`` for each of ``arguments`` in their order, ``jobs`` of them at a time.

    Whoever stops asking wastes what is left of the last ``jobs``, and nothing has to be called off.

    >>> list(in_order(abs, [-2, 1, -3]))
    [2, 1, 3]
    """
    if jobs == 1:
        yield from map(task, arguments)
        return
    from joblib import Parallel, delayed

    rest = iter(arguments)
    with Parallel(n_jobs=jobs, batch_size=1) as pool:
        while some := list(islice(rest, jobs)):
            yield from pool(delayed(task)(argument) for argument in some)


def check_scheduler(scheduler: str | None) -> None:
    """Check that a Dask ``scheduler`` with a worker is at that address, or None is named.

    Raises:
        StacklensError: there is none, or the extra "distributed" is not installed.
    """
    if scheduler is not None:
        _connect(scheduler).close()


@contextmanager
def _workers(scheduler: str | None) -> Iterator[None]:
    """Let joblib use the workers of a Dask ``scheduler`` in the block; its own processes where that is None."""
    from joblib import parallel_config

    if scheduler is None:
        with parallel_config(backend="loky", idle_worker_timeout=_IDLE):
            yield
        return
    client = _connect(scheduler)
    with client, parallel_config(backend="dask", client=client, wait_for_workers_timeout=_PATIENCE):
        yield


def _connect(scheduler: str) -> Any:
    with needing("Dask, which --scheduler asks for,", "distributed"):
        from distributed import Client
    try:
        _check_address(scheduler)  # a client that fails to begin complains again when it is thrown away
        client: Any = Client(scheduler, timeout=_PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
        client.wait_for_workers(1, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise StacklensError(
            f"no Dask scheduler with a worker at {scheduler!r}: expected an address like tcp://host:8786 "
            f"({str(error).splitlines()[0]})"
        ) from None
    return client


def _check_address(scheduler: str) -> None:
    """Check that ``scheduler`` is an address such as ``tcp://host:8786``.

    Raises:
        ValueError: it is not.
    """
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.security import Security

    scheme, place = parse_address(scheduler)
    if scheme not in _SCHEMES:
        raise ValueError(f"{scheme}:// is none of {', '.join(_SCHEMES)}")
    secure: Any = Security()  # type: ignore[no-untyped-call]
    if scheme in ("tls", "wss") and secure.get_connection_args("client").get("ssl_context") is None:
        raise ValueError(f"{scheme}:// needs keys, which Dask's configuration names")
    host, port = parse_host_port(place)
    if not host or not 0 < port < 1 << 16:
        raise ValueError("expected a host and a port")
