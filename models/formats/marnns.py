"""Reader of the networks of Suzgun et al. 2019 as their program saves them: state dicts.

The program is github.com/suzgunmirac/marnns. A Stack-RNN or Stack-LSTM has `rnn.*` or `lstm.*`, `W_sh`, `W_y`, `W_n`
and `W_a` (2 rows: push, pop); a Baby-NTM has `W_m` in place of `W_sh` and 5 rows in `W_a`. All sizes follow from the
shapes. The file says neither how actions are gated nor how many cells there are: softmax and 104 unless the caller
knows better.

In the authors' program the rows of a Baby-NTM's `W_a` are rotate left, rotate right, no-op, pop right, pop left, in the
paper's words. Ours begin with rotate right, as the paper's list does, so the first two rows change places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from ...core.errors import FileFormatError, StacklensError
from ..networks.suzgun import BabyNTM, Gating, Marnn, MarnnConfig, MarnnStackLSTM, MarnnStackRNN
from ..plain_data import check_layer, kind_of, names_in_short, read_plain

BRACKETS = tuple("()[]{}<>+-abxo")  # the authors' order; a Dyck language of n kinds of brackets takes the first 2n
_EXPECTED = "expected a state dict of the marnns program with rnn.* or lstm.*, W_y, W_n, W_a and W_sh or W_m"
_FILE = "a state dict of the marnns program"
_NTM_ROWS = [1, 0, 2, 3, 4]  # our rotate right is row 1 of the file


def is_marnns(content: object) -> bool:
    """Return whether ``content``, what a file holds, is a state dict of the authors' program."""
    return isinstance(content, Mapping) and {"W_y.weight", "W_a.weight", "W_n.weight"} <= content.keys()


def read_marnns(
    source: str | Path | Mapping[str, Tensor],
    alphabet: Sequence[str] | None = None,
    *,
    gating: Gating = "softmax",
    temperature: float = 1.0,
    stack_limit: int = 104,
) -> Marnn[Any]:
    """Return the network in a file of the authors' program, or in a state dict, in evaluation mode and float64.

    It is a `MarnnStackRNN`, a `MarnnStackLSTM` or a `BabyNTM`.

    Args:
        source: a path, or the state dict itself.
        alphabet: the symbols; without it the first of ``( ) [ ] { } < > + - a b x o``, as many as the network reads.
            Where it is made of those pairs, in any order, a word begins with the first of a pair.
        gating: how actions are gated, which the file does not say.
        temperature: that of the gate.
        stack_limit: how many cells the memory has, which the file does not say either.

    Raises:
        FileFormatError: the file is missing, damaged, holds objects that would run code, or is no such network: missing
            or further weights, shapes that do not fit together, NaN, or an alphabet of another size.

    >>> weights = MarnnStackRNN(MarnnConfig(("(", ")")), seed=1).state_dict()
    >>> net = read_marnns({theirs: weights[ours] for theirs, ours in our_names("rnn", "W_sh").items()})
    >>> net.name, net.alphabet, net.first
    ('marnn-stack-rnn', ('(', ')'), ('(',))
    """
    name, content = "state dict", cast(object, source)
    if isinstance(source, str | Path):
        name, content = str(source), read_plain(Path(source), _FILE)
    try:
        weights, model_class = _renamed_weights(content)
        letters = _bracket_symbols(weights["input_weights"].shape[1], alphabet)
        shape = MarnnConfig(
            letters,
            hidden=weights["hidden_weights"].shape[1],
            cell_size=weights["memory_weights"].shape[1],
            gating=gating,
            temperature=temperature,
            stack_limit=stack_limit,
            first=_openers(letters),
        )
        _check_shapes(model_class.parameter_shapes(shape), weights)
        model = model_class(shape)
    except StacklensError as error:
        raise FileFormatError(f"{name}: {error}") from None
    model.load_state_dict(weights)
    return model.eval()


def our_names(cell: str, memory: str) -> dict[str, str]:
    """Return our name of every parameter by the authors', for a ``cell`` "rnn" or "lstm" and "W_sh" or "W_m"."""
    layers = {"W_y": "output", "W_n": "pushed", "W_a": "action", memory: "memory"}
    found: dict[str, str] = {}
    for end, ours in (("ih", "input"), ("hh", "hidden")):
        found |= {f"{cell}.weight_{end}_l0": f"{ours}_weights", f"{cell}.bias_{end}_l0": f"{ours}_bias"}
    for theirs, ours in layers.items():
        found |= {f"{theirs}.weight": f"{ours}_weights", f"{theirs}.bias": f"{ours}_bias"}
    return found


def _renamed_weights(content: Any) -> tuple[dict[str, Tensor], type[Marnn[Any]]]:
    """Return the weights under our names, and the class of the network that has them."""
    if not is_marnns(content):
        raise StacklensError(f"found {kind_of(content)}; {_EXPECTED}")
    cell = "lstm" if any(str(key).startswith("lstm.") for key in content) else "rnn"
    memory = "W_m" if "W_m.weight" in content else "W_sh"
    expected = our_names(cell, memory)
    if set(content) != set(expected) or (cell, memory) == ("lstm", "W_m"):
        found, wanted = names_in_short(sorted(map(str, content))), ", ".join(sorted(expected))
        raise StacklensError(f"found {found}; expected {wanted} (one layer; a Baby-NTM has an rnn)")
    for key, value in content.items():
        check_layer(key, value)
    weights = {expected[key]: value.double() for key, value in content.items()}
    if memory == "W_sh":
        return weights, MarnnStackLSTM if cell == "lstm" else MarnnStackRNN
    if len(weights["action_weights"]) == len(weights["action_bias"]) == len(_NTM_ROWS):
        weights |= {key: weights[key][_NTM_ROWS] for key in ("action_weights", "action_bias")}
    return weights, BabyNTM


def _check_shapes(expected: Mapping[str, tuple[int, ...]], weights: Mapping[str, Tensor]) -> None:
    for key, value in weights.items():
        if tuple(value.shape) != expected[key]:
            found = f"{key.replace('_', ' ')} have shape {tuple(value.shape)}"
            raise StacklensError(f"{found}; expected {expected[key]} from the other shapes")
        if not torch.isfinite(value).all():
            raise StacklensError(f"{key.replace('_', ' ')} hold NaN or infinite numbers; the network is not trained")


def _bracket_symbols(count: int, alphabet: Sequence[str] | None) -> tuple[str, ...]:
    if alphabet is not None:
        if len(alphabet) != count:
            raise StacklensError(f"the network reads {count} symbols; the alphabet {' '.join(alphabet)} does not fit")
        return tuple(alphabet)
    if count % 2 or count > len(BRACKETS):
        raise StacklensError(
            f"the network reads {count} symbols, which are not pairs of {' '.join(BRACKETS)}; name them "
            "with --alphabet (alphabet=…)"
        )
    return BRACKETS[:count]


def _openers(letters: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the first symbols of the pairs that the alphabet is made of; None if it is not made of pairs."""
    pairs = dict(zip(BRACKETS[::2], BRACKETS[1::2], strict=True))
    openers = tuple(letter for letter in letters if letter in pairs)
    return openers if set(letters) == {*openers, *(pairs[letter] for letter in openers)} else None
