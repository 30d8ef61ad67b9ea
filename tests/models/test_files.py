"""Checkpoints, files that are none, and files that claim what their weights cannot mean."""

import errno
import os
import pickle
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import complaint_of
from torch import Tensor

import stacklens
from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.languages.language import all_words
from stacklens.models.base import Checkpoint, StackModel
from stacklens.models.checkpoint import load_checkpoint, load_model, load_network, save_model
from stacklens.models.formats.published import our_names
from stacklens.models.inference import verdicts_on
from stacklens.models.networks import MODELS, build_model, class_and_shape
from stacklens.models.networks.joulin import StackRNN, StackRNNConfig
from stacklens.models.networks.nnpda import NNPDA, NNPDAConfig
from stacklens.models.networks.suzgun import BabyNTM, MarnnConfig, MarnnStackRNN

complaint = partial(complaint_of, load_checkpoint)
SHAPE = NNPDAConfig(("a", "b"), "second", 2, end="e", trap=False)


def content(net: StackModel[Any] | None = None, **changes: object) -> dict[str, Any]:
    """Return what a checkpoint of ``net`` holds, in which ``changes`` replace fields; None takes one out."""
    net = net or NNPDA(SHAPE, seed=1)
    whole = {
        "format": "stacklens",
        "model": net.name,
        "config": net.config(),
        "alphabet": net.alphabet,
        "task": {"kind": net.task_kind, "language": None},
        "state_dict": dict(net.state_dict()),
        "provenance": {},
    }
    return {key: value for key, value in (whole | changes).items() if value is not None}


def saved(content: object, path: Path) -> Path:
    torch.save(content, path)
    return path


def weights(**changes: object) -> dict[str, Any]:
    state: dict[str, Any] = dict(NNPDA(SHAPE, seed=1).state_dict())
    return {key: value for key, value in (state | changes).items() if value is not None}


@pytest.mark.parametrize("order", ["second", "third", "full"])
def test_what_is_saved_is_what_is_loaded(order: Any, tmp_path: Path) -> None:
    net = NNPDA(NNPDAConfig(("<a>", "b"), order, 3, end="e", trap=False, empty_reading=False), seed=7, init=2.0)
    task, provenance = {"kind": "recognition", "language": "anbn"}, {"command": "none", "seed": 7}
    training = {"epochs_done": 3, "losses": torch.tensor([0.5])}
    save_model(tmp_path / "net.pt", Checkpoint(net, task, provenance, training))
    found = load_checkpoint(tmp_path / "net.pt")
    assert isinstance(found.model, NNPDA)
    assert found.model.shape == net.shape
    assert not found.model.training
    assert all(torch.equal(value, net.state_dict()[name]) for name, value in found.model.state_dict().items())
    assert found.task == task
    assert found.training == training
    assert {key: found.provenance[key] for key in provenance} == provenance
    assert set(found.provenance["versions"]) == {"python", "torch", "stacklens"}
    words = all_words(net.alphabet, 5)
    assert verdicts_on(load_model(str(tmp_path / "net.pt")), words).tolist() == verdicts_on(net, words).tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": None}, "the checkpoint lacks config; it may be from another version"),
        ({"task": None, "state_dict": None}, "the checkpoint lacks task, state_dict; it may be from another version"),
        ({"model": torch.zeros(2)}, "model is of type Tensor; expected str"),
        ({"config": [1]}, "config is of type list; expected dict"),
        ({"task": "anbn"}, "task is of type str; expected dict"),
        ({"task": {"language": 3}}, "task names the language 3; expected a string"),
        ({"provenance": 1}, "provenance is of type int; expected dict"),
        ({"training": [1]}, "training is of type list; expected dict"),
        ({"alphabet": ("x", "y")}, "alphabet is ('x', 'y'); the configuration has ('a', 'b')"),
        ({"state_dict": [1]}, "state_dict should map names to tensors, found a list"),
        ({"state_dict": {"w": torch.zeros(1)}}, "state_dict has w; expected action_bias, action_weights, state_bias,"),
        ({"state_dict": weights(state_bias=None)}, "state_dict has action_bias, action_weights, state_weights;"),
        ({"state_dict": weights(state_bias=torch.zeros(3))}, "state_bias has shape (3,); expected (2,)"),
        ({"state_dict": weights(state_bias=torch.tensor([0.0, torch.nan]))}, "state_bias holds NaN or infinite"),
        ({"state_dict": weights(action_bias=torch.tensor([-torch.inf]))}, "action_bias holds NaN or infinite"),
        ({"state_dict": weights(state_bias=torch.zeros(2, dtype=torch.int64))}, "state_bias is a tensor of"),
        ({"state_dict": weights(state_bias=torch.zeros(2, dtype=torch.complex64))}, "state_bias is a tensor of"),
        ({"state_dict": weights(state_bias="zero")}, "state_dict should map names to tensors, found a dictionary"),
    ],
)
def test_a_field_that_is_wrong_is_named_in_one_line(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in complaint(saved(content(**changes), tmp_path / "net.pt"))


@pytest.mark.parametrize(
    ("net", "change", "message"),
    [
        (None, {"n_states": 0}, "an NNPDA needs symbols and states, not ('a', 'b') and 0"),
        (None, {"n_states": 10**30}, "a whole number of 100 bits"),
        (None, {"n_states": 3}, "state_weights has shape (2, 14); expected (3, 21)"),
        (None, {"empty_reading": torch.ones(1)}, "empty_reading"),
        (None, {"layers": 2}, "configuration is not that of a nnpda: found layers; expected alphabet, empty_reading"),
        (MarnnStackRNN(MarnnConfig(("(", ")"))), {"hidden": 4_096}, "input_weights has shape (8, 2); expected"),
        (BabyNTM(MarnnConfig(("(", ")"))), {"stack_limit": 10**6}, "expected a ring of 1 to 4096 cells"),
        (StackRNN(StackRNNConfig(("a", "b"))), {"hidden": 4_096}, "input_weights has shape (2, 40); expected"),
    ],
)
def test_a_configuration_that_the_weights_cannot_mean_is_refused(
    net: Any, change: dict[str, object], message: str, tmp_path: Path
) -> None:
    whole = content(net)
    assert message in complaint(saved({**whole, "config": whole["config"] | change}, tmp_path / "net.pt"))


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_is_full_leaves_the_old_file_and_no_other(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(content(), tmp_path / "net.pt")
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(StacklensError, match=r"^cannot write .*net\.pt: No space left on device; nothing was written$"):
        save_model(path, Checkpoint(NNPDA(SHAPE, seed=2), {}))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


GOOD = (Path(stacklens.__file__).parent / "models" / "zoo" / "nnpda-parentheses.pt").read_bytes()
REFUSED = (
    "holds objects other than tensors and plain data, and loading them could run code; refused. "
    "Save the state dict and plain values only"
)


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch {self.marker}",)


def test_a_missing_file_an_impossible_name_and_a_folder_are_called_that(tmp_path: Path) -> None:
    assert complaint(tmp_path / "no.pt") == "no such file; expected a checkpoint written by `stacklens train`"
    assert complaint(tmp_path / ("x" * 300)).startswith("cannot be read: File name too long; expected a checkpoint")
    assert complaint(tmp_path).startswith("is a folder; expected a checkpoint")


@pytest.mark.parametrize(
    "data", [b"hello world\n", b"\x89PNG\r\n\x1a\n 1234", b"P", b"PK", b"{}", b"N.", b"\0" * 40, pickle.dumps({"a": 1})]
)
def test_another_kind_of_file_is_shown_by_its_first_bytes(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "other.pt").write_bytes(data)
    expected = f"not a PyTorch file (it begins with {data[:16]!r}); expected a checkpoint"
    assert complaint(tmp_path / "other.pt").startswith(expected)


@pytest.mark.parametrize("kept", [4, 10, 63, 64, 65, 300, 1_000, len(GOOD) // 2, len(GOOD) - 22, len(GOOD) - 1])
def test_a_file_cut_anywhere_is_called_damaged(kept: int, tmp_path: Path) -> None:
    (tmp_path / "cut.pt").write_bytes(GOOD[:kept])
    assert complaint(tmp_path / "cut.pt") == f"damaged or truncated: {kept} bytes that torch cannot read"


@settings(max_examples=60)
@given(place=st.integers(0, len(GOOD) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_seen_or_changes_nothing(
    place: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = bytearray(GOOD)
    data[place] ^= 1 << bit
    path = tmp_path_factory.mktemp("bits") / "flipped.pt"
    path.write_bytes(bytes(data))
    good = path.with_name("good.pt")
    good.write_bytes(GOOD)
    try:
        found = load_checkpoint(path)
    except FileFormatError:
        complaint(path)
    else:
        expected = load_checkpoint(good).model.state_dict()
        assert all(torch.equal(value, expected[name]) for name, value in found.model.state_dict().items())


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_code_in_a_plain_pickle_is_refused_and_not_run(protocol: int, tmp_path: Path) -> None:
    marker, path = tmp_path / "ran", tmp_path / "evil.pt"
    path.write_bytes(pickle.dumps(Evil(marker), protocol))
    assert complaint(path) == REFUSED
    assert not marker.exists()
    pickle.loads(path.read_bytes())
    assert marker.exists()  # the pickle would have run


@pytest.mark.parametrize("archive", [True, False])
def test_code_in_a_torch_file_is_refused_and_not_run(archive: bool, tmp_path: Path) -> None:
    marker, path = tmp_path / "ran", tmp_path / "evil.pt"
    for content in (Evil(marker), {"format": "stacklens", "model": "nnpda", "provenance": Evil(marker)}):
        torch.save(content, path, _use_new_zipfile_serialization=archive)
        assert complaint(path) == REFUSED
    assert not marker.exists()
    with warnings.catch_warnings(action="ignore"):  # it is deprecated
        torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), path)
    assert complaint(path) == REFUSED


def test_what_is_no_checkpoint_of_ours_is_described(tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    expected = "; expected keys format, model, config, alphabet, task, state_dict, provenance"
    for content, found in [
        (torch.nn.Linear(2, 2).state_dict(), "found a dictionary with keys weight, bias"),
        ({str(n): n for n in range(9)}, "found a dictionary with keys 0, 1, 2, 3, 4, 5, …"),
        ({"format": torch.zeros(3)}, "found a dictionary with keys format"),
        ([1, 2], "found a list"),
        (torch.zeros(2), "found a Tensor"),
    ]:
        torch.save(content, path)
        assert complaint(path) == f"not a stacklens checkpoint: {found}{expected}"


LSTM = torch.nn.LSTM(3, 4).state_dict()


@pytest.mark.parametrize(
    "content",
    [LSTM, {"model_state_dict": LSTM, "epoch": 3}, {"state_dict": LSTM}, {"epoch": 3, "net": dict(LSTM)}],
    ids=["plain", "model_state_dict", "state_dict", "a name of its own"],
)
def test_somebody_elses_state_dict_is_called_that_with_the_ways_to_go_on(content: object, tmp_path: Path) -> None:
    path = tmp_path / "lstm.pt"
    torch.save(content, path)
    message = complaint_of(load_network, path)
    assert message.startswith("a state dict without a stacklens header, found a dictionary with keys ")
    assert message.endswith(
        "; weights alone do not say what network they are of: say it in a mapping file (JSON), or build the network in "
        "Python and give it to sl.wrap; see docs/own-networks.md"
    )
    assert "\n" not in message
    torch.save({"epoch": 3, "history": [1, 2]}, path)
    with pytest.raises(FileFormatError, match="found a dictionary with keys epoch, history; expected a network: "):
        load_network(path)


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data/0", bytes(10_000_000))
    size = (tmp_path / "bomb.pt").stat().st_size
    assert size < 100_000
    assert complaint(tmp_path / "bomb.pt") == f"damaged or truncated: {size} bytes that torch cannot read"


# Files whose numbers claim what their weights cannot mean: refused in one line before anything is made of them.


def marnns_file() -> dict[str, Tensor]:
    weights = MarnnStackRNN(MarnnConfig(("(", ")")), seed=1).state_dict()
    return {theirs: weights[ours] for theirs, ours in our_names("rnn", "W_sh").items()}


def stacknn_file() -> dict[str, Tensor]:
    return {"_network._linear.weight": torch.zeros(7, 5), "_network._linear.bias": torch.zeros(7)}


def hostile_complaint(content: object, path: Path) -> str:
    """Return what is wrong with a file of ``content``, in one line after its name."""
    return complaint_of(load_network, saved(content, path))


SPOILED: dict[str, Callable[[Tensor], Tensor]] = {
    "sparse": lambda value: value.to_sparse(),
    "csr": lambda value: value.reshape(len(value), -1).to_sparse_csr(),
    "meta": lambda value: value.to("meta"),
    "nested": lambda value: torch.nested.nested_tensor([value, value]),
    "float8": lambda value: value.to(torch.float8_e4m3fn),
    "stride 0": lambda value: torch.zeros(1, dtype=value.dtype).expand(value.shape),
    "quantised": lambda value: torch.quantize_per_tensor(value.float(), 0.1, 0, torch.qint8),
}


@pytest.mark.parametrize("how", SPOILED)
@pytest.mark.parametrize("make", [marnns_file, stacknn_file, content])
@pytest.mark.filterwarnings("ignore::UserWarning")  # of torch, when such tensors are made and saved
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_tensor_that_is_not_dense_and_whole_is_refused(make: Callable[[], Any], how: str, tmp_path: Path) -> None:
    whole = make()
    weights = whole.get("state_dict", whole)
    for name in [name for name, value in weights.items() if value.numel() > 1]:  # one number is whole at any stride
        spoiled = {**weights, name: SPOILED[how](weights[name])}
        message = hostile_complaint(
            {**whole, "state_dict": spoiled} if "state_dict" in whole else spoiled, tmp_path / "net.pt"
        )
        assert "expected" in message or "refused" in message


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
    config = {**NNPDA(SHAPE).config(), "alphabet": alphabet}
    message = hostile_complaint({**content(config=config), "alphabet": alphabet}, tmp_path / "net.pt")
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


BOMBS: dict[str, Any] = {"list": [], "laughs": {"a": laughs()}, "loop": {"a": loop()}}
WRONG_KINDS: dict[str, Any] = {
    **BOMBS,
    "number as key": {1: 2},
    "dictionary as language": {"language": {1: 2}},
    "long": {"a": 10 ** (10**4)},
    "tensor as key": {torch.zeros(1): 0},
    "nested tensor": {"a": {"b": torch.zeros(2)}},
}


@pytest.mark.parametrize(
    ("field", "kind"), [*product(("task", "provenance", "config"), WRONG_KINDS), *product(("training",), BOMBS)]
)
def test_plain_data_of_a_wrong_kind_is_refused(field: str, kind: str, tmp_path: Path) -> None:
    assert hostile_complaint(content(**{field: WRONG_KINDS[kind]}), tmp_path / "net.pt")


def test_hundreds_of_keys_are_not_all_printed(tmp_path: Path) -> None:
    many = {f"key {i}\n" * 50: torch.zeros(1) for i in range(500)}
    assert len(hostile_complaint(many, tmp_path / "net.pt")) < 1_000
    spoiled = {**marnns_file(), **many}, {**stacknn_file(), **many}, content(state_dict=many), content(config=many)
    for one in spoiled:
        assert hostile_complaint(one, tmp_path / "net.pt")  # of which no line is too long


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
        model_class, shape = class_and_shape(name, config)
        assert model_class.parameter_shapes(shape) == built


def test_a_whole_number_is_a_temperature_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MarnnConfig("ab", temperature=1).temperature == 1.0  # type: ignore[arg-type]
