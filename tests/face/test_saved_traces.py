"""Traces in files: what is read back is what was saved, and damage is refused in one line."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stacklens as sl
from stacklens.core.errors import FileFormatError

WORDS = {
    "nnpda-palindrome": ["abcba", "", "abcab"],
    "marnn-stack-rnn-dyck-2": ["([])", "(", ""],
    "stack-rnn-anbn": ["aabb"],
    "buffered-neural-stack-reversal": ["01#"],
    "baby-ntm-dyck-2": [""],
}


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", WORDS)
def test_what_was_saved_is_loaded(name: str, rounded: bool, tmp_path: Path) -> None:
    words = [word for word in WORDS[name] if set(word) <= set(sl.load(name).alphabet)]
    seen = sl.trace(name, words, rounded=rounded)
    seen.save(tmp_path / "t.npz")
    loaded = sl.load(tmp_path / "t.npz")
    assert loaded == seen
    assert repr(loaded) == repr(seen)
    assert loaded.to_frame().equals(seen.to_frame())
    assert loaded.network == seen.network
    assert loaded.model.name == seen.model.name  # type: ignore[union-attr]
    assert loaded.rounded is rounded


def arrays_of(path: Path) -> dict[str, Any]:
    sl.trace("nnpda-palindrome", ["abcba", "c"]).save(path)
    with np.load(path) as found:
        return {name: found[name] for name in found.files}


def complaint(path: Path, arrays: dict[str, Any]) -> str:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    path.write_bytes(buffer.getvalue())
    with pytest.raises(FileFormatError) as error:
        sl.load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert str(error.value).isprintable()
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("hidden", np.zeros((2, 5, 3)), "hidden is float64 of shape (2, 5, 3)"),
        ("hidden", np.zeros((2, 6, 3), int), "hidden is int64"),
        ("steps", np.array([9, 1]), "letters that it does not have"),
        ("symbols", np.full((2, 5), 7), "letters that it does not have"),
        ("symbols", np.zeros(3, int), "symbols is int64 of shape (3,)"),
        ("verdicts", np.array([{}, {}], dtype=object), "no array of numbers"),
        ("other", np.zeros(2), "lacks or should not have the array 'other'"),
        ("head", np.zeros(2), "no array called head"),
        ("head", np.frombuffer(b"\xff\xff", np.uint8), "its head is no text"),
        ("head", np.frombuffer(b"{}", np.uint8), "expected _Head"),
    ],
)
def test_arrays_of_another_trace_are_refused(name: str, value: Any, says: str, tmp_path: Path) -> None:
    arrays = arrays_of(tmp_path / "t.npz")
    assert says in complaint(tmp_path / "t.npz", {**arrays, name: value})


@pytest.mark.parametrize("end", [0, 10, -10])
def test_a_file_that_was_cut_off_is_refused(end: int, tmp_path: Path) -> None:
    arrays_of(tmp_path / "t.npz")
    (tmp_path / "t.npz").write_bytes((tmp_path / "t.npz").read_bytes()[:end])
    with pytest.raises(FileFormatError, match=r"t\.npz: damaged, truncated or no \.npz file"):
        sl.load(tmp_path / "t.npz")


def test_a_packed_file_is_refused(tmp_path: Path) -> None:
    """It could unpack to more than memory holds; ours are never packed."""
    np.savez_compressed(tmp_path / "t.npz", head=np.zeros(1_000_000, np.uint8))
    with pytest.raises(FileFormatError, match="damaged"):
        sl.load(tmp_path / "t.npz")
