"""The networks of the program `rau` (B. DuSell) as modules: language models that say what comes next.

What they compute follows from the names and shapes of their weights, and is held by the cross entropy that is known of
two of them (tests); of an RNN, and of several layers of an LSTM, there is none to hold it. An RNN or LSTM begins with
the tanh of a learned vector as its hidden state, and says from that what may come first; c begins with 0. A transformer
reads a symbol before the first one, bos; its embeddings are multiplied by
the root of their size, sines and cosines of the places are added in turn (Vaswani et al. 2017, section 3.5), and layers
are normalised before attention and feed-forward, and once at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

__all__ = ["RauRecurrent", "RauSizes", "RauTransformer", "expected_shapes"]

_GATES = {"rnn": 1, "lstm": 4}


@dataclass(frozen=True)
class RauSizes:
    """What `kwargs.json` says of a network.

    Attributes:
        architecture: "rnn", "lstm" or "transformer".
        inputs, outputs: how many symbols it reads, and says something of.
        layers: number of layers.
        width: hidden units of a layer, or the size of a transformer's vectors.
        heads, feedforward: of a transformer, else 0.
        bos: the number of the symbol that is read first; None for none.
        eos: the number of the symbol that ends a word.
    """

    architecture: str
    inputs: int
    outputs: int
    layers: int
    width: int
    heads: int
    feedforward: int
    bos: int | None
    eos: int


def expected_shapes(sizes: RauSizes) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights by our names: the end of the file's, which begin with places in its modules."""
    width = sizes.width
    shapes: dict[str, tuple[int, ...]] = {"embeddings": (sizes.inputs, width)}
    if sizes.architecture == "transformer":
        shapes["output"] = (sizes.inputs, width)  # tied to the embeddings: the row of bos is not used
        parts: dict[str, tuple[int, ...]] = {
            "self_attn.in_proj_weight": (3 * width, width),
            "self_attn.in_proj_bias": (3 * width,),
            "self_attn.out_proj.weight": (width, width),
            "self_attn.out_proj.bias": (width,),
            "linear1.weight": (sizes.feedforward, width),
            "linear1.bias": (sizes.feedforward,),
            "linear2.weight": (width, sizes.feedforward),
            "linear2.bias": (width,),
            **{f"norm{n}.{name}": (width,) for n in (1, 2) for name in ("weight", "bias")},
        }
        shapes |= {f"layers.{n}.{name}": shape for n in range(sizes.layers) for name, shape in parts.items()}
        return {**shapes, "norm.weight": (width,), "norm.bias": (width,)}
    shapes |= {"output": (sizes.outputs, width), "initial": (sizes.layers, width)}
    gates = _GATES[sizes.architecture] * width
    for n in range(sizes.layers):
        shapes |= {f"weight_ih_l{n}": (gates, width), f"weight_hh_l{n}": (gates, width), f"bias_ih_l{n}": (gates,)}
    return shapes


class RauRecurrent(nn.Module):
    """An RNN or LSTM language model.

    Args:
        sizes: its sizes.
        weights: by the names of `expected_shapes`.
    """

    def __init__(self, sizes: RauSizes, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        kind = nn.LSTM if sizes.architecture == "lstm" else nn.RNN
        self.rnn = kind(sizes.width, sizes.width, sizes.layers, batch_first=True)
        own = {
            name: value
            for name, value in weights.items()
            if name.endswith(tuple(f"_l{n}" for n in range(sizes.layers)))
        }
        zeros = {name.replace("ih", "hh"): torch.zeros_like(value) for name, value in own.items() if "bias" in name}
        self.rnn.load_state_dict({**own, **zeros})  # the file has one bias for both
        self.embeddings, self.output = (nn.Parameter(weights[name]) for name in ("embeddings", "output"))
        self.initial = nn.Parameter(weights["initial"])

    def forward(self, codes: Tensor) -> Tensor:
        """Return the logits of what comes next, before and after every symbol of words (B, T): (B, T + 1, O)."""
        start = torch.tanh(self.initial)[:, None].expand(-1, len(codes), -1).contiguous()
        seen = start[-1][:, None]
        if codes.shape[1]:
            state = (start, torch.zeros_like(start)) if isinstance(self.rnn, nn.LSTM) else start
            seen = torch.cat([seen, self.rnn(self.embeddings[codes], state)[0]], 1)
        return seen @ self.output.T


class RauTransformer(nn.Module):
    """A causal transformer language model.

    Args:
        sizes: its sizes.
        weights: by the names of `expected_shapes`.
    """

    def __init__(self, sizes: RauSizes, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.bos, self.outputs = sizes.bos, sizes.outputs
        layer = nn.TransformerEncoderLayer(
            sizes.width, sizes.heads, sizes.feedforward, 0.0, batch_first=True, norm_first=True
        )
        norm = nn.LayerNorm(sizes.width)
        self.encoder = nn.TransformerEncoder(layer, sizes.layers, norm, enable_nested_tensor=False)
        own = {name: value for name, value in weights.items() if name.startswith(("layers.", "norm."))}
        self.encoder.load_state_dict(own)
        self.embeddings, self.output = (nn.Parameter(weights[name]) for name in ("embeddings", "output"))

    def forward(self, codes: Tensor) -> Tensor:
        """Return the logits of what comes next, before and after every symbol of words (B, T): (B, T + 1, O)."""
        read = nn.functional.pad(codes, (1, 0), value=self.bos or 0)
        length, width = read.shape[1], self.embeddings.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length, dtype=self.embeddings.dtype)
        seen = self.encoder(
            self.embeddings[read] * math.sqrt(width) + _places(length, width), mask=mask, is_causal=True
        )
        logits: Tensor = seen @ self.output[: self.outputs].T
        return logits


def _places(length: int, width: int) -> Tensor:
    """Return sines and cosines of the places 0 to ``length`` - 1, in turn, (length, width)."""
    even = torch.arange(0, width, 2)
    angles = torch.arange(length)[:, None] / 10_000 ** (even / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :width]
