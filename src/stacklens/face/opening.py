"""Open what a file holds, and see what a network does on words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError
from stacklens.face.arguments import AUTOMATA, called, network_of, words_of

if TYPE_CHECKING:
    from stacklens.automata.pda import Word
    from stacklens.face.arguments import Network
    from stacklens.models.base import StackModel
    from stacklens.probe.trace import Trace

__all__ = ["load", "trace"]


def load(
    name: str | Path,
    *,
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
        format: of a network: stacklens, marnns, stacknn, stack-rnn-cpp, rau or mapping; by default it is seen from what
            is in the file.
        alphabet: of a network: the symbols of a file that does not name them, in its order, in a list or as text:
            separated by spaces where there are any, else single characters.
        threshold: of a language model: above which probability a symbol may come next; by default its own.

    Returns:
        a `StackModel`, which knows its file, its task and its training as `origin`; an `Extraction`, a `Sweep`, a
        `Trace` or a `PushdownAutomaton`.

    Raises:
        FileFormatError: there is nothing of that name, or the file holds none of these, or no network of that format or
            alphabet; one line that names it.
        UnknownNameError: there is no such format.

    >>> load("marnn-stack-rnn-dyck-2").origin.task["language"]
    'dyck-2'
    """
    if not isinstance(name, str | Path):
        raise StacklensError(f"expected a name or a path, not {called(name)}")
    if format != "auto" or alphabet is not None or threshold is not None:
        return _network(name, format, alphabet, threshold)
    suffix = Path(name).suffix
    if suffix == ".npz":
        from stacklens.probe.trace_file import load_trace

        return load_trace(name)
    if suffix == ".json":
        from stacklens.extract.result_file import is_result, load_result

        if is_result(name):
            return load_result(name)
        from stacklens.extract.evaluation.sweep_file import is_sweep, load_sweep

        if is_sweep(name):
            return load_sweep(name)
        from stacklens.models.formats.mapped import looks_like

        if looks_like(name):
            return network_of(name)
    if suffix in AUTOMATA:
        from stacklens.automata.formats.by_suffix import read_automaton

        return read_automaton(name)
    return network_of(name)


def _network(
    name: str | Path,
    format: str,  # noqa: A002
    alphabet: str | Sequence[str] | None,
    threshold: float | None,
) -> StackModel[Any]:
    """Return the network in a file of which more is known than what is in it."""
    from stacklens.languages.words import parse_alphabet
    from stacklens.models.io import load_network

    symbols = parse_alphabet(alphabet) if isinstance(alphabet, str) else alphabet
    if symbols is not None and not (isinstance(symbols, list | tuple) and all(isinstance(one, str) for one in symbols)):
        raise StacklensError(f"expected an alphabet, as text or as a list of symbols, not {called(alphabet)}")
    return load_network(name, format, symbols, threshold=threshold).model


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
