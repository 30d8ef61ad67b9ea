"""Experiment 5: L# and KV, which see answers alone, beside the stack's own reading, on the fresh networks of one seed.

    python -m docs.findings.boxes [--networks build/runs] [--until HH:MM]

Writes docs/findings/boxes.json, a line a network; goes on where it was stopped. KV is `sl.learn`, which learns visibly
pushdown automata; L# (AALpy) learns Mealy machines and asks words of the task for a counterexample, until its time is
over. The stack's own reading of the same networks is in mechanism.json.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from pathlib import Path
from typing import Any

import torch
from aalpy.base import SUL, Oracle
from aalpy.learning_algs import run_Lsharp
from docs.findings import design
from docs.findings.fresh import NETWORKS, SEEDS, Fresh, about, learned, read_back, write_results
from docs.findings.mechanism import BUDGET, claim_of

import stacklens as sl
from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_task
from stacklens.models.inference import network_answers

SECONDS = 15.0  # of processor time for L#, which would go on for ever on a Dyck language
WORDS = 300  # of the task, as long as those trained on, on which a hypothesis of L# is tested


class OverError(Exception):
    """The time is over."""


class Answers(SUL):  # type: ignore[misc]  # AALpy has no types
    """A network's answers after every symbol, each word asked once."""

    def __init__(self, one: Fresh) -> None:
        super().__init__()
        self.model, self.end, self.known = one.model, time.process_time() + SECONDS, dict[Any, list[int]]()

    def query(self, word: Any) -> list[int]:
        """Return the answers after each symbol of ``word``, -1 from where it is rejected."""
        if time.process_time() > self.end:
            raise OverError
        spelled = tuple(word)
        if spelled not in self.known:
            self.num_queries += 1
            self.known[spelled] = network_answers(self.model, [spelled])[0].tolist() if spelled else []
        return self.known[spelled]

    def pre(self) -> None:
        """Begin a word."""
        self.word: tuple[Any, ...] = ()

    def post(self) -> None:
        """End a word."""

    def step(self, letter: Any) -> int:
        """Return the answer after one more symbol."""
        self.word = (*self.word, letter)
        return self.query(self.word)[-1]


class TaskWords(Oracle):  # type: ignore[misc]
    """A counterexample among drawn words of the task, the shortest beginning of one."""

    def __init__(self, one: Fresh, sul: Answers) -> None:
        super().__init__(list(one.model.alphabet), sul)
        self.words = [tuple(word) for word in get_task(one.language).sample(WORDS, seed=one.seed).words]
        self.answers = network_answers(one.model, self.words)
        self.last, self.accepted = None, False

    def find_cex(self, hypothesis: Any) -> tuple[Any, ...] | None:
        """Return the shortest beginning of a word on which ``hypothesis`` is wrong, None for none."""
        self.last = hypothesis
        firsts = [
            (first, word)
            for word, right in zip(self.words, self.answers, strict=True)
            if (first := _first_wrong(hypothesis, word, right.tolist())) is not None
        ]
        first, word = min(firsts, default=(0, ()))
        self.accepted = not firsts
        return word[: first + 1] if firsts else None


def _first_wrong(hypothesis: Any, word: tuple[Any, ...], right: list[int]) -> int | None:
    said = hypothesis.compute_output_seq(hypothesis.initial_state, word)
    return next((at for at, (one, other) in enumerate(zip(said, right, strict=False)) if one != other), None)


def by_l_sharp(one: Fresh) -> dict[str, Any]:
    """Return what L# learns in its time: whether it ended by itself, the hypothesis' size and its wrong words."""
    begun, sul = time.process_time(), Answers(one)
    oracle = TaskWords(one, sul)
    with contextlib.suppress(OverError):
        run_Lsharp(list(one.model.alphabet), sul, oracle, "mealy", cache_and_non_det_check=False, print_level=0)
    seconds, wrong = time.process_time() - begun, 0
    for cell in design.words(one.language) if oracle.last is not None else ():
        for word, right in zip(cell, network_answers(one.model, cell).tolist(), strict=True):
            wrong += _first_wrong(oracle.last, word, right) is not None
    states = 0 if oracle.last is None else len(oracle.last.states)
    claim = {"ended": oracle.accepted, "states": states, "words asked": sul.num_queries, "wrong": wrong}
    return {**claim, "seconds": round(seconds, 1)}


def by_kv(one: Fresh) -> dict[str, Any]:
    """Return what `sl.learn` claims, and on how many words of the design that is wrong."""
    begun = time.process_time()
    try:
        result = sl.learn(one.model, language=one.language, budget=BUDGET)
    except StacklensError as error:
        return {"status": 3, "reason": str(error)[:120], "seconds": round(time.process_time() - begun, 1)}
    seconds = round(time.process_time() - begun, 1)
    return {**claim_of(result, one), "seconds": seconds}


def main() -> None:
    """Ask every network of the first seed that learned, until the time that is given."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--networks", type=Path, default=NETWORKS)
    options.add_argument("--until", default="", help="begin no network after this time of the day")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    before = read_back("boxes")
    lines = before["rows"]
    for one in learned(chosen.networks, SEEDS[:1]):
        if chosen.until and time.strftime("%H:%M") >= chosen.until:
            break
        if not any(one.named.items() <= line.items() for line in lines):
            lines.append({**one.named, "KV": by_kv(one), "L#": by_l_sharp(one)})
            print(json.dumps(lines[-1], ensure_ascii=False), flush=True)
            write_results("boxes", about("python -m docs.findings.boxes", before), lines)


if __name__ == "__main__":
    main()
