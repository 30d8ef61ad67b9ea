"""Reader of the networks that Hao et al. 2018 published (github.com/viking-sudo-rm/StackNN): state dicts in float32.

Keys begin with `_network.` (older) or `_controller.` (newer); then come `_linear.weight`, `_linear.bias` and, where the
controller is recurrent, the cell's `_rnn.*` or `_lstm.*`. Sizes are read from the shapes alone,

    columns of the first layer = symbols read + D          rows of `_linear` = 2 + D + symbols written

which leave D, the size of a value on the stack, open: see `read_stacknn`.

All of the authors' alphabets end with the null symbol ``#``, which words are padded with. In reversal it is read and
written while the answer comes. Where the next symbol is predicted (brackets, agreement) it stands behind the end of
the sentence, where nothing counts any more: no word has it, so the network is given without that input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...core.errors import FileFormatError, StacklensError
from ..networks.neural_stack import ControllerKind, NeuralStack, NeuralStackConfig
from ..plain_data import check_layer, check_weights, kind_of, names_in_short, read_plain

_PREFIXES = ("_network.", "_controller.")
_CELLS: dict[str, ControllerKind] = {"_rnn": "rnn", "_lstm": "lstm"}
_EXPECTED = "expected a StackNN state dict with _network._linear.weight or _controller._linear.weight"
_FILE = "a state dict of the StackNN program"
_USUAL_SIZE, _XOR_SIZE = 2, 6  # of values on the stack (section 5)
_XOR_SYMBOLS = (2, 3)
_NULL = "#"
# The symbols of a grammar stand in the order of a Python 2 set, whose hashes are the same everywhere: `) ( [ ]`, and
# Vtrans Vintrans Det Nplur Auxplur Rel Nsing Auxsing Prep, which are the words of section 4.5.
_AGREEMENT = "devoured slept the lobsters have that lobster has in #"
_TASKS = {
    "reversal": ("0", "1", _NULL),
    "parenthesis-prediction": (")", "(", "[", "]", _NULL),
    "agreement": tuple(_AGREEMENT.split()),
}
_PREDICTED = ("parenthesis-prediction", "agreement")
_USUAL_SYMBOLS = {len(symbols): symbols for symbols in _TASKS.values()}


def is_stacknn(content: object) -> bool:
    """Return whether ``content``, what a file holds, is a state dict of the authors' program."""
    return isinstance(content, Mapping) and any(f"{prefix}_linear.weight" in content for prefix in _PREFIXES)


def read_stacknn(source: str | Path | Mapping[str, Tensor], alphabet: Sequence[str] | None = None) -> NeuralStack:
    """Return the network in a file of the authors' program, or in a state dict, in evaluation mode.

    The published float32 weights are kept as they are and the arithmetic on them is float64. The null symbol is the
    last one where there are three or more, as in all of the authors' tasks. Where it is never read (see above) it is in
    the output alphabet only, and the weights of its input are left out.

    Args:
        source: a path, or the state dict itself.
        alphabet: the symbols read, which fixes all sizes; those written are the same if they are as many, else digits.
            Without it they are ``0 1 #``, ``) ( [ ] #`` or the words of the agreement task where there are 3, 5 or 10,
            as in the authors' tasks, else digits; as many are written as read, and values on the stack hold 2 numbers.
            Where the shapes allow the 6 numbers of the XOR tasks too, the alphabet has to be given. Brackets and the
            words of the agreement task may be given without the null symbol.

    Raises:
        FileFormatError: the file is missing, damaged, holds objects that would run code, or is no such network: missing
            or further weights, shapes that do not fit together, NaN, a GRU, a buffered network, or open sizes.

    >>> weights = {"_network._linear.weight": torch.zeros(7, 5), "_network._linear.bias": torch.zeros(7)}
    >>> net = read_stacknn(weights)
    >>> net.alphabet, net.null, net.cell_size, net.shape.controller
    (('0', '1', '#'), '#', 2, 'linear')
    >>> net = read_stacknn({"_network._linear.weight": torch.zeros(9, 7), "_network._linear.bias": torch.zeros(9)})
    >>> net.alphabet, net.output_alphabet
    ((')', '(', '[', ']'), (')', '(', '[', ']', '#'))
    """
    return read_with_task(source, alphabet)[0]


def read_with_task(
    source: str | Path | Mapping[str, Tensor], alphabet: Sequence[str] | None = None
) -> tuple[NeuralStack, str | None]:
    """Return `read_stacknn` and the task of the authors' that has its symbols, None where none has."""
    name = "state dict" if isinstance(source, Mapping) else str(source)
    content = source if isinstance(source, Mapping) else read_plain(Path(source), _FILE)
    try:
        return _stacknn_network(content, alphabet)
    except StacklensError as error:
        raise FileFormatError(f"{name}: {error}") from None


def _stacknn_network(content: object, alphabet: Sequence[str] | None) -> tuple[NeuralStack, str | None]:
    weights, controller = _instruction_weights(content)
    first = "weight_ih" if "weight_ih" in weights else "weight"
    n_in, n_out = weights[first].shape[1], len(weights["weight"])
    letters, cell_size = _symbols_and_size(n_in, n_out, alphabet)
    written = n_out - 2 - cell_size
    task = next((name for name, symbols in _TASKS.items() if set(symbols) == set(letters)), None)
    read, null = letters, letters[-1] if len(letters) >= 3 else None
    if task in _PREDICTED and null == _NULL:
        read, null, place = letters[:-1], None, len(letters) - 1
        weights[first] = torch.cat([weights[first][:, :place], weights[first][:, place + 1 :]], 1)
    shape = NeuralStackConfig(
        read,
        letters if written == len(letters) else _usual_symbols(written),
        controller=controller,
        hidden=weights["weight_hh"].shape[1] if controller != "linear" else 10,
        cell_size=cell_size,
        null=null,
    )
    found = {f"net.{key}": value for key, value in weights.items()}
    check_weights(NeuralStack.parameter_shapes(shape), found, " from the other shapes")
    model = NeuralStack(shape)
    model.net.load_state_dict({key: value.double() for key, value in weights.items()})
    return model.eval(), task


def _instruction_weights(content: Any) -> tuple[dict[str, Tensor], ControllerKind]:
    """Return the weights under the names of `InstructionNet`, matrices as matrices, and which controller has them."""
    if not is_stacknn(content):
        raise StacklensError(f"found {kind_of(content)}; {_EXPECTED}")
    prefix = next(prefix for prefix in _PREFIXES if f"{prefix}_linear.weight" in content)
    renamed = {str(key).removeprefix(prefix).removesuffix("_l0"): value for key, value in content.items()}
    cell = next((cell for cell in _CELLS if f"{cell}.weight_ih" in renamed), None)
    names = {"_linear.weight": "weight", "_linear.bias": "bias"}
    if cell is not None:
        names |= {f"{cell}.{key}": key for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    if set(renamed) != set(names) or len(renamed) < len(content):  # one name may hide another
        found, expected = names_in_short(sorted(map(str, content))), ", ".join(sorted(names))
        raise StacklensError(f"found {found}; expected {expected} (linear, tanh and LSTM controllers can be read)")
    for key, value in renamed.items():
        check_layer(key, value)
    return {names[key]: value for key, value in renamed.items()}, "linear" if cell is None else _CELLS[cell]


def _symbols_and_size(n_in: int, n_out: int, alphabet: Sequence[str] | None) -> tuple[tuple[str, ...], int]:
    """Return the symbols read and D, the size of a value on the stack."""
    sizes = f"the controller has {n_in} inputs and {n_out} outputs"
    if n_out == n_in + 4:
        raise StacklensError(
            f"{sizes}, a buffered network's; expected {n_in + 2} outputs: only unbuffered ones are read"
        )
    if alphabet is not None and any({*alphabet, _NULL} == set(_TASKS[name]) for name in _PREDICTED):
        alphabet = alphabet if _NULL in alphabet else (*alphabet, _NULL)
    if alphabet is not None:
        size = n_in - len(alphabet)
        if size < 1 or n_out - 2 - size < 1 or len(set(alphabet)) != len(alphabet) or not alphabet:
            given = f"an alphabet of {len(alphabet)} symbols ({' '.join(alphabet)})"
            raise StacklensError(f"{sizes}, which {given} does not fit; expected 1 to {n_in - 1} different symbols")
        return tuple(alphabet), size
    name_them = "name the symbols read with --alphabet (alphabet=…)"
    if n_out != n_in + 2 or n_in <= _USUAL_SIZE:
        raise StacklensError(
            f"{sizes}; expected two more outputs than inputs where both alphabets are one; {name_them}"
        )
    if n_in - _XOR_SIZE in _XOR_SYMBOLS:
        ways = f"{n_in - _USUAL_SIZE} symbols and values of 2 numbers, or {n_in - _XOR_SIZE} and 6"
        raise StacklensError(f"{sizes}: {ways}, as in XOR; {name_them}")
    return _usual_symbols(n_in - _USUAL_SIZE), _USUAL_SIZE


def _usual_symbols(count: int) -> tuple[str, ...]:
    return _USUAL_SYMBOLS.get(count, tuple(map(str, range(count))))
