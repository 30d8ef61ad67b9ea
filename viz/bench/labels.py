"""What stands at the edges of a drawing: rules that differ only in the top, or in the symbol read, are one line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from stacklens.automata.formats.dot import rule
from stacklens.automata.pda import Output, PushdownAutomaton, StackOp, Symbol
from stacklens.automata.reachability import reachable_heads
from stacklens.progress import count

__all__ = ["MOST_LINES", "Edge", "edges_of", "quoted"]

MOST_LINES = 6  # of an edge's label; what has more is folded to a number
_ROOMY = 14  # lines of the only edge, which has all the room
_IN_NAMES = "/⊥_-"  # beside letters and digits; states and stack symbols that were merged are called so
_ANY, _FILLED = "any", "not ⊥"
_Box = tuple[frozenset[Symbol], ...]


@dataclass(frozen=True)
class Edge:
    """The rules from one state to another.

    Attributes:
        source, target: numbers of states in ``pda.states``.
        lines: the label, a line a group of rules, with the numbers of its rules in ``pda.transitions``; a single line
            that says how many rules there are where they would be too many.
        rules: every rule as a line of its own, with its number.
        folded: whether the label says only how many.
    """

    source: int
    target: int
    lines: tuple[tuple[str, tuple[int, ...]], ...]
    rules: tuple[tuple[str, int], ...]
    folded: bool


def quoted(symbol: Symbol) -> str:
    """Return how a symbol is written in a label: in quotes where it could be taken for the label's own punctuation.

    >>> quoted("a"), quoted("("), quoted(" "), quoted("s1/⊥")
    ('a', '"("', '" "', 's1/⊥')
    """
    named = len(symbol) > 1 and symbol[0].isalnum() and all(one.isalnum() or one in _IN_NAMES for one in symbol)
    return symbol if symbol.isalnum() or named or symbol in ("⊥", "⊣") else f'"{symbol}"'


def edges_of(pda: PushdownAutomaton, most: int | None = None, outputs: bool = True) -> list[Edge]:
    """Return what joins the states of ``pda``.

    "any" stands for every symbol that can lie on top in a state, "not ⊥" for every one but the bottom; which can,
    `reachable_heads` says, for one stack exactly. Outputs are left out where that makes a label short enough.

    Args:
        pda: the automaton.
        most: how many lines a label has at most; None for as many as can be read.
        outputs: whether labels have outputs at all.

    >>> from stacklens.automata.pda import NONE, Transition
    >>> steps = {("q", "(", (top,)): Transition("q", (NONE,)) for top in ("⊥", "x")}
    >>> pda = PushdownAutomaton(("q",), ("(",), ("x",), steps, "q")
    >>> [edge.lines for edge in edges_of(pda)]
    [(('"(", any → none', (0, 1)),)]
    """
    places = {state: number for number, state in enumerate(pda.states)}
    between = defaultdict(list)
    for number, (key, step) in enumerate(pda.transitions.items()):
        between[places[key[0]], places[step.target]].append(number)
    tops = _tops(pda)
    if most is None:
        most = MOST_LINES if len(between) > 1 else _ROOMY
    return [_edge(pda, ends, numbers, tops, most, outputs) for ends, numbers in between.items()]


def _tops(pda: PushdownAutomaton) -> dict[str, list[frozenset[Symbol]]]:
    """Return by state what can lie on top of each stack."""
    everything = frozenset((pda.bottom, *pda.stack_alphabet))
    found = {state: [set[Symbol]() for _ in range(pda.n_stacks)] for state in pda.states}
    for state, read in reachable_heads(pda):
        for stack, top in enumerate(read):
            found[state][stack].add(top)
    return {state: [frozenset(one) & everything for one in stacks] for state, stacks in found.items()}


def _edge(
    pda: PushdownAutomaton,
    ends: tuple[int, int],
    numbers: list[int],
    tops: dict[str, list[frozenset[Symbol]]],
    most: int,
    outputs: bool,
) -> Edge:
    items = list(pda.transitions.items())
    there = tops[pda.states[ends[0]]]
    rules = tuple((rule(*items[number]), number) for number in numbers)
    for with_outputs in (True, False) if outputs else (False,):
        lines = _lines(pda, numbers, there, with_outputs)
        if len(lines) <= most:
            return Edge(*ends, lines, rules, folded=False)
    return Edge(*ends, ((count(len(numbers), "rule"), tuple(numbers)),), rules, folded=True)


def _lines(
    pda: PushdownAutomaton, numbers: list[int], there: Sequence[frozenset[Symbol]], outputs: bool
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    items = list(pda.transitions.items())
    groups: dict[tuple[Symbol, tuple[StackOp, ...], Output], list[int]] = defaultdict(list)
    for number in numbers:
        key, step = items[number]
        groups[key[1], step.operations, step.output if outputs else None].append(number)
    merged: dict[tuple[str, str], tuple[list[Symbol], list[int]]] = {}
    for (symbol, operations, output), some in groups.items():
        for box, mine in _boxes([(items[number][0][2], number) for number in some]):
            said = ", ".join(_top(part, all_, pda.bottom) for part, all_ in zip(box, there, strict=True))
            does = f"{', '.join(map(_operation, operations))}{'' if output is None else f' / {_output(output)}'}"
            symbols, rules = merged.setdefault((said, does), ([], []))
            symbols.append(symbol)
            rules += mine
    return tuple(
        (f"{' '.join(quoted(symbol) if symbol else 'ε' for symbol in dict.fromkeys(symbols))}, {said} → {does}",
         tuple(rules))
        for (said, does), (symbols, rules) in merged.items()
    )  # fmt: skip


def _boxes(heads: list[tuple[tuple[Symbol, ...], int]]) -> list[tuple[_Box, list[int]]]:
    """Return products of sets that hold the tops of ``heads`` between them: those that differ in one stack are one."""
    boxes = [(tuple(frozenset((top,)) for top in tops), [number]) for tops, number in heads]
    for stack in range(len(heads[0][0])):
        joined: dict[_Box, tuple[frozenset[Symbol], list[int]]] = {}
        for box, numbers in boxes:
            rest = (*box[:stack], frozenset[Symbol](), *box[stack + 1 :])
            before, mine = joined.get(rest, (frozenset(), []))
            joined[rest] = before | box[stack], [*mine, *numbers]
        boxes = [((*rest[:stack], part, *rest[stack + 1 :]), mine) for rest, (part, mine) in joined.items()]
    return boxes


def _top(part: frozenset[Symbol], there: frozenset[Symbol], bottom: Symbol) -> str:
    if len(part) > 1 and part >= there:
        return _ANY
    if len(part) > 1 and bottom not in part and part >= there - {bottom}:
        return _FILLED
    return "|".join(quoted(symbol) for symbol in sorted(part))


def _operation(operation: StackOp) -> str:
    return operation.name if operation.push is None else f"{operation.name} {quoted(operation.push)}"


def _output(output: Output) -> str:
    symbols = output if isinstance(output, tuple) else (output or "none",)
    return " ".join(map(quoted, symbols)) or "∅"
