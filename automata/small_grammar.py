"""Grammars made small enough to be read: equals become one, and parts that are used once stand in their place.

A grammar that comes from an automaton says in every nonterminal where a cell is popped. So a closing bracket ends up
inside the nonterminal of what stands before it: ``S -> ( X S | ε``, ``X -> ) | ( X X``. Such a last symbol, which all
that a nonterminal derives has in common, is taken out of it (X becomes Y with L(X) = L(Y)L(last)), after which
nonterminals often have the same rules as another: ``S -> ( Y ) S | ε``, ``Y -> ε | ( Y ) Y``. Every step keeps the
words, and an unambiguous grammar stays unambiguous.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count, islice, product

from ..core.errors import AutomatonError, StacklensError
from .compare import is_empty
from .grammar import Grammar, GrammarSymbol, Nonterminal, Rule
from .pda import PushdownAutomaton, State, Symbol, Transition
from .rewriting import accepting_by_state, drop_end_marker, real_time_form
from .summaries import cells_after, trim

_Part = Symbol | int  # a terminal, or the number of a nonterminal
_Side = tuple[_Part, ...]
_Rules = dict[int, list[_Side]]  # of every nonterminal; the start is number 0

_START = 0
_MOST_ALTERNATIVES = 2_000  # as many as are read of a file
_MOST_ROUNDS = 12  # times that a last symbol is taken out
_MOST_WORK = 20_000  # symbols of rules that are tried in the search for shorter ones, after each of these times
_MOST_CHOICES = 64  # alternatives that one may become
_LONGEST_SIDE = 40  # symbols of a right side that something is put into


def small_grammar(grammar: Grammar) -> Grammar:
    """Return a short grammar of the same words, with plain names; unambiguous if ``grammar`` is.

    The start is S, then come A, B, …; rules stand in the order of the alphabet, the empty word last. Raises
    StacklensError: more than 2,000 alternatives are left where equal nonterminals are one.

    >>> from stacklens.automata.grammar import parse_grammar
    >>> print(small_grammar(parse_grammar("T -> ( X T | ε\\nX -> ) | ( X X")))
    S -> ( S ) S | ε
    """
    numbers = {grammar.start: _START}
    for left, _ in grammar.rules:
        numbers.setdefault(left, len(numbers))
    rules: _Rules = {number: [] for number in numbers.values()}
    for left, right in grammar.rules:
        rules[numbers[left]].append(tuple(part if isinstance(part, str) else numbers[part] for part in right))
    rules = _merged_nonterminals(rules)
    if (number := sum(map(len, rules.values()))) > _MOST_ALTERNATIVES:
        most = f"expected {_MOST_ALTERNATIVES:,} at most"
        raise StacklensError(f"the grammar has {number:,} alternatives, too many to be read; {most}")
    # the shortest that a search finds, begun anew each time that a common end was taken out
    limit, found = 4 * _grammar_size(rules) + 1_000, list[_Rules]()
    taken: _Rules | None = rules
    while taken is not None and _grammar_size(taken) <= limit and len(found) < _MOST_ROUNDS:
        rules = _merged_nonterminals(_inlined(taken))
        best, work = _tidied(rules), 0
        others = _other_rules(best)
        while work < _MOST_WORK and (other := next(others, None)) is not None:
            work += _grammar_size(other)
            if _grammar_size(other := _tidied(other)) < _grammar_size(best):
                best, others = other, _other_rules(other)
        found.append(best)
        taken = next((new for symbol in grammar.alphabet if (new := _without_end(rules, symbol)) is not None), None)
    return _with_plain_names(min(found, key=_grammar_size), grammar.alphabet)


def _grammar_size(rules: _Rules) -> int:
    return len(rules) + sum(1 + len(side) for sides in rules.values() for side in sides)


def _tidied(rules: _Rules) -> _Rules:
    """Return the rules without unit rules, equal nonterminals and those that are better put where they are used."""
    before: _Rules = {}
    while rules != before:
        before = rules
        # the rules with the alternatives of B in the place of every alternative that is B alone
        found: _Rules = {}
        for left in rules:
            sides: dict[_Side, None] = {}
            seen, unseen = {left}, [left]
            while unseen:
                for side in rules[unseen.pop()]:
                    if len(side) == 1 and isinstance(side[0], int):
                        unseen += [] if side[0] in seen else [side[0]]
                        seen.add(side[0])
                    else:
                        sides[side] = None
            found[left] = list(sides)
        # those that the start leads to
        reached, unseen = {_START: None}, [_START]
        while unseen:
            new = {part: None for side in found[unseen.pop()] for part in side if isinstance(part, int)}
            unseen += [part for part in new if part not in reached]
            reached |= new
        rules = _inlined(_merged_nonterminals({left: found[left] for left in reached}))
    return rules


def _merged_nonterminals(rules: _Rules) -> _Rules:
    """Return the rules with one nonterminal for all that have the same alternatives, up to such nonterminals.
    Nonterminals that no number of steps tells apart derive the same words: the coarsest partition (Moore's refinement).
    """
    # split classes until all members of one have the same alternatives, up to classes
    classes = dict.fromkeys(rules, 0)
    while True:
        marks: dict[tuple[int, frozenset[_Side]], int] = {}
        refined: dict[int, int] = {}
        for left, sides in rules.items():
            mark = classes[left], frozenset(_renamed_side(side, classes) for side in sides)
            refined[left] = marks.setdefault(mark, len(marks))
        if refined == classes:
            break
        classes = refined
    first: dict[int, int] = {}
    for left, number in classes.items():
        first.setdefault(number, left)
    names = {left: first[number] for left, number in classes.items()}
    return {left: list(dict.fromkeys(_renamed_side(side, names) for side in rules[left])) for left in first.values()}


def _renamed_side(side: _Side, names: dict[int, int]) -> _Side:
    return tuple(names[part] if isinstance(part, int) else part for part in side)


def _inlined(rules: _Rules) -> _Rules:
    """Return the rules with nonterminals put where they are used, as long as that leaves less to read."""
    while True:
        uses = Counter(part for sides in rules.values() for side in sides for part in side if isinstance(part, int))
        found = next((left for left in rules if left != _START and _is_better_inside(rules, left, uses[left])), None)
        if found is None:
            return rules
        alternatives = rules[found]
        rules = {
            left: list(dict.fromkeys(new for side in sides for new in _put(side, found, alternatives)))
            for left, sides in rules.items()
            if left != found
        }


def _is_better_inside(rules: _Rules, left: int, uses: int) -> bool:
    alternatives = rules[left]
    if any(left in side for side in alternatives) or (uses > 1 and len(alternatives) > 1):
        return False
    users = [side for sides in rules.values() for side in sides if left in side]
    if not users:
        return True
    # better inside if there is less to read, and no side gets very long
    outside = [*users, *alternatives]
    inside = [new for side in users for new in _put(side, left, alternatives)]
    if max(map(len, inside)) > max(_LONGEST_SIDE, *map(len, users)):
        return False
    return sum(1 + len(side) for side in inside) < 1 + sum(1 + len(side) for side in outside)


def _put(side: _Side, left: int, alternatives: Iterable[_Side]) -> Iterator[_Side]:
    for choice in product(*(alternatives if part == left else ((part,),) for part in side)):
        yield tuple(part for piece in choice for part in piece)


def _without_end(rules: _Rules, last: _Part) -> _Rules | None:
    """Return the rules in which every X of whose words the end derives from ``last`` is Y, X = Y last; None for no X.
    These are the nonterminals, but for the start, of which every alternative ends in ``last`` or in another of them.
    """
    ending = {left for left in rules if left not in (_START, last)}
    size = -1
    while size != len(ending):
        size = len(ending)
        ending = {
            left for left in ending if all(side and (side[-1] == last or side[-1] in ending) for side in rules[left])
        }
    if not ending:
        return None
    found: _Rules = {}
    for left, sides in rules.items():
        longer = [tuple(x for part in side for x in ((part, last) if part in ending else (part,))) for side in sides]
        found[left] = [side[:-1] for side in longer] if left in ending else longer
    return found


def _other_rules(rules: _Rules) -> Iterator[_Rules]:
    """Yield rules of the same words that may be shorter when they are tidied."""
    for left in rules:
        for less in rules:
            if left not in (_START, less) and (other := _as_more_than(rules, left, less)) is not None:
                yield other
        yield from _folded_rules(rules, left)
    for last in dict.fromkeys((*rules, *(part for sides in rules.values() for side in sides for part in side))):
        if (taken := _without_end(rules, last)) is not None:
            yield taken


def _as_more_than(rules: _Rules, more: int, less: int) -> _Rules | None:
    """Return the rules with ``less``, or an alternative that only ``more`` has, wherever ``more`` stands. None where
    ``more`` lacks one that ``less`` has, or where one that only ``more`` has leads to ``more`` again.
    """
    rest = [side for side in rules[more] if side not in rules[less]]
    if len(rest) + len(rules[less]) != len(rules[more]) or any(more in side for side in rest):
        return None
    if any((1 + len(rest)) ** side.count(more) > _MOST_CHOICES for sides in rules.values() for side in sides):
        return None
    return {
        left: list(dict.fromkeys(new for side in sides for new in _put(side, more, ((less,), *rest))))
        for left, sides in rules.items()
        if left != more
    }


def _folded_rules(rules: _Rules, inner: int) -> Iterator[_Rules]:
    """Yield the rules with x ``inner`` y for all alternatives x z y of one nonterminal, z being those of ``inner``."""
    longest = max(rules[inner], key=len)
    for left, sides in rules.items():
        for side in sides:
            for begin in range(len(side) - len(longest) + 1):
                before, after = side[:begin], side[begin + len(longest) :]
                spelled = {(*before, *one, *after) for one in rules[inner]}
                if (before or after) and len(spelled) > 1 and spelled <= set(sides):
                    kept = [one for one in sides if one not in spelled]
                    yield {**rules, left: [*kept, (*before, inner, *after)]}


def _with_plain_names(rules: _Rules, alphabet: tuple[Symbol, ...]) -> Grammar:
    place = {symbol: number for number, symbol in enumerate(alphabet)}

    def order(left: int, side: _Side) -> tuple[int, bool, int]:
        first = side[0] if side else None
        where = place[first] if isinstance(first, str) else len(place) + (first is None)
        return where, left not in side, -len(side)

    letters = ["S", *(chr(code) for code in range(ord("A"), ord("Z") + 1) if chr(code) != "S")]
    used = frozenset(alphabet)
    free = (name for number in count() for letter in letters if (name := f"{letter}{number or ''}") not in used)
    names = {_START: Nonterminal(next(free))}
    found: list[Rule] = []
    unseen = [_START]
    for left in unseen:  # grows as nonterminals turn up
        for side in sorted(rules[left], key=partial(order, left)):
            for part in side:
                if isinstance(part, int) and part not in names:
                    names[part] = Nonterminal(next(free))
                    unseen.append(part)
            found.append((names[left], tuple(names[part] if isinstance(part, int) else part for part in side)))
    return Grammar(tuple(found), names[_START], alphabet)


# ---- The grammar of a deterministic pushdown automaton, by the triple construction ----
# A nonterminal is a state and a stack cell: the word read from there until the cell is popped, in a given state, or to
# the end of an accepted word, with the cell still there. As the automaton is deterministic, the grammar is unambiguous.

_TripleHead = tuple[State, Symbol]
_MOST_TRIPLES, _MOST_WAYS = 100_000, 2_000_000  # of a grammar, and looked at on the way to it
_TOO_LARGE = f"the language's grammar has more than {_MOST_TRIPLES:,} rules: give a smaller automaton"


def grammar_of(pda: PushdownAutomaton) -> Grammar:
    """Return an unambiguous grammar of the words that ``pda`` accepts. Raises AutomatonError: more than one stack,
    acceptance by output, or an end marker that cannot be dropped; StacklensError: no word is accepted.

    >>> from stacklens.languages.classic import Dyck
    >>> len(grammar_of(Dyck(1).automaton).rules)
    4
    """
    if pda.n_stacks != 1 or pda.acceptance == "output":
        found = "acceptance by output" if pda.n_stacks == 1 else f"{pda.n_stacks} stacks"
        raise AutomatonError(f"a language needs one stack and acceptance by state or stack, not {found}")
    plain = drop_end_marker(real_time_form(pda, "a grammar needs"))
    if plain is None:
        raise AutomatonError("what the end marker accepts depends on more than state and top: give it without a marker")
    rules = tuple(islice(_triple_rules(trim(plain)), _MOST_TRIPLES + 1))
    if len(rules) > _MOST_TRIPLES:
        raise AutomatonError(_TOO_LARGE)
    return Grammar(rules, _triple_name(pda.initial, pda.bottom), pda.input_alphabet)


def readable_grammar(pda: PushdownAutomaton) -> Grammar:
    """Return a small grammar of the words that ``pda`` accepts, unambiguous, with names such as S and A. Raises
    AutomatonError: more than one stack, no recogniser, no word accepted, or an end marker that cannot be dropped;
    StacklensError: the grammar is too large.

    >>> from stacklens.languages.classic import Dyck
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


def _triple_rules(pda: PushdownAutomaton) -> Iterator[Rule]:
    moves: dict[_TripleHead, list[tuple[Symbol, Transition]]] = defaultdict(list)
    for (state, symbol, (top,)), step in pda.transitions.items():
        moves[state, top].append((symbol, step))
    # for each head, the states in which its cell can be popped, in an order that is always the same
    returns: dict[_TripleHead, dict[State, None]] = defaultdict(dict)

    def after(cell: Symbol, step: Transition) -> Iterator[tuple[tuple[Nonterminal, ...], State | None]]:
        """Yield the words after a step, as nonterminals, and the state in which ``cell`` is popped then, or None."""
        target, cells = step.target, cells_after(step.operations[0], cell)
        if not cells:
            yield (), target
            return
        yield (_triple_name(target, cells[-1]),), None
        for middle in list(returns[target, cells[-1]]):
            inner = _triple_name(target, cells[-1], middle)
            if len(cells) == 1:  # the cell is there, or another in its place
                yield (inner,), middle
                continue
            yield (inner, _triple_name(middle, cell)), None
            yield from (((inner, _triple_name(middle, cell, end)), end) for end in list(returns[middle, cell]))

    size, ways = -1, 0
    # until no cell can be popped in a state that is new
    while size < (size := sum(map(len, returns.values()))):
        for head, own in moves.items():
            for _, step in own:
                ends = [end for _, end in after(head[1], step)]
                returns[head] |= {end: None for end in ends if end is not None}
                ways += len(ends)
                if ways > _MOST_WAYS:
                    raise AutomatonError(_TOO_LARGE)
    for state, cell in product(pda.states, (pda.bottom, *pda.stack_alphabet)):
        if pda.accepts_at(state, cell == pda.bottom):
            yield _triple_name(state, cell), ()
        for symbol, step in moves[state, cell]:
            for parts, end in after(cell, step):
                right: tuple[GrammarSymbol, ...] = (symbol, *parts)
                yield _triple_name(state, cell, end), right


def _triple_name(state: State, cell: Symbol, end: State | None = None) -> Nonterminal:
    return Nonterminal(repr((state, cell) if end is None else (state, cell, end)))
