"""The grammar of a deterministic pushdown automaton, by the triple construction.

A nonterminal is a state and a stack cell: what is read from there until the cell is popped, in a given state, or to the
end of an accepted word, with the cell still there. As the automaton is deterministic, the grammar is unambiguous.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from stacklens.automata.compare import is_empty
from stacklens.automata.completion import accepting_by_state
from stacklens.automata.epsilon import real_time_form
from stacklens.automata.grammar import Grammar, GrammarSymbol, Nonterminal, Rule
from stacklens.automata.pda import PushdownAutomaton, StackOp, State, Symbol, Transition
from stacklens.automata.reachability import trim
from stacklens.automata.rewriting import drop_end_marker
from stacklens.automata.small_grammar import small_grammar
from stacklens.errors import AutomatonError

__all__ = ["grammar_of", "readable_grammar"]

_Head = tuple[State, Symbol]
_Returns = dict[_Head, dict[State, None]]
_MOST_RULES, _MOST_WAYS = 100_000, 2_000_000  # of a grammar, and looked at on the way to it
_TOO_LARGE = f"the language's grammar has more than {_MOST_RULES:,} rules: give a smaller automaton"


def grammar_of(pda: PushdownAutomaton) -> Grammar:
    """Return an unambiguous grammar of the words that ``pda`` accepts.

    Raises:
        AutomatonError: more than one stack, acceptance by output, or an end marker that cannot be dropped.
        StacklensError: no word is accepted.

    >>> from stacklens.languages.dyck import Dyck
    >>> len(grammar_of(Dyck(1).automaton).rules)
    4
    """
    if pda.n_stacks != 1 or pda.acceptance == "output":
        found = "acceptance by output" if pda.n_stacks == 1 else f"{pda.n_stacks} stacks"
        raise AutomatonError(f"a language needs one stack and acceptance by state or stack, not {found}")
    plain = drop_end_marker(real_time_form(pda, "a grammar needs"))
    if plain is None:
        raise AutomatonError("what the end marker accepts depends on more than state and top: give it without a marker")
    rules = tuple(islice(_Triples(trim(plain)).rules(), _MOST_RULES + 1))
    if len(rules) > _MOST_RULES:
        raise AutomatonError(_TOO_LARGE)
    return Grammar(rules, _name(pda.initial, pda.bottom), pda.input_alphabet)


def readable_grammar(pda: PushdownAutomaton) -> Grammar:
    """Return a small grammar of the words that ``pda`` accepts, unambiguous, with names such as S and A.

    Raises:
        AutomatonError: more than one stack, no recogniser, no word accepted, or an end marker that cannot be dropped.
        StacklensError: the grammar is too large.

    >>> from stacklens.languages.dyck import Dyck
    >>> print(readable_grammar(Dyck(2).automaton))
    S -> ( S ) S | [ S ] S | ε
    """
    if pda.n_stacks != 1:
        raise AutomatonError(f"a grammar can be written of an automaton with one stack; this one has {pda.n_stacks}")
    speaks = any(step.output is not None for step in pda.transitions.values())
    if speaks and pda.acceptance == "final state" and pda.accepting == set(pda.states):
        raise AutomatonError("a grammar can be written of a recogniser; this automaton answers whatever it reads")
    pda = real_time_form(pda, "a grammar needs")
    if is_empty(pda):
        raise AutomatonError("no grammar can be written: the automaton accepts no word")
    return small_grammar(grammar_of(accepting_by_state(pda)))


class _Triples:
    def __init__(self, pda: PushdownAutomaton) -> None:
        self.pda = pda
        self.moves: dict[_Head, list[tuple[Symbol, Transition]]] = defaultdict(list)
        for (state, symbol, (top,)), step in pda.transitions.items():
            self.moves[state, top].append((symbol, step))
        self.returns = self._find_returns()

    def _find_returns(self) -> _Returns:
        """Return, for each head, the states in which its cell can be popped, in an order that is always the same."""
        returns: _Returns = defaultdict(dict)
        size, ways = -1, 0
        while size < sum(map(len, returns.values())):
            size = sum(map(len, returns.values()))
            for head, moves in self.moves.items():
                for _, step in moves:
                    ends = [end for _, end in self._ways(head[1], step, returns)]
                    returns[head] |= {end: None for end in ends if end is not None}
                    ways += len(ends)
                    if ways > _MOST_WAYS:
                        raise AutomatonError(_TOO_LARGE)
        return returns

    def _ways(
        self, cell: Symbol, step: Transition, returns: _Returns
    ) -> Iterator[tuple[tuple[Nonterminal, ...], State | None]]:
        """Yield what is read after a step, as nonterminals, and the state in which ``cell`` is popped then, or None."""
        operation: StackOp = step.operations[0]
        target = step.target
        if operation.pop and operation.push is None:
            yield (), target
            return
        here = operation.push or cell
        if operation.push is None or operation.pop:  # the cell is there, or another in its place
            yield (_name(target, here),), None
            yield from (((_name(target, here, end),), end) for end in list(returns[target, here]))
            return
        yield (_name(target, here),), None
        for middle in list(returns[target, here]):
            inner = _name(target, here, middle)
            yield (inner, _name(middle, cell)), None
            yield from (((inner, _name(middle, cell, end)), end) for end in list(returns[middle, cell]))

    def rules(self) -> Iterator[Rule]:
        for state in self.pda.states:
            for cell in (self.pda.bottom, *self.pda.stack_alphabet):
                if self._accepts(state, cell):
                    yield _name(state, cell), ()
                for symbol, step in self.moves[state, cell]:
                    for after, end in self._ways(cell, step, self.returns):
                        right: tuple[GrammarSymbol, ...] = (symbol, *after)
                        yield _name(state, cell, end), right

    def _accepts(self, state: State, cell: Symbol) -> bool:
        empty, final = cell == self.pda.bottom, state in self.pda.accepting
        return {"final state": final, "empty stack": empty, "both": final and empty}[self.pda.acceptance]


def _name(state: State, cell: Symbol, end: State | None = None) -> Nonterminal:
    return Nonterminal(repr((state, cell) if end is None else (state, cell, end)))
