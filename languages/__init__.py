"""What should be recognised: languages with a reference automaton and samplers, and tasks."""

from stacklens.languages.catalogue import get_language, get_task, language_names, task_names
from stacklens.languages.language import Language

__all__ = ["Language", "get_language", "get_task", "language_names", "task_names"]
