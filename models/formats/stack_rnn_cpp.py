"""Reader of the networks that the C++ program of Joulin & Mikolov 2015 saves: text.

The program is github.com/facebookarchive/Stack-RNN. The first line holds ten whole numbers,

    IN ACTIONS HIDDEN STACKS STACK_SIZE OUT BPTT BPTT_STEP MOD DEPTH

and then come, with a comma after each number,

    in2hid (IN x HIDDEN)    hid2hid (HIDDEN x HIDDEN)
    for every stack: hid2act (ACTIONS x HIDDEN), hid2stack (STACK_SIZE x HIDDEN), stack2hid (HIDDEN x STACK_SIZE)
    hid2out (OUT x HIDDEN)

Of hid2stack only row 0 is used, of stack2hid only the first DEPTH columns. MOD says what the hidden layer sees besides
the symbol (a comment in the program's StackRNN.h): 0 nothing at all, 1 the stacks, 2 the stacks and the hidden layer
before. With MOD 0 the network works on its stacks and never looks: their readings weigh 0.
"""

from __future__ import annotations

import os
import string
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...core.errors import FileFormatError, StacklensError
from ...core.files import LARGEST_NETWORK, read_whole
from ..networks.joulin import StackRNN, StackRNNConfig

_EXPECTED = "expected a text file saved by the Stack-RNN C++ program, which begins with ten whole numbers"


class Header(NamedTuple):
    """The first line of a file."""

    symbols: int
    actions: int
    hidden: int
    stacks: int
    cells: int
    outputs: int
    bptt: int
    bptt_step: int
    mod: int
    depth: int

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Return the shapes of the matrices in the order of the file."""
        shapes = {"in2hid": (self.symbols, self.hidden), "hid2hid": (self.hidden, self.hidden)}
        for stack in range(self.stacks):
            shapes[f"hid2act {stack}"] = (self.actions, self.hidden)
            shapes[f"hid2stack {stack}"] = (self.cells, self.hidden)
            shapes[f"stack2hid {stack}"] = (self.hidden, self.cells)
        return {**shapes, "hid2out": (self.outputs, self.hidden)}

    def size(self) -> int:
        """Return how many numbers a file has after its first line."""
        each = self.actions + 2 * self.cells
        return self.hidden * (self.symbols + self.hidden + self.stacks * each + self.outputs)


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
    """Return the network in the file at ``path``, in evaluation mode and float64.

    Args:
        path: the file.
        alphabet: the symbols; without it the letters from ``a`` on, as in the program's counting tasks.

    Raises:
        FileFormatError: the file is missing or not text, the first line is not ten numbers that make sense, there are
            fewer or more numbers than it says, one is none, NaN or infinite, or the alphabet does not fit.
    """
    path = Path(path)
    try:
        text = read_whole(path, _EXPECTED.removeprefix("expected "), LARGEST_NETWORK).decode("ascii")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: not text; {_EXPECTED}") from None
    first, _, rest = text.partition("\n")
    try:
        header = _header(first)
        _check_header(header)
        shape = StackRNNConfig(
            _stream_symbols(header.symbols, alphabet),
            hidden=header.hidden,
            n_stacks=header.stacks,
            depth=header.depth,
            no_op=header.actions == 3,
            recurrent=header.mod == 2,
            stack_limit=header.cells,
        )
        matrices = _matrices(header, rest)
    except StacklensError as error:
        raise FileFormatError(f"{path}: {error}") from None
    model = StackRNN(shape)
    model.load_state_dict(_parameters(header, matrices))
    return model.eval()


def _header(line: str) -> Header:
    words = line.split()
    if len(words) != len(Header._fields) or not all(word.isdecimal() for word in words):
        raise StacklensError(f"the first line is {line[:60].strip()!r}; {_EXPECTED}")
    return Header(*map(int, words))


def _check_header(header: Header) -> None:
    """Raise StacklensError for a first line that no network of the paper has."""
    demands = (
        (header.actions in (2, 3), f"{header.actions} actions; expected 2 (push, pop) or 3 (and no-op)"),
        (header.symbols == header.outputs, f"{header.symbols} symbols in and {header.outputs} out; expected as many"),
        (header.mod in (0, 1, 2), f"MOD {header.mod}; expected 0, 1 or 2"),
        (1 <= header.depth <= header.cells, f"depth {header.depth} of {header.cells} cells; expected 1 to all of them"),
        (header.stacks >= 1, "0 stacks; expected at least 1, a network without is no Stack RNN"),
    )
    for holds, found in demands:
        if not holds:
            raise StacklensError(f"the first line says {found}")


def _stream_symbols(count: int, alphabet: Sequence[str] | None) -> tuple[str, ...]:
    if alphabet is None and count <= len(string.ascii_lowercase):
        return tuple(string.ascii_lowercase[:count])
    if alphabet is None or len(alphabet) != count:
        given = (
            "name them with --alphabet (alphabet=…)"
            if alphabet is None
            else f"the alphabet {' '.join(alphabet)} does not fit"
        )
        raise StacklensError(f"the network reads {count} symbols; {given}")
    return tuple(alphabet)


def _matrices(header: Header, text: str) -> dict[str, Tensor]:
    """Return the matrices by their names in the program."""
    words = text.replace(",", " ").split()
    if len(words) != header.size():
        raise StacklensError(f"found {len(words)} numbers; expected {header.size()} from the first line")
    try:
        numbers = np.array(words, dtype=np.float64)
    except ValueError as error:
        raise StacklensError(f"found something that is no number: {error}") from None
    if not np.isfinite(numbers).all():
        raise StacklensError("found NaN or infinite numbers; the network was not trained to an end")
    shapes = header.shapes()
    ends = np.cumsum([rows * columns for rows, columns in shapes.values()])
    parts = np.split(numbers, ends[:-1])
    return {name: torch.from_numpy(part.reshape(shapes[name])) for name, part in zip(shapes, parts, strict=True)}


def _parameters(header: Header, matrices: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the parameters of `StackRNN`, without what the network does not use."""
    stacks = range(header.stacks)
    memory = torch.cat([matrices[f"stack2hid {stack}"][:, : header.depth] for stack in stacks], 1)
    parameters = {
        "input_weights": matrices["in2hid"],
        "memory_weights": memory if header.mod else torch.zeros_like(memory),
        "action_weights": torch.cat([matrices[f"hid2act {stack}"] for stack in stacks]),
        "pushed_weights": torch.cat([matrices[f"hid2stack {stack}"][:1] for stack in stacks]),
        "output_weights": matrices["hid2out"],
    }
    return parameters | ({"recurrent_weights": matrices["hid2hid"]} if header.mod == 2 else {})
