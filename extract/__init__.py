"""From a network to an automaton: quantise, explore, minimise, verify, report; called, it is ``sl.extract``."""

from ..core.imports import callable_package

callable_package(__name__)
