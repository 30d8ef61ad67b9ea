"""Extracted automata accept the same 100,000 words in automata-lib, and where it can hold them in AALpy, as here.

automata-lib's bugs are kept out: `to_automata_lib` makes no lambda steps, and only symbols of the alphabet are read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import stacklens
from stacklens.automata.enumeration import count_all
from stacklens.automata.formats.libraries import from_automata_lib, to_aalpy, to_automata_lib
from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.runs import accepts_many
from stacklens.extract.by_name import subject_named
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.samples import walk_words
from stacklens.extract.specification import default_max_length
from stacklens.languages.words import all_words
from stacklens.models.checkpoint import load_network

ZOO = Path(stacklens.__file__).parent / "models" / "zoo"
QUICK = ExtractionConfig(max_length=6, long_words=100, deep_words=1, depth=20)
NETWORKS = ("nnpda-1n0n", "nnpda-palindrome", "marnn-stack-rnn-dyck-2")
EACH, WALKED = 20_000, 2_000


@cache
def extracted(name: str) -> PushdownAutomaton:
    """Return the automaton of a network of the zoo; of a predictor the words on which its run is not cut."""
    checkpoint = load_network(ZOO / f"{name}.pt")
    language = subject_named(checkpoint.task["language"], checkpoint.model.task_kind)
    pda = extract(checkpoint.model, language, QUICK).automaton
    assert pda is not None
    if all(step.output is None for step in pda.transitions.values()):
        return pda
    steps = {key: replace(step, output=None) for key, step in pda.transitions.items()}
    accepting = frozenset(pda.states)
    return replace(pda, transitions=steps, acceptance="final state", accepting=accepting, initial_output=None)


def words_for(pda: PushdownAutomaton) -> list[tuple[str, ...]]:
    """Return 20,000 words: walks over the automaton, all short words, and random ones a little longer."""
    k, rng = len(pda.input_alphabet), np.random.default_rng(0)
    words = [tuple(word) for word in walk_words(pda, WALKED, (1, 40), seed=0)]
    length = default_max_length(k, EACH - WALKED)
    words += [tuple(word) for word in all_words(pda.input_alphabet, length)]
    rest = rng.integers(0, k, (EACH - len(words), length + 1))
    assert count_all(k, length) == len(words) - WALKED
    return [*words, *(tuple(pda.input_alphabet[i] for i in row) for row in rest)]


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_the_same_words_are_accepted(name: str) -> None:
    pda = extracted(name)
    words = words_for(pda)
    ours = accepts_many(pda, words).tolist()
    assert len(words) == EACH
    assert 50 < sum(ours) < EACH - 50
    dpda = to_automata_lib(pda)
    assert [dpda.accepts_input(word) for word in words] == ours  # tuples do as well
    assert accepts_many(from_automata_lib(dpda), words).tolist() == ours
    if pda.acceptance == "both":
        vpa = to_aalpy(pda)
        assert [vpa.accepts(list(word)) for word in words] == ours
