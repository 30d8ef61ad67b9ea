"""Accuracy by size, classes of automata, judged words, and what a report's claims rest on."""

import copy
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.strategies import dyck, plain_accepts, pushdown_automata, words_of
from tests.extract.test_repair import as_trained
from tests.viz.networks import network

from stacklens.automata.compare import compared_outputs
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.summaries import trim
from stacklens.extract.accuracy import SizeScores, scores_by_size
from stacklens.extract.by_name import specification_of, true_automaton
from stacklens.extract.claims import CHIPS, Claim, check_table, claims_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation.automaton_runs import coverage_table, covered
from stacklens.extract.evaluation.judge import (
    automaton_runs,
    first_parting,
    judge_words,
    network_runs,
    parse_words,
    word_table,
)
from stacklens.extract.evaluation.sweep import SweepRow, classes_of, settling_of
from stacklens.extract.extraction import extract
from stacklens.extract.specification import Specification
from stacklens.extract.verification.divergence import divergence
from stacklens.languages.catalogue import get_language, get_task
from stacklens.languages.language import EMPTY_WORD, format_word
from stacklens.models.base import Checkpoint, StackModel
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace

# ---- Accuracy by size: who is right is known beforehand, and a picture of it. ----


@cache
def subject(name: str) -> tuple[StackModel[Any], Specification, PushdownAutomaton]:
    """Return a network of the zoo, what it should do, and the automaton of that."""
    checkpoint = load_network(ZOO / f"{name}.pt")
    specification = specification_of(checkpoint)
    return checkpoint.model, specification, specification.automaton()


def scores(name: str, automaton: PushdownAutomaton | None = None, largest: int = 12, words: int = 5) -> SizeScores:
    return scores_by_size(*subject(name)[:2], automaton, largest=largest, words=words)


def right(found: SizeScores, who: str, sort: str) -> set[float]:
    frame = found.to_frame()
    return set(frame[(frame["who"] == who) & (frame["sort"] == sort)]["accuracy"])


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *(("nnpda-palindrome", "length"), ("marnn-stack-rnn-dyck-2-drifting", "length"), ("stack-rnn-anbmcnm", "n")),
        *(("stack-rnn-memorization", "n"), ("neural-stack-reversal", "size"), ("neural-stack-delayed-xor", "size")),
    ],
)
def test_the_reference_automaton_is_always_right(name: str, size: str) -> None:
    found = scores(name, subject(name)[2])
    assert found.size == size
    assert {one.right - one.words for one in found.scores if one.who == "automaton"} == {0}
    assert {one.who for one in found.scores} == {"network", "rounded network", "automaton"}
    assert max(one.high for one in found.scores) == 12
    assert all(0 < one.words <= 5 and 0 <= one.right <= one.words for one in found.scores)


def test_who_rejects_everything_is_right_on_near_misses_alone() -> None:
    automaton = get_language("palindrome").automaton
    found = scores("nnpda-palindrome", replace(automaton, accepting=frozenset()))
    assert right(found, "automaton", "members") == {0.0}
    assert right(found, "automaton", "near-misses") == {1.0}


def test_the_soft_network_fails_on_long_pieces_and_the_rounded_one_does_not() -> None:
    found = scores_by_size(as_trained("stack-rnn-anbn"), subject("stack-rnn-anbn")[1], largest=50, words=4)
    by_n = {one.low: one.right for one in found.scores if one.who == "network"}
    assert [by_n[n] for n in range(2, 26)] == [4] * 24
    assert [by_n[n] for n in range(45, 51)] == [0] * 6
    assert right(found, "rounded network", "pieces") == {1.0}


def test_the_same_seed_gives_the_same_scores_in_an_order() -> None:
    found = scores("nnpda-1n0n")
    assert found == scores("nnpda-1n0n")
    assert [one.sort for one in found.scores] == (["members"] * 6 + ["near-misses"] * 6) * 2
    assert [(one.low, one.high) for one in found.scores[:3]] == [(1, 2), (3, 4), (5, 6)]


# ---- Which automata of a sweep are the same, against all short words, and when the last one settles. ----


def row(pda: PushdownAutomaton | None, proof: str | None = None, updates: int | None = None) -> SweepRow:
    text = None if pda is None else to_json(pda)
    return SweepRow("x.pt", "dyck-2", 0, automaton=text, proof=proof, updates=updates)


def renamed(pda: PushdownAutomaton) -> PushdownAutomaton:
    """Return the same automaton with states of other names, and one more that nothing leads to."""
    names = {state: f"r{number}" for number, state in enumerate(pda.states)}
    rules = {
        (names[state], letter, tops): replace(step, target=names[step.target])
        for (state, letter, tops), step in pda.transitions.items()
    }
    return replace(
        pda,
        states=(*names.values(), "lonely"),
        transitions=rules,
        initial=names[pda.initial],
        accepting=frozenset(names[state] for state in pda.accepting),
    )


ONE_STACK = pushdown_automata(max_stacks=1, acceptances=("final state",))


@settings(max_examples=40)
@given(ONE_STACK, ONE_STACK)
def test_automata_of_one_class_do_the_same_on_all_short_words(one: PushdownAutomaton, other: PushdownAutomaton) -> None:
    first, second, third, nothing = classes_of([row(one), row(other), row(renamed(one)), row(None)])
    assert (first, nothing) == (1, None)
    assert third == first  # renaming changes nothing
    partly = compared_outputs(one) == compared_outputs(other) == "where both"  # then what both say alone counts
    words = [word for length in range(5) for word in product(one.input_alphabet, repeat=length)]
    for word in words if second == first else []:
        said = zip(*([here.output for here in pda.run(word)][1:] for pda in (one, other)), strict=False)
        alike = all(a == b or None in (a, b) for a, b in said)  # as far as both read
        assert alike if partly else plain_accepts(one, word) == plain_accepts(other, word), word
    rules = {key: replace(step, output=("x",)) for key, step in one.transitions.items()}
    assert classes_of([row(one), row(replace(one, transitions=rules))]) == [1, 2 if trim(one).transitions else 1]


@given(st.lists(st.sampled_from([None, 1, 2, 3]), min_size=2, max_size=8))
def test_settling_is_the_beginning_of_the_last_run(classes: list[int | None]) -> None:
    rows = [SweepRow("x.pt", None, 0, updates=10 * place) for place in range(len(classes))]
    found = settling_of(rows, classes)
    if classes[-1] is None:
        assert found is None
        return
    since = max(n for n in range(len(classes)) if n == 0 or any(one != classes[-1] for one in classes[n - 1 : n]))
    assert all(one == classes[-1] for one in classes[since:])
    assert (found.appears, found.settles) == (10 * classes.index(classes[-1]), 10 * since)
    assert found.before == (10 * (since - 1) if since else None)
    assert found.classes == len({one for one in classes if one is not None})


@pytest.mark.parametrize(("name", "known"), [("anbn", True), (None, False), ("my own", False)])
def test_what_a_network_was_trained_on_may_be_known_or_not(name: str | None, known: bool) -> None:
    assert (true_automaton(Checkpoint(network("stack-rnn"), {"language": name}), "ab") is not None) == known


def test_a_predictors_language_is_preferred_to_its_task() -> None:
    brackets = Checkpoint(network("marnn-stack-rnn"), {"language": "dyck-1"})
    assert true_automaton(brackets, "()") == get_language("dyck-1").automaton
    stream = Checkpoint(network("stack-rnn"), {"language": "anbn"})
    assert true_automaton(stream, "ab") == get_task("anbn").reference


# ---- What a report's claims rest on, in words and in tables. ----

SMALL = ExtractionConfig(max_length=5, long_words=40, long_lengths=(10, 20), deep_words=2, depth=9, height=4, walks=4)


@cache
def made(name: str) -> dict[str, Any]:
    checkpoint = load_network(ZOO / f"{name}.pt")
    in_vain = replace(SMALL, method="learn", budget=1e-9)  # it ends before anything is found
    config = in_vain if name.startswith("buffered") else SMALL
    return extract(checkpoint.model, specification_of(checkpoint), config).report()


def changed(**parts: Any) -> dict[str, Any]:
    return {**copy.deepcopy(made("nnpda-1n0n")), **parts}


def claim(report: dict[str, Any], what: str) -> Claim:
    (found,) = [one for one in claims_of(report) if one.what == what]
    return found


def test_a_faithful_automaton_has_every_kind_of_claim_side_by_side() -> None:
    found = claims_of(made("nnpda-1n0n"))
    assert [(one.what, one.verdict) for one in found] == [
        ("result", "yes"),
        ("automaton", "yes"),
        ("rounding", "yes"),
        ("checked against the language 1n0n", "yes"),
        ("checked against the rounded network", "yes"),
        ("checked against the network", "yes"),
        ("horizon, rounded network", "yes"),
        ("horizon, network", "yes"),
        ("counted twice", "yes"),
        ("proof", "yes"),
        ("certificate", "yes"),
    ]
    checks = [check for check in made("nnpda-1n0n")["checks"] if check["between"][1] == "language"]
    words = sum(check["words"] for check in checks if check["kind"] != "pumped")
    assert found[1].words == "2 states, 1 stack symbol, 4 transitions; 4 states, 1 stack symbol before minimisation"
    assert found[3].words == f"0 disagreements in {words:,} words"
    certified = "on words of every length that need at most 2^53 cells of a stack (certificate)"
    assert found[0].words == f"proved equal to 1n0n; the network itself follows it {certified}"
    assert [one.words for one in found[6:8]] == [f"agrees {certified}"] * 2
    assert found[8].words == (
        "2 accepted words of length <= 5, without running them: as many as were found by running all"
    )


def test_a_disagreement_is_told_with_a_short_word_and_the_table_has_all_of_it() -> None:
    report = changed()
    language, rounded, network = report["checks"][:3]
    language |= {"disagreements": 2, "counterexample": "1100"}
    rounded |= {"disagreements": 1, "counterexample": ""}
    network |= {"disagreements": 3, "counterexample": "10" * 100}
    said = claim(report, "checked against the language 1n0n")
    assert said.verdict == "no"
    assert said.words.endswith("; a short one is 1100")
    assert claim(report, "checked against the rounded network").words.endswith("a short one is the empty word")
    assert claim(report, "checked against the network").words.endswith("which contradicts nothing")
    assert check_table(report)["counterexample"].tolist()[:3] == ["1100", "ε", "10" * 100]


def test_counts_that_differ_and_a_stack_that_ends_are_told() -> None:
    report = changed(counts={"exhaustive": [0, 1], "counted": [0, 2], "equal": False}, stack_limit=104)
    says = (
        "2 accepted words of length <= 1, without running them: not as many at length 1 as the 1 found by running all"
    )
    assert claim(report, "counted twice") == Claim("counted twice", "no", "counts", says, chips=CHIPS[:1])
    assert claim(report, "depth").words == "the network's stack has 104 cells; all claims end there"


# ---- Which transitions words take, against plain runs. ----


def taken(pda: PushdownAutomaton, word: tuple[str, ...]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the keys of the transitions of a run, from its configurations."""
    letters = [*word, *([] if pda.end_marker is None else [pda.end_marker])]
    before = [(one.state, tuple(stack[-1] if stack else pda.bottom for stack in one.stacks)) for one in pda.run(word)]
    return [(state, letter, tops) for (state, tops), letter in zip(before[:-1], letters, strict=False)]


@given(data=st.data(), pda=pushdown_automata())
def test_each_transition_is_counted_once_a_word(data: st.DataObject, pda: PushdownAutomaton) -> None:
    words = data.draw(words_of(pda))
    counts = Counter(key for word in words for key in set(taken(pda, word)))
    table = coverage_table(pda, words)
    assert table["taken by"].tolist() == [counts[key] for key in pda.transitions]
    for key, shortest in zip(pda.transitions, table["shortest word"], strict=True):
        takers = [word for word in words if key in taken(pda, word)]
        least = min(map(len, takers), default=0)
        assert shortest in {" ".join(word) for word in takers if len(word) == least} or not takers
    singles, pairs = covered(pda, words)
    assert singles == len(counts)
    assert pairs == len({pair for word in words for pair in zip(taken(pda, word), taken(pda, word)[1:], strict=False)})


def test_a_table_says_what_each_transition_does_and_a_word_for_it() -> None:
    table = coverage_table(dyck([("(", ")")])).to_dict("records")
    steps = [(")", "(", "pop"), ("(", "⊥", "push ("), ("(", "(", "push (")]
    assert [(row["input"], row["top"], row["operation"]) for row in table] == steps
    assert [row["shortest word"] for row in table] == ["()", "()", "(())"]


# ---- Many words judged at once, against each of them judged alone by plain means. ----

KINDS = ("nnpda-1n0n", "nnpda-palindrome", "marnn-stack-rnn-dyck-2-drifting", "neural-stack-reversal", "stack-rnn-anbn")


@st.composite
def drawn_words(draw: st.DrawFn, name: str) -> list[str]:
    """Draw some words: random ones, and ones that the language is about."""
    model, specification, _ = subject(name)
    drawn = specification.long_words(40, (2, 9), seed=draw(st.integers(0, 99)))
    some = draw(st.lists(st.text(model.alphabet, max_size=14), max_size=6))
    return [*some, *(format_word(word)[:30] for word in drawn[: draw(st.integers(0, 4))])]


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_runs_part_where_two_runs_on_one_word_part(name: str, data: st.DataObject) -> None:
    model, _, automaton = subject(name)
    lost = data.draw(st.sets(st.sampled_from(sorted(automaton.transitions)), max_size=2))
    kept = {key: step for key, step in automaton.transitions.items() if key not in lost}
    broken = replace(automaton, transitions=kept)
    words = data.draw(drawn_words(name))
    rounded = network_runs(model, words, [0], rounded=True)
    parting = first_parting(automaton_runs(broken, model, words), rounded, None, model.task_kind == "recognition")
    for word, step in zip(words, parting.tolist(), strict=True):
        alone = divergence(broken, model, word).first
        assert step == (-1 if alone is None else alone), word


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_a_word_is_judged_among_others_as_alone(name: str, data: st.DataObject) -> None:
    model, specification, automaton = subject(name)
    words = data.draw(drawn_words(name))
    together = judge_words(model, words, automaton, specification)
    assert [one.word for one in together] == words
    assert together == [judge_words(model, [word], automaton, specification)[0] for word in words]


@settings(max_examples=20)
@given(words=st.lists(st.text("10", max_size=20), max_size=8))
def test_verdicts_of_a_recogniser_are_those_of_each_machine_by_itself(words: list[str]) -> None:
    model, specification, automaton = subject("nnpda-1n0n")
    everything = replace(automaton, acceptance="final state", accepting=frozenset(automaton.states))
    for one in judge_words(model, words, everything, specification):
        said = {who: yes for who, (yes, _) in one.verdicts.items()}
        member = one.word == "1" * (len(one.word) // 2) + "0" * (len(one.word) // 2) and one.word != ""
        assert said == {
            "network": bool(trace(model, [one.word]).verdicts[0]),
            "rounded network": bool(trace(Rounded(model), [one.word]).verdicts[0]),
            "automaton": everything.accepts(one.word),
            "language": member,
        }
        assert one.agree == (len(set(said.values())) == 1)


def test_a_predictor_completes_begins_or_rejects() -> None:
    model, specification, automaton = subject("marnn-stack-rnn-dyck-2-drifting")
    for word, said in (("([])", "✓ complete"), ("([", "✓ a beginning"), ("([)]", "✗ rejects symbol 3")):
        (row,) = word_table(judge_words(model, [word], automaton, specification)).to_dict("records")
        assert [row[who] for who in ("network", "rounded network", "automaton", "language")] == [said] * 4


def test_the_word_that_a_soft_network_gets_wrong_says_where() -> None:
    model, specification = as_trained("stack-rnn-anbn"), subject("stack-rnn-anbn")[1]
    (found,) = judge_words(model, ["a" * 45 + "b" * 45 + "ab"], specification=specification)
    wrong = int(found.verdicts["network"][1].removeprefix("wrong at symbol "))
    assert found.verdicts["rounded network"] == (True, "all right")
    assert not found.agree
    assert 45 < found.step <= wrong <= 91
    assert found.parted == ("network",)


@given(words=st.lists(st.text("()", max_size=9)), ends=st.sampled_from(["\n", "\r\n", "\n\n", "  \n\t"]))
def test_words_are_read_back_from_their_lines(words: list[str], ends: str) -> None:
    assert parse_words(ends.join(word or EMPTY_WORD for word in words), "()") == words
