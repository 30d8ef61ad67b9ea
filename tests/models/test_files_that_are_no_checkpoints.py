from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import stacklens
from stacklens.errors import FileFormatError
from stacklens.models.io import load_checkpoint, load_network

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


def complaint(path: Path) -> str:
    with pytest.raises(FileFormatError) as error:
        load_checkpoint(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


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
    contents: list[object] = [Evil(marker), {"format": "stacklens", "model": "nnpda", "provenance": Evil(marker)}]
    for content in contents:
        torch.save(content, path, _use_new_zipfile_serialization=archive)
        assert complaint(path) == REFUSED
    assert not marker.exists()


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
    with pytest.raises(FileFormatError) as error:
        load_network(path)
    message = str(error.value)
    assert message.startswith(f"{path}: a state dict without a stacklens header, found a dictionary with keys ")
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
