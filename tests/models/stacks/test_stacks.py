"""Every memory against the paper's arrays, soft and with whole actions; rings and lists as stacks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.plain import Items, Lists, OnStacks, PlainStack, read_off, taken_off
from tests.refusals import refused
from torch import Tensor, nn

import stacklens as sl
from stacklens.models import stacks
from stacklens.models.networks.joulin import ListRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnStackRNN
from stacklens.models.rounding import Rounded, is_stack, round_actions
from stacklens.models.stacks import RING_OPERATIONS, ContinuousStack, RingMemory, StrengthStack, SuperpositionStack
from stacklens.models.views import views_of
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
        np.testing.assert_allclose(stack.lengths[0], plain.lengths, rtol=0, atol=1e-12)


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
        with stacks.every_slot():
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
strengths = st.sampled_from((0.0, 1.0)) | st.floats(0, 1, allow_subnormal=False)
values = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=SIZE, max_size=SIZE)
moves = st.lists(st.tuples(strengths, strengths, values), max_size=80)


@given(moves, st.booleans())
def test_it_reads_and_holds_what_the_papers_cascades_do(
    steps: list[tuple[float, float, list[float]]], gradients: bool
) -> None:
    stack, plain = StrengthStack.empty((1,), SIZE, torch.zeros((), dtype=torch.float64)), Items()  # the top first
    with torch.set_grad_enabled(gradients):  # without gradients dead slots are dropped
        for pop, push, value in steps:
            stack = stack.next(*(torch.tensor([[row]], dtype=torch.float64) for row in ([pop, push], value)))
            plain = [(value, push), *taken_off(plain, pop)]
            assert stack.reading()[0, 0].tolist() == pytest.approx(read_off(plain, SIZE), abs=1e-12)
            assert stack.length.item() == pytest.approx(sum(own for _, own in plain), abs=1e-12)


SHOWN = 9
pairs = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=2, max_size=2)
whole_operations = st.sampled_from(torch.eye(3).tolist())
soft_operations = whole_operations | st.lists(st.floats(0.01, 1), min_size=3, max_size=3)


def fresh(empty: float = 0.0, depth: int = 2, limit: int | None = None) -> SuperpositionStack:
    like = torch.zeros((), dtype=torch.float64)
    return SuperpositionStack.empty((1,), 1, 2, like, empty_value=empty, depth=depth, limit=limit)


@given(
    st.lists(st.tuples(whole_operations, pairs), max_size=60)
    | st.lists(st.tuples(soft_operations, pairs), max_size=25),
    st.sampled_from([0.0, -1.0]),
    st.sampled_from([None, 1, 3, 200]),
)
def test_actions_mix_the_cells_of_a_stack_as_in_the_paper(
    moves: list[tuple[list[float], list[float]]], empty: float, limit: int | None
) -> None:
    """Eqs. 4 and 5 of Joulin & Mikolov 2015 on a list of as many cells as a run can reach."""
    blank = [empty, empty]
    stack, cells, whole = fresh(empty, limit=limit), [blank] * (limit or 100), True
    for raw, pushed in moves:
        push, pop, stay = shares = [share / sum(raw) for share in raw]
        stack = stack.next(*(torch.tensor([[row]], dtype=torch.float64) for row in (shares, pushed)))
        places = zip([pushed, *cells[:-1]], [*cells[1:], blank], cells, strict=True)
        cells = [[push * a + pop * b + stay * c for a, b, c in zip(*three, strict=True)] for three in places]
        shown = [*cells, *[blank] * SHOWN][:SHOWN]
        np.testing.assert_allclose(stack.cells(SHOWN)[0, 0], shown, rtol=0, atol=1e-12)
        assert stack.reading().flatten().tolist() == stack.cells(2).flatten().tolist()
        whole &= max(shares) == 1
        if whole:  # no more is stored than there is
            there = [place for place, cell in enumerate(cells, 1) if cell != blank]
            assert stack.stored.shape[-2] <= max(there, default=0)


RING_SIZE = 5
ring_shares = st.sampled_from(torch.eye(5).tolist()) | st.lists(st.floats(0.01, 1), min_size=5, max_size=5)


@given(st.lists(st.tuples(ring_shares, st.floats(0, 1)), max_size=40))
def test_actions_mix_what_the_operations_leave_of_a_ring(moves: list[tuple[list[float], float]]) -> None:
    ring, plain = RingMemory.empty((1,), RING_SIZE, 1, torch.zeros((), dtype=torch.float64)), [0.0] * RING_SIZE
    for raw, new in moves:
        shares = [share / sum(raw) for share in raw]
        ring = ring.next(torch.tensor([[shares]], dtype=torch.float64), torch.full((1, 1, 1), new, dtype=torch.float64))
        left = {  # section 3.3
            "rotate right": [plain[-1], *plain[:-1]],
            "rotate left": [*plain[1:], plain[0]],
            "no-op": plain,
            "pop right": [0.0, *plain[:-1]],
            "pop left": [*plain[1:], 0.0],
        }
        results = zip(*(left[operation] for operation in RING_OPERATIONS), strict=True)
        plain = [sum(share * cell for share, cell in zip(shares, cells, strict=True)) for cells in results]
        plain[0] += new
        assert ring.cells.flatten().tolist() == pytest.approx(plain, abs=1e-12)
        assert ring.reading().flatten().tolist() == ring.cells.flatten().tolist()[:1]


def test_what_is_no_stack_or_ring_is_refused() -> None:
    gap, four, pushed = torch.tensor([[[[float("nan")], [2.0]]]]), torch.ones(1, 1, 4), torch.ones(1, 1, 2)
    refused("no gaps", SuperpositionStack.from_cells, gap)
    refused(
        "3 cells do not fit on a stack of at most 2", SuperpositionStack.from_cells, torch.ones(1, 1, 3, 1), limit=2
    )
    refused("expected 2 or 3 shares, not 4", fresh().next, four, pushed)
    refused("at least 1 cell, not 0 and None", fresh, depth=0)
    refused("at least 1 cell, not 1 and 0", fresh, depth=1, limit=0)
    refused("5 operations, not 4", RingMemory.empty((1,), 5, 1, torch.zeros(())).next, four, pushed)
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


def test_only_what_is_no_stack_has_views() -> None:
    ring, lists = BabyNTM(MarnnConfig(LETTERS, stack_limit=9)), ListRNN(StackRNNConfig(LETTERS, n_stacks=2))
    assert [view.title for view in views_of(ring)] == [
        "its ring as one stack",
        "its ring as one stack, mirrored",
        "its ring as two stacks",
    ]
    assert [view.n_stacks for view in views_of(lists)] == [4]
    assert {view.initial_state(1).stack.limit for view in (*views_of(ring), *views_of(lists))} == {8, 200}
    for net in (MarnnStackRNN(MarnnConfig(LETTERS)), NeuralStack(NeuralStackConfig(LETTERS))):
        assert not views_of(net)
    assert is_stack(MarnnStackRNN(MarnnConfig(LETTERS)))
    assert not is_stack(ring)
    assert all(is_stack(view) for view in views_of(ring))


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
    one, mirrored, two = views_of(BabyNTM(MarnnConfig(LETTERS, stack_limit=9)))
    assert (one.unused(taken) is not None) == shown
    assert mirrored.unused(taken) is None
    assert two.unused(taken) is None


# Stacks as people build them: every kind, read before or after the update, several, with cells that lie there at first,
# against a twin of plain lists.


@pytest.mark.parametrize("initial", [None, [[1.0, -1.0], [0.5, 0.25]]])
@pytest.mark.parametrize("n_stacks", [1, 3])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", ["superposition", "strength", "continuous", "own"])
def test_every_kind_of_stack_is_read_before_or_after_its_update(
    kind: str, after: bool, n_stacks: int, initial: list[list[float]] | None
) -> None:
    net = OnStacks(kind, nn.LSTMCell, 1, n_stacks, after)
    given: dict[str, Any] = (
        {"step": net.update, "output": net.output, "reads": "after"} if after else {"step": net.step}
    )
    given |= {"actions": ("push", "pop", "none")} if kind in ("superposition", "own") else {}
    stack = Lists if kind == "own" else kind
    kept: dict[str, Any] = {"outputs": "next set", "n_stacks": n_stacks, "initial": initial}
    model = wrap(net, "()", stack=stack, cell=2, **given, **kept)
    for word in ("())()))((()", "))))(((((()()"):
        for whole, one in ((False, model), (True, Rounded(model))):
            np.testing.assert_allclose(trace(one, word).output[0], net.says(word, initial or [], whole), atol=1e-5)
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
