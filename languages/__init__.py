"""What should be recognised: languages with a reference automaton and samplers, and tasks; called, ``sl.languages``."""

from stacklens.above import callable_package
from stacklens.languages.catalogue import get_language, get_task, language_names, task_names
from stacklens.languages.language import Language

__all__ = ["Language", "get_language", "get_task", "language_names", "task_names"]

callable_package(__name__)
