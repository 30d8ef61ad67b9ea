from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from stacklens.models.networks.joulin import ListMemory, ListRNN, ListRNNConfig

HEAD, CELLS = 60, 121  # of a plain list that no run of these tests leaves
OPERATIONS = ("insert", "left", "right", "none")
whole_moves = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.floats(0, 1, allow_subnormal=False)), max_size=40)
soft_moves = st.lists(
    st.tuples(st.lists(st.floats(0.01, 1), min_size=3, max_size=4), st.floats(0, 1, allow_subnormal=False)), max_size=15
)


def fresh(*leading: int, depth: int = 2, limit: int | None = None) -> ListMemory:
    return ListMemory.empty(leading or (1,), 1, torch.zeros((), dtype=torch.float64), depth=depth, limit=limit)


def next_plainly(cells: list[float], shares: list[float], new: float) -> list[float]:
    """Return L_t from L_{t-1}: the three cases of the paper, as they stand there."""
    insert, left, right, none = [*shares, 0.0][:4]
    wide = [-1.0, *cells, -1.0]  # cell i is wide[i + 1]
    after = []
    for i, old in enumerate(cells):
        inserted = new if i == HEAD else wide[i + 2] if i < HEAD else old
        after.append(right * wide[i + 2] + left * wide[i] + insert * inserted + none * old)
    return after


def tensors(shares: list[float], new: float) -> tuple[Tensor, Tensor]:
    return torch.tensor([[shares]], dtype=torch.float64), torch.full((1, 1, 1), new, dtype=torch.float64)


@settings(max_examples=40)
@given(soft_moves)
def test_soft_actions_mix_the_cells_as_in_the_paper(moves: list[tuple[list[float], float]]) -> None:
    memory, plain = fresh(depth=12), [-1.0] * CELLS
    for raw, new in moves:
        shares = [share / sum(raw) for share in raw]
        memory = memory.next(*tensors(shares, new))
        plain = next_plainly(plain, shares, new)
        expected = [plain[HEAD - i] for i in range(12)]
        assert memory.reading().flatten().tolist() == pytest.approx(expected, abs=1e-12)
        right = memory.right.flatten().tolist()
        assert right == pytest.approx(plain[HEAD + 1 : HEAD + 1 + len(right)], abs=1e-12)


@given(whole_moves)
def test_whole_actions_edit_a_list_exactly(moves: list[tuple[str, float]]) -> None:
    memory, before, after = fresh(depth=3), list[float](), list[float]()  # before ends with the head
    for operation, new in moves:
        memory = memory.next(*tensors([float(operation == name) for name in OPERATIONS], new))
        if operation == "insert":
            before.append(new)
        elif operation == "left":
            after.insert(0, before.pop() if before else -1.0)
        elif operation == "right":
            before.append(after.pop(0) if after else -1.0)
        assert memory.reading().flatten().tolist() == [*reversed(before), -1.0, -1.0, -1.0][:3]


def test_what_moves_beyond_the_limit_is_lost() -> None:
    memory = fresh(depth=3, limit=2)
    for value in (0.1, 0.2, 0.3):
        memory = memory.next(*tensors([1.0, 0.0, 0.0], value))
    assert memory.reading().flatten().tolist() == [0.3, 0.2, -1.0]
    for _ in range(2):
        memory = memory.next(*tensors([0.0, 1.0, 0.0], 0.0))
    assert memory.reading().flatten().tolist() == [-1.0, -1.0, -1.0]
    for _ in range(2):
        memory = memory.next(*tensors([0.0, 0.0, 1.0], 0.0))
    assert memory.reading().flatten().tolist() == [0.3, 0.2, -1.0]


@torch.no_grad()
def test_a_network_has_a_head_on_every_list_and_is_what_the_equations_say() -> None:
    net = ListRNN(ListRNNConfig(("a", "b"), hidden=4, n_stacks=3, no_op=True, recurrent=True), seed=1)
    for parameter in net.parameters():
        parameter.mul_(20)
    assert net.operations == OPERATIONS
    state = net.initial_state(1)
    hidden, lists = torch.zeros(4, dtype=torch.float64), [[-1.0] * CELLS for _ in range(3)]
    for symbol in (0, 1, 1, 0, 1, 0, 0):
        step = net.step(torch.tensor([symbol]), state)
        state = step.state
        seen = torch.tensor([cell for one in lists for cell in (one[HEAD], one[HEAD - 1])], dtype=torch.float64)
        drive = net.input_weights[symbol] + net.memory_weights @ seen + net.recurrent_weights @ hidden
        hidden = torch.sigmoid(drive)
        shares = (net.action_weights @ hidden).reshape(3, 4).softmax(-1)
        new = torch.sigmoid(net.pushed_weights @ hidden)
        lists = [next_plainly(one, shares[i].tolist(), float(new[i])) for i, one in enumerate(lists)]
        assert torch.allclose(step.hidden[0], hidden, rtol=0, atol=1e-12)
        assert torch.allclose(step.actions.sum(-1), torch.ones(1, 3, dtype=torch.float64))
