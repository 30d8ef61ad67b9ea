"""Experiment 2b: low words that come back to the empty stack, and the same walks over one bracket that stays open.

    python -m docs.findings.bottom [--networks build/runs]

Writes docs/findings/bottom.json: of each fresh network and length how many words are right at floor 0 and at floor 1,
and of those that are wrong at floor 0 how many are first wrong at a symbol that empties the stack. Walks are between 0
and 2 above the floor; the bracket that stays open takes two symbols of the length.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from docs.findings.design import word
from docs.findings.fresh import NETWORKS, about, learned, write_results

from stacklens.automata.compiled import BoolArray
from stacklens.automata.pda import Word
from stacklens.extract.answers import automaton_answers, network_answers
from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.rounding import Rounded

LENGTHS, FLOORS, CAP, TURN, WORDS = (96, 192, 384), (0, 1), 2, 0.5, 20
SEED = 7  # of the words, another one than in the design


def first_wrong_is_empty(own: Word | str, wrong: BoolArray, opens: Sequence[str]) -> bool | None:
    """Return whether no bracket is open where a network is first ``wrong`` (T,) on a word, None where it never is.

    >>> first_wrong_is_empty("()", np.array([False, True]), "("), first_wrong_is_empty("((", np.ones(2, bool), "(")
    (True, False)
    """
    if not wrong.any():
        return None
    return sum(1 if symbol in opens else -1 for symbol in own[: int(wrong.argmax()) + 1]) == 0


def main() -> None:
    """Ask every network that learned, and write the counts."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--networks", type=Path, default=NETWORKS)
    folder = options.parse_args().networks
    torch.set_num_threads(1)
    lines = list[dict[str, Any]]()
    for one in learned(folder):
        begun, reference = time.process_time(), get_task(one.language).reference
        assert reference is not None
        letters = reference.input_alphabet
        pairs = list(zip(letters[::2], letters[1::2], strict=True))
        nets: dict[str, StackModel[Any]] = {"soft": one.model, "rounded": Rounded(one.model)}
        line: dict[str, Any] = {**one.named, **{net: [] for net in nets}}
        line |= {f"{net}, first wrong on an empty stack": 0 for net in nets}
        for length in LENGTHS:
            drawn = [
                word(pairs, length, floor, CAP, TURN, np.random.default_rng((SEED, length, number)))
                for floor in FLOORS
                for number in range(WORDS)
            ]
            for net, model in nets.items():
                agree = network_answers(model, drawn) == automaton_answers(reference, model, drawn)
                line[net].append(agree.all(1).reshape(len(FLOORS), WORDS).sum(1).tolist())
                empty = [
                    first_wrong_is_empty(own, wrong, letters[::2]) for own, wrong in zip(drawn, ~agree, strict=True)
                ]
                line[f"{net}, first wrong on an empty stack"] += sum(one is True for one in empty[:WORDS])
        lines.append({**line, "seconds": round(time.process_time() - begun, 1)})
        print(lines[-1], flush=True)
    design = {"lengths": LENGTHS, "floors": FLOORS, "cap": CAP, "turn": TURN, "words": WORDS}
    write_results("bottom", {**about("python -m docs.findings.bottom"), "design": design}, lines)


if __name__ == "__main__":
    main()
