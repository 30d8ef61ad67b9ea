"""The summary that `extract-pda` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklens.automata.compare import Different, Equal
from stacklens.languages.words import format_word, make_word

if TYPE_CHECKING:
    from rich.console import Console

    from stacklens.automata.compare import Comparison
    from stacklens.automata.pda import Output, PushdownAutomaton
    from stacklens.extract.extraction import Extraction
    from stacklens.extract.verify import Agreement

__all__ = ["show_summary"]

_LONGEST_SHOWN = 200  # symbols of a counterexample; longer ones are in the report


def show_summary(result: Extraction, console: Console, transitions: bool) -> None:
    """Print what came out of a network and what it rests on; the transition table too if ``transitions``."""
    network = f"{result.model.name} over {' '.join(result.model.alphabet)}"
    language = "no language given" if result.language is None else f"language {result.language.name}"
    console.print(f"network    {network}; {language}")
    if result.automaton is None or result.raw is None:
        console.print(f"automaton  none: {result.reason}")
        return
    pda = result.automaton
    console.print(f"automaton  {_sizes(pda)}, {_count(len(pda.transitions), 'transition')}")
    console.print(f"           (before minimisation {_sizes(result.raw)}; found with {result.attempts[-1].quantiser})")
    rounding = result.fidelity.rounding
    console.print(
        f"rounding   changes {rounding.disagreements:,} of {rounding.words:,} verdicts; smallest action margin "
        f"{result.fidelity.action_margin:.3f}; {result.fidelity.minority_transitions or 0:.1%} of transitions outvoted"
    )
    for check in result.checks:
        _show_check(check, console)
    if result.stacks.dropped:
        why = ", ".join(f"stack {dropped.stack + 1} is {dropped.reason}" for dropped in result.stacks.dropped)
        console.print(f"stacks     {len(result.stacks.kept)} of {result.model.n_stacks} matter: {why}")
    if result.model.stack_limit is not None:
        console.print(f"depth      the network's stack has {result.model.stack_limit} cells; the claims end there")
    console.print(f"proof      {_proof(result.proof)}")
    if transitions:
        console.print(_transition_table(pda))


def _proof(proof: Comparison) -> str:
    if isinstance(proof, Equal):
        return "equal for all words (proof)"
    word = "" if proof.word is None else f", on {format_word(make_word(proof.word, proof.word)) or 'the empty word'}"
    return f"{'different' if isinstance(proof, Different) else 'unknown'}: {proof.reason}{word}"


def _show_check(check: Agreement, console: Console) -> None:
    words = {"exhaustive": f"all {check.words:,}", "long": f"{check.words:,}", "deep": f"{check.words:,} deep"}[
        check.kind
    ]
    console.print(
        f"checked    against the {check.other}: {_count(check.disagreements, 'disagreement')} on {words} words of "
        f"length <= {check.max_length:,}"
    )
    if check.counterexample is not None:
        shown = format_word(check.counterexample)
        if len(check.counterexample) > _LONGEST_SHOWN:
            shown = f"{shown[:60]}… ({len(check.counterexample):,} symbols; the report has all of it)"
        console.print(f"           they differ on {shown or 'the empty word'}", markup=False)


def _transition_table(pda: PushdownAutomaton) -> object:
    from rich.table import Table

    speaks = any(transition.output is not None for transition in pda.transitions.values())
    table = Table("state", "input", "top", "next", "operation", *(["output"] if speaks else []))
    for (state, symbol, tops), transition in pda.transitions.items():
        operations = ", ".join(map(str, transition.operations))
        said = [_output(transition.output)] if speaks else []
        table.add_row(_marked(pda, state), symbol, " ".join(tops), transition.target, operations, *said)
    return table


def _output(output: Output) -> str:
    return "" if output is None else output if isinstance(output, str) else "{" + " ".join(output) + "}"


def _marked(pda: PushdownAutomaton, state: str) -> str:
    start = "→ " if state == pda.initial else ""
    deciding = pda.acceptance in ("final state", "both") and pda.accepting != set(pda.states)
    return f"{start}{state}{' (accepting)' if deciding and state in pda.accepting else ''}"


def _sizes(pda: PushdownAutomaton) -> str:
    stacks = "" if pda.n_stacks == 1 else f", {pda.n_stacks} stacks"
    return f"{_count(len(pda.states), 'state')}, {_count(len(pda.stack_alphabet), 'stack symbol')}{stacks}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
