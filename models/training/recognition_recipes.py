"""Recipes for recognisers (`recognition`): words, how long and how, one a language, with the section they are from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from stacklens.automata.pda import Word
from stacklens.languages.language import Language
from stacklens.languages.words import all_words

__all__ = ["RECIPES", "Recipe", "Stage", "recipe_for"]


@dataclass(frozen=True)
class Stage:
    """One step of a curriculum by length: a set of words, and for how many epochs it is shown.

    Attributes:
        epochs: passes over the set.
        up_to: all words up to this length, the empty one included; -1 for none.
        members_up_to: further all members up to this length.
        drawn: further this many members and this many non-members, drawn without repetition from all longer words up to
            ``drawn_up_to``.
        words: further these words as they are; a repetition gives weight.
    """

    epochs: int
    up_to: int = -1
    members_up_to: int = -1
    drawn: tuple[int, int] = (0, 0)
    drawn_up_to: int = 0
    words: tuple[str, ...] = ()

    def word_list(self, language: Language, seed: int) -> list[Word]:
        """Return the words of this stage; ``seed`` decides which are drawn."""
        words = all_words(language.alphabet, self.up_to) if self.up_to >= 0 else []
        words += [word for word in language.words(self.members_up_to) if len(word) > self.up_to]
        if any(self.drawn):
            longer = [word for word in all_words(language.alphabet, self.drawn_up_to) if len(word) > self.up_to]
            rng = np.random.default_rng(seed)
            for number, member in zip(self.drawn, (True, False), strict=True):
                pool = [word for word in longer if (word in language) == member]
                words += [pool[i] for i in rng.choice(len(pool), min(number, len(pool)), replace=False)]
        return [*words, *self.words]


@dataclass(frozen=True)
class Recipe:
    """How a network is trained.

    Attributes:
        shape: arguments of `NNPDAConfig` besides the alphabet.
        init: weights start uniform in [-init, init].
        objective: a name in `objectives.OBJECTIVES`.
        optimizer, rate: "sgd" or "adam" and its learning rate, which falls to 0 as a cosine over the stages.
        stages: the curriculum.
        clip: the gradient's norm is clipped here, network by network; None for not at all.
        check_length: networks are checked on all words up to this length.
        rounds: at most so many rounds of counterexamples follow (section 4.2): each adds the words that a network gets
            wrong, up to ``check_length - rounds + round``, and trains for ``round_epochs`` at ``round_rate``.
        each_word: the weights move after every word, at a rate that stays; after five words that are no members comes a
            member, which moves them five times as far (section 4.3 (3)).
        gradient: "exact", through the stack and back; "rtrl", carried forward with the paper's approximation of the
            stack's derivative (see `rtrl`); "local", the same gradient by going back (see `LocalNNPDA`), for less.
        source: where the settings come from.
    """

    shape: dict[str, Any]
    init: float
    objective: str
    optimizer: Literal["sgd", "adam"]
    rate: float
    stages: tuple[Stage, ...]
    check_length: int
    clip: float | None = None
    rounds: int = 0
    round_epochs: int = 100
    round_rate: float = 0.01
    each_word: bool = False
    gradient: Literal["exact", "rtrl", "local"] = "exact"
    source: str = ""

    @property
    def stage_epochs(self) -> int:
        """Return the number of epochs before the rounds of counterexamples."""
        return sum(stage.epochs for stage in self.stages)


# The 27 strings of section 4.2, in the order in which they are printed; the repeated legal ones balance the set.
_SECTION_4_2 = (
    *("1", "11", "1000", "1100", "1011"),
    *("10", "10", "1100", "110010", "10"),
    *("0", "100", "1111", "11110000", "1101"),
    *("10", "10", "1100", "110100"),
    *("00", "1001", "1110", "1111100000"),
    *("10", "1100", "101100", "1010"),
)
_TRAP = {"end": None, "trap": True, "empty_reading": True}

_PALINDROME = Recipe(
    shape={"order": "full", "n_states": 3, **_TRAP},
    init=0.1,
    objective="prefix",
    optimizer="adam",
    rate=0.05,
    stages=(
        Stage(epochs=300, up_to=3, members_up_to=5),
        Stage(epochs=300, up_to=5, members_up_to=7),
        # not in the paper: longer members, without which some networks keep graded pops that fail on deep words
        Stage(epochs=500, up_to=5, members_up_to=11),
    ),
    check_length=8,
    source="Sun et al. 1993, section 4.3: full-order linear action, trap state, its two training sets and a third",
)

RECIPES: dict[str, Recipe] = {
    "parentheses": Recipe(
        shape={"order": "second", "n_states": 3, "end": "e", "trap": False, "empty_reading": False},
        init=1.0,
        objective="end",
        optimizer="sgd",
        rate=2.0,
        clip=2.0,
        stages=(Stage(epochs=300, up_to=4, drawn=(7, 13), drawn_up_to=8),),
        check_length=12,
        source="Sun et al. 1993, section 4.1: 50 strings and the empty one, second order, init U[-1, 1], pop hint",
    ),
    "1n0n": Recipe(
        shape={"order": "second", "n_states": 5, **_TRAP},
        init=0.1,
        objective="prefix",
        optimizer="adam",
        rate=0.03,
        stages=(Stage(epochs=300, words=_SECTION_4_2),),
        check_length=12,
        rounds=5,
        source="Sun et al. 1993, section 4.2: 27 strings, rounds of counterexamples, with the trap hint of section 4.3",
    ),
    "1n0n without hints": Recipe(
        shape={"order": "second", "n_states": 5, "end": "e", "trap": False, "empty_reading": True},
        init=0.1,
        objective="end without hint",
        optimizer="adam",
        rate=0.03,
        stages=(Stage(epochs=100, words=_SECTION_4_2),),
        check_length=12,
        rounds=5,
        source="Sun et al. 1993, section 4.2 as printed: 27 strings, rounds of counterexamples, no hint",
    ),
    "palindrome": _PALINDROME,
    "palindrome as printed": Recipe(
        shape={"order": "full", "n_states": 3, **_TRAP},
        init=0.1,
        objective="prefix with drive",
        optimizer="adam",
        rate=0.05,
        stages=(Stage(epochs=200, up_to=3, members_up_to=5), Stage(epochs=200, up_to=5, members_up_to=7)),
        check_length=8,
        source="Sun et al. 1993, section 4.3: full-order linear action, trap state, driving force, two sets",
    ),
    "palindrome with its trap": replace(
        _PALINDROME, objective="every prefix", source=f"{_PALINDROME.source}; asked to stay in the trap"
    ),
    "palindrome word by word": Recipe(
        shape={"order": "full", "n_states": 4, **_TRAP},
        init=1.0,
        objective="end of each word",
        optimizer="sgd",
        rate=0.2,
        stages=(Stage(epochs=200, up_to=3, members_up_to=5), Stage(epochs=200, up_to=5, members_up_to=7)),
        check_length=8,
        each_word=True,
        source="Sun et al. 1993, section 4.3: four state neurons, an update a word; rate and gradients are ours",
    ),
}


def recipe_for(language: Language) -> Recipe:
    """Return the recipe of a language, or for others that of palindromes, the hardest, which asks for the most.

    The words of the general recipe are short ones, so languages with many symbols get shorter curricula.
    """
    if language.name in RECIPES:
        return RECIPES[language.name]
    if language.name == "anbn":
        words = tuple(word.translate(str.maketrans("10", "ab")) for word in _SECTION_4_2)
        stage = Stage(epochs=300, words=words)
        return Recipe(**{**vars(RECIPES["1n0n"]), "stages": (stage,)})
    general = RECIPES["palindrome"]
    shorter = max(0, len(language.alphabet) - 3)
    stages = (
        Stage(epochs=300, up_to=max(2, 3 - shorter), members_up_to=max(4, 5 - shorter)),
        Stage(epochs=300, up_to=max(3, 5 - shorter), members_up_to=max(4, 7 - shorter)),
        Stage(epochs=500, up_to=max(3, 5 - shorter), members_up_to=max(4, 11 - 2 * shorter)),
    )
    return Recipe(**{**vars(general), "stages": stages, "check_length": max(4, 8 - 2 * shorter)})
