"""Runs of many words, of all words, counts, and steps that read nothing."""

import pickle
from dataclasses import replace
from itertools import islice, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.automata.strategies import dyck, palindromes, pushdown_automata
from tests.automata.test_equality_and_size import automaton
from tests.extract.hand_built import hand_machines
from tests.refusals import refused

import stacklens.automata.enumeration as enumeration
from stacklens.automata import summaries
from stacklens.automata.compare import Different, Undecided, compare, is_empty
from stacklens.automata.counting import count_words
from stacklens.automata.enumeration import accepts_all, count_all, encode_words, outputs_all, word_at
from stacklens.automata.formats.dot import formal_definition, to_dot, transition_lines
from stacklens.automata.formats.libraries import to_aalpy, to_networkx
from stacklens.automata.pda import EPSILON, NONE, POP, Configuration, Key, PushdownAutomaton, Transition, push
from stacklens.automata.pda import replace as replace_by
from stacklens.automata.rewriting import without_epsilon
from stacklens.automata.runs import ManyRuns, RunTables, accepts_many, first_rejection, transduce_many, written_many
from stacklens.automata.summaries import reachable_heads
from stacklens.core.errors import AutomatonError, UnknownSymbolError

# ---- Runs of many words at once, of all words, and counts; `tests/attack` holds them against brute force, too. ----


def test_deep_and_long_words_among_short_ones() -> None:
    pda = dyck([("(", ")")])
    deep = "(" * 5_000 + ")" * 5_000
    words = ["", deep, "()", deep[1:], deep[:-1], "(" * 40 + ")" * 40, deep[:5_000] + ")(" * 2_500 + deep[5_000:]]
    assert accepts_many(pda, words).tolist() == [True, True, True, False, False, True, True]
    assert accepts_many(pda, ["(", ""]).tolist() == [False, True]  # the one cell filled of all is the first
    assert first_rejection(pda, words).tolist() == [-1, -1, -1, 9_998, -1, -1, -1]


def test_unknown_symbols_and_bad_arrays_are_refused() -> None:
    pda = palindromes()
    refused("symbol 'x' is not in the alphabet a b c", accepts_many, pda, ["aca", "axa"], error=UnknownSymbolError)
    refused("'number 3' is not in the alphabet", accepts_many, pda, np.array([[0, 3]]), error=UnknownSymbolError)
    refused("padded with -1, on the right only", accepts_many, pda, np.array([[0, -1, 1]]), error=AutomatonError)
    refused("padded with -1", accepts_many, pda, np.array([[0, -2]]), error=AutomatonError)
    refused(r"of shape \(2,\), expected integers \(N, T\)", accepts_many, pda, np.array([0, 1]), error=AutomatonError)
    refused("encoded words are float64", accepts_many, pda, np.zeros((1, 2)), error=AutomatonError)


@pytest.mark.parametrize("alphabet", [("a", "b", "é"), ("'", '"', "\\"), ("⊥", "𝔸", "\ud800"), ("<s>", "a", "'a'")])
@given(data=st.data())
def test_words_survive_encoding(alphabet: tuple[str, ...], data: st.DataObject) -> None:
    words = data.draw(st.lists(st.lists(st.sampled_from(alphabet)).map(tuple)))
    codes, lengths = encode_words(words, alphabet)
    assert lengths.tolist() == [len(word) for word in words]
    assert codes.shape == (len(words), max(map(len, words), default=0))
    assert [tuple(alphabet[code] for code in row if code >= 0) for row in codes] == words


def plain(pda: PushdownAutomaton, here: Configuration, word: str) -> tuple[Configuration | None, bool]:
    """Return where a run from ``here`` ends, None where it is cut, and whether that is at a head nobody reaches."""
    heads = reachable_heads(pda)
    for symbol in word:
        after = pda.step(here, symbol)
        if after is None:
            return None, (here.state, here.tops(pda.bottom)) not in heads
        here = after
    return here, False


@settings(max_examples=60)
@given(
    machine=hand_machines(["push", "pop", "none", "replace"], ["recognition", "next symbol"]),
    words=st.lists(st.text("ab", max_size=7), min_size=1, max_size=4),
    place=st.integers(0, 2),
    data=st.data(),
)
def test_runs_from_changed_configurations_are_those_of_the_automaton_itself(
    machine: object, words: list[str], place: int, data: st.DataObject
) -> None:
    pda = machine.automaton()  # type: ignore[attr-defined]
    prefix = data.draw(st.text("ab", max_size=6))
    runs, own = ManyRuns.start(RunTables.of(pda), len(words)), pda.start
    for symbol in prefix:
        after = pda.step(own, symbol)
        if after is None:
            return
        runs, own = runs.step(np.full(len(words), pda.input_alphabet.index(symbol))), after
    assert runs.heights().tolist() == [[len(own.stacks[0])]] * len(words)
    state = data.draw(st.sampled_from(pda.states))
    stack = list(own.stacks[0])
    if place < len(stack):
        laid = data.draw(st.integers(1, len(pda.stack_alphabet)))
        known = pda.stack_alphabet.index(stack[-1 - place]) + 1
        assert (runs.symbol_at(0, np.full(len(words), place)) == known).all()
        runs = runs.with_symbol(0, np.full(len(words), place), np.full(len(words), laid))
        stack[-1 - place] = pda.stack_alphabet[laid - 1]
    numbers = np.full(len(words), pda.states.index(state), np.int32)
    runs = runs.put(np.ones(len(words), bool), ManyRuns(runs.of, numbers, runs.node, *_rest(runs)))
    for t in range(max(map(len, words))):
        runs = runs.step(np.array([pda.input_alphabet.index(word[t]) if t < len(word) else -1 for word in words]))
    for row, word in enumerate(words):
        end, unknown = plain(pda, Configuration(state, (tuple(stack),)), word)
        assert (bool(runs.over[row]), bool(runs.undefined[row])) == (end is None, unknown)
        if end is not None:
            assert pda.states[runs.state[row]] == end.state
            assert runs.heights()[row, 0] == len(end.stacks[0])
            assert bool(runs.accepted()[row]) == pda.accepts_configuration(end)


def _rest(runs: ManyRuns) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return runs.output, runs.rejected, runs.undefined


@given(pda=pushdown_automata(), length=st.integers(0, 3))
def test_what_comes_after_a_prefix_is_a_part_of_all_words(pda: PushdownAutomaton, length: int) -> None:
    k = len(pda.input_alphabet)
    for enumerate_all in (accepts_all, outputs_all):
        every = [level.reshape(k**length, -1) for level in islice(enumerate_all(pda, 5), length, None)]
        for number in range(k**length):
            parts = list(enumerate_all(pda, 5 - length, word_at(number, length, pda.input_alphabet)))
            assert [part.tolist() for part in parts] == [level[number].tolist() for level in every]


@given(pda=pushdown_automata(), chunk=st.integers(1, 5))
def test_chunks_make_no_difference(pda: PushdownAutomaton, chunk: int) -> None:
    expected = [accepted.tolist() for accepted in accepts_all(pda, 5)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "_CHUNK", chunk)
        assert [accepted.tolist() for accepted in accepts_all(pda, 5)] == expected


@given(length=st.integers(0, 4), k=st.integers(1, 3))
def test_an_index_is_the_place_in_lexicographic_order(length: int, k: int) -> None:
    alphabet = ("a", "'", "bc")[:k]
    words = list(product(alphabet, repeat=length))
    assert [word_at(i, length, alphabet) for i in range(len(words))] == words
    assert count_all(k, length) == sum(len(list(product(alphabet, repeat=n))) for n in range(length + 1))
    for outside in (-1, len(words)):
        with pytest.raises(IndexError, match=f"there are {len(words)} words of length {length}"):
            word_at(outside, length, alphabet)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_nested_brackets_are_counted_by_catalan_numbers(k: int) -> None:
    pda = dyck([(f"<{i}>", f"</{i}>") for i in range(k)])
    assert count_words(pda, 60)[::2] == [comb(2 * n, n) // (n + 1) * k**n for n in range(31)]


def test_a_way_that_is_found_later_may_be_shorter() -> None:
    """Three letters, a push, two letters and a pop are put together before as many as five without one are read."""
    long = "0 a ⊥ > 1 none \n 1 a ⊥ > 2 none \n 2 a ⊥ > 3 none \n 3 a ⊥ > 4 push x \n 4 a x > 5 none \n"
    short = "0 b ⊥ > s none \n s b ⊥ > t none \n t b ⊥ > u none \n u b ⊥ > v none \n v b ⊥ > 7 none"
    pda = automaton(f"{long} 5 a x > 6 none \n 6 a x > 7 pop \n {short}", "7", acceptance="final state")
    found = compare(pda, PushdownAutomaton(("q",), ("a", "b"), (), {}, "q"))
    assert found == Different(tuple("bbbbb"), "only the first accepts it")


def counter(bits: int) -> PushdownAutomaton:
    """Return an automaton whose only word has over 2^bits symbols: at each level it goes through the next twice."""
    rules: dict[Key, Transition] = {("go", "a", ("⊥",)): Transition("go", (push("1.0"),))}
    for level, half in product(range(bits), "12"):
        cell = f"{half}.{level}"
        following = Transition("go", (push(f"1.{level + 1}"),)) if level + 1 < bits else Transition("back", (NONE,))
        rules["go", "a", (cell,)] = following
        rules["back", "a", (cell,)] = Transition(
            *(("go", (replace_by(f"2.{level}"),)) if half == "1" else ("back", (POP,)))
        )
    rules["back", "a", ("⊥",)] = Transition("end", (NONE,))
    cells = tuple(dict.fromkeys(key[2][0] for key in rules if key[2] != ("⊥",)))
    return PushdownAutomaton(("go", "back", "end"), ("a",), cells, rules, "go", frozenset({"end"}), "final state")


def test_exponentially_long_members_are_found_but_not_written_out() -> None:
    nothing = PushdownAutomaton(("q",), ("a",), (), {}, "q")
    assert compare(counter(10), nothing) == Different(("a",) * (2**12 - 2), "only the first accepts it")
    assert counter(10).accepts(("a",) * (2**12 - 2))
    assert not is_empty(counter(200))
    refused(f"the {summaries.LONGEST_RUN:,} written out", compare, counter(200), nothing, error=AutomatonError)


# ---- ε-steps: what is refused, where runs rest, and what algorithms make of them; `tests/attack` has random automata.

# reads a word over a and b, then, after the end, pops and writes it in reverse
REVERSER = PushdownAutomaton(
    states=("read", "write"),
    input_alphabet=("a", "b"),
    stack_alphabet=("A", "B"),
    transitions={
        **{("read", x, (top,)): Transition("read", (push(x.upper()),)) for x in "ab" for top in ("⊥", "A", "B")},
        **{("read", "⊣", (top,)): Transition("write", (NONE,)) for top in ("⊥", "A", "B")},
        **{("write", EPSILON, (x.upper(),)): Transition("write", (POP,), x) for x in "ab"},
    },
    initial="read",
    accepting=frozenset({"write"}),
    end_marker="⊣",
)
ONE = PushdownAutomaton(
    ("p", "q"), ("a",), ("x",), {("p", "a", ("⊥",)): Transition("q", (NONE,))}, "p", frozenset({"q"})
)


def test_a_word_is_read_and_then_written_in_reverse() -> None:
    assert [REVERSER.written(word) for word in ("", "aab")] == [[], ["b", "a", "a"]]
    assert written_many(REVERSER, ["", "aab", "ba"]).tolist() == [[-1, -1, -1], [2, 1, 1], [1, 2, -1]]
    assert [key[1] for key in REVERSER.taken("ab")] == ["a", "b", "⊣", "", ""]
    assert REVERSER.transduce("a") == [None, None, "a"]
    assert REVERSER.accepts("abba")
    assert REVERSER.rest(REVERSER.start) == REVERSER.start
    assert not REVERSER.real_time
    assert ONE.real_time
    assert pickle.loads(pickle.dumps(REVERSER)) == REVERSER


def test_a_run_rests_before_anything_is_read_and_accepts_where_it_rests() -> None:
    steps: dict[Key, Transition] = {
        ("p", EPSILON, ("⊥",)): Transition("q", (push("x"),)),
        ("q", EPSILON, ("x",)): Transition("r", (POP,)),
    }
    pda = PushdownAutomaton(("p", "q", "r"), ("a",), ("x",), steps, "p", frozenset({"q"}), "final state")
    assert not pda.accepts("")  # q is passed on the way
    assert replace(pda, accepting=frozenset({"r"})).accepts("")
    refused("", pda.step, pda.start, "b", error=UnknownSymbolError)
    refused("", ONE.step, ONE.start, EPSILON, error=UnknownSymbolError)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({("p", "", ("⊥",)): Transition("p", (NONE,))}, "ε-steps never end that begin in state p with ⊥ on top"),
        ({("p", "", ("x",)): Transition("p", (push("x"),))}, "ε-steps never end that begin in state p with x on top"),
        (
            {("p", "", ("⊥",)): Transition("q", (push("x"),)), ("q", "", ("x",)): Transition("p", (POP,))},
            "ε-steps never end that begin in state . with",
        ),
        (
            {("p", "", ("⊥",)): Transition("q", (NONE,)), ("p", "a", ("⊥",)): Transition("q", (NONE,))},
            "not deterministic: in state p with ⊥ on top there is an ε-step, and one that reads a",
        ),
        ({("p", "", ("⊥",)): Transition("p", (POP,))}, r"transition \(p, ε, ⊥\): an empty stack cannot be popped"),
    ],
)
def test_bad_steps_are_refused_in_one_line(steps: dict[Key, Transition], message: str) -> None:
    refused(message, replace, ONE, transitions=steps, error=AutomatonError)


def test_formats_know_them_and_what_needs_a_letter_read_in_every_step_says_so() -> None:
    assert "ε, A → pop / a" in to_dot(REVERSER)
    assert "write  ε" in "\n".join(transition_lines(REVERSER))
    assert "deterministic, with ε-steps" in formal_definition(REVERSER)
    assert "ε, A → pop / a" in {edge["label"] for _, _, edge in to_networkx(REVERSER).edges(data=True)}
    silent = {**ONE.transitions, ("q", "", ("⊥",)): Transition("p", (push("x"),))}
    refused("AALpy's Vpa needs a letter read", to_aalpy, replace(ONE, transitions=silent), error=AutomatonError)
    refused("Running on from any configuration needs a letter", RunTables.of, REVERSER, error=AutomatonError)
    refused("One output for each letter needs a letter", transduce_many, REVERSER, ["a"], error=AutomatonError)


def test_algorithms_put_them_into_other_steps_or_say_why_not() -> None:
    steps: dict[Key, Transition] = {
        ("p", "a", ("⊥",)): Transition("q", (push("x"),)),
        ("q", "", ("x",)): Transition("r", (POP,)),
    }
    pda = PushdownAutomaton(("p", "q", "r"), ("a",), ("x",), steps, "p", frozenset({"r"}))
    assert without_epsilon(pda).transitions == {("p", "a", ("⊥",)): Transition("r", (NONE,))}
    again = {("q", "", ("x",)): Transition("s", (push("x"),)), ("s", "", ("x",)): Transition("r", (POP,))}
    above = replace(pda, states=("p", "q", "r", "s"), transitions=steps | again)
    assert without_epsilon(above).transitions == {("p", "a", ("⊥",)): Transition("r", (push("x"),))}
    found = compare(REVERSER, REVERSER)
    assert isinstance(found, Undecided)
    assert found.reason.startswith("equality needs a letter read in every step, and ε-steps stay: the step from read")
