"""Networks with the automata that they are proved to follow, for all tests of certificates."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import torch
from tests.models.published_networks import published

from stacklens.automata.pda import NONE, POP, Key, Output, PushdownAutomaton, Transition, push
from stacklens.extract.by_name import subject_named
from stacklens.extract.certificate.certify import Proof, prove
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.languages.catalogue import get_language
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import ZOO, load_network

QUICK = ExtractionConfig(max_length=4, long_words=50, deep_words=2, method="kmeans")  # whose outputs are all told
N = TypeVar("N", bound=StackModel[Any])
Pair = tuple[StackModel[Any], PushdownAutomaton]


@cache
def recogniser(name: str) -> Pair:
    """Return a zoo network with its language's own reference automaton: nothing is extracted."""
    return load_network(ZOO / f"nnpda-{name}.pt").model, get_language(name).automaton


@cache
def extracted(path: Path) -> Pair:
    """Return a network with the automaton that is extracted from it."""
    found = load_network(path)
    config = replace(QUICK, method="learn") if "noise-robust" in path.name else QUICK
    result = extract(found.model, subject_named(found.task["language"], found.model.task_kind), config)
    return found.model, result.automaton


def anbn() -> PushdownAutomaton:
    """Return what counts for a^n b^n streams, and foresees the last b by the cell below its top."""
    first, more = "s0/⊥", "s0/s0"
    tops = ("⊥", first, more)
    rules: dict[Key, Transition] = {
        ("q", "a", (top,)): Transition("q", (push(first if top == "⊥" else more),), "a") for top in tops
    }
    rules |= {("q", "b", (top,)): Transition("q", (POP,), "b" if top == more else "a") for top in (first, more)}
    rules["q", "b", ("⊥",)] = Transition("q", (NONE,), "a")
    return PushdownAutomaton(("q",), ("a", "b"), (first, more), rules, "q", frozenset({"q"}), "final state")


def dyck_2() -> PushdownAutomaton:
    """Return what says which brackets may come next, where a stack symbol is a bracket and the one below it."""
    close = {"(": ")", "[": "]"}
    follow = {below: tuple(sorted([*close, *([close[below]] if below in close else [])])) for below in "⊥(["}
    symbols = [bracket + below for bracket in close for below in "⊥(["]
    rules: dict[Key, Transition] = {
        ("q", bracket, (top,)): Transition("q", (push(bracket + top[0]),), follow[bracket])
        for bracket in close
        for top in ("⊥", *symbols)
    }
    rules |= {("q", close[top[0]], (top,)): Transition("q", (POP,), follow[top[1]]) for top in symbols}
    return PushdownAutomaton(("q",), tuple("()[]"), tuple(symbols), rules, "q", frozenset({"q"}), "final state")


@cache
def proof(name: str) -> Proof:
    """Return the proof for a language's recogniser, a zoo network's file, or a published one's."""
    path = published(name) if "/" in name else ZOO / f"{name}.pt"
    if name in ("parentheses", "1n0n", "palindrome"):
        pair = recogniser(name)
    else:
        pair = (load_network(path).model, anbn()) if "stack-rnn" in name and "marnn" not in name else extracted(path)
    found = prove(*pair)
    assert isinstance(found, Proof), found.reason
    return found


def filled(model: N, **values: Any) -> N:
    """Return the network with these weights, and 0 elsewhere."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            given = values.get(name.removeprefix("net."), 0.0)
            parameter.copy_(torch.as_tensor(given, dtype=torch.float64).to(parameter.dtype).expand_as(parameter))
    return model.eval()


def always_pushing(output: Output, alphabet: tuple[str, ...] = ("a",)) -> PushdownAutomaton:
    """Return the automaton of one state that pushes at every letter and always says ``output``."""
    step = Transition("q", (push("A"),), output)
    rules: dict[Key, Transition] = {("q", letter, (top,)): step for letter in alphabet for top in ("⊥", "A")}
    return PushdownAutomaton(("q",), alphabet, ("A",), rules, "q", frozenset({"q"}), "final state")
