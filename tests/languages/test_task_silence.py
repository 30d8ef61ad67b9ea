"""A task that knows which outputs never count says the same as its rule for what counts."""

from __future__ import annotations

import pytest

from stacklens.languages.tasks.registry import get_task, task_names

NAMES = [name.replace("dyck-N", "dyck-2") for name in task_names()]


@pytest.mark.parametrize("name", NAMES)
def test_silent_outputs_are_those_that_are_not_scored(name: str) -> None:
    task = get_task(name)
    if task.silent is None:
        pytest.skip(f"in {name} more than the output decides what counts")
    for word in task.sample(20, seed=1).words:
        counted = [output not in task.silent for output in task.expected(word)]
        assert task.scored(word) == counted
