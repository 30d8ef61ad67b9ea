"""Random automata and grammars for property tests, and a plain twin of the simulator, from the definition alone."""

from collections.abc import Sequence
from itertools import product

from hypothesis import assume
from hypothesis import strategies as st
from tests.attack.awkward_automata import Run

from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.grammar import Grammar, GrammarSymbol, Nonterminal, Rule
from stacklens.automata.pda import (
    NONE,
    POP,
    Acceptance,
    Key,
    Output,
    PushdownAutomaton,
    StackOp,
    Transition,
    push,
    replace,
)
from stacklens.core.errors import StacklensError

LETTERS = (("a", "b", "c"), ("'", '"', "ab"), ("<s>", "\\", "é"), ("0", "01", "1"))
CELLS = (("A", "B", "C"), ("a", "'", "AB"), ('"', "⊤", "$x$"))
OUTPUTS: tuple[Output, ...] = (None, "0", "1", ("0", "1"))


@st.composite
def pushdown_automata(
    draw: st.DrawFn,
    max_stacks: int = 2,
    acceptances: Sequence[Acceptance] = ("final state", "empty stack", "both", "output"),
) -> PushdownAutomaton:
    """Return a random valid automaton: 1-4 states, 1-3 letters, 1-3 stack symbols, a partial transition table."""
    states = tuple(f"q{i}" for i in range(draw(st.integers(1, 4))))
    letters = draw(st.sampled_from(LETTERS))[: draw(st.integers(1, 3))]
    cells = draw(st.sampled_from(CELLS))[: draw(st.integers(1, 3))]
    n_stacks = draw(st.sampled_from([n for n in (1, 1, 1, 2) if n <= max_stacks]))
    end_marker = draw(st.sampled_from([None, None, "⊣"]))
    outputs = draw(st.sampled_from([OUTPUTS[:1], OUTPUTS]))
    rng = draw(st.randoms(use_true_random=False))  # one draw for the whole table: drawing cell by cell is slow
    density = rng.choice((0.4, 0.7, 0.9, 1.0))
    transitions: dict[Key, Transition] = {}
    for state, letter, tops in product(
        states, (*letters, *filter(None, [end_marker])), product(("⊥", *cells), repeat=n_stacks)
    ):
        if rng.random() < density:
            operations = tuple(rng.choice(_possible(top, cells)) for top in tops)
            transitions[state, letter, tops] = Transition(rng.choice(states), operations, rng.choice(outputs))
    return PushdownAutomaton(
        states=states,
        input_alphabet=letters,
        stack_alphabet=cells,
        transitions=transitions,
        initial=rng.choice(states),
        accepting=frozenset(state for state in states if rng.random() < 0.5),
        acceptance=draw(st.sampled_from(acceptances)),
        n_stacks=n_stacks,
        end_marker=end_marker,
        initial_output=rng.choice(outputs),
        accepting_outputs=frozenset(output for output in OUTPUTS if rng.random() < 0.5),
    )


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    """Return a random grammar over a and b: 1-4 nonterminals with 1-4 alternatives of up to 4 symbols."""
    names = [Nonterminal(name) for name in "SABC"[: draw(st.integers(1, 4))]]
    parts: st.SearchStrategy[GrammarSymbol] = st.sampled_from([*names, "a", "b"])
    sides = st.lists(st.lists(parts, max_size=4).map(tuple), min_size=1, max_size=4)
    rules: list[Rule] = [(name, right) for name in names for right in draw(sides)]
    try:
        return Grammar(tuple(rules), names[0], ("a", "b"))
    except StacklensError:
        assume(False)
        raise


def words_of(pda: PushdownAutomaton, max_length: int = 12) -> st.SearchStrategy[list[tuple[str, ...]]]:
    """Return a strategy for lists of words over the input alphabet."""
    return st.lists(st.lists(st.sampled_from(pda.input_alphabet), max_size=max_length).map(tuple), max_size=8)


def plain_accepts(pda: PushdownAutomaton, word: Sequence[str]) -> bool:
    """Return whether ``word`` is accepted, from the definition, with lists."""
    return Run(pda, tuple(word)).accepted


def _possible(top: str, cells: Sequence[str]) -> list[StackOp]:
    pushes = [push(cell) for cell in cells]
    return [NONE, *pushes] if top == "⊥" else [NONE, POP, POP, *pushes, *(replace(cell) for cell in cells)]


def palindromes() -> PushdownAutomaton:
    """Return an automaton for w c w^R over a and b."""
    transitions: dict[Key, Transition] = {}
    for top in ("⊥", "A", "B"):
        transitions["u", "a", (top,)] = Transition("u", (push("A"),))
        transitions["u", "b", (top,)] = Transition("u", (push("B"),))
        transitions["u", "c", (top,)] = Transition("v", (NONE,))
    transitions["v", "a", ("A",)] = transitions["v", "b", ("B",)] = Transition("v", (POP,))
    return PushdownAutomaton(("u", "v"), ("a", "b", "c"), ("A", "B"), transitions, "u", frozenset({"v"}))


def dyck(pairs: Sequence[tuple[str, str]]) -> PushdownAutomaton:
    """Return an automaton for well nested brackets, ``pairs`` of an opening and a closing one, by empty stack."""
    opening = tuple(first for first, _ in pairs)
    transitions: dict[Key, Transition] = {}
    for first, second in pairs:
        transitions["q", second, (first,)] = Transition("q", (POP,))
        for top in ("⊥", *opening):
            transitions["q", first, (top,)] = Transition("q", (push(first),))
    letters = tuple(symbol for pair in pairs for symbol in pair)
    return PushdownAutomaton(("q",), letters, opening, transitions, "q", acceptance="empty stack")


def containing(alphabet: Sequence[str], factor: str) -> FiniteAutomaton:
    """Return the automaton of the words in which ``factor`` stands: states say how much of it a word ends with."""
    last = len(factor)
    steps = {
        (str(n), symbol): str(
            last if n == last else next(k for k in range(n + 1, -1, -1) if (factor[:n] + symbol).endswith(factor[:k]))
        )
        for n in range(last + 1)
        for symbol in alphabet
    }
    return FiniteAutomaton(tuple(map(str, range(last + 1))), tuple(alphabet), steps, "0", frozenset({str(last)}))
