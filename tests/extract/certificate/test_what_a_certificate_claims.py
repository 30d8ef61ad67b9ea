"""What a certificate says is what it proves: where runs are cut, of which outputs, and asked of what."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.extract.certificate.proved import always_pushing, filled
from tests.refusals import refused
from torch import Tensor

from stacklens.automata.pda import Key, Output, PushdownAutomaton, Transition
from stacklens.core.errors import StacklensError
from stacklens.extract.certificate.certify import certify
from stacklens.extract.certificate.claim import Certification, Certified, NotCertified
from stacklens.models.base import StackModel
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.suzgun import MarnnConfig, MarnnStackRNN

AB = ("a", "b")


def predictor() -> StackRNN:
    """Return a stream predictor that always pushes and foresees b."""
    net = StackRNN(StackRNNConfig(AB, hidden=1, depth=1))
    return filled(net, action_weights=[[9.0], [-9.0]], output_weights=[[-9.0], [9.0]])


def set_predictor(likely: list[float], *, gating: Any = "softmax") -> MarnnStackRNN:
    """Return a predictor of sets that always pushes."""
    net = MarnnStackRNN(MarnnConfig(AB, hidden=1, gating=gating))
    return filled(net, action_bias=[9.0, -9.0], output_bias=likely)


def without(pda: PushdownAutomaton, *keys: Key) -> PushdownAutomaton:
    return replace(pda, transitions={key: step for key, step in pda.transitions.items() if key not in keys})


# where runs are cut


def test_where_the_automaton_of_a_stream_is_cut_the_certificate_says_that_nothing_is_claimed() -> None:
    whole = certify(predictor(), always_pushing("b", AB))
    assert isinstance(whole, Certified)
    assert (whole.cuts, whole.first_cut, whole.silent) == (0, None, 0)
    assert str(Certification(whole)).startswith("the rounded network follows it on words of every length that need")
    cut = certify(predictor(), without(always_pushing("b", AB), ("q", "b", ("⊥",)), ("q", "a", ("A",))))
    assert isinstance(cut, Certified)
    assert (cut.cuts, cut.first_cut) == (2, ("q", "b", ("⊥",)))
    assert ", up to where its run is cut (2 places, as at q, b, ⊥) (float64, " in str(Certification(cut))


def test_where_outputs_are_none_the_certificate_says_that_nothing_is_claimed_of_them() -> None:
    silent: dict[Key, Transition] = {
        key: replace(step, output=None) if key[1] == "a" else step
        for key, step in always_pushing("b", AB).transitions.items()
    }
    found = certify(predictor(), replace(always_pushing("b", AB), transitions=silent))
    assert isinstance(found, Certified)
    assert found.silent == 2
    assert ", but for the output at 2 places (float64" in str(Certification(found))


def test_predictors_of_sets_have_to_reject_where_the_automaton_is_cut() -> None:
    sure = certify(set_predictor([9.0, 9.0]), always_pushing(AB, AB))
    assert isinstance(sure, Certified)
    assert (sure.cuts, sure.silent) == (0, 0)
    for key in (("q", "a", ("⊥",)), ("q", "b", ("A",))):
        assert isinstance(certify(set_predictor([9.0, 9.0]), without(always_pushing(AB, AB), key)), NotCertified)


# what can be asked


@pytest.mark.parametrize("margin", [-1e-9, -1.0, -math.inf, math.nan])
def test_a_margin_that_decides_nothing_is_refused(margin: float) -> None:
    with pytest.raises(StacklensError, match=r"the margin is .*; expected a number of at least 0"):
        certify(predictor(), always_pushing("b", AB), margin=margin)
    assert isinstance(certify(predictor(), always_pushing("b", AB), margin=math.inf), NotCertified)


@pytest.mark.parametrize(
    ("model", "output", "message"),
    [
        (predictor(), "c", "the automaton outputs 'c', the network one of a b; certify it for its own automaton"),
        (predictor(), ("a",), r"the automaton outputs \{a\}, the network one of a b"),  # whose number is that of b
        (set_predictor([9.0, -9.0]), "b", "the automaton outputs 'b', the network a set of a b"),  # likewise, of {a}
        (set_predictor([-9.0, 9.0]), ("a", "a"), r"the automaton outputs \{a a\}, the network a set of a b"),  # of {b}
        (set_predictor([9.0, 9.0]), ("a", "c"), r"the automaton outputs \{a c\}, the network a set of a b"),
    ],
)
def test_an_output_that_the_network_has_not_is_refused_in_one_line(
    model: StackModel[Any], output: Output, message: str
) -> None:
    refused(message, certify, model, always_pushing(output, AB))


def test_a_subclass_that_may_compute_otherwise_is_refused() -> None:
    class Contrary(StackRNN):
        def controller(self, symbols: Tensor, hidden: Tensor, reading: Tensor) -> Any:
            answer = super().controller(symbols, hidden, reading)
            return replace(answer, actions=answer.actions.flip(-1))

    with pytest.raises(StacklensError, match="a Contrary may compute something else than a stack-rnn; expected one of"):
        certify(Contrary(StackRNNConfig(AB, hidden=1, depth=1)), always_pushing("b", AB))


def test_the_table_of_what_is_certified_says_what_the_zoos_results_say() -> None:
    root, rows = Path(__file__).parents[3], 0
    for line in (root / "docs" / "certificates.md").read_text(encoding="utf-8").splitlines():
        name, *_, boxes, steps, margin, outside = [*map(str.strip, line.strip("|").split("|")), *[""] * 5][:6]
        if outside == "0" and (root / "models" / "zoo" / f"{name}.json").is_file():
            kept = json.loads((root / "models" / "zoo" / f"{name}.json").read_text(encoding="utf-8"))["certificate"]
            assert (int(boxes), int(steps), float(margin)) == (
                kept["boxes"],
                kept["steps"],
                round(kept["margin"], 3),
            ), name
            rows += 1
    assert rows > 9
