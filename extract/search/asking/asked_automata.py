"""From a network's answers to words to automata: candidates of AALpy's learners, each scored.

KV (Kearns & Vazirani 1994, with counterexamples cut as Rivest & Schapire 1993 do) learns finite automata and Mealy
machines, and visibly pushdown automata (1-SEVPAs) where it is known which symbols push, the calls, and which pop, the
returns. One deep word teaches it all the states that a counter has on the way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from stacklens.automata.pda import PushdownAutomaton, Symbol
from stacklens.errors import StacklensError
from stacklens.extract.search.asking.answers_kept import AnswersKept, EnoughError
from stacklens.extract.search.asking.complete_words import CompleteWords
from stacklens.extract.search.asking.oracle import Oracle
from stacklens.extract.search.candidates import Candidate, Scorer
from stacklens.extras import needing
from stacklens.languages.language import Language

__all__ = ["ASKED", "AskedKind", "VisibleStack", "asked_candidates", "visible_stack"]

AskedKind = Literal["learn-dfa", "learn-mealy", "learn-vpa"]
ASKED = (*get_args(AskedKind), "ask")  # the methods of the search that do nothing else
# KV gives up so where a box is no visibly pushdown language: then its hypotheses so far are what there is.
_GIVES_UP = (AssertionError, AttributeError, IndexError, KeyError, TypeError)


@dataclass(frozen=True)
class VisibleStack:
    """Which symbols push, and which pop, of a visibly pushdown automaton (Alur & Madhusudan 2004); others do neither.

    Raises:
        StacklensError: a symbol does both, or neither calls nor returns are there.
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

    def check(self, alphabet: tuple[Symbol, ...]) -> None:
        """Check that all symbols are of ``alphabet``.

        Raises:
            StacklensError: one is not.
        """
        if strange := set(self.calls + self.returns) - set(alphabet):
            raise StacklensError(f"calls and returns are of {' '.join(alphabet)}, not {' '.join(sorted(strange))}")


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
    scorer: Scorer,
    kind: str | None = None,
    visible: VisibleStack | None = None,
    over: Callable[[], bool] = lambda: False,
) -> Iterator[Candidate]:
    """Yield the hypotheses of one learner after the other, each scored, the best of each last.

    Args:
        scorer: who knows the network's answers; its network need not show how it comes to them.
        kind: which automata, one of `AskedKind`; None for visibly pushdown ones where calls and returns are known, then
            finite ones.
        visible: these calls and returns; by default those of the specification's own automaton.
        over: says when to stop.

    Raises:
        StacklensError: AALpy is not installed, or the network cannot be learned so.
    """
    recogniser = scorer.model.task_kind == "recognition"
    if visible is None:
        visible = visible_stack(_meant(scorer))
    finite = "learn-dfa" if recogniser else "learn-mealy"
    nests = visible is not None and (recogniser or bool(scorer.complete))
    kinds = [kind] if kind is not None else [*(["learn-vpa"] if nests else []), finite]
    for one in kinds:
        _check_kind(one, scorer, visible)
    for one in kinds:
        yield from (tried := _learned(scorer, _answers(scorer, one, over), one, visible, over))
        if over() or any(found.exact for found in tried):
            return


def _meant(scorer: Scorer) -> PushdownAutomaton | None:
    """Return the automaton of the language that the network was trained on, None where there is none."""
    language = getattr(scorer.specification, "language", None)
    if isinstance(language, Language):
        try:
            return language.automaton
        except StacklensError:  # a grammar that none was found for
            return None
    return None if scorer.specification is None else scorer.specification.automaton()


def _answers(scorer: Scorer, kind: str, over: Callable[[], bool]) -> AnswersKept:
    """Return the answers to what a learner of this kind asks, those that the scorer knows among them."""
    network, samples = scorer.model, scorer.samples
    words, said = samples.words[: samples.n_short], samples.rounded[: samples.n_short]
    if kind == "learn-vpa" and network.task_kind == "next set":
        complete = CompleteWords(network, scorer.complete)
        network, said = complete, complete.verdicts(words, said)
    answers = AnswersKept(network, over)
    answers.keep(words, said)
    answers.asked, answers.batches = samples.n_short, 1
    return answers


def _check_kind(kind: str, scorer: Scorer, visible: VisibleStack | None) -> None:
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
        visible.check(scorer.model.alphabet)


def _learned(
    scorer: Scorer,
    answers: AnswersKept,
    kind: str,
    visible: VisibleStack | None,
    over: Callable[[], bool],
) -> list[Candidate]:
    """Return the hypotheses of one learner, those with fewer errors last."""
    blank = Candidate("KV", 0, kind, 0, None, None)
    oracle = Oracle(scorer, answers, blank, over)
    with needing("AALpy", "interop"):
        from aalpy.learning_algs import run_KV
    letters = list(scorer.model.alphabet)
    if kind == "learn-vpa":
        assert visible is not None
        letters = _alphabet(scorer, visible)
    with contextlib.suppress(EnoughError, *_GIVES_UP):
        run_KV(letters, answers, oracle, kind.removeprefix("learn-"), cache_and_non_det_check=False, print_level=0)
    return sorted(oracle.tried, key=lambda found: -(found.disagreements or 0))


def _alphabet(scorer: Scorer, visible: VisibleStack) -> Any:
    """Return AALpy's alphabet of internal symbols, calls and returns."""
    with needing("AALpy", "interop"):
        from aalpy.automata import SevpaAlphabet
    internal = [x for x in scorer.model.alphabet if x not in visible.calls + visible.returns]
    return SevpaAlphabet(internal, list(visible.calls), list(visible.returns))
