"""Random automata with ε-steps against runs on lists: what is refused, runs of many words, formats and algorithms."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from tests.attack.awkward_automata import AWKWARD, PLAIN, Word, random_domain, words_over
from tests.attack.awkward_automata import is_member as in_domain
from tests.attack.campaign import Attack
from tests.attack.epsilon_automata import EpsilonRun, goes_on_for_ever, jflap_accepts, random_parts

from stacklens.automata.compare import Different, Equal, Undecided, compare, is_empty
from stacklens.automata.counting import count_words
from stacklens.automata.enumeration import accepts_all, compile_tables, enumerate_words, outputs_all
from stacklens.automata.formats.dot import from_dot, to_dot
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.formats.textbook import from_jflap, to_jflap
from stacklens.automata.minimize import minimize
from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.rewriting import intersect, with_letter, without_epsilon, without_letter
from stacklens.automata.runs import accepts_many, first_rejection, greatest_heights, written_many
from stacklens.automata.summaries import drop_sinks, reachable_heads, trim
from stacklens.core.errors import AutomatonError

_LONGEST = {1: 9, 2: 6, 3: 4}


def _valid(
    rng: Random, letters: tuple[str, ...], tried: Counter[str], names: tuple[str, ...] = ()
) -> PushdownAutomaton:
    """Return a random automaton that is not refused; whatever is refused has ε-steps that never end."""
    while True:
        parts = random_parts(rng, letters, names)
        endless = [
            (state, top)
            for state in parts["states"]
            for top in ("⊥", *parts["stack_alphabet"])
            if goes_on_for_ever(parts["transitions"], state, top)
        ]
        refusal = ""
        try:
            pda = PushdownAutomaton(**parts)
        except AutomatonError as error:
            refusal = str(error)
        named = [refusal == f"ε-steps never end that begin in state {q} with {top} on top" for q, top in endless]
        assert any(named) if refusal else not endless, f"{refusal or 'not refused'}; endless: {endless}, {parts}"
        tried["refused"] += bool(refusal)
        if not refusal and not pda.real_time:
            return pda


def _same(one: PushdownAutomaton, runs: dict[Word, EpsilonRun], what: str, written: bool = True) -> None:
    """Check that an automaton accepts, and writes where it is not cut, as the runs of another one do."""
    for word, run in runs.items():
        other = EpsilonRun(one, word)
        assert other.accepted == run.accepted, f"{what}, on {word}: {to_json(one)}"
        if written:
            assert (other.cut is None) == (run.cut is None), f"{what}, on {word}: {to_json(one)}"
            assert other.written == run.written or run.cut is not None, f"{what}, on {word}: {to_json(one)}"


def _simulate(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(25):
        letters = PLAIN[: rng.randint(1, 3)]
        pda = _valid(rng, letters, tried)
        words = words_over(letters, _LONGEST[len(letters)])
        runs = [EpsilonRun(pda, word) for word in words]
        where = to_json(pda)
        assert [pda.accepts(word) for word in words] == [run.accepted for run in runs], where
        assert accepts_many(pda, words).tolist() == [run.accepted for run in runs], where
        assert first_rejection(pda, words).tolist() == [-1 if run.cut is None else run.cut for run in runs], where
        assert greatest_heights(pda, words).tolist() == [run.height for run in runs], where
        outputs = compile_tables(pda).outputs
        for row, word, run in zip(written_many(pda, words).tolist(), words, runs, strict=True):
            assert [outputs[place] for place in row if place >= 0] == run.written, f"{word}: {where}"
            if run.cut is None or run.cut == len(word):
                assert pda.transduce(word) == run.outputs, f"{word}: {where}"
                assert pda.written(word) == run.written, f"{word}: {where}"
        together = [value for level in accepts_all(pda, len(words[-1])) for value in level.tolist()]
        assert together == [run.accepted for run in runs], where
        assert list(enumerate_words(pda, len(words[-1]))) == [w for w, r in zip(words, runs, strict=True) if r.accepted]
        last = [value for level in outputs_all(pda, len(words[-1])) for value in level.tolist()]
        for value, run in zip(last, runs, strict=True):
            assert (None if value < 0 else (outputs[value],)) == (None if run.cut is not None else (run.last,)), where
        heads = {(state, (top,)) for run in runs for state, top in run.heads}
        assert heads <= reachable_heads(pda), f"{heads - reachable_heads(pda)}: {where}"
        tried["automata"] += 1
        tried["words"] += len(words)
    return tried


def _rewrite(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(25):
        letters = PLAIN[: rng.randint(1, 2)]
        pda = _valid(rng, letters, tried)
        runs = {word: EpsilonRun(pda, word) for word in words_over(letters, _LONGEST[len(letters)])}
        _same(trim(pda), runs, "trim")
        _same(drop_sinks(pda), runs, "drop_sinks")
        small = minimize(pda, rng.choice(("drop", "as it is")))
        _same(small, runs, "minimize")
        assert len(small.states) <= len(pda.states)
        assert without_letter(*with_letter(pda), like=pda) == pda
        members = [word for word, run in runs.items() if run.accepted]
        found = compare(pda, PushdownAutomaton(("q",), letters, (), {}, "q"), outputs="ignore")
        assert isinstance(found, Undecided) or isinstance(found, Equal) == is_empty(pda), to_json(pda)
        assert not members or not is_empty(pda), to_json(pda)
        assert not (members and isinstance(found, Different)) or found.word in members, to_json(pda)
        domain = random_domain(rng, letters)
        both = intersect(pda, domain)
        for word, run in runs.items():
            assert EpsilonRun(both, word).accepted == (run.accepted and in_domain(domain, word)), to_json(pda)
        tried += _removed(rng, pda, runs, letters)
    return tried


def _removed(
    rng: Random, pda: PushdownAutomaton, runs: dict[Word, EpsilonRun], letters: tuple[str, ...]
) -> Counter[str]:
    """Check what is made of an automaton whose ε-steps can be put into others; all else has to be refused."""
    try:
        plain = without_epsilon(pda)
    except AutomatonError:
        with pytest.raises(AutomatonError, match="count_words needs a letter read in every step, and ε-steps stay"):
            count_words(pda, 4)
        assert isinstance(compare(pda, pda), Undecided)
        return Counter({"ε-steps stay": 1})
    assert plain.real_time
    _same(plain, runs, "without_epsilon")
    longest = _LONGEST[len(letters)]
    counts = [0] * (longest + 1)
    for word, run in runs.items():
        counts[len(word)] += run.accepted
    assert count_words(pda, longest) == counts, to_json(pda)
    other = _valid(rng, letters, Counter())
    found = compare(pda, other, outputs="ignore")
    if isinstance(found, Equal):
        _same(other, runs, "compare", written=False)
    if isinstance(found, Different):
        assert EpsilonRun(pda, found.word).accepted != EpsilonRun(other, found.word).accepted, to_json(pda)
    return Counter({"ε-steps removed": 1, type(found).__name__.lower(): 1})


def _silent(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the automaton without outputs and end marker."""
    steps = {key: replace(step, output=None) for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    acceptance = "both" if pda.acceptance == "output" else pda.acceptance
    return replace(pda, transitions=steps, end_marker=None, acceptance=acceptance)


def _formats(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(25):
        names = tuple(rng.sample(AWKWARD, 8)) if rng.random() < 0.5 else ()
        letters = tuple(rng.sample([x for x in AWKWARD if x not in names], 2)) if names else PLAIN[: rng.randint(1, 2)]
        pda = _valid(rng, letters, tried, names)
        if rng.random() < 0.6:
            pda = _silent(pda)
        assert from_json(to_json(pda)) == pda, to_json(pda)
        assert from_dot(to_dot(pda)) == pda, to_json(pda)
        assert "ε" in str(pda)
        if pda != _silent(pda):
            with pytest.raises(AutomatonError, match=r"outputs|end marker"):
                to_jflap(pda)
            tried["no JFLAP"] += 1
            continue
        text = to_jflap(pda)
        assert from_jflap(text) == pda, text
        tried["JFLAP"] += 1
        if not names:
            for word in words_over(letters, 4):
                assert jflap_accepts(text, word) == EpsilonRun(pda, word).accepted, f"{word}: {text}"
    return tried


ATTACKS: tuple[Attack, ...] = (
    Attack("ε-steps: run against lists", _simulate),
    Attack("ε-steps: rewrite and decide against brute force", _rewrite),
    Attack("ε-steps: formats and awkward names", _formats),
)
