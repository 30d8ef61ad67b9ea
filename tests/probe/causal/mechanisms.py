"""Machines that behave alike and compute otherwise, built by hand, and what an automaton for brackets claims.

The automaton predicts what may come next: either opening bracket, and the closing one of the top. A closing bracket
pops; what is then on top is known from the cell popped, which says what it lies on. So a stack symbol is a bracket and
what lies below it: six symbols, one state.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from tests.extract.certificate.proved import dyck_2
from tests.extract.hand_built import NO_CELL, HandMachine, Place, Rule

from stacklens.automata.runs import RunTables
from stacklens.models.base import StackModel
from stacklens.probe.experiment import Claim

SET = ("(", "[")  # what may come first
BRACKETS = replace(
    dyck_2(), accepting=frozenset(), acceptance="output", initial_output=SET, accepting_outputs=frozenset({SET})
)


def claim(network: StackModel[Any]) -> Claim:
    """Return what `BRACKETS` claims of a predictor of sets over its own letters."""
    pda = BRACKETS
    tables = RunTables.of(pda)
    outputs = tables.tables.outputs
    numbers = [-1 if said is None else sum(1 << network.alphabet.index(x) for x in said) for said in outputs]
    return Claim(
        pda,
        tables,
        letters=np.arange(len(pda.input_alphabet)),
        numbers=np.array(numbers),
        scored=np.ones(tables.tables.target.size, np.bool_),
        recognition=False,
        expected=np.array([[said is None or x in said for x in pda.input_alphabet] for said in outputs]),
        partial=False,
        stacks=(0,),
    )


def _memory(net: str) -> HandMachine:
    """Return a network that pushes what it reads, a or b, and at c pops and says what that was: three letters.

    * "direct": the cells are what was pushed; one state.
    * "phased": the first letter of a word sets a phase, a or b, for good; in phase b the cells are exchanged. Its
      hidden vector is used as two states where one would do.
    * "top in state": the hidden vector is the top, and a cell what lies below the one that was pushed.
    """
    a, b, c, ground = 0, 1, 2, ((NO_CELL,),)
    rules: dict[Place, Rule] = {}
    if net == "top in state":  # states and cells: 0 for nothing, 1 for a, 2 for b
        for state, cell in product(range(3), range(3)):
            for letter, window in product((a, b), (ground, ((cell,),))):
                rules[state, letter, window] = Rule(letter + 1, (("push", state),), letter)
            rules[state, c, ((cell,),)] = Rule(cell, (("pop", 0),), (c, a, b)[state])
        rules[0, c, ground] = Rule(0, (("none", 0),), c)
        return HandMachine(3, ("a", "b", "c"), 3, 1, 1, "next symbol", rules, frozenset())
    states = range(3) if net == "phased" else range(1)  # 0: no letter yet
    for state, letter in product(states, (a, b)):
        phase = (letter + 1 if state == 0 else state) if net == "phased" else 0
        for window in (ground, ((0,),), ((1,),)):
            laid = 1 - letter if phase == 2 else letter
            rules[state, letter, window] = Rule(phase, (("push", laid),), letter)
    for state in states:
        rules[state, c, ground] = Rule(state, (("none", 0),), c)
        for cell in (a, b):
            rules[state, c, ((cell,),)] = Rule(state, (("pop", 0),), 1 - cell if state == 2 else cell)
    return HandMachine(len(states), ("a", "b", "c"), 2, 1, 1, "next symbol", rules, frozenset())


def _turning(in_cell: bool) -> HandMachine:
    """Return a machine that says a and b in turn, whatever it reads; whose turn it is stands in cells, or in states."""
    rules: dict[Place, Rule] = {}
    for letter, cell in product(range(2), (NO_CELL, 0, 1)):
        if in_cell:
            said = 1 if cell == 0 else 0
            rules[0, letter, ((cell,),)] = Rule(0, (("push", said),), said)
        else:
            for state in range(2):
                rules[state, letter, ((cell,),)] = Rule(1 - state, (("push", 0),), state)
    return HandMachine(1 if in_cell else 2, ("a", "b"), 2, 1, 1, "next symbol", rules, frozenset())


def _idling() -> HandMachine:
    """Return the direct memory with two hidden vectors that take turns and tell nothing."""
    rules = {
        (state, letter, window): Rule(1 - state, one.moves, one.output)
        for (_, letter, window), one in DIRECT.rules.items()
        for state in range(2)
    }
    return HandMachine(2, DIRECT.letters, 2, 1, 1, "next symbol", rules, frozenset())


DIRECT, PHASED, TOP_IN_STATE, TURNING_CELLS, TURNING_STATES = (
    *map(_memory, ("direct", "phased", "top in state")),
    *map(_turning, (True, False)),
)
IDLING = _idling()
