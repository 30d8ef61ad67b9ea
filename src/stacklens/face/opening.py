"""Open what a file holds, see what a network does on words, and probe it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..automata.formats import read_automaton
from ..automata.pda import PushdownAutomaton, Word
from ..core.errors import StacklensError, UnknownNameError, UnknownSymbolError, check_seed
from ..core.progress import Told
from ..languages.language import Language, make_word, parse_alphabet, parse_word
from ..languages.task import Task

# ---- What the public face is given, made into what lower layers take: names and paths into networks, text into words.

if TYPE_CHECKING:
    from ..extract.evaluation.sweep import Sweep
    from ..extract.result import Extraction
    from ..extract.specification import Specification
    from ..models.base import StackModel
    from ..probe.attribution import Ablations, Saliency
    from ..probe.geometry import HorizonCurve, LinearProbes
    from ..probe.trace import Selection, Trace

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
    from ..extract.result import Extraction

    if isinstance(given, Extraction):
        return given.automaton
    if not isinstance(given, PushdownAutomaton):
        raise StacklensError(f"expected an automaton or a result, not {called(given)}")
    return given


def words_of(given: Word | Iterable[Word], alphabet: tuple[str, ...]) -> list[Word]:
    """Return one word or many as a list of words; what can be gone through only once is gone through once.

    Raises StacklensError: something is no word; UnknownSymbolError, which says where: a symbol is not in ``alphabet``.
    """
    if isinstance(given, str):
        return [_one_word_of(given, alphabet)]
    parts = _parts_of(given, "a word or a list of words")
    if all(isinstance(part, str) and part in alphabet for part in parts):
        return [_one_word_of(parts, alphabet)]
    return [_one_word_of(part, alphabet, number) for number, part in enumerate(parts)]


def _parts_of(given: Any, expected: str) -> list[Any]:
    try:
        return list(given)
    except TypeError:  # no iterable, or one that only looks so, as a tensor without axes
        raise StacklensError(f"expected {expected}, not {called(given)}") from None


def _one_word_of(given: Any, alphabet: tuple[str, ...], number: int | None = None) -> Word:
    """Return a word as it is kept, of text or symbols: word ``number`` of many, or the only one."""
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
        # where it is: its position, its word's number, and that word, shortened
        single = all(len(symbol) == 1 for symbol in alphabet)
        read = symbols.split() if isinstance(symbols, str) and not single else list(symbols)
        text = ("" if single else " ").join(read)
        shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
        which = "the word" if number is None else f"word {number}"
        where = f": position {read.index(unknown.symbol)} of {which} (from 0), {shown!r}"
        raise UnknownSymbolError(unknown.symbol, alphabet, where + unknown.more) from None
    return make_word(symbols, alphabet)


def called(given: object) -> str:
    """Return what a thing is, with its article."""
    name = type(given).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name.startswith('NNPDA') else 'a'} {name}"


# ---- Open what a file holds, and see what a network does on words ----

if TYPE_CHECKING:
    # fmt: off
    ZooName = Literal[  # what editors offer, and know to be networks
        "baby-ntm-dyck-2", "baby-ntm-dyck-2-drifting", "buffered-neural-stack-reversal", "marnn-stack-lstm-dyck-2",
        "marnn-stack-lstm-dyck-2-drifting", "marnn-stack-lstm-dyck-2-noise-robust",
        "marnn-stack-lstm-dyck-2-noise-robust-drifting", "marnn-stack-rnn-dyck-2", "marnn-stack-rnn-dyck-2-drifting",
        "marnn-stack-rnn-dyck-2-firm", "marnn-stack-rnn-dyck-3", "marnn-stack-rnn-dyck-3-drifting",
        "marnn-stack-rnn-dyck-3-noise-robust", "marnn-stack-rnn-homomorphic-palindrome",
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
    threshold: float | str | None = ...,
) -> StackModel[Any]: ...
def load(
    name: str | Path,
    *,
    kind: str | None = None,
    format: str = "auto",  # noqa: A002
    alphabet: str | Sequence[str] | None = None,
    threshold: float | str | None = None,
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
        threshold: of a language model: above which probability a symbol may come next, as for ``sl.wrap``; by default
            its own.

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
        from ..models.checkpoint import load_network

        symbols = parse_alphabet(alphabet) if isinstance(alphabet, str) else alphabet
        if symbols is not None and not (
            isinstance(symbols, list | tuple) and all(isinstance(one, str) for one in symbols)
        ):
            raise StacklensError(f"expected an alphabet, as text or as a list of symbols, not {called(alphabet)}")
        return load_network(name, format, symbols, threshold=threshold).model
    if of_network:
        raise StacklensError(f"format, alphabet and threshold are of a network; {name} is to be loaded as a {kind}")
    from ..extract.evaluation.sweep import load_sweep
    from ..extract.saved import load_result
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
        from ..extract.saved import is_result
        from ..models.formats.mapping import is_mapping

        for is_one, kind in ((is_result, "result"), (is_sweep, "sweep"), (is_mapping, "network")):
            if is_one(name):
                return kind
    return "automaton" if suffix in AUTOMATA else "network"


def trace(
    model: Network,
    words: Word | Sequence[Word],
    *,
    rounded: bool = False,
    stacks: bool | None = None,
    start: Selection | None = None,
    activations: str | Sequence[str] = (),
) -> Trace:
    """Return everything that a network does on one word or on many.

    Args:
        model: a network, or the name or path of one.
        words: one word as a str (symbols of several characters are separated by spaces) or as a list of symbols, or
            many of these in a list. A list of which every part is a symbol is one word: ``["a", "b"]`` is ``"ab"``.
        rounded: trace the rounded network instead.
        stacks: keep what is on the stacks after every step; by default where that is little enough.
        start: what the words go on from: moments of a trace of this network, such as ``seen[5]``, after its step 5. One
            for each word, or one for all.
        activations: names of modules inside the network, as in torch's ``named_modules()``, or patterns such as
            ``"encoder.layers.*"``: what they give in every step is kept in ``activations``, (N, T, …). Of several
            tensors that is the first, of several calls in a step the last, and where whole words are read again what
            is given at the symbol read last. The module as a whole goes by its class.

    Raises:
        StacklensError: there is no such module, or it gives nothing in a step; or the network cannot go on from
            ``start``.
        UnknownSymbolError: a word has a symbol outside the network's alphabet.

    >>> trace("nnpda-palindrome", ["abcba", "abcab"]).verdicts
    array([ True, False])
    """
    from dataclasses import replace

    from ..models.rounding import Rounded
    from ..probe.trace import trace as trace_words

    network = network_of(model)
    runner = Rounded(network) if rounded else network
    many = words_of(words, network.alphabet)
    seen = trace_words(runner, many, stacks=stacks, start=start, activations=activations)
    return replace(seen, model=runner)


# ---- Replace something inside a network, leave parts out, read its hidden vectors, trace decisions back ----

_WORDS, _LENGTHS = 400, (2, 40)  # drawn where none are given


def intervene(
    model: Network,
    word: Word | Sequence[Word],
    *,
    at: int | Sequence[int] | Literal["all"],
    set: str | Sequence[str] | Mapping[str, Any],  # noqa: A002
    from_word: Word | Sequence[Word] | None = None,
    automaton: PushdownAutomaton | Extraction | None = None,
    **choices: Any,
) -> Trace:
    """Return what a network does on a word, or on many, with something inside it replaced at a step.

    Args:
        model: a network, or the name or path of one.
        word: a word as text or as a list of symbols; or a list of words.
        at: the step, as in a trace: before it hidden vector, cells and height are replaced, in it actions and pushed
            values. From 0 to the word's length for the former, to the last step for the latter. For many words one for
            all, or one a word, (N,). "all" for every step, with numbers, functions, "zero", "mean" and "rounded".
        set: ``{"hidden" | "actions" | "pushed" | "cells" | "height": value}``, a value being numbers, "zero", "mean",
            "rounded", "centre", or "source"; or only the names of what is taken from a source. Numbers are one for
            all, or of these shapes, with an axis of N words before them where they differ: hidden (units,); actions
            (stacks, A) or (A,): from -1, pop, to 1, push; or shares, none below 0, together 1; or strengths of pop and
            push from 0 to 1; pushed (stacks, D) or (D,); cells (D,); height from 0 to the present one.
            A value may be a function, which is given what is there in the words whose step it is, such as (words,
            units), and returns as many numbers: ``{"hidden": lambda h: 0.5 * h}``. Names of modules inside the network,
            as for ``trace(activations=…)``, take numbers, functions, "zero", "mean" and "source" in the place of what
            the module gives in step ``at``; where whole words are read again in every step, at that symbol.
        from_word: the source: another run, at ``from_step``, by default its end. For many words one, or one a word.
        automaton: for "centre": whose states the clusters are; a result will do.
        choices: ``from_step``, ``units``, ``stack``, ``cell``, ``from_cell``, ``reference``, ``rounded``, as of
            `probe.intervene.Choices`; ``stacks``, ``start``, ``activations`` as of `trace`.

    Raises:
        StacklensError: there is no such part, step, unit, stack or cell; numbers have another shape, are not finite, or
            actions or a height out of range; a function fails; a source, or an automaton for "centre", is wanted and
            not given; or the network does not run step by step, or has no stack or hidden vector to set.
        UnknownSymbolError: a word has a symbol outside the network's alphabet.

    >>> same, other = (intervene("nnpda-palindrome", "abcba", at=2, set="hidden", from_word=v) for v in ("ba", "abc"))
    >>> bool(same.verdicts[0]), bool(other.verdicts[0])
    (True, False)
    """
    from ..probe.intervene import intervene as run

    network = network_of(model)
    words = words_of(word, network.alphabet)
    others: Any = None if from_word is None else words_of(from_word, network.alphabet)
    if others is not None and len(others) == 1:
        others = others * len(words)
    pda = None if automaton is None else automaton_of(automaton)
    if choices.get("reference") is not None:
        choices["reference"] = words_of(choices["reference"], network.alphabet)
    return run(network, words, at, set, from_word=others, automaton=pda, **choices)


def ablate(
    model: Network,
    language: Subject | None = None,
    *,
    words: Sequence[Word] | None = None,
    rounded: bool = False,
    seed: int = 0,
) -> Ablations:
    """Return what is left of a network without each of its units, stacks and operations, the most important first.

    Args:
        model: a network, or the name or path of one.
        language: what it should do, as for `extract`; where nothing is known, what it does itself is right.
        words: the words that it is asked; by default drawn ones.
        rounded: take the rounded network.
        seed: of the drawn words.

    Raises:
        StacklensError: the network only answers whole words, or there are no words.
    """
    from ..probe.attribution import ablations

    network, specification = _network_and_specification(model, language)
    given = _words_or_drawn(words, network, specification, seed)
    expected = scored = None
    if specification is not None:
        expected, scored = specification.answers(network, given), specification.scored(given)
    return ablations(network, given, expected, scored, rounded=rounded)


def linear_probes(
    model: Network,
    automaton: PushdownAutomaton | Extraction | None = None,
    *,
    language: Subject | None = None,
    words: Sequence[Word] | None = None,
    rounded: bool = False,
    seed: int = 0,
    **choices: Any,
) -> LinearProbes:
    """Return what linear classifiers read off a network's hidden vectors: state, depth, top, what is below, position.

    They are tested on longer words than they were trained on, beside a control task (Hewitt & Liang 2019).

    Args:
        model: a network, or the name or path of one; one without a stack, too.
        automaton: whose states and stack are asked for, or a result; by default the language's own.
        language: as for `extract`.
        words: of several lengths; by default drawn ones.
        rounded: take the rounded network.
        seed: for all that is drawn.
        choices: ``targets`` and ``longest``, as of `probe.geometry.linear_probes`.

    Raises:
        StacklensError: no automaton is known, or the network has no hidden vector.
    """
    from ..probe.geometry import linear_probes as run

    check_seed(seed)
    network, specification = _network_and_specification(model, language)
    given = _words_or_drawn(words, network, specification, seed)
    pda = _automaton_or_own(automaton, specification)
    if pda is None:
        raise StacklensError("no automaton is known whose states could be asked for: give one, or a result")
    seen = trace(network, given, rounded=rounded, stacks=False)
    return run(seen.with_automaton(pda), seed=seed, **choices)


def horizon_curve(
    model: Network, words: Word | Sequence[Word] | None = None, *, language: Subject | None = None, seed: int = 0
) -> HorizonCurve:
    """Return from which step on a network parts from its rounded form: distance and agreement, step by step.

    Args:
        model: a network, or the name or path of one.
        words: one or many, as for `trace`; by default 400 drawn ones of 100 to 200 symbols.
        language: which words are drawn, as for `extract`; by default what its file says, else any over the alphabet.
        seed: of these, from 0 to 2^32 - 1.

    Raises:
        StacklensError: there is no such network or language, the network has no actions to round or does not run step
            by step, or there is no step to compare.
        UnknownSymbolError: a word has a symbol outside the network's alphabet.
    """
    from ..probe.geometry import check_actions
    from ..probe.geometry import horizon_curve as run

    network, specification = _network_and_specification(model, language)
    check_actions(network)  # before words are drawn
    given = _words_or_drawn(words, network, specification, seed, (100, 200))
    return run(network, given)


def saliency(
    model: Network, word: Word, automaton: PushdownAutomaton | Extraction | None = None, *, progress: Told | None = None
) -> Saliency:
    """Return on which earlier steps every decision on a word depends, beside where the automaton's top comes from.

    Args:
        model: a network with a stack, or the name or path of one.
        word: one word of one symbol or more, as text or as a list of symbols.
        automaton: an automaton or a result; by default the language's own, where one is known.
        progress: told how many decisions are done.

    Raises:
        StacklensError: the network has no stack or does not run step by step, or it is the empty word, or many words.
        UnknownSymbolError: the word has a symbol outside the network's alphabet.
    """
    from ..probe.attribution import saliency as run

    network, specification = _network_and_specification(model, None)
    pda = _automaton_or_own(automaton, specification)
    words = words_of(word, network.alphabet)
    if len(words) != 1:
        raise StacklensError(f"saliency is of one word, not of {len(words):,}; call it for each of them")
    return run(network, words[0], pda, progress)


def _network_and_specification(
    model: Network, language: Subject | None
) -> tuple[StackModel[Any], Specification | None]:
    from ..extract.by_name import specification_of_network

    network = network_of(model)
    return network, specification_of_network(network, language)


def _words_or_drawn(
    words: Any,
    network: StackModel[Any],
    specification: Specification | None,
    seed: int,
    lengths: tuple[int, int] = _LENGTHS,
) -> list[Word]:
    from ..extract.specification import random_words

    if words is not None:
        return [] if words == [] else words_of(words, network.alphabet)  # no words, and not the empty one
    check_seed(seed)
    if specification is None:
        return list(random_words(network.alphabet, _WORDS, lengths, seed))
    return specification.long_words(_WORDS, lengths, seed)


def _automaton_or_own(
    automaton: PushdownAutomaton | Extraction | None, specification: Specification | None
) -> PushdownAutomaton | None:
    if automaton is not None:
        return automaton_of(automaton)
    return None if specification is None else specification.automaton()
