"""What the networks of the papers have in common: shapes, which are checked, layers, weights on a leading axis.

A shape may come from a file that anybody made, so every field is of exactly the type that it says (True is no number of
cells, a tensor no switch) before anything is computed from it. Below stand the tokens of a network, how functions that
somebody else wrote are called, and the models by name.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar, Self, cast, get_args, get_type_hints

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ...core.errors import StacklensError, check_alphabet, in_short
from ...core.files import from_plain
from ..base import ModelSpec, NetworkState, S, StackModel

LARGEST_SIZE = 4_096  # against typing errors and damaged files, not against ambition
LARGEST_ALPHABET = 65_536  # symbols; those of a language model are words: 10,000 in the Penn Treebank
MOST_CELLS = 1_000_000  # of a stack
_LONGEST = 100  # characters of a symbol


def check_fields(shape: Any) -> None:
    """Check that every field of the dataclass ``shape`` is of its type, and make tuples of all symbols. Whole numbers
    may stand for numbers, lists and strings for tuples of symbols. Symbols are 1 to 100 printable characters; alphabets
    have 65,536 at most. Where there is an output alphabet, an empty one is the alphabet; the symbols that may begin a
    word, ``first``, are in the alphabet.
    """
    for name, kind in get_type_hints(type(shape)).items():
        value = getattr(shape, name)
        if tuple[str, ...] not in (kind, *get_args(kind)):
            object.__setattr__(shape, name, from_plain(kind, value, name))
        elif value is not None or kind == tuple[str, ...]:
            if not isinstance(value, str | tuple | list) or len(value) > LARGEST_ALPHABET:
                raise StacklensError(f"{name} is {in_short(value)}; expected up to {LARGEST_ALPHABET} symbols")
            symbols = tuple(value) or (shape.alphabet if name == "output_alphabet" else ())
            check_symbols(name, symbols)
            object.__setattr__(shape, name, symbols)
    if strangers := [symbol for symbol in getattr(shape, "first", None) or () if symbol not in shape.alphabet]:
        raise StacklensError(f"first has {' '.join(strangers)}, outside the alphabet {' '.join(shape.alphabet)}")


def check_sizes(**sizes: int) -> None:
    """Check that every one of ``sizes`` is from 1 to `LARGEST_SIZE`. Raises StacklensError: naming one that is not."""
    for name, size in sizes.items():
        if type(size) is not int or not 1 <= size <= LARGEST_SIZE:
            raise StacklensError(f"{name} is {in_short(size)}; expected a whole number from 1 to {LARGEST_SIZE}")


def check_symbols(name: str, symbols: tuple[str, ...]) -> None:
    """Check that ``symbols`` can be read, shown and kept apart."""
    for symbol in symbols:
        if type(symbol) is not str or not 1 <= len(symbol) <= _LONGEST or not symbol.isprintable():
            raise StacklensError(
                f"{name} has the symbol {in_short(symbol)}; expected 1 to {_LONGEST} printable characters"
            )
    check_alphabet(symbols)


# ---- The layers that several networks have, and what all networks of the papers have in common ----


def check_predictor(alphabet: tuple[str, ...], output_alphabet: tuple[str, ...]) -> None:
    """Check that a network that reads ``alphabet`` can predict symbols of ``output_alphabet``."""
    if output_alphabet[: len(alphabet)] != alphabet or len(set(output_alphabet)) < len(output_alphabet):
        raise StacklensError(
            f"what may come next, {' '.join(output_alphabet)}, should begin with the alphabet {' '.join(alphabet)}"
        )


def check_shape(alphabet: tuple[str, ...], stack_limit: int | None, **sizes: int) -> None:
    """Check that a network can have this shape."""
    if not alphabet:
        raise StacklensError("a network needs symbols; the alphabet is empty")
    check_sizes(**sizes)
    if stack_limit is not None and not 1 <= stack_limit <= MOST_CELLS:
        raise StacklensError(
            f"stack_limit is {in_short(stack_limit)}; expected a whole number from 1 to {MOST_CELLS:,}, or None"
        )


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
    """Give ``module`` the parameters that ``draw`` makes from a generator of ``seed``. Of ``nets`` networks number n
    draws from ``seed + n``, and all of them stand on a leading axis.
    """
    draws = [draw(torch.Generator().manual_seed(seed + net)) for net in range(nets or 1)]
    for name in draws[0]:
        values = draws[0][name] if nets is None else torch.stack([one[name] for one in draws])
        module.register_parameter(name, nn.Parameter(values))


class PaperNetwork(StackModel[S]):
    """A network of a paper, or ``nets`` of them on a leading axis; net n of many is the single one of ``seed + n``."""

    shape: Any  # its configuration; what that has in common with `ModelSpec` is the network's too
    leading: tuple[int, ...]  # the axes before the batch, () or (nets,)
    n_hidden: int  # how many numbers a hidden vector has, an LSTM's c included
    no_automaton: ClassVar[str]  # of a memory that no window of cells says all of: that there is no automaton, and why

    def __init__(self, shape: Any, nets: int | None) -> None:
        super().__init__()
        self.shape, self.leading = shape, () if nets is None else (nets,)
        for name in ModelSpec.__annotations__.keys() & vars(shape).keys():
            setattr(self, name, getattr(shape, name))

    def draw_weights(self, bound: float, seed: int, nets: int | None) -> None:
        """Give the network all weights of its `parameter_shapes`, drawn from U(-bound, bound)."""
        shapes = self.parameter_shapes(self.shape).items()
        add_parameters(self, lambda rng: {name: uniform(size, bound, rng) for name, size in shapes}, seed, nets)

    @property
    def output_alphabet(self) -> tuple[str, ...]:
        return getattr(self.shape, "output_alphabet", self.alphabet)

    def config(self) -> dict[str, Any]:
        return asdict(self.shape)

    def stack_of(self, cells: Tensor) -> S:
        raise StacklensError(self.no_automaton)

    def initial_memory(self, leading: tuple[int, ...]) -> S:
        """Return empty memories; ``leading`` ends with the batch."""
        return self.stack_of(next(self.parameters()).new_zeros(*leading, self.n_stacks, 0, self.cell_size))

    def initial_state(self, batch: int) -> NetworkState[S]:
        leading, like = (*self.leading, batch), next(self.parameters())
        rejected = torch.zeros(leading, dtype=torch.bool, device=like.device)
        return NetworkState(like.new_zeros(*leading, self.n_hidden), self.initial_memory(leading), rejected)


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


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a network, of which words are made of some only."""

    size: int  # how many there are
    places: tuple[int, ...]  # the numbers of the symbols that words are made of, in the order of the alphabet
    bos: int | None = None  # the number of what is read before a word; None for nothing
    pad: int | None = None  # the number of what stands behind shorter words of a batch; None for nothing

    def numbers(self, codes: Tensor, lengths: Sequence[int] = ()) -> Tensor:
        """Return the tokens' numbers of words ``codes`` (B, T), (B, T) or, with bos, (B, T + 1)."""
        found = torch.tensor(self.places, device=codes.device)[codes]
        if self.pad is not None and len(lengths):
            over = torch.arange(codes.shape[1]) >= torch.tensor(lengths).unsqueeze(1)
            found = found.masked_fill(over.to(codes.device), self.pad)
        return found if self.bos is None else nn.functional.pad(found, (1, 0), value=self.bos)


def in_order(alphabet: Any) -> tuple[str, ...]:
    """Return symbols in the order of the network's numbers, which a dictionary may say, as that of a tokenizer."""
    if isinstance(alphabet, Mapping):
        ordered = sorted(alphabet, key=alphabet.__getitem__)
        if [alphabet[symbol] for symbol in ordered] != list(range(len(ordered))):
            raise StacklensError(f"the alphabet numbers its symbols {alphabet!r:.80}; expected 0, 1, 2, … once each")
        alphabet = ordered
    symbols = tuple(alphabet) if isinstance(alphabet, Iterable) else ()
    if not symbols:
        raise StacklensError(f"the alphabet is {alphabet!r:.40}; expected symbols in the network's order")
    return tuple(str(symbol) if isinstance(symbol, str) else symbol for symbol in symbols)


def vocabulary_of(
    tokens: tuple[str, ...], columns: Sequence[str] | None, end: str | None, **special: str | None
) -> tuple[tuple[str, ...], Vocabulary, tuple[tuple[int, tuple[int, ...]], ...]]:
    """Return the symbols that words are made of, where they stand, and which columns of outputs are theirs and eos's.
    Outputs may have a column for every token, or for those that can come next: none for bos, or pad, or both.
    """
    if strange := [token for token in tokens if not isinstance(token, str)]:
        raise StacklensError(f"the vocabulary has {strange[0]!r:.40}; expected strings, in the network's order")
    if twice := [token for token, number in Counter(tokens).items() if number > 1]:
        raise StacklensError(f"the vocabulary has {twice[0]!r:.40} twice; expected each token once")
    places = {token: place for place, token in enumerate(tokens)}
    for name, token in special.items():
        if token is not None and token not in tokens:
            no_number = "" if isinstance(token, str) else "; expected the token, not its number"
            raise StacklensError(f"{name} is {token!r:.40}, which the vocabulary lacks: {tokens!r:.200}{no_number}")
    if end is not None and (end not in tokens or end in special.values()):
        raise StacklensError(f"end is {end!r:.40}; expected a token of its own of the vocabulary {tokens!r:.200}")
    letters = tuple(token for token in tokens if token not in (*special.values(), end))
    if not letters:
        raise StacklensError(f"the vocabulary {tokens!r:.200} has no symbol beside {', '.join(special)}")
    bos, eos, pad = (special[name] for name in ("bos", "eos", "pad"))
    read = tuple(places[token] for token in (*letters, *([] if end is None else [end])))
    numbers = Vocabulary(len(tokens), read, *(None if one is None else places[one] for one in (bos, pad)))
    # which columns there may be; where two choices leave as many, it is not known which one it is
    wanted = dict.fromkeys((*letters, *([] if eos is None else [eos])))
    left_out = [(), (bos,), (pad,), (bos, pad)]
    named = {tuple(token for token in tokens if token in wanted or token not in left) for left in left_out}
    if columns is not None:
        named = {tuple(columns)}
        if missing := [token for token in wanted if token not in columns]:
            raise StacklensError(f"output_alphabet lacks {missing[0]!r:.40}; expected a token for every column")
    found = []
    for one in sorted(named, key=len, reverse=True):
        if sum(len(one) == len(other) for other in named) == 1:
            place = {token: number for number, token in enumerate(one)}
            found.append((len(one), tuple(place[token] for token in wanted)))
    return letters, numbers, tuple(found)


# ---- Calls of functions that somebody else wrote: whatever they raise comes out as one line that says what was given.

OWN_CODE = (  # what there is to say of a network that cannot be saved
    "code of your own, which no checkpoint of ours can hold; keep its weights with torch.save(module.state_dict(), …), "
    "and a function that builds and wraps it: package.module:function is what extract-pda and sl.load take"
)
_LONGEST_MESSAGE = 300  # characters of somebody else's message


def guarded(call: Callable[..., Any], name: str, given: Mapping[str, Any]) -> Any:
    """Return what ``call`` returns for the values of ``given``, which are passed in this order."""
    try:
        return call(*given.values())
    except StacklensError:
        raise
    except Exception as error:
        why = " ".join(str(error).split())[:_LONGEST_MESSAGE] or type(error).__name__
        shapes = ", ".join(f"{key} {shapes_of(value)}" for key, value in given.items())
        raise StacklensError(f"{name} failed{f', given {shapes}' if given else ''}: {why}") from error


class OwnModule:
    """What networks around a module of one's own have in common: a copy calls the same functions with its weights."""

    module: nn.Module | None  # whatever holds the weights; None for none
    called: tuple[nn.Module | None]  # in a tuple, for it is no part of a copy
    vocabulary: Vocabulary | None  # its tokens, where there are others than symbols of the alphabet
    name: ClassVar[str]

    @property
    def hooked(self) -> nn.Module | None:
        """Return the module that the functions reach."""
        return self.called[0]

    @property
    def like(self) -> Tensor:
        """Return a tensor of the type of hidden vectors and outputs, which bfloat16 is not: numpy lacks it."""
        like = like_weights(self.module)
        return like.float() if like.dtype == torch.bfloat16 else like

    @property
    def begins(self) -> bool:
        """Return whether a token is read before the first symbol."""
        return self.vocabulary is not None and self.vocabulary.bos is not None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a network with weights of its own; the module that was wrapped is never changed."""
        made: Any = copy.copy(self)
        made._modules = dict(made._modules)  # else it would be that of the network that is copied, too
        made.module = guarded(lambda: copy.deepcopy(self.module, memo), f"copying the module of {self.name}", {})
        return cast(Self, made)

    def ask(self, call: Any, name: str, given: Mapping[str, Any], weights: Mapping[str, Tensor] | None = None) -> Any:
        """Return what ``call`` returns for the values of ``given``, by default with the network's own weights."""
        if weights is None and self.module is not None and self.module is not self.hooked:
            weights = dict(self.module.named_parameters())
        return with_weights(self.hooked, weights, partial(guarded, call, name, given))


def shapes_of(value: Any) -> str:
    """Return the shape of a tensor, or those of the tensors in a tuple, list or dictionary, for a line.

    >>> shapes_of((torch.zeros(1, 3, 8), torch.zeros(3))), shapes_of(None)
    ('((1, 3, 8), (3,))', 'None')
    """
    if isinstance(value, Tensor):
        return str(tuple(value.shape))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {shapes_of(one)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shapes_of, value))})"
    return "None" if value is None else f"of type {type(value).__name__}"


def taken_out(call: str, returned: Any, sizes: Sequence[int]) -> Tensor:
    """Return the outputs in what a ``call``, such as "forward(word)", returned. That is a tensor, the first one of a
    tuple whose last axis is of one of ``sizes``, or what is called logits.

    >>> taken_out("forward(x)", (torch.tensor(0.5), torch.zeros(1, 3, 2)), (2,)).shape
    torch.Size([1, 3, 2])
    """
    found, parts = returned, dict[str, Any]()
    if isinstance(returned, tuple | list):
        tensors = [one for one in returned if isinstance(one, Tensor) and one.dim()]
        found = next((one for one in tensors if (one.shape[-1] if one.dim() > 1 else 1) in sizes), None)
    elif isinstance(returned, Mapping):
        found, parts = returned.get("logits"), {f"[{key!r}]": one for key, one in returned.items()}
    elif not isinstance(returned, Tensor):
        found = getattr(returned, "logits", None)
        parts = {f".{name}": one for name, one in getattr(returned, "__dict__", {}).items()}
    if isinstance(found, Tensor):
        return found
    fits = (key for key, one in parts.items() if isinstance(one, Tensor) and one.shape[-1:] in {(n,) for n in sizes})
    given, what = call.partition("(")[2].rstrip(")"), shapes_of(returned)
    hint = next((f", so take it out: lambda {given}: network({given}){place}" for place in fits), "")
    what = f"a value {what}" if what.startswith("of type") else what
    last = f" with {' or '.join(map(str, sizes))} numbers each" if isinstance(returned, tuple | list) else ""
    raise StacklensError(f"{call} returned {what}; expected a tensor of outputs{last}{hint}")


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of a hidden state, in order."""
    if isinstance(value, Tensor):
        yield value
        return
    if not isinstance(value, Mapping | tuple | list | None):
        raise StacklensError(f"a hidden state holds tensors, in tuples, lists or dictionaries, not {shapes_of(value)}")
    for one in value.values() if isinstance(value, Mapping) else value or ():
        yield from tensors_in(one)


def rebuilt(like: Any, tensors: Iterator[Tensor]) -> Any:
    """Return a hidden state of the form of ``like`` with other ``tensors``, in order."""
    if isinstance(like, Tensor):
        return next(tensors)
    if isinstance(like, Mapping):
        return {key: rebuilt(one, tensors) for key, one in like.items()}
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*[rebuilt(one, tensors) for one in like])
    return None if like is None else type(like)(rebuilt(one, tensors) for one in like)
