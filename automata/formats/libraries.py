"""An automaton as AALpy's visibly pushdown automaton (`Vpa`), and back (the optional extra "interop").

AALpy's Vpa accepts in an accepting state with an empty stack and looks at the top only to pop. Although the name
forbids it, its Vpa may push and pop on one symbol, depending on the state, as strong as ours but for acceptance.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import TYPE_CHECKING, Any

from ...core.errors import AutomatonError, fresh, needing, unique
from ..finite import finite_form
from ..pda import NONE, POP, Key, PushdownAutomaton, State, Symbol, Transition, push, rule
from ..rewriting import require_real_time, with_visible_top
from ..summaries import cells_after, heads, trim
from .textbook import TextbookAutomaton, TextbookRule, check_recogniser, from_textbook

if TYPE_CHECKING:
    import networkx
    from aalpy.automata import Sevpa, Vpa
    from automata.pda.dpda import DPDA

_Entry = tuple[State, str | None, Symbol | None]  # target, "push", "pop" or None, and the symbol pushed or popped
_Row = dict[Symbol, list[_Entry]]
_ERROR = "ErrorSinkState"  # AALpy's own, in which a run that has no transition stays


def to_aalpy(pda: PushdownAutomaton) -> Vpa:
    """Return the automaton as AALpy's `Vpa`, without what no run can reach; `accepts` there takes a list of symbols.

    States stay where only pops depend on the top. Otherwise they are (state, top) pairs, and the stack holds what lies
    below the top, as in `with_visible_top`. Raises AutomatonError: several stacks, outputs, an end marker, or
    acceptance with symbols left on the stack; StacklensError: AALpy is not installed.
    """
    check_recogniser(pda, "AALpy's Vpas")
    require_real_time(pda, "AALpy's Vpa needs")
    if pda.acceptance == "final state":
        raise AutomatonError('AALpy\'s Vpa accepts with an empty stack only, this automaton by "final state"')
    module = _aalpy()
    pda = trim(pda)
    rows = _vpa_rows(pda)
    if rows is None:
        pda = with_visible_top(pda)
        rows = _vpa_rows(pda)
        assert rows is not None, "where the state shows the top, only pops depend on what lies below"
    accepting = pda.states if pda.acceptance == "empty stack" else pda.accepting
    names = unique({state: state for state in pda.states}, {_ERROR})
    setup = {
        names[state]: (state in accepting, {x: [(names[to], *how) for to, *how in row[x]] for x in row})
        for state, row in rows.items()
    }
    # symbols by what they do, some of them in two places; those that do nothing are internal
    kinds: dict[str | None, list[Symbol]] = {None: [], "push": [], "pop": []}
    for symbol in pda.input_alphabet:
        actions = {action for row in rows.values() for _, action, _ in row.get(symbol, [])}
        for action in actions or {None}:
            kinds[action].append(symbol)
    alphabet = module.VpaAlphabet(kinds[None], kinds["push"], kinds["pop"])
    vpa: Vpa = module.Vpa.from_state_setup(setup, init_state_id=names[pda.initial], input_alphabet=alphabet)
    return vpa


def from_aalpy(vpa: Vpa | Sevpa) -> PushdownAutomaton:
    """Return AALpy's `Vpa`, or its 1-SEVPA, as an automaton of ours that accepts the same words. States and stack
    symbols that are no strings are called as Python shows them. Raises AutomatonError: another kind of automaton, or a
    symbol that is no string; StacklensError: AALpy is not installed.
    """
    module = _aalpy()
    if isinstance(vpa, module.Sevpa):
        from aalpy.automata.Vpa import vpa_from_sevpa

        vpa = vpa_from_sevpa(vpa)
    if not isinstance(vpa, module.Vpa):
        raise AutomatonError(f"expected a Vpa or Sevpa of AALpy, found {type(vpa).__name__}")
    states = [state for state in vpa.states if state.state_id != _ERROR]
    letters = tuple(dict.fromkeys(vpa.input_alphabet.get_merged_alphabet()))
    if others := [letter for letter in letters if not isinstance(letter, str)]:
        raise AutomatonError(f"symbols must be strings, found {others[0]!r}")
    edges = [edge for state in states for edges in state.transitions.values() for edge in edges]
    cells = unique({edge.stack_guard: _python_name(edge.stack_guard) for edge in edges if edge.action == "push"})
    names = unique({state.state_id: _python_name(state.state_id) for state in states})
    bottom = fresh("⊥", cells.values())
    transitions: dict[Key, Transition] = {}
    rows = [(names[state.state_id], *row) for state in states for row in state.transitions.items()]
    for (state, symbol, given), (guard, top) in product(rows, [*cells.items(), (None, bottom)]):
        # AALpy takes the first edge that is no pop, or pops what lies on top
        fit = (e for e in given if e.action != "pop" or (top != bottom and e.stack_guard == guard))
        step = next(fit, None)
        if step is not None and step.target_state.state_id in names:
            operation = {"pop": POP, "push": push(cells.get(step.stack_guard, ""))}.get(step.action, NONE)
            transitions[state, symbol, (top,)] = Transition(names[step.target_state.state_id], (operation,))
    return PushdownAutomaton(
        states=tuple(names.values()),
        input_alphabet=letters,
        stack_alphabet=tuple(cells.values()),
        transitions=transitions,
        initial=names[vpa.initial_state.state_id],
        accepting=frozenset(names[state.state_id] for state in states if state.is_accepting),
        bottom=bottom,
    )


def _aalpy() -> Any:
    with needing("AALpy", "interop"):
        import aalpy.automata
    return aalpy.automata


def _vpa_rows(pda: PushdownAutomaton) -> dict[State, _Row] | None:
    """Return the entries of every state, None where more than pops depends on the top. AALpy takes the first entry that
    is no pop, or pops the top: so pops come first.
    """
    tops: dict[State, list[Symbol]] = {state: [] for state in pda.states}
    for state, (top,) in sorted(heads(pda).reading):
        tops[state].append(top)
    rows: dict[State, _Row] = {}
    for state in pda.states:
        rows[state] = {}
        for symbol in pda.input_alphabet:
            pops: list[_Entry] = []
            others: dict[_Entry | None, None] = {}
            for top in tops[state]:
                step = pda.transitions.get((state, symbol, (top,)))
                operation = NONE if step is None else step.operations[0]
                if step is None:
                    others[None] = None
                elif operation.name == "pop":
                    pops.append((step.target, "pop", top))
                elif operation.name == "replace":
                    return None
                else:
                    others[step.target, "push" if operation.push else None, operation.push] = None
            if len(others) > 1:
                return None
            if entries := [*pops, *(entry for entry in others if entry is not None)]:
                rows[state][symbol] = entries
    return rows


def _python_name(given: Hashable) -> str:
    return given if isinstance(given, str) and given else repr(given)


# ---- An automaton as automata-lib's DPDA, and back (the optional extra "interop") ----

_Move = tuple[str, Symbol, Symbol, str, tuple[Symbol, ...]]  # state, symbol read, top, target, what replaces the top
_AUTOMATA_LIB = "automata-lib (no folder called automata may stand where Python starts)"


def to_automata_lib(pda: PushdownAutomaton) -> DPDA:
    """Return the automaton as automata-lib's DPDA without lambda steps; it accepts by final state.

    With acceptance "final state" states and symbols stay. An empty stack cannot be tested there without a lambda step,
    which its DPDAs may not have beside others: so for the other two the lowest symbol on the stack is a primed one, and
    each state is two, the stack being empty ("q") or not ("q, open"). Words with symbols of several characters are
    given to it as tuples; a symbol outside the alphabet is rejected there, without a word. Raises AutomatonError:
    several stacks, outputs or an end marker, which a DPDA does not have; StacklensError: automata-lib is not installed.
    """
    check_recogniser(pda, "automata-lib's DPDAs")
    require_real_time(pda, "A DPDA without traps needs")
    # where the stack is to be empty, states tell that, by a lowest symbol that looks different
    lowest = unique({symbol: f"{symbol}'" for symbol in pda.stack_alphabet}, {pda.bottom, *pda.stack_alphabet})
    opened = unique({state: f"{state}, open" for state in pda.states}, pda.states)
    moves: list[_Move] = []
    for (state, symbol, (top,)), step in pda.transitions.items():
        target, laid = step.target, cells_after(step.operations[0], top)[::-1]
        if pda.acceptance == "final state":
            moves.append((state, symbol, top, target, laid))
        elif top == pda.bottom:
            under = (*(lowest[symbol] for symbol in laid[:-1]), top)
            moves.append((state, symbol, top, target if len(laid) == 1 else opened[target], under))
        else:
            moves.append((opened[state], symbol, top, opened[target], laid))
            under = (*laid[:-1], lowest[laid[-1]]) if laid else ()
            moves.append((opened[state], symbol, lowest[top], (opened[target] if laid else target), under))
    states = (*pda.states, *(part for move in moves for part in (move[0], move[3])))
    # automata-lib wants the initial state to have a row
    transitions: dict[str, dict[Symbol, dict[Symbol, Any]]] = {state: {} for state in states}
    for state, symbol, top, target, laid in moves:
        transitions[state].setdefault(symbol, {})[top] = (target, laid or "")
    return _dpda()(
        states=set(states),
        input_symbols=set(pda.input_alphabet),
        stack_symbols={pda.bottom, *pda.stack_alphabet, *(symbol for move in moves for symbol in (move[2], *move[4]))},
        transitions=transitions,
        initial_state=pda.initial,
        initial_stack_symbol=pda.bottom,
        final_states=set(pda.states if pda.acceptance == "empty stack" else pda.accepting),
        acceptance_mode="final_state",
    )


def from_automata_lib(dpda: DPDA) -> PushdownAutomaton:
    """Return a DPDA of automata-lib as an automaton of ours that accepts the same words.

    Names stay where they can; states and symbols stand in alphabetical order, since sets have none. Raises
    AutomatonError: no DPDA, a name that is no string, or lambda steps other than at the start or the end of a word (see
    `textbook`); StacklensError: automata-lib is not installed.
    """
    if not isinstance(dpda, _dpda()):
        raise AutomatonError(f"expected a DPDA of automata-lib, found {type(dpda).__name__}")
    names = [*dpda.states, *dpda.input_symbols, *dpda.stack_symbols]
    if others := [name for name in names if not isinstance(name, str) or not name]:
        raise AutomatonError(f"states and symbols must be called by strings, found {others[0]!r}")
    rules = [
        TextbookRule(source, read, (top,), target, tuple(laid))
        for source, row in dpda.transitions.items()
        for read, tops in row.items()
        for top, (target, laid) in tops.items()
    ]
    return from_textbook(
        TextbookAutomaton(
            states=tuple(sorted(dpda.states)),
            initial=dpda.initial_state,
            final=frozenset(dpda.final_states if dpda.acceptance_mode != "empty_stack" else ()),
            start=dpda.initial_stack_symbol,
            rules=tuple(sorted(rules, key=str)),
            accepts_empty=dpda.acceptance_mode != "final_state",
            alphabet=tuple(sorted(dpda.input_symbols)),
        )
    )


def _dpda() -> type[DPDA]:
    with needing(_AUTOMATA_LIB, "interop"):
        from automata.pda.dpda import DPDA
    kind: type[DPDA] = DPDA
    return kind


def from_regex(text: str) -> PushdownAutomaton:
    """Return the automaton of a regular expression as automata-lib writes them, over the letters in it. ``.`` is each
    of these letters. The stack stays empty; states are numbers. Raises AutomatonError: it is no such expression, or has
    no letters; StacklensError: automata-lib is not installed.
    """
    with needing(_AUTOMATA_LIB, "interop"):
        from automata.base.exceptions import AutomatonException, RegexException
        from automata.fa.dfa import DFA
        from automata.fa.nfa import NFA
    text = text.strip()
    try:
        parts = DFA.from_nfa(NFA.from_regex(text.replace(".", "()")))  # counts as in a{2} are no letters
        letters = {letter for row in parts.transitions.values() for letter in row}
        found = finite_form(DFA.from_nfa(NFA.from_regex(text, input_symbols=letters))).trimmed()
    except (AutomatonException, RegexException) as error:
        raise AutomatonError(f"{text!r} is no regular expression, such as (a|b)*c: {error}") from None
    if not letters:
        which = "the empty word alone" if found.accepting else "no word"
        raise AutomatonError(f"{text!r} stands for {which}; expected one with letters, such as (a|b)*c")
    steps: dict[Key, Transition] = {
        (state, x, ("⊥",)): Transition(target, (NONE,)) for (state, x), target in found.transitions.items()
    }
    return PushdownAutomaton(
        found.states, tuple(sorted(letters)), (), steps, found.initial, found.accepting, "final state"
    )


# ---- An automaton as a networkx graph, for components, paths or another drawing ----


def to_networkx(pda: PushdownAutomaton) -> networkx.MultiDiGraph[str]:
    """Return the graph of states: a node a state, an edge a transition. Nodes have ``initial`` and ``accepting``; edges
    have ``symbol``, ``tops``, ``operations`` (one `StackOp` a stack), ``output`` and ``label`` ("input, top →
    operation"); everything else of the automaton is in ``graph.graph``.

    >>> from stacklens.languages.classic import Dyck
    >>> [label for _, _, label in to_networkx(Dyck(1).automaton).edges(data="label")]
    ['(, ⊥ → push (', '(, ( → push (', '), ( → pop']
    """
    import networkx  # slow to import, and the automaton itself does not need it

    names = ["input_alphabet", "stack_alphabet", "bottom", "n_stacks", "end_marker", "acceptance"]
    names += ["initial_output", "accepting_outputs"]
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(**{name: getattr(pda, name) for name in names})
    for state in pda.states:
        graph.add_node(state, initial=state == pda.initial, accepting=state in pda.accepting)
    for key, step in pda.transitions.items():
        symbol, tops = key[1:]
        attributes = {"symbol": symbol, "tops": tops, "operations": step.operations, "output": step.output}
        graph.add_edge(key[0], step.target, **attributes, label=rule(key, step))
    return graph
