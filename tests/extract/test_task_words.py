"""Words of tasks to check networks on: every task has some, whatever its sizes are."""

from __future__ import annotations

import pytest

from stacklens.extract.task_reference import TaskReference
from stacklens.languages.tasks.registry import get_task, task_names


@pytest.mark.parametrize("name", [name for name in task_names() if name != "dyck-N"])
def test_every_task_gives_words_that_it_understands(name: str) -> None:
    task = get_task(name)
    words = TaskReference(task).long_words(40, (10, 20), 0)
    assert words
    assert words == TaskReference(task).long_words(40, (10, 20), 0)
    if task.kind != "next set":  # of which half are near-misses
        assert all(len(task.expected(word)) == len(word) for word in words)
