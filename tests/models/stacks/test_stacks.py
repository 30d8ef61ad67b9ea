"""Every memory against the paper's arrays, soft and with whole actions; rings and lists as stacks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.plain import Items, Lists, PlainStack, after_step, read_off, taken_off, top_of
from tests.refusals import refused
from torch import Tensor, nn

import stacklens as sl
from stacklens.core.errors import StacklensError
from stacklens.models.base import StackModel
from stacklens.models.networks.joulin import ListRNN, ListRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnStackRNN
from stacklens.models.rounding import Rounded, round_actions
from stacklens.models.stacks.cells import RING_OPERATIONS, RingMemory, SuperpositionStack
from stacklens.models.stacks.continuous import ContinuousStack, StrengthStack, every_slot
from stacklens.models.views import RingAsTwoStacks, StackView, is_stack, views_of
from stacklens.models.wrap import wrap
from stacklens.probe.trace import trace

N_SYMBOLS = 3
ACTIONS = st.one_of(st.floats(-1, 1, allow_subnormal=False), st.sampled_from((-1.0, -0.5, 0.0, 0.5, 1.0)))
STEPS = st.lists(st.tuples(ACTIONS, st.integers(0, N_SYMBOLS - 1)), max_size=40)


def after(steps: Sequence[tuple[float, int]]) -> list[ContinuousStack]:
    """Return the stacks before the first step and after every step."""
    stacks = [ContinuousStack.empty((1,), N_SYMBOLS, torch.zeros((), dtype=torch.float64))]
    for action, symbol in steps:
        value = torch.eye(N_SYMBOLS, dtype=torch.float64)[symbol].view(1, 1, -1)
        stacks.append(stacks[-1].next(torch.tensor([[[action]]], dtype=torch.float64), value))
    return stacks


@given(STEPS)
def test_every_reading_length_and_segment_equals_the_papers_arrays(steps: list[tuple[float, int]]) -> None:
    plain = PlainStack()
    for stack, (action, symbol) in zip(after(steps)[1:], steps, strict=True):
        plain.act(action, symbol)
        np.testing.assert_allclose(stack.reading()[0, 0], plain.reading(N_SYMBOLS), rtol=0, atol=1e-12)
        assert stack.length.item() == pytest.approx(plain.length, abs=1e-12)
        assert stack.underflow.item() == pytest.approx(plain.underflow, abs=1e-12)
        left = np.zeros(plain.clock)
        left[plain.steps] = plain.lengths
        np.testing.assert_allclose(stack.lengths[0], left, rtol=0, atol=1e-12)


def test_the_example_of_figures_5_and_6_reads_as_printed() -> None:
    start, first = after([(0.6, 0)])
    assert start.reading().tolist() == [[[0, 0, 0]]]
    assert first.reading()[0, 0].tolist() == pytest.approx([0.6, 0, 0])
    *_, before, last = after([(0.32, 0), (0.2, 0), (0.7, 1), (0.4, 0), (-0.86, 0)])
    assert before.lengths[0].tolist() == pytest.approx([0.32, 0.2, 0.7, 0.4])
    assert before.reading()[0, 0].tolist() == pytest.approx([0.4, 0.6, 0])
    assert last.lengths[0].tolist() == pytest.approx([0.32, 0.2, 0.24, 0, 0])
    assert last.reading()[0, 0].tolist() == pytest.approx([0.52, 0.24, 0])


@given(
    st.lists(
        st.lists(st.tuples(ACTIONS, st.integers(0, N_SYMBOLS - 1)), min_size=1, max_size=80), min_size=1, max_size=4
    ),
    st.data(),
)
def test_stacks_that_are_swept_read_as_those_that_keep_every_slot(
    words: list[list[tuple[float, int]]], data: st.DataObject
) -> None:
    steps = min(map(len, words))
    whole = swept = ContinuousStack.empty((len(words),), N_SYMBOLS, torch.zeros((), dtype=torch.float64))
    for t in range(steps):
        actions = torch.tensor([[[word[t][0]]] for word in words], dtype=torch.float64)
        values = torch.eye(N_SYMBOLS, dtype=torch.float64)[torch.tensor([[word[t][1]] for word in words])]
        with every_slot():
            whole = whole.next(actions, values)
        with torch.no_grad():
            swept = swept.next(actions, values)
        if data.draw(st.integers(0, 9)) == 0:
            index = torch.tensor(data.draw(st.lists(st.integers(0, len(words) - 1), min_size=1, max_size=5)))
            words = [words[i] for i in index]
            whole, swept = whole.select(index), swept.select(index)
        np.testing.assert_allclose(swept.reading(), whole.reading(), rtol=0, atol=1e-12)
        assert torch.equal(swept.length, whole.length)
        assert torch.equal(swept.underflow, whole.underflow)
        assert whole.tops.shape[-1] == t + 1
        assert swept.tops.shape[-1] <= 32 + int((whole.tops > whole.bottoms).sum(-1).max())


SIZE = 3
strengths = st.floats(0, 1, allow_subnormal=False)
values = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=SIZE, max_size=SIZE)
moves = st.lists(st.tuples(strengths, strengths, values), max_size=40)
whole_moves = st.lists(st.tuples(st.booleans(), st.booleans(), values), max_size=80)


def tensors(pop: float, push: float, value: list[float]) -> tuple[Tensor, Tensor]:
    return torch.tensor([[[pop, push]]], dtype=torch.float64), torch.tensor([[value]], dtype=torch.float64)


def empty(*leading: int) -> StrengthStack:
    return StrengthStack.empty(leading or (1,), SIZE, torch.zeros((), dtype=torch.float64))


def random_moves(steps: int, *leading: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    actions = torch.rand(steps, *leading, 1, 2, generator=generator, dtype=torch.float64)
    return actions, torch.randn(steps, *leading, 1, SIZE, generator=generator, dtype=torch.float64)


def run(stack: StrengthStack, actions: Tensor, pushed: Tensor) -> Tensor:
    readings = []
    for action, value in zip(actions, pushed, strict=True):
        stack = stack.next(action, value)
        readings.append(stack.reading())
    return torch.stack(readings)


@settings(max_examples=50)
@given(moves)
def test_it_reads_and_holds_what_the_papers_cascades_do(steps: list[tuple[float, float, list[float]]]) -> None:
    stack, plain = empty(), Items()  # the top first
    for pop, push, value in steps:
        stack = stack.next(*tensors(pop, push, value))
        plain = [(value, push), *taken_off(plain, pop)]
        assert stack.reading()[0, 0].tolist() == pytest.approx(read_off(plain, SIZE), abs=1e-12)
        assert stack.lengths[0].tolist() == pytest.approx([own for _, own in reversed(plain)], abs=1e-12)


@settings(max_examples=50)
@given(whole_moves, st.booleans())
def test_whole_strengths_make_it_a_list_exactly(steps: list[tuple[bool, bool, list[float]]], gradients: bool) -> None:
    stack, plain = empty(), list[list[float]]()
    with torch.set_grad_enabled(gradients):  # without gradients dead slots are dropped
        for pop, push, value in steps:
            stack = stack.next(*tensors(float(pop), float(push), value))
            plain = plain[:-1] if pop else plain
            plain = [*plain, value] if push else plain
            assert stack.reading()[0, 0].tolist() == (plain[-1] if plain else [0.0] * SIZE)
            assert stack.length.item() == len(plain)


def test_dead_slots_are_dropped_without_gradients_and_no_reading_tells() -> None:
    actions, pushed = random_moves(200, 4)
    actions = actions.round()
    with_slots = run(empty(4), actions, pushed)
    stack = empty(4)
    with torch.no_grad():
        assert torch.equal(run(stack, actions, pushed), with_slots)
        for action, value in zip(actions, pushed, strict=True):
            stack = stack.next(action, value)
    assert stack.values.shape[-2] < 150


def test_gradients_are_exact() -> None:
    actions, pushed = random_moves(7, 2, seed=3)
    assert torch.autograd.gradcheck(
        lambda action, value: run(empty(2), action, value), (actions.requires_grad_(), pushed.requires_grad_())
    )


def test_signed_actions_make_it_the_continuous_stack() -> None:
    signed = 2 * torch.rand(60, 5, 1, 1, generator=torch.Generator().manual_seed(2), dtype=torch.float64) - 1
    actions = torch.cat([torch.relu(-signed), torch.relu(signed)], -1)
    _, pushed = random_moves(60, 5)
    stack, continuous = empty(5), ContinuousStack.empty((5,), SIZE, pushed)
    for action, sign, value in zip(actions, signed, pushed, strict=True):
        stack, continuous = stack.next(action, value), continuous.next(sign, value)
        assert torch.equal(stack.reading(), continuous.reading())
        assert torch.equal(stack.lengths, continuous.lengths)


SUPERPOSITION_SIZE = 2
SHOWN = 9
pairs = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=SUPERPOSITION_SIZE, max_size=SUPERPOSITION_SIZE)
raw_shares = st.lists(st.floats(0.01, 1), min_size=3, max_size=3)
soft_moves = st.lists(st.tuples(raw_shares, pairs), max_size=25)
superposition_whole_moves = st.lists(st.tuples(st.integers(0, 2), pairs), max_size=60)
empties = st.sampled_from([0.0, -1.0])
limits = st.sampled_from([None, 1, 3, 200])


class SuperpositionPlainStack:
    """Eqs. 4 and 5 of Joulin & Mikolov 2015 on a list of as many cells as a run can reach."""

    def __init__(self, empty: float, limit: int | None) -> None:
        self.blank = [empty] * SUPERPOSITION_SIZE
        self.cells = [list(self.blank) for _ in range(limit or 100)]

    def next(self, shares: list[float], pushed: list[float]) -> None:
        old = self.cells
        above = [pushed, *old[:-1]]
        below = [*old[1:], self.blank]
        push, pop, stay = shares
        self.cells = [
            [push * a + pop * b + stay * c for a, b, c in zip(*places, strict=True)]
            for places in zip(above, below, old, strict=True)
        ]

    def top(self, count: int) -> list[list[float]]:
        return [*self.cells, *[self.blank] * count][:count]


def fresh(*leading: int, empty: float = 0.0, depth: int = 1, limit: int | None = None) -> SuperpositionStack:
    like = torch.zeros((), dtype=torch.float64)
    return SuperpositionStack.empty(
        leading or (1,), 1, SUPERPOSITION_SIZE, like, empty_value=empty, depth=depth, limit=limit
    )


def superposition_tensors(shares: list[float], pushed: list[float]) -> tuple[Tensor, Tensor]:
    return torch.tensor([[shares]], dtype=torch.float64), torch.tensor([[pushed]], dtype=torch.float64)


@given(soft_moves, empties, limits)
def test_soft_actions_mix_the_cells_as_in_the_paper(
    moves: list[tuple[list[float], list[float]]], empty: float, limit: int | None
) -> None:
    stack, plain = fresh(empty=empty, limit=limit), SuperpositionPlainStack(empty, limit)
    for raw, pushed in moves:
        shares = [share / sum(raw) for share in raw]
        stack = stack.next(*superposition_tensors(shares, pushed))
        plain.next(shares, pushed)
        expected = torch.tensor(plain.top(SHOWN), dtype=torch.float64)
        assert torch.allclose(stack.cells(SHOWN)[0, 0], expected, rtol=0, atol=1e-12)


@given(superposition_whole_moves, empties, limits)
def test_whole_actions_make_a_discrete_stack_exactly(
    moves: list[tuple[int, list[float]]], empty: float, limit: int | None
) -> None:
    stack, plain = fresh(empty=empty, limit=limit, depth=2), list[list[float]]()
    for operation, pushed in moves:
        stack = stack.next(*superposition_tensors([float(operation == i) for i in range(3)], pushed))
        if operation == 0:
            plain = [pushed, *plain][:limit]
        elif operation == 1:
            plain = plain[1:]
        shown = [*plain, *[[empty] * SUPERPOSITION_SIZE] * SHOWN]
        assert stack.cells(SHOWN)[0, 0].tolist() == shown[:SHOWN]
        assert stack.reading().flatten().tolist() == [*shown[0], *shown[1]]
        assert stack.stored.shape[-2] <= len(plain)  # no more is stored than there is


def test_a_stack_cannot_be_made_of_cells_with_gaps_or_too_many_of_them() -> None:
    refused("no gaps", SuperpositionStack.from_cells, torch.tensor([[[[float("nan")], [2.0]]]]))
    with pytest.raises(StacklensError, match="3 cells do not fit on a stack of at most 2"):
        SuperpositionStack.from_cells(torch.ones(1, 1, 3, 1), limit=2)


def test_wrong_shapes_are_refused() -> None:
    refused("expected 2 or 3 shares, not 4", fresh().next, torch.ones(1, 1, 4), torch.ones(1, 1, SUPERPOSITION_SIZE))
    refused("at least 1 cell, not 0 and None", fresh, depth=0)
    refused("at least 1 cell, not 1 and 0", fresh, limit=0)


RING_SIZE = 5


def moved(operation: str, cells: list[float]) -> list[float]:
    """Return what the paper says that an operation leaves of [a, b, c, d, e] (section 3.3)."""
    return {
        "rotate right": [cells[-1], *cells[:-1]],
        "rotate left": [*cells[1:], cells[0]],
        "no-op": cells,
        "pop right": [0.0, *cells[:-1]],
        "pop left": [*cells[1:], 0.0],
    }[operation]


def ring_fresh(*leading: int) -> RingMemory:
    return RingMemory.empty(leading or (1,), RING_SIZE, 1, torch.zeros((), dtype=torch.float64))


whole_shares = st.sampled_from([[float(i == j) for i in range(5)] for j in range(5)])
ring_shares = whole_shares | st.lists(st.floats(0.01, 1), min_size=5, max_size=5)


@given(st.lists(st.tuples(ring_shares, st.floats(0, 1)), max_size=40))
def test_soft_actions_mix_what_the_operations_leave(moves: list[tuple[list[float], float]]) -> None:
    ring, plain = ring_fresh(), [0.0] * RING_SIZE
    for raw, new in moves:
        shares = [share / sum(raw) for share in raw]
        ring = ring.next(torch.tensor([[shares]], dtype=torch.float64), torch.full((1, 1, 1), new, dtype=torch.float64))
        results = [moved(operation, plain) for operation in RING_OPERATIONS]
        plain = [sum(share * cells[i] for share, cells in zip(shares, results, strict=True)) for i in range(RING_SIZE)]
        plain[0] += new
        assert ring.cells.flatten().tolist() == pytest.approx(plain, abs=1e-12)
        assert ring.reading().flatten().tolist() == ring.cells.flatten().tolist()[:1]


def test_wrong_shapes_are_refused_ring() -> None:
    refused("5 operations, not 2", ring_fresh().next, torch.ones(1, 1, 2), torch.ones(1, 1, 1))
    refused("at least 1 cell, not 0", RingMemory.empty, (1,), 0, 1, torch.zeros(()))


def tensor(numbers: list[float]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64).view(1, 1, -1)


@settings(max_examples=30)
@given(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=3, max_size=3))
def test_rounded_actions_round_to_themselves(actions: list[float]) -> None:
    kinds = {"signed": tensor(actions), "softmax": torch.softmax(tensor(actions), -1), "strengths": tensor(actions)}
    for kind, soft in kinds.items():
        whole = round_actions(kind, soft)  # type: ignore[arg-type]
        assert torch.equal(round_actions(kind, whole), whole)  # type: ignore[arg-type]
        assert set(whole.flatten().tolist()) <= {-1.0, 0.0, 1.0}


LETTERS = ("a", "b", "c")
VIEWS_STEPS, WORDS = 60, 12


def baby(seed: int, cells: int = VIEWS_STEPS + 1) -> BabyNTM:
    """Return a random network whose rounded ring does all kinds of things."""
    net = BabyNTM(MarnnConfig(LETTERS, cell_size=1 + seed % 2, stack_limit=cells), seed=seed)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            parameter.mul_(6 if name.endswith("weights") else 0.5)
        net.action_bias.zero_()
    return net


def lists(seed: int) -> ListRNN:
    shape = ListRNNConfig(
        LETTERS,
        hidden=8,
        n_stacks=1 + seed % 3,
        depth=1 + seed % 2,
        no_op=seed % 2 == 0,
        recurrent=seed % 5 == 0,
        stack_limit=3 if seed % 4 == 3 else 200,  # what moves further is lost on both
    )
    net = ListRNN(shape, seed=seed)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(8)
    return net


@torch.no_grad()
def largest_difference(net: StackModel[Any], view: StackView, seed: int = 0) -> float:
    """Return how far the outputs of the rounded network and of a view are apart on random words."""
    rounded = Rounded(net)
    state, seen, largest = rounded.initial_state(WORDS), view.initial_state(WORDS), 0.0
    generator = torch.Generator().manual_seed(seed)
    for _ in range(VIEWS_STEPS):
        letters = torch.randint(0, len(LETTERS), (WORDS,), generator=generator)
        one, other = rounded.step(letters, state), view.step(letters, seen)
        state, seen = one.state, other.state
        largest = max(largest, float((one.output - other.output).abs().max()))
    return largest


def test_a_ring_is_two_stacks_for_as_long_as_their_ends_do_not_meet() -> None:
    assert max(largest_difference(baby(seed), RingAsTwoStacks(baby(seed))) for seed in range(12)) == 0


def test_where_the_ends_of_a_ring_meet_it_is_not() -> None:
    apart = [largest_difference(baby(seed, 4), RingAsTwoStacks(baby(seed, 4))) for seed in range(12)]
    assert sum(difference > 0.01 for difference in apart) > 3


def test_lists_are_two_stacks_each() -> None:
    assert max(largest_difference(lists(seed), views_of(lists(seed))[0]) for seed in range(24)) < 1e-12


def test_only_what_is_no_stack_has_views() -> None:
    assert [view.title for view in views_of(baby(1))] == [
        "its ring as one stack",
        "its ring as one stack, mirrored",
        "its ring as two stacks",
    ]
    assert [view.n_stacks for view in views_of(lists(1))] == [4]
    for net in (MarnnStackRNN(MarnnConfig(LETTERS)), NeuralStack(NeuralStackConfig(LETTERS))):
        assert not views_of(net)
    assert is_stack(MarnnStackRNN(MarnnConfig(LETTERS)))
    assert not is_stack(baby(1))
    assert all(is_stack(view) for view in views_of(baby(1)))


@pytest.mark.parametrize(
    ("taken", "shown"),
    [
        (("pop right", "rotate left"), True),
        (("rotate right", "pop right", "pop left", "no-op"), True),
        (("rotate right", "rotate left"), False),
        (RING_OPERATIONS, False),
    ],
)
def test_that_nothing_comes_back_is_known_without_one_of_the_rotations(taken: tuple[str, ...], shown: bool) -> None:
    one, mirrored, two = views_of(baby(1))
    assert (one.unused(taken) is not None) == shown
    assert mirrored.unused(taken) is None
    assert two.unused(taken) is None


# Stacks as people build them: every kind, read before or after the update, several, with cells that lie there at first,
# against a twin of plain lists.


class OwnNet(nn.Module):
    """An LSTM cell on stacks of cells of 2 numbers, whose output may see their tops after the update."""

    def __init__(self, kind: str, n_stacks: int, after: bool) -> None:
        super().__init__()
        torch.manual_seed(n_stacks)
        self.n, self.acts = n_stacks, {"strength": 2, "continuous": 1}.get(kind, 3)
        self.kind, self.cell = kind, nn.LSTMCell(2 + 2 * n_stacks, 4)
        self.decide, self.new = nn.Linear(4, self.acts * n_stacks), nn.Linear(4, 2 * n_stacks)
        self.head = nn.Linear(4 + 2 * n_stacks * after, 2)
        for value in self.parameters():
            value.data *= 3

    def update(self, x: Tensor, state: Any, top: Tensor) -> tuple[Any, Tensor, Tensor]:
        state = self.cell(torch.cat([x, top.flatten(1)], 1), state)
        raw = self.decide(state[0]).view(len(x), self.n, self.acts)
        squashed = {"strength": torch.sigmoid, "continuous": torch.tanh}.get(self.kind, lambda one: one.softmax(-1))
        actions, new = squashed(raw), self.new(state[0]).view(len(x), self.n, 2)
        return state, actions if self.n > 1 else actions[:, 0], new if self.n > 1 else new[:, 0]

    def output(self, state: Any, top: Tensor) -> Tensor:
        said: Tensor = self.head(torch.cat([state[0], top.flatten(1)], 1)).sigmoid()
        return said

    def step(self, x: Tensor, state: Any, top: Tensor) -> tuple[Any, ...]:
        made = self.update(x, state, top)
        return *made, self.head(made[0][0]).sigmoid()


def plain_outputs(net: OwnNet, word: str, after: bool, initial: list[list[float]], whole: bool) -> np.ndarray:
    """Return the outputs by lists; with ``whole`` actions the largest share, or what is above a half, counts as 1."""
    piled: Any = initial if net.kind in ("superposition", "own") else [(cell, 1.0) for cell in initial]
    stacks, state, said = [list(piled) for _ in range(net.n)], None, []
    for symbol in word:
        x = torch.eye(2)[["ab".index(symbol)]]
        top = torch.tensor([[top_of(net.kind, cells, 2) for cells in stacks]])
        state, actions, new = net.update(x, state, top)
        shares, values = actions.view(net.n, -1).tolist(), new.view(net.n, 2).tolist()
        if whole and net.acts == 3:
            shares = [[float(one == max(row)) for one in row] for row in shares]
        elif whole:
            shares = [[float(abs(one) >= 0.5) * (1 if one > 0 else -1) for one in row] for row in shares]
        stacks = [after_step(net.kind, *one) for one in zip(stacks, shares, values, strict=True)]
        seen = torch.tensor([[top_of(net.kind, cells, 2) for cells in stacks]])
        said.append((net.output(state, seen) if after else net.head(state[0]).sigmoid())[0])
    return torch.stack(said).detach().numpy()


@pytest.mark.parametrize("initial", [None, [[1.0, -1.0], [0.5, 0.25]]])
@pytest.mark.parametrize("n_stacks", [1, 3])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", ["superposition", "strength", "continuous", "own"])
def test_every_kind_of_stack_is_read_before_or_after_its_update(
    kind: str, after: bool, n_stacks: int, initial: list[list[float]] | None
) -> None:
    net = OwnNet(kind, n_stacks, after)
    given: dict[str, Any] = (
        {"step": net.update, "output": net.output, "reads": "after"} if after else {"step": net.step}
    )
    given |= {"actions": ("push", "pop", "none")} if net.acts == 3 else {}
    stack = Lists if kind == "own" else kind
    kept: dict[str, Any] = {"outputs": "next set", "n_stacks": n_stacks, "initial": initial}
    model = wrap(net, "ab", stack=stack, cell=2, **given, **kept)
    for word in ("abbabbbaaab", "bbbbaaaaaabab"):
        for whole, one in ((False, model), (True, Rounded(model))):
            expected = plain_outputs(net, word, after, initial or [], whole)
            np.testing.assert_allclose(trace(one, word).output[0], expected, atol=1e-5)
    # a step from the cells alone, as heads are asked for, is the rounded network's
    rounded, state = Rounded(model), model.initial_state(1)
    blank = torch.full((1, n_stacks, model.depth, 2), torch.nan)
    empty = rounded.stack_of(blank)
    assert torch.allclose(empty.reading(), state.stack.reading())
    once, again = (rounded.step(torch.tensor([1]), replace(state, stack=one)) for one in (state.stack, empty))
    assert torch.allclose(once.output, again.output)
    assert torch.allclose(once.state.stack.reading()[..., :2], again.state.stack.reading()[..., :2])


@pytest.mark.parametrize("kind", ["superposition", "strength", "continuous"])
def test_a_stack_that_is_all_that_a_network_remembers_is_read_and_one_that_does_nothing_is_left_out(kind: str) -> None:
    def update(x: Tensor, h: Tensor, _: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        pushes = {"strength": [0.0, 0.9], "continuous": [0.8]}.get(kind, [0.1, 0.1, 0.8])
        keeps = {"strength": [0.1, 0.1], "continuous": [0.0]}.get(kind, [0.1, 0.8, 0.1])
        return h, torch.tensor([pushes, keeps]).expand(len(x), 2, -1), torch.stack([x, x], 1)

    def output(_: Tensor, top: Tensor) -> Tensor:
        return torch.cat([top[:, 0, :1] + top[:, 1, :1], torch.ones(len(top), 1)], 1)  # an a may follow an a only

    kept: dict[str, Any] = {"hidden": 0, "n_stacks": 2, "outputs": "next set"}
    model = wrap(None, "ab", step=update, output=output, reads="after", stack=kind, **kept)
    small: dict[str, Any] = {"max_length": 5, "long_words": 20, "deep_words": 1, "depth": 3, "cycles": 2, "height": 4}
    result = sl.extract(model, quiet=True, **small)
    assert (result.status, result.stacks.kept, len(result.automaton.states)) == (0, (0,), 2)
