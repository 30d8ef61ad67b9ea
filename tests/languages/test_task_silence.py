"""A task that knows which outputs never count says the same as its rule for what counts."""

from __future__ import annotations

import pytest

from stacklens.languages.catalogue import get_task, task_names

NAMES = [name.replace("dyck-N", "dyck-2").replace("dyck-K-M", "dyck-2-3") for name in task_names()]
BY_PLACE = {"agreement", "parenthesis-prediction"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in BY_PLACE])
def test_silent_outputs_are_those_that_are_not_scored(name: str) -> None:
    task = get_task(name)
    assert task.silent is not None
    for word in task.sample(20, seed=1).words:
        counted = [output not in task.silent for output in task.expected(word)]
        assert task.scored(word) == counted
