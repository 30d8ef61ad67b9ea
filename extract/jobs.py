"""Long jobs: independent tasks, run by joblib on the processes of this machine or on a Dask cluster.

Tasks are pure functions of what they are given, so where they run, when, and how many at a time makes no difference to
their results.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeVar

from ..automata.pda import Symbol
from ..core.errors import FileFormatError, StacklensError, check_whole, needing
from ..core.files import from_plain, lock_file, to_plain
from ..core.progress import current_limit, in_time

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

    ``task``: a picklable function; with more than one process its arguments and results must be picklable too.
    ``arguments``: what it is called with, one at a time. ``jobs``: processes on this machine; 1 for none but this one.
    ``scheduler``: the address of a Dask scheduler, ``tcp://host:8786``, whose workers run the tasks instead. ``kept``:
    what becomes of the results so far where a worker is killed, and what to do, for the message.

    >>> sorted(finished(abs, [-2, 1, -3]))
    [1, 2, 3]
    """
    check_whole("jobs", jobs, 1)
    if jobs == 1 and scheduler is None:
        yield from map(task, arguments)
        return
    from multiprocessing import TimeoutError as NoResult

    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky.process_executor import BrokenProcessPool

    with ExitStack() as stack:
        if scheduler is None:
            stack.enter_context(parallel_config(backend="loky", idle_worker_timeout=_IDLE))
        else:
            client = stack.enter_context(_connect(scheduler))
            dask = parallel_config(backend="dask", client=client, wait_for_workers_timeout=_PATIENCE)
            stack.enter_context(dask)
        size, silence = (jobs, None) if scheduler is None else (-1, _SILENCE)
        pool = Parallel(n_jobs=size, batch_size=1, timeout=silence, return_as="generator_unordered")
        try:
            yield from pool(delayed(task)(argument) for argument in arguments)
        except BrokenProcessPool:
            raise StacklensError(f"a worker process was killed, perhaps for want of memory; {kept}") from None
        except NoResult:
            raise StacklensError(f"the cluster finished nothing in {_SILENCE:,} seconds; look at it; {kept}") from None


def results_in_order(task: Callable[[T], R], arguments: Iterable[T], jobs: int = 1) -> Iterator[R]:
    """Yield ``task(argument)`` for each of ``arguments`` in their order, ``jobs`` of them at a time.

    Stopping early wastes what is left of the last ``jobs``, and nothing has to be called off.

    >>> list(results_in_order(abs, [-2, 1, -3]))
    [2, 1, 3]
    """
    if jobs == 1:
        yield from map(task, arguments)
        return
    from joblib import Parallel, delayed

    rest, task = iter(arguments), partial(in_time, current_limit(), task)
    with Parallel(n_jobs=jobs, batch_size=1) as pool:
        while some := list(islice(rest, jobs)):
            yield from pool(delayed(task)(argument) for argument in some)


def check_scheduler(scheduler: str | None) -> None:
    """Check that a Dask ``scheduler`` with a worker is at that address, or None is named."""
    if scheduler is not None:
        _connect(scheduler).close()


def _connect(scheduler: str) -> Any:
    with needing("Dask, which --scheduler asks for,", "distributed"):
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
        from distributed.security import Security
    try:
        # the address is checked first: a client that fails to begin complains again when it is thrown away
        scheme, place = parse_address(scheduler)
        if scheme not in _SCHEMES:
            raise ValueError(f"{scheme}:// is none of {', '.join(_SCHEMES)}")
        secure: Any = Security()  # type: ignore[no-untyped-call]
        if scheme in ("tls", "wss") and secure.get_connection_args("client").get("ssl_context") is None:
            raise ValueError(f"{scheme}:// needs keys, which Dask's configuration names")
        host, port = parse_host_port(place)
        if not host or not 0 < port < 1 << 16:
            raise ValueError("expected a host and a port")
        client: Any = Client(scheduler, timeout=_PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
        client.wait_for_workers(1, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise StacklensError(
            f"no Dask scheduler with a worker at {scheduler!r}: expected an address like tcp://host:8786 "
            f"({str(error).splitlines()[0]})"
        ) from None
    return client


# ---- The journal of a long job: what is finished, a line each, so that a job that was killed goes on from there.
#
# A line counts once it is whole: the last one may be torn. Every line is written before the next chunk is taken for
# finished, so a kill loses nothing of it; it is forced to the disk some times a second, so a power cut loses little.
# The first line describes the job, and no other job goes on from it.

_FORMAT = "stacklens-verification-1"
_BEGINNING = json.dumps({"format": _FORMAT})[:-1].encode()
_SYNCED = 0.1  # seconds between two waits for the disk, each of which takes milliseconds
_LONGEST_LINE = 1 << 20  # bytes of the first line, which are some hundred
_LONGEST = 60  # characters of a setting shown in an error


@dataclass
class Journal:
    """An open journal, locked against other runs."""

    path: Path  # where it is
    kept: dict[str, Any]  # what the job needs again, written when it began
    done: dict[int, Tally]  # the tallies of the chunks that are finished, by their numbers
    file: IO[bytes]  # where it is written to
    begun: bool = False  # whether there is anything in it to go on from
    synced: float = -_SYNCED  # when the disk was last waited for

    @classmethod
    def open(cls, path: Path, job: dict[str, Any], resume: bool) -> Journal:
        """Return the journal at ``path`` for ``job``, plain data; with ``resume`` it goes on from what is there."""
        if os.path.exists(path) and not os.path.isfile(path):  # it would never end, or forget what is written to it
            raise StacklensError(f"cannot write the journal {path}: it is no file; name another by --journal")
        try:
            file = path.open("a+b")
        except OSError as error:
            problem = f"cannot write the journal {path}: {error.strerror}; name another by --journal"
            raise StacklensError(problem) from None
        try:
            if not lock_file(file):
                raise StacklensError(f"{path}: another run is writing this journal; wait for it, or name another")
            return cls._read(path, file, job, resume)
        except BaseException:
            file.close()
            raise

    @classmethod
    def _read(cls, path: Path, file: IO[bytes], job: dict[str, Any], resume: bool) -> Journal:
        strange = "not a line of a journal"
        journal = cls(path, {}, {}, file)
        file.seek(0)
        head = file.readline(_LONGEST_LINE)
        if not (head.startswith(_BEGINNING) or _BEGINNING.startswith(head)):  # before all of it is read
            raise FileFormatError(f"{path}, line 1: {strange} of stacklens; name another file")

        # the lines that are whole
        content = head + file.read()
        whole = content[: content.rfind(b"\n") + 1]
        lines: list[dict[str, Any]] = []
        for number, text in enumerate(whole.splitlines(), start=1):
            try:
                line = json.loads(text)
            except ValueError:
                line = None
            if not isinstance(line, dict) or (number == 1 and line.get("format") != _FORMAT):
                raise FileFormatError(f"{path}, line {number}: {strange} of stacklens; name another file")
            lines.append(line)
        if not lines:
            file.truncate(0)
            journal._write({"format": _FORMAT, "job": job})
            return journal

        # it has to be of this job
        there = lines[0].get("job", {})
        for name in sorted({*there, *job}):
            mine, other = json.loads(json.dumps(job.get(name))), there.get(name)
            if mine != other:
                raise StacklensError(
                    f"{path}: the journal of another job: its {name} is {str(other)[:_LONGEST]}, this one's "
                    f"{str(mine)[:_LONGEST]}; name another by --journal, or delete it"
                )
        if not resume:
            begun = "this job was begun and not finished; go on with --resume, or delete the file"
            raise StacklensError(f"{path}: {begun}")
        file.truncate(len(whole))
        journal.begun = True
        for number, line in enumerate(lines[1:], start=2):
            try:
                if "chunk" in line:
                    chunk, tally = int(line.pop("chunk")), {"type": "Tally", **line}
                    journal.done[chunk] = from_plain(Tally, tally, "tally")
                else:
                    journal.kept.update(line["kept"])
            except (KeyError, TypeError, ValueError, StacklensError):
                raise FileFormatError(f"{path}, line {number}: {strange}; delete the file") from None
        return journal

    def keep(self, **values: Any) -> None:
        """Write what the job needs again when it goes on."""
        self.kept.update(values)
        self.begun = True
        self._write({"kept": values})

    def add(self, chunk: int, tally: Tally) -> None:
        """Write that a chunk is finished."""
        self.done[chunk] = tally
        self.begun = True
        plain = {name: value for name, value in to_plain(tally).items() if name != "type"}
        self._write({"chunk": chunk, **plain})

    def _write(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line).encode() + b"\n")
        self.file.flush()
        if time.monotonic() - self.synced >= _SYNCED:
            os.fsync(self.file.fileno())
            self.synced = time.monotonic()

    def remove(self) -> None:
        """Delete the journal: the job is finished."""
        try:
            self.path.unlink(missing_ok=True)
        except PermissionError:  # Windows removes no file that is open
            self.file.close()
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.begun:  # the next try is to find no job that never began
            self.remove()
        self.file.close()


Compared = tuple[int, tuple[Symbol, ...] | None]  # on how many words two things differ, and the first of the shortest


@dataclass(frozen=True)
class Tally:
    """What a number of words gave: how many the automaton accepts of each length, and how it compares."""

    accepted: tuple[int, ...]
    compared: dict[str, Compared]
    words: int

    def __add__(self, other: Self) -> Tally:
        compared: dict[str, Compared] = {}
        for name, (number, first) in self.compared.items():
            more, second = other.compared[name]
            words = [word for word in (first, second) if word is not None]
            compared[name] = number + more, min(words, key=len, default=None)
        accepted = tuple(map(sum, zip(self.accepted, other.accepted, strict=True)))
        return Tally(accepted, compared, self.words + other.words)
