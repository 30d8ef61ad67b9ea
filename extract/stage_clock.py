"""How long every stage of an extraction takes, and its name as it begins."""

from __future__ import annotations

import logging
import time

from stacklens.progress import Told

__all__ = ["StageClock"]

_log = logging.getLogger("stacklens.extract.extraction")  # what users listen to


class StageClock:
    """Times stages, and tells their names as they begin; ``seconds`` has those that are over, by name, summed up."""

    def __init__(self, progress: Told) -> None:
        self.progress, self.seconds = progress, dict[str, float]()
        self.begun, self.name = time.perf_counter(), ""

    def stage(self, name: str) -> None:
        """Begin the stage called ``name``, and end the one before."""
        self.stop()
        self.name = name
        _log.info("%s", name)
        self.progress(name, 0, None)

    def come(self, done: int, total: int | None) -> None:
        """Tell how far the present stage has come, and of how much, if that is known."""
        self.progress(self.name, done, total)

    def stop(self) -> dict[str, float]:
        """End the present stage; return the seconds of all."""
        now = time.perf_counter()
        if self.name:
            self.seconds[self.name] = self.seconds.get(self.name, 0.0) + now - self.begun
        self.begun = now
        return self.seconds
