"""Experiment 2b: low words that come back to the empty stack, and the same walks over one bracket that stays open.

    python -m docs.findings.bottom [--networks build/runs]

Writes docs/findings/bottom.json: of each fresh network and length how many words are right at floor 0 and at floor 1,
and of those that are wrong at floor 0 how many are first wrong at a symbol that empties the stack, and at how many of
these symbols the network lets a bracket close; of those at floor 1, where the bracket that stays open is the top. Walks
are between 0 and 2 above the floor; the bracket that stays open takes two symbols of the length. Networks that plain
numpy runs, too, read the shortest words once more with it.
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
from docs.repairs import outputs_of

from stacklens.automata.enumeration import BoolArray
from stacklens.automata.pda import Word
from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.inference import automaton_answers, network_answers
from stacklens.models.rounding import Rounded

LENGTHS, FLOORS, CAP, TURN, WORDS = (96, 192, 384), (0, 1), 2, 0.5, 20
SEED = 7  # of the words, another one than in the design


def height_where_wrong(own: Word | str, wrong: BoolArray, opens: Sequence[str]) -> int | None:
    """Return how many brackets are open where a network is first ``wrong`` (T,) on a word, None where it never is.

    >>> height_where_wrong("()", np.array([False, True]), "("), height_where_wrong("((", np.ones(2, bool), "(")
    (0, 1)
    """
    if not wrong.any():
        return None
    return sum(1 if symbol in opens else -1 for symbol in own[: int(wrong.argmax()) + 1])


def right_in_numpy(model: StackModel[Any], drawn: Sequence[Word], rounded: bool) -> int:
    """Return how many words of brackets a network gets right, by code that shares nothing with the package."""
    weights = {name: value.double().numpy() for name, value in model.state_dict().items()}
    letters, right = list(model.alphabet), 0
    opens = dict(zip(letters[::2], letters[1::2], strict=True))
    assert list(model.output_alphabet) == letters
    for own in drawn:
        symbols, stack, good = [letters.index(letter) for letter in own], list[str](), True
        answers = outputs_of(weights, model.name, symbols, model.stack_limit or len(own), rounded)
        for letter, answer in zip(own, answers, strict=True):
            stack = [*stack, opens[letter]] if letter in opens else stack[:-1]
            good &= {letters[i] for i in np.flatnonzero(answer > 0.5)} == {*opens, *stack[-1:]}
        right += good
    return right


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
        line |= {f"{net}, and lets a bracket close": 0 for net in nets}
        line |= {f"{net}, first wrong on the open bracket": 0 for net in nets}
        closers = sum(1 << one.model.output_alphabet.index(letter) for letter in letters[1::2])
        for length in LENGTHS:
            drawn = [
                word(pairs, length, floor, CAP, TURN, np.random.default_rng((SEED, length, number)))
                for floor in FLOORS
                for number in range(WORDS)
            ]
            for net, model in nets.items():
                answers = network_answers(model, drawn)
                agree = answers == automaton_answers(reference, model, drawn)
                line[net].append(agree.all(1).reshape(len(FLOORS), WORDS).sum(1).tolist())
                heights = [
                    height_where_wrong(own, wrong, letters[::2]) for own, wrong in zip(drawn, ~agree, strict=True)
                ]
                there = [number for number in range(WORDS) if heights[number] == 0]
                line[f"{net}, first wrong on an empty stack"] += len(there)
                closes = [answers[number, (~agree[number]).argmax()] & closers for number in there]
                line[f"{net}, and lets a bracket close"] += sum(map(bool, closes))
                line[f"{net}, first wrong on the open bracket"] += heights[WORDS:].count(1)
            if length == LENGTHS[0] and one.model.name in ("marnn-stack-rnn", "marnn-stack-lstm"):
                parts = drawn[:WORDS], drawn[WORDS:]
                for net in nets:
                    line[f"{net} in numpy"] = [right_in_numpy(one.model, part, net == "rounded") for part in parts]
        lines.append({**line, "seconds": round(time.process_time() - begun, 1)})
        print(lines[-1], flush=True)
    design = {"lengths": LENGTHS, "floors": FLOORS, "cap": CAP, "turn": TURN, "words": WORDS}
    write_results("bottom", {**about("python -m docs.findings.bottom"), "design": design}, lines)


if __name__ == "__main__":
    main()
