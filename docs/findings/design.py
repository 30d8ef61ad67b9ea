"""Experiment 2: words by a design (length, floor, cap, turns) that every fresh network reads, as it is and rounded.

    python -m docs.findings.design [--networks build/runs]

Writes docs/findings/design.json: of each network and cell of the design how many of its words are right. What is made
of it is in `effects.py`; what was expected is in hypotheses.md.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from docs.findings.fresh import NETWORKS, about, learned, write_results

from stacklens.automata.pda import Word
from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.inference import automaton_answers, network_answers
from stacklens.models.rounding import Rounded

LENGTHS, FLOORS, CAPS, TURNS = (48, 96, 192, 384, 768), (0, 4, 12), (2, 6, 20), (0.1, 0.5, 0.9)
WORDS = 8  # a cell
CELLS = list(product(LENGTHS, FLOORS, CAPS, TURNS))  # in the order of a network's counts


def walk(length: int, cap: int, turn: float, rng: np.random.Generator) -> list[int]:
    """Return steps of 1 and -1 from 0 back to 0, never below it nor above ``cap``, that turn with a probability.

    >>> walk(6, 1, 0.5, np.random.default_rng(0))
    [1, -1, 1, -1, 1, -1]
    """
    steps, height, step = list[int](), 0, 1
    while len(steps) < length:
        step = -step if steps and rng.random() < turn else step
        step = 1 if height == 0 else -1 if height in (cap, length - len(steps)) else step
        steps.append(step)
        height += step
    return steps


def word(
    pairs: list[tuple[str, str]], length: int, floor: int, cap: int, turn: float, rng: np.random.Generator
) -> Word:
    """Return a word of the design: a walk over ``floor`` brackets that stay open until the end.

    >>> word([("(", ")")], 8, 2, 1, 0.5, np.random.default_rng(0))
    ('(', '(', '(', ')', '(', ')', ')', ')')
    """
    steps = [1] * floor + walk(length - 2 * floor, cap, turn, rng) + [-1] * floor
    stack, symbols = list[tuple[str, str]](), list[str]()
    for step in steps:
        if step > 0:
            stack.append(pairs[rng.integers(len(pairs))])
        symbols.append(stack[-1][0] if step > 0 else stack.pop()[1])
    return tuple(symbols)


def words(language: str, seed: int = 0) -> list[list[Word]]:
    """Return the words of the design for D2, D3 or D6, a list a cell, drawn from ``seed``."""
    reference, rng = get_task(language).reference, np.random.default_rng(seed)
    assert reference is not None
    letters = reference.input_alphabet  # each bracket that opens stands before the one that closes it
    pairs = list(zip(letters[::2], letters[1::2], strict=True))
    return [[word(pairs, *cell, rng) for _ in range(WORDS)] for cell in CELLS]


def right(model: StackModel[Any], language: str, drawn: list[list[Word]]) -> list[int]:
    """Return how many words of each cell ``model`` gets right: every set of next symbols is the language's."""
    reference, counts = get_task(language).reference, list[int]()
    assert reference is not None
    each = len(drawn) // len(LENGTHS)
    for first in range(0, len(drawn), each):  # words of one length at once
        batch = [one for cell in drawn[first : first + each] for one in cell]
        agree = (network_answers(model, batch) == automaton_answers(reference, model, batch)).all(1)
        counts += agree.reshape(each, -1).sum(1).tolist()
    return counts


def main() -> None:
    """Ask every network that learned, and write the counts."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--networks", type=Path, default=NETWORKS)
    folder = options.parse_args().networks
    torch.set_num_threads(1)
    lines, drawn = list[dict[str, Any]](), dict[str, list[list[Word]]]()
    for one in learned(folder):
        begun = time.process_time()
        drawn.setdefault(one.language, words(one.language))
        nets: dict[str, StackModel[Any]] = {"soft": one.model, "rounded": Rounded(one.model)}
        counts = {net: right(model, one.language, drawn[one.language]) for net, model in nets.items()}
        digits = {net: "".join(map(str, own)) for net, own in counts.items()}
        lines.append({**one.named, **digits, "seconds": round(time.process_time() - begun, 1)})
        print(*one.named.values(), lines[-1]["seconds"], flush=True)
    design = {"lengths": LENGTHS, "floors": FLOORS, "caps": CAPS, "turns": TURNS, "words a cell": WORDS}
    write_results("design", {**about("python -m docs.findings.design"), "design": design}, lines)


if __name__ == "__main__":
    main()
