"""The papers' tasks on languages: what a network reads, what it should say and which of it counts. numpy only."""

from stacklens.languages.tasks.base import Kind, Split, Task
from stacklens.languages.tasks.examples import Examples
from stacklens.languages.tasks.registry import get_task, task_names

__all__ = ["Examples", "Kind", "Split", "Task", "get_task", "task_names"]
