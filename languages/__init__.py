"""What should be recognised: languages with a definition, a reference automaton and samplers. numpy only, no torch."""

from stacklens.languages.base import Language
from stacklens.languages.registry import get_language, language_names

__all__ = ["Language", "get_language", "language_names"]
