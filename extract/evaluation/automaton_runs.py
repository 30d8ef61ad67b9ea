"""An automaton at work on words: its transitions step by step, which words visit which state, and what they cover."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...automata.coverage import transition_pair_words
from ...automata.formats.dot import transition_table
from ...automata.pda import Key, PushdownAutomaton, State, Symbol, Word
from ...core.imports import pd
from ...languages.language import all_words, format_word, make_word
from ...models.base import StackModel
from ...probe.trace import Trace
from ..specification import Specification, random_words

_SPELLED = 20  # symbols of a stack in a table
_VISITING, _LENGTHS = 60, (4, 16)  # words on which states are visited, and the lengths of those that are drawn

REJECTED = "rejected"  # in `state_names`
AFTER_WORD = "after the word"  # steps that a network takes when the automaton is through


def run_table(pda: PushdownAutomaton, word: Word) -> pd.DataFrame:
    """Return one row a step of ``pda`` on ``word``: symbol, state, top, operation, next state, and the stack after it.

    Stacks are spelled from the bottom, at most 20 symbols, and parted by |. The rows end with a step that "rejects".
    """

    def spelled(stack: tuple[Symbol, ...]) -> str:
        return f"{'… ' if len(stack) > _SPELLED else ''}{' '.join(stack[-_SPELLED:])}"

    rows, last, read = [], pda.start, 0
    for (state, symbol, tops), last in pda.moves(word):
        read += bool(symbol)
        step = pda.transitions[state, symbol, tops]
        done, stack = ", ".join(map(str, step.operations)), " | ".join(map(spelled, last.stacks))
        rows.append([symbol or "ε", state, " ".join(tops), done, step.target, stack])
    letters = (*word, *pda.letters[len(pda.input_alphabet) :])
    if read < len(letters):  # the run is cut short: the next letter has no rule
        rows.append([letters[read], last.state, " ".join(last.tops(pda.bottom)), "rejects", "", ""])
    frame = pd.DataFrame(rows, columns=["symbol", "state", "top", "operation", "next", "stack"])
    frame.insert(0, "step", range(1, len(rows) + 1))
    return frame


def visiting_words(model: StackModel[Any], specification: Specification | None, seed: int = 0) -> tuple[Word, ...]:
    """Return up to 60 different words on which states are visited: the shortest ones, and drawn ones."""
    drawn = (
        random_words(model.alphabet, _VISITING, _LENGTHS, seed)
        if specification is None
        else specification.long_words(_VISITING, _LENGTHS, seed)
    )
    longest = 1
    while len(model.alphabet) ** (longest + 1) <= _VISITING // 2:
        longest += 1
    short = all_words(model.alphabet, longest)[: _VISITING // 3]
    return tuple(dict.fromkeys([*short, *drawn]))[:_VISITING]


def states_of(pda: PushdownAutomaton, seen: Trace) -> list[list[State]]:
    """Return the state of ``pda`` after every step of a trace's words, `REJECTED`, or, at extra steps, `AFTER_WORD`."""
    names = [state_names(pda, word) for word in seen.words]
    return [
        [*row[:steps], *[AFTER_WORD] * (steps - len(row))]
        for row, steps in zip(names, seen.steps.tolist(), strict=True)
    ]


def visit_table(pda: PushdownAutomaton, seen: Trace, state: State | None = None) -> pd.DataFrame:
    """Return one row for every moment of a trace at which ``pda`` is in a state, or in the one that is given: state,
    word, step (symbols read), and the hidden vector; by states, in the order of words and steps.
    """
    at_first, rows = pda.rest(pda.start).state, []
    for number, (word, states) in enumerate(zip(seen.words, states_of(pda, seen), strict=True)):
        for step, name in enumerate([at_first, *states]):
            if name in pda.states and state in (None, name):
                rows.append([name, format_word(word), step, *seen.hidden[number, step].tolist()])
    rows.sort(key=lambda row: pda.states.index(row[0]))  # stable
    units = [f"h{unit + 1}" for unit in range(seen.hidden.shape[-1])]
    return pd.DataFrame(rows, columns=["state", "word", "step", *units])


def state_names(automaton: PushdownAutomaton, word: Word) -> list[str]:
    """Return the state of ``automaton`` after every letter of ``word``, "rejected" from where its run ends."""
    names = [configuration.state for configuration in automaton.at_rest(word)]
    return names + [REJECTED] * (len(word) + (automaton.end_marker is not None) - len(names))


def covering(pda: PushdownAutomaton) -> list[Word]:
    """Return words that together take every transition that can be taken, and every two that can follow each other."""
    return [make_word(word, pda.input_alphabet) for word in transition_pair_words(pda)]


def coverage_table(pda: PushdownAutomaton, words: Sequence[Word] | None = None) -> pd.DataFrame:
    """Return one row a transition: how many of ``words``, by default the covering ones, take it, and a shortest.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> step = Transition("q", (NONE,))
    >>> pda = PushdownAutomaton(("q",), ("a", "b"), (), {("q", x, ("⊥",)): step for x in "ab"}, "q", frozenset({"q"}))
    >>> coverage_table(pda, ["aa", "a"])[["input", "taken by", "shortest word"]].values.tolist()
    [['a', 2, 'a'], ['b', 0, '']]
    """
    # which words take each transition
    taking: dict[Key, list[Word]] = {key: [] for key in pda.transitions}
    for word in covering(pda) if words is None else words:
        for key in set(pda.taken(word)):
            taking[key].append(word)
    table = transition_table(pda)
    table["taken by"] = [len(takers) for takers in taking.values()]
    table["shortest word"] = [format_word(min(takers, key=len, default="")) for takers in taking.values()]
    return table


def covered(pda: PushdownAutomaton, words: Sequence[Word] | None = None) -> tuple[int, int]:
    """Return how many transitions, and how many pairs of two in a row, ``words`` take; by default the covering ones."""
    runs = [list(pda.taken(word)) for word in (covering(pda) if words is None else words)]
    singles = {key for run in runs for key in run}
    return len(singles), len({pair for run in runs for pair in pairwise(run)})
