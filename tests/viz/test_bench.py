"""One word on the bench: what is said, expected and done at every step, against independent ways to say it."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from flask.testing import FlaskClient
from hypothesis import example, given
from hypothesis import strategies as st
from tests.automata.strategies import dyck
from tests.refusals import refused
from tests.viz.networks import NETWORKS, REPRESENTATIVES, network
from tests.viz.page_client import asked

import stacklens as sl
from stacklens.automata.pda import POP, Key, PushdownAutomaton, Transition, push
from stacklens.core.errors import UnknownSymbolError
from stacklens.extract.by_name import specification_of
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.models.inference import outputs_on, verdicts_on
from stacklens.models.rounding import Rounded
from stacklens.probe.intervene import intervene
from stacklens.probe.trace import trace
from stacklens.viz.bench.change import Change, changeable, changed_network, changed_word
from stacklens.viz.bench.drawing import MOST_LINES, edges_of
from stacklens.viz.bench.run import UNSAID, answers_of, automaton_says, bench_run, expected_of, run_automaton, run_data
from stacklens.viz.bench.word import differing_steps, word_data
from stacklens.viz.dashboard.extractions import shipped
from stacklens.viz.dashboard.networks import network_names, random_word, truth_by_name
from stacklens.viz.dashboard.panels import known_specification
from stacklens.viz.operations import filled_shares, operation_names, pieces_of

LANGUAGE = dyck([("(", ")")])
DYCK = "marnn-stack-rnn-dyck-2-drifting"
FAILING = "()" + "[()]" * 12 + "()"  # the shortest word known on which the zoo's Stack-RNN fails at D2


def row(data: dict[str, Any], name: str) -> Any:
    (found,) = [one for one in data["rows"] if one["name"] == name]
    return found


def bench_of(name: str, word: str, automaton: Any = None) -> dict[str, Any]:
    checkpoint, found = load_network(ZOO / f"{name}.pt"), shipped(name)
    truth = truth_by_name(checkpoint, word)
    return word_data(checkpoint.model, word, automaton or found.automaton, specification_of(checkpoint), truth)


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
            assert len(one.get("at", one.get("values", one.get("read")))) in (steps, len(word)), one["name"]


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
    run = run_automaton(LANGUAGE, word)
    configurations = list(LANGUAGE.run(word))[1:]
    assert [LANGUAGE.states[one.state] for one in run.letters] == [one.state for one in configurations]
    assert [one.heights[0] for one in run.letters] == [len(one.stacks[0]) for one in configurations]
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


@example([])  # a word of no steps
@given(st.lists(st.floats(0, 1), max_size=12))
def test_shares_of_a_soft_stack_are_what_a_stack_of_ones_would_hold(pushes: list[float]) -> None:
    model = network("stack-rnn")
    actions = np.array([[[push, 1 - push, 0.0]] * model.n_stacks for push in pushes])
    shares = filled_shares(model, actions.reshape(-1, model.n_stacks, 3), 5)
    assert shares.shape == (len(pushes), model.n_stacks, 5)
    ones = np.zeros(40)  # a stack of ones over zeros, one symbol after another
    for t, share in enumerate(pushes):
        ones = share * np.append(1.0, ones[:-1]) + (1 - share) * np.append(ones[1:], 0.0)
        np.testing.assert_allclose(shares[t, 0], ones[:5], atol=1e-12)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("rounded", [False, True])
def test_the_steps_are_those_of_a_trace(name: str, rounded: bool) -> None:
    model = Rounded(network(name)) if rounded else network(name)
    seen, run = trace(model, ["abbab"], stacks=False), bench_run(model, "abbab").seen
    for array in ("symbols", "steps", "hidden", "actions", "pushed", "reading", "output", "rejected"):
        np.testing.assert_array_equal(getattr(run, array), getattr(seen, array), err_msg=array)
    refused("symbol 'x' is not in the alphabet a b", bench_run, model, "ax", error=UnknownSymbolError)


def test_green_marks_are_only_there_where_something_is_right() -> None:
    """The word of which three ticks said nothing: no word of the task."""
    data = bench_of("stack-rnn-anbn", "aaabbbaabbbab")
    assert sentence(data).startswith("Nothing here is right or wrong: this is no word of the task anbn; ")
    assert set(row(data, "predicted")["marks"]) == {"."}
    assert data["wrong"] == []
    assert "expected" not in [one["name"] for one in data["rows"]]


def test_the_sentence_says_where_a_network_is_first_wrong_and_from_where_the_automaton_parts() -> None:
    checkpoint, word = load_network(ZOO / f"{DYCK}.pt"), FAILING
    data = bench_of(DYCK, word)
    assert [row(data, name)["marks"][-1] for name in ("predicted", "automaton says")] == ["w", "r"]
    assert row(data, "automaton says")["differs"] == "." * 51 + "d"
    expected = expected_of(specification_of(checkpoint), checkpoint.model, word).answers
    wrong = np.flatnonzero(outputs_on(checkpoint.model, [word])[0] != expected)
    assert data["wrong"] == [int(place) + 1 for place in wrong]
    first = int(wrong[0]) + 1
    assert f"right on {len(word) - len(wrong)} of 52 symbols; first wrong at step {first} (" in sentence(data).lower()
    assert "({( [ ]}, expected {( [}); the automaton agrees with the network" in sentence(data)
    assert sentence(data).endswith(f"up to step {first}, where it says {{( [}}, rightly.")
    assert [part["step"] for part in data["sentence"] if "step" in part] == [first, first]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("abcba", "Accepts the word, rightly: it is a member of palindrome; right on all 5 beginnings; the automaton"),
        ("abcb", "Rejects the word, rightly: it is no member of palindrome; right on all 4 beginnings; the automaton"),
        ("", "Rejects the empty word, rightly: it is no member of palindrome; the automaton rejects it."),
        ("b" * 110 + "c" + "b" * 110, "Rejects the word, wrongly: it is a member of palindrome; right on "),
    ],
)
def test_a_recogniser_is_right_or_wrong_about_the_word(word: str, says: str) -> None:
    assert sentence(bench_of("nnpda-palindrome", word)).startswith(says)


def test_a_word_that_leaves_the_language_says_where() -> None:
    checkpoint = load_network(ZOO / f"{DYCK}.pt")
    data = word_data(checkpoint.model, "([)", None, specification_of(checkpoint))
    assert sentence(data) == (
        "Right on all 3 symbols; the word leaves dyck-2 at step 3 ()); "
        "no automaton has been read out of this network yet."
    )
    predicted = row(data, "predicted")
    assert predicted["names"][predicted["at"][-1]] == "rejects"


def test_a_difference_counts_only_where_both_say_something_and_the_task_means_the_step() -> None:
    model: Any = load_network(ZOO / f"{DYCK}.pt").model
    one, other = np.array([1, UNSAID, 3, 4, 2]), np.array([1, 5, UNSAID, 5, 3])
    nothing, last = np.full(5, UNSAID), np.array([UNSAID] * 4 + [2])
    assert np.flatnonzero(differing_steps(model, one, other, nothing)).tolist() == [3, 4]
    assert np.flatnonzero(differing_steps(model, one, other, last)).tolist() == [4]
    assert not differing_steps(model, one, one, nothing).any()


@pytest.mark.parametrize("name", ["nnpda-parentheses", "nnpda-palindrome", "stack-rnn-anbn", "marnn-stack-rnn-dyck-2"])
@pytest.mark.parametrize("cut", [0, 1])
def test_marks_are_what_the_cells_say_also_of_an_automaton_that_is_wrong(name: str, cut: int) -> None:
    found = shipped(name)
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
    pda = found.raw if raw else found.automaton
    edges = edges_of(pda)
    assert sorted(number for edge in edges for _, numbers in edge.lines for number in numbers) == list(
        range(len(pda.transitions))
    )
    for edge in edges:
        assert len(edge.lines) <= (MOST_LINES if len(edges) > 1 else 14)
        assert len({line for line, _ in edge.lines}) == len(edge.lines)


def test_any_is_every_top_that_can_lie_there_and_punctuation_is_quoted() -> None:
    found = shipped("nnpda-parentheses")
    (edge,) = edges_of(found.automaton)
    assert [line for line, _ in edge.lines] == ['"(", any → push "("', '")", "(" → pop']
    steps: dict[Key, Transition] = {("q", "a", (top,)): Transition("q", (push("x"),)) for top in ("⊥", "x", "y")}
    steps |= {("q", "b", (top,)): Transition("q", (POP,)) for top in ("x", "y")}
    partial = PushdownAutomaton(("q",), ("a", "b"), ("x", "y"), steps, "q", frozenset({"q"}))
    (edge,) = edges_of(partial)
    assert [line for line, _ in edge.lines] == ["a, any → push x", "b, not ⊥ → pop"]


STEPWISE = [name for name in NETWORKS if name not in ("buffered-neural-stack", "linear")]
LENGTHS = ["nnpda", "neural-stack"]


def drawn_change(model: Any, steps: int, rng: np.random.Generator) -> Change:
    """Return any change that a network of this kind may allow."""
    numbers = {one["part"]: one["numbers"] for one in changeable(model)["parts"]}
    name = str(rng.choice([part for part in numbers if part != "height"]))
    drawn = rng.random(numbers[name])
    shares = name == "actions" and model.action_kind == "softmax"
    value = tuple((drawn / drawn.sum() if shares else drawn).round(3).tolist())
    at = int(rng.integers(steps))
    if name in ("hidden", "unit"):
        unit = int(rng.integers(numbers["hidden"])) if name == "unit" else None
        return Change(at, "hidden", "source" if rng.random() < 0.3 else value, None, 0, unit, ("a", "b"), 1)
    stack, cell = int(rng.integers(model.n_stacks)), int(rng.integers(3)) if name == "cells" else 0
    return Change(at, name, "zero" if rng.random() < 0.3 else value, stack, cell)


def traced(model: Any, word: str, change: Change, rounded: bool) -> Any:
    said = change.arguments()
    if "from_word" in said:
        said["from_word"] = [said["from_word"]]
    return intervene(model, (tuple(word),), **said, rounded=rounded)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", STEPWISE)
def test_the_changed_run_is_that_of_intervene(name: str, rounded: bool) -> None:
    rng, model = np.random.default_rng(7), network(name)
    runner = Rounded(model) if rounded else model
    for word in ("a", "ab", "abba", "bbaabab"):
        for _ in range(6):
            change = drawn_change(model, len(word) + (model.end is not None), rng)
            run = bench_run(changed_network(runner, tuple(word), change), word)
            seen = traced(model, word, change, rounded)
            for part in ("actions", "pushed", "output", "hidden", "rejected", "reading"):
                assert np.array_equal(getattr(run.seen, part), getattr(seen, part)), (part, change)
            if run.cells is not None and seen.cells is not None:
                size = min(run.cells.shape[2], seen.cells.shape[3])
                assert np.array_equal(run.cells[:, :, :size], seen.cells[0, :, :, :size]), change
            if model.task_kind == "recognition":
                assert answers_of(run)[-1] == seen.verdicts[0], change
            json.dumps(changed_word(runner, word, change), allow_nan=False)


@pytest.mark.parametrize("rounded", [False, True])
def test_what_a_recogniser_would_say_of_a_word_that_ends_before_the_change_stays(rounded: bool) -> None:
    model = network("nnpda")  # it reads an end symbol
    runner = Rounded(model) if rounded else model
    for at in range(6):
        change = Change(at, "actions", (1.0,), stack=0)
        said, other = (
            answers_of(bench_run(one, "abbab")) for one in (runner, changed_network(runner, "abbab", change))
        )
        assert said[:at].tolist() == other[:at].tolist()
        for end in range(at + 1, 5):  # those after it are of words with the same change
            assert other[end - 1] == traced(model, "abbab"[:end], change, rounded).verdicts[0]


@pytest.mark.parametrize("name", LENGTHS)
def test_the_pieces_of_a_changed_stack_are_those_that_the_network_has(name: str) -> None:
    rng, model, word = np.random.default_rng(3), network(name, seed=5), tuple("abbabaab")
    cut = 0
    for _ in range(40):
        at, part = int(rng.integers(8)), str(rng.choice(["cells", "height", "actions"]))
        size = {"cells": model.cell_size, "height": 1, "actions": 1 if name == "nnpda" else 2}[part]
        value = (0.0,) if part == "height" else tuple(rng.random(size).tolist())
        change = Change(at, part, value, 0, int(rng.integers(3)))
        changed = changed_network(model, word, change)
        run = bench_run(changed, word)
        found = pieces_of(changed, run.seen)
        for step, held in enumerate(stacks_held(changed_network(model, word, change), word)):
            there = sorted((one.bottom, one.top) for one in found if one.first <= step <= one.last)
            assert np.allclose(there, held, atol=1e-6), (change, step)
            cut += len(held)
    assert cut > 100


def stacks_held(model: Any, word: tuple[str, ...]) -> list[list[tuple[float, float]]]:
    """Return the intervals that a network's own stack has after every step, with the change before the next one."""
    state, held = model.entered(model.initial_state(1), 0), []
    for step, letter in enumerate([*word, *([model.end] if model.end else [])]):
        state = model.step(torch.tensor([model.letters.index(letter)]), state).state
        state = model.entered(state, step + 1)
        ends = zip(state.stack.bottoms[0].tolist(), state.stack.tops[0].tolist(), strict=True)
        held.append(sorted((bottom, top) for bottom, top in ends if top > bottom))
    return held


@pytest.mark.parametrize(
    ("name", "word", "change", "said"),
    [
        (DYCK, "([])", Change(1, "actions", (0.0, 1.0), 0), "With pop in place of push in step 2, it says something "
         "else after 1 of 3 symbols, first at step 4 ({( ) [}, was {( [}); 1 that was right is wrong."),
        (DYCK, "([])", Change(2, "cells", (0.9,), 0), "With s1 (0.9) in place of 0.0221 on top before step 3, it says "
         "something else after 2 of 2 symbols, first at step 3 ({( [ ]}, was {( ) [}); 2 that were right are wrong."),
        (DYCK, "([])", Change(2, "hidden", "zero"), "With the hidden vector at zero before step 3, it says something"),
        (DYCK, "([])", Change(2, "hidden", "source", None, 0, None, ("(", "("), 2), "With the hidden vector after 2 of "
         "the 2 symbols of ε before step 3, nothing that it says or does changes."),
        ("nnpda-palindrome", "abcba", Change(1, "actions", (-1.0,), 0), "it now rejects the word."),
        ("nnpda-palindrome", "abcba", Change(1, "actions", (1.0,), 0), "With push in step 2, nothing that it says or"),
        ("nnpda-palindrome", "abcbb", Change(1, "actions", (-1.0,), 0), "it still rejects the word."),
        ("stack-rnn-anbn", "aab", Change(2, "hidden", (0.0,), unit=3), "in hidden unit 4 before step 3"),
    ],
)  # fmt: skip
def test_the_sentence_says_what_has_changed(name: str, word: str, change: Change, said: str) -> None:
    model: Any = load_network(ZOO / f"{name}.pt").model
    assert said in sentence(changed_word(model, word, change, known_specification(name), names={(0.9,): "s1"}))


@pytest.mark.parametrize("rounded", [False, True])
def test_the_first_difference_and_the_errors_are_those_of_the_two_runs(rounded: bool) -> None:
    specification: Any = known_specification(DYCK)
    model: Any = load_network(ZOO / f"{DYCK}.pt").model
    runner, word = Rounded(model) if rounded else model, "([()])[]"
    expected = specification.answers(model, [word])[0][: len(word)]
    seen = 0
    for at in range(len(word)):
        change = Change(at, "cells", (0.9,), 0)
        found = changed_word(runner, word, change, specification)
        runs = [sl.trace(model, word, rounded=rounded), traced(model, word, change, rounded)]
        said = [np.where(run.rejected[0], -1, model.output_numbers(torch.from_numpy(run.output[0]))) for run in runs]
        does = [operation_names(model, run) for run in runs]
        apart = [t + 1 for t in range(len(word)) if said[0][t] != said[1][t] or does[0][t] != does[1][t]]
        assert found["first"] == (apart[0] if apart else None)
        assert found["wrong"] == [t + 1 for t in range(len(word)) if said[1][t] != expected[t]]
        assert found["changed"] == at + 1
        seen += bool(apart)
    assert seen > 2


@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_every_kind_of_network_says_what_can_be_changed(name: str, client: FlaskClient) -> None:
    if name.startswith("buffered"):
        assert "reads from a queue" in asked(client, "changeable", 400, network=name)["problem"]
        return
    word = asked(client, "other-word", network=name, seed=1)["word"]
    for part in asked(client, "changeable", network=name)["parts"]:
        if part["part"] in ("actions", "pushed", "cells"):
            assert part["choices"], part["part"]
            for choice in part["choices"]:
                given = {"set": part["part"], "to": choice["to"], "stack": 1}
                assert asked(client, "change", network=name, word=word, change=2, **given)["changed"] == 2


def test_the_page_shows_the_numbers_of_intervene(client: FlaskClient) -> None:
    given: dict[str, Any] = {"set": "cells", "to": "0.9", "stack": 1, "cell": 1, "rounded": 1}
    found = asked(client, "change", network=DYCK, word="([()])", change=3, **given)
    seen = sl.intervene(DYCK, "([()])", at=2, set={"cells": 0.9}, cell=0, stack=0, rounded=True)
    rows = {row["name"]: row.get("values") for row in found["rows"]}
    assert rows["stack top"] == seen.cells[0, :, 0, 0, 0].round(3).tolist()
    assert rows["push"] == seen.actions[0, :, 0, 0].round(3).tolist()
    scope: dict[str, Any] = {}
    exec(found["python"].replace("sl.intervene", "seen = sl.intervene"), scope)
    assert scope["seen"] == seen


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"change": 0}, "there is no step 0 to change: the word has 4."),
        ({"change": 5}, "there is no step 5 to change: the word has 4."),
        ({"change": "x"}, 'change is "x"; expected a whole number from 0.'),
        ({"set": "mind"}, "expected one of hidden, actions, pushed, cells, height."),
        ({"to": "s9"}, "what is put there is 's9'; expected numbers from -1e+30 to 1e+30, or zero, mean, "),
        ({"to": "nan"}, "what is put there is 'nan'"),
        ({"to": "1 1e308"}, "what is put there is '1 1e308'"),
        ({"to": "1 " * 9_000}, "cannot be set to numbers of shape"),
        ({"to": "1 2 3"}, "actions cannot be set to numbers of shape (3,)"),
        ({"stack": 2}, "there is no stack 1"),
        ({"stack": 0}, "stack is 0; expected a number from 1"),
        ({"set": "hidden", "to": "0", "unit": 99}, "there are no units"),
        ({"set": "cells", "to": "1", "cell": 10**8}, "cell is 100000000; expected a number from 1 to 10,000."),
        ({"set": "height", "to": "1"}, "soft actions leave the stack of a marnn-stack-rnn without a height"),
        ({"set": "height", "to": "9", "rounded": 1}, "height cannot be set to 9: the stack is 1 high"),
        ({"set": "hidden", "to": "source", "from": "x"}, "symbol 'x' is not in the alphabet"),
        ({"set": "hidden", "to": "source", "from": "((", "after": 3}, "nothing can be taken after 3 symbols of (("),
        ({"to": "source", "from": "", "after": 0}, "nothing can be taken after 0 symbols of ε"),
        ({"network": "buffered-neural-stack-reversal", "word": "01", "change": 1}, "reads from a queue when it likes"),
    ],
)
def test_what_cannot_be_changed_is_one_line(given: dict[str, Any], said: str, client: FlaskClient) -> None:
    usual = {"network": DYCK, "word": "([])", "change": 2, "set": "actions", "to": "0 1", "stack": 1}
    found = asked(client, "change", 400, **{**usual, **given})["problem"]
    assert said in found
    assert "\n" not in found
    assert len(found) < 300


def test_a_number_with_two_digits_is_rounded_once() -> None:
    seen = sl.trace(DYCK, FAILING, stacks=True)
    rows = {row["name"]: row for row in bench_of(DYCK, FAILING)["rows"]}
    for row, values in (("stack top", seen.cells[0, :, 0, 0, 0]), ("p())", seen.output[0, :, 1])):
        assert [f"{one:.2f}" for one in rows[row]["values"]] == [f"{one:.2f}" for one in values]
