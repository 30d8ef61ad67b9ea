"""Automata to and from files: one format a module, and drawing."""

from stacklens.automata.formats.dot import to_dot
from stacklens.automata.formats.jflap import to_jflap
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.formats.networkx import to_networkx
from stacklens.automata.formats.rendering import render

__all__ = ["from_json", "render", "to_dot", "to_jflap", "to_json", "to_networkx"]
