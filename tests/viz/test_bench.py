"""One word on the bench: what is said, expected and done at every step, against independent ways to say it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.automata.strategies import dyck
from tests.viz.networks import NETWORKS, network

from stacklens.automata.pda import PushdownAutomaton
from stacklens.core.errors import UnknownSymbolError
from stacklens.extract.by_name import specification_of
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.models.inference import outputs_on, verdicts_on
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace
from stacklens.viz.bench.drawing import MOST_LINES, bench_automaton_run, edges_of, run_data
from stacklens.viz.bench.run import UNSAID, answers_of, automaton_says, bench_run, expected_of, filled_shares
from stacklens.viz.bench.word import differing_steps, word_data
from stacklens.viz.dashboard.extractions import shipped
from stacklens.viz.dashboard.networks import network_names, random_word, truth_by_name

LANGUAGE = dyck([("(", ")")])


def row(data: dict[str, Any], name: str) -> Any:
    (found,) = [one for one in data["rows"] if one["name"] == name]
    return found


def spelled(data: dict[str, Any], name: str) -> list[str]:
    found = row(data, name)
    return ["" if place < 0 else found["names"][place] for place in found["at"]]


def sentence(data: dict[str, Any]) -> str:
    return "".join(part["text"] for part in data["sentence"])


@pytest.mark.parametrize("name", NETWORKS)
def test_every_kind_of_network_fills_the_table(name: str) -> None:
    model = network(name)
    for word in ("", "a", "abba"):
        data = word_data(model, word)
        json.dumps(data, allow_nan=False)
        steps = len(data["letters"])
        for one in data["rows"]:
            values = one.get("at", one.get("values", one.get("read")))
            assert len(values) in (steps, len(word)), one["name"]


@pytest.mark.parametrize("name", ["nnpda-palindrome", "nnpda-parentheses", "marnn-stack-rnn-dyck-2", "stack-rnn-anbn"])
@pytest.mark.parametrize("rounded", [False, True])
def test_what_is_said_after_every_symbol_is_what_the_network_says_of_every_prefix(name: str, rounded: bool) -> None:
    model: Any = load_network(ZOO / f"{name}.pt").model
    runner = Rounded(model) if rounded else model
    word = random_word(name, 4)[:30]
    said = answers_of(bench_run(runner, word))
    prefixes = [word[: end + 1] for end in range(len(word))]
    if model.task_kind == "recognition":
        assert said.tolist() == verdicts_on(runner, prefixes).astype(int).tolist()
    else:
        ends = [outputs_on(runner, [prefix])[0, -1] for prefix in prefixes]
        assert said.tolist() == ends


@given(st.text("()", max_size=9))
def test_the_run_is_that_of_the_automaton(word: str) -> None:
    run = bench_automaton_run(LANGUAGE, word)
    configurations = list(LANGUAGE.run(word))[1:]
    assert [LANGUAGE.states[number] for number in run.states] == [one.state for one in configurations]
    assert [row[0] for row in run.heights] == [len(one.stacks[0]) for one in configurations]
    assert (run.stuck is None) == (len(configurations) == len(word))
    data = run_data(LANGUAGE, run)
    stack: list[str] = []
    for move in data["moves"]:
        ((pop, pushed),) = data["rules"][move][2]
        del stack[len(stack) - pop :]
        stack += [] if pushed is None else [pushed]
    assert tuple(stack) == (configurations[-1].stacks[0] if configurations else ())


@given(st.text("()", max_size=9))
def test_an_automaton_says_of_every_prefix_whether_it_accepts_it(word: str) -> None:
    model: Any = load_network(ZOO / "nnpda-parentheses.pt").model
    said = automaton_says(LANGUAGE, model, word)
    assert said.tolist() == [int(LANGUAGE.accepts(word[: end + 1])) for end in range(len(word))]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_shares_of_a_soft_stack_are_what_a_stack_of_ones_would_hold(pushes: list[float]) -> None:
    model = network("stack-rnn")
    actions = np.array([[[push, 1 - push, 0.0]] * model.n_stacks for push in pushes])
    shares = filled_shares(model, actions, 5)
    assert shares is not None
    ones = [0.0] * 40  # a stack of ones over zeros, one symbol after another
    for t, push in enumerate(pushes):
        ones = [
            push * (1.0 if depth == 0 else ones[depth - 1]) + (1 - push) * (ones[depth + 1] if depth < 39 else 0.0)
            for depth in range(40)
        ]
        np.testing.assert_allclose(shares[t, 0], ones[:5], atol=1e-12)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("rounded", [False, True])
def test_the_steps_are_those_of_a_trace(name: str, rounded: bool) -> None:
    model = Rounded(network(name)) if rounded else network(name)
    seen, run = trace(model, ["abbab"], stacks=False), bench_run(model, "abbab").seen
    for array in ("symbols", "steps", "hidden", "actions", "pushed", "reading", "output", "rejected"):
        np.testing.assert_array_equal(getattr(run, array), getattr(seen, array), err_msg=array)
    with pytest.raises(UnknownSymbolError, match="symbol 'x' is not in the alphabet a b"):
        bench_run(model, "ax")


def test_green_marks_are_only_there_where_something_is_right() -> None:
    """The word of which three ticks said nothing: no word of the task."""
    checkpoint = load_network(ZOO / "stack-rnn-anbn.pt")
    found = shipped("stack-rnn-anbn")
    assert found is not None
    data = word_data(checkpoint.model, "aaabbbaabbbab", found.automaton, specification_of(checkpoint))
    assert sentence(data).startswith("Nothing here is right or wrong: this is no word of the task anbn; ")
    assert set(row(data, "predicted")["marks"]) == {"."}
    assert data["wrong"] == []
    assert "expected" not in [one["name"] for one in data["rows"]]


def test_the_sentence_says_where_a_network_is_first_wrong_and_from_where_the_automaton_parts() -> None:
    checkpoint = load_network(ZOO / "marnn-stack-rnn-dyck-2.pt")
    found = shipped("marnn-stack-rnn-dyck-2")
    assert found is not None
    specification = specification_of(checkpoint)
    word = "([])" * 30
    data = word_data(checkpoint.model, word, found.automaton, specification)
    expected = expected_of(specification, checkpoint.model, word).answers
    wrong = np.flatnonzero(outputs_on(checkpoint.model, [word])[0] != expected)
    assert data["wrong"] == [int(place) + 1 for place in wrong]
    first = int(wrong[0]) + 1
    assert f"right on {len(word) - len(wrong)} of 120 symbols; first wrong at step {first} (" in sentence(data).lower()
    assert f"the automaton agrees with the network up to step {first}, where it says" in sentence(data)
    assert [part["step"] for part in data["sentence"] if "step" in part] == [first, first]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("abcba", "Accepts the word, rightly: it is a member of palindrome; right on all 5 beginnings; the automaton"),
        ("abcb", "Rejects the word, rightly: it is no member of palindrome; right on all 4 beginnings; the automaton"),
        ("", "The empty word has no symbols to be right or wrong on."),
        ("b" * 110 + "c" + "b" * 110, "Rejects the word, wrongly: it is a member of palindrome; right on "),
    ],
)
def test_a_recogniser_is_right_or_wrong_about_the_word(word: str, says: str) -> None:
    checkpoint = load_network(ZOO / "nnpda-palindrome.pt")
    found = shipped("nnpda-palindrome")
    assert found is not None
    data = word_data(checkpoint.model, word, found.automaton, specification_of(checkpoint))
    assert sentence(data).startswith(says)


def test_a_word_that_leaves_the_language_says_where() -> None:
    checkpoint = load_network(ZOO / "marnn-stack-rnn-dyck-2.pt")
    data = word_data(checkpoint.model, "([)", None, specification_of(checkpoint))
    assert sentence(data) == (
        "Right on all 3 symbols; the word leaves dyck-2 at step 3 ()); "
        "no automaton has been read out of this network yet."
    )
    assert spelled(data, "predicted")[-1] == "rejects"


def test_a_difference_counts_only_where_both_say_something_and_the_task_means_the_step() -> None:
    model: Any = load_network(ZOO / "marnn-stack-rnn-dyck-2.pt").model
    one, other = np.array([1, UNSAID, 3, 4, 2]), np.array([1, 5, UNSAID, 5, 3])
    nothing, last = np.full(5, UNSAID), np.array([UNSAID] * 4 + [2])
    assert np.flatnonzero(differing_steps(model, one, other, nothing)).tolist() == [3, 4]
    assert np.flatnonzero(differing_steps(model, one, other, last)).tolist() == [4]
    assert not differing_steps(model, one, one, nothing).any()


FAILING = "()" + "[()]" * 12 + "()"  # the shortest word known on which the zoo's Stack-RNN fails at D2


def bench_of(name: str, word: str, automaton: Any = None) -> dict[str, Any]:
    checkpoint, found = load_network(ZOO / f"{name}.pt"), shipped(name)
    assert found is not None
    truth = truth_by_name(checkpoint, word)
    return word_data(checkpoint.model, word, automaton or found.automaton, specification_of(checkpoint), truth)


def test_network_and_automaton_are_each_marked_by_what_is_expected_and_where_they_differ_by_another_sign() -> None:
    data = bench_of("marnn-stack-rnn-dyck-2", FAILING)
    assert [row(data, name)["marks"][-1] for name in ("predicted", "automaton says")] == ["w", "r"]
    assert row(data, "automaton says")["differs"] == "." * 51 + "d"
    assert spelled(data, "predicted")[-1] == "{( [ ]}"
    assert "first wrong at step 52 ({( [ ]}, expected {( [}); the automaton agrees" in sentence(data)
    assert sentence(data).endswith("up to step 52, where it says {( [}, rightly.")


@pytest.mark.parametrize("name", ["nnpda-parentheses", "nnpda-palindrome", "stack-rnn-anbn", "marnn-stack-rnn-dyck-2"])
@pytest.mark.parametrize("cut", [0, 1])
def test_marks_are_what_the_cells_say_also_of_an_automaton_that_is_wrong(name: str, cut: int) -> None:
    found = shipped(name)
    assert found is not None
    assert found.automaton is not None
    rules = dict(list(found.automaton.transitions.items())[cut:])  # without its first rule it rejects too much
    data = bench_of(name, random_word(name, 3), replace(found.automaton, transitions=rules))
    by_id = {one["id"]: one for one in data["rows"] if "id" in one}
    parts = ("expected", "said", "automaton")
    want, said, told = ([by_id[part]["names"][at] for at in by_id[part]["at"]] for part in parts)
    for part, texts in (("said", said), ("automaton", told)):
        marks = ["." if "·" in pair else "wr"[pair[0] == pair[1]] for pair in zip(texts, want, strict=True)]
        assert by_id[part]["marks"] == "".join(marks)
    apart = ["." if "·" in (a, b, w) or a == b else "d" for a, b, w in zip(said, told, want, strict=True)]
    assert by_id["automaton"]["differs"] == "".join(apart)
    assert data["parts"] == ("".join(apart).find("d") + 1 or None)


def test_where_nothing_is_expected_nothing_is_right_or_wrong_but_parties_may_differ() -> None:
    model: Any = load_network(ZOO / "nnpda-parentheses.pt").model
    data = word_data(model, "(())", replace(LANGUAGE, acceptance="final state", accepting=frozenset(LANGUAGE.states)))
    assert {row(data, name)["marks"] for name in ("accepts so far", "automaton says")} == {"...."}
    assert set(row(data, "automaton says")["differs"]) == {".", "d"}


@pytest.mark.parametrize("name", network_names())
@pytest.mark.parametrize("raw", [False, True])
def test_labels_stand_for_every_rule_once_and_are_few(name: str, raw: bool) -> None:
    found = shipped(name)
    assert found is not None
    pda = found.raw if raw else found.automaton
    assert pda is not None
    edges = edges_of(pda)
    assert sorted(number for edge in edges for _, numbers in edge.lines for number in numbers) == list(
        range(len(pda.transitions))
    )
    for edge in edges:
        assert len(edge.lines) <= (MOST_LINES if len(edges) > 1 else 14)
        assert len({line for line, _ in edge.lines}) == len(edge.lines)


def test_any_is_every_top_that_can_lie_there_and_punctuation_is_quoted() -> None:
    found = shipped("nnpda-parentheses")
    assert found is not None
    assert found.automaton is not None
    (edge,) = edges_of(found.automaton)
    assert [line for line, _ in edge.lines] == ['"(", any → push "("', '")", "(" → pop']
    partial = PushdownAutomaton(("q",), ("a", "b"), ("x", "y"), dict(list(_steps().items())), "q", frozenset({"q"}))
    (edge,) = edges_of(partial)
    assert [line for line, _ in edge.lines] == ["a, any → push x", "b, not ⊥ → pop"]


def _steps() -> dict[Any, Any]:
    from stacklens.automata.pda import POP, Transition, push

    steps: dict[Any, Any] = {("q", "a", (top,)): Transition("q", (push("x"),)) for top in ("⊥", "x", "y")}
    steps |= {("q", "b", (top,)): Transition("q", (POP,)) for top in ("x", "y")}
    return steps
