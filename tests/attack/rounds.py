"""A campaign: rounds of many attacks in several processes, and the table of what was tried and found."""

import faulthandler
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic

from rich.table import Table
from tests.attack.campaign import KINDS, Attack, Finding, Kind, Tally

SECONDS = 120.0  # a round takes 8 at most on a core of its own
MEMORY = 4 * 2**30
HEADINGS: dict[Kind, str] = {"wrong": "wrong claims", "traceback": "tracebacks", "limit": "past a limit"}
SHOWN = 5  # failures of one attack that are printed


# ---- Processes that run rounds one after the other, each round under a limit of time and of memory.
#
# A worker that hangs writes down where, and ends; one that is killed or crashes is noticed by its closed pipe. Either
# way the parent makes a finding of it and starts another.
_SPAWN = get_context("spawn")  # torch and fork do not go together
_ROUNDS_A_PROCESS = 100  # caches that grow over the rounds are not the fault of the round that meets the limit
Answer = Counter[str] | tuple[Kind, str]


class Worker:
    """A process that runs one round at a time; ``seconds`` and ``memory`` (bytes) are the limits of a round."""

    def __init__(self, attacks: Callable[[], tuple[Attack, ...]], seconds: float, memory: int) -> None:
        self._attacks, self._seconds, self._memory = attacks, seconds, memory
        self._log = Path(tempfile.mkstemp(prefix="attack-", suffix=".log")[1])
        self.attack, self.seed, self.since, self._rounds = "", 0, 0.0, 0
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        arguments = (theirs, self._attacks, self._seconds, self._memory, str(self._log))
        self._process = _SPAWN.Process(target=_serve, args=arguments, daemon=False)
        self._process.start()
        theirs.close()
        self._rounds = 0

    def send(self, attack: str, seed: int) -> None:
        """Begin a round; `answer` ends it, once ``pipe`` is ready."""
        if self._rounds == _ROUNDS_A_PROCESS:
            self._end()
            self._start()
        self._rounds += 1
        self.attack, self.seed, self.since = attack, seed, monotonic()
        with suppress(BrokenPipeError):  # a process that died meanwhile is noticed when it does not answer
            self.pipe.send((attack, seed))

    def answer(self) -> Counter[str] | Finding:
        """Return what the round tried, or why it failed."""
        try:
            answer: Answer = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._end()
            answer = "limit", f"{self._why()}\n{self._log.read_text(errors='replace')[-4000:]}"
            self._start()
        if isinstance(answer, Counter):
            return answer
        return Finding(self.attack, self.seed, *answer)

    def _why(self) -> str:
        code = self._process.exitcode
        if monotonic() - self.since >= self._seconds:
            return f"it took more than {self._seconds:g} s"
        return f"its process ended with {signal.Signals(-code).name if code and code < 0 else f'status {code}'}"

    def _end(self) -> None:
        """End the process and those that its rounds have started."""
        self.pipe.close()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        self._end()
        self._log.unlink(missing_ok=True)


def _serve(
    pipe: Connection, attacks: Callable[[], tuple[Attack, ...]], seconds: float, memory: int, log_name: str
) -> None:
    os.setsid()  # Ctrl-C is for the parent, which prints the counts; and what a round starts can be ended with it
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    rounds = {attack.name: attack.round for attack in attacks()}
    warnings.simplefilter("error")  # as in the tests
    with open(log_name, "w", encoding="utf-8") as log, suppress(EOFError):
        faulthandler.enable(log)
        while True:
            name, seed = pipe.recv()
            faulthandler.dump_traceback_later(seconds, exit=True, file=log)
            answer = _answer(rounds[name], seed)
            faulthandler.cancel_dump_traceback_later()
            pipe.send(answer)


def _answer(round_of: Callable[[int], Counter[str]], seed: int) -> Answer:
    try:
        tried = round_of(seed)
    except AssertionError:
        return "wrong", traceback.format_exc()
    except MemoryError:
        return "limit", traceback.format_exc()
    except Exception:
        text = traceback.format_exc()
        return ("limit" if "can't allocate memory" in text else "traceback"), text  # torch's words for it
    except BaseException:
        sys.exit(1)
    return tried if tried.total() > 0 else ("wrong", "the round tried nothing: it returned an empty count")


# ---- Campaigns. ----
@dataclass
class Campaign:
    """Rounds of many attacks in several processes, until a time is over or each attack has had its rounds."""

    attacks: Callable[[], tuple[Attack, ...]]
    names: tuple[str, ...]
    seed: int = 0
    rounds: int | None = None
    seconds: float = SECONDS
    memory: int = MEMORY
    report: Callable[[str], None] = print
    tallies: dict[str, Tally] = field(default_factory=dict)

    def run(self, minutes: float, jobs: int) -> None:
        """Run rounds for so many minutes; those that have begun are waited for. Ctrl-C ends it at once."""
        self.tallies = {name: Tally() for name in self.names}
        begun, busy = Counter[str](), list[Worker]()
        self.report(f"{len(self.names)} attacks, {jobs} processes, at most {minutes:g} minutes: Ctrl-C ends it")
        idle = [Worker(self.attacks, self.seconds, self.memory) for _ in range(jobs)]
        workers = list(idle)
        said = monotonic()
        end = said + 60 * minutes
        try:
            while True:
                while idle and monotonic() < end and (name := self.following(begun, busy)) is not None:
                    busy.append(idle.pop())
                    busy[-1].send(name, self.seed + begun[name])
                    begun[name] += 1
                if not busy:
                    break
                ready = wait([worker.pipe for worker in busy])
                for worker in [worker for worker in busy if worker.pipe in ready]:
                    busy.remove(worker)
                    idle.append(worker)
                    self._count(worker)
                said = self._progress(said)
        except KeyboardInterrupt:
            self.report("interrupted")
        finally:
            for worker in workers:
                worker.close()

    def following(self, begun: Counter[str], busy: list[Worker]) -> str | None:
        """Return the attack that has had the least time, counting what runs at its mean; None if all are done."""
        spent = {}
        for name, tally in self.tallies.items():
            if self.rounds is None or begun[name] < self.rounds:
                mean = tally.seconds / tally.rounds if tally.rounds else 1.0
                spent[name] = tally.seconds + mean * sum(worker.attack == name for worker in busy)
        return min(spent, key=spent.__getitem__) if spent else None

    def _count(self, worker: Worker) -> None:
        tally, seconds = self.tallies[worker.attack], monotonic() - worker.since
        answer = worker.answer()
        tally.rounds += 1
        tally.seconds += seconds
        if isinstance(answer, Counter):
            tally.tried += answer
            return
        tally.findings.append(answer)
        if len(tally.findings) <= SHOWN:
            self.report(f"\n{answer.attack}, seed {answer.seed}: {answer.kind}\n{answer.text.rstrip()}\n")

    def _progress(self, said: float) -> float:
        """Say once a minute how far it is; return when it was said last."""
        if monotonic() - said < 60:
            return said
        rounds = sum(tally.rounds for tally in self.tallies.values())
        self.report(f"{rounds:,} rounds, {len(self.findings())} of them failed")
        return monotonic()

    def findings(self) -> list[Finding]:
        return [finding for tally in self.tallies.values() for finding in tally.findings]

    def status(self) -> int:
        if self.findings():
            return 1
        return 0 if any(tally.rounds for tally in self.tallies.values()) else 2

    def table(self) -> Table:
        """Return a row for every attack: rounds, what was tried, and how many rounds failed in which way."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in ("attack", "rounds", "seconds", *HEADINGS.values()):
            table.add_column(heading, no_wrap=True, justify="left" if heading == "attack" else "right")
        table.add_column("tried")
        for name, tally in self.tallies.items():
            tried = ", ".join(f"{number:,} {what}" for what, number in tally.tried.most_common())
            counts = (str(tally.found(kind)) for kind in KINDS)
            table.add_row(name, f"{tally.rounds:,}", f"{tally.seconds:.0f}", *counts, tried)
        return table
