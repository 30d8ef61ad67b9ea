"""The share of words of which everything is said right, against one word and one symbol at a time."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import build_model
from stacklens.models.training.streams import word_accuracy


def right_plainly(net: StackModel[Any], task_name: str, word: str) -> bool:
    """Return whether ``net`` says exactly what is asked after every symbol of ``word``."""
    task, state = get_task(task_name), net.initial_state(1)
    for symbol, asked in zip(word, task.expected(word), strict=True):
        step = net.step(torch.tensor([net.alphabet.index(symbol)]), state)
        said = {net.output_alphabet[i] for i in (step.output[0] > 0.5).nonzero().flatten().tolist()}
        if said != (set(asked) if isinstance(asked, tuple) else {asked}):
            return False
        state = step.state
    return True


@pytest.mark.parametrize(
    ("model", "task", "words"),
    [
        ("marnn-joulin", "dyck-1", ["()", "(())()", "((()))", "()()()()"]),
        ("rnn", "dyck-1", ["()", "(())", "(()())"]),
        ("baby-ntm", "string-reversal", ["a#", "ab##", "bbca####"]),
    ],
)
def test_it_is_the_share_of_words_without_a_mistake(model: str, task: str, words: list[str]) -> None:
    kind = get_task(task).kind
    shape = {"alphabet": get_task(task).alphabet, "hidden": 3, "task_kind": kind}
    shape |= {"controller": model} if model == "rnn" else {"stack_limit": 8}
    examples, seen = get_task(task).examples(words), set()
    for seed in range(0, 60, 3):
        many = build_model(model, shape, seed=seed, nets=3)
        with torch.no_grad():
            for parameter in many.parameters():
                parameter.mul_(3)
            many.get_parameter("output_bias")[:, : 1 + seed % 2] += 2.5  # some words come out right
        alone = build_model(model, shape)
        expected = []
        for number in range(3):
            alone.load_state_dict({name: value[number] for name, value in many.state_dict().items()})
            expected.append(sum(right_plainly(alone, task, word) for word in words) / len(words))
        assert word_accuracy(many, examples).tolist() == expected
        assert word_accuracy(alone, examples).tolist() == expected[-1:]
        seen |= set(expected)
    assert len(seen) > 1 or task == "string-reversal"
