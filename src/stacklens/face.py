"""The public face: what a day's work with stacklens calls, with names wherever a network, language or task is wanted.

Everything is imported when it is called, so that ``import stacklens`` stays light.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.errors import StacklensError
from stacklens.progress import progress_bar, stages_on
from stacklens.seeds import check_seed

if TYPE_CHECKING:
    from stacklens.automata.compare import Comparison
    from stacklens.automata.finite import FiniteAutomaton
    from stacklens.automata.pda import PushdownAutomaton, Word
    from stacklens.extract.certificate.claim import Certificate
    from stacklens.extract.result import Extraction
    from stacklens.extract.specification import Specification
    from stacklens.extract.verification.exhaustive import Verification
    from stacklens.languages.language import Language
    from stacklens.languages.tasks.task import Task
    from stacklens.models.base import StackModel
    from stacklens.models.own.black_box import Box
    from stacklens.probe.trace import Trace

    Network = StackModel[Any] | str | Path
    Subject = Language | Task | Specification | str

__all__ = ["certify", "compare", "extract", "learn", "load", "trace", "train", "verify"]

_AUTOMATA = (".json", ".dot", ".jff")


def load(name: str | Path) -> Any:
    """Return what a file holds, or the network of the zoo that is called so.

    Args:
        name: of the zoo, such as ``"nnpda-palindrome"`` (a file of that name here comes first); or the path of a
            network, ours or one that a paper's authors published; of a saved result (.json) or trace (.npz); or of an
            automaton (.json, .dot, .jff).

    Returns:
        a `StackModel`, which knows its file, its task and its training as `origin`; an `Extraction`, a `Trace` or a
        `PushdownAutomaton`.

    Raises:
        FileFormatError: there is nothing of that name, or the file holds none of these; one line that names it.

    >>> load("marnn-stack-rnn-dyck-2").origin.task["language"]
    'dyck-2'
    """
    if not isinstance(name, str | Path):
        raise StacklensError(f"expected a name or a path, not {_a(name)}")
    suffix = Path(name).suffix
    if suffix == ".npz":
        from stacklens.probe.trace_file import load_trace

        return load_trace(name)
    if suffix == ".json":
        from stacklens.extract.result_file import is_result, load_result

        if is_result(name):
            return load_result(name)
    if suffix in _AUTOMATA:
        from stacklens.automata.formats.by_suffix import read_automaton

        return read_automaton(name)
    return _network(name)


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

    network = _network(model)
    runner = Rounded(network) if rounded else network
    seen = trace_words(runner, _words(words, network.alphabet), stacks=stacks)
    return replace(seen, model=runner)


def _words(given: Word | Sequence[Word], alphabet: tuple[str, ...]) -> list[Word]:
    """Return one word or many as a list of words."""
    if not isinstance(given, str | Iterable):
        raise StacklensError(f"expected a word or a list of words, not {_a(given)}")
    if isinstance(given, str) or all(isinstance(part, str) and part in alphabet for part in given):
        return [_word(given, alphabet)]  # type: ignore[arg-type]
    return [_word(word, alphabet) for word in given]


def _word(given: Word, alphabet: tuple[str, ...]) -> Word:
    from stacklens.errors import UnknownSymbolError
    from stacklens.languages.words import make_word, parse_word

    if isinstance(given, str):
        return parse_word(given, alphabet)
    if not isinstance(given, Iterable):
        raise StacklensError(f"expected a word, as text or as a list of symbols, not {_a(given)}")
    for symbol in given:
        if symbol not in alphabet:
            raise UnknownSymbolError(symbol, alphabet)
    return make_word(given, alphabet)


def extract(model: Network, language: Subject | None = None, *, quiet: bool = False, **settings: Any) -> Extraction:
    """Return the automaton of a network with everything that it rests on.

    Args:
        model: a network, or the name or path of one.
        language: what it should do: a language or task, or the name of one or the path of a grammar or automaton; by
            default what its file says that it was trained on.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        settings: those of `ExtractionConfig`: ``max_length``, ``states``, ``stack_symbols``, ``seed``, ``jobs``, ….

    Raises:
        StacklensError: there is no such network, language, task or setting, or they do not fit together.
    """
    import dataclasses

    from stacklens.extract.by_name import specification_of_network
    from stacklens.extract.extraction import ExtractionConfig
    from stacklens.extract.extraction import extract as extract_automaton

    known = [field.name for field in dataclasses.fields(ExtractionConfig)]
    if strange := [name for name in settings if name not in known]:
        raise StacklensError(f"extract has no setting {', '.join(strange)}; it has {', '.join(known)}")
    network, config = _network(model), ExtractionConfig(**settings)
    specification = specification_of_network(network, language)
    with progress_bar(quiet) as bar:
        result = extract_automaton(network, specification, config, stages_on(bar))
    return dataclasses.replace(result, config=config)


def learn(
    box: Network | Box,
    alphabet: Sequence[str] | None = None,
    language: Subject | None = None,
    *,
    kind: str = "auto",
    first: Sequence[str] | None = None,
    words: int | None = None,
    longest: int | None = None,
    **settings: Any,
) -> Extraction:
    """Return the automaton that is learned from answers alone, with everything that it rests on, as `extract` does.

    AALpy's learners ask (L#, KV for visibly pushdown automata), every word once; our own words say whether it is right.

    Args:
        box: a network, or the name or path of one; or a function from a list of words, tuples of symbols, to a list of
            answers: True and False, sets of the symbols that may come next, or any other outputs.
        alphabet: what the words of a function are made of.
        language: what it should do, as for `extract`.
        kind: "dfa", "mealy", "vpa", or "auto": what fits, visibly pushdown where calls and returns are known.
        first: where a function answers sets: which symbols may begin a word.
        words, longest: about how many words a check may ask of a function (100,000), and the longest (any).
        settings: as for `extract`; ``calls`` and ``returns``, which push and pop, are by default those of the language.

    Raises:
        StacklensError: AALpy is not installed, or these do not fit together.

    >>> even = learn(lambda words: [word.count("a") % 2 == 0 for word in words], "ab", words=500)
    >>> even.status, len(even.automaton.states)
    (0, 2)
    """
    from stacklens.extras import check_extra
    from stacklens.models.own.black_box import AFFORDABLE, boxed

    check_extra("AALpy", "interop", "aalpy")
    if kind not in ("auto", "dfa", "mealy", "vpa"):
        raise StacklensError(f"kind is {kind!r:.40}; expected auto, dfa, mealy or vpa")
    most = AFFORDABLE if words is None else words
    asked = _network(box) if isinstance(box, str | Path) else box
    network = boxed(asked, alphabet, first, longest=longest, affordable=most)
    method = "ask" if kind == "auto" else f"learn-{kind}"
    return extract(network, language, method=method, **settings)


def verify(
    found: Extraction | PushdownAutomaton | str | Path,
    model: Network | None = None,
    language: Subject | None = None,
    *,
    max_length: int | None = None,
    jobs: int = 1,
    quiet: bool = False,
) -> Verification:
    """Return how an automaton compares with language, rounded network and network on all words up to a length.

    Args:
        found: a result, an automaton, or the path of one.
        model: the network; by default the result's. An automaton without one is compared with the language alone.
        language: what it should do; by default the result's, or what the network's file says.
        max_length: all words up to this length; by default about 2.5 million words.
        jobs: processes, which make no difference to what comes out.
        quiet: show no progress, which is shown on a terminal and in a notebook only.

    Raises:
        StacklensError: there is no automaton or no network, they do not fit together, there are too many words, or not
            all words over the alphabet are meant, as in a stream.
    """
    from stacklens.extract.by_name import specification_of_network
    from stacklens.extract.result import Extraction
    from stacklens.extract.verification.by_language import verify_by_language
    from stacklens.extract.verification.exhaustive import verify_exhaustively
    from stacklens.extract.verification.job import job_for

    found = load(found) if isinstance(found, str | Path) else found
    if model is None and not isinstance(found, Extraction):
        return verify_by_language(_automaton(found), _language(language), max_length)
    network = found.model if model is None and isinstance(found, Extraction) else _network(model or "")
    own = found.language if isinstance(found, Extraction) and language is None else None
    specification = own or specification_of_network(network, language)
    job = job_for(network, specification, _automaton(found), max_length)
    work = job.work(_automaton(found) if job.given is None else job.given)
    with progress_bar(quiet) as bar:
        task = bar.add_task("verify", total=sum(map(work.words, work.chunks)))
        return verify_exhaustively(work, jobs=jobs, progress=lambda words: bar.update(task, advance=words))


def _language(given: Subject | None) -> Language:
    from stacklens.languages.catalogue import get_language
    from stacklens.languages.language import Language

    given = get_language(given) if isinstance(given, str) else given
    if not isinstance(given, Language):
        raise StacklensError("verify an automaton against what? name its network or a language, or give the result")
    return given


def certify(
    model: Network,
    automaton: PushdownAutomaton | Extraction,
    domain: FiniteAutomaton | None = None,
    *,
    stacks: Sequence[int] | None = None,
    margin: float | None = None,
) -> Certificate:
    """Return whether the rounded network is proved to follow the automaton on words of every length.

    Args:
        model: a network, or the name or path of one.
        automaton: what it should follow, or the result that it is from.
        domain: where only some words count: the automaton that accepts these.
        stacks: which of the network's stacks are the automaton's; by default the result's, else all.
        margin: every decision has to be farther from another than this.

    Raises:
        StacklensError: the network is of a kind that cannot be certified, or does not fit the automaton.
    """
    from stacklens.extract.certificate.certifiable import MARGIN
    from stacklens.extract.certificate.certify import certify as prove_by_boxes
    from stacklens.extract.result import Extraction

    if stacks is None and isinstance(automaton, Extraction):
        stacks = automaton.stacks.stacks
    chosen = MARGIN if margin is None else margin
    return prove_by_boxes(_network(model), _automaton(automaton), domain, stacks=stacks, margin=chosen)


def compare(a: Any, b: Any) -> Comparison:
    """Return whether two automata are equal for all words, with a word that tells them apart if not.

    Args:
        a: an automaton, a result, a language or a task, or the name or path of one.
        b: another one. A result or an automaton with outputs is held against a name as against the task of that name.

    Raises:
        StacklensError: there is no automaton, or the alphabets differ.

    >>> compare("anbn", "anb2n").word
    ('a', 'b')
    """
    from stacklens.automata.compare import compare as compare_automata
    from stacklens.automata.pda import PushdownAutomaton

    a, b = _compared(a), _compared(b)
    if isinstance(a, PushdownAutomaton) and isinstance(b, PushdownAutomaton):
        return compare_automata(a, b)
    if isinstance(b, PushdownAutomaton):
        a, b = b, a
    if isinstance(a, PushdownAutomaton):
        return _meant(b, a).compare(a)
    mine = _meant(a).automaton()
    if mine is None:
        raise StacklensError(f"{_meant(a).name} has no reference automaton to compare with")
    return _meant(b, mine).compare(mine)


def _compared(given: Any) -> Any:
    """Return an automaton, or what names or is a language or task."""
    from stacklens.extract.result import Extraction

    if isinstance(given, Extraction):
        return _automaton(given)
    if isinstance(given, str | Path) and Path(given).suffix in _AUTOMATA:
        found = load(given)
        return _automaton(found) if isinstance(found, Extraction) else found
    return given


def _meant(given: Any, beside: PushdownAutomaton | None = None) -> Specification:
    """Return a language or task as what an automaton is compared with; with outputs, a name is that of a task."""
    from stacklens.extract.by_name import specification_for
    from stacklens.languages import get_language, get_task

    speaks = beside is not None and any(step.output is not None for step in beside.transitions.values())
    if isinstance(given, str):
        given = get_task(given) if speaks else get_language(given)
    specification = specification_for(given)
    if specification is None or not hasattr(specification, "compare"):
        raise StacklensError(f"cannot compare {_a(given)}; expected an automaton, a result or a language")
    return specification


def train(
    model: str, language: str | Language | Task, *, seeds: int = 5, seed: int = 0, quiet: bool = False, **options: Any
) -> StackModel[Any]:
    """Return the best of some networks that are trained side by side by the recipe for a language or task.

    Args:
        model: the kind of network, such as ``"marnn-stack-rnn"``.
        language: a language for the NNPDA, a task for others, or the name of one.
        seeds: how many networks.
        seed: of the first.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        options: choices in place of the recipe's, as of `stacklens train`: ``hidden=…``, ``noise_robust=True``.

    Raises:
        StacklensError: there is no such model, language, task or option, or the model cannot learn that.
    """
    from stacklens.models.device import one_thread
    from stacklens.models.origin import Origin
    from stacklens.models.training.factory import make_trainer

    check_seed(seed)
    if not isinstance(seeds, int) or seeds < 1:
        raise StacklensError(f"seeds is how many networks are trained, at least 1, not {seeds!r:.50}")
    with one_thread(), progress_bar(quiet) as bar:
        trainer = make_trainer(model, language, seed, seeds, options)
        task = bar.add_task("training", total=trainer.total_epochs)
        while not trainer.done:
            trainer.epoch()
            bar.update(task, completed=trainer.epochs_done, description=f"training: {trainer.progress()}")
        network = trainer.network()
    chosen = "".join(f", {name}={value!r}" for name, value in options.items())
    provenance = trainer.provenance(f"sl.train({model!r}, {trainer.subject!r}, seeds={seeds}, seed={seed}{chosen})")
    learned = {"kind": trainer.kind, "language": trainer.subject}
    network.origin = Origin(f"{model}-{trainer.subject}", task=learned, provenance=provenance)
    return network


def _network(given: Network) -> StackModel[Any]:
    from stacklens.models.base import StackModel
    from stacklens.models.io import load_network

    if isinstance(given, StackModel):
        return given
    if not isinstance(given, str | Path):
        raise StacklensError(f"expected a network, or the name or path of one, not {_a(given)}")
    return load_network(given).model


def _automaton(given: PushdownAutomaton | Extraction) -> PushdownAutomaton:
    from stacklens.automata.pda import PushdownAutomaton
    from stacklens.extract.result import Extraction

    if isinstance(given, Extraction):
        if given.automaton is None:
            raise StacklensError(f"there is no automaton: {given.reason}")
        return given.automaton
    if not isinstance(given, PushdownAutomaton):
        raise StacklensError(f"expected an automaton or a result, not {_a(given)}")
    return given


def _a(given: object) -> str:
    """Return what a thing is, with its article."""
    name = type(given).__name__
    return f"{'an' if name[0] in 'AEIOaeio' or name.startswith('NNPDA') else 'a'} {name}"
