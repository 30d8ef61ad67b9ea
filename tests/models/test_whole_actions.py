"""With whole actions each of the three soft stacks is the same discrete stack, exactly."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from stacklens.models.rounding import round_actions
from stacklens.models.stacks.continuous import ContinuousStack
from stacklens.models.stacks.strength import StrengthStack
from stacklens.models.stacks.superposition import SuperpositionStack

SIZE = 2
LARGE = 2_000.0  # softmax and sigmoid of half of it are 0 and 1 in 64 bits
values = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=SIZE, max_size=SIZE)
moves = st.lists(st.tuples(st.sampled_from((-1, 0, 1)), values), max_size=60)


def tensor(numbers: list[float]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64).view(1, 1, -1)


@given(moves)
def test_three_stacks_and_a_list_are_one(steps: list[tuple[int, list[float]]]) -> None:
    like = torch.zeros((), dtype=torch.float64)
    signed = ContinuousStack.empty((1,), SIZE, like)
    shares = SuperpositionStack.empty((1,), 1, SIZE, like)
    strengths = StrengthStack.empty((1,), SIZE, like)
    plain: list[list[float]] = []
    for move, value in steps:
        plain = [*plain, value] if move > 0 else plain[: len(plain) + move]
        logits = LARGE * tensor([float(move == 1), float(move == -1), float(move == 0)])
        pops_and_pushes = LARGE * tensor([float(move == -1) - 0.5, float(move == 1) - 0.5])
        signed = signed.next(tensor([float(move)]), tensor(value))
        shares = shares.next(torch.softmax(logits, -1), tensor(value))
        strengths = strengths.next(torch.sigmoid(pops_and_pushes), tensor(value))
        top = plain[-1] if plain else [0.0] * SIZE
        for stack in (signed, shares, strengths):
            assert stack.reading().flatten().tolist() == top
        assert signed.length.item() == len(plain)
        assert strengths.length.item() == len(plain)
        assert shares.cells(len(plain) + 1)[0, 0].tolist() == [*plain[::-1], [0.0] * SIZE]


@settings(max_examples=30)
@given(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=3, max_size=3))
def test_rounded_actions_round_to_themselves(actions: list[float]) -> None:
    kinds = {"signed": tensor(actions), "softmax": torch.softmax(tensor(actions), -1), "strengths": tensor(actions)}
    for kind, soft in kinds.items():
        whole = round_actions(kind, soft)  # type: ignore[arg-type]
        assert torch.equal(round_actions(kind, whole), whole)  # type: ignore[arg-type]
        assert set(whole.flatten().tolist()) <= {-1.0, 0.0, 1.0}
