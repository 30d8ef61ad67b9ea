"""A campaign: rounds of many attacks in several processes, and the table of what was tried and found."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from time import monotonic

from rich.table import Table
from tests.attack.campaign import KINDS, Attack, Finding, Kind, Tally
from tests.attack.round_workers import Worker

SECONDS = 120.0  # a round takes 8 at most on a core of its own
MEMORY = 4 * 2**30
HEADINGS: dict[Kind, str] = {"wrong": "wrong claims", "traceback": "tracebacks", "limit": "past a limit"}
SHOWN = 5  # failures of one attack that are printed


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
