"""Processes that run rounds one after the other, each round under a limit of time and of memory.

A worker that hangs writes down where, and ends; one that is killed or crashes is noticed by its closed pipe. Either
way the parent makes a finding of it and starts another.
"""

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
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic

from tests.attack.campaign import Attack, Finding, Kind

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
