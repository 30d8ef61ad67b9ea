"""What the networks of the papers have in common: shapes, which are checked, layers, weights on a leading axis.

A shape may come from a file that anybody made, so every field is of exactly the type that it says (True is no number of
cells, a tensor no switch) before anything is computed from it.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ...core.errors import StacklensError
from ...core.validation import check_alphabet
from ..base import ModelSpec, NetworkState, S, StackModel
from ..plain_data import in_short

LARGEST_SIZE = 4_096  # against typing errors and damaged files, not against ambition
LARGEST_ALPHABET = 65_536  # symbols; those of a language model are words: 10,000 in the Penn Treebank
MOST_CELLS = 1_000_000  # of a stack
_LONGEST = 100  # characters of a symbol
_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a string",
    tuple[str, ...]: f"up to {LARGEST_ALPHABET} symbols",
    NoneType: "None",
}


def check_fields(shape: Any) -> None:
    """Check that every field of the dataclass ``shape`` is of its type, and make tuples of all symbols.

    Whole numbers may stand for numbers, lists and strings for tuples of symbols. Symbols are 1 to 100 printable
    characters; alphabets have 65,536 at most. Where there is an output alphabet, an empty one is the alphabet.

    Raises:
        StacklensError: naming the field, what it is and what it should be.
    """
    kind: Any
    for name, kind in get_type_hints(type(shape)).items():
        value = getattr(shape, name)
        if not _is_a(value, kind):
            raise StacklensError(f"{name} is {in_short(value)}; expected {_described(kind)}")
        if get_origin(kind) is Literal and value not in get_args(kind):
            raise StacklensError(f"{name} {in_short(value)} is not one of {', '.join(get_args(kind))}")
        if tuple[str, ...] in (get_args(kind) if isinstance(kind, UnionType) else (kind,)) and value is not None:
            symbols = tuple(value) or (shape.alphabet if name == "output_alphabet" else ())
            check_symbols(name, symbols)
            object.__setattr__(shape, name, symbols)


def check_sizes(**sizes: int) -> None:
    """Check that every one of ``sizes`` is from 1 to `LARGEST_SIZE`.

    Raises:
        StacklensError: naming one that is not.
    """
    for name, size in sizes.items():
        if type(size) is not int or not 1 <= size <= LARGEST_SIZE:
            raise StacklensError(f"{name} is {in_short(size)}; expected a whole number from 1 to {LARGEST_SIZE}")


def _is_a(value: object, kind: Any) -> bool:
    if isinstance(kind, UnionType):
        return any(_is_a(value, one) for one in get_args(kind))
    if get_origin(kind) is Literal:
        return type(value) is str  # which one is checked apart
    if kind == tuple[str, ...]:
        parts = value if isinstance(value, str | tuple | list) else None
        return parts is not None and len(parts) <= LARGEST_ALPHABET and all(type(part) is str for part in parts)
    if kind is float:
        return type(value) is float or (type(value) is int and value.bit_length() <= 64)
    return type(value) is kind


def _described(kind: Any) -> str:
    if isinstance(kind, UnionType):
        return " or ".join(map(_described, get_args(kind)))
    return "a string" if get_origin(kind) is Literal else _WORDS[kind]


def check_symbols(name: str, symbols: tuple[str, ...]) -> None:
    """Check that ``symbols`` can be read, shown and kept apart.

    Raises:
        StacklensError: naming one that is empty, longer than 100 characters, not printable, or there twice.
    """
    for symbol in symbols:
        if not 1 <= len(symbol) <= _LONGEST or not symbol.isprintable():
            raise StacklensError(
                f"{name} has the symbol {in_short(symbol)}; expected 1 to {_LONGEST} printable characters"
            )
    check_alphabet(symbols)


# ---- The layers that several networks have, and what all networks of the papers have in common ----


def uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> Tensor:
    """Return draws from U(-bound, bound) in ``shape``, float64."""
    return (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1) * bound


def affine(values: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    """Return W x + b of ``values`` (..., B, I), with weights (..., O, I) and bias (..., O)."""
    if weights.dim() == 2:  # one network: product and sum in one call
        return nn.functional.linear(values, weights, bias)
    return values @ weights.mT + bias.unsqueeze(-2)


def lstm_cell(drive: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return h' and c' of an LSTM (Hochreiter & Schmidhuber 1997, with forget gates) from its gates' sums."""
    enter, keep, new, show = drive.chunk(4, -1)
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(show) * torch.tanh(cell), cell


def add_parameters(
    module: nn.Module, draw: Callable[[torch.Generator], dict[str, Tensor]], seed: int, nets: int | None
) -> None:
    """Give ``module`` the parameters that ``draw`` makes from a generator of ``seed``.

    Of ``nets`` networks number n draws from ``seed + n``, and all of them stand on a leading axis.
    """
    draws = [draw(torch.Generator().manual_seed(seed + net)) for net in range(nets or 1)]
    for name in draws[0]:
        values = draws[0][name] if nets is None else torch.stack([one[name] for one in draws])
        module.register_parameter(name, nn.Parameter(values))


class PaperNetwork(StackModel[S]):
    """A network of a paper, or ``nets`` of them on a leading axis; net n of many equals the single one of ``seed + n``.

    Attributes:
        shape: its configuration; what that has in common with `ModelSpec` is the network's too.
        leading: the axes before the batch, () or (nets,).
        n_hidden: how many numbers a hidden vector has, an LSTM's c included.
    """

    shape: Any
    leading: tuple[int, ...]
    n_hidden: int

    def __init__(self, shape: Any, nets: int | None) -> None:
        super().__init__()
        self.shape, self.leading = shape, () if nets is None else (nets,)
        for name in ModelSpec.__annotations__.keys() & vars(shape).keys():
            setattr(self, name, getattr(shape, name))

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        written: tuple[str, ...] = getattr(self.shape, "output_alphabet", self.alphabet)
        return written

    def config(self) -> dict[str, Any]:
        return asdict(self.shape)

    @abstractmethod
    def initial_memory(self, leading: tuple[int, ...]) -> S:
        """Return empty memories; ``leading`` ends with the batch."""

    def initial_state(self, batch: int) -> NetworkState[S]:
        leading, like = (*self.leading, batch), next(self.parameters())
        rejected = torch.zeros(leading, dtype=torch.bool, device=like.device)
        return NetworkState(like.new_zeros(*leading, self.n_hidden), self.initial_memory(leading), rejected)


# ---- The same function with other weights ----


class _Beside(nn.Module):
    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, call: Callable[[], Any]) -> Any:
        return call()


def with_weights(module: nn.Module | None, weights: Mapping[str, Tensor] | None, call: Callable[[], Any]) -> Any:
    """Return what ``call`` returns while ``module`` has these ``weights``, by name; its own where they are None.

    ``call`` may reach the module as a method, by a closure or by a global name: it is the same module, for as long.
    """
    if module is None or weights is None:
        return call()
    return functional_call(_Beside(module), {f"module.{name}": value for name, value in weights.items()}, (call,))


def like_weights(module: nn.Module | None) -> Tensor:
    """Return a tensor of the type and on the device of a module's weights."""
    weights = None if module is None else next(module.parameters(), None)
    return torch.zeros(()) if weights is None else weights.detach().new_zeros(())
