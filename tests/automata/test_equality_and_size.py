"""Equality is decided, and automata made smaller, against brute force."""

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attack.attack_automata import held_against_all_words, separates
from tests.attack.awkward_automata import changed, random_automaton, random_domain
from tests.automata.brute_force import accepted, heads_seen, outputs_seen, words
from tests.automata.strategies import containing, dyck, palindromes, pushdown_automata
from tests.refusals import refused

from stacklens.automata import minimize as minimize_module
from stacklens.automata.compare import Different, Equal, Outputs, Undecided, compare
from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.minimize import merge_same_rules, minimization, minimize
from stacklens.automata.pda import NONE, POP, Key, PushdownAutomaton, StackOp, Transition, push
from stacklens.automata.pda import replace as put
from stacklens.automata.rewriting import drop_end_marker, predictor_of, with_visible_top
from stacklens.automata.summaries import drop_sinks, heads, trim
from stacklens.core.errors import AutomatonError
from stacklens.languages.catalogue import get_language, get_task
from stacklens.languages.classic import Dyck
from stacklens.languages.next_sets import BoundedDyck

# ---- Automata made smaller: reachable, without an end marker, minimised, cut with a finite one. ----


def automaton(rules: str, accepting: str = "", **options: object) -> PushdownAutomaton:
    """Return the automaton of rules like "p a x > q push x", one a line, with one stack of symbols x, y, z."""
    transitions: dict[Key, Transition] = {}
    for line in filter(str.strip, rules.splitlines()):
        left, right = line.split(">")
        state, letter, top = left.split()
        target, name, *symbol = right.split()
        operation: StackOp = {"none": NONE, "pop": POP}.get(name) or {"push": push, "replace": put}[name](symbol[0])
        transitions[state, letter, (top,)] = Transition(target, (operation,))
    marker = options.get("end_marker")
    states = dict.fromkeys(q for key, step in transitions.items() for q in (key[0], step.target))
    return PushdownAutomaton(
        states=tuple(states),
        input_alphabet=tuple(sorted({letter for _, letter, _ in transitions} - {marker})),
        stack_alphabet=("x", "y", "z"),
        transitions=transitions,
        initial=next(iter(states)),
        accepting=frozenset(accepting.split()),
        **options,  # type: ignore[arg-type]
    )


@given(pushdown_automata(max_stacks=1))
def test_every_reachable_head_is_shown_by_a_run(pda: PushdownAutomaton) -> None:
    one_symbol = {
        key: replace(step, operations=tuple(StackOp(o.pop, o.push and pda.stack_alphabet[0]) for o in step.operations))
        for key, step in pda.transitions.items()
    }
    counter = replace(pda, transitions=one_symbol)  # so that heights up to 40 can be tried in full
    assert heads(counter) == heads_seen(counter, max_height=40)


def test_on_several_stacks_too_a_pop_uncovers_what_the_replaced_symbol_lay_on() -> None:
    one = automaton("p a ⊥ > p push x\np b x > p push y\np c y > p replace z\np d z > q pop\nq e x > q pop", "q")
    rules: dict[Key, Transition] = {
        (state, letter, (top, "⊥")): replace(step, operations=(*step.operations, NONE))
        for (state, letter, (top,)), step in one.transitions.items()
    }
    two = replace(one, n_stacks=2, transitions=rules)
    assert two.accepts("abcde")
    assert set(trim(two).transitions) == set(rules)


@given(pushdown_automata())
def test_trimming_keeps_every_run(pda: PushdownAutomaton) -> None:
    trimmed = trim(pda)
    for word in words(pda, 4):
        assert list(trimmed.run(word)) == list(pda.run(word))
    found = heads(pda)
    assert {(state, tops) for state, _, tops in trimmed.transitions} <= found.reading
    assert set(trimmed.states) == {state for state, _ in found.reading | found.ending}


# Sun et al. 1993, figure 7, with its rules for the end symbol: (1) starts, (2) counts, (3) traps, (4) is the legal end
FIGURE_7 = """
    1 ( ⊥ > 2 push x
    1 ) ⊥ > 3 none
    1 e ⊥ > 3 none
    2 ( ⊥ > 2 push x
    2 ( x > 2 push x
    2 ) x > 2 pop
    2 ) ⊥ > 3 none
    2 e ⊥ > 4 none
    2 e x > 3 none
    3 ( ⊥ > 3 none
    3 ) ⊥ > 3 none
    3 e ⊥ > 3 none
"""


def test_figure_7_needs_no_end_marker_and_is_one_state_where_the_empty_word_is_legal() -> None:
    without = drop_end_marker(automaton(FIGURE_7, "4", end_marker="e"))
    assert without.end_marker is None
    assert without.accepting == {"2"}
    assert without.acceptance == "both"
    assert set(without.states) == {"1", "2", "3"}
    assert minimize(without).states == ("q0", "q1")
    legal = drop_end_marker(automaton(FIGURE_7.replace("1 e ⊥ > 3", "1 e ⊥ > 4"), "4", end_marker="e"))
    assert minimize(legal).states == ("q0",)


def test_a_marker_stays_that_pops_into_acceptance_or_where_final_states_depend_on_the_top() -> None:
    assert (
        drop_end_marker(automaton("p a ⊥ > p push x \n p a x > p push x \n p $ x > q pop", "q", end_marker="$")) is None
    )
    rules = "p a ⊥ > p push x \n p a x > p push x \n p $ x > q none"
    assert drop_end_marker(automaton(rules, "q", end_marker="$", acceptance="final state")) is None
    without = drop_end_marker(automaton(f"{rules} \n p $ ⊥ > q none", "q", end_marker="$", acceptance="final state"))
    assert without.accepting == {"p"}


# Sun et al. 1993, figure 8: (1) starts, (2) counts up, (3a) and (3b) down, (4a) and (4b) trap
FIGURE_8 = """
    1 1 ⊥ > 2 push x
    1 0 ⊥ > 4a none
    2 1 x > 2 push x
    2 0 x > 3a pop
    3a 0 x > 3b pop
    3b 0 x > 3a pop
    3a 0 ⊥ > 4a none
    3b 0 ⊥ > 4b none
    3a 1 ⊥ > 4b none
    3b 1 ⊥ > 4a none
    3a 1 x > 4a push x
    3b 1 x > 4b push x
    4a 0 ⊥ > 4b none
    4a 1 ⊥ > 4a none
    4b 0 ⊥ > 4a none
    4b 1 ⊥ > 4b none
    4a 0 x > 4b none
    4a 1 x > 4a none
    4b 0 x > 4a none
    4b 1 x > 4b none
"""


def sizes(pda: PushdownAutomaton) -> tuple[int, int]:
    return len(pda.states), len(pda.stack_alphabet)


def doubled(pda: PushdownAutomaton, rng: Random) -> PushdownAutomaton:
    """Return an automaton that does the same with several copies of each state and each stack symbol."""
    states = {state: [f"{state}.{i}" for i in range(rng.randint(1, 3))] for state in pda.states}
    cells = {cell: [f"{cell}.{i}" for i in range(rng.randint(1, 2))] for cell in pda.stack_alphabet}
    transitions = {}
    for (state, letter, tops), step in pda.transitions.items():
        for copy, *read in product(states[state], *(cells.get(top, [top]) for top in tops)):
            operations = tuple(StackOp(op.pop, op.push and rng.choice(cells[op.push])) for op in step.operations)
            transitions[copy, letter, tuple(read)] = Transition(
                rng.choice(states[step.target]), operations, step.output
            )
    return replace(
        pda,
        states=tuple(copy for copies in states.values() for copy in copies),
        stack_alphabet=tuple(copy for copies in cells.values() for copy in copies),
        transitions=transitions,
        initial=states[pda.initial][-1],
        accepting=frozenset(copy for state in pda.accepting for copy in states[state]),
    )


@given(pushdown_automata(acceptances=("final state", "empty stack", "both")))
def test_outputs_stay(pda: PushdownAutomaton) -> None:
    smaller = minimize(pda)
    assert all(outputs_seen(smaller, word) == outputs_seen(pda, word) for word in words(pda, 4))


@given(pushdown_automata(), st.sampled_from(["drop", "keep"]))
def test_it_never_grows_and_a_second_time_changes_nothing(pda: PushdownAutomaton, sink: minimize_module.Sink) -> None:
    smaller = minimize(pda, sink)
    bound = sizes(drop_sinks(pda))
    assert sizes(smaller)[0] <= bound[0] + (sink == "keep")
    assert sizes(smaller)[1] <= bound[1]
    assert sizes(minimize(smaller, sink)) == sizes(smaller)


@given(pushdown_automata(), st.randoms(use_true_random=False))
def test_copies_of_states_and_stack_symbols_are_found(pda: PushdownAutomaton, rng: Random) -> None:
    assert sizes(minimize(doubled(pda, rng))) == sizes(minimize(pda))


@given(pushdown_automata())
def test_with_the_sink_kept_nothing_is_missing(pda: PushdownAutomaton) -> None:
    complete = minimize(pda, sink="keep")
    for (state, tops), letter in product(heads(complete).reading, complete.letters):
        assert (state, letter, tops) in complete.transitions
    assert "sink" not in complete.accepting
    assert trim(complete) is complete


@given(pushdown_automata(), st.sampled_from(["drop", "keep"]))
def test_runs_are_mapped_step_by_step(pda: PushdownAutomaton, sink: minimize_module.Sink) -> None:
    result = minimization(pda, sink)
    for word in accepted(pda, 4):
        for before, after in zip(pda.run(word), result.automaton.run(word), strict=True):
            assert after.state == result.states[before.state]
            assert after.stacks == tuple(tuple(map(result.stack_symbols.get, stack)) for stack in before.stacks)


def test_figure_8_is_two_states_and_a_sink_and_figure_9_merges_those_that_make_the_same_moves() -> None:
    pda = automaton(FIGURE_8, "3a 3b")
    result = minimization(pda, sink="keep")
    assert result.automaton.states == ("q0", "q1", "sink")
    assert result.states == {"1": "q0", "2": "q0", "3a": "q1", "3b": "q1", "4a": "sink", "4b": "sink"}
    assert minimize(pda).states == ("q0", "q1")  # (1) and (2) differ only at heads that no run shows
    assert accepted(minimize(pda), 6) == {tuple("10"), tuple("1100"), tuple("111000")}
    result = merge_same_rules(automaton(FIGURE_8, "3a 3b"))
    assert result.states == {"1": "1", "2": "2", "3a": "3a", "3b": "3a", "4a": "4a", "4b": "4a"}
    assert accepted(result.automaton, 6) == {tuple("10"), tuple("1100"), tuple("111000")}


@given(pushdown_automata(), st.randoms(use_true_random=False))
def test_operations_are_those_of_sets_of_words(pda: PushdownAutomaton, rng: Random) -> None:
    dfa = random_domain(rng, pda.input_alphabet)
    everything, mine = set(words(pda, 5)), accepted(pda)
    regular = {word for word in everything if dfa.accepts(word)}
    assert accepted(pda.intersection(dfa)) == mine & regular
    if pda.n_stacks > 1 and pda.acceptance in ("both", "empty stack"):
        refused("one stack", pda.complement)
    else:
        assert accepted(pda.complement()) == everything - mine
        assert accepted(pda.union(dfa)) == mine | regular


def test_an_automaton_has_what_one_works_with_as_methods() -> None:
    pda = Dyck(1).automaton
    library = SimpleNamespace(  # as automata-lib has them
        states={0, 1},
        input_symbols={"(", ")"},
        transitions={0: {"(": 1}, 1: {"(": 1, ")": 1}},
        initial_state=0,
        final_states={1},
    )
    some = pda.intersection(library)
    assert list(some.words(4)) == [tuple(word) for word in ("()", "(())", "()()")]
    assert some.count(6) == [0, 0, 1, 0, 2, 0, 5]
    assert not some.is_empty()
    assert some.intersection(FiniteAutomaton(("s",), ("(", ")"), {}, "s", frozenset({"s"}))).is_empty()
    assert isinstance(compare(some.union(library).intersection(library), some.complement().complement()), Different)
    by_output = replace(predictor_of(pda), acceptance="output", accepting_outputs=frozenset({("(",)}))
    drawn = by_output.sample(200, (4, 6), seed=1)
    assert drawn == by_output.sample(200, (4, 6), seed=1)
    assert set(drawn) == {"".join(word) for word in pda.words(6) if len(word) > 2}
    refused("found PushdownAutomaton", pda.union, pda)


def test_inconsistent_automata_are_refused() -> None:
    refused("has a repetition", FiniteAutomaton, ("p", "p"), ("a",), {}, "p", frozenset(), error=AutomatonError)
    with pytest.raises(AutomatonError, match="'q', 'r' not among the states"):
        FiniteAutomaton(("p",), ("a",), {("p", "a"): "q"}, "r", frozenset())
    with pytest.raises(AutomatonError, match="'b' not in the alphabet"):
        FiniteAutomaton(("p",), ("a",), {("p", "b"): "p"}, "p", frozenset())


# ---- Whether two automata are equal, against all short words; where heights part; states that show the top. ----

OUTPUTS: tuple[Outputs, ...] = ("all", "all", "all", "ignore", "where b", "where both")


@pytest.mark.parametrize("seed", range(29, 33))
def test_it_never_disagrees_with_all_short_words(seed: int) -> None:
    assert min(held_against_all_words(seed)[f"pairs: {answer}"] for answer in ("equal", "different")) > 5


def without_a_stack(rng: Random) -> tuple[PushdownAutomaton, PushdownAutomaton]:
    """Return an automaton that never pushes, and mostly the same with a stack that nothing depends on."""
    drawn = random_automaton(rng, "ab"[: rng.randint(1, 2)])
    still = {key: replace(step, operations=(NONE,)) for key, step in drawn.transitions.items() if key[2] == ("⊥",)}
    idle: dict[Key, Transition] = {
        (state, letter, (top,)): replace(step, operations=(rng.choice((NONE, push(drawn.stack_alphabet[0]))),))
        for (state, letter, _), step in still.items()
        for top in ("⊥", *drawn.stack_alphabet)
    }
    one, other = replace(drawn, transitions=still), replace(drawn, transitions=idle)
    return one, changed(rng, other) if rng.random() < 0.5 else other


def test_it_decides_whenever_one_automaton_never_pushes() -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        a, b = without_a_stack(rng := Random(seed))
        a, b, outputs = *((a, b) if seed % 2 else (b, a)), rng.choice(OUTPUTS)
        answer = compare(a, b, outputs=outputs)
        parted = [word for word in words(a, 8) if separates(a, b, word, outputs, member=True)]
        assert isinstance(answer, Different) == bool(parted)
        assert not parted or (isinstance(answer, Different) and answer.word in parted)
        seen[type(answer).__name__] += 1
    assert set(seen) == {"Equal", "Different"}
    assert min(seen.values()) > 20


def test_parentheses_to_depth_50_are_not_all_parentheses() -> None:
    answer = compare(BoundedDyck(1, 50).automaton, get_language("dyck-1").automaton)
    assert isinstance(answer, Different)
    assert answer.shortest
    assert len(answer.word) == 102
    assert max(len(here.stacks[0]) for here in get_language("dyck-1").automaton.run(answer.word)) == 51


def test_several_stacks_are_undecided() -> None:
    two = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
    assert compare(two, two) == Undecided(
        "equality of automata with 2 stacks is undecidable: only one stack is compared"
    )


def test_a_domain_restricts_the_words() -> None:
    one, two = get_language("dyck-1").automaton, get_language("dyck-2").automaton
    one = replace(one, input_alphabet=two.input_alphabet)
    round_ones = FiniteAutomaton(("q",), ("(", ")"), {("q", "("): "q", ("q", ")"): "q"}, "q", frozenset({"q"}))
    assert compare(one, two, round_ones) == Equal("all words of the domain")
    assert compare(one, two) == Different(("[", "]"), "only the second accepts it")
    answer = compare(one, two, containing(two.input_alphabet, "))("))
    assert isinstance(answer, Different)
    assert len(answer.word) == 8


# Where the stacks of the two automata are not equally high, and where outputs are compared.


def transducer(rules: str) -> PushdownAutomaton:
    """Return the automaton of rules such as ``1 a x > 2 push y / b``, all states accepting."""
    lines = [line.partition("/")[::2] for line in filter(str.strip, rules.splitlines())]
    plain = automaton("\n".join(rule for rule, _ in lines), acceptance="final state")
    outputs = [output.strip() or None for _, output in lines]
    steps = zip(plain.transitions.items(), outputs, strict=True)
    transitions = {key: replace(step, output=output) for (key, step), output in steps}
    return replace(plain, transitions=transitions, accepting=frozenset(plain.states))


REPLACING = """
    q a ⊥ > q push x
    q a x > q push y
    q a y > q push x
    q b x > q replace y
    q b y > q replace x
    q c x > q pop
    p c y > p pop
    q d y > p none
"""


@pytest.mark.parametrize(
    "pda", [palindromes(), dyck([("(", ")"), ("[", "]")]), automaton(REPLACING, acceptance="empty stack")]
)
def test_a_top_in_the_state_is_no_difference(pda: PushdownAutomaton) -> None:
    assert compare(with_visible_top(pda), pda) == Equal()
    assert compare(pda, with_visible_top(with_visible_top(with_visible_top(pda)))) == Equal()


PREDICTOR_OF_STREAMS = """
    1 a ⊥ > 2 push y
    1 a y > 2 push y
    2 a y > 2 push x
    2 a x > 2 push x
    2 b x > 3 pop / b
    3 b x > 3 pop / b
    2 b y > 1 none / a
    3 b y > 1 none / a
"""  # leaves y behind for every a^n b^n


@pytest.mark.parametrize("outputs", ["all", "ignore", "where b", "where both"])
def test_cells_that_are_never_popped_are_no_difference(outputs: Outputs) -> None:
    leaves = replace(transducer(PREDICTOR_OF_STREAMS), accepting=frozenset({"1"}))
    assert isinstance(compare(leaves, get_task("anbn").reference, outputs=outputs), Equal)
    assert isinstance(compare(get_task("anbn").reference, leaves, outputs=outputs), Equal)


HALVES = """
    1 a ⊥ > 2 push x
    1 a x > 2 push x
    2 a x > 1 none
    1 b x > 3 none
    2 b x > 4 pop
    3 b x > 4 pop
    4 b x > 3 none
"""  # a^n b^n with one cell for two letters


def test_undecided_where_one_piles_up_twice_as_fast() -> None:
    single, double = get_language("anbn").automaton, automaton(HALVES, "1 4")
    double = replace(double, accepting=frozenset({"1", "4"}))
    assert [word for word in ("ab", "aabb", "aaabbb", "aab", "abb") if double.accepts(word)] == ["ab", "aabb", "aaabbb"]
    answer = compare(single, replace(double, accepting=frozenset({"4"})))
    assert isinstance(answer, Undecided)
    assert answer.reason == "after the word the first stack is more than 8 higher than the other"
    assert answer.word == ("a",) * 18


def test_outputs_are_compared_as_asked() -> None:
    one = transducer("1 a ⊥ > 1 none / x\n1 b ⊥ > 2 none")
    other = transducer("1 a ⊥ > 1 none / x\n1 b ⊥ > 2 none / y\n2 a ⊥ > 2 none / z")
    assert compare(one, other) == Different(("b",), "at its end the first outputs None, the second 'y'")
    assert compare(one, other, outputs="where both") == Equal("all words that both read")
    assert compare(other, one, outputs="where b") == Equal("all words that the second reads")
    assert compare(one, other, outputs="where b") == Different(
        ("b",), "at its end the first outputs None, the second 'y'"
    )
    cut = replace(other, transitions={**other.transitions, ("1", "b", ("⊥",)): Transition("2", (NONE,))})
    assert compare(one, cut, outputs="where b") == Different(
        ("b", "a"), "at its end the second goes on, the first has been cut"
    )
    assert compare(one, cut, outputs="ignore") == Different(("b", "a"), "only the second accepts it")
    goes_on = transducer("1 a ⊥ > 1 push x / o\n1 a x > 1 push x / o\n1 b x > 1 pop")
    cut = transducer("1 a ⊥ > 1 push x / o\n1 a x > 1 none / o\n2 b x > 2 none")
    for pair in ((goes_on, cut), (cut, goes_on)):  # pushes are for good: the pop comes where nothing is asked
        assert compare(*pair, outputs="where both") == Equal("all words that both read")


# The state shows the top: the same words, outputs that know the new top, predictors that know what is live.


@settings(max_examples=150)
@given(st.data())
def test_the_same_words_and_outputs(data: st.DataObject) -> None:
    pda = data.draw(pushdown_automata(max_stacks=1))
    shown = with_visible_top(pda)
    assert shown.acceptance == ("output" if pda.acceptance == "output" else "final state")
    for word in words(pda, 4):
        assert shown.accepts(word) == pda.accepts(word), word
        expected, found = list(pda.run(word)), list(shown.run(word))
        assert [moment.output for moment in found] == [moment.output for moment in expected]
        tops = [moment.tops(pda.bottom)[0] for moment in expected]
        assert [moment.state for moment in found] == [
            f"({moment.state}, {top})" for moment, top in zip(expected, tops, strict=True)
        ]
        assert [moment.stacks[0] for moment in found] == [moment.stacks[0][:-1] for moment in expected]


def test_what_has_no_visible_top_is_refused() -> None:
    two = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
    refused("for one stack, this automaton has 2", with_visible_top, two, error=AutomatonError)
    spoken = PushdownAutomaton(("q",), ("a",), (), {}, "q", acceptance="output")
    refused('by state or stack and no end marker, not "output"', predictor_of, spoken, error=AutomatonError)
    marked = PushdownAutomaton(("q",), ("a",), (), {}, "q", end_marker="$")
    refused("and the end marker '\\$'", predictor_of, marked, error=AutomatonError)
