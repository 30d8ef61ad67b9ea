"""What should be recognised: languages with a reference automaton and samplers, and tasks; called, ``sl.languages``."""

from ..core.imports import callable_package
from .catalogue import get_language, get_task, language_names, task_names
from .language import Language

__all__ = ["Language", "get_language", "get_task", "language_names", "task_names"]

callable_package(__name__)
