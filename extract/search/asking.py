"""From a network's answers to words to automata: candidates of AALpy's learners, each scored.

KV (Kearns & Vazirani 1994, with counterexamples cut as Rivest & Schapire 1993 do) learns finite automata and Mealy
machines, and visibly pushdown automata (1-SEVPAs) where it is known which symbols push, the calls, and which pop, the
returns. One deep word teaches it all the states that a counter has on the way.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from ...automata.formats.libraries import from_aalpy
from ...automata.pda import NONE, Key, Output, PushdownAutomaton, Symbol, Transition, Word, push
from ...automata.rewriting import predictor_of
from ...automata.runs import accepts_many
from ...automata.summaries import trim
from ...core.errors import StacklensError, needing, unique
from ...core.progress import OutOfTimeError, check_time
from ...languages.language import Language, make_word
from ...models.base import NetworkState, StackModel, Step
from ...models.inference import automaton_answers, network_answers, output_number
from ...models.rounding import Wrapper
from .candidates import NEAR, Candidate, Scorer, minimised
from .machine import BOTTOM, automaton_of_rules, initial_output

# ---- The answers of a network to words, each asked once and in batches: AALpy's system under learning.
#
# AALpy's own `CacheSUL` asks symbol by symbol and cannot be filled with answers that are known; a network answers
# hundreds of words in the time of one.

DEAD = -1  # the answer of a predictor from a rejection on
_TOGETHER = 64  # words that are asked together with one that is not known: what may come next
_AHEAD = 24  # symbols of a word up to which that is done: longer ones are dear, and hardly any goes on
_FEW = 10_000  # words that may be asked, below which none is that may not be wanted


class EnoughError(Exception):
    """The learner is to stop, with what it has proposed so far."""


class AnswersKept:
    """The answers of ``network``, not rounded; AALpy's questions to a system under learning are answered from here.

    A recogniser answers a word with True or False, any other with the number of its output after each symbol, `DEAD`
    from a rejection on. A short word is asked together with those that begin with it, which learners ask next. Once
    ``over`` is true, `query` ends the learner by an `EnoughError`.
    """

    def __init__(self, network: StackModel[Any], over: Callable[[], bool] = lambda: False) -> None:
        self.network, self.over = network, over
        self.recogniser = network.task_kind == "recognition"
        self.asked = 0  # how many words were asked of the network
        self.num_queries = self.num_steps = self.num_cached_queries = 0  # AALpy counts these
        self.known: dict[tuple[Symbol, ...], int] = {}  # the answers so far, by word
        ahead = 0
        while sum(len(network.alphabet) ** n for n in range(ahead + 2)) <= _TOGETHER:
            ahead += 1
        self._tails = [tail for n in range(ahead + 1) for tail in product(network.alphabet, repeat=n)]

    def keep(self, words: Sequence[Word], answers: np.ndarray) -> None:
        """Keep ``answers`` (N, 1) or (N, T) to ``words``, as `network_answers` gives them."""
        for word, row in zip(words, answers.tolist(), strict=True):
            spelled = tuple(word)
            if self.recogniser:
                self.known[spelled] = row[0]
                continue
            for t, answer in enumerate(row[: len(spelled)]):
                self.known[spelled[: t + 1]] = answer

    def ask(self, words: Sequence[Word]) -> None:
        """Ask the network all of ``words`` in one batch."""
        if words:
            self.asked += len(words)
            self.keep(words, network_answers(self.network, words))

    def answer(self, word: Sequence[Symbol]) -> int | bool:
        """Return the answer to ``word``; a predictor's to the empty word is `DEAD`, which is never asked."""
        spelled = tuple(word)
        if not self.recogniser:
            if not spelled:
                return DEAD
            if spelled not in self.known and DEAD in (self.known.get(spelled[:n]) for n in range(1, len(spelled))):
                return DEAD
        if spelled not in self.known:
            longest, most = self.network.longest, self.network.affordable
            ahead = len(spelled) <= _AHEAD and (most is None or most >= _FEW)
            together = [(*spelled, *tail) for tail in (self._tails if ahead else [()])]
            fit = [one for one in together if longest is None or len(one) <= max(longest, len(spelled))]
            self.ask([make_word(one, self.network.alphabet) for one in fit])
        return bool(self.known[spelled]) if self.recogniser else self.known[spelled]

    def query(self, word: Sequence[Symbol]) -> list[int | bool]:
        """Return the answer to ``word``, the last after its symbols, which is the one that KV looks at; for AALpy."""
        if self.over():
            raise EnoughError
        self.num_queries, self.num_steps = self.num_queries + 1, self.num_steps + len(word)
        return [self.answer(word)]


# ---- A predictor of sets as the recogniser of complete words, and that recogniser's predictor again.
#
# Where the predicted set shows whether a word is complete, as in Dyck languages, a learner of recognisers learns these
# words; what may come next in them follows from the automaton (see `predictor_of`).


class CompleteWords(Wrapper[Any]):
    """A recogniser of the words that are ``complete``, by their last output, to ``model``, a predictor of sets."""

    name = "complete words"

    def __init__(self, model: StackModel[Any], complete: frozenset[Output]) -> None:
        super().__init__(model)
        self.numbers = [output_number(output, model) for output in complete]
        self.empty_word = initial_output(model) in complete
        self.task_kind, self.action_kind, self.operations = "recognition", "none", ()

    def step(self, symbols: Tensor, state: NetworkState[Any]) -> Step[Any]:
        """Return the predictor's step, which rejects what was not predicted."""
        return self.model.step(symbols, state)

    def decide(self, state: NetworkState[Any]) -> Tensor:
        """Return whether the last output is that of a complete word."""
        if state.output is None:
            return torch.full(state.rejected.shape, self.empty_word, device=state.rejected.device)
        complete = np.isin(self.model.output_numbers(state.output), self.numbers)
        return torch.from_numpy(complete).to(state.rejected.device)

    def answers_to(self, words: Sequence[Word]) -> np.ndarray | None:
        """Return the answers to whole ``words``, where the predictor gives some."""
        outputs = self.model.answers_to(words)
        return None if outputs is None else self.verdicts(words, outputs)

    def verdicts(self, words: Sequence[Word], outputs: np.ndarray) -> np.ndarray:
        """Return which ``words`` are complete, (N, 1), given the ``outputs`` after their symbols, (N, T)."""
        lengths = np.array([len(word) for word in words], np.int64)
        padded = outputs if outputs.shape[1] else np.full((len(words), 1), -1)
        last = padded[np.arange(len(words)), np.maximum(lengths - 1, 0)]
        found: np.ndarray = np.where(lengths > 0, np.isin(last, self.numbers), self.empty_word)
        return found[:, None].astype(np.int32)


# ---- AALpy's automata as ours: finite ones without a stack that is used, visibly pushdown ones with theirs ----


def _sevpa_automaton(hypothesis: Any) -> PushdownAutomaton:
    """Return a 1-SEVPA without the state that nothing leads on from; what is pushed is called by symbol and state."""
    pda, error = from_aalpy(hypothesis), hypothesis.get_error_state()
    dead = None if error is None or error == hypothesis.initial_state else error.state_id
    cells = {str((q, call)): (q, call) for q in pda.states for call in hypothesis.input_alphabet.call_alphabet}
    calls = [call for state, call in cells.values() if state != dead]
    wanted = {cell: call if calls.count(call) == 1 else f"{call}{state}" for cell, (state, call) in cells.items()}
    names = {
        **unique({cell: wanted[cell] for cell in pda.stack_alphabet if cell in wanted}, [pda.bottom]),
        pda.bottom: pda.bottom,
    }
    if not set(pda.stack_alphabet) <= set(names):
        return pda  # AALpy calls them otherwise: then as it does
    rules: dict[Key, Transition] = {}
    for (state, symbol, (top,)), step in pda.transitions.items():
        if dead not in (state, step.target):
            (done,) = step.operations
            done = done if done.push is None else push(names[done.push])
            rules[state, symbol, (names[top],)] = replace(step, operations=(done,))
    kept = tuple(state for state in pda.states if state != dead)
    symbols = tuple(names[cell] for cell in pda.stack_alphabet)
    return replace(pda, states=kept, stack_alphabet=symbols, transitions=rules, accepting=pda.accepting & set(kept))


def _finite_automaton(hypothesis: Any, network: StackModel[Any], complete: frozenset[Output]) -> PushdownAutomaton:
    """Return a Dfa or MealyMachine; a step with the output `DEAD` is none: the word is rejected for good there."""
    speaks = network.task_kind != "recognition"
    names: dict[Hashable, str] = {hypothesis.initial_state.state_id: "q0"}
    rules: dict[Key, Transition] = {}
    for state in (queue := [hypothesis.initial_state]):  # the list grows while it is walked
        for letter in network.alphabet:
            number = state.output_fun[letter] if speaks else 0
            if number == DEAD:
                continue
            target = state.transitions[letter]
            if target.state_id not in names:
                names[target.state_id] = f"q{len(names)}"
                queue.append(target)
            output = network.output_name(number) if speaks else None
            rules[names[state.state_id], letter, (BOTTOM,)] = Transition(names[target.state_id], (NONE,), output)
    accepting = frozenset(names.values())
    if not speaks:
        accepting = frozenset(names[state.state_id] for state in queue if state.is_accepting)
    found = automaton_of_rules(network, tuple(names.values()), (), rules, accepting, complete, True, 1)
    return replace(found, end_marker=None)


# ---- The equivalence oracle: whether a hypothesis does what the network does, found out by our own words ----
#
# These are the checking words, random ones among them, walks over the hypothesis, words that cover its transitions,
# and words that drive it to every height of its stack (see `Scorer`): where the network answers something else, a
# short one is the counterexample. Long words would teach a network's drift: they only judge.

_LONGEST_TAUGHT = 40  # symbols of a counterexample, where the hypothesis errs on few words
_TOO_LONG = 60  # symbols of a counterexample that KV would take minutes for where there is a stack: then without one
_MOST_STATES = 300
_LEFT, _LONGER = 100, 4  # short words on which a hypothesis was wrong, that are tried on the next ones first
_FEW_STATES, _PATIENCE, _BETTER = 40, 12, 0.75  # larger ones have to lose a quarter of their errors in so many rounds


class Oracle:
    """What AALpy asks whether a hypothesis is right: ``blank`` becomes a candidate, and ``over`` ends the search."""

    def __init__(self, scorer: Scorer, answers: AnswersKept, blank: Candidate, over: Callable[[], bool]) -> None:
        self.scorer, self.answers, self.blank, self.over = scorer, answers, blank, over
        self.tried: list[Candidate] = []  # the hypotheses so far, scored
        self.nested = set(scorer.nested.words)
        self.left: list[Word] = []  # words on which the hypothesis before was wrong
        self.sul = answers  # AALpy sets and counts these
        self.num_queries = self.num_steps = 0

    def find_cex(self, hypothesis: Any) -> tuple[Symbol, ...] | None:
        """Return a word on which ``hypothesis`` is wrong, None where it is right, or near enough."""
        scorer = self.scorer
        network = self.answers.network  # a predictor may be asked which words are complete, and no more
        if hasattr(getattr(hypothesis, "input_alphabet", None), "call_alphabet"):
            pda = replace(_sevpa_automaton(hypothesis), input_alphabet=network.alphabet)
        else:
            pda = _finite_automaton(hypothesis, network, scorer.complete)
        predicting = pda
        again = None if self.over() or len(pda.states) > _MOST_STATES else self._first_wrong(pda, pda, self.left)
        if again is not None:  # as the hypothesis before: all words need not be judged again
            return again
        if network.task_kind != scorer.model.task_kind:
            predicting = replace(
                predictor_of(trim(pda)),
                acceptance="output",
                accepting=frozenset(),
                accepting_outputs=scorer.complete,
                initial_output=initial_output(scorer.model),
            )
        found = minimised(replace(self.blank, states=len(pda.states)), predicting)
        small = found.automaton
        assert small is not None
        words = scorer.broken_by(small)
        how = f"{self.blank.quantiser}, {self.answers.asked:,} words asked, hypothesis {len(self.tried) + 1}"
        found = replace(found, quantiser=how, disagreements=len(words))
        self.tried.append(found)
        deep = all(word in self.nested for word in words)  # then all else is right
        drifts = not deep or scorer.specification is not None
        # enough: only long words are wrong, and few, or it is what the network was trained to do
        near = scorer.errs_at_most(found, NEAR) and bool(words) and len(words[0]) > _LONGEST_TAUGHT
        if not words or (drifts and (near or scorer.drifts(found, words))):
            return None

        # no number of states explains noise; nor where states are added, and hardly any error goes
        if scorer.errs_by_noise(found):
            raise EnoughError
        idle = found.states > _FEW_STATES and len(self.tried) > _PATIENCE
        idle = idle and len(words) > _BETTER * (self.tried[-1 - _PATIENCE].disagreements or 0)
        if self.over() or len(pda.states) > _MOST_STATES or idle:
            raise EnoughError
        stacked = self.blank.way == "learn-vpa"
        if deep and (len(words[0]) > _TOO_LONG if stacked else scorer.nested.endless is not None):
            raise EnoughError
        longest = 0 if deep or stacked else len(words[0]) + _LONGER  # longer ones would teach a network's drift
        self.left = [word for word in words[:_LEFT] if len(word) <= longest]
        # The deepest word teaches a finite automaton all depths before it, at once.
        return self._first_wrong(small, pda, words[::-1] if deep and not stacked else words)

    def _first_wrong(
        self, small: PushdownAutomaton, pda: PushdownAutomaton, words: list[Word]
    ) -> tuple[Symbol, ...] | None:
        """Return the shortest beginning of the shortest of ``words`` on which ``pda`` itself is wrong.

        What is minimised may put out more than the hypothesis where outputs do not count. A recogniser is judged on the
        whole words alone, and one of complete words on all that are known, too.
        """
        answers = self.answers
        if answers.recogniser:
            if isinstance(answers.network, CompleteWords):
                samples = self.scorer.samples
                known = [make_word(word, answers.network.alphabet) for word in answers.known]
                words = sorted([*words, *samples.words[samples.n_short :], *known], key=len)
            answers.ask([word for word in words if tuple(word) not in answers.known])
            right = np.array([answers.answer(word) for word in words], bool)
            wrong = np.flatnonzero(accepts_many(pda, words) != right)
            return tuple(words[wrong[0]]) if len(wrong) else None
        for word in words:
            given = automaton_answers(pda, self.scorer.model, [make_word(word, small.input_alphabet)])[0].tolist()
            asked = [answers.answer(word[: t + 1]) for t in range(len(word))]
            for t, answer in enumerate(asked):
                if given[t] != answer:
                    return tuple(word[: t + 1])
        return None


# ---- From a network's answers to words to automata: candidates of AALpy's learners, each scored ----

AskedKind = Literal["learn-dfa", "learn-mealy", "learn-vpa"]
ASKED = (*get_args(AskedKind), "ask")  # the methods of the search that do nothing else
# KV gives up so where a box is no visibly pushdown language: then its hypotheses so far are what there is.
_GIVES_UP = (AssertionError, AttributeError, IndexError, KeyError, TypeError)


@dataclass(frozen=True)
class VisibleStack:
    """Which symbols push, and which pop, of a visibly pushdown automaton (Alur & Madhusudan 2004); others do neither.

    Raises StacklensError: a symbol does both, or neither calls nor returns are there.
    """

    calls: tuple[Symbol, ...]
    returns: tuple[Symbol, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "calls", tuple(self.calls))
        object.__setattr__(self, "returns", tuple(self.returns))
        if both := set(self.calls) & set(self.returns):
            raise StacklensError(f"{' '.join(sorted(both))} cannot be a call and a return: each symbol pushes or pops")
        if not self.calls or not self.returns:
            raise StacklensError("give both calls, which push, and returns, which pop")


def visible_stack(pda: PushdownAutomaton | None) -> VisibleStack | None:
    """Return which symbols push and which pop in ``pda``, None where a symbol does both, or no stack is used.

    >>> from stacklens.languages import get_language
    >>> visible_stack(get_language("dyck-1").automaton)
    VisibleStack(calls=('(',), returns=(')',))
    """
    if pda is None or pda.n_stacks != 1:
        return None
    taken: dict[Symbol, set[str]] = {}
    for (_, symbol, _), step in pda.transitions.items():
        taken.setdefault(symbol, set()).add(step.operations[0].name)
    found = {name: tuple(x for x in pda.input_alphabet if taken.get(x) == {name}) for name in ("push", "pop")}
    still = [x for x in pda.input_alphabet if taken.get(x, {"none"}) == {"none"}]
    if not found["push"] or not found["pop"] or len(still) + sum(map(len, found.values())) < len(pda.input_alphabet):
        return None
    return VisibleStack(found["push"], found["pop"])


def asked_candidates(
    scorer: Scorer,  # knows the network's answers; its network need not show how it comes to them
    kind: str | None = None,
    visible: VisibleStack | None = None,
    over: Callable[[], bool] = lambda: False,  # ends the search when it is true
) -> Iterator[Candidate]:
    """Yield the hypotheses of one learner after the other, each scored, the best of each last.

    ``kind``: which automata, one of `AskedKind`; None for visibly pushdown ones where calls and returns are known, then
    finite ones. ``visible``: these calls and returns; by default those of the specification's own automaton. Raises
    StacklensError: AALpy is not installed, or the network cannot be learned so.
    """
    recogniser = scorer.model.task_kind == "recognition"
    if visible is None:
        # the automaton of the language that the network was trained on
        language = getattr(scorer.specification, "language", None)
        pda = None
        if isinstance(language, Language):
            with contextlib.suppress(StacklensError):  # a grammar that none was found for
                pda = language.automaton
        elif scorer.specification is not None:
            pda = scorer.specification.automaton()
        visible = visible_stack(pda)
    finite = "learn-dfa" if recogniser else "learn-mealy"
    nests = visible is not None and (recogniser or bool(scorer.complete))
    kinds = [kind] if kind is not None else [*(["learn-vpa"] if nests else []), finite]
    for one in kinds:
        _check_asked_kind(one, scorer, visible)
    with needing("AALpy", "interop"):
        from aalpy.automata import SevpaAlphabet
        from aalpy.learning_algs import run_KV
    samples = scorer.samples
    for one in kinds:
        # the scorer's answers are known from the start
        network, words, outputs = scorer.model, samples.words[: samples.n_short], samples.rounded[: samples.n_short]
        if one == "learn-vpa" and network.task_kind == "next set":
            complete = CompleteWords(network, scorer.complete)
            network, outputs = complete, complete.verdicts(words, outputs)
        answers = AnswersKept(network, over)
        answers.keep(words, outputs)
        answers.asked = samples.n_short
        letters: Any = list(network.alphabet)
        if one == "learn-vpa" and visible is not None:
            calls, returns = list(visible.calls), list(visible.returns)
            letters = SevpaAlphabet([x for x in letters if x not in calls + returns], calls, returns)
        oracle = Oracle(scorer, answers, Candidate("KV", 0, one, 0, None, None), over)
        with contextlib.suppress(EnoughError, OutOfTimeError, *_GIVES_UP):
            run_KV(letters, answers, oracle, one.removeprefix("learn-"), cache_and_non_det_check=False, print_level=0)
        yield from sorted(oracle.tried, key=lambda found: -(found.disagreements or 0))
        if over() or any(found.exact for found in oracle.tried):
            return


def _check_asked_kind(kind: str, scorer: Scorer, visible: VisibleStack | None) -> None:
    task = scorer.model.task_kind
    if kind not in get_args(AskedKind):
        raise StacklensError(f"kind is {kind!r:.40}; expected one of {', '.join(get_args(AskedKind))}")
    if kind == "learn-mealy" and task == "recognition":
        raise StacklensError("a Mealy machine says something after every symbol, a recogniser does not: ask for a dfa")
    nests = kind == "learn-vpa" and task == "next set" and bool(scorer.complete)
    if kind != "learn-mealy" and task != "recognition" and not nests:
        raise StacklensError(f"a {task} network says something after every symbol: ask for a mealy machine")
    if kind == "learn-vpa":
        if visible is None:
            raise StacklensError("which symbols push, and which pop? give calls and returns, or a language")
        if strange := set(visible.calls + visible.returns) - set(scorer.model.alphabet):
            known = " ".join(scorer.model.alphabet)
            raise StacklensError(f"calls and returns are of {known}, not {' '.join(sorted(strange))}")


# ---- Answers that contradict themselves: states are merged by weight, as no automaton has them all.
#
# Two words lead to the same state where few of their endings tell them apart, and what most words of a state do it does
# (k-tails, Biermann & Feldman 1972, with votes). How few these may be is not known: it is tried, and what explains most
# by fewest states stays.

_APART = (0.0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)  # shares of the endings
_ENDINGS, _MOST_WEIGHED = 60, 60  # endings of a word at least, if there are so many; states
_A_STATE = 4  # answers to each letter that a state more has to explain


def weighed_candidates(scorer: Scorer) -> list[Candidate]:
    """Return what is merged by weight, for each share of endings that may differ, the best last, or nothing."""
    network, samples = scorer.model, scorer.samples
    k, n_short = len(network.alphabet), samples.n_short
    ends = np.array([max(0, len(word) - 1) for word in samples.words[:n_short]], np.int64)
    answers = samples.rounded[np.arange(n_short), ends if samples.rounded.shape[1] > 1 else 0]
    firsts, longest = [0], -1  # where the words of each length begin
    while firsts[-1] + k ** (longest + 1) <= n_short:
        longest += 1
        firsts.append(firsts[-1] + k**longest)
    tail = min(next((n for n in range(longest) if sum(k**i for i in range(n + 1)) >= _ENDINGS), longest), longest // 2)
    if samples.scored is not None or tail < 1:
        return []
    # a row for each word that all its endings are known of, (words, endings), in numbers from 0
    values, numbers = np.unique(answers, return_inverse=True)
    depth = longest - tail
    parts = [
        [numbers[firsts[n + i] : firsts[n + i + 1]].reshape(k**n, k**i) for i in range(tail + 1)]
        for n in range(depth + 1)
    ]
    rows = np.concatenate([np.concatenate(part, 1) for part in parts])
    speaks = network.task_kind != "recognition"
    if speaks:
        rows[:, 0] = 0  # what came out last is no matter of the state
    lengths = enumerate(firsts[1 : depth + 1])
    nexts = np.concatenate([[first + place * k for place in range(k**n)] for n, first in lengths])

    def most(votes: np.ndarray) -> int:
        return int(np.bincount(votes).argmax())

    found = []
    for apart in _APART:
        check_time()
        states = _merged_by_weight(rows, apart, len(values))
        if states is None:
            continue
        # each state does what most of its rows do
        rules, accepts = dict[Key, Transition](), dict[str, bool]()
        for state in np.unique(states).tolist():
            mine = np.flatnonzero(states == state)
            before = mine[mine < len(nexts)]  # whose next words have rows as well
            for x, letter in enumerate(network.alphabet):
                number = int(values[most(rows[mine, 1 + x])])
                if len(before) and (number != DEAD or not speaks):
                    target, output = most(states[nexts[before] + x]), network.output_name(number) if speaks else None
                    rules[f"q{state}", letter, (BOTTOM,)] = Transition(f"q{target}", (NONE,), output)
            accepts[f"q{state}"] = speaks or int(values[most(rows[mine, 0])]) == 1
        start = f"q{states[0]}"
        names = (start, *(name for name in accepts if name != start))
        accepting = frozenset(name for name in names if accepts[name])
        pda = automaton_of_rules(network, names, (), rules, accepting, scorer.complete, True, 1)
        how = f"states merged by weight, of which at most {apart:.0%} of {rows.shape[1]:,} endings differ"
        blank = Candidate(how, 0, "learn-mealy" if speaks else "learn-dfa", 0, None, None, apart=apart)
        found.append(scorer.score(minimised(blank, replace(pda, end_marker=None))))
    return sorted(found, key=lambda one: -(one.disagreements or 0) - _A_STATE * k * one.states)


def _merged_by_weight(rows: np.ndarray, apart: float, n_values: int) -> np.ndarray | None:
    """Return the state of each of ``rows``, (N,), the first 0; None where there would be too many."""
    votes, modes = list[np.ndarray](), np.zeros((0, rows.shape[1]), rows.dtype)
    for row in rows:
        differ = (modes != row).mean(1)
        state = int(differ.argmin()) if len(modes) and differ.min() <= apart else len(modes)
        if state == len(modes):
            if state == _MOST_WEIGHED:
                return None
            votes.append(np.zeros((rows.shape[1], n_values), np.int64))
            modes = np.concatenate([modes, row[None]])
        votes[state][np.arange(len(row)), row] += 1
        modes[state] = votes[state].argmax(1)
    # once more, by what all have voted for
    return np.array([(modes != row).mean(1).argmin() for row in rows])
