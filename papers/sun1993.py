"""Sun, Giles, Chen & Lee 1993, "The neural network pushdown automaton: model, stack and learning simulations"."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import sun1993_measures as measure
from .results import Experiment, Finding, PaperClaim
from .sun1993_measures import Sizes, zoo_path

TABLE_1 = ("acabc", "bacab", "bacba")
TABLE_2 = ("ababcbaba",)
_NAMES = {True: "legal", False: "illegal"}
_DIGITS = 4  # as printed

PAPER = "Sun, Giles, Chen & Lee 1993"
_PAPER_SIZES = Sizes()
_FIGURES = {  # by the zoo's network: states before and after merging, as printed
    "parentheses": "4, of which 2 only read the end symbol (Fig. 7)",
    "1n0n": "6, then 4 (Figs. 8, 9)",
    "palindrome": "12 with those in the trap, then 7 (Figs. 11, 12)",
}


def step_rows(words: tuple[str, ...]) -> Finding:
    """Return how the zoo's palindrome net ends on ``words``, with every step in the figures.

    The verdict is the net's with its trap monitor; the paper's tables are of a net without (section 4.3 (5)), which is
    judged by the last step alone: legal where S_last > 0.5 and L <= 0.5. Where the two differ, both are given.
    """
    from ..models.checkpoint import load_model
    from ..probe.trace import trace

    path = zoo_path("palindrome")
    seen = trace(load_model(path), words)
    figures, shown = dict[str, Any](), []
    for number, word in enumerate(words):
        steps = [_step_as_printed(seen, number, t) for t in range(int(seen.steps[number]))]
        last, length = steps[-1]["state"][-1], sum(part for _, part in steps[-1]["segments"])
        at_end, verdict = _NAMES[last > 0.5 and length <= 0.5], _NAMES[bool(seen.verdicts[number])]
        without = "" if at_end == verdict else f" (without the monitor {at_end})"
        shown.append(f"{word}: S_N {last:.4f}, L {length:.4f}, {verdict}{without}")
        command = f"stacklens trace models/zoo/{path.name} {word}"
        figures[word] = {
            "steps": steps,
            "length": round(length, _DIGITS),
            "verdict": verdict,
            "at_end": at_end,
            "command": command,
        }
    return Finding("; ".join(shown), figures)


def _step_as_printed(seen: Any, word: int, t: int) -> dict[str, Any]:
    """Return one line of the paper's tables."""
    return {
        "input": seen.letters[seen.symbols[word, t]],
        "state": [round(float(value), _DIGITS) for value in seen.hidden[word, t + 1]],
        "action": round(float(seen.actions[word, t, 0, 0]), _DIGITS),
        "segments": [[symbol, round(float(length), _DIGITS)] for symbol, length in seen.segments(word, t)],
    }


def _state_claims(section: str, name: str, language: str, levels: int) -> tuple[PaperClaim, PaperClaim]:
    """Return the claims on the states of a network of the zoo: by the paper's quantiser, and by others."""
    merging = f"{name}: states before and after merging, {'five' if levels == 5 else 'two'} levels a neuron"
    others = f"{name}: the same by 2 to 5 levels a neuron, and by K-means of 2 to 16 clusters and 5 seeds"
    finer = "K-means or levels; finer where that errs"
    return (
        PaperClaim(section, merging, _FIGURES[language], partial(measure.states, language, levels)),
        PaperClaim("3.6", others, finer, partial(measure.other_quantisers, language)),
    )


def claims_experiment(sizes: Sizes = _PAPER_SIZES) -> Experiment:
    """Return the claims of section 4, measured on the networks of the zoo."""
    claims = (
        PaperClaim(
            "4.1",
            f"parentheses: analog net on all words of length <= {sizes.parentheses}",
            "0 errors on 2^21 words (length <= 20)",
            partial(measure.analog_on_all, "parentheses", sizes.parentheses),
        ),
        PaperClaim(
            "4.1",
            "parentheses: words of length 50 to 100",
            "analog net wrong on some, automaton right on all of these",
            partial(measure.long_words, "parentheses", sizes),
        ),
        PaperClaim(
            "4.1",
            "parentheses: members nested deeper and deeper",
            "not reported",
            partial(measure.deep_words, "parentheses", sizes),
        ),
        *_state_claims("4.1", "parentheses", "parentheses", 5),
        PaperClaim(
            "4.2",
            f"1^n 0^n, trap hint: analog net on all words of length <= {sizes.counts}",
            "0 errors on 2,097,150 words (length <= 20)",
            partial(measure.analog_on_all, "1n0n", sizes.counts),
        ),
        PaperClaim(
            "4.2",
            "1^n 0^n, trap hint: 20 random words of length <= 160",
            "0 errors",
            partial(measure.twenty_words, "1n0n"),
        ),
        *_state_claims("4.2", "1^n 0^n, trap hint", "1n0n", 2),
        PaperClaim(
            "4.3 (5)",
            f"palindromes: analog net on all words of length <= {sizes.palindromes}, no trap monitor",
            "4 errors on 29,523 words (length <= 9)",
            partial(measure.analog_on_all, "palindrome", sizes.palindromes, monitor=False),
        ),
        PaperClaim(
            "4.3 (5)",
            "palindromes: the four words that the paper's analog net gets wrong",
            f"wrong on {', '.join(measure.MISTAKES)}",
            partial(measure.papers_mistakes, sizes),
        ),
        PaperClaim(
            "4.3 (6)",
            f"palindromes: quantised net on all words of length <= {sizes.quantised}",
            "0 errors on 21,523,359 words (length <= 15)",
            partial(measure.quantised_on_all, "palindrome", sizes.quantised),
        ),
        PaperClaim(
            "4.3 (6)",
            f"palindromes: action weights at three levels (eq. 28), states at two, length <= {sizes.quantised}",
            "0 errors on 21,523,359 words (length <= 15)",
            partial(measure.action_weights, sizes.quantised),
        ),
        PaperClaim(
            "4.3 (7)",
            f"palindromes: automaton on what the analog net gets wrong, length <= {sizes.quantised}",
            "recognises the language",
            partial(measure.automaton_on_mistakes, sizes),
        ),
        PaperClaim(
            "4.3 (5)",
            "palindromes: words of length 50 to 100",
            "errors add up and may misclassify words that are too long",
            partial(measure.long_words, "palindrome", sizes),
        ),
        *_state_claims("4.3 (7)", "palindromes", "palindrome", 2),
    )
    tables = tuple(
        PaperClaim("4.3 (5)", f"palindromes: steps on {', '.join(words)} ({name})", paper, partial(step_rows, words))
        for name, words, paper in (
            ("table 1", TABLE_1, "L 1.8805, illegal; S_N 0.9993, L 0.0318, legal; S_N 0.0054, L 3.6539, illegal"),
            ("table 2", TABLE_2, "L 1.0776, illegal: errors have added up"),
        )
    )
    title = "section 4, on the networks of the zoo"
    return Experiment("sun1993-claims", PAPER, title, (*claims, *tables), (measure.SEED,))


def training_experiment(sizes: Sizes = _PAPER_SIZES) -> Experiment:
    """Return what networks trained anew come to, by language."""
    reports = {
        "parentheses": ("4.1", "5 runs, all learn the set in about 100 epochs, with the pop-empty hint in 20"),
        "1n0n": ("4.2", "trained without the trap hint: next row"),
        "1n0n without hints": ("4.2", "one net: 100 epochs and 5 rounds of misclassified words, 0 errors <= 20"),
        "palindrome": ("4.3 (5)", "400 epochs, 4 errors on words <= 9; number of runs not reported"),
    }
    claims = tuple(
        PaperClaim(
            section,
            f"{recipe}: how many of {sizes.nets} seeds converge",
            paper,
            partial(measure.converged, recipe, sizes),
        )
        for recipe, (section, paper) in reports.items()
    )
    long_words = tuple(
        PaperClaim(
            reports[recipe][0],
            f"{recipe}: nets with an exact automaton, on words of length 50 to 100",
            paper,
            partial(measure.trained_on_long_words, recipe, sizes),
        )
        for recipe, paper in (
            ("parentheses", "analog net wrong on some, automaton right on all of these"),
            ("palindrome", "errors add up and may misclassify words that are too long"),
        )
    )
    rounds = tuple(
        PaperClaim(
            "4.2",
            f"{recipe}: rounds of misclassified words, 100 epochs each",
            paper,
            partial(measure.rounds, recipe, sizes),
        )
        for recipe, paper in (
            ("1n0n", "trained without the trap hint: next row"),
            ("1n0n without hints", "5 rounds: 6 words of length <= 8 misclassified, then 8 of length <= 9, …"),
        )
    )
    figures = tuple(
        PaperClaim(
            section,
            f"{recipe}: states before and after merging, {levels} levels a neuron",
            _FIGURES[recipe.split()[0]],
            partial(measure.trained_states, recipe, levels, sizes),
        )
        for section, recipe, levels in (
            ("4.1", "parentheses", 5),
            ("4.2", "1n0n", 2),
            *(("4.3 (7)", recipe, 2) for recipe in ("palindrome", measure.FOUR, measure.WIDE)),
        )
    )
    title = f"training {sizes.nets} networks anew by each recipe"
    return Experiment(
        "sun1993-training", PAPER, title, claims + rounds + long_words + figures, tuple(range(sizes.nets))
    )
