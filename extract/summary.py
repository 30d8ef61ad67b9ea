"""The summary that `extract-pda` prints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ..automata.compare import Equal
from ..automata.formats.dot import to_svg
from ..automata.pda import PushdownAutomaton, output_text, transition_rows
from ..core.progress import count
from ..languages.language import format_word
from . import wording
from .claims import claims_of, headline

if TYPE_CHECKING:
    from rich.console import Console

    from .agreement import Agreement
    from .result import Extraction
    from .verification.divergence import Divergence

    Line = Callable[..., None]  # prints a claim under a label


_AROUND = 8  # steps shown before two runs part
_DIFFERS = "words on which the automaton differs from the"
_LONGEST_SHOWN = 200  # symbols of a counterexample; longer ones are in the report
_MOST_MERGED = 24  # states before minimisation that are listed
_WIDTH = 200  # of a summary as text, for its tables
_MOST_ROWS = 40  # of the transition table
_LABELS = {"counted twice": "counted", "unseen stacks": "stacks", "certificate": "certified"}


def show_summary(result: Extraction, console: Console, transitions: bool) -> None:
    """Print what came out of a network and what it rests on; the transition table too if ``transitions``."""
    report = result.report()
    claims, boxed = claims_of(report, asides=True), wording.is_boxed(report)

    def line(label: str, says: object, entry: str | None = None) -> None:
        """Print what rests on one ``entry`` of the report, which may be as stored."""
        mark = f" ({wording.AS_STORED})" if entry in report["as_stored"] else ""
        console.print(f"{label:10} {says}{mark}", markup=False)

    def show(*names: str) -> None:
        """Print the claims called so, under their labels."""
        for name in names:
            for claim in claims:
                if claim.what == name:
                    line(_LABELS.get(name, name), claim.in_brief)

    console.print(f"{wording.as_sentence(headline(report))}\n", markup=False)
    if result.as_stored:
        says = f"read from a file: what is marked ({wording.AS_STORED}) was not shown again"
        says += "".join(f"; the file claims {one}, which could not be shown" for one in report["refuted"])
        reason = None if result.loaded is None else result.loaded.reason
        line("stored", says if reason is None else f"{says}: {reason}")
    show("network", "threshold")
    if result.minimised is None:
        show("automaton", "best")
        return
    show("seen as", "automaton")
    # what it was made of
    (size,) = (claim for claim in claims if claim.what == "automaton")
    way = "" if result.found is None else f"; {wording.found_claim(result.found.method, result.found.quantiser)}"
    line("", f"({size.words.removeprefix(f'{size.brief}; ')}{way})", "method")
    merged = {} if result.merged is None else result.merged.states
    if len(set(merged.values())) < len(merged) <= _MOST_MERGED:
        line("merged", wording.merged_claim(merged))
    _show_splits(result, line)
    show("second", "black box", "rounding")
    # what words have shown
    horizons = [claim for claim in claims if claim.evidence.startswith("horizon.")]
    for number, claim in enumerate(horizons):
        line("" if number else "horizon", claim.in_brief)
        if (word := wording.whole_word(report["horizon"][claim.evidence.removeprefix("horizon.")])) is not None:
            line("", f"in full: {word}")  # to be pasted, so without a mark
    proved = {other for other, found in result.horizon.items() if found.shown_by == "certificate"}
    proved |= {"language"} if isinstance(result.proof, Equal) else set()
    checks = result.checks
    if boxed:
        checks = tuple(replace(one, other="black box") if one.other == "network" else one for one in checks)
        checks = tuple(check for check in checks if check.other != "rounded network")
    _show_checks(checks, line, ("black box",) if boxed else report["horizon"], proved)
    show("tested", "counted twice")
    if result.divergence is not None:
        _show_divergence(result.divergence, line, console, "the black box" if boxed else "the rounded network")
    show("drift", "caution", "budget", "unseen stacks")
    _show_stacks(result, line)
    # what is shown of all words
    show("depth", "proof", "certificate")
    for number, part in enumerate(str(result.causality or "").splitlines()):
        line("" if number else "causal", part, "causality")
    if transitions:
        _show_transitions(result.automaton, line, console, result.network.task_kind == "recognition")


def result_in_one_line(result: Extraction) -> str:
    """Return a result in one line: of what, how large the automaton is, and what came of the checks."""
    of, pda = f"Extraction of {result.network.name}", result.minimised
    if pda is None:
        return f"<{of}: {headline(result.report())}>"
    report = result.report()
    return f"<{of}: {wording.automaton_claim(report['automaton'], pda.n_stacks)}; {headline(report, brief=True)}>"


def summary_text(result: Extraction, transitions: bool = True) -> str:
    """Return the summary as text; the transition table too if ``transitions``."""
    from io import StringIO

    from rich.console import Console

    text = StringIO()
    plain = Console(file=text, width=_WIDTH, highlight=False, soft_wrap=True, markup=False, emoji=False, no_color=True)
    show_summary(result, plain, transitions)
    return text.getvalue().rstrip("\n")


def summary_html(result: Extraction) -> str:
    """Return the drawing of the automaton over the summary and the checks, for a page."""
    from html import escape

    drawing = "" if result.minimised is None else to_svg(result.automaton)
    return f"<div>{drawing}<pre>{escape(summary_text(result, transitions=False))}</pre></div>"


def _show_checks(checks: Sequence[Agreement], line: Line, shown: Collection[str], proved: Collection[str]) -> None:
    """Print on how many words, unless ``proved``, the automaton differs from what, and a word if none is ``shown``."""
    others = list(dict.fromkeys(check.other for check in checks))
    rows: dict[tuple[str, int], dict[str, Agreement]] = {}
    for check in checks:
        same = 0 if check.kind == "pumped" else check.max_length  # a language is asked about shorter words
        rows.setdefault((check.kind, same), {})[check.other] = check
    titles = []
    for row in rows.values():
        check = max(row.values(), key=lambda check: check.max_length)
        much = count(check.words, "cycle") if check.kind == "pumped" else f"{check.words:,}"
        words = f"all {much}" if check.kind == "exhaustive" else f"{much} {wording.KINDS[check.kind][1]}".strip()
        titles.append(f"{words} of length <= {check.max_length:,}")
    width = max(map(len, [_DIFFERS, *titles]), default=0)
    line("checked", f"{_DIFFERS:{width}}  {'  '.join(others)}" if others else "on no word", "checks")
    for title, row in zip(titles, rows.values(), strict=True):
        unread = {other: "proved" if other in proved else "–" for other in others}
        cells = {**unread, **{other: f"{check.disagreements:,}" for other, check in row.items()}}
        line("", f"{title:{width}}  {'  '.join(f'{cells[other]:>{len(other)}}' for other in others)}", "checks")
    for check in checks:
        if check.counterexample is not None and check.other not in shown:
            made = "" if check.made_of is None else f", {check.made_of}"
            word, size = wording.word_named(format_word(check.counterexample)), len(check.counterexample)
            word = f"{word[:60]}… ({size:,} symbols; the report has all of it)" if size > _LONGEST_SHOWN else word
            line("", f"from the {check.other} on {word}{made}", "checks")


def _show_stacks(result: Extraction, line: Line) -> None:
    """Print which stacks are none of the automaton's, and why; those of a view by what they are in the memory."""
    use, view = result.stacks, result.view
    numbers = range(result.network.n_stacks) if view is None else range(len(view.stacks))
    names = {number: f"stack {number + 1}" if view is None else view.stacks[number] for number in numbers}
    if use.dropped:  # a file that was changed may name others than there are
        why = ", ".join(f"{names.get(one.stack, 'another')} is {one.reason}" for one in use.dropped)
        line("stacks", f"{len(use.kept)} of {len(names)} matter: {why}", "stacks")
    if use.push_only:
        pushing = ", ".join(names.get(stack, "another").removeprefix("stack ") for stack in use.push_only)
        line("stacks", f"{pushing} only push: what is seen of them counts as state", "stacks")


def _show_splits(result: Extraction, line: Line) -> None:
    refined = [candidate for candidate in result.candidates if candidate.split is not None]
    splits = [candidate.split for candidate in refined if candidate.split is not None and candidate.way == "refinement"]
    if splits:
        last = splits[-1]
        much = f"{count(splits[0].before, 'disagreement')} before, {refined[-1].disagreements or 0:,} after"
        head = f"({last.state}, {' '.join(last.tops)}) reading {last.letter or 'the end'}"
        says = f"{count(len(splits), 'split')}: {much}; the last split {last.kind} {last.name} at {head}"
        line("refined", says, "attempts")


def _show_divergence(found: Divergence, line: Line, console: Console, other: str) -> None:
    word = wording.word_shown(format_word(found.word), len(found.word))
    says = f"step {found.first + 1}" if found.first is not None else f"no step of {word}"
    if found.accepted != found.network_accepts:
        mine, theirs = ("accepts", "rejects") if found.accepted else ("rejects", "accepts")
        says = f"{says}; the automaton {mine} this word, {other} {theirs} it"
    line("runs", f"automaton and {other.removeprefix('the ')} part at {says}", "divergence")
    if not found.moments:
        return
    from rich.table import Table

    middle = len(found.moments) - 1 if found.first is None else found.first
    speaks = any(moment.network_output is not None for moment in found.moments)
    outputs = ("output", "its output") if speaks else ()
    table = Table("step", "input", "state", "top", "operation", "next", *outputs[:1], "network", "margin", *outputs[1:])
    for step, moment in islice(enumerate(found.moments), max(0, middle - _AROUND), middle + 3):
        made = ", ".join(map(str, moment.operations)) if moment.operations else "rejects"
        theirs = "rejects" if moment.rejected else ", ".join(moment.network_operations)
        outputs_of = (output_text(moment.output), output_text(moment.network_output)) if speaks else ()
        number = f"{'→ ' if step == found.first else ''}{step + 1}"
        head = moment.state or "", " ".join(moment.tops)
        run = (*head, made, moment.target or "") if moment.state is not None else ("", "", "", "")
        table.add_row(number, moment.symbol, *run, *outputs_of[:1], theirs, f"{moment.margin:.3f}", *outputs_of[1:])
    console.print(table)


def _show_transitions(pda: PushdownAutomaton, line: Line, console: Console, recogniser: bool) -> None:
    from rich.table import Table

    heading, *rows = transition_rows(pda)
    table = Table(*heading)
    deciding = pda.acceptance in ("final state", "both") and pda.accepting != set(pda.states)
    for state, *cells in rows[:_MOST_ROWS]:
        named = f"{'→ ' if state == pda.initial else ''}{state}"
        named += " (accepting)" if deciding and state in pda.accepting else ""
        table.add_row(named, *cells)
    console.print(table)
    if (more := len(pda.transitions) - _MOST_ROWS) > 0:
        line("", f"and {count(more, 'transition')} more: print(result.automaton) has all, --out pda.svg draws them")
    if not recogniser:
        return
    some = [state for state in pda.states if state in pda.accepting]
    where = f"in {', '.join(some) or 'no state'}" if len(some) <= _MOST_MERGED else f"in {len(some):,} of its states"
    where = "in any state" if len(some) == len(pda.states) else where
    empty = "with an empty stack" if pda.n_stacks < 2 else "with empty stacks"
    ways = {"final state": where, "empty stack": empty, "both": f"{where}, {empty}"}
    line("accepts", ways.get(pda.acceptance, "by its output"))
