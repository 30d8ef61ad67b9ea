"""What came out of a network: its automaton, what that rests on, and how far it can be trusted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..automata.compare import Comparison, Different, Equal, Undecided
from ..automata.grammar import Grammar
from ..automata.minimize import Minimization
from ..automata.pda import PushdownAutomaton, Word
from ..automata.small_grammar import readable_grammar
from ..core.errors import StacklensError
from ..core.files import late, to_plain
from ..core.imports import above
from ..languages.language import format_word, make_word
from ..models.base import NetworkCard, StackModel, card_of
from ..probe.outcome import Causality
from .accuracy import AccuracyTable, ThresholdMargin
from .agreement import CERTIFICATE_NOT_TRIED, AcceptedCounts, Agreement, Certification, first_contradiction
from .claims import equals_of, headline
from .config import BudgetUse, ExtractionConfig
from .evaluation.judge import Errors, Parting
from .horizon import Horizon
from .memory_use import StackUse, ViewUse
from .samples import Fidelity
from .search.candidates import Candidate, merged_into
from .specification import Specification
from .verification.divergence import Divergence, Drift
from .wording import AS_STORED, best_claim, sizes_of

PROOF_NOT_TRIED = Undecided("there is nothing to compare with")
_CLAIMS = (  # entries of a report that a file can only repeat
    *("reason", "view", "stacks", "attempts", "fidelity", "checks", "counts", "divergence", "drift", "proof"),
    *("certificate", "horizon.rounded network", "horizon.network", "method", "second", "black_box", "threshold"),
    *("caution", "diagnosis", "best", "causality", "budget"),
)


@dataclass(frozen=True)
class Loaded:
    """What a loaded result keeps of its network and its language, whose files may be gone."""

    # card, language: of them
    card: NetworkCard
    language: str | None
    trusted: bool = False  # whether it comes with stacklens, so that its claims are as good as the program's
    shown: tuple[str, ...] = ()  # entries of the report that were shown again since it was loaded
    refuted: tuple[str, ...] = ()  # what the file claims and is not so, a sentence each
    reason: str | None = None  # why nothing could be shown again; None where something was, or nobody asked


@dataclass(frozen=True)
class Cause:
    """A likely cause."""

    # "adapter suspicious", "another threshold", "not learned", "graded actions", "too many stacks", "counts in its
    # hidden state", "memory is no stack", "time limit reached", "contradicts itself", "values drift", "computes with
    # leftovers", "learned something else", or "no finite number of states"
    name: str
    measured: str  # what decided it, with the limit, as a sentence goes on after "for"


@dataclass(frozen=True)
class Diagnosis:
    """Why an automaton is not faithful, or there is none."""

    cause: Cause  # the likely cause, with the measures that decided it
    # how often network, rounded network and automaton, or the best one, are right by size; None where nothing says what
    # is right
    accuracy: AccuracyTable | None
    partings: tuple[Parting, ...]  # where who parts from whom
    # of the best automaton, where there is no faithful one, how often it is wrong; else empty
    errors: tuple[Errors, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        return {
            "cause": asdict(self.cause),
            "accuracy": None if self.accuracy is None else self.accuracy.to_dict(),
            "partings": [one.to_dict() for one in self.partings],
            "errors": [one.to_dict() for one in self.errors],
        }


@dataclass(frozen=True)
class WhatIsSaid:
    """What all parties say on a word that tells both automata apart."""

    word: Word
    shortest: bool  # whether there is no shorter one
    step: int | None  # after which symbol, from 1; None for the verdict on the whole word
    # white, black: what the automaton and the one that was learned from answers say there
    white: str
    black: str
    # network, rounded: what the network itself and the rounded one say there
    network: str
    rounded: str
    meant: bool = True  # whether the task asks about this word


@dataclass(frozen=True)
class BlackBoxView:
    """What was learned from a network's answers alone, beside its automaton."""

    comparison: Comparison  # whether both automata do the same on all words
    proof: Comparison  # whether the learned one equals the language or task
    # words, wrong: the checking words, and on how many of them it differs from the network itself
    words: int
    wrong: int
    reason: str | None  # why it does not stand for the network, None where it does
    agree_to: int | None  # where nothing is proved: up to which length both do the same on all words; else None
    said: WhatIsSaid | None  # what all answer to a word that tells them apart, None where none is known

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report, without the comparisons, which are entries of their own."""
        apart = None if self.said is None else {**asdict(self.said), "word": format_word(self.said.word)}
        names = ("words", "wrong", "reason", "agree_to")
        return {**{name: getattr(self, name) for name in names}, "said": apart}


@dataclass(frozen=True)
class NotFaithful:
    """An automaton that is not faithful: what came nearest, and how often it is wrong."""

    automaton: PushdownAutomaton
    method: str  # how it was found
    # how often it differs from language, rounded network and network, and the shortest word of each
    errors: tuple[Errors, ...]

    @property
    def error_rate(self) -> float:
        """Return on which share of the words that either accepts it differs from the network itself, in [0, 1]."""
        return next((one.rate for one in self.errors if one.other == "network"), 1.0)

    def __str__(self) -> str:
        return best_claim(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return the entry "best" of a report."""
        return {
            "automaton": sizes_of(self.automaton),
            "method": self.method,
            "error_rate": self.error_rate,
            "errors": [one.to_dict() for one in self.errors],
        }


@late("model", "language")
@dataclass(frozen=True, eq=False, repr=False)
class Extraction:
    """What came out of a network.

    Attributes:
        model, language: what went in.
        minimised: the automaton, or None where no faithful one was found, where `automaton` raises the reason.
        found: the candidate that it comes from, or that came nearest.
        candidates: everything that was tried on the way.
        fidelity: how near the network is to a discrete machine.
        stacks: which of its stacks, or of those of the view, matter; the automaton has these.
        view: how the network was seen as one on stacks, where its memory is none; None where it is.
        checks: the automaton against language, rounded network and network.
        counts: how many words of each length it accepts, found in two ways; None where there is only one way.
        divergence: its run and the rounded network's, side by side, on the word that contradicts it, if one does.
        drift: why the rounded network fails on a word that goes round, if it does: what moves at every cycle.
        proof: whether it equals the language's or the task's reference automaton on every word of a domain.
        certificate: whether the rounded network is certified to follow it on words of every length.
        horizon: how far it agrees with "rounded network" and "network"; empty where there is no automaton.
        reason: why there is no automaton, or None.
        seconds: how long each stage took.
        config: how much was checked, and the seed, where that is known.
        loaded: what a saved result keeps of its network and language, which are opened when they are touched.
        second: another exact candidate, found in another way, or with other stacks in sight, if there is one.
        ways: whether its automaton does the same as the first on all words; None where there is none.
        caution: why the automaton is no more than that of the rounded network, or of the network as it is, where these
            do different things.
        causality: what interchange experiments say of its inside, where they were made; see `causal`.
        budget: how long the search might take, and whether it ended for that; None where nothing is known of it.
        asked: the candidate that was learned from answers alone, to compare with, where `black_box` was called.
        box: how that compares with the automaton.
        diagnosis: for status 1 and 3, what was measured of why; None where nothing contradicts it, or in old files.
        threshold: of a network whose probabilities become sets by a threshold, how near they come to it; else None.

    Two results are equal if all that came out of equal networks is: times and settings do not count.
    """

    model: StackModel[Any]
    language: Specification | None
    minimised: PushdownAutomaton | None
    found: Candidate | None
    candidates: Sequence[Candidate]
    fidelity: Fidelity
    stacks: StackUse
    checks: tuple[Agreement, ...] = ()
    counts: AcceptedCounts | None = None
    divergence: Divergence | None = None
    drift: Drift | None = None
    proof: Comparison = PROOF_NOT_TRIED
    certificate: Certification = CERTIFICATE_NOT_TRIED
    horizon: dict[str, Horizon] = field(default_factory=dict)
    reason: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    config: ExtractionConfig | None = None
    loaded: Loaded | None = None
    view: ViewUse | None = None
    second: Candidate | None = None
    ways: Comparison | None = None
    caution: str | None = None
    budget: BudgetUse | None = None
    asked: Candidate | None = None
    box: BlackBoxView | None = None
    diagnosis: Diagnosis | None = None
    causality: Causality | None = None
    threshold: ThresholdMargin | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Extraction):
            return NotImplemented
        outcome = above("stacklens.extract.saved.outcome", dict)
        return outcome(self) == outcome(other)

    __hash__ = None  # type: ignore[assignment]  # equal results need not be of one network in memory

    def __repr__(self) -> str:
        return above("stacklens.extract.summary.result_in_one_line", str)(self)

    def __str__(self) -> str:
        """Return the summary that `extract-pda` prints."""
        return above("stacklens.extract.summary.summary_text", str)(self)

    def _repr_html_(self) -> str:
        return above("stacklens.extract.summary.summary_html", str)(self)

    def save(self, path: str | Path) -> None:
        """Write the result to a .json file, for ``sl.load``. Raises StacklensError: another suffix, no such place."""
        above("stacklens.extract.saved.save_result", None)(path, self)

    def save_proof(self, path: str | Path) -> str:
        """Write certificate and proof of equality, whole, to a .json file, and return in a line what it proves.

        ``python -m stacklens.check_proof NET.pt PROOF.json`` checks it from the network's weights alone. Raises
        StacklensError: neither is proved, or the checker knows too little of such a network or automaton; another
        suffix; the file cannot be written.
        """
        return above("stacklens.extract.certificate.proof_file.save_proof", str)(path, self)

    def grammar(self) -> Grammar:
        """Return a small context-free grammar of the words that the automaton accepts; print it, or save it as .cfg.

        Raises StacklensError: there is no automaton, it has several stacks, is no recogniser, or is too large.
        """
        return readable_grammar(self.automaton)

    def why(self) -> str:
        """Return why the automaton is not faithful, or there is none, and what to do next; or that it is."""
        advice = above("stacklens.extract.diagnosis.advice", str)(self)
        return f"{AS_STORED}:\n{advice}" if self.as_stored else advice

    def checked_again(self) -> Extraction:
        """Return a result that was loaded with all shown again that takes no search: proof, certificate, and words.

        The network is opened for it. `as_stored` names what is left; of a result that was just made there is nothing.
        """
        return above("stacklens.extract.saved.checked_again", Extraction)(self)

    def black_box(self, *, kind: str = "auto", **settings: Any) -> Extraction:
        """Return the result with `asked` and `box`: an automaton from answers alone, and whether it equals this one.

        Args:
            kind: what to learn: "dfa", "mealy", "vpa", or "auto", what fits.
            settings: those of `ExtractionConfig`, such as ``budget``, ``calls`` and ``returns``.

        Raises:
            StacklensError: there is no automaton of the network's own steps to compare with, or AALpy is not installed.
        """
        begun = time.perf_counter()
        asked, box = above("stacklens.extract.black_box.compare_with_black_box")(self, kind, settings)
        seconds = {**self.seconds, "learn from answers alone": time.perf_counter() - begun}
        return replace(self, asked=asked, box=box, seconds=seconds)

    def causal(
        self, seed: int = 0, *, automaton: str | PushdownAutomaton = "all", values: str = "source", cases: int = 2_000
    ) -> Causality:
        """Return which automaton is what the network computes with, not only right, by interchange experiments.

        Hidden vectors, and cells of stacks, are interchanged between runs; the automaton predicts what follows. The
        outcome is that of the minimised automaton, with ``.raw``, ``.learned`` and ``.reference`` beside, which may all
        be proved equal, and ``.mechanism``: which of them the network computes, if any. Each has ``.states``,
        ``.symbols``, ``.heads`` and ``.aligned``, and these ``.accuracy``, ``.interval``, ``.baselines`` and ``.worst``
        (a word).

        Args:
            seed: of all that is drawn.
            automaton: "all" of them, or only the "minimised", "raw", "learned" or "reference" one, or a given one.
            values: what is put in: of the "source", or for states the "centre" of all that are taken for the same.
            cases: how many interchanges of every kind, at least 2.

        Raises:
            StacklensError: there is no automaton, or its steps are none of the network's, or one of these is not as it
                should be.
        """
        causality = above("stacklens.extract.causality.causality", Causality)
        return causality(self, seed, automaton=automaton, values=values, cases=cases)

    @property
    def network(self) -> NetworkCard:
        """Return what there is to say of the network, without opening the file of a saved result's."""
        return card_of(self.model) if self.loaded is None else self.loaded.card

    @property
    def as_stored(self) -> tuple[str, ...]:
        """Return which entries of the report were read from a file and not shown again; see `checked_again`."""
        if self.loaded is None or self.loaded.trusted:
            return ()
        return tuple(name for name in _CLAIMS if name not in self.loaded.shown)

    @property
    def language_name(self) -> str | None:
        """Return what the language or task is called, None where none was given."""
        if self.loaded is not None:
            return self.loaded.language
        return None if self.language is None else self.language.name

    @property
    def memories(self) -> tuple[int, ...]:
        """Return the numbers of the network's own stacks, or other memories, that the automaton's stacks are."""
        return self.stacks.stacks if self.view is None else self.view.memories

    @property
    def title(self) -> str:
        """Return a heading for drawings of the automaton; a file's name may be bytes that are no text."""
        card, language = self.network, self.language_name
        title = card.name if language is None else f"{language}, read out of {card.file or card.name}"
        return title.encode(errors="backslashreplace").decode()

    @property
    def automaton(self) -> PushdownAutomaton:
        """Return the minimised automaton. Raises StacklensError: no faithful one was found (status 3), and why."""
        if self.minimised is None:
            raise StacklensError(f"there is no automaton: {self.reason}")
        return self.minimised

    @property
    def raw(self) -> PushdownAutomaton | None:
        """Return the machine before minimisation: its states are the network's own, as they were found."""
        return None if self.found is None else self.found.raw

    @property
    def merged(self) -> Minimization | None:
        """Return which states and stack symbols of `raw` became which of `automaton`, or none; None if not known."""
        return merged_into(self.raw, self.minimised)

    @property
    def best(self) -> NotFaithful | None:
        """Return the automaton that came nearest where there is no faithful one, with its error rate, else None."""
        errors = () if self.diagnosis is None else self.diagnosis.errors
        if self.minimised is not None or self.found is None or self.found.automaton is None or not errors:
            return None
        return NotFaithful(self.found.automaton, self.found.method, errors)

    @property
    def headline(self) -> str:
        """Return in one sentence which of language, rounded network and network the automaton equals."""
        return headline(self.report())

    @property
    def contradicted(self) -> Agreement | None:
        """Return the first check against the language or the rounded network that found a disagreement.

        The analog network may well differ on long words, where its errors have summed up (Sun et al. 1993, section
        4.1): that is reported, and contradicts nothing.
        """
        return first_contradiction(self.checks)

    @property
    def status(self) -> int:
        """Return 0 where nothing contradicts the automaton, 1 where something does, 3 where there is no automaton."""
        if self.minimised is None:
            return 3
        # the network itself may differ on long words: that contradicts nothing
        unequal = self.counts is not None and not self.counts.equal
        refuted = self.loaded is not None and bool(self.loaded.refuted)
        doubted = self.contradicted is not None or self.caution is not None or refuted
        return 1 if doubted or unequal or isinstance(self.proof, Different) else 0

    def report(self) -> dict[str, Any]:
        """Return everything as plain data, the content of ``extract-pda --report`` (schema 2)."""
        network = self.network
        report = {
            "schema": 2,
            "model": {"name": network.kind, "alphabet": list(network.alphabet), "config": dict(network.config)},
            "language": self.language_name,
            "automaton": _report_sizes(self.minimised, self.raw),
            "reason": self.reason,
            "stack_limit": network.stack_limit,
            "view": None if self.view is None else self.view.to_dict(),
            "stacks": self.stacks.to_dict(),
            "attempts": [candidate.to_dict() for candidate in self.candidates],
            "fidelity": self.fidelity.to_dict(),
            "checks": [check.to_dict() for check in self.checks],
            "counts": None if self.counts is None else self.counts.to_dict(),
            "divergence": None if self.divergence is None else self.divergence.to_dict(),
            "drift": None if self.drift is None else self.drift.to_dict(),
            "proof": proof_entry(self.proof),
            "certificate": self.certificate.to_dict(),
            "horizon": {other: horizon.to_dict() for other, horizon in self.horizon.items()},
            "method": None if self.found is None else self.found.method,
            "second": None,
            "black_box": None,
            "threshold": None if self.threshold is None else self.threshold.to_dict(),
            "caution": self.caution,
            "diagnosis": None if self.diagnosis is None else self.diagnosis.to_dict(),
            "best": None if self.best is None else self.best.to_dict(),
            "causality": None if self.causality is None else self.causality.to_dict(),
            "budget": None if self.budget is None else self.budget.to_dict(),
            "seconds": self.seconds,
            "seed": None if self.config is None else self.config.seed,
            "config": to_plain(self.config),
            "network": to_plain(network),
            "as_stored": list(self.as_stored),
            "refuted": [] if self.loaded is None else list(self.loaded.refuted),
        }
        if (second := self.second) is not None and self.ways is not None:
            pda, how = second.automaton, {"method": second.method, "quantiser": second.quantiser}
            size = {} if pda is None else {"states": len(pda.states), "stacks": pda.n_stacks}
            report["second"] = {**how, **size, "comparison": proof_entry(self.ways)}
        if (asked := self.asked) is not None and (box := self.box) is not None:
            report["black_box"] = {
                "method": asked.method,
                "quantiser": asked.quantiser,
                "automaton": _report_sizes(asked.automaton, asked.raw),
                "comparison": proof_entry(box.comparison),
                "proof": proof_entry(box.proof),
                **box.to_dict(),
            }
        return {**report, "equals": None if self.minimised is None else equals_of(report)}


def proof_entry(proof: Comparison) -> dict[str, Any]:
    """Return the entry of a report that says how a comparison came out."""
    if isinstance(proof, Equal):
        return {"verdict": "equal", "counterexample": None, "reason": None, "domain": proof.domain}
    word = None if proof.word is None else format_word(make_word(proof.word, proof.word))
    return {
        "verdict": "different" if isinstance(proof, Different) else "undecided",
        "counterexample": word,
        "reason": proof.reason,
        "domain": None,
        **({"shortest": proof.shortest} if isinstance(proof, Different) else {}),
    }


def _report_sizes(automaton: PushdownAutomaton | None, raw: PushdownAutomaton | None) -> dict[str, Any] | None:
    if automaton is None or raw is None:
        return None
    return {**sizes_of(automaton), "accepting": sorted(automaton.accepting), "before_minimization": sizes_of(raw)}
