"""Train networks, read automata out of them, and see how far each can be trusted: verify, certify, compare."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..automata.compare import Comparison
from ..automata.compare import compare as compare_automata
from ..automata.finite import FiniteAutomaton
from ..automata.pda import PushdownAutomaton
from ..core.errors import StacklensError, check_seed, check_whole
from ..core.progress import progress_bar, stages_on
from ..extract.config import ExtractionConfig, asked_method
from ..languages.catalogue import get_language, get_task
from ..languages.language import Language
from ..languages.task import Task
from ..models.training import make_trainer
from .opening import AUTOMATA, automaton_of, called, load, network_of

if TYPE_CHECKING:
    from ..extract.agreement import Certificate
    from ..extract.evaluation.sweep import Sweep
    from ..extract.repair import Hardened, Repair
    from ..extract.result import Extraction
    from ..extract.specification import Specification
    from ..extract.verification.exhaustive import Verification
    from ..models.base import StackModel
    from ..models.word_network import Box
    from .opening import Network, Subject


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
    from ..extract.by_name import specification_of_network, subject_of
    from ..extract.result import Extraction
    from ..extract.verification.exhaustive import verify_by_language, verify_exhaustively, work_for

    found = load(found) if isinstance(found, str | Path) else found
    if model is None and not isinstance(found, Extraction):
        pda = automaton_of(found)
        if language is None:
            raise StacklensError(
                "verify an automaton against what? name its network or a language, or give the result: "
                "verify(…, model=…), verify(…, language=…)"
            )
        subject = subject_of(get_language(language) if isinstance(language, str) else language)
        if not isinstance(subject, Language):
            what = called(language)
            raise StacklensError(f"an automaton without its network is compared with a language, not with {what}")
        return verify_by_language(pda, subject, max_length)
    network = found.model if model is None and isinstance(found, Extraction) else _network_for(model)
    own = found.language if isinstance(found, Extraction) and language is None else None
    specification = own or specification_of_network(network, language)
    work = work_for(network, specification, automaton_of(found), max_length)
    with progress_bar(quiet) as bar:
        task = bar.add_task("verify", total=sum(map(work.words, work.chunks)))
        return verify_exhaustively(work, jobs=jobs, progress=lambda words: bar.update(task, advance=words))


def _network_for(given: Any) -> StackModel[Any]:
    """Return the network of that name; raise StacklensError, which says so where it is the name of a language."""
    try:
        return network_of(given)
    except StacklensError:
        for get in (get_language, get_task) if isinstance(given, str) else ():
            with suppress(StacklensError):
                get(given)
                break
        else:
            raise
    raise StacklensError(f"{given} is what a network should do, not a network: verify(…, language={given!r})")


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
    from ..extract.certificate.certify import certify as prove_by_boxes
    from ..extract.certificate.controllers import MARGIN
    from ..extract.result import Extraction

    if stacks is None and isinstance(automaton, Extraction):
        stacks = automaton.stacks.stacks
    chosen = MARGIN if margin is None else margin
    return prove_by_boxes(network_of(model), automaton_of(automaton), domain, stacks=stacks, margin=chosen)


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
    a, b = _comparable(a), _comparable(b)
    if isinstance(a, PushdownAutomaton) and isinstance(b, PushdownAutomaton):
        return compare_automata(a, b)
    if isinstance(b, PushdownAutomaton):
        a, b = b, a
    if not isinstance(a, PushdownAutomaton):
        named = _specification_meant(a)
        a = named.automaton()
        if a is None:
            raise StacklensError(f"{named.name} has no reference automaton to compare with")
    return _specification_meant(b, a).compare(a)


def _comparable(given: Any) -> Any:
    """Return an automaton, or what names or is a language or task."""
    from ..extract.result import Extraction

    if isinstance(given, Extraction):
        return automaton_of(given)
    if isinstance(given, str | Path) and Path(given).suffix in AUTOMATA:
        found = load(given)
        return automaton_of(found) if isinstance(found, Extraction) else found
    return given


def _specification_meant(given: Any, beside: PushdownAutomaton | None = None) -> Specification:
    """Return a language or task as what an automaton is compared with; with outputs, a name is that of a task."""
    from ..extract.by_name import specification_for

    speaks = beside is not None and any(step.output is not None for step in beside.transitions.values())
    if isinstance(given, str):
        given = get_task(given) if speaks else get_language(given)
    specification = specification_for(given)
    if specification is None or not hasattr(specification, "compare"):
        raise StacklensError(f"cannot compare {called(given)}; expected an automaton, a result or a language")
    return specification


# ---- Read an automaton out of a network, or learn one from answers alone ----


def extract(model: Network, language: Subject | None = None, *, quiet: bool = False, **settings: Any) -> Extraction:
    """Return the automaton of a network with everything that it rests on.

    Args:
        model: a network, or the name or path of one.
        language: what it should do: a language or task, or the name of one or the path of a grammar or automaton; or an
            automaton, for the words that it accepts. By default what its file says that it was trained on.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        settings: those of `stacklens.extract.config.ExtractionConfig`: ``max_length`` from 0; ``states``,
            ``stack_symbols`` and ``jobs`` from 1; ``seed`` from 0 to 2^32 - 1; ``budget`` in seconds, above 0; ….

    Raises:
        StacklensError: there is no such network, language, task or setting, a setting is out of range, they do not fit
            together, or the words up to ``max_length`` are too many.
    """
    from dataclasses import replace

    from ..extract.by_name import specification_of_network
    from ..extract.extraction import extract as extract_automaton

    config, network = _config_of("extract", settings), network_of(model)
    specification = specification_of_network(network, language)
    with progress_bar(quiet) as bar:
        result = extract_automaton(network, specification, config, stages_on(bar))
    return replace(result, config=config)


def _config_of(function: str, settings: dict[str, Any]) -> ExtractionConfig:
    from dataclasses import fields

    known = [field.name for field in fields(ExtractionConfig)]
    if strange := [name for name in settings if name not in known]:
        raise StacklensError(f"{function} has no setting {', '.join(strange)}; it has {', '.join(known)}")
    return ExtractionConfig(**settings)


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

    AALpy's KV asks, every word once; our own words say whether it is right (see docs/own-networks.md).

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
    from ..models.word_network import AFFORDABLE, boxed

    method = asked_method(kind)
    most = AFFORDABLE if words is None else words
    check_whole("words", most, 0)
    asked = network_of(box) if isinstance(box, str | Path) else box
    network = boxed(asked, alphabet, first, longest=longest, affordable=most)
    return extract(network, language, method=method, **settings)


# ---- Mend a network that learned: repaired until it is certified, its actions made whole ----


def harden(model: Network | Extraction, language: Subject | None = None, *, quiet: bool = False) -> Hardened:
    """Return a network whose actions are exactly 0 or 1, so that it is its own rounded form, bit for bit.

    The weights and biases that decide actions are scaled by the smallest power of two that does it: for words of every
    length where the certificate bounds how far the sums behind actions are from a tie, else for the words of the
    extraction. Nothing else changes, and the certificate is then one of the network itself.

    Args:
        model: a network, or the name or path of one, or what was extracted from it.
        language: what it should do, as for `extract`.
        quiet: show no progress.

    Raises:
        StacklensError: there is no such network, or its actions cannot be made whole, and why.

    >>> harden("marnn-stack-lstm-dyck-2-noise-robust-drifting", quiet=True).scale
    256.0
    """
    from ..extract.repair import harden as scale_actions
    from ..extract.result import Extraction

    if not isinstance(model, Extraction) or language is not None:
        model = extract(model.model if isinstance(model, Extraction) else model, language, quiet=quiet)
    return scale_actions(model)


def repair(
    model: Network | Extraction,
    language: Subject | None = None,
    *,
    seconds: float = 120.0,
    seed: int = 0,
    quiet: bool = False,
) -> Repair:
    """Return a network that is trained further on what breaks it until it is certified, and hardened (see `harden`).

    It goes round: extract, take the words on which the network fails and others that repeat cycles as they do, train
    further on these and the task's words with a disturbed controller, keep the best. What comes back is never worse
    than what came in: ``.model``, with ``.before`` and ``.after``, two extractions, ``.rounds``, and ``.why()``.

    Args:
        model: a predictor or transducer, or the name or path of one, or what was extracted from it.
        language: its task, as for `extract`.
        seconds: of processor time.
        seed: of words and disturbances.
        quiet: show no progress.

    Raises:
        StacklensError: there is no such network, or no task that it could be trained on.
    """
    from ..extract.by_name import specification_of_network
    from ..extract.repair import repair as train_until_certified
    from ..extract.result import Extraction

    check_seed(seed)
    specification = None  # a result has its own
    if not isinstance(model, Extraction) or language is not None:
        model = model.model if isinstance(model, Extraction) else network_of(model)
        specification = specification_of_network(model, language)
    with progress_bar(quiet) as bar:
        return train_until_certified(model, specification, seconds=seconds, seed=seed, progress=stages_on(bar))


# ---- Train networks, and extract from many at once ----


def train(
    model: str,
    language: str | Language | Task,
    *,
    seeds: int = 5,
    seed: int = 0,
    snapshots: int | None = None,
    folder: str | Path | None = None,
    quiet: bool = False,
    **options: Any,
) -> StackModel[Any]:
    """Return the best of some networks that are trained side by side by the recipe for a language or task.

    Args:
        model: the kind of network, such as ``"marnn-stack-rnn"``.
        language: a language for the NNPDA, a task for others, or the name of one.
        seeds: how many networks.
        seed: of the first.
        snapshots, folder: keep up to this many checkpoints of the best network along the way, in this folder, for
            `sl.sweep`, which tells when in training the automaton appears.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        options: choices in place of the recipe's, as of `stacklens train`: ``hidden=…``, ``noise_robust=True``.

    Raises:
        StacklensError: there is no such model, language, task or option, or the model cannot learn that.
    """
    from ..models.base import Origin, one_thread
    from ..models.training.snapshots import Snapshots

    check_seed(seed)
    if not isinstance(model, str):
        raise StacklensError(f"expected the name of a kind of network, such as 'marnn-stack-rnn', not {called(model)}")
    if not isinstance(language, str | Language | Task):
        raise StacklensError(f"expected a language or a task, or the name of one, not {called(language)}")
    check_whole("seeds", seeds, 1)
    kept = None
    if (snapshots is None) is not (folder is None):
        raise StacklensError("snapshots and folder belong together: how many, and where; such as 50 and 'runs'")
    if snapshots is not None and folder is not None:
        check_whole("snapshots", snapshots, 1)
        Snapshots.check_folder(Path(folder))
        kept = Snapshots(snapshots)
    with one_thread(), progress_bar(quiet) as bar:
        trainer = make_trainer(model, language, seed, seeds, options)
        task = bar.add_task("training", total=trainer.total_epochs)
        if kept is not None:
            kept.watch(trainer)
        while not trainer.done:
            trainer.epoch()
            bar.update(task, completed=trainer.epochs_done, description=f"training: {trainer.progress()}")
        network = trainer.network()
    chosen = "".join(f", {name}={value!r}" for name, value in options.items())
    command = f"sl.train({model!r}, {trainer.subject!r}, seeds={seeds}, seed={seed}{chosen})"
    provenance = trainer.provenance(command)
    if kept is not None and folder is not None:
        kept.end(trainer)
        kept.save(trainer, Path(folder), command)
    network.origin = Origin(f"{model}-{trainer.subject}", task=trainer.learned, provenance=provenance)
    return network


# ---- Many networks at once ----


def sweep(
    networks: Network | Sequence[Network],
    language: Subject | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    journal: str | Path | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Sweep:
    """Return what comes out of many networks, a row each: automaton, proof, certificate, horizons, accuracy by length.

    What cannot be read, or fails, is a row with the reason. ``to_frame()`` is the table, ``plot()`` the figure,
    ``save("sweep.csv")`` writes either. Over the snapshots of a training (``sl.train(…, snapshots=50, folder="runs")``)
    it shows when the automaton appears and settles: see ``settling``.

    Args:
        networks: networks, files, folders, or patterns such as ``"runs/*.pt"``.
        language: what all of them should do, as for `extract`; by default what the file of each says.
        jobs: processes.
        scheduler: the address of a Dask scheduler, ``tcp://host:8786``, whose workers do it instead.
        journal: a file that keeps finished rows until all are there; a sweep that was killed goes on from it.
        quiet: show no progress, which is shown on a terminal and in a notebook only.
        settings: those of `extract`, such as ``budget=10``, the seconds for each network.

    Raises:
        StacklensError: nothing matches, there is no such language or setting, or the journal is that of another sweep.

    >>> swept = sweep(["nnpda-palindrome", "no-such-file.pt"], max_length=6, long_words=100, cycles=0)
    >>> [(row.network, row.status, row.proof) for row in swept.rows]
    [('nnpda-palindrome', 0, 'equal'), ('no-such-file.pt', 2, None)]
    """
    from ..extract.evaluation.sweep import networks_named
    from ..extract.evaluation.sweep import sweep as sweep_over

    config = _config_of("sweep", settings)
    given, place = networks_named(networks), None if journal is None else Path(journal)
    with progress_bar(quiet) as bar:
        task = bar.add_task("sweep", total=len(given))
        swept = sweep_over(
            given,
            language,
            config,
            jobs=jobs,
            scheduler=scheduler,
            journal=place,
            progress=lambda row: bar.update(task, advance=1, description=row.network),
        )
    if place is not None:
        place.unlink(missing_ok=True)
    return swept
