from __future__ import annotations

import pytest
import torch

from stacklens.languages.catalogue import get_language
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.training.recognition import OBJECTIVES, WordSet

PARENTHESES = get_language("parentheses")


def constant_net(hidden: float, push: float, pop: float) -> NNPDA:
    """Return a one-neuron net for parentheses: S is always ``hidden``, `(` acts with ``push`` and `)` with ``pop``."""
    net = NNPDA(NNPDAConfig(("(", ")"), "full", 1))
    tables = torch.zeros(2, 3, 2, dtype=torch.float64)  # S or not, top, symbol: the first two sum to one
    tables[..., 0], tables[..., 1] = push, pop
    bias = torch.logit(torch.tensor([hidden], dtype=torch.float64))
    weights = {"state_weights": torch.zeros(1, 6, dtype=torch.float64), "state_bias": bias}
    net.load_state_dict({**weights, "action_weights": tables.flatten().unsqueeze(0)})
    return net


def loss(net: NNPDA, words: list[str], objective: str, weights: list[float] | None = None) -> float:
    given = torch.tensor(weights or [1.0] * len(words), dtype=torch.float64)
    return OBJECTIVES[objective](net, WordSet.of(PARENTHESES, words), given).item()


def test_at_the_end_a_legal_word_costs_its_distance_from_one() -> None:
    # H = S - L = 0.8 - (1 - 0.75) = 0.55
    assert loss(constant_net(0.8, 1.0, -0.75), ["()"], "end") == pytest.approx((1 - 0.55) ** 2)


def test_at_the_end_an_illegal_word_costs_only_what_is_above_zero() -> None:
    assert loss(constant_net(0.8, 1.0, -0.75), ["(("], "end") == 0  # H = 0.8 - 2
    assert loss(constant_net(0.8, 0.25, -0.75), ["(("], "end") == pytest.approx(0.3**2)  # H = 0.8 - 0.5


def test_a_pop_of_the_empty_stack_ends_a_word_there_with_or_without_the_hint() -> None:
    net = constant_net(0.8, 0.5, -0.75)
    for objective in ("end", "end without hint"):
        assert loss(net, ["()()()"], objective) == pytest.approx(0.25)  # legal: pop less
    assert loss(net, ["())((("], "end") == pytest.approx(1 - 0.25)  # illegal: it was right to pop more
    assert loss(net, ["())((("], "end without hint") == pytest.approx(0.25)


def test_legal_and_illegal_words_weigh_the_same_in_sum_and_weights_count_within_each() -> None:
    net = constant_net(0.8, 1.0, -0.75)
    legal = {"()": 0.45**2, "(())": 0.7**2}  # H = 0.8 - 0.25 and 0.8 - 0.5
    one, two = legal.values()
    assert loss(net, list(legal), "end", [3.0, 1.0]) == pytest.approx((3 * one + two) / 4)
    assert loss(net, [*legal, "(("], "end", [3.0, 1.0, 9.0]) == pytest.approx((3 * one + two) / 4)
    shallow = constant_net(0.8, 0.25, 0.0)  # illegal words cost something: H = 0.55 and 0.3; legal "()" has H = 0.55
    illegal = (0.55**2 + 3 * 0.3**2) / 4
    assert loss(shallow, ["()", "(", "(("], "end", [7.0, 1.0, 3.0]) == pytest.approx(0.45**2 + illegal)


def test_at_prefixes_the_four_demands_are_those_of_section_4_3() -> None:
    net = constant_net(0.8, 0.5, -0.75)
    # "(": live, not legal, L = 0.5. "()": live and legal, popped 0.25 from an empty stack, L = 0
    live = (0.2**2 + 0.2**2 + 0.25**2) / 2
    assert loss(net, ["()"], "prefix") == pytest.approx(live + 0 + 0.5**2)
    # ")": dead at once, and what follows does not count
    assert loss(net, [")"], "prefix") == pytest.approx(0.8**2)
    assert loss(net, [")((("], "prefix") == pytest.approx(0.8**2)


@pytest.mark.parametrize(("push", "length"), [(0.5, 0.5), (0.85, 0.85), (1.0, 1.0)])
def test_a_driving_force_wants_more_on_the_stack_even_where_there_is_enough(push: float, length: float) -> None:
    """Section 4.3 (2): live but not legal, up to L = 0.9 as without it, and beyond with L* - L = 0.1."""
    net = constant_net(0.8, push, -0.75)
    without, driven = loss(net, ["("], "prefix"), loss(net, ["("], "prefix with drive")
    assert without == pytest.approx(0.2**2 + (1 - length) ** 2)
    further = 0.1**2 - 2 * 0.1 * (length - 0.9)
    assert driven == pytest.approx(without if length < 0.9 else 0.2**2 + further)
