"""Bounded certificates: what they prove of networks whose first broken word is known, and never more than holds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.certificate.proved import always_pushing, extracted
from tests.extract.certificate.test_certificates_of_hand_built_networks import DYCK, dyck, pushing_unseen
from tests.extract.verification.leaking_networks import leaking, pushing_and_popping, rising

from stacklens.automata.pda import POP, Key, PushdownAutomaton, Transition
from stacklens.extract.agreement import differ_on
from stacklens.extract.certificate.bounded import certify_length, grid_clusters
from stacklens.extract.certificate.certify import certification, certified_length, certify
from stacklens.extract.certificate.claim import NotCertified
from stacklens.extract.memory_use import StackUse
from stacklens.extract.verification.divergence import divergence
from stacklens.models.checkpoint import ZOO
from stacklens.models.networks.suzgun import MarnnStackRNN
from stacklens.models.rounding import Rounded

LONGEST = 40


def first_broken(net: MarnnStackRNN, pda: PushdownAutomaton, words: list[str]) -> int:
    """Return after how many symbols the rounded network first parts from the automaton on one of ``words``."""
    found = [divergence(pda, net, word).first for word in words]
    return min([first + 1 for first in found if first is not None], default=10_000)


@pytest.mark.parametrize("growth", [1.11, 1.13, 1.3])
def test_a_hidden_unit_that_grows_is_followed_up_to_the_step_at_which_it_crosses(growth: float) -> None:
    net, pda = leaking(growth), pushing_and_popping()
    broken = first_broken(net, pda, ["ab" * 60, "a" * 100])
    assert 3 < broken < 60
    assert isinstance(certify(net, pda), NotCertified)
    found = certify_length(net, pda, longest=90)
    assert found.length == broken - 1
    assert "the output is not sure" in (found.reason or "") or "outputs" in (found.reason or "")


@pytest.mark.parametrize(("gain", "bias"), [(4.0, -1.76), (4.0, -1.7), (6.0, -2.3)])
def test_what_is_pushed_a_little_stronger_on_every_cell_is_followed_to_the_depth_that_breaks(
    gain: float, bias: float
) -> None:
    net, pda = rising(gain, bias), pushing_and_popping()
    words = ["a" * 30, *("a" * n + "b" + "a" * 30 for n in (1, 4, 8))]
    broken = first_broken(net, pda, words)
    found = certify_length(net, pda, longest=LONGEST)
    assert found.length < broken
    assert found.length >= min(broken - 2, LONGEST - 2)


def test_of_a_trained_network_no_length_is_claimed_that_a_known_word_refutes() -> None:
    net, pda = extracted(ZOO / "marnn-stack-rnn-dyck-2-drifting.pt")
    word = "()" + "[()]" * 11
    assert differ_on(pda, Rounded(net), None, [word], None).all()
    assert 20 < certify_length(net, pda).length < len(word)


def test_an_automaton_that_does_something_else_at_some_length_is_followed_up_to_there() -> None:
    rules: dict[Key, Transition] = {
        (f"q{i}", letter, top): replace(step, target=f"q{i + 1}")
        for i in range(6)
        for (_, letter, top), step in DYCK.transitions.items()
    }
    rules |= {("q6", letter, top): replace(step, target="q6") for (_, letter, top), step in DYCK.transitions.items()}
    states = tuple(f"q{i}" for i in range(7))
    counting = PushdownAutomaton(states, DYCK.input_alphabet, ("(",), rules, "q0", frozenset(states))
    assert certify_length(dyck(), counting, longest=20).length == 20
    wrong = replace(counting, transitions={**rules, ("q5", "(", ("(",)): Transition("q6", (POP,))})
    found = certify_length(dyck(), wrong, longest=20)
    assert found.length == 5  # the word (((((( pops at its sixth symbol
    assert "the network does push" in found.reason
    early = replace(counting, accepting=frozenset(states) - {"q4"})
    assert certify_length(dyck(), early, longest=20).length == 3


def test_no_longer_words_are_claimed_than_there_are_cells() -> None:
    net = leaking(0.0)
    limit = net.stack_limit
    assert certify_length(net, pushing_and_popping(), longest=10 * limit).length < limit


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-5, 1.0, 1e300, np.inf, np.nan]))
def test_points_on_all_sides_of_zero_come_into_as_few_clusters_as_asked_for(seed: int, scale: float) -> None:
    """Rows of twelve hidden units and two tops lie in more orthants than rows are kept, which once never ended."""
    rng = np.random.default_rng(seed)
    points, kinds = rng.normal(size=(700, 30)), np.sort(rng.integers(0, 5, 700))
    points[:, 0] *= scale
    with np.errstate(invalid="ignore", over="ignore"):  # as where it is called
        order, starts = grid_clusters(points, kinds, 100)
    assert sorted(order.tolist()) == list(range(700))
    assert 5 <= len(starts) <= 100
    assert all(len(np.unique(cluster)) == 1 for cluster in np.split(kinds[order], starts[1:]))


def test_a_merged_row_holds_all_that_was_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read two letters before differs between rows that are one here: after baaa the output is another."""
    monkeypatch.setattr("stacklens.extract.certificate.bounded._ATTEMPTS", ((1, 100_000),))
    assert certify_length(pushing_unseen(1), always_pushing("a", ("a", "b")), stacks=(0,), longest=9).length < 4


def test_where_no_certificate_for_every_length_is_found_the_length_that_is_proved_is_told() -> None:
    net, pda = leaking(1.13), pushing_and_popping()
    use = StackUse(kept=(0,), dropped=(), words=0, steps=0, push_only=())
    found = certification(net, pda, use, None)
    assert isinstance(found.certificate, NotCertified)
    assert certified_length(found, net, pda, use, None, 0) == found
    found = certified_length(found, net, pda, use, None)
    assert found.bounded.length == first_broken(net, pda, ["ab" * 40]) - 1
    assert found.to_dict()["bounded"] == found.bounded.to_dict()
    assert str(found).endswith(f"; proved on all words of length <= {found.bounded.length}")
    certified = certification(dyck(), DYCK, use, None)
    assert certified.bounded is None
    assert "bounded" not in certified.to_dict()
