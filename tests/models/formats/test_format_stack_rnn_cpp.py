from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import torch
from tests.models.published_networks import published

from stacklens.errors import FileFormatError
from stacklens.models.formats.stack_rnn_cpp import looks_like, read_stack_rnn_cpp
from stacklens.models.rounding import Rounded

NETWORK = "stack-rnn-cpp/model_*"
LINE = re.compile(
    r"cur: (\w) next: (\w) pred: (\w) prob\[\w\]: (\S+)\s+(\w+)\[(\S+)\] stack\[0\]:\s+"
    r"\[0\]:(\S+) \[1\]:(\S+) \[2\]:(\S+)"
)
NAN = float("nan")


@torch.no_grad()
def test_the_authors_own_trace_comes_out_step_for_step() -> None:
    net = Rounded(read_stack_rnn_cpp(published(NETWORK)))
    lines = published("stack-rnn-cpp/trace_*").read_text().splitlines()
    assert len(lines) == 60
    state = net.initial_state(1)
    for symbol in "b" + "a" * 58 + "b" * 57:  # the trace is of the stream's last word, n = 59, after the one before
        state = net.step(torch.tensor([net.alphabet.index(symbol)]), state).state
    for line in lines:
        found = LINE.match(line)
        assert found is not None
        current, following, predicted, probability, action, share, *tops = found.groups()
        step = net.step(torch.tensor([net.alphabet.index(current)]), state)
        state = step.state
        assert net.output_name(int(step.output.argmax())) == predicted
        assert step.output[0, net.alphabet.index(following)].item() == pytest.approx(float(probability), abs=2e-6)
        assert net.operations[int(step.actions.argmax())] == action
        assert step.actions.max().item() == float(share)
        assert state.stack.cells(3).flatten().tolist() == pytest.approx([float(top) for top in tops], abs=6e-4)


@torch.no_grad()
def test_the_rounded_network_predicts_what_can_be_predicted() -> None:
    net = Rounded(read_stack_rnn_cpp(published(NETWORK)))
    state = net.step(torch.tensor([1]), net.initial_state(1)).state  # the program feeds the last letter first
    for n in (3, 2, 59, 20, 7):
        for i, symbol in enumerate("a" * n + "b" * n):
            state = net.step(torch.tensor(["ab".index(symbol)]), state).state
            if i >= n:
                assert net.output_name(net.answer(state).item()) == ("b" if i < 2 * n - 1 else "a")


def numbers(count: int, start: int = 0) -> list[float]:
    return [math.sin(i + 1) for i in range(start, start + count)]


def write(path: Path, header: str, values: list[float]) -> Path:
    path.write_text(header + "\n" + "".join(f"{value:.6f}," for value in values))
    return path


@pytest.mark.parametrize("mod", [0, 1, 2])
@torch.no_grad()
def test_two_stacks_with_no_op_are_read_in_the_order_of_the_file(mod: int, tmp_path: Path) -> None:
    n_in, n_act, n_hid, n_stacks, size, depth = 4, 3, 2, 2, 5, 3
    blocks = [n_in * n_hid, n_hid * n_hid]
    blocks += [n_act * n_hid, size * n_hid, n_hid * size] * n_stacks + [n_in * n_hid]
    values = numbers(sum(blocks))
    path = write(tmp_path / "model", f"{n_in} {n_act} {n_hid} {n_stacks} {size} {n_in} 50 1 {mod} {depth}", values)
    assert looks_like(path)
    net = read_stack_rnn_cpp(path, ("w", "x", "y", "z"))
    assert (net.alphabet, net.operations) == (("w", "x", "y", "z"), ("push", "pop", "none"))
    assert (net.depth, net.stack_limit, net.recurrent) == (depth, size, mod == 2)

    def at(block: int, row: int, column: int, columns: int) -> float:
        return round(values[sum(blocks[:block]) + row * columns + column], 6)

    hidden = torch.full((1, n_hid), 0.5, dtype=torch.float64)
    cells = torch.tensor([[[[0.1], [0.2], [0.3]], [[0.4], [0.5], [NAN]]]], dtype=torch.float64)
    answer = net.controller(torch.tensor([2]), hidden, net.stack_of(cells).reading())
    for j in range(n_hid):
        drive = at(0, 2, j, n_hid)
        if mod:
            for s, stack in enumerate(([0.1, 0.2, 0.3], [0.4, 0.5, -1.0])):
                drive += sum(at(4 + 3 * s, j, i, size) * cell for i, cell in enumerate(stack))
        if mod == 2:
            drive += sum(at(1, j, i, n_hid) * 0.5 for i in range(n_hid))
        assert answer.hidden[0, j].item() == pytest.approx(1 / (1 + math.exp(-drive)), abs=1e-12)
    after = answer.hidden[0].tolist()
    for s in range(n_stacks):
        raw = [math.exp(sum(at(2 + 3 * s, a, j, n_hid) * after[j] for j in range(n_hid))) for a in range(n_act)]
        assert answer.actions[0, s].tolist() == pytest.approx([x / sum(raw) for x in raw], abs=1e-12)
        pushed = sum(at(3 + 3 * s, 0, j, n_hid) * after[j] for j in range(n_hid))
        assert answer.pushed[0, s].item() == pytest.approx(1 / (1 + math.exp(-pushed)), abs=1e-12)
    raw = [math.exp(sum(at(8, o, j, n_hid) * after[j] for j in range(n_hid))) for o in range(n_in)]
    assert answer.output[0].tolist() == pytest.approx([x / sum(raw) for x in raw], abs=1e-12)


@pytest.mark.parametrize(
    ("header", "values", "message"),
    [
        ("2 2 1 1 2 2 50 1 1", numbers(11), "the first line is '2 2 1 1 2 2 50 1 1'; expected .* ten whole numbers"),
        ("2 2 x 1 2 2 50 1 1 1", numbers(11), "the first line is '2 2 x 1"),
        ("2 2 -1 1 2 2 50 1 1 1", numbers(11), "the first line is '2 2 -1 1"),
        ("2 2 0 1 2 2 50 1 1 1", numbers(11), "hidden is 0; expected"),
        ("2 4 1 1 2 2 50 1 1 1", numbers(13), "says 4 actions; expected 2"),
        ("2 2 1 1 2 3 50 1 1 1", numbers(12), "says 2 symbols in and 3 out; expected as many"),
        ("2 2 1 1 2 2 50 1 3 1", numbers(11), "says MOD 3; expected 0, 1 or 2"),
        ("2 2 1 1 2 2 50 1 1 3", numbers(11), "says depth 3 of 2 cells"),
        ("2 2 1 0 2 2 50 1 1 1", numbers(5), "says 0 stacks"),
        ("0 2 1 1 2 0 50 1 1 1", numbers(7), "the alphabet is empty"),
        ("2 2 1 1 2 2 50 1 1 1", numbers(10), "found 10 numbers; expected 11 from the first line"),
        ("2 2 1 1 2 2 50 1 1 1", numbers(12), "found 12 numbers; expected 11 from the first line"),
        ("2 2 999999999 1 2 2 50 1 1 1", numbers(11), "hidden is 999999999; expected a whole number from 1"),
        ("2 2 9 9 999999 2 50 1 1 1", numbers(11), "found 11 numbers; expected 162"),
        ("2 2 1 1 2 2 50 1 1 1", [*numbers(10), NAN], "found NaN or infinite numbers"),
        ("2 2 1 1 2 2 50 1 1 1", [*numbers(10), math.inf], "found NaN or infinite numbers"),
    ],
)
def test_bad_files_are_refused_in_one_line(header: str, values: list[float], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "bad", header, values)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_stack_rnn_cpp(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
