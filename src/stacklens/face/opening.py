"""Open what a file holds, and see what a network does on words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..core.errors import StacklensError, UnknownNameError, UnknownSymbolError

# ---- What the public face is given, made into what lower layers take: names and paths into networks, text into words.

if TYPE_CHECKING:
    from ..automata.pda import PushdownAutomaton, Word
    from ..extract.result import Extraction
    from ..extract.specification import Specification
    from ..languages.language import Language
    from ..languages.task import Task
    from ..models.base import StackModel

    Network = StackModel[Any] | str | Path
    Subject = Language | Task | Specification | PushdownAutomaton | str


AUTOMATA = (".json", ".dot", ".jff")
_LONGEST_SHOWN = 40  # characters of a word in a message


def network_of(given: Network) -> StackModel[Any]:
    """Return a network, or the one of that name or path; raise StacklensError for anything else."""
    from ..models.base import StackModel
    from ..models.checkpoint import load_network

    if isinstance(given, StackModel):
        return given
    if not isinstance(given, str | Path):
        raise StacklensError(f"expected a network, or the name or path of one, not {called(given)}")
    return load_network(given).model


def automaton_of(given: PushdownAutomaton | Extraction) -> PushdownAutomaton:
    """Return an automaton, or that of a result; raise StacklensError where there is none."""
    from ..automata.pda import PushdownAutomaton
    from ..extract.result import Extraction

    if isinstance(given, Extraction):
        return given.automaton
    if not isinstance(given, PushdownAutomaton):
        raise StacklensError(f"expected an automaton or a result, not {called(given)}")
    return given


def words_of(given: Word | Iterable[Word], alphabet: tuple[str, ...]) -> list[Word]:
    """Return one word or many as a list of words; what can be gone through only once is gone through once.

    Raises:
        StacklensError: something is no word.
        UnknownSymbolError: a word has a symbol outside ``alphabet``; the message says which word, and where.
    """
    if isinstance(given, str):
        return [_one_word_of(given, alphabet)]
    parts = _parts_of(given, "a word or a list of words")
    if all(isinstance(part, str) and part in alphabet for part in parts):
        return [_one_word_of(parts, alphabet)]
    return [_one_word_of(part, alphabet, number) for number, part in enumerate(parts)]


def one_word(given: Word, alphabet: tuple[str, ...], what: str) -> Word:
    """Return one word; raise StacklensError, which says ``what`` is of one word only, for any other number."""
    words = words_of(given, alphabet)
    if len(words) != 1:
        raise StacklensError(f"{what} is of one word, not of {len(words):,}; call it for each of them")
    return words[0]


def _parts_of(given: Any, expected: str) -> list[Any]:
    try:
        return list(given)
    except TypeError:  # no iterable, or one that only looks so, as a tensor without axes
        raise StacklensError(f"expected {expected}, not {called(given)}") from None


def _one_word_of(given: Any, alphabet: tuple[str, ...], number: int | None = None) -> Word:
    """Return a word as it is kept, of text or symbols: word ``number`` of many, or the only one."""
    from ..languages.words import make_word, parse_word

    symbols = given if isinstance(given, str) else _parts_of(given, "a word, as text or as a list of symbols")
    try:
        if isinstance(symbols, str):
            return parse_word(symbols, alphabet)
        for symbol in symbols:
            if not isinstance(symbol, str):
                raise StacklensError(
                    f"expected a word, as text or as a list of symbols, not a list with {called(symbol)}"
                )
            if symbol not in alphabet:
                raise UnknownSymbolError(symbol, alphabet)
    except UnknownSymbolError as unknown:
        raise UnknownSymbolError(
            unknown.symbol, alphabet, _place_of_symbol(unknown, symbols, number) + unknown.more
        ) from None
    return make_word(symbols, alphabet)


def _place_of_symbol(unknown: UnknownSymbolError, symbols: str | list[str], number: int | None) -> str:
    """Return where the first symbol is that is not known: its position, its word's number, and that word shortened."""
    single = all(len(symbol) == 1 for symbol in unknown.alphabet)
    read = symbols.split() if isinstance(symbols, str) and not single else list(symbols)
    text = ("" if single else " ").join(read)
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    which = "the word" if number is None else f"word {number}"
    return f": position {read.index(unknown.symbol)} of {which} (from 0), {shown!r}"


def called(given: object) -> str:
    """Return what a thing is, with its article."""
    name = type(given).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name.startswith('NNPDA') else 'a'} {name}"


# ---- Open what a file holds, and see what a network does on words ----

if TYPE_CHECKING:
    from ..extract.evaluation.sweep import Sweep
    from ..probe.trace import Trace

    # fmt: off
    ZooName = Literal[  # what editors offer, and know to be networks
        "baby-ntm-dyck-2", "buffered-neural-stack-reversal", "marnn-stack-lstm-dyck-2",
        "marnn-stack-lstm-dyck-2-noise-robust", "marnn-stack-rnn-dyck-2", "marnn-stack-rnn-dyck-2-firm",
        "marnn-stack-rnn-dyck-3", "marnn-stack-rnn-dyck-3-noise-robust", "marnn-stack-rnn-homomorphic-palindrome",
        "marnn-stack-rnn-string-reversal", "neural-stack-delayed-xor", "neural-stack-reversal", "nnpda-1n0n",
        "nnpda-palindrome", "nnpda-parentheses", "stack-rnn-anb2n", "stack-rnn-anbmcnm", "stack-rnn-anbn",
        "stack-rnn-anbncn", "stack-rnn-anbncndn", "stack-rnn-memorization",
    ]


@overload
def load(name: ZooName) -> StackModel[Any]: ...
@overload
def load(name: str | Path) -> Any: ...
@overload
def load(name: str | Path, *, kind: Literal["result"]) -> Extraction: ...
@overload
def load(name: str | Path, *, kind: Literal["sweep"]) -> Sweep: ...
@overload
def load(name: str | Path, *, kind: Literal["trace"]) -> Trace: ...
@overload
def load(name: str | Path, *, kind: Literal["automaton"]) -> PushdownAutomaton: ...
@overload
def load(
    name: str | Path,
    *,
    kind: Literal["network"] = ...,
    format: str = ...,
    alphabet: str | Sequence[str] | None = ...,
    threshold: float | None = ...,
) -> StackModel[Any]: ...
def load(
    name: str | Path,
    *,
    kind: str | None = None,
    format: str = "auto",  # noqa: A002
    alphabet: str | Sequence[str] | None = None,
    threshold: float | None = None,
) -> Any:
    """Return what a file holds, or the network of the zoo that is called so.

    Args:
        name: of the zoo, such as ``"nnpda-palindrome"`` (a file of that name here comes first); or the path of a
            network, ours or one that a paper's authors published; of a saved result or sweep (.json), or of a trace
            (.npz); or of an automaton (.json, .dot, .jff). A folder that the program rau wrote is a network, too, and
            so is a mapping (.json), which names weights in another file.
        kind: what it has to be: "network", "result", "sweep", "trace" or "automaton", which a type checker then knows,
            too, as it knows the names of the zoo. By default it is seen from the file.
        format: of a network: stacklens, marnns, stacknn, stack-rnn-cpp, rau or mapping; by default it is seen from what
            is in the file.
        alphabet: of a network: the symbols of a file that does not name them, in its order, in a list or as text:
            separated by spaces where there are any, else single characters.
        threshold: of a language model: above which probability a symbol may come next; by default its own.

    Returns:
        a `StackModel`, which knows its file, its task and its training as `origin`; an `Extraction`, a `Sweep`, a
        `Trace` or a `PushdownAutomaton`.

    Raises:
        FileFormatError: there is nothing of that name, or the file holds none of these, or nothing of that kind, format
            or alphabet; one line that names it.
        UnknownNameError: there is no such kind or format.

    >>> load("marnn-stack-rnn-dyck-2").task_kind
    'next set'
    """
    if not isinstance(name, str | Path):
        raise StacklensError(f"expected a name or a path, not {called(name)}")
    of_network = format != "auto" or alphabet is not None or threshold is not None
    kind = kind or ("network" if of_network else _kind_of_file(name))
    if kind == "network":
        from ..languages.words import parse_alphabet
        from ..models.checkpoint import load_network

        symbols = parse_alphabet(alphabet) if isinstance(alphabet, str) else alphabet
        if symbols is not None and not (
            isinstance(symbols, list | tuple) and all(isinstance(one, str) for one in symbols)
        ):
            raise StacklensError(f"expected an alphabet, as text or as a list of symbols, not {called(alphabet)}")
        return load_network(name, format, symbols, threshold=threshold).model
    if of_network:
        raise StacklensError(f"format, alphabet and threshold are of a network; {name} is to be loaded as a {kind}")
    from ..automata.formats.by_suffix import read_automaton
    from ..extract.evaluation.sweep import load_sweep
    from ..extract.report import load_result
    from ..probe.trace_io import load_trace

    readers: dict[str, Callable[[str | Path], Any]]
    readers = {"result": load_result, "sweep": load_sweep, "trace": load_trace, "automaton": read_automaton}
    if str(kind) not in readers:
        raise UnknownNameError("kind", kind, ["network", *readers])
    return readers[kind](name)


def _kind_of_file(name: str | Path) -> str:
    """Return the kind of thing that a file holds, by its suffix and, where several kinds share that, its content."""
    suffix = Path(name).suffix
    if suffix == ".npz":
        return "trace"
    if suffix == ".json":
        from ..extract.evaluation.sweep import is_sweep
        from ..extract.report import is_result
        from ..models.formats.mapping import is_mapping

        for is_one, kind in ((is_result, "result"), (is_sweep, "sweep"), (is_mapping, "network")):
            if is_one(name):
                return kind
    return "automaton" if suffix in AUTOMATA else "network"


def trace(model: Network, words: Word | Sequence[Word], *, rounded: bool = False, stacks: bool | None = None) -> Trace:
    """Return everything that a network does on one word or on many.

    Args:
        model: a network, or the name or path of one.
        words: one word as a str (symbols of several characters are separated by spaces) or as a list of symbols, or
            many of these in a list. A list of which every part is a symbol is one word: ``["a", "b"]`` is ``"ab"``.
        rounded: trace the rounded network instead.
        stacks: keep what is on the stacks after every step; by default where that is little enough.

    Raises:
        UnknownSymbolError: a word has a symbol outside the network's alphabet.

    >>> trace("nnpda-palindrome", ["abcba", "abcab"]).verdicts
    array([ True, False])
    """
    from dataclasses import replace

    from ..models.rounding import Rounded
    from ..probe.trace import trace as trace_words

    network = network_of(model)
    runner = Rounded(network) if rounded else network
    seen = trace_words(runner, words_of(words, network.alphabet), stacks=stacks)
    return replace(seen, model=runner)
