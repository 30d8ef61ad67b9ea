"""Reader of the model folders of `rau` 0.2 (B. DuSell): language models without a stack, trained in the shell.

A folder has `kwargs.json` (architecture, sizes, the numbers of bos and eos) and `parameters/main.pt`, a state dict.
Which symbols there are stands with the training data, in `main.vocab`: it is found in the folder, or beside it.
Nothing of `rau` is needed, and no code of a file is run.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from stacklens.automata.naming import check_alphabet
from stacklens.errors import FileFormatError, StacklensError
from stacklens.files import read_whole
from stacklens.models.formats.rau_networks import RauRecurrent, RauSizes, RauTransformer, expected_shapes
from stacklens.models.own.language_model import LanguageModel
from stacklens.models.plain_data import check_weights, describe, in_short, read_plain
from stacklens.plain_fields import parse_json

__all__ = ["digest_of", "looks_like", "read_rau"]

_EXPECTED = "a model folder of rau: kwargs.json, parameters/main.pt, and main.vocab in it or beside it"
_ARCHITECTURES = ("rnn", "lstm", "transformer")
_LARGEST = 100_000  # of a size


def looks_like(path: str | Path) -> bool:
    """Return whether there is a folder at ``path`` with what a model folder has."""
    return os.path.isdir(path) and os.path.isfile(Path(path) / "kwargs.json")


def digest_of(path: str | Path) -> str:
    """Return the hash of what is in the model folder at ``path``: sizes and weights."""
    digest = hashlib.sha256()
    for name in ("kwargs.json", "parameters/main.pt"):
        digest.update(read_whole(Path(path) / name, _EXPECTED, 1 << 31))
    return digest.hexdigest()


def read_rau(path: str | Path, alphabet: Sequence[str] | None = None, threshold: float | None = None) -> LanguageModel:
    """Return the language model in the folder at ``path`` as a predictor of what may come next.

    Args:
        path: the folder.
        alphabet: the symbols, in the order of their numbers, where there is no `main.vocab`.
        threshold: what a probability has to exceed; by default `default_threshold`.

    Raises:
        FileFormatError: a file is missing or damaged, or they do not fit together; one line that names it.
    """
    folder = Path(path)
    try:
        sizes = _sizes(folder)
        letters = _letters(folder, alphabet, sizes)
        weights = _weights(read_plain(folder / "parameters" / "main.pt", _EXPECTED), sizes)
        kind = RauTransformer if sizes.architecture == "transformer" else RauRecurrent
        shown = {"layers": sizes.layers, "width": sizes.width}
        return LanguageModel(kind(sizes, weights), letters, sizes.eos, f"rau-{sizes.architecture}", threshold, shown)
    except FileFormatError:
        raise
    except StacklensError as error:
        raise FileFormatError(f"{folder}: {error}") from None


def _sizes(folder: Path) -> RauSizes:
    path = folder / "kwargs.json"
    text = read_whole(path, _EXPECTED).decode(errors="replace")
    try:
        content = parse_json(text, _EXPECTED)
        return _checked_sizes(content)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None


def _checked_sizes(content: Mapping[str, Any]) -> RauSizes:
    kind = content.get("architecture")
    if kind not in _ARCHITECTURES:
        raise StacklensError(f"architecture is {in_short(kind)}; expected one of {', '.join(_ARCHITECTURES)}")
    transformer = kind == "transformer"
    width = _whole(content, "d_model" if transformer else "hidden_units")
    heads, feedforward = (_whole(content, name) if transformer else 0 for name in ("num_heads", "feedforward_size"))
    inputs, outputs = (_whole(content, f"{side}_vocabulary_size") for side in ("input", "output"))
    bos, eos = (None if content.get(name) is None else _whole(content, name, 0) for name in ("bos_index", "eos_index"))
    if eos is None or eos >= outputs:
        raise StacklensError(f"eos_index is {in_short(content.get('eos_index'))}; expected one of {outputs} outputs")
    if transformer and (bos is None or bos >= inputs):
        raise StacklensError(f"bos_index is {in_short(content.get('bos_index'))}; expected one of {inputs} inputs")
    if transformer and (width % heads or width % 2):
        raise StacklensError(f"d_model is {width} and num_heads {heads}; expected an even multiple of the heads")
    return RauSizes(kind, inputs, outputs, _whole(content, "num_layers"), width, heads, feedforward, bos, eos)


def _whole(content: Mapping[str, Any], name: str, least: int = 1) -> int:
    value = content.get(name)
    if type(value) is not int or not least <= value <= _LARGEST:
        raise StacklensError(f"{name} is {in_short(value)}; expected a whole number from {least} to {_LARGEST:,}")
    return value


def _letters(folder: Path, alphabet: Sequence[str] | None, sizes: RauSizes) -> tuple[str, ...]:
    """Return the symbols: those given, or those of the vocabulary; they have to be as many as there are outputs."""
    places = [folder / "main.vocab", folder.parent / "main.vocab"]
    found = next((place for place in places if os.path.isfile(place)), None)
    if found is None and alphabet is None:
        raise FileFormatError(
            f"{folder}: no main.vocab in it or beside it, so its symbols have no names; copy it there from the "
            "training data, or name them with --alphabet (alphabet=…)"
        )
    letters = tuple(alphabet) if alphabet is not None else _vocabulary(found or folder)
    if len(letters) != sizes.eos:
        raise StacklensError(
            f"{len(letters)} symbols ({in_short(' '.join(letters))}), and eos is number {sizes.eos}; expected as many"
        )
    check_alphabet(letters)
    return letters


def _vocabulary(path: Path) -> tuple[str, ...]:
    content = read_plain(path, _EXPECTED)
    tokens = content.get("tokens") if isinstance(content, dict) else None
    if not isinstance(tokens, list | tuple) or not all(type(token) is str for token in tokens):
        raise FileFormatError(f"{path}: {describe(content)}; expected a vocabulary of rau, with a list of tokens")
    unknown = ("<unk>",) if isinstance(content, dict) and content.get("allow_unk") is True else ()
    try:
        check_alphabet([*tokens, *unknown])
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return (*tokens, *unknown)


def _weights(content: object, sizes: RauSizes) -> dict[str, Tensor]:
    """Return the weights of a state dict by our names.

    Raises:
        StacklensError: it is none, or has others than a network of these sizes.
    """
    if not isinstance(content, Mapping):
        raise StacklensError(f"parameters/main.pt: {describe(content)}; expected a state dict")
    named = {_our_name(str(key)): value for key, value in content.items()}
    if len(named) < len(content):
        raise StacklensError(f"parameters/main.pt: {describe(content)}; expected each weight once")
    try:
        check_weights(expected_shapes(sizes), named, " from kwargs.json")
    except StacklensError as error:
        raise StacklensError(f"parameters/main.pt: {error}") from None
    return named


def _our_name(key: str) -> str:
    """Return our name of a weight, which is the end of the file's."""
    if key == "second.func.embeddings":
        return "output"
    for end, name in (("embeddings", "embeddings"), ("initial_hidden_state_inputs", "initial")):
        if key.endswith(f".{end}"):
            return name
    for mark in (".rnn.", ".layers.layers.", ".layers."):
        if mark in key:
            rest = key.partition(mark)[2]
            return f"layers.{rest}" if mark == ".layers.layers." else rest
    return key
