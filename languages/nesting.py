"""Deep words of a grammar: random members in which something is nested in itself again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache

import numpy as np

from stacklens.automata.pda import Symbol
from stacklens.languages.grammar import Nonterminal
from stacklens.languages.normal_form import NormalForm

__all__ = ["Nesting"]

_Point = tuple[Nonterminal, bool, bool]  # where one is, and whether something stands on the left, on the right
_Edge = tuple[Nonterminal, Nonterminal, bool]  # child, sibling, whether the sibling stands on the left
_Sides = tuple[list[Symbol], list[Symbol]]
TRIES = 48  # embeddings of a nonterminal that are looked at


class Nesting:
    """The self-embeddings A => u A v of a grammar in which u and v depend on each other, as brackets do.

    They do where a word stops being one as u, or v, comes once more than the other. (In S -> S S they do not.)

    >>> from stacklens.languages.grammar import parse_grammar
    >>> form = NormalForm(parse_grammar("S -> a S b | a b"))
    >>> nesting = Nesting(form, lambda word: word == sorted(word) and word.count("a") == word.count("b") > 0)
    >>> len(nesting.draw(3, np.random.default_rng(0)) or ()) >= 8
    True
    """

    def __init__(self, form: NormalForm, contains: Callable[[list[Symbol]], bool]) -> None:
        self.form, self.contains = form, contains
        self.edges: dict[Nonterminal, list[_Edge]] = {
            left: [edge for first, second in pairs for edge in ((first, second, False), (second, first, True))]
            for left, pairs in form.pairs.items()
        }
        self._distances = cache(self._find_distances)
        rng = np.random.default_rng(0)
        self.embeddings: dict[Nonterminal, list[_Sides]] = {}
        for pivot in self._reached():
            if (pivot, False, False) in self._distances((pivot, True, True)):
                walks = (self._walk(pivot, rng, (pivot, True, True)) for _ in range(TRIES))
                distinct = {(tuple(left), tuple(right)): (left, right) for left, right in walks}
                if binding := [sides for sides in distinct.values() if self._binds(pivot, sides, rng)]:
                    self.embeddings[pivot] = binding

    def draw(self, depth: int, rng: np.random.Generator) -> list[Symbol] | None:
        """Return a random member with ``depth`` self-embeddings of a nonterminal in each other, None if there is none.

        What stands around and inside them is as short as possible.
        """
        if depth == 0:
            return [] if self.form.has_empty else self._short_word(self.form.start, rng)
        if not self.embeddings or depth < 0:
            return None
        pivot = list(self.embeddings)[int(rng.integers(len(self.embeddings)))]
        found = self.embeddings[pivot]
        nested = [found[i] for i in rng.integers(len(found), size=depth).tolist()]
        return _wrap([self._around(pivot, rng), *nested], self._short_word(pivot, rng))

    def _around(self, pivot: Nonterminal, rng: np.random.Generator) -> _Sides:
        return self._walk(self.form.start, rng, *((pivot, a, b) for a in (False, True) for b in (False, True)))

    def _binds(self, pivot: Nonterminal, sides: _Sides, rng: np.random.Generator) -> bool:
        around, (left, right) = self._around(pivot, rng), sides
        shortest = self.form.shortest[pivot]
        for length in range(shortest, shortest + 3):  # short words inside may hide it, as in a a of even palindromes
            if self.form.count_from(pivot, length):
                inside = self.form.draw(length, rng, pivot)
                uneven = ([*left, *inside], [*inside, *right])
                if not any(self.contains(_wrap([around, sides], word)) for word in uneven):
                    return True
        return False

    def _walk(self, start: Nonterminal, rng: np.random.Generator, *goals: _Point) -> _Sides:
        """Return what stands on the left and on the right along a random shortest way from ``start`` to a goal."""
        distances = self._distances(*goals)
        steps: list[_Sides] = []
        point = (start, False, False)
        while distances[point] > 0:
            here, left, right = point
            nearer = [
                ((child, left or on_left, right or not on_left), sibling, on_left)
                for child, sibling, on_left in self.edges[here]
                if distances.get((child, left or on_left, right or not on_left)) == distances[point] - 1
            ]
            point, sibling, on_left = nearer[int(rng.integers(len(nearer)))]
            word = self._short_word(sibling, rng)
            steps.append((word, []) if on_left else ([], word))
        return [x for word, _ in steps for x in word], [x for _, word in reversed(steps) for x in word]

    def _find_distances(self, *goals: _Point) -> dict[_Point, int]:
        """Return the least number of steps from each point to a goal, for the points from which there is a way."""
        into: dict[_Point, list[_Point]] = defaultdict(list)
        for here, edges in self.edges.items():
            for left in (False, True):
                for right in (False, True):
                    for child, _, on_left in edges:
                        into[child, left or on_left, right or not on_left].append((here, left, right))
        distances = dict.fromkeys(goals, 0)
        for point in (queue := list(goals)):  # the list grows while it is walked
            for before in into[point]:
                if before not in distances:
                    distances[before] = distances[point] + 1
                    queue.append(before)
        return distances

    def _short_word(self, left: Nonterminal, rng: np.random.Generator) -> list[Symbol]:
        return self.form.draw(self.form.shortest[left], rng, left)

    def _reached(self) -> list[Nonterminal]:
        reached = [self.form.start]
        for here in reached:  # the list grows while it is walked
            reached += dict.fromkeys(child for child, _, _ in self.edges[here] if child not in reached)
        return reached


def _wrap(sides: list[_Sides], inside: list[Symbol]) -> list[Symbol]:
    left = [symbol for word, _ in sides for symbol in word]
    return [*left, *inside, *(symbol for _, word in reversed(sides) for symbol in word)]
