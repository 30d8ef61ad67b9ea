"""Automata to and from files and other libraries' objects: one format a module, and drawing."""

from stacklens.automata.formats.aalpy import from_aalpy, to_aalpy
from stacklens.automata.formats.automata_lib import from_automata_lib, to_automata_lib
from stacklens.automata.formats.by_suffix import read_automaton
from stacklens.automata.formats.dot import from_dot, render, to_dot
from stacklens.automata.formats.jflap import from_jflap, to_jflap
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.formats.networkx import to_networkx

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
