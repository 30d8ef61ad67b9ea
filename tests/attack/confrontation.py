"""What an extraction claims, against runs that share nothing with it."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from tests.attack.plain_automaton import repeated, run_automaton
from tests.attack.plain_run import PlainRun

from stacklens.automata.compare import Different, Equal
from stacklens.automata.pda import Output, PushdownAutomaton
from stacklens.extract.agreement import Agreement
from stacklens.extract.certificate.claim import Certified
from stacklens.extract.horizon import Horizon
from stacklens.extract.result import Extraction
from stacklens.extract.verification.divergence import Divergence

SURE = 1e-6  # decisions nearer than this to their threshold may fall either way
LONG, LONGEST = 30, 120  # how many long words are tried, and about how long they are
Answer = tuple[bool, tuple[Output, ...]]  # whether the word is accepted, and what is said until it is rejected


@dataclass(frozen=True)
class Case:
    """A network's run on a word, soft or rounded, and membership in the language that it was extracted for."""

    run: Callable[[Sequence[str], bool], PlainRun]
    alphabet: Sequence[str]
    recogniser: bool = True
    member: Callable[[str], bool] | None = None

    def answer(self, other: str, word: Sequence[str]) -> Answer | None:
        """Return what "language", "rounded network" or "network" says; None where rounding errors decide it."""
        if other == "language":
            assert self.member is not None
            return self.member("".join(word)), ()
        made = self.run(word, other == "rounded network")
        return (made.accepted, made.outputs or ()) if made.margin > SURE else None

    def automaton(self, pda: PushdownAutomaton, word: Sequence[str]) -> Answer:
        """Return what the automaton says; who is no recogniser accepts what it does not cut short."""
        made = run_automaton(pda, word)
        return (made.accepted, ()) if self.recogniser else (made.cut is None, made.outputs)

    def against(self, other: str, pda: PushdownAutomaton, words: Sequence[Sequence[str]]) -> list[str]:
        """Return the words on which the automaton surely differs at the end, as at no shorter prefix need be."""
        answers = [(word, self.answer(other, word), self.automaton(pda, word)) for word in words]
        return ["".join(word) for word, said, ours in answers if said is not None and last(said) != last(ours)]


def last(answer: Answer) -> tuple[bool, tuple[Output, ...]]:
    """Return what is said in the end: the verdict, and the last output unless the word is rejected."""
    return answer[0], answer[1][-1:] if answer[0] else ()


def confront(result: Extraction, case: Case, rng: random.Random) -> Counter[str]:
    """Return what was claimed and held; raises AssertionError at the first claim that does not."""
    pda = result.minimised
    tried = Counter({f"status {result.status}": 1})
    if pda is None:
        return tried
    for check in result.checks:
        tried += _check(pda, check, case)
    long_words = [repeated(rng, case.alphabet, LONGEST) for _ in range(LONG)]
    if isinstance(result.proof, Equal):
        assert case.against("language", pda, long_words) == [], "proved equal"
        tried["proofs"] += 1
    elif isinstance(result.proof, Different):
        word = result.proof.word
        assert case.against("language", pda, [word]) != [], f"proved different on {word}"
        tried["proofs"] += 1
    certificate = result.certificate.certificate
    if isinstance(certificate, Certified):
        assert result.certificate.words == "all"
        assert case.against("rounded network", pda, long_words) == [], f"certified: {certificate}"
        tried["certificates"] += 1
        tried["long words"] += len(long_words)
    bounded, known = result.certificate.bounded, result.horizon["rounded network"]
    if bounded is not None and known.difference is not None:  # a horizon ends before the word in any case
        assert bounded.length < len(known.difference.word), f"{bounded} is refuted by {known.difference}"
    for other, horizon in result.horizon.items():
        tried += _horizon(pda, other, horizon, case, rng)
    if result.divergence is not None:
        _divergence(pda, result.divergence, case)
        tried["divergences"] += 1
    return tried


def _check(pda: PushdownAutomaton, check: Agreement, case: Case) -> Counter[str]:
    """Refute what one check says: its word, and where it is of all words how many disagree, and the shortest."""
    if (word := check.counterexample) is not None:
        said = case.answer(check.other, word)
        assert said is None or said != case.automaton(pda, word), f"no counterexample: {check}"
        assert check.disagreements > 0, check
    assert (word is None) == (check.disagreements == 0), check
    if check.kind != "exhaustive":
        return Counter(counterexamples=word is not None)
    words = [word for n in range(check.max_length + 1) for word in product(case.alphabet, repeat=n)]
    assert check.words == len(words), check
    unsure = sum(case.answer(check.other, word) is None for word in words)
    wrong = case.against(check.other, pda, words if case.recogniser else words[1:])  # nothing is said of the empty one
    assert len(wrong) <= check.disagreements <= len(wrong) + unsure, f"{len(wrong)} wrong, {unsure} unsure: {check}"
    assert word is None or not wrong or len(word) <= len(wrong[0]), f"{wrong[0]} is shorter: {check}"
    # a predictor has cut nothing of the empty word, so it is among those that it accepts
    lengths = Counter(len(word) for word in words if (not word and not case.recogniser) or case.automaton(pda, word)[0])
    assert check.by_length == tuple(lengths[n] for n in range(check.max_length + 1)), f"{lengths}: {check.by_length}"
    return Counter(counterexamples=int(word is not None)) + Counter({"words, all": len(words)})


def _horizon(pda: PushdownAutomaton, other: str, horizon: Horizon, case: Case, rng: random.Random) -> Counter[str]:
    """Refute what a horizon says: its word, and that no word of a length that it covers is one on which they differ."""
    if (found := horizon.difference) is not None:
        said = case.answer(other, found.word)
        assert said is None or said != case.automaton(pda, found.word), f"no difference from the {other}: {found}"
        assert horizon.length is None or len(found.word) > horizon.length, horizon
    if horizon.shown_by is None:
        return Counter()
    longest = LONGEST if horizon.length is None else min(LONGEST, horizon.length)
    words = [repeated(rng, case.alphabet, LONGEST)[: rng.randint(min(1, longest), longest)] for _ in range(LONG)]
    wrong = case.against(other, pda, [word for word in words if word or case.recogniser])
    assert wrong == [], f"within the horizon of the {other}, {horizon.length} by {horizon.shown_by}"
    return Counter({f"horizons by {horizon.shown_by}": 1})


def _divergence(pda: PushdownAutomaton, found: Divergence, case: Case) -> None:
    """Find the step at which the runs part again: another operation or output, or only one of them is cut."""
    ours, theirs = run_automaton(pda, found.word), case.run(found.word, True)
    if theirs.margin <= SURE:
        return
    accepted = ours.accepted if case.recogniser else ours.cut is None
    assert (found.accepted, found.network_accepts) == (accepted, theirs.accepted), found.word
    first = None
    for step in range(len(found.word) + (pda.end_marker is not None)):
        ends = (ours.cut == step, theirs.rejected == step)
        if any(ends):
            first = None if all(ends) or (case.recogniser and accepted == theirs.accepted) else step
            break
        said = theirs.outputs is None or ours.outputs[step] == theirs.outputs[step]
        if ours.operations[step] != (theirs.operations[step],) or not said:
            first = step
            break
    assert found.first == first, f"they part at {first}: {found.word} at {found.first}"
