"""What an attack is, where the attacks are, and what a campaign of many rounds has tried and found.

An attack lives in `tests/attack/attack_*.py`, begins with ``from tests.attack.campaign import Attack`` and exposes
``ATTACKS: tuple[Attack, ...]``. That import is right under pytest, mypy and ``python -m tests.attack`` alike: each has
the repository's root on its path, and there are no ``__init__.py``. The round is found again by the attack's name in
the process that runs it, so it need not be picklable.
"""

import shlex
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal

Kind = Literal["wrong", "traceback", "limit"]
KINDS: tuple[Kind, ...] = ("wrong", "traceback", "limit")


@dataclass(frozen=True)
class Attack:
    """Something that tries to refute what the package says.

    A round takes 0.2 to 8 s of one core, depends on nothing but its seed, counts what it tried, and raises
    `AssertionError`, whose message is enough to do it again, at a wrong claim, a traceback or a limit passed.
    """

    name: str  # "automata: compare against brute force"
    round: Callable[[int], Counter[str]]


@dataclass(frozen=True)
class Finding:
    """A round that failed: by an assertion ("wrong"), another error ("traceback"), or by time or memory ("limit")."""

    attack: str
    seed: int
    kind: Kind
    text: str

    def command(self) -> str:
        """Return the line that runs the round again."""
        return f".venv/bin/python -m tests.attack --only {shlex.quote(self.attack)} --seed {self.seed} --rounds 1"


@dataclass
class Tally:
    """What one attack has tried and found so far."""

    rounds: int = 0
    seconds: float = 0.0
    tried: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def found(self, kind: Kind) -> int:
        return sum(finding.kind == kind for finding in self.findings)


def discover() -> tuple[Attack, ...]:
    """Return the attacks of all modules beside this one, in the order of the modules' names."""
    modules = sorted(path.stem for path in Path(__file__).parent.glob("attack_*.py"))
    attacks: tuple[Attack, ...] = tuple(
        attack for module in modules for attack in import_module(f"tests.attack.{module}").ATTACKS
    )
    repeated = [name for name, times in Counter(attack.name for attack in attacks).items() if times > 1]
    if repeated:
        raise ValueError(f"attacks need names of their own: {', '.join(repeated)}")
    return attacks


def named(attacks: tuple[Attack, ...], name: str) -> tuple[Attack, ...]:
    """Return the attack of that name, or else all whose names contain it."""
    return tuple(a for a in attacks if a.name == name) or tuple(a for a in attacks if name in a.name)
