"""Files whose numbers claim what their weights cannot mean: refused in one line before anything is made of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from stacklens.errors import FileFormatError, StacklensError
from stacklens.models.formats.marnns import our_names
from stacklens.models.io import load_network
from stacklens.models.networks.buffered import BufferedConfig, BufferedNeuralStack
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.neural_stack import NeuralStack, NeuralStackConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnStackRNN
from stacklens.models.registry import MODELS, build_model, expected_weights


def marnns_file() -> dict[str, Tensor]:
    weights = MarnnStackRNN(MarnnConfig(("(", ")")), seed=1).state_dict()
    return {theirs: weights[ours] for theirs, ours in our_names("rnn", "W_sh").items()}


def stacknn_file() -> dict[str, Tensor]:
    return {"_network._linear.weight": torch.zeros(7, 5), "_network._linear.bias": torch.zeros(7)}


def checkpoint_file() -> dict[str, Any]:
    net = NNPDA(NNPDAConfig(("a", "b"), "second", 2), seed=1)
    return content_of(net)


def content_of(net: Any) -> dict[str, Any]:
    return {
        "format": "stacklens",
        "model": net.name,
        "config": net.config(),
        "alphabet": net.alphabet,
        "task": {"kind": net.task_kind, "language": None},
        "state_dict": dict(net.state_dict()),
        "provenance": {},
    }


def complaint(content: object, path: Path) -> str:
    """Return what is wrong with a file of ``content``, in one line after its name."""
    torch.save(content, path)
    with pytest.raises(FileFormatError) as error:
        load_network(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert len(message) <= 2_010
    return message.removeprefix(f"{path}: ")


def sparse(value: Tensor) -> Tensor:
    return value.to_sparse()


def csr(value: Tensor) -> Tensor:
    return value.reshape(len(value), -1).to_sparse_csr()


def meta(value: Tensor) -> Tensor:
    return value.to("meta")


def nested(value: Tensor) -> Tensor:
    return torch.nested.nested_tensor([value, value])


def float8(value: Tensor) -> Tensor:
    return value.to(torch.float8_e4m3fn)


def stride_0(value: Tensor) -> Tensor:
    return torch.zeros(1, dtype=value.dtype).expand(value.shape)


def quantised(value: Tensor) -> Tensor:
    return torch.quantize_per_tensor(value.float(), 0.1, 0, torch.qint8)


@pytest.mark.parametrize("spoil", [sparse, csr, meta, nested, float8, stride_0, quantised])
@pytest.mark.parametrize("file", ["marnns", "stacknn", "stacklens"])
@pytest.mark.filterwarnings("ignore::UserWarning")  # of torch, when such tensors are made and saved
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_tensor_that_is_not_dense_and_whole_is_refused(
    file: str, spoil: Callable[[Tensor], Tensor], tmp_path: Path
) -> None:
    content: dict[str, Any] = {"marnns": marnns_file, "stacknn": stacknn_file, "stacklens": checkpoint_file}[file]()
    weights = content.get("state_dict", content)
    for name in [name for name, value in weights.items() if value.numel() > 1]:  # one number is whole at any stride
        spoiled = {**weights, name: spoil(weights[name])}
        message = complaint({**content, "state_dict": spoiled} if file == "stacklens" else spoiled, tmp_path / "net.pt")
        assert "expected" in message or "refused" in message


def test_a_tensor_that_claims_more_than_it_stores_is_refused(tmp_path: Path) -> None:
    claims = {**stacknn_file(), "_network._linear.weight": torch.zeros(1).expand(10**9, 10**9)}
    assert "stores 1 numbers; expected 1000000000000000000" in complaint(claims, tmp_path / "net.pt")


SHAPES: list[tuple[Any, dict[str, Any], str]] = [
    (NNPDA(NNPDAConfig(("a", "b")), seed=1), {"n_states": 10**30}, "a whole number of 100 bits"),
    (NNPDA(NNPDAConfig(("a", "b")), seed=1), {"n_states": 10**12}, "with 1000000000000 state neurons is too large"),
    (
        NNPDA(NNPDAConfig(("a", "b"), "full", 2), seed=1),
        {"n_states": 10**12},
        "an NNPDA of order full with 1000000000000 state neurons is too large",
    ),
    (NNPDA(NNPDAConfig(("a", "b"), "full", 2), seed=1), {"n_states": 20}, "state_weights has shape (2, 12); expected"),
    (NNPDA(NNPDAConfig(("a", "b")), seed=1), {"n_states": True}, "n_states is True; expected a whole number"),
    (NNPDA(NNPDAConfig(("a", "b")), seed=1), {"empty_reading": torch.ones(1)}, "empty_reading"),
    (NNPDA(NNPDAConfig(("a", "b")), seed=1), {"trap": 1}, "trap is 1; expected True or False"),
    (NNPDA(NNPDAConfig(("a", "b")), seed=1), {"end": ""}, "the symbol ''"),
    (MarnnStackRNN(MarnnConfig(("(", ")")), seed=1), {"cell_size": True}, "cell_size is True; expected a whole number"),
    (MarnnStackRNN(MarnnConfig(("(", ")")), seed=1), {"cell_size": 1.0}, "cell_size is 1.0; expected a whole number"),
    (MarnnStackRNN(MarnnConfig(("(", ")")), seed=1), {"hidden": 4_096}, "input_weights has shape (8, 2); expected"),
    (MarnnStackRNN(MarnnConfig(("(", ")")), seed=1), {"temperature": float("nan")}, "temperature is nan"),
    (MarnnStackRNN(MarnnConfig(("(", ")")), seed=1), {"temperature": "1"}, "temperature is '1'; expected a number"),
    (MarnnStackRNN(MarnnConfig(("(", ")")), seed=1), {"stack_limit": 10**15}, "stack_limit is 1000000000000000"),
    (BabyNTM(MarnnConfig(("(", ")")), seed=1), {"stack_limit": 10**6}, "expected a ring of 1 to 4096 cells"),
    (BufferedNeuralStack(BufferedConfig(("0", "1")), seed=1), {"extra_steps": 10**6}, "extra_steps is 1000000"),
    (NeuralStack(NeuralStackConfig(("0", "1")), seed=1), {"cell_size": 10**9}, "cell_size is 1000000000"),
    (NeuralStack(NeuralStackConfig(("0", "1")), seed=1), {"hidden": 10**9}, "hidden is 1000000000"),
    (NeuralStack(NeuralStackConfig(("0", "1")), seed=1), {"null": ["0"]}, "null is a list of 1"),
    (StackRNN(StackRNNConfig(("a", "b")), seed=1), {"hidden": 4_096}, "input_weights has shape (2, 40); expected"),
    (StackRNN(StackRNNConfig(("a", "b")), seed=1), {"no_op": 0}, "no_op is 0; expected True or False"),
    (StackRNN(StackRNNConfig(("a", "b")), seed=1), {"recurrent": None}, "recurrent is None; expected True or False"),
    (build_model("lstm", {"alphabet": ("a",), "controller": "lstm"}), {"layers": 1.0}, "layers is 1.0"),
    (build_model("lstm", {"alphabet": ("a",), "controller": "lstm"}), {"hidden": 4_096}, "has shape (32, 1); expected"),
]


@pytest.mark.parametrize(("net", "change", "found"), SHAPES)
def test_a_number_of_a_configuration_that_the_weights_cannot_mean_is_refused(
    net: Any, change: dict[str, Any], found: str, tmp_path: Path
) -> None:
    content = content_of(net)
    assert found in complaint({**content, "config": {**content["config"], **change}}, tmp_path / "net.pt")


@pytest.mark.parametrize(
    "alphabet",
    [
        tuple(f"s{i}" for i in range(10**5)),
        ("a" * 10**5, "b"),
        ("a", "a"),
        ("", "a"),
        ("a", "\x1b[2J"),
        ("a", "\x00"),
        ("a", "\ud800"),
        ("a", " "),
        ("a", 1),
        ("a", torch.zeros(2)),
        {"a": 1},
        None,
        7,
    ],
)
def test_an_alphabet_that_cannot_be_read_or_shown_is_refused(alphabet: Any, tmp_path: Path) -> None:
    content = checkpoint_file()
    wrong = {**content, "alphabet": alphabet, "config": {**content["config"], "alphabet": alphabet}}
    message = complaint(wrong, tmp_path / "net.pt")
    assert "expected" in message or "without whitespace" in message


def laughs() -> list[Any]:
    """Return a list of 30 lists that count 2 ** 30 where one is walked over."""
    bomb: list[Any] = ["ha"]
    for _ in range(30):
        bomb = [bomb, bomb]
    return bomb


def loop() -> list[Any]:
    own: list[Any] = []
    own.append(own)
    return own


@pytest.mark.parametrize("field", ["task", "provenance", "config"])
@pytest.mark.parametrize(
    "value",
    [
        [],
        {1: 2},
        {"language": {1: 2}},
        {"a": laughs()},
        {"a": loop()},
        {"a": 10 ** (10**4)},
        {torch.zeros(1): 0},
        {"a": {"b": torch.zeros(2)}},
    ],
    ids=["list", "number as key", "dictionary as language", "laughs", "loop", "long", "tensor as key", "nested tensor"],
)
def test_plain_data_of_a_wrong_kind_is_refused(field: str, value: Any, tmp_path: Path) -> None:
    assert complaint({**checkpoint_file(), field: value}, tmp_path / "net.pt")


@pytest.mark.parametrize("value", [[], {"a": laughs()}, {"a": loop()}], ids=["list", "laughs", "loop"])
def test_what_training_goes_on_from_is_bounded_too(value: Any, tmp_path: Path) -> None:
    assert complaint({**checkpoint_file(), "training": value}, tmp_path / "net.pt")


def test_thousands_of_keys_are_not_all_printed(tmp_path: Path) -> None:
    many = {f"key {i}\n" * 50: torch.zeros(1) for i in range(5_000)}
    assert len(complaint(many, tmp_path / "net.pt")) < 1_000
    assert len(complaint({**marnns_file(), **many}, tmp_path / "net.pt")) < 2_010
    assert len(complaint({**stacknn_file(), **many}, tmp_path / "net.pt")) < 2_010
    content = checkpoint_file()
    assert len(complaint({**content, "state_dict": many}, tmp_path / "net.pt")) < 2_010
    assert len(complaint({**content, "config": many}, tmp_path / "net.pt")) < 2_010


@pytest.mark.parametrize("name", list(MODELS))
def test_the_shapes_that_are_expected_are_those_that_a_network_has(name: str) -> None:
    shapes: list[dict[str, Any]] = [{}]
    if name == "nnpda":
        shapes = [{"order": order, "end": "e", "empty_reading": False} for order in ("second", "third", "full")]
    elif "neural-stack" in name:
        shapes = [{"controller": kind, "output_alphabet": ("x",)} for kind in ("linear", "rnn", "lstm")]
    elif name in ("rnn", "lstm", "linear"):
        shapes = [{"controller": name, "layers": layers, "output_alphabet": tuple("abcd")} for layers in (1, 2)]
    elif name == "scrn":
        shapes = [{"hidden": 3, "context": 5}]
    elif name in ("stack-rnn", "list-rnn"):
        shapes = [{"no_op": True, "recurrent": True, "n_stacks": 3, "depth": 4}, {}]
    else:
        shapes = [{"cell_size": 3, "output_alphabet": tuple("abcd")}, {"hidden": 5}]
    for shape in shapes:
        config = {"alphabet": ("a", "b", "c"), **shape}
        built = {key: tuple(value.shape) for key, value in build_model(name, config).state_dict().items()}
        assert expected_weights(name, config) == built


def test_a_shape_from_python_is_checked_as_one_from_a_file() -> None:
    with pytest.raises(StacklensError, match="with a whole number of 333 bits state neurons is too large"):
        NNPDAConfig(("a",), n_states=10**100)
    with pytest.raises(StacklensError, match="hidden is True; expected a whole number"):
        MarnnConfig(("a",), hidden=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MarnnConfig("ab", temperature=1).temperature == 1.0  # type: ignore[arg-type]
