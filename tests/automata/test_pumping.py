from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from tests.automata.strategies import plain_accepts, plain_outputs, pushdown_automata

from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.pumping import pumps
from stacklens.languages import get_language


@settings(max_examples=60)
@given(pushdown_automata())
def test_a_round_more_is_a_run_more_with_the_same_end(pda: PushdownAutomaton) -> None:
    accepts = [
        [plain_accepts(pda, pump.word(n)) for n in (1, 2, 3, 7)] for pump in pumps(pda, 30, seed=0, rejected=False)
    ]
    assert all(len(set(verdicts)) == 1 for verdicts in accepts)
    if pda.n_stacks == 1 and pda.end_marker is None and any(True in verdicts for verdicts in accepts):
        assert all(all(verdicts) for verdicts in accepts)


@settings(max_examples=60)
@given(pushdown_automata(max_stacks=1))
def test_what_a_round_leaves_behind_is_taken_back(pda: PushdownAutomaton) -> None:
    for pump in pumps(pda, 30, seed=0, rejected=False):
        for n in (1, 4):
            begun = (*pump.before, *pump.cycle * n)
            _, state, stacks = plain_outputs(pda_without_end(pda), begun)
            assert state is not None
            assert max(map(len, stacks)) <= 1 + pump.height + (n - 1) * pump.climb
            rest = (*begun, *pump.between, *pump.back * n)
            _, state, _ = plain_outputs(pda_without_end(pda), rest)
            assert state is not None


def pda_without_end(pda: PushdownAutomaton) -> PushdownAutomaton:
    steps = {key: step for key, step in pda.transitions.items() if key[1] != pda.end_marker}
    return PushdownAutomaton(
        pda.states, pda.input_alphabet, pda.stack_alphabet, steps, pda.initial, n_stacks=1, bottom=pda.bottom
    )


def test_no_short_cycle_of_brackets_is_missing() -> None:
    language = get_language("dyck-2")
    found = {"".join(pump.cycle) for pump in pumps(language.automaton, 10_000, seed=0) if not pump.climb}
    balanced = ["".join(word) for length in (2, 4, 6) for word in product("()[]", repeat=length)]
    primitive = [w for w in balanced if w in language and not any(w == w[:k] * (len(w) // k) for k in range(1, len(w)))]
    assert set(primitive) <= found
    assert "[()]" in found


def test_rejected_inputs_end_the_words_of_recognisers_only_where_they_are_wanted() -> None:
    language = get_language("palindrome")
    for pump in pumps(language.automaton, 50, seed=0):
        assert "".join(pump.word(9)) in language
        assert all("".join(pump.word(5, after)) not in language for after in range(1, len(pump.afters)))
    assert {len(pump.afters) for pump in pumps(language.automaton, 50, seed=0, rejected=False)} == {1}
