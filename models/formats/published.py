"""Readers of the networks that the authors of three papers published, each as their own program saves them."""

import os
import string
from collections import namedtuple
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...core.errors import FileFormatError, StacklensError, in_file, names_in_short
from ...core.files import LARGEST_NETWORK, read_whole
from ..networks.joulin import StackRNN, StackRNNConfig
from ..networks.neural_stack import ControllerKind, NeuralStack, NeuralStackConfig
from ..networks.suzgun import BabyNTM, Marnn, MarnnConfig, MarnnStackLSTM, MarnnStackRNN
from ..plain_data import check_tensor, check_weights, describe

# ---- Reader of the networks of Suzgun et al. 2019 as their program saves them: state dicts.
# The program is github.com/suzgunmirac/marnns. A Stack-RNN or Stack-LSTM has `rnn.*` or `lstm.*`, `W_sh`, `W_y`, `W_n`
# and `W_a` (2 rows: push, pop); a Baby-NTM has `W_m` in place of `W_sh` and 5 rows in `W_a`. All sizes follow from the
# shapes. The file does not say how actions are gated or how many cells there are: by a softmax, and 104.
#
# The rows of a Baby-NTM's `W_a` there are rotate left, rotate right, no-op, pop right, pop left in the
# paper's words. Ours begin with rotate right, as the paper's list does, so the first two rows change places.

BRACKETS = tuple("()[]{}<>+-abxo")  # the authors' order; a Dyck language of n kinds of brackets takes the first 2n
_PAIRS = dict(zip(BRACKETS[::2], BRACKETS[1::2], strict=True))
_MARNNS_EXPECTED = "expected a state dict of the marnns program with rnn.* or lstm.*, W_y, W_n, W_a and W_sh or W_m"
_MARNNS_CELLS = 104
_NTM_ROWS = [1, 0, 2, 3, 4]  # our rotate right is row 1 of the file


def is_marnns(content: object) -> bool:
    """Return whether ``content``, what a file holds, is a state dict of the authors' program."""
    return isinstance(content, Mapping) and {"W_y.weight", "W_a.weight", "W_n.weight"} <= content.keys()


def read_marnns(content: object, alphabet: Sequence[str] | None = None) -> Marnn[Any]:
    """Return the network in a state dict of the authors' program, in evaluation mode and float64. It is a
    `MarnnStackRNN`, a `MarnnStackLSTM` or a `BabyNTM`.

    ``alphabet``: the symbols; without it the first of ``( ) [ ] { } < > + - a b x o``, as many as the network reads.
    Where it is made of those pairs, in any order, a word begins with the first of a pair. Raises StacklensError: it is
    no such network: missing or further weights, shapes that do not fit together, NaN, or an alphabet of another size.

    >>> weights = MarnnStackRNN(MarnnConfig(("(", ")")), seed=1).state_dict()
    >>> net = read_marnns({theirs: weights[ours] for theirs, ours in our_names("rnn", "W_sh").items()})
    >>> net.name, net.alphabet, net.first
    ('marnn-stack-rnn', ('(', ')'), ('(',))
    """
    if not isinstance(content, Mapping) or not is_marnns(content):
        raise StacklensError(f"{describe(content)}; {_MARNNS_EXPECTED}")
    cell = "lstm" if any(str(key).startswith("lstm.") for key in content) else "rnn"
    memory = "W_m" if "W_m.weight" in content and cell == "rnn" else "W_sh"
    weights = _renamed(content, our_names(cell, memory), "one layer; a Baby-NTM has an rnn")
    weights = {name: value.double() for name, value in weights.items()}
    kind: type[Marnn[Any]] = MarnnStackLSTM if cell == "lstm" else MarnnStackRNN
    if memory == "W_m":
        kind = BabyNTM
        if len(weights["action_weights"]) == len(weights["action_bias"]) == len(_NTM_ROWS):
            weights |= {key: weights[key][_NTM_ROWS] for key in ("action_weights", "action_bias")}
    size = weights["input_weights"].shape[1]
    if alphabet is None and (size % 2 or size > len(BRACKETS)):
        raise StacklensError(
            f"the network reads {size} symbols, which are not pairs of {' '.join(BRACKETS)}; name them "
            "with --alphabet (alphabet=…)"
        )
    letters = _stream_symbols(size, BRACKETS[:size] if alphabet is None else alphabet)
    # the first symbols of the pairs that the alphabet is made of, if it is
    openers = tuple(letter for letter in letters if letter in _PAIRS)
    paired = set(letters) == {*openers, *(_PAIRS[letter] for letter in openers)}
    shape = MarnnConfig(
        letters,
        hidden=weights["hidden_weights"].shape[1],
        cell_size=weights["memory_weights"].shape[1],
        stack_limit=_MARNNS_CELLS,
        first=openers if paired else None,
    )
    check_weights(kind.parameter_shapes(shape), weights, " from the other shapes")
    model = kind(shape)
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


def _renamed(content: Mapping[Any, Any], ours: Mapping[str, str], hint: str) -> dict[str, Tensor]:
    """Return the weights of a state dict under our names, ``ours`` by the program's; it has these and no others, of
    any sizes but 0: vectors where a name says that it is a bias, and matrices otherwise.
    """
    if set(content) != set(ours):
        found, expected = names_in_short(sorted(map(str, content))), ", ".join(sorted(ours))
        raise StacklensError(f"found {found}; expected {expected} ({hint})")
    for key, value in content.items():
        shape, axes = check_tensor(key, value).shape, 1 if "bias" in key else 2
        if len(shape) != axes or 0 in shape:
            raise StacklensError(f"{key} has shape {tuple(shape)}; expected {axes} axes of at least 1")
    return {ours[key]: value for key, value in content.items()}


# ---- The networks that Hao et al. 2018 published (github.com/viking-sudo-rm/StackNN): state dicts in float32.
# Keys begin with `_network.` (older) or `_controller.` (newer); then `_linear.weight`, `_linear.bias` and, where the
# controller is recurrent, the cell's `_rnn.*` or `_lstm.*`. Sizes are read from the shapes alone,
#
#     columns of the first layer = symbols read + D          rows of `_linear` = 2 + D + symbols written
#
# which leave D, the size of a value on the stack, open: see `read_stacknn`.
#
# All of the authors' alphabets end with the null symbol ``#``, which words are padded with. In reversal it is read and
# written while the answer comes. Where the next symbol is predicted (brackets, agreement) it stands behind the end of
# the sentence, where nothing counts any more: no word has it, so the network is given without that input.

_PREFIXES = ("_network.", "_controller.")
_CELLS: tuple[ControllerKind, ...] = ("rnn", "lstm")
_STACKNN_EXPECTED = "expected a StackNN state dict with _network._linear.weight or _controller._linear.weight"
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


def read_stacknn(content: object, alphabet: Sequence[str] | None = None) -> tuple[NeuralStack, str | None]:
    """Return the network in a state dict of the authors' program, in evaluation mode, and the task of theirs that has
    its symbols, None where none has.

    The published float32 weights are kept as they are and the arithmetic on them is float64. The null symbol is the
    last one where there are three or more, as in all of the authors' tasks. Where it is never read (see above) it is in
    the output alphabet only, and the weights of its input are left out.

    ``alphabet``: the symbols read, which fixes all sizes; those written are the same if they are as many, else digits.
    Without it they are ``0 1 #``, ``) ( [ ] #`` or the words of the agreement task where there are 3, 5 or 10, as in
    the authors' tasks, else digits; as many are written as read, and values on the stack hold 2 numbers. Where the
    shapes allow the 6 numbers of the XOR tasks too, the alphabet has to be given. Brackets and the words of the
    agreement task may be given without the null symbol. Raises StacklensError: it is no such network: missing or
    further weights, shapes that do not fit together, NaN, a GRU, a buffered network, or open sizes.

    >>> weights = {"_network._linear.weight": torch.zeros(7, 5), "_network._linear.bias": torch.zeros(7)}
    >>> net, task = read_stacknn(weights)
    >>> task, net.alphabet, net.null, net.cell_size, net.shape.controller
    ('reversal', ('0', '1', '#'), '#', 2, 'linear')
    >>> weights = {"_network._linear.weight": torch.zeros(9, 7), "_network._linear.bias": torch.zeros(9)}
    >>> net, task = read_stacknn(weights)
    >>> net.alphabet, net.output_alphabet
    ((')', '(', '[', ']'), (')', '(', '[', ']', '#'))
    """
    if not isinstance(content, Mapping) or not is_stacknn(content):
        raise StacklensError(f"{describe(content)}; {_STACKNN_EXPECTED}")
    # the weights under the names of `InstructionNet`, and which controller has them
    prefix = next(prefix for prefix in _PREFIXES if f"{prefix}_linear.weight" in content)
    end = "_l0" if any(str(key).endswith("_l0") for key in content) else ""
    cell = next((cell for cell in _CELLS if f"{prefix}_{cell}.weight_ih{end}" in content), None)
    names = {f"{prefix}_linear.{key}": key for key in ("weight", "bias")}
    if cell is not None:
        names |= {f"{prefix}_{cell}.{key}{end}": key for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
    weights = _renamed(content, names, "linear, tanh and LSTM controllers can be read")
    # sizes and symbols
    first = "weight" if cell is None else "weight_ih"
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
        controller=cell or "linear",
        hidden=10 if cell is None else weights["weight_hh"].shape[1],
        cell_size=cell_size,
        null=null,
    )
    found = {f"net.{key}": value for key, value in weights.items()}
    check_weights(NeuralStack.parameter_shapes(shape), found, " from the other shapes")
    model = NeuralStack(shape)
    model.net.load_state_dict({key: value.double() for key, value in weights.items()})
    return model.eval(), task


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


# ---- Reader of the networks that the C++ program of Joulin & Mikolov 2015 saves: text.
# The program is github.com/facebookarchive/Stack-RNN. The first line holds ten whole numbers,
#
#     IN ACTIONS HIDDEN STACKS STACK_SIZE OUT BPTT BPTT_STEP MOD DEPTH
#
# and then come, with a comma after each number,
#
#     in2hid (IN x HIDDEN)    hid2hid (HIDDEN x HIDDEN)
#     for every stack: hid2act (ACTIONS x HIDDEN), hid2stack (STACK_SIZE x HIDDEN), stack2hid (HIDDEN x STACK_SIZE)
#     hid2out (OUT x HIDDEN)
#
# Of hid2stack only row 0 is used, of stack2hid only the first DEPTH columns. MOD: what the hidden layer sees besides
# the symbol (a comment in the program's StackRNN.h): 0 nothing at all, 1 the stacks, 2 the stacks and the hidden layer
# before. With MOD 0 the network works on its stacks and never looks: their readings weigh 0.

_CPP_EXPECTED = "expected a text file saved by the Stack-RNN C++ program, which begins with ten whole numbers"


Header = namedtuple("Header", "symbols actions hidden stacks cells outputs bptt bptt_step mod depth")  # the first line


def is_stack_rnn_cpp(path: str | Path) -> bool:
    """Return whether the file at ``path`` begins as the program's files do: a line of ten whole numbers."""
    if not os.path.isfile(path):  # a pipe would be waited for
        return False
    try:
        with Path(path).open("rb") as file:
            line = file.readline(1_000)
        _header(line.decode("ascii"))
    except (OSError, UnicodeDecodeError, StacklensError):
        return False
    return True


def read_stack_rnn_cpp(path: str | Path, alphabet: Sequence[str] | None = None) -> StackRNN:
    """Return the network in the file at ``path``, in evaluation mode and float64. ``alphabet``: the symbols; without it
    the letters from ``a`` on, as in the program's counting tasks.
    """
    path = Path(path)
    try:
        text = read_whole(path, _CPP_EXPECTED.removeprefix("expected "), LARGEST_NETWORK).decode("ascii")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: not text; {_CPP_EXPECTED}") from None
    first, _, rest = text.partition("\n")
    with in_file(path):
        header = _header(first)
        n_in, n_out, stacks, depth, cells = header.symbols, header.outputs, header.stacks, header.depth, header.cells
        demands = (
            (header.actions in (2, 3), f"{header.actions} actions; expected 2 (push, pop) or 3 (and no-op)"),
            (n_in == n_out, f"{n_in} symbols in and {n_out} out; expected as many"),
            (header.mod in (0, 1, 2), f"MOD {header.mod}; expected 0, 1 or 2"),
            (1 <= depth <= cells, f"depth {depth} of {cells} cells; expected 1 to all of them"),
            (stacks >= 1, "0 stacks; expected at least 1, a network without is no Stack RNN"),
        )
        if wrong := [found for holds, found in demands if not holds]:
            raise StacklensError(f"the first line says {wrong[0]}")
        shape = StackRNNConfig(
            _stream_symbols(n_in, alphabet),
            hidden=header.hidden,
            n_stacks=stacks,
            depth=depth,
            no_op=header.actions == 3,
            recurrent=header.mod == 2,
            stack_limit=cells,
        )
        parameters = _parameters(header, rest)
    model = StackRNN(shape)
    model.load_state_dict(parameters)
    return model.eval()


def _header(line: str) -> Header:
    words = line.split()
    if len(words) != len(Header._fields) or not all(word.isdecimal() for word in words):
        raise StacklensError(f"the first line is {line[:60].strip()!r}; {_CPP_EXPECTED}")
    return Header(*map(int, words))


def _stream_symbols(count: int, alphabet: Sequence[str] | None) -> tuple[str, ...]:
    named = string.ascii_lowercase[:count] if alphabet is None else alphabet
    if len(named) != count:
        given = (
            f"the alphabet {' '.join(alphabet)} does not fit" if alphabet else "name them with --alphabet (alphabet=…)"
        )
        raise StacklensError(f"the network reads {count} symbols; {given}")
    return tuple(named)


def _parameters(header: Header, text: str) -> dict[str, Tensor]:
    """Return the parameters of `StackRNN` in what follows the first line, without what the network does not use."""
    words, hidden = text.replace(",", " ").split(), header.hidden
    # how many numbers there are in all is known before anything is made of them
    each = header.actions + 2 * header.cells
    size = hidden * (header.symbols + hidden + header.stacks * each + header.outputs)
    if len(words) != size:
        raise StacklensError(f"found {len(words)} numbers; expected {size} from the first line")
    try:
        numbers = np.array(words, dtype=np.float64)
    except ValueError as error:
        raise StacklensError(f"found something that is no number: {error}") from None
    if not np.isfinite(numbers).all():
        raise StacklensError("found NaN or infinite numbers; the network was not trained to an end")
    # the matrices in the order of the file: three for each stack between the first two and the last
    of_a_stack = [(header.actions, hidden), (header.cells, hidden), (hidden, header.cells)]
    shapes = [(header.symbols, hidden), (hidden, hidden), *of_a_stack * header.stacks, (header.outputs, hidden)]
    parts = torch.split(torch.from_numpy(numbers), [rows * columns for rows, columns in shapes])
    in2hid, hid2hid, *stacked, hid2out = (part.view(shape) for part, shape in zip(parts, shapes, strict=True))
    hid2act, hid2stack, stack2hid = stacked[::3], stacked[1::3], stacked[2::3]
    memory = torch.cat([columns[:, : header.depth] for columns in stack2hid], 1)
    parameters = {
        "input_weights": in2hid,
        "memory_weights": memory if header.mod else torch.zeros_like(memory),
        "action_weights": torch.cat(hid2act),
        "pushed_weights": torch.cat([rows[:1] for rows in hid2stack]),
        "output_weights": hid2out,
    }
    return parameters | ({"recurrent_weights": hid2hid} if header.mod == 2 else {})
