"""Networks of others' programs come with the task that they were trained on, and the two fit."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from stacklens.extract.by_name import specification_of
from stacklens.extract.specification import check_same_alphabet
from stacklens.languages import get_task
from stacklens.models.io import load_checkpoint, load_network, save_model
from stacklens.models.networks.neural_stack import ControllerKind, NeuralStack, NeuralStackConfig

BRACKETS = (")", "(", "[", "]", "#")
AGREEMENT = ("devoured", "slept", "the", "lobsters", "have", "that", "lobster", "has", "in", "#")


def saved(path: Path, symbols: tuple[str, ...], kind: ControllerKind) -> NeuralStack:
    """Return a network with random weights over ``symbols``, and save it as the StackNN program does."""
    net = NeuralStack(NeuralStackConfig(symbols, controller=kind, hidden=6, null="#"), seed=3)
    cell = {"rnn": "_rnn.", "lstm": "_lstm."}.get(kind, "")
    names = {
        key: f"_controller.{f'{cell}{key}_l0' if '_' in key else f'_linear.{key}'}" for key in net.net.state_dict()
    }
    torch.save({names[key]: value for key, value in net.net.state_dict().items()}, path)
    return net


@pytest.mark.parametrize("kind", ["linear", "rnn", "lstm"])
@pytest.mark.parametrize(
    ("symbols", "task"), [(BRACKETS, "parenthesis-prediction"), (AGREEMENT, "agreement")], ids=["dyck", "agreement"]
)
@torch.no_grad()
def test_the_null_of_a_next_symbol_task_does_not_part_network_and_task(
    symbols: tuple[str, ...], task: str, kind: ControllerKind, tmp_path: Path
) -> None:
    theirs = saved(tmp_path / "net.dat", symbols, kind)
    for alphabet in (None, symbols, symbols[:-1]):
        found = load_network(tmp_path / "net.dat", alphabet=alphabet)
        assert found.task["language"] == task
        assert found.model.alphabet == symbols[:-1]
        assert found.model.output_alphabet == symbols
        check_same_alphabet(specification_of(found), found.model)
        words = get_task(task).sample(20, split="train", seed=1).words
        for word in words:
            numbers = torch.tensor([[symbols.index(symbol)] for symbol in word])
            ours = found.model.run(numbers, found.model.initial_state(1)).output
            assert torch.allclose(ours, theirs.run(numbers, theirs.initial_state(1)).output, atol=1e-12)


def cpp_file(folder: Path, name: str, letters: int) -> Path:
    """Return a file of the C++ program with random weights: one stack of 3 cells, 2 hidden units."""
    count = 2 * (2 * letters + 2 + 2 + 2 * 3)
    rng = random.Random(1)
    numbers = "".join(f"{rng.uniform(-1, 1):.4f}," for _ in range(count))
    path = folder / name
    path.write_text(f"{letters} 2 2 1 3 {letters} 50 1 1 2\n{numbers}")
    return path


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
    assert reference is not None
    assert reference.name == "anbncn-after-c"
    named = specification_of(found, "anbmcnm")  # what the user names is fed so too
    assert named is not None
    assert named.name == "anbmcnm-after-c"
    save_model(tmp_path / "ours.pt", found)
    again = specification_of(load_checkpoint(tmp_path / "ours.pt"))
    assert again is not None
    assert again.name == "anbncn-after-c"
