"""Progress in a notebook: shown where ipywidgets is there, and silent, not a warning in every cell, where it is not."""

from __future__ import annotations

import pytest
from rich.console import Console

from stacklens import progress


@pytest.mark.parametrize("there", [True, False])
def test_progress_in_a_notebook_needs_ipywidgets(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    class Shown:
        def __init__(self, *_: object, disable: bool, **__: object) -> None:
            begun.append(not disable)

        def __enter__(self) -> Shown:
            return self

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr("rich.progress.Progress", Shown)
    monkeypatch.setattr(Console, "is_jupyter", True, raising=False)
    monkeypatch.setattr(Console, "__init__", lambda self, **_: setattr(self, "is_jupyter", True))
    monkeypatch.setattr(Console, "is_terminal", property(lambda _: True))
    monkeypatch.setattr(progress, "is_installed", lambda library: there and library == "ipywidgets")
    for quiet in (False, True):
        with progress.progress_bar(quiet):
            pass
    assert begun == [there, False]
