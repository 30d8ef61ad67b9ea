from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stacklens
from stacklens.extract.by_name import specification_for, subject_named
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.fidelity import action_margins
from stacklens.extract.result import Extraction
from stacklens.extract.samples import draw_samples
from stacklens.languages.catalogue import get_language
from stacklens.languages.words import all_words
from stacklens.models.base import NetworkState
from stacklens.models.checkpoint import load_checkpoint
from stacklens.models.inference import verdicts_on
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.probe.trace import trace

ZOO = Path(stacklens.__file__).parent / "models" / "zoo"
GRADED = Path(__file__).parents[1] / "data" / "graded-pops.pt"
# live states, length checked, all words up to it
NETWORKS = {"parentheses": ((1,), 20, 2_097_151), "1n0n": ((2,), 20, 2_097_151), "palindrome": ((2, 3), 15, 21_523_360)}


@cache
def extracted(name: str) -> Extraction:
    checkpoint = load_checkpoint(ZOO / f"nnpda-{name}.pt")
    return extract(checkpoint.model, get_language(name), ExtractionConfig(max_length=NETWORKS[name][1]))


@cache
def graded() -> Extraction:
    return extract(load_checkpoint(GRADED).model, get_language("1n0n"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_a_zoo_network_gives_the_languages_automaton_and_nothing_contradicts_it(name: str) -> None:
    result = extracted(name)
    states, length, words = NETWORKS[name]
    assert result.status == 0
    assert result.automaton is not None
    assert len(result.automaton.states) in states
    done = {(check.kind, check.other): check for check in result.checks}
    for other in ("language", "rounded network"):
        exhaustive = done["exhaustive", other]
        assert (exhaustive.max_length, exhaustive.words, exhaustive.disagreements) == (length, words, 0)
        assert ("long", other) not in done  # proved, and certified, for words of every length
    assert (done["long", "network"].words, done["deep", "network"].words) == (2_000, 40)
    assert done["deep", "network"].max_length >= 2_000  # 1,000 deep
    assert ("exhaustive", "network") in done
    assert done["exhaustive", "language"].accepted == sum(1 for _ in get_language(name).words(length))


@pytest.mark.slow
def test_graded_pops_have_no_faithful_automaton_though_the_network_is_right_on_all_short_words() -> None:
    language = get_language("1n0n")
    words = all_words(language.alphabet, 12)
    verdicts = verdicts_on(load_checkpoint(GRADED).model, words)
    assert verdicts.tolist() == [word in language for word in words]
    result = graded()
    assert result.status == 3
    assert result.minimised is None
    assert result.checks == ()
    assert result.reason is not None
    rounding = result.fidelity.rounding
    assert rounding.mismatch > 0.1
    assert result.fidelity.graded_actions > 0.2
    assert f"{rounding.disagreements:,} of " in result.reason
    assert f"{result.fidelity.graded_actions:.1%}" in result.reason


def distances_that_matter(name: str) -> np.ndarray:
    """Return how far actions on the words that fidelity is measured on are from the next threshold, one at a time.

    Those count after which, with some action or other, the word read so far might still be accepted.
    """
    net: Any = load_checkpoint(ZOO / f"{name}.pt").model
    shipped = json.loads((ZOO / f"{name}.json").read_text(encoding="utf-8"))
    words = draw_samples(net, specification_for(subject_named(shipped["language"], net.task_kind), net.task_kind), 0)
    signed, found = net.action_kind == "signed", list[float]()
    choices = torch.tensor([[-1.0], [0.0], [1.0]] if signed else np.eye(len(net.operations)).tolist())
    for word in words.short_traced:
        state, foreseen = (
            net.initial_state(1),
            torch.tensor([[net.first is None or x in net.first for x in net.letters]]),
        )
        for code in [net.letters.index(symbol) for symbol in (*word, *([net.end] if net.end is not None else []))]:
            answer = net.controller(torch.tensor([code]), state.hidden, state.stack.reading())
            stacks = [state.stack.next(choice.to(answer.actions).view(1, 1, -1), answer.pushed) for choice in choices]
            lost = all(bool(net.rejects(answer.hidden, stack)) for stack in stacks)
            if lost or (net.task_kind == "next set" and not foreseen[0, code]):
                break
            shares = sorted(answer.actions.flatten().tolist(), reverse=True)
            found.append(abs(abs(shares[0]) - 0.5) if signed else (shares[0] - shares[1]) / 2)
            stack = state.stack.next(answer.actions, answer.pushed)
            if bool(net.rejects(answer.hidden, stack)):
                break
            state, foreseen = NetworkState(answer.hidden, stack, state.rejected, answer.output), answer.output > 0.5
    return np.array(found)


@pytest.mark.parametrize(
    ("name", "margin"),
    [
        ("marnn-stack-lstm-dyck-2", 0.491),  # where symbols come that were not predicted, 0.002
        ("nnpda-1n0n", 0.398),  # at steps into the trap, 0.128, and 28.1 % of all are graded
        ("nnpda-parentheses", 0.392),  # which rejects by pops of nothing alone
    ],
)
@torch.no_grad()
def test_margins_are_of_steps_at_which_an_action_matters(name: str, margin: float) -> None:
    seen, shipped = distances_that_matter(name), json.loads((ZOO / f"{name}.json").read_text(encoding="utf-8"))
    net = load_checkpoint(ZOO / f"{name}.pt").model
    words = draw_samples(net, specification_for(subject_named(shipped["language"], net.task_kind), net.task_kind), 0)
    least, graded = action_margins(net, trace(net, words.short_traced, stacks=False))
    assert least == pytest.approx(seen.min(), abs=1e-9) == pytest.approx(margin, abs=5e-4)
    assert graded == (seen < 0.25).mean() == 0
    assert shipped["fidelity"]["action_margin"] == pytest.approx(least)
    assert shipped["fidelity"]["graded_actions"] == graded


def test_a_pop_of_nothing_that_is_hardly_one_is_a_small_margin_though_the_word_is_rejected_there() -> None:
    net = NNPDA(NNPDAConfig(("(", ")"), "second", 1, trap=False, empty_reading=False))
    with torch.no_grad():
        net.state_weights.zero_()
        net.state_bias.fill_(40.0)
        net.action_bias.zero_()
        net.action_weights.copy_(torch.tensor([[-2.0, 0.0, 20.0, -np.log(1.51 / 0.49)]]))  # seen ( ), read ( )
    seen = trace(net, [("(", ")"), (")", "(")])
    assert action_margins(net, seen)[0] == pytest.approx(0.01)
