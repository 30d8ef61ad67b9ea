"""The harness of the attacks: what fails is found, counted and named, and what hangs or grows is ended."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.attack.campaign import Attack, Finding, Tally, discover, named
from tests.attack.rounds import Campaign

ROOT = Path(__file__).parents[2]
FAILURES = ("asserts", "crashes", "hangs", "grows", "is killed", "tries nothing")


def good(seed: int) -> Counter[str]:
    return Counter(words=seed, rounds=1)


def asserts(seed: int) -> Counter[str]:
    assert seed % 2, f"seed {seed} is even"
    return Counter(words=1)


def crashes(seed: int) -> Counter[str]:
    return Counter(words=2 // (2 - seed))


def hangs(seed: int) -> Counter[str]:
    time.sleep(60 if seed == 1 else 0)
    return Counter(words=1)


def grows(seed: int) -> Counter[str]:
    return Counter(numbers=int(np.ones(2**30 if seed else 1).sum()))


def is_killed(seed: int) -> Counter[str]:
    if seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return Counter(words=1)


def tries_nothing(seed: int) -> Counter[str]:
    return Counter(words=seed)


def attacks() -> tuple[Attack, ...]:
    rounds = (good, asserts, crashes, hangs, grows, is_killed, tries_nothing)
    return tuple(Attack(f.__name__.replace("_", " "), f) for f in rounds)


def campaign(*names: str, rounds: int | None = 3) -> Campaign:
    return Campaign(attacks, names, 0, rounds, seconds=2, memory=2**30, report=lambda _: None)


def test_what_is_tried_is_added_up_over_the_seeds_and_nothing_found_is_status_0() -> None:
    done = campaign("good", rounds=4)
    done.run(1, 2)
    assert done.tallies["good"].tried == Counter(words=0 + 1 + 2 + 3, rounds=4)
    assert done.findings() == []
    assert done.status() == 0


def test_every_way_to_fail_is_found_and_the_rounds_after_it_are_run() -> None:
    done = campaign("good", *FAILURES)
    done.run(1, 2)
    assert {name: tally.rounds for name, tally in done.tallies.items()} == dict.fromkeys(("good", *FAILURES), 3)
    found = sorted((finding.attack, finding.seed, finding.kind) for finding in done.findings())
    assert found == [
        *[("asserts", 0, "wrong"), ("asserts", 2, "wrong"), ("crashes", 2, "traceback")],
        *[("grows", 1, "limit"), ("grows", 2, "limit"), ("hangs", 1, "limit"), ("is killed", 1, "limit")],
        ("tries nothing", 0, "wrong"),
    ]
    text = {finding.attack: finding.text for finding in done.findings()}
    assert "seed 2 is even" in text["asserts"]
    assert "ZeroDivisionError" in text["crashes"]
    assert re.search(r"more than 2 s\n[\s\S]*in hangs", text["hangs"])
    assert "SIGKILL" in text["is killed"]
    assert done.status() == 1


def test_the_attack_that_has_had_the_least_time_is_next_until_its_rounds_are_over() -> None:
    some = campaign("slow", "quick", rounds=3)
    some.tallies = {"slow": Tally(2, 10.0), "quick": Tally(2, 1.0)}
    assert some.following(Counter(slow=2, quick=2), []) == "quick"
    assert some.following(Counter(slow=2, quick=3), []) == "slow"
    assert some.following(Counter(slow=3, quick=3), []) is None


def test_no_round_begins_when_the_time_is_over() -> None:
    done = campaign("good", rounds=None)
    done.run(0, 1)
    assert done.tallies["good"].rounds == 0
    assert done.status() == 2


def test_a_failed_round_has_the_line_that_runs_it_again() -> None:
    (attack, *_) = discover()
    *_, only, name, seed, number, rounds, one = shlex.split(Finding(attack.name, 41, "wrong", "").command())
    assert (only, name, seed, number, rounds, one) == ("--only", attack.name, "--seed", "41", "--rounds", "1")
    assert named(discover(), name) == (attack,)
    done = run("--only", name, "--seed", "41", "--rounds", "1", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"{re.escape(name[:20])}.*\b1\b", done.stdout)


def test_an_unknown_attack_is_refused() -> None:
    done = run("--only", "nobody")
    assert done.returncode == 2
    assert "no attack is called nobody: expected one of" in done.stderr


@pytest.mark.parametrize("name", ["", "a"])
def test_a_name_means_itself_or_all_that_contain_it(name: str) -> None:
    some = (Attack("a", good), Attack("b: a", good), Attack("c", good))
    assert [attack.name for attack in named(some, name)] == (["a"] if name else ["a", "b: a", "c"])
    assert [attack.name for attack in named(some, "b")] == ["b: a"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "tests.attack", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


# ---- A small share of every attack, with fixed seeds; `make attack` runs as much of them as one likes. ----
SEEDS = (2, 3)
ATTACKS = discover()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_no_claim_falls_to_an_attack(attack: Attack, seed: int) -> None:
    assert attack.round(seed).total() > 0
