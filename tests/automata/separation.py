"""Whether words tell two automata apart, by running both on every word: what `compare` is held against."""

from __future__ import annotations

from collections.abc import Iterator

from stacklens.automata.finite import FiniteAutomaton
from stacklens.automata.pda import Configuration, PushdownAutomaton
from stacklens.automata.product import Outputs

Place = Configuration | None  # None: the run has been cut
Word = tuple[str, ...]


def words_that_separate(
    a: PushdownAutomaton, b: PushdownAutomaton, max_length: int, domain: FiniteAutomaton | None, outputs: Outputs
) -> set[Word]:
    """Return the shortest words up to ``max_length`` that tell the automata apart; none if none do."""
    found: set[Word] = set()
    for word in separating_words(a, b, max_length, domain, outputs):
        if found and len(word) > len(next(iter(found))):
            break
        found.add(word)
    return found


def separating_words(
    a: PushdownAutomaton, b: PushdownAutomaton, max_length: int, domain: FiniteAutomaton | None, outputs: Outputs
) -> Iterator[Word]:
    """Yield the words that tell the automata apart, short ones first; not those that begin with another such word."""
    if not any(step.output is not None for pda in (a, b) for step in pda.transitions.values()) and outputs == "all":
        outputs = "ignore"
    level: list[tuple[Word, Place, Place]] = [((), a.start, b.start)]
    for length in range(max_length + 1):
        following = []
        for word, x, y in level:
            member = domain is None or domain.accepts(word)
            if (length and _outputs_differ(x, y, outputs)) or (member and _ends_differ(a, x, b, y, outputs)):
                yield word
                continue
            for letter in a.input_alphabet if length < max_length else ():
                longer = (*word, letter)
                if domain is None or _is_prefix(domain, longer):
                    after = (longer, x and a.step(x, letter), y and b.step(y, letter))
                    if _goes_on(*after[1:], outputs):
                        following.append(after)
        level = following


def _goes_on(x: Place, y: Place, outputs: Outputs) -> bool:
    """Whether anything more is asked."""
    if outputs == "where both":
        return x is not None and y is not None
    return y is not None or (x is not None and outputs != "where b")


def _outputs_differ(x: Place, y: Place, outputs: Outputs) -> bool:
    """Whether the last outputs differ; both automata read the last letter unless their runs were cut."""
    if outputs == "where b":
        return y is not None and (x is None or (y.output is not None and x.output != y.output))
    if outputs == "all" and (x is None) != (y is None):
        return True
    if x is None or y is None or outputs == "ignore":
        return False
    return x.output != y.output and not (outputs == "where both" and None in (x.output, y.output))


def _ends_differ(a: PushdownAutomaton, x: Place, b: PushdownAutomaton, y: Place, outputs: Outputs) -> bool:
    last_x, last_y = _at_the_end(a, x), _at_the_end(b, y)
    if a.end_marker is not None and b.end_marker is not None and _outputs_differ(last_x, last_y, outputs):
        return True
    accepted = (
        (last_x is not None and a.accepts_configuration(last_x)),
        (last_y is not None and b.accepts_configuration(last_y)),
    )
    return outputs in ("all", "ignore") and accepted[0] != accepted[1]


def _at_the_end(pda: PushdownAutomaton, place: Place) -> Place:
    return place if pda.end_marker is None else place and pda.step(place, pda.end_marker)


def _is_prefix(domain: FiniteAutomaton, word: Word) -> bool:
    """Whether some word of the domain begins with ``word``: one of it is reached from where ``word`` leads."""
    state: str | None = domain.initial
    for symbol in word:
        state = domain.step(state, symbol)
    seen = {state} - {None}
    for here in (queue := list(seen)):
        new = {domain.step(here, symbol) for symbol in domain.alphabet} - seen - {None}
        seen |= new
        queue += new
    return bool(seen & domain.accepting)
