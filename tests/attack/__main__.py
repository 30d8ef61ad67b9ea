"""`python -m tests.attack [--minutes M] [--jobs J] [--seed S] [--only NAME] [--rounds R]`: attack for a while.

Each attack runs rounds with seeds S, S + 1, …; the attack that has had the least time is next. At the end, or at
Ctrl-C, a table says what was tried and what was found, with the line that runs each failed round again. The exit
status is 0 if rounds were run and nothing was found, 1 if something was found, 2 if nothing was run.
"""

import os
import sys
from pathlib import Path

# As in tests/conftest.py: a bare `automata` is automata-lib, not our folder of that name; and one thread a process.
ROOT = Path(__file__).parents[2]
sys.path[:] = [*(path for path in sys.path if path not in ("", str(ROOT))), str(ROOT)]
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse  # noqa: E402

from rich.console import Console  # noqa: E402
from tests.attack.campaign import discover, named  # noqa: E402
from tests.attack.rounds import Campaign  # noqa: E402


def main() -> int:
    arguments = _arguments()
    attacks = named(discover(), arguments.only)
    if not attacks:
        names = ", ".join(attack.name for attack in discover())
        print(f"error: no attack is called {arguments.only}: expected one of {names}", file=sys.stderr)
        return 2
    campaign = Campaign(discover, tuple(attack.name for attack in attacks), arguments.seed, arguments.rounds)
    campaign.run(arguments.minutes, arguments.jobs)
    console = Console(width=None if sys.stdout.isatty() else 180, highlight=False)
    console.print(campaign.table())
    for finding in campaign.findings():
        console.print(f"{finding.kind}: {finding.command()}", soft_wrap=True, markup=False)
    return campaign.status()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--minutes", type=float, default=20, help="for how long rounds are begun")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes")
    parser.add_argument("--seed", type=int, default=0, help="the first seed of every attack; the others follow it")
    parser.add_argument("--rounds", type=int, help="how many rounds each attack has at most")
    parser.add_argument("--only", default="", metavar="NAME", help="the attack of this name, or those that contain it")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
