"""Reader of the model folders of `rau` 0.2 (B. DuSell): language models without a stack, trained in the shell.

A folder has ``kwargs.json`` (architecture, sizes, the numbers of bos and eos) and `parameters/main.pt`, a state dict.
Which symbols there are stands with the training data, in ``main.vocab``: it is found in the folder, or beside it.
Nothing of `rau` is needed, and no code of a file is run.

What its networks compute follows from the names and shapes of their weights, and is held by the cross entropy that is
known of two of them (tests); of an RNN, and of several layers of an LSTM, there is none to hold it. An RNN or LSTM
begins with the tanh of a learned vector as its hidden state, and says from that what may come first; c begins with 0. A
transformer reads a symbol before the first one, bos; its embeddings are multiplied by the root of their size, sines and
cosines of the places are added in turn (Vaswani et al. 2017, section 3.5), and layers are normalised before attention
and feed-forward, and once at the end.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ...core.errors import FileFormatError, StacklensError, check_alphabet, fresh, in_file, in_short
from ...core.files import parse_json, read_whole
from ...languages.next_sets import END_MARK
from ..plain_data import check_weights, describe, read_plain
from ..rounding import Outputs, default_threshold
from ..word_network import AFFORDABLE, ForwardNetwork

_EXPECTED = "a model folder of rau: kwargs.json, parameters/main.pt, and main.vocab in it or beside it"
_ARCHITECTURES = ("rnn", "lstm", "transformer")
_LARGEST, _MOST_LAYERS = 100_000, 1_000  # a size, and layers


def is_rau_folder(path: str | Path) -> bool:
    """Return whether there is a folder at ``path`` with what a model folder has."""
    return os.path.isdir(path) and os.path.isfile(Path(path) / "kwargs.json")


def rau_digest(path: str | Path) -> str:
    """Return the hash of what is in the model folder at ``path``: sizes and weights."""
    digest = hashlib.sha256()
    for name in ("kwargs.json", "parameters/main.pt"):
        digest.update(read_whole(Path(path) / name, _EXPECTED, 1 << 31))
    return digest.hexdigest()


def read_rau(
    path: str | Path, alphabet: Sequence[str] | None = None, threshold: float | str | None = None
) -> ForwardNetwork:
    """Return the language model in the folder at ``path`` as a predictor of what may come next.

    ``alphabet``: the symbols, in the order of their numbers, where there is no ``main.vocab``. ``threshold``: what a
    probability has to exceed (see `Outputs`); by default `default_threshold`. Raises StacklensError: a file is missing
    or damaged, or they do not fit together; one line.
    """
    folder = Path(path)
    with in_file(named := folder / "kwargs.json"):
        sizes = _checked_sizes(parse_json(read_whole(named, _EXPECTED).decode(errors="replace"), _EXPECTED))
    letters = _model_symbols(folder, alphabet, sizes)
    with in_file(named := folder / "parameters" / "main.pt"):
        module = with_weights_of(read_plain(named, _EXPECTED), sizes).eval()
    chosen = default_threshold(len(letters)) if threshold is None else threshold
    columns = ((sizes.outputs, (*range(len(letters)), sizes.eos)),)
    outputs = Outputs("next set", (*letters, fresh(END_MARK, letters)), "softmax", chosen, columns)
    known: dict[str, Any] = {"name": f"rau-{sizes.architecture}", "alphabet": letters, "outputs": outputs}
    network = ForwardNetwork(module, module, "index", True, affordable=AFFORDABLE, **known)
    network.sizes = {"layers": sizes.layers, "width": sizes.width}
    with torch.no_grad():
        network.begin()
    return network


def _checked_sizes(content: Mapping[str, Any]) -> RauSizes:
    kind = content.get("architecture")
    if kind not in _ARCHITECTURES:
        raise StacklensError(f"architecture is {in_short(kind)}; expected one of {', '.join(_ARCHITECTURES)}")
    transformer = kind == "transformer"
    width = _whole_entry(content, "d_model" if transformer else "hidden_units")
    heads, feedforward = (_whole_entry(content, key) if transformer else 0 for key in ("num_heads", "feedforward_size"))
    inputs, outputs = (_whole_entry(content, f"{side}_vocabulary_size") for side in ("input", "output"))
    bos, eos = (None if content.get(k) is None else _whole_entry(content, k, 0) for k in ("bos_index", "eos_index"))
    if eos is None or eos >= outputs:
        raise StacklensError(f"eos_index is {in_short(content.get('eos_index'))}; expected one of {outputs} outputs")
    if transformer and (bos is None or bos >= inputs):
        raise StacklensError(f"bos_index is {in_short(content.get('bos_index'))}; expected one of {inputs} inputs")
    if transformer and (width % heads or width % 2):
        raise StacklensError(f"d_model is {width} and num_heads {heads}; expected an even multiple of the heads")
    layers = _whole_entry(content, "num_layers", most=_MOST_LAYERS)
    return RauSizes(kind, inputs, outputs, layers, width, heads, feedforward, bos, eos)


def _whole_entry(content: Mapping[str, Any], name: str, least: int = 1, most: int = _LARGEST) -> int:
    value = content.get(name)
    if type(value) is not int or not least <= value <= most:
        raise StacklensError(f"{name} is {in_short(value)}; expected a whole number from {least} to {most:,}")
    return value


def _model_symbols(folder: Path, alphabet: Sequence[str] | None, sizes: RauSizes) -> tuple[str, ...]:
    """Return the symbols: those given, or those of the vocabulary; they have to be as many as there are outputs."""
    places = [folder / "main.vocab", folder.parent / "main.vocab"]
    found = next((place for place in places if os.path.isfile(place)), None)
    if found is None and alphabet is None:
        raise FileFormatError(
            f"{folder}: no main.vocab in it or beside it, so its symbols have no names; copy it there from the "
            "training data, or name them with --alphabet (alphabet=…)"
        )
    # symbols are numbered from 0, and eos comes behind the last
    if alphabet is None:
        path = found or folder
        content = read_plain(path, _EXPECTED)
        tokens = content.get("tokens") if isinstance(content, dict) else None
        if not isinstance(tokens, list | tuple) or not all(type(token) is str for token in tokens):
            raise FileFormatError(f"{path}: {describe(content)}; expected a vocabulary of rau, with a list of tokens")
        unknown = ("<unk>",) if isinstance(content, dict) and content.get("allow_unk") is True else ()
        alphabet = (*tokens, *unknown)
        with in_file(path):
            check_alphabet(alphabet)
    letters = tuple(alphabet)
    if len(letters) != sizes.eos:
        raise StacklensError(
            f"{len(letters)} symbols ({in_short(' '.join(letters))}), and eos is number {sizes.eos}; expected as many"
        )
    check_alphabet(letters)
    return letters


def with_weights_of(content: object, sizes: RauSizes) -> nn.Module:
    """Return the module of these ``sizes`` with the weights of a state dict, all of which are of its shapes."""
    if not isinstance(content, Mapping):
        raise StacklensError(f"{describe(content)}; expected a state dict")
    weights = {_our_name(str(key)): value for key, value in content.items()}
    if len(weights) < len(content):
        raise StacklensError(f"{describe(content)}; expected each weight once")
    with torch.device("meta"):  # which allocates nothing
        module = (RauTransformer if sizes.architecture == "transformer" else RauRecurrent)(sizes)
    # the file has one bias for what torch has two for
    shapes = {name: tuple(value.shape) for name, value in module.named_parameters() if ".bias_hh" not in name}
    check_weights(shapes, weights, " from kwargs.json")
    second = {name.replace("_ih", "_hh"): torch.zeros_like(weights[name]) for name in weights if ".bias_ih" in name}
    module.load_state_dict({**weights, **second}, assign=True)
    return module


def _our_name(key: str) -> str:
    """Return our name of a weight, which is the end of the file's."""
    if key == "second.func.embeddings":
        return "output"
    for end, name in ((".embeddings", "embeddings"), (".initial_hidden_state_inputs", "initial")):
        if key.endswith(end):
            return name
    for mark, ours in ((".rnn.", "rnn."), (".layers.layers.", "encoder.layers."), (".layers.", "encoder.")):
        if mark in key:
            return ours + key.partition(mark)[2]
    return key


@dataclass(frozen=True)
class RauSizes:
    """What ``kwargs.json`` says of a network."""

    architecture: str  # "rnn", "lstm" or "transformer"
    inputs: int  # how many symbols it reads
    outputs: int  # how many it says something of
    layers: int  # number of layers
    width: int  # hidden units of a layer, or the size of a transformer's vectors
    heads: int  # of a transformer, else 0
    feedforward: int  # likewise
    bos: int | None  # the number of the symbol that is read first; None for none
    eos: int  # the number of the symbol that ends a word


class RauRecurrent(nn.Module):
    """An RNN or LSTM language model."""

    def __init__(self, sizes: RauSizes) -> None:
        super().__init__()
        kind, width = nn.LSTM if sizes.architecture == "lstm" else nn.RNN, sizes.width
        self.rnn = kind(width, width, sizes.layers, batch_first=True)
        self.embeddings = nn.Parameter(torch.empty(sizes.inputs, width))
        self.output = nn.Parameter(torch.empty(sizes.outputs, width))
        self.initial = nn.Parameter(torch.empty(sizes.layers, width))

    def forward(self, codes: Tensor) -> Tensor:
        """Return the logits of what comes next, before and after every symbol of words (B, T): (B, T + 1, O)."""
        start = torch.tanh(self.initial)[:, None].expand(-1, len(codes), -1).contiguous()
        seen = start[-1][:, None]
        if codes.shape[1]:
            state = (start, torch.zeros_like(start)) if isinstance(self.rnn, nn.LSTM) else start
            seen = torch.cat([seen, self.rnn(self.embeddings[codes], state)[0]], 1)
        return seen @ self.output.T


class RauTransformer(nn.Module):
    """A causal transformer language model."""

    def __init__(self, sizes: RauSizes) -> None:
        super().__init__()
        self.bos, self.outputs, width = sizes.bos, sizes.outputs, sizes.width
        layer = nn.TransformerEncoderLayer(
            width, sizes.heads, sizes.feedforward, 0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, sizes.layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.embeddings = nn.Parameter(torch.empty(sizes.inputs, width))
        self.output = nn.Parameter(torch.empty(sizes.inputs, width))  # tied to them: the row of bos is not used

    def forward(self, codes: Tensor) -> Tensor:
        """Return the logits of what comes next, before and after every symbol of words (B, T): (B, T + 1, O)."""
        read = nn.functional.pad(codes, (1, 0), value=self.bos or 0)
        length, width = read.shape[1], self.embeddings.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length, dtype=self.embeddings.dtype)
        # sines and cosines of the places in turn
        angles = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
        waves = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :width]
        seen: Tensor = self.encoder(self.embeddings[read] * math.sqrt(width) + waves, mask=mask, is_causal=True)
        return seen @ self.output[: self.outputs].T
