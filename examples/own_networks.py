"""Networks of one's own under the lens, of kinds that stacklens does not have, each by an adapter of a few lines.

`python examples/own_networks.py gru` trains the GRU of `own_networks_plain.py`, a minute or two, checks its adapter
against its own forward pass and extracts its automaton; so for the other names of `ADAPTERS`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from own_networks_plain import TOKENS, encode, member, trained
from torch import Tensor

import stacklens as sl

SETS: dict[str, Any] = {"outputs": "next set", "activation": "sigmoid", "first": "(["}


def gru_language_model(net: Any) -> sl.StackModel[Any]:
    """A GRU language model with begin, end and padding symbols."""
    return sl.wrap(net, TOKENS, forward=net, bos="<s>", eos="</s>", pad="<pad>")


def gpt(net: Any) -> sl.StackModel[Any]:
    """A GPT, which gives an object with logits, of words as long as those that it was trained on."""
    return sl.wrap(net, TOKENS, forward=net, bos="<s>", eos="</s>", pad="<pad>", longest=24)


def sampled(net: Any) -> sl.StackModel[Any]:
    """A GRU that draws what it answers: the same word has several answers."""
    return sl.wrap(net, "()", forward=net, outputs="next set", first="(", noisy=True)


def lstm_strengths(net: Any) -> sl.StackModel[Any]:
    """An LSTM on a stack of strengths, whose output sees the top after the push."""
    return sl.wrap(net, "()[]", step=net.update, output=net.output, reads="after", stack="strength", **SETS)


def lstm_superposition(net: Any) -> sl.StackModel[Any]:
    """An LSTM on a superposition stack, whose output sees the top after the push."""
    return sl.wrap(net, "()[]", step=net.update, output=net.output, reads="after", stack="superposition", **SETS)


def nondeterministic(net: Any) -> sl.StackModel[Any]:
    """An RNN on a nondeterministic stack: its reading is a distribution over runs, so it is asked as a box."""
    return sl.wrap(net, "()[]", forward=net, longest=16, **SETS)


def ten_stacks(net: Any) -> sl.StackModel[Any]:
    """A state dict with ten stacks, by a mapping."""
    keys: dict[str, Any] = {f"actions {part}": [f"acts.{n}.{part}" for n in range(10)] for part in ("weight", "bias")}
    for name, theirs in {"push": "new.{}", "output": "head.{}", "input": "rnn.{}_ih", "hidden": "rnn.{}_hh"}.items():
        keys |= {f"{name} {part}": theirs.format(part) for part in ("weight", "bias")}
    mapping = {"format": "stacklens mapping", "weights": "ten.pt", "alphabet": "()", "n_stacks": 10, "first": "("}
    folder = Path(tempfile.mkdtemp())
    torch.save(net.state_dict(), folder / "ten.pt")
    (folder / "ten.json").write_text(json.dumps({**mapping, "temperature": 0.25, "keys": keys}), encoding="utf-8")
    return sl.load(folder / "ten.json")  # type: ignore[no-any-return]


def gru(net: Any) -> sl.StackModel[Any]:
    """A GRU that predicts which brackets may come next, to depth 3."""
    return sl.wrap(net, "()[]", step=net.step, **SETS)


def lstm(net: Any) -> sl.StackModel[Any]:
    """An LSTM that recognises balanced parentheses; its state is a pair (h, c)."""
    return sl.wrap(net, "()", step=net.step, outputs="recognition", activation="sigmoid", empty_word=True)


def causal(net: Any) -> sl.StackModel[Any]:
    """A causal transformer, which reads whole words, of the lengths that it was trained on."""
    return sl.wrap(net, "()[]", forward=net, longest=24, **SETS)


def stack_rnn(net: Any) -> sl.StackModel[Any]:
    """An RNN on a superposition stack with cells of 4 numbers."""
    return sl.wrap(net, "()[]", step=net.step, stack="superposition", actions=("pop", "none", "push"), **SETS)


def vector_stack(net: Any) -> sl.StackModel[Any]:
    """An RNN whose output sees the top of its stack after the update."""
    order = ("push", "pop", "none")
    parts: dict[str, Any] = {"step": net.update, "output": net.output, "reads": "after"}
    return sl.wrap(net, "()[]", stack="superposition", actions=order, **parts, **SETS)


ADAPTERS: dict[str, tuple[Callable[[Any], sl.StackModel[Any]], str]] = {
    "gru-language-model": (gru_language_model, "dyck-2-3"),
    "gpt": (gpt, "dyck-2-3"),
    "sampled": (sampled, "dyck-1-3"),
    "gru": (gru, "dyck-2-3"),
    "lstm": (lstm, "dyck-1"),
    "causal": (causal, "dyck-2-3"),
    "lstm-strengths": (lstm_strengths, "dyck-2-3"),
    "lstm-superposition": (lstm_superposition, "dyck-2-3"),
    "ten-stacks": (ten_stacks, "dyck-1"),
    "nondeterministic": (nondeterministic, "dyck-2-3"),
    "stack-rnn": (stack_rnn, "dyck-2"),
    "vector-stack": (vector_stack, "dyck-2"),
}


def main(name: str) -> int:
    """Train, check and extract from one of them; return the status of the result."""
    from random import Random

    net = trained(name)
    adapter, language = ADAPTERS[name]
    model = adapter(net)
    words = [member(length, "([" if "[" in model.alphabet else "(", 3, Random(length))[0] for length in (4, 10, 20)]

    def forward(word: str) -> Tensor:
        said: Tensor = net(encode(word))
        return said

    print(sl.check(model, forward, words))
    result = sl.extract(model, language)
    print(result)
    return result.status


if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else "gru"
    sys.exit(main(kind) if kind in ADAPTERS else f"no kind {kind}; choose one of {', '.join(ADAPTERS)}")
