"""The pushdown automaton as a value: immutable, validated when it is built, ignorant of networks.

Deterministic: at most one transition for a head and a symbol. What a missing transition means is fixed: the run ends
there and the word is rejected. The bottom ⊥ is what an empty stack reads as; it lies on no stack, so it can be neither
pushed nor popped. Mostly automata are real-time, one step a symbol; with one stack there may be ε-steps that read
nothing (see `epsilon`). Everything else (simulation, minimisation, formats) is functions elsewhere.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from ..core.errors import AutomatonError, UnknownSymbolError
from ..core.imports import above

State = str
Symbol = str
Word = Sequence[Symbol]  # a str is a word of one-character symbols
Tops = tuple[Symbol, ...]  # one top a stack
Key = tuple[State, Symbol, Tops]
Output = str | tuple[str, ...] | None
Acceptance = Literal["final state", "empty stack", "both", "output"]
EPSILON: Symbol = ""  # in the place of a transition's symbol: the step reads nothing

_MOST_STACKS = 64  # against damaged files; the networks of the papers have up to 10


@dataclass(frozen=True, slots=True)
class StackOp:
    """What happens to one stack in one step: pop first, then push (Sun et al. 1993, section 3.2.1)."""

    pop: bool = False
    push: Symbol | None = None

    @property
    def name(self) -> Literal["none", "pop", "push", "replace"]:
        """Return which of the four discrete operations this is."""
        if self.pop:
            return "pop" if self.push is None else "replace"
        return "none" if self.push is None else "push"

    def __str__(self) -> str:
        return self.name if self.push is None else f"{self.name} {self.push}"


NONE, POP = StackOp(), StackOp(pop=True)


def push(symbol: Symbol) -> StackOp:
    """Return the operation that lays ``symbol`` on the stack."""
    return StackOp(push=symbol)


def replace(symbol: Symbol) -> StackOp:
    """Return the operation that puts ``symbol`` in the place of the top."""
    return StackOp(pop=True, push=symbol)


@dataclass(frozen=True, slots=True)
class Transition:
    """Where a step leads: the next state, one operation a stack, and a Mealy output or None."""

    target: State
    operations: tuple[StackOp, ...]
    output: Output = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """One moment of a run: the state, every stack from bottom to top, and the last step's symbol and output."""

    state: State
    stacks: tuple[tuple[Symbol, ...], ...]
    symbol: Symbol | None = None
    output: Output = None

    def tops(self, bottom: Symbol) -> Tops:
        """Return the top of every stack, ``bottom`` where it is empty."""
        return tuple(stack[-1] if stack else bottom for stack in self.stacks)


@dataclass(frozen=True, repr=False)
class PushdownAutomaton:
    """A deterministic pushdown automaton, possibly with several stacks and with Mealy outputs. Raises AutomatonError:
    on anything inconsistent, naming the offending part.

    ``transitions`` map (state, symbol, tops) to a `Transition`; a missing one rejects. With `EPSILON` for the symbol it
    is an ε-step, taken wherever there is one, before anything more is read and after the word's last symbol. At such a
    head nothing else can be read, and no run takes ε-steps for ever. With ``acceptance`` "final state" a word is
    accepted when its run ends in an accepting state, with "empty stack" when every stack is empty then, with "both" in
    both cases together, and with "output" by its last output (``initial_output`` for the empty word), if in
    ``accepting_outputs``.

    >>> dyck = PushdownAutomaton(
    ...     states=("q",), input_alphabet=("(", ")"), stack_alphabet=("(",), initial="q", accepting=frozenset({"q"}),
    ...     transitions={("q", "(", ("⊥",)): Transition("q", (push("("),)),
    ...                  ("q", "(", ("(",)): Transition("q", (push("("),)),
    ...                  ("q", ")", ("(",)): Transition("q", (POP,))})
    >>> dyck.accepts("(())"), dyck.accepts("())")
    (True, False)
    """

    states: tuple[State, ...]  # names, without repetition
    input_alphabet: tuple[Symbol, ...]  # the symbols of words
    stack_alphabet: tuple[Symbol, ...]  # the symbols that stacks hold, without ``bottom``
    transitions: Mapping[Key, Transition]
    initial: State  # the state before the first symbol
    accepting: frozenset[State] = frozenset()  # the accepting states, for "final state" and "both"
    acceptance: Acceptance = "both"
    bottom: Symbol = "⊥"  # what an empty stack reads as
    n_stacks: int = 1  # at least 1
    end_marker: Symbol | None = None  # read once after every word; not part of ``input_alphabet``
    initial_output: Output = None  # the output before the first symbol
    accepting_outputs: frozenset[Output] = field(default_factory=frozenset)  # that accept, for "output"

    def __post_init__(self) -> None:
        for name in ("states", "input_alphabet", "stack_alphabet"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("accepting", "accepting_outputs"):
            object.__setattr__(self, name, frozenset(getattr(self, name)))
        object.__setattr__(self, "transitions", MappingProxyType(dict(self.transitions)))
        for name in ("states", "input_alphabet", "stack_alphabet"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise AutomatonError(f"{name} has a repetition: {values}")
            if not all(isinstance(value, str) and value for value in values):
                raise AutomatonError(f"{name} must hold non-empty strings, not {values}")
        if self.initial not in self.states:
            raise AutomatonError(f"the initial state {self.initial!r} is not among the states {self.states}")
        if strange := sorted(self.accepting - set(self.states)):
            raise AutomatonError(f"accepting states {strange} are not among the states")
        if self.acceptance not in get_args(Acceptance):
            raise AutomatonError(f"acceptance {self.acceptance!r} is not one of {', '.join(get_args(Acceptance))}")
        if not 1 <= self.n_stacks <= _MOST_STACKS:
            raise AutomatonError(f"n_stacks is {self.n_stacks}, expected 1 to {_MOST_STACKS}")
        if self.bottom in self.stack_alphabet:
            raise AutomatonError(f"the bottom {self.bottom!r} must not be in the stack alphabet")
        if self.end_marker == EPSILON:
            raise AutomatonError("the end marker must be a non-empty string")
        if self.end_marker is not None and self.end_marker in self.input_alphabet:
            raise AutomatonError(f"the end marker {self.end_marker!r} must not be in the input alphabet")
        states, letters = set(self.states), {*self.letters, EPSILON}
        pushable = set(self.stack_alphabet)
        readable = pushable | {self.bottom}
        for (state, symbol, tops), transition in self.transitions.items():
            where = f"transition ({state}, {symbol or 'ε'}, {', '.join(tops)})"
            if state not in states or transition.target not in states:
                raise AutomatonError(f"{where} -> {transition.target}: not a state of {self.states}")
            if symbol not in letters:
                raise AutomatonError(f"{where}: {symbol!r} is not in the input alphabet {self.input_alphabet}")
            if len(tops) != self.n_stacks or len(transition.operations) != self.n_stacks:
                raise AutomatonError(f"{where}: expected {self.n_stacks} tops and operations, one a stack")
            for top, operation in zip(tops, transition.operations, strict=True):
                if top not in readable:
                    raise AutomatonError(f"{where}: {top!r} is neither in the stack alphabet nor the bottom")
                if operation.pop and top == self.bottom:
                    raise AutomatonError(f"{where}: an empty stack cannot be popped")
                if operation.push is not None and operation.push not in pushable:
                    raise AutomatonError(f"{where}: pushes {operation.push!r}, which is not in the stack alphabet")
        if not self.real_time:
            above("stacklens.automata.rewriting.check_epsilon", None)(self)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.states, self.initial, self.accepting, frozenset(self.transitions.items())))

    def __reduce__(self) -> tuple[Any, ...]:  # a mapping proxy cannot be pickled, a dict can
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return partial(PushdownAutomaton, **{**values, "transitions": dict(self.transitions)}), ()

    def __repr__(self) -> str:
        return above("stacklens.automata.formats.dot.one_line", str)(self)

    def __str__(self) -> str:
        """Return the formal definition and the transitions, a line each."""
        return above("stacklens.automata.formats.dot.definition_text", str)(self)

    def _repr_html_(self) -> str:
        return above("stacklens.automata.formats.dot.to_svg", str)(self)

    def save(self, path: str | Path, title: str | None = None) -> None:
        """Write the automaton in the format of the suffix: .json .dot .jff, a grammar .cfg, a drawing .svg .png .pdf.
        Raises StacklensError: another suffix, no such grammar (several stacks, no recogniser, too large), nothing here
        that can draw it, or a file that cannot be written.
        """
        above("stacklens.automata.formats.write_automaton", None)(path, self, title)

    def words(self, max_length: int) -> Iterator[tuple[Symbol, ...]]:
        """Yield the accepted words up to ``max_length``, short ones first; see `automata.enumeration`."""
        yield from above("stacklens.automata.enumeration.enumerate_words")(self, max_length)

    def count(self, max_length: int) -> list[int]:
        """Return how many words of each length from 0 to ``max_length`` are accepted (see `automata.counting`)."""
        return above("stacklens.automata.counting.count_words", list[int])(self, max_length)

    def sample(self, n: int, length: tuple[int, int] = (2, 50), seed: int = 0) -> list[Word]:
        """Return ``n`` accepted words: all lengths in ``length`` that occur are as likely, and all words of a length.
        Raises StacklensError: there are no such words, or the automaton has several stacks.
        """
        pda = above("stacklens.automata.rewriting.accepting_by_state")(self)
        grammar = above("stacklens.automata.small_grammar.grammar_of")(pda)
        language = above("stacklens.languages.context_free.AutomatonLanguage")("the automaton", grammar, pda)
        words: list[Word] = language.sample(n, length, seed=seed)
        return words

    def is_empty(self) -> bool:
        """Return whether no word is accepted, which is decided, not tried; for one stack."""
        return above("stacklens.automata.compare.is_empty", bool)(self)

    def minimal(self) -> PushdownAutomaton:
        """Return an equivalent automaton with states and stack symbols merged; see `automata.minimize`."""
        return above("stacklens.automata.minimize.minimize", PushdownAutomaton)(self)

    def complement(self) -> PushdownAutomaton:
        """Return the automaton that accepts all other words over the alphabet; see `automata.rewriting.complement`."""
        return above("stacklens.automata.rewriting.complement", PushdownAutomaton)(self)

    def intersection(self, other: Any) -> PushdownAutomaton:
        """Return the automaton of the words that a finite automaton accepts too; see `automata.rewriting.intersect`."""
        return above("stacklens.automata.rewriting.intersect", PushdownAutomaton)(self, other)

    def union(self, other: Any) -> PushdownAutomaton:
        """Return the automaton of its words and those of a finite automaton; see `automata.rewriting.unite`."""
        return above("stacklens.automata.rewriting.unite", PushdownAutomaton)(self, other)

    @property
    def letters(self) -> tuple[Symbol, ...]:
        """Return the symbols that a run can read: the input alphabet and the end marker, if any, as the last."""
        return self.input_alphabet if self.end_marker is None else (*self.input_alphabet, self.end_marker)

    @cached_property
    def real_time(self) -> bool:
        """Return whether every step reads a letter: there are no ε-steps."""
        return all(symbol != EPSILON for _, symbol, _ in self.transitions)

    @cached_property
    def stackless(self) -> bool:
        """Return whether no transition pushes, so that the stack, or every stack, stays empty."""
        return all(operation.push is None for step in self.transitions.values() for operation in step.operations)

    @property
    def start(self) -> Configuration:
        """Return the configuration before the first step."""
        return Configuration(self.initial, ((),) * self.n_stacks, None, self.initial_output)

    def step(self, configuration: Configuration, symbol: Symbol) -> Configuration | None:
        """Return the next configuration, or None where the automaton has no transition; `EPSILON` reads nothing. Raises
        UnknownSymbolError: ``symbol`` is no letter of this automaton.
        """
        if symbol not in self.letters and (symbol != EPSILON or self.real_time):
            raise UnknownSymbolError(symbol, self.input_alphabet)
        transition = self.transitions.get((configuration.state, symbol, configuration.tops(self.bottom)))
        if transition is None:
            return None
        stacks = tuple(map(_stack_after, transition.operations, configuration.stacks))
        return Configuration(transition.target, stacks, symbol, transition.output)

    def rest(self, configuration: Configuration) -> Configuration:
        """Return where the ε-steps from ``configuration`` lead: to where a letter can be read, or a word can end."""
        while not self.real_time and (after := self.step(configuration, EPSILON)) is not None:
            configuration = after
        return configuration

    def moves(self, word: Word) -> Iterator[tuple[Key, Configuration]]:
        """Yield the transitions of the run on ``word``, each with the configuration after it. That is up to where the
        run is cut short, ε-steps and, with an end marker, the one on it included.
        """
        here, left = self.start, iter((*word, *self.letters[len(self.input_alphabet) :]))
        while True:
            tops = here.tops(self.bottom)
            silent = not self.real_time and (here.state, EPSILON, tops) in self.transitions
            symbol = EPSILON if silent else next(left, None)
            after = None if symbol is None else self.step(here, symbol)
            if symbol is None or after is None:
                return
            yield (here.state, symbol, tops), after
            here = after

    def at_rest(self, word: Word) -> Iterator[Configuration]:
        """Yield where the run is after each letter and its ε-steps, until it is cut short; one at a time: they grow."""
        last: Configuration | None = None
        for key, after in self.moves(word):
            if key[1] and last is not None:
                yield last
            if key[1] or last is not None:
                last = after
        if last is not None:
            yield last

    def run(self, word: Word) -> Iterator[Configuration]:
        """Yield the configurations of a run, the initial one first; the run is cut short where it is rejected. With an
        end marker the last configuration is the one after it. Those after ε-steps are among them.
        """
        yield self.start
        for _, after in self.moves(word):
            yield after

    def taken(self, word: Word) -> Iterator[Key]:
        """Yield the transitions of the run on ``word``, the end marker's too, up to where it is cut short."""
        for key, _ in self.moves(word):
            yield key

    def accepts(self, word: Word) -> bool:
        """Return whether ``word`` is accepted: by where its run ends, all ε-steps taken. Raises UnknownSymbolError:
        ``word`` has a symbol outside the input alphabet.
        """
        for symbol in word:
            if symbol not in self.input_alphabet:
                raise UnknownSymbolError(symbol, self.input_alphabet)
        configurations = list(self.run(word))
        read = sum(bool(configuration.symbol) for configuration in configurations)
        complete = read == len(word) + (self.end_marker is not None)
        return complete and self.accepts_configuration(configurations[-1])

    def accepts_configuration(self, configuration: Configuration) -> bool:
        """Return whether a run that ends in ``configuration`` accepts."""
        good = configuration.output in self.accepting_outputs
        return self.accepts_at(configuration.state, not any(configuration.stacks), good)

    def accepts_at(self, state: State, empty: bool, good: bool = False) -> bool:
        """Return whether a run accepts that ends in ``state`` on ``empty`` stacks or not, with a ``good`` output."""
        final = state in self.accepting
        return {"final state": final, "empty stack": empty, "both": final and empty, "output": good}[self.acceptance]

    def accepts_output(self, output: Output) -> bool:
        """Return whether it accepts by outputs, and by this one."""
        return self.acceptance == "output" and output in self.accepting_outputs

    def transduce(self, word: Word) -> list[Output]:
        """Return the output of every step on ``word``, of ε-steps too. Raises AutomatonError: the run is cut."""
        configurations = list(self.run(word))[1:]
        if (read := sum(bool(configuration.symbol) for configuration in configurations)) < len(word):
            raise AutomatonError(f"no output: the run ends at symbol {read + 1} of {len(word)}")
        return [configuration.output for configuration in configurations]

    def written(self, word: Word) -> list[Output]:
        """Return all that is written on ``word``, one after the other: the outputs of its run that are not None. Raises
        AutomatonError: the run is cut short; the message names the step.
        """
        return [output for output in self.transduce(word) if output is not None]


def _stack_after(operation: StackOp, stack: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    kept = stack[:-1] if operation.pop else stack
    return kept if operation.push is None else (*kept, operation.push)


def next_symbols(pda: PushdownAutomaton, end: Symbol | None, state: State, top: Symbol) -> tuple[Symbol, ...]:
    """Return the symbols with a transition at a head, and ``end``, if any, where a word may end."""
    symbols = tuple(symbol for symbol in pda.input_alphabet if (state, symbol, (top,)) in pda.transitions)
    return (*symbols, end) if end is not None and pda.accepts_at(state, top == pda.bottom) else symbols


# ---- A rule in one line, as drawings and tables have it ----


def rule(key: Key, transition: Transition) -> str:
    """Return a transition as one line, "input, top → operation", without the two states; ε for no input."""
    operations = [
        operation.name if operation.push is None else f"{operation.name} {label_of(operation.push)}"
        for operation in transition.operations
    ]
    read, tops = label_of(key[1]) if key[1] else "ε", _in_brackets([label_of(top) for top in key[2]])
    line = f"{read}, {tops} → {_in_brackets(operations)}"
    return line if transition.output is None else f"{line} / {output_label(transition.output)}"


def output_label(output: Output) -> str:
    """Return an output as it is drawn, the symbols of a set in braces."""
    if isinstance(output, tuple):
        return f"{{{', '.join(map(label_of, output))}}}"
    return "none" if output is None else label_of(output)


def _in_brackets(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def label_of(text: str) -> str:
    """Return a symbol as it is drawn: nothing may be invisible, break the line, or be impossible in SVG."""
    if not text.strip(" "):
        return "␣" * len(text) or '""'
    shown = []
    for code in map(ord, text):
        if code < 0x20 or code == 0x7F:
            shown.append("␡" if code == 0x7F else chr(0x2400 + code))
        else:  # C1 controls, lone surrogates and non-characters are not allowed in XML, or in UTF-8 at all
            forbidden = unicodedata.category(chr(code)) in ("Cc", "Cs", "Cn", "Zl", "Zp")
            shown.append(f"U+{code:04X}" if forbidden else chr(code))
    return "".join(shown)


def transition_rows(pda: PushdownAutomaton) -> list[tuple[str, ...]]:
    """Return the heading and one row a transition; outputs have a column where there are any."""
    speaks = any(step.output is not None for step in pda.transitions.values())
    rows = [("state", "input", "top", "next", "operation", *(["output"] if speaks else []))]
    for (state, symbol, tops), step in pda.transitions.items():
        outputs = [output_text(step.output)] if speaks else []
        rows.append((state, symbol or "ε", " ".join(tops), step.target, ", ".join(map(str, step.operations)), *outputs))
    return rows


def output_text(output: Output) -> str:
    """Return what a transition says as text: nothing, its symbol, or a set in braces."""
    return "" if output is None else output if isinstance(output, str) else "{" + " ".join(output) + "}"
