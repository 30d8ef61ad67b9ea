"""Files of the papers' programs: read as they were meant, with their task, or refused in one line."""

import math
import pickle
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.models.plain import steps_of
from tests.models.published_networks import published
from tests.models.test_files import Evil
from tests.refusals import complaint_of, refused
from torch import Tensor, nn

from stacklens.core.errors import FileFormatError
from stacklens.extract.by_name import specification_of
from stacklens.extract.specification import check_same_alphabet
from stacklens.languages.catalogue import get_task
from stacklens.models.base import StackModel
from stacklens.models.checkpoint import load_checkpoint, load_network, save_model
from stacklens.models.formats.published import is_marnns, read_marnns, read_stack_rnn_cpp
from stacklens.models.formats.published import is_stack_rnn_cpp as cpp_looks_like
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import ControllerKind, NeuralStack, NeuralStackConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnStackLSTM, MarnnStackRNN
from stacklens.models.rounding import Rounded
from stacklens.models.stacks import StrengthStack


def synthetic(
    cell: str = "rnn", symbols: int = 6, hidden: int = 5, size: int = 3, memory: str = "W_sh"
) -> dict[str, Any]:
    """Return a state dict as the authors' program would save it."""
    torch.manual_seed(0)
    layers: dict[str, nn.Module] = {
        cell: (nn.RNN if cell == "rnn" else nn.LSTM)(symbols, hidden),
        "W_y": nn.Linear(hidden, symbols),
        "W_n": nn.Linear(hidden, size),
        "W_a": nn.Linear(hidden, 5 if memory == "W_m" else 2),
        memory: nn.Linear(size, hidden),
    }
    return {key: value.double() for key, value in nn.ModuleDict(layers).state_dict().items()}


@pytest.mark.parametrize("rounded", [False, True])
@torch.no_grad()
def test_the_published_network_is_right_on_random_words(rounded: bool) -> None:
    net = load_network(published("marnns/stack_rnn_model_weights.pth")).model
    runner: StackModel[Any] = Rounded(net) if rounded else net
    examples = get_task("dyck-2").sample(300, (2, 50), seed=1)
    outputs = torch.stack([step.output > 0.5 for step in steps_of(runner, torch.tensor(examples.symbols.T).clamp(0))])
    assert examples.correct(outputs.transpose(0, 1).numpy()).all()


@pytest.mark.parametrize(
    ("cell", "memory", "expected"),
    [("rnn", "W_sh", MarnnStackRNN), ("lstm", "W_sh", MarnnStackLSTM), ("rnn", "W_m", BabyNTM)],
)
@torch.no_grad()
def test_every_kind_of_network_is_read(cell: str, memory: str, expected: Any, tmp_path: Path) -> None:
    weights = synthetic(cell, memory=memory)
    path = tmp_path / "net.pth"
    torch.save(weights, path)
    assert is_marnns(weights)
    net: Any = load_network(path).model
    assert type(net) is expected
    assert not net.training
    assert (net.alphabet, net.first, net.shape.hidden, net.cell_size) == (tuple("()[]{}"), tuple("([{"), 5, 3)
    step = net.step(torch.tensor([4]), net.initial_state(1))
    logits = step.hidden[..., :5] @ weights["W_y.weight"].mT + weights["W_y.bias"]
    assert torch.allclose(step.output, torch.sigmoid(logits))


@torch.no_grad()
def test_a_baby_ntms_rotations_change_places() -> None:
    weights = synthetic(memory="W_m")
    weights["W_a.weight"].zero_()
    weights["W_a.bias"].copy_(torch.tensor([3.0, 2.0, 1.0, 0.0, -1.0]))  # the program rotates left first
    net = read_marnns(weights)
    actions = net.step(torch.tensor([0]), net.initial_state(1)).actions[0, 0]
    order = [net.operations[i] for i in actions.argsort(descending=True).tolist()]
    assert order == ["rotate left", "rotate right", "no-op", "pop right", "pop left"]


def edited(**changes: Tensor | None) -> dict[str, Any]:
    weights = synthetic()
    for key, value in changes.items():
        name = key.replace("__", ".")
        if value is None:
            del weights[name]
        else:
            weights[name] = value
    return weights


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "found an empty dictionary; expected a state dict of the marnns program"),
        ([1, 2], "found a list; expected a state dict of the marnns program"),
        ({"layer.weight": torch.zeros(2)}, "found a dictionary with keys layer.weight; expected"),
        (edited(W_n__bias=None), "found W_a.bias.*; expected .*W_n.bias"),
        (edited(W_n__weight=None), "found a dictionary with keys rnn.*; expected a state dict"),
        (edited(rnn__weight_ih_l1=torch.zeros(5, 5)), "weight_ih_l1.*one layer"),
        (edited(W_y__weight=torch.zeros(4, 5)), r"output_weights has shape \(4, 5\); expected \(6, 5\)"),
        (edited(W_a__weight=torch.zeros(3, 5)), r"action_weights has shape \(3, 5\); expected \(2, 5\)"),
        (edited(W_sh__bias=torch.full((5,), torch.nan)), "memory_bias holds NaN"),
        (edited(W_sh__bias=torch.zeros(5, dtype=torch.int64)), "W_sh.bias is a tensor of torch.int64"),
        (edited(W_y__weight=torch.zeros(6)), r"W_y.weight has shape \(6,\); expected 2 axes"),
        (synthetic("lstm", memory="W_m"), "a Baby-NTM has an rnn"),
        (synthetic(symbols=5), r"reads 5 symbols, which are not pairs .*--alphabet"),
        (synthetic(symbols=16), r"reads 16 symbols, which are not pairs"),
    ],
)
def test_bad_files_are_refused_in_one_line(content: object, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.pth"
    torch.save(content, path)
    complaint_of(partial(load_network, format="marnns"), path, message)


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
    # the trace is of the stream's last word, n = 59, after the one before
    *_, state = (step.state for step in steps_of(net, "b" + "a" * 58 + "b" * 57))
    for line in lines:
        found = LINE.match(line)
        current, following, predicted, probability, action, share, *tops = found.groups()
        step = net.step(torch.tensor([net.alphabet.index(current)]), state)
        state = step.state
        assert net.output_name(int(step.output.argmax())) == predicted
        assert step.output[0, net.alphabet.index(following)].item() == pytest.approx(float(probability), abs=2e-6)
        assert net.operations[int(step.actions.argmax())] == action
        assert step.actions.max().item() == float(share)
        assert state.stack.cells(3).flatten().tolist() == pytest.approx([float(top) for top in tops], abs=6e-4)


def numbers(count: int) -> list[float]:
    return [math.sin(i + 1) for i in range(count)]


def write(path: Path, header: str, values: list[float]) -> Path:
    path.write_text(header + "\n" + "".join(f"{value:.6f}," for value in values))
    return path


@pytest.mark.parametrize("mod", [0, 1, 2])
def test_two_stacks_with_no_op_are_read_in_the_order_of_the_file(mod: int, tmp_path: Path) -> None:
    shape = StackRNNConfig(("w", "x", "y", "z"), 2, 2, depth=3, no_op=True, recurrent=mod == 2, stack_limit=5)
    expected = {name: value.round(decimals=6) for name, value in StackRNN(shape, seed=1).state_dict().items()}
    if mod == 0:
        expected["memory_weights"].zero_()
    nothing = torch.full((5, 5), 9.0, dtype=torch.float64)  # what the program holds and never uses
    blocks = [expected["input_weights"], expected.get("recurrent_weights", nothing[:2, :2])]
    for n in range(2):
        tops = nothing[:2, :3] if mod == 0 else expected["memory_weights"][:, 3 * n : 3 * n + 3]
        blocks += [
            expected["action_weights"][3 * n : 3 * n + 3],
            expected["pushed_weights"][n : n + 1],
            nothing[1:, :2],
        ]
        blocks += [torch.cat([tops, nothing[:2, 3:]], 1)]
    numbers = torch.cat([block.flatten() for block in (*blocks, expected["output_weights"])]).tolist()
    path = write(tmp_path / "model", f"4 3 2 2 5 4 50 1 {mod} 3", numbers)
    assert cpp_looks_like(path)
    net = read_stack_rnn_cpp(path, ("w", "x", "y", "z"))
    assert (net.shape, net.operations) == (shape, ("push", "pop", "none"))
    assert all(torch.equal(value, expected[name]) for name, value in net.state_dict().items())


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
def test_bad_files_are_refused_in_one_line_cpp(header: str, values: list[float], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "bad", header, values)
    complaint_of(read_stack_rnn_cpp, path, message)


def state_dict(
    kind: ControllerKind = "linear", prefix: str = "_network.", suffix: str = "", net: NeuralStack | None = None
) -> dict[str, Tensor]:
    """Return what the authors' program would have saved of ``net``, or of ours with seed 1: 3 symbols, 2 numbers."""
    net = net or NeuralStack(NeuralStackConfig(("0", "1", "2"), controller=kind, hidden=4), seed=1)
    cell = {"rnn": "_rnn", "lstm": "_lstm"}.get(kind)
    return {
        f"{prefix}{cell}.{key}{suffix}" if "_" in key else f"{prefix}_linear.{key}": value.float()
        for key, value in net.net.state_dict().items()
    }


def linear(rows: int, columns: int) -> dict[str, Tensor]:
    return {"_network._linear.weight": torch.zeros(rows, columns), "_network._linear.bias": torch.zeros(rows)}


def right_words(model: StackModel[StrengthStack]) -> float:
    """Return the share of the authors' test words that are reversed without an error; null targets do not count."""
    lines = [line.split(",") for line in published("stacknn/reverse_test_200.csv").read_text().splitlines()]
    pairs = [(word.split(), target.split()) for word, target in lines]
    steps = max(len(target) for _, target in pairs)
    words = torch.tensor([[int(s) for s in word + ["2"] * (steps - len(word))] for word, _ in pairs])
    targets = torch.tensor([[int(s) for s in target + ["2"] * (steps - len(target))] for _, target in pairs])
    state, right = model.initial_state(len(pairs)), torch.ones(len(pairs), dtype=torch.bool)
    for symbols, target in zip(words.unbind(1), targets.unbind(1), strict=True):
        state = model.step(symbols, state).state
        right &= torch.from_numpy(model.answer(state) == target.numpy()) | (target == 2)
    assert len(pairs) == 200
    return right.double().mean().item()


@torch.no_grad()
def test_the_published_linear_network_reverses_every_word() -> None:
    net: Any = load_network(published("stacknn/linear_reverse_task_20.dat")).model
    assert (net.alphabet, net.null, net.cell_size) == (("0", "1", "#"), "#", 2)
    assert right_words(net) == 1
    assert right_words(Rounded(net)) == 1


@pytest.mark.parametrize("suffix", ["", "_l0"])
@pytest.mark.parametrize("prefix", ["_network.", "_controller."])
@pytest.mark.parametrize("kind", ["linear", "rnn", "lstm"])
def test_every_controller_is_read_back(kind: ControllerKind, prefix: str, suffix: str, tmp_path: Path) -> None:
    torch.save(state_dict(kind, prefix, suffix), tmp_path / "net.dat")
    net: Any = load_network(tmp_path / "net.dat").model
    assert (net.shape.controller, net.training) == (kind, False)
    expected = NeuralStack(NeuralStackConfig(("0", "1", "2"), controller=kind, hidden=4), seed=1).net.state_dict()
    for key, value in net.net.state_dict().items():
        assert value.dtype == torch.float64
        assert torch.equal(value, expected[key].float().double())


@pytest.mark.parametrize(
    ("content", "alphabet", "message"),
    [
        (linear(10, 8), None, "8 inputs and 10 outputs: 6 symbols and values of 2 numbers, or 2 and 6, as in XOR;"),
        (linear(9, 5), None, "5 inputs and 9 outputs, a buffered network's; expected 7 outputs"),
        (linear(8, 5), None, "5 inputs and 8 outputs; expected two more outputs than inputs .* with --alphabet"),
        (linear(7, 5), "01234", r"an alphabet of 5 symbols \(0 1 2 3 4\) does not fit; expected 1 to 4 different"),
        (linear(7, 5), "00", "expected 1 to 4 different symbols"),
        (linear(3, 5), "0", "does not fit"),
        ({}, None, "found an empty dictionary; expected a StackNN state dict"),
        (
            {**linear(7, 5), "_linear.weight": torch.zeros(7, 5)},  # one of them would hide the other
            None,
            r"found _linear\.weight, _network\._linear\.bias, _network\._linear\.weight",
        ),
        ({"W_y.weight": torch.zeros(1)}, None, "keys W_y.weight; expected a StackNN state dict"),
        ({**linear(7, 5), "_network._linear.bias": torch.zeros(6)}, None, r"bias has shape \(6,\); expected \(7,\)"),
        ({**linear(7, 5), "_network._linear.bias": "7"}, None, "_linear.bias is '7'; expected a dense tensor"),
        ({**linear(7, 5), "_network._linear.bias": torch.full((7,), torch.nan)}, None, "bias holds NaN or infinite"),
        ({**linear(7, 5), "_network._GRU.weight_ih": torch.zeros(30, 5)}, None, "found _network._GRU.weight_ih,"),
        ({**state_dict("lstm"), "_network._lstm.weight_hh": torch.zeros(8, 4)}, None, r"weight_hh .* expected \(16,"),
    ],
)
def test_what_is_no_such_network_is_refused_in_one_line(
    content: dict[str, Tensor], alphabet: str | None, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.dat"
    torch.save(content, path)
    complaint_of(partial(load_network, format="stacknn", alphabet=alphabet), path, message)


@pytest.mark.parametrize("program", ["marnns", "stacknn"])
def test_a_file_that_cannot_be_loaded_is_refused(program: str, tmp_path: Path) -> None:
    torch.save(synthetic() if program == "marnns" else state_dict(), whole := tmp_path / "whole")
    read = partial(load_network, format=program)
    files = {
        "code": (pickle.dumps(Evil(tmp_path / "ran")), "loading them could run code; refused"),
        "empty": (b"", "the file is empty; expected a network: a stacklens checkpoint, a file of marnns, StackNN"),
        "cut": (whole.read_bytes()[:300], "damaged or truncated: 300 bytes"),
        "text": (b"10 2 10 1\n0.1,", "not a PyTorch file .*; expected a network: a stacklens checkpoint"),
    }
    for name, (data, found) in files.items():
        (tmp_path / name).write_bytes(data)
        refused(f"{name}: .*{found}", read, tmp_path / name, error=FileFormatError)
    refused("missing: no such file", read, tmp_path / "missing", error=FileFormatError)
    refused("is a folder", read, tmp_path, error=FileFormatError)
    assert not (tmp_path / "ran").exists()


# Networks of others' programs come with the task that they were trained on, and the two fit.

BRACKETS = (")", "(", "[", "]", "#")
AGREEMENT = ("devoured", "slept", "the", "lobsters", "have", "that", "lobster", "has", "in", "#")


@pytest.mark.parametrize("kind", ["linear", "rnn", "lstm"])
@pytest.mark.parametrize(
    ("symbols", "task"), [(BRACKETS, "parenthesis-prediction"), (AGREEMENT, "agreement")], ids=["dyck", "agreement"]
)
@torch.no_grad()
def test_the_null_of_a_next_symbol_task_does_not_part_network_and_task(
    symbols: tuple[str, ...], task: str, kind: ControllerKind, tmp_path: Path
) -> None:
    theirs = NeuralStack(NeuralStackConfig(symbols, controller=kind, hidden=6, null="#"), seed=3)
    torch.save(state_dict(kind, "_controller.", "_l0", theirs), tmp_path / "net.dat")
    for alphabet in (None, symbols, symbols[:-1]):
        found = load_network(tmp_path / "net.dat", alphabet=alphabet)
        assert found.task["language"] == task
        assert found.model.alphabet == symbols[:-1]
        assert found.model.output_alphabet == symbols
        check_same_alphabet(specification_of(found), found.model)
        for word in get_task(task).sample(20, split="train", seed=1).words:
            numbers = torch.tensor([[symbols.index(symbol)] for symbol in word])
            ours = found.model.run(numbers, found.model.initial_state(1)).output
            assert torch.allclose(ours, theirs.run(numbers, theirs.initial_state(1)).output, atol=1e-6)


def cpp_file(folder: Path, name: str, letters: int) -> Path:
    """Return a file of the C++ program with some weights: one stack of 3 cells, 2 hidden units."""
    values = numbers(2 * (2 * letters + 2 + 2 + 2 * 3))
    return write(folder / name, f"{letters} 2 2 1 3 {letters} 50 1 1 2", values)


@pytest.mark.parametrize(
    ("ntask", "nchar", "nrep", "task"),
    [
        (1, 2, 1, "anbn"),
        (1, 2, 2, "anbn"),  # task 1 has no repetitions
        (1, 3, 2, "anbncn"),
        (1, 4, 1, "anbncndn"),
        (1, 5, 1, None),
        (2, 2, 2, "anb2n"),
        (2, 2, 1, "anbn"),
        (2, 2, 3, None),
        (2, 3, 2, None),  # a^n b^{2n} or a^n c^{2n}
        (3, 3, 1, "anbmcnm"),
        (4, 3, 1, "memorization"),
        (5, 3, 1, None),
        (6, 4, 1, None),
        (12, 2, 2, None),
    ],
)
def test_a_file_name_of_the_cpp_program_means_what_its_task_does_with_it(
    ntask: int, nchar: int, nrep: int, task: str | None, tmp_path: Path
) -> None:
    name = f"model_ntask{ntask}_nchar{nchar}_nhid2_nstack1_bptt50_mod1_depth2_noop0_nrep{nrep}_hard1_seed1"
    found = load_network(cpp_file(tmp_path, name, nchar))
    assert found.task["language"] == task
    reference = specification_of(found)
    check_same_alphabet(reference, found.model)
    assert (reference is None) == (task is None)


def test_streams_of_the_cpp_program_begin_after_the_last_letter(tmp_path: Path) -> None:
    found = load_network(cpp_file(tmp_path, "model_ntask1_nchar3_nrep1", 3))
    reference = specification_of(found)
    assert reference.name == "anbncn-after-c"
    named = specification_of(found, "anbmcnm")  # what the user names is fed so too
    assert named.name == "anbmcnm-after-c"
    save_model(tmp_path / "ours.pt", found)
    again = specification_of(load_checkpoint(tmp_path / "ours.pt"))
    assert again.name == "anbncn-after-c"
