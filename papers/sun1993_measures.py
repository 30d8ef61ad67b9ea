"""How the claims of Sun et al. 1993 are measured: on the networks of the zoo, and on networks trained anew."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stacklens.papers.claims import Finding
from stacklens.papers.measures import (
    BEYOND,
    SHOWN,
    automaton_errors_on_all,
    errors,
    errors_on_all,
    exact_beyond,
    first_words,
    mixed_words,
)
from stacklens.papers.sun1993_palindromes import without_monitor
from stacklens.progress import count

if TYPE_CHECKING:
    from stacklens.automata.pda import Word
    from stacklens.extract.result import Extraction
    from stacklens.languages.language import Language
    from stacklens.models.base import StackModel

SEED = 0
_LONG = (50, 100)  # section 4.1
_DEPTH = 200  # of members on which automata of networks trained anew are checked, which cost its square
_FURTHER = 3  # lengths beyond a recipe's check: some 65,000 words of two symbols, 266,000 of three
# What the paper's analog net gets wrong, section 4.3 (5).
MISTAKES = ("ababcbaba", "abbacabba", "bbbacabbb", "abcbbcbcb")


@dataclass(frozen=True)
class Sizes:
    """How much is checked; the defaults are the paper's own sizes, and more long words.

    Attributes:
        parentheses, counts, palindromes: all words up to these lengths, sections 4.1, 4.2, 4.3 (5).
        quantised: all words up to this length, section 4.3 (6).
        long_words: how many words of length 50 to 100.
        depths: members nested so deep.
        nets: networks trained anew, from the seeds 0, 1, ….
        epochs: stop the training after so many; None for the recipe's.
        extraction_length: each automaton is checked on all words up to this length; None for about 2.5 million words,
            and of networks trained anew for words a little longer than those that their recipe checks.
        extraction_depth: and on members nested so deep, 200 for networks trained anew.
    """

    parentheses: int = 20
    counts: int = 20
    palindromes: int = 9
    quantised: int = 15
    long_words: int = 10_000
    depths: tuple[int, ...] = (25, 50, 100, 200, 400, 1_000)
    nets: int = 10
    epochs: int | None = None
    extraction_length: int | None = None
    extraction_depth: int = 1_000


@dataclass(frozen=True)
class _Subject:
    """A network and the language that it was trained on."""

    net: StackModel[Any]
    language: Language


def zoo_path(language: str) -> Path:
    """Return the file of the zoo's network for ``language``."""
    from stacklens.models.io import ZOO

    return ZOO / f"nnpda-{language}.pt"


@cache
def _subject(language: str) -> _Subject:
    import torch

    from stacklens.languages import get_language
    from stacklens.models.io import load_model

    torch.set_num_threads(1)  # the arrays are small: more threads only wait for each other
    return _Subject(load_model(zoo_path(language)), get_language(language))


@cache
def _extraction(language: str, sizes: Sizes, method: str = "auto") -> Extraction:
    subject = _subject(language)
    return _extract(subject.net, subject.language, sizes, method)


def _extract(net: StackModel[Any], language: Language, sizes: Sizes, method: Any = "auto") -> Extraction:
    from stacklens.extract.extraction import ExtractionConfig, extract

    config = ExtractionConfig(
        max_length=sizes.extraction_length,
        long_words=sizes.long_words,
        long_lengths=_LONG,
        depth=sizes.extraction_depth,
        method=method,
        seed=SEED,
    )
    return extract(net, language, config)


def analog_on_all(language: str, max_length: int, monitor: bool = True) -> Finding:
    """Return how often the analog net errs on all words; without the ``monitor`` a word is judged at its end only."""
    subject = _subject(language)
    words, wrong = errors_on_all(subject.net if monitor else without_monitor(subject.net), subject.language, max_length)
    figures = {"words": words, "errors": len(wrong), "wrong": first_words(wrong)}
    ours = f"{count(len(wrong), 'error')} on {words:,} words"
    if not monitor:
        _, monitored = errors_on_all(subject.net, subject.language, max_length)
        figures |= {"errors_with_monitor": len(monitored)}
        ours += f"; with the monitor {len(monitored)}"
    return Finding(ours, figures)


def quantised_on_all(language: str, max_length: int) -> Finding:
    """Return how often the net errs with actions at three levels (eq. 21) and states at two, and with actions alone."""
    from stacklens.models.rounding import Rounded

    subject = _subject(language)
    words, wrong = errors_on_all(_binary(subject.net), subject.language, max_length)
    _, rounded = errors_on_all(Rounded(subject.net), subject.language, max_length)
    figures = {"words": words, "errors": len(wrong), "errors_actions_only": len(rounded)}
    return Finding(
        f"{count(len(wrong), 'error')} on {words:,} words; with actions alone rounded {len(rounded)}", figures
    )


def long_words(language: str, sizes: Sizes) -> Finding:
    """Return how often the analog net and the automaton err on words of length 50 to 100."""
    words = mixed_words(_subject(language).language, sizes.long_words, _LONG)
    analog, automaton = _both_errors(language, words, sizes)
    ours = f"of {len(words):,} words the analog net gets {analog:,} wrong, the automaton {automaton:,}"
    return Finding(ours, {"words": len(words), "errors": analog, "automaton_errors": automaton})


def deep_words(language: str, sizes: Sizes) -> Finding:
    """Return how often the analog net errs on members, by the depth that they are nested."""
    subject = _subject(language)
    by_depth = {depth: subject.language.deep(20, depth, SEED) for depth in sizes.depths}
    wrong = {depth: _both_errors(language, words, sizes) for depth, words in by_depth.items()}
    analog = ", ".join(f"{errors} at depth {depth:,}" for depth, (errors, _) in wrong.items())
    automaton = sum(errors for _, errors in wrong.values())
    figures = {"words_per_depth": 20, "errors": {str(depth): errors for depth, (errors, _) in wrong.items()}}
    ours = f"of 20 words each the analog net gets wrong: {analog}; the automaton {automaton}"
    return Finding(ours, {**figures, "automaton_errors": automaton})


def twenty_words(language: str) -> Finding:
    """Return how often the analog net errs on 20 words, and on all members of 1^n 0^n, up to length 160."""
    subject = _subject(language)
    words = mixed_words(subject.language, 20, (1, 160))
    members = [subject.language.sample(1, (n, n), True, SEED)[0] for n in range(2, 161, 2)]
    drawn, legal = (len(errors(subject.net, subject.language, some)) for some in (words, members))
    figures = {"words": len(words), "errors": drawn, "members": len(members), "members_wrong": legal}
    return Finding(
        f"{count(drawn, 'error')} (5 of the 20 are members); {legal} on the {len(members)} members <= 160", figures
    )


def papers_mistakes(sizes: Sizes) -> Finding:
    """Return which of the words that the paper's net gets wrong ours does."""
    subject = _subject("palindrome")
    wrong = errors(without_monitor(subject.net), subject.language, MISTAKES)
    _, automaton = _both_errors("palindrome", MISTAKES, sizes)
    ours = f"the analog net gets {len(wrong)} wrong, the automaton {automaton}"
    return Finding(ours, {"words": len(MISTAKES), "errors": len(wrong), "automaton_errors": automaton})


def automaton_on_mistakes(sizes: Sizes) -> Finding:
    """Return what the automaton makes of the words that its analog net gets wrong, and of all words."""
    subject = _subject("palindrome")
    words, wrong = errors_on_all(subject.net, subject.language, sizes.quantised)
    _, still = _both_errors("palindrome", wrong, sizes)
    automaton = automaton_errors_on_all(_extraction("palindrome", sizes).automaton, subject.language, sizes.quantised)
    shown = f" ({', '.join(first_words(wrong))}{', …' if len(wrong) > SHOWN else ''})" if wrong else ""
    ours = (
        f"analog net: {count(len(wrong), 'error')}{shown}; automaton: {still} on these, "
        f"{automaton} on all {words:,} words"
    )
    figures = {"words": words, "errors": len(wrong), "wrong": first_words(wrong), "automaton_errors_on_these": still}
    return Finding(ours, {**figures, "automaton_errors": automaton})


def states(language: str, sizes: Sizes) -> Finding:
    """Return how many states the automaton has before and after merging, by clusters, as the paper's, and learned."""
    found = [_extraction(language, sizes, method) for method in ("kmeans", "learn")]
    clusters, learned = ([0 if pda is None else len(pda.states) for pda in (one.raw, one.automaton)] for one in found)
    ours = (
        "{}, then {} by clusters of hidden vectors, as in the paper; learned from behaviour {}, then {}; a missing "
        "transition is our trap state"
    )
    figures = {"before": learned[0], "after": learned[1], "status": found[1].status, "by clusters": clusters}
    return Finding(ours.format(*clusters, *learned), figures)


def _both_errors(language: str, words: Sequence[Word], sizes: Sizes) -> tuple[int, int]:
    """Return how many of ``words`` the zoo's analog net gets wrong, and how many its automaton."""
    from stacklens.automata.simulation import accepts_many

    subject = _subject(language)
    accepted = accepts_many(_extraction(language, sizes).automaton, words).tolist()
    automaton = sum(verdict != (word in subject.language) for word, verdict in zip(words, accepted, strict=True))
    return len(errors(subject.net, subject.language, words)), automaton


@dataclass(frozen=True)
class _Trained:
    """How the networks of one training came out.

    ``given`` says how many words each network got wrong and was given in each round, rounds of networks.
    """

    analog_exact: int
    rounded_exact: int
    beyond: tuple[int, int]  # the same on longer words, by which no epoch was chosen
    extractions: tuple[Extraction, ...]
    check_length: int
    epochs: int
    seconds: float  # of processor time, training alone
    given: tuple[tuple[int, ...], ...]
    right: tuple[bool, ...]  # which analog networks are exact

    @property
    def exact(self) -> list[Extraction]:
        """Return the extractions that nothing contradicts."""
        return [result for result in self.extractions if result.status == 0]


@cache
def _train(recipe: str, sizes: Sizes) -> _Trained:
    import torch

    from stacklens.languages import get_language
    from stacklens.models.training.recognition import Training
    from stacklens.models.training.recognition_recipes import RECIPES

    torch.set_num_threads(1)
    language = get_language(recipe.split()[0])
    begun = time.process_time()
    training = Training(RECIPES[recipe], language, seed=SEED, nets=sizes.nets)
    while not training.done and training.epochs_done != sizes.epochs:
        training.epoch()
    training.check()
    seconds = time.process_time() - begun
    length = sizes.extraction_length or RECIPES[recipe].check_length + _FURTHER
    checked = replace(sizes, extraction_length=length, extraction_depth=min(_DEPTH, sizes.extraction_depth))
    return _Trained(
        analog_exact=sum(score.analog_errors == 0 for score in training.best),
        rounded_exact=sum(score.rounded_errors == 0 for score in training.best),
        beyond=exact_beyond(training),
        extractions=tuple(_extract(training.network(n), language, checked) for n in range(sizes.nets)),
        check_length=RECIPES[recipe].check_length,
        epochs=training.epochs_done,
        seconds=seconds,
        given=tuple(map(tuple, training.given)),
        right=tuple(score.analog_errors == 0 for score in training.best),
    )


def converged(recipe: str, sizes: Sizes) -> Finding:
    """Return how many networks come out exact when trained anew: analog, rounded, and as an automaton."""
    trained = _train(recipe, sizes)
    per_net = trained.seconds / sizes.nets
    statuses = [result.status for result in trained.extractions]
    ours = (
        f"exact on words <= {trained.check_length}, by which the epoch is chosen: {trained.analog_exact} analog, "
        f"{trained.rounded_exact} rounded; on all words that are up to {BEYOND} longer: {trained.beyond[0]} analog, "
        f"{trained.beyond[1]} rounded; exact automaton: {len(trained.exact)}; {trained.epochs} epochs, "
        f"{per_net:.1f} CPU s a net"
    )
    figures = {
        "nets": sizes.nets,
        "analog_exact": trained.analog_exact,
        "rounded_exact": trained.rounded_exact,
        "analog_exact_beyond": trained.beyond[0],
        "rounded_exact_beyond": trained.beyond[1],
        "automaton_exact": len(trained.exact),
        "extraction_status": statuses,
        "check_length": trained.check_length,
        "epochs": trained.epochs,
        "seconds_per_net": round(per_net, 2),
    }
    return Finding(ours, figures)


def rounds(recipe: str, sizes: Sizes) -> Finding:
    """Return how many rounds of counterexamples the networks need, and how many words each round adds."""
    trained = _train(recipe, sizes)
    needed = [sum(number > 0 for number in numbers) for numbers in zip(*trained.given, strict=True)] or [0] * sizes.nets
    enough = [number for number, right in zip(needed, trained.right, strict=True) if right]
    by_number = [f"{number} for {enough.count(number)}" for number in sorted(set(enough))]
    shown = f"rounds that make a net exact: {', '.join(by_number)}" if by_number else "no net becomes exact"
    if by_number and len(enough) < sizes.nets:
        shown += f"; not exact after all: {sizes.nets - len(enough)}"
    added = "; ".join(_words_added(numbers) for numbers in trained.given if any(numbers))
    figures = {"nets": sizes.nets, "rounds_of_exact_nets": enough, "words_added": [list(one) for one in trained.given]}
    return Finding(shown + (f". Words added, round by round: {added}" if added else ""), figures)


def _words_added(numbers: Sequence[int]) -> str:
    some = [number for number in numbers if number]
    low, high = min(some), max(some)
    return f"{low if low == high else f'{low}–{high}'} to {count(len(some), 'net')}"


def trained_on_long_words(recipe: str, sizes: Sizes) -> Finding:
    """Return how many of the networks whose automaton is exact err themselves on words of length 50 to 100."""
    exact = _train(recipe, sizes).exact
    checks = [check for result in exact for check in result.checks if check.kind == "long"]
    err = {
        other: sum(check.disagreements > 0 for check in checks if check.other == other)
        for other in ("network", "rounded network", "language")
    }
    ours = (
        f"of {len(exact)} nets err on some of {sizes.long_words:,} words: {err['network']} analog, "
        f"{err['rounded network']} rounded, {err['language']} automata"
    )
    figures = {"nets": len(exact), "words": sizes.long_words, "nets_that_err": err["network"]}
    return Finding(ours, {**figures, "rounded": err["rounded network"], "automata": err["language"]})


def _binary(net: StackModel[Any]) -> StackModel[Any]:
    """Return the network with actions at three levels and states at two (section 4.3 (6))."""
    import torch

    from stacklens.models.base import ControllerOutput
    from stacklens.models.rounding import Rounded

    class Quantised(Rounded[Any]):
        def controller(self, symbols: torch.Tensor, hidden: torch.Tensor, reading: torch.Tensor) -> ControllerOutput:
            answer = super().controller(symbols, hidden, reading)
            return replace(answer, hidden=(answer.hidden > 0.5).to(hidden.dtype))

    return Quantised(net)
