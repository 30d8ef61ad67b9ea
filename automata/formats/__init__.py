"""Automata to and from files and other libraries' objects: one format a module, and drawing."""

from .by_suffix import read_automaton
from .dot import from_dot, render, to_dot
from .json import from_json, to_json
from .libraries import from_aalpy, from_automata_lib, to_aalpy, to_automata_lib, to_networkx
from .textbook import from_jflap, to_jflap

__all__ = [
    "from_aalpy",
    "from_automata_lib",
    "from_dot",
    "from_jflap",
    "from_json",
    "read_automaton",
    "render",
    "to_aalpy",
    "to_automata_lib",
    "to_dot",
    "to_jflap",
    "to_json",
    "to_networkx",
]
