"""Jobs for tests, which a process of their own finds by name."""

from __future__ import annotations

import os
import time

from stacklens.viz.dashboard.jobs import Tell


def spelled(tell: Tell, word: str, times: int) -> list[str]:
    tell([word, times])
    return [word] * times


def failing(tell: Tell, word: str) -> None:
    tell([word])
    raise ValueError(f"no {word} here")


def endless(tell: Tell) -> None:
    tell([os.getpid()])
    time.sleep(600)
