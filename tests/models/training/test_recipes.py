"""Recipes, and trainers by name."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from stacklens.core.errors import StacklensError
from stacklens.languages.catalogue import get_language
from stacklens.languages.words import all_words
from stacklens.models.training import recipes as fit_recipes
from stacklens.models.training.factory import make_trainer
from stacklens.models.training.loop import Trainer
from stacklens.models.training.recipes import RECIPES, SETS
from stacklens.models.training.recognition import Training, cut_at_dead
from stacklens.models.training.streams import StreamTraining
from stacklens.models.training.supervised import Fitting

#

# "n" and "y" as they are printed in section 4.2
SECTION_4_2 = """
n1 n11 n1000 y1100 n1011
y10 y10 y1100 n110010 y10
n0 n100 n1111 y11110000 n1101
y10 y10 y1100 n110100
n00 n1001 n1110 y1111100000
y10 y1100 n101100 n1010
""".split()  # noqa: SIM905


def test_the_27_strings_of_section_4_2_are_the_printed_ones() -> None:
    for recipe in ("1n0n", "1n0n without hints"):
        (stage,) = RECIPES[recipe].stages
        words = stage.word_list(get_language("1n0n"), seed=0)
        assert Counter(words) == Counter(word[1:] for word in SECTION_4_2)
        legal = [word in get_language("1n0n") for word in words]
        assert (len(words), sum(legal), len(legal) - sum(legal)) == (27, 12, 15)
    assert all((word[0] == "y") == (word[1:] in get_language("1n0n")) for word in SECTION_4_2)


@pytest.mark.parametrize("seed", [0, 1, 17])
def test_the_50_strings_of_section_4_1_are_30_short_and_20_drawn_ones(seed: int) -> None:
    (stage,) = RECIPES["parentheses"].stages
    words = stage.word_list(get_language("parentheses"), seed)
    assert words[0] == ""  # one more than in the paper
    assert len(words) == len(set(words)) == 51
    assert set(words[1:31]) == {word for word in all_words(("(", ")"), 4) if word}
    assert all(5 <= len(word) <= 8 for word in words[31:])
    assert stage.word_list(get_language("parentheses"), seed) == words


def test_the_training_sets_of_section_4_3_have_all_short_words_and_the_longer_legal_ones() -> None:
    language = get_language("palindrome")
    first, second, *_ = (stage.word_list(language, 0) for stage in RECIPES["palindrome"].stages)
    assert len([word for word in first if 0 < len(word) <= 3]) == 39
    assert {word for word in first if len(word) > 3} == {"aacaa", "abcba", "bacab", "bbcbb"}
    assert len([word for word in second if 0 < len(word) <= 5]) == 363
    assert len([word for word in second if len(word) > 5]) == 8
    assert all(word in language for word in second if len(word) > 5)
    printed = RECIPES["palindrome as printed"].stages
    assert [stage.word_list(language, 0) for stage in printed] == [first, second]
    assert [stage.epochs for stage in printed] == [200, 200]


def test_cutting_at_the_first_dead_symbol_keeps_every_prefix_that_counts() -> None:
    language = get_language("palindrome")
    words = [*all_words(language.alphabet, 5), *language.words(7)]
    cut = cut_at_dead(language, words)
    assert len(cut) < len(words) / 3
    for word in words:
        dead = language.first_dead(word)
        kept = word if dead is None else word[:dead]
        assert any(other[: len(kept)] == kept for other in cut)
    for word in cut:
        assert language.first_dead(word) in (None, len(word))
        assert not any(other != word and other[: len(word)] == word for other in cut)


# Trainers by name: which kind a model gets, what may be chosen, what is refused.


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_recipes, "FIT_RECIPES", {})
    monkeypatch.setattr(fit_recipes, "SETS", replace(SETS, words=20, check_words=5, long_words=0))


@pytest.mark.parametrize(
    ("model", "language", "kind"),
    [
        ("nnpda", "parentheses", Training),
        ("stack-rnn", "anbn", StreamTraining),
        ("list-rnn", "anbn", StreamTraining),
        ("marnn-stack-lstm", "dyck-2", Fitting),
        ("neural-stack", "xor", Fitting),
        ("lstm", "dyck-2", Fitting),
        ("linear", "xor", Fitting),
    ],
)
def test_a_model_gets_its_trainer(model: str, language: str, kind: type[Trainer]) -> None:
    trainer = make_trainer(model, language, seed=3, nets=2)
    assert type(trainer) is kind
    assert (trainer.seed, trainer.n_nets, trainer.subject, trainer.epochs_done) == (3, 2, language, 0)
    assert trainer.source
    assert trainer.checked
    assert not trainer.done
    assert trainer.network(1).name == model
    assert trainer.network(1).alphabet == trainer.net.alphabet


@pytest.mark.parametrize(
    ("model", "language", "options", "config"),
    [
        ("nnpda", "anbn", {"order": "third", "neurons": 4}, {"order": "third", "n_states": 4}),
        ("stack-rnn", "anbn", {"stacks": 3, "depth": 1, "no_op": True}, {"n_stacks": 3, "depth": 1, "no_op": True}),
        ("list-rnn", "anbn", {"recurrent": True, "hidden": 7}, {"recurrent": True, "hidden": 7}),
        ("baby-ntm", "dyck-2", {"gating": "gumbel-softmax", "cell_size": 2}, {"gating": "gumbel-softmax"}),
        ("baby-ntm", "dyck-2", {"gating": "softmax-temperature"}, {"gating": "softmax with temperature"}),
        ("neural-stack", "reversal", {"controller": "lstm", "hidden": None}, {"controller": "lstm", "null": "#"}),
        ("rnn", "dyck-2", {"layers": 2}, {"layers": 2, "controller": "rnn", "first": ("(", "[")}),
    ],
)
def test_what_is_chosen_takes_the_place_of_the_recipes(
    model: str, language: str, options: dict[str, Any], config: dict[str, Any]
) -> None:
    found = make_trainer(model, language, options=options).network().config()
    assert {name: found[name] for name in config} == config


@pytest.mark.parametrize(
    ("model", "language", "options", "message"),
    [
        ("rnn", "dyck-2", {"stacks": 2}, "rnn has no option stacks; it has hidden, layers, epochs, device"),
        ("nnpda", "palindrome", {"hints": False}, "no recipe without hints for palindrome"),
        ("nnpda", "palindrome", {"order": "fourth"}, "order 'fourth' is not one of"),
        ("stack-rnn", "dyck-2", {}, "stack-rnn predicts endless streams, and dyck-2 is none"),
        ("lstm", "anbn", {}, "lstm learns words, and anbn is an endless stream"),
        ("neural-stack", "dyck-2", {}, "neural-stack learns transduction tasks"),
        ("baby-ntm", "dyck-2", {"gating": "hard"}, "gating 'hard' is not one of softmax"),
        ("neural-stack", "xor", {"controller": "gru"}, "controller 'gru' is not one of linear, rnn, lstm"),
        ("neural-stack", "xor", {"device": "abacus"}, "device 'abacus' cannot be used here"),
        ("stack-rnn", "anbn", {"device": "abacus"}, "device 'abacus' cannot be used here"),
        ("nnpda", "palindrome", {"device": "abacus"}, "device 'abacus' cannot be used here"),
    ],
)
def test_what_cannot_be_is_refused(model: str, language: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(StacklensError, match=message):
        make_trainer(model, language, options=options)
