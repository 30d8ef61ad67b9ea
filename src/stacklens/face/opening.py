"""Open what a file holds, and see what a network does on words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from stacklens.errors import StacklensError, UnknownNameError
from stacklens.face.arguments import AUTOMATA, called, network_of, words_of

if TYPE_CHECKING:
    from stacklens.automata.pda import PushdownAutomaton, Word
    from stacklens.extract.evaluation.sweep import Sweep
    from stacklens.extract.result import Extraction
    from stacklens.face.arguments import Network
    from stacklens.models.base import StackModel
    from stacklens.probe.trace import Trace

    # fmt: off
    ZooName = Literal[  # what editors offer, and know to be networks
        "baby-ntm-dyck-2", "buffered-neural-stack-reversal", "marnn-stack-lstm-dyck-2",
        "marnn-stack-lstm-dyck-2-noise-robust", "marnn-stack-rnn-dyck-2", "marnn-stack-rnn-dyck-2-firm",
        "marnn-stack-rnn-dyck-3", "marnn-stack-rnn-dyck-3-noise-robust", "marnn-stack-rnn-homomorphic-palindrome",
        "marnn-stack-rnn-string-reversal", "neural-stack-delayed-xor", "neural-stack-reversal", "nnpda-1n0n",
        "nnpda-palindrome", "nnpda-parentheses", "stack-rnn-anb2n", "stack-rnn-anbmcnm", "stack-rnn-anbn",
        "stack-rnn-anbncn", "stack-rnn-anbncndn", "stack-rnn-memorization",
    ]
    # fmt: on

__all__ = ["load", "trace"]


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
    kind = kind or ("network" if of_network else _kind(name))
    if kind == "network":
        from stacklens.languages.words import parse_alphabet
        from stacklens.models.io import load_network

        symbols = parse_alphabet(alphabet) if isinstance(alphabet, str) else alphabet
        if symbols is not None and not (
            isinstance(symbols, list | tuple) and all(isinstance(one, str) for one in symbols)
        ):
            raise StacklensError(f"expected an alphabet, as text or as a list of symbols, not {called(alphabet)}")
        return load_network(name, format, symbols, threshold=threshold).model
    if of_network:
        raise StacklensError(f"format, alphabet and threshold are of a network; {name} is to be loaded as a {kind}")
    from stacklens.automata.formats.by_suffix import read_automaton
    from stacklens.extract.evaluation.sweep_file import load_sweep
    from stacklens.extract.result_file import load_result
    from stacklens.probe.trace_file import load_trace

    readers: dict[str, Callable[[str | Path], Any]]
    readers = {"result": load_result, "sweep": load_sweep, "trace": load_trace, "automaton": read_automaton}
    if str(kind) not in readers:
        raise UnknownNameError("kind", kind, ["network", *readers])
    return readers[kind](name)


def _kind(name: str | Path) -> str:
    """Return the kind of thing that a file holds, by its suffix and, where several kinds share that, its content."""
    suffix = Path(name).suffix
    if suffix == ".npz":
        return "trace"
    if suffix == ".json":
        from stacklens.extract.evaluation.sweep_file import is_sweep
        from stacklens.extract.result_file import is_result
        from stacklens.models.formats.mapped import looks_like

        for is_one, kind in ((is_result, "result"), (is_sweep, "sweep"), (looks_like, "network")):
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

    from stacklens.models.rounding import Rounded
    from stacklens.probe.trace import trace as trace_words

    network = network_of(model)
    runner = Rounded(network) if rounded else network
    seen = trace_words(runner, words_of(words, network.alphabet), stacks=stacks)
    return replace(seen, model=runner)
