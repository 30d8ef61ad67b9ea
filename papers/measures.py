"""What any paper's experiments measure with: errors against a language, on all words, on drawn ones.

Everything heavy is imported where it is needed: a list of experiments must not wait for torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from stacklens.automata.pda import PushdownAutomaton, Word
    from stacklens.languages.language import Language
    from stacklens.models.base import StackModel
    from stacklens.models.training.recognition import Training

__all__ = [
    "BEYOND",
    "SHOWN",
    "automaton_errors_on_all",
    "errors",
    "errors_on_all",
    "exact_beyond",
    "first_words",
    "members_of_length",
    "mixed_words",
]

SHOWN = 3  # words shown in a table
BEYOND = 2  # so much longer are the words that no epoch is chosen by


def errors_on_all(net: StackModel[Any], language: Language, max_length: int) -> tuple[int, list[Word]]:
    """Return how many words there are up to ``max_length``, and those that ``net`` gets wrong."""
    import numpy as np

    from stacklens.automata.enumeration import count_all, word_at
    from stacklens.languages.words import make_word
    from stacklens.models.inference import verdicts_on_all

    wrong: list[Word] = []
    for length, verdicts in enumerate(verdicts_on_all(net, max_length)):
        different = np.flatnonzero(verdicts != members_of_length(language, net.alphabet, length)).tolist()
        wrong += [make_word(word_at(i, length, net.alphabet), net.alphabet) for i in different]
    return count_all(len(net.alphabet), max_length), wrong


def automaton_errors_on_all(pda: PushdownAutomaton, language: Language, max_length: int) -> int:
    """Return how many of all words up to ``max_length`` ``pda`` gets wrong."""
    from stacklens.automata.enumeration import accepts_all

    answers = enumerate(accepts_all(pda, max_length))
    return sum(int((accepted != members_of_length(language, pda.input_alphabet, n)).sum()) for n, accepted in answers)


def members_of_length(language: Language, alphabet: tuple[str, ...], length: int) -> np.ndarray:
    """Return which words of ``length`` are members, from the language's definition, (k**n,) bool, in order."""
    import numpy as np

    digit = {symbol: number for number, symbol in enumerate(alphabet)}
    members = np.zeros(len(alphabet) ** length, dtype=bool)
    for word in language.words_of_length(length):
        members[reduce(lambda number, symbol: number * len(alphabet) + digit[symbol], word, 0)] = True
    return members


def mixed_words(language: Language, n: int, lengths: tuple[int, int], seed: int = 0) -> list[Word]:
    """Return ``n`` words: a quarter members, a quarter near-misses, the rest uniformly random."""
    members, near_misses = (language.sample(n // 4, lengths, positive, seed) for positive in (True, False))
    return [*members, *near_misses, *language.sample(n - 2 * (n // 4), lengths, None, seed)]


def errors(net: StackModel[Any], language: Language, words: Sequence[Word]) -> list[Word]:
    """Return which of ``words`` ``net`` gets wrong."""
    from stacklens.models.inference import verdicts_on

    verdicts = verdicts_on(net, words).tolist()
    return [word for word, verdict in zip(words, verdicts, strict=True) if verdict != (word in language)]


def first_words(words: list[Word]) -> list[str]:
    """Return the first few of ``words`` as text."""
    from stacklens.languages.words import format_word

    return [format_word(word) for word in words[:SHOWN]]


def exact_beyond(training: Training, further: int = BEYOND) -> tuple[int, int]:
    """Return how many networks are right on all words up to ``further`` longer than those that they were chosen by.

    The first number is of networks as they are, the second of rounded ones. The epoch at which a network was kept is
    that of the fewest errors on the shorter words, so that only longer ones tell what it learned.
    """
    from stacklens.models.inference import verdicts_on_all
    from stacklens.models.rounding import Rounded

    language, seen = training.language, training.recipe.check_length
    longer = range(seen + 1, seen + 1 + further)
    members = {length: members_of_length(language, language.alphabet, length) for length in longer}

    def is_right(net: StackModel[Any]) -> bool:
        verdicts = verdicts_on_all(net, seen + further)
        return all(bool((verdicts[length] == members[length]).all()) for length in longer)

    networks = [training.network(number) for number in range(training.n_nets)]
    return sum(map(is_right, networks)), sum(is_right(Rounded(net)) for net in networks)
