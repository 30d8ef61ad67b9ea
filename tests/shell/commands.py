"""Running the commands in this process."""

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import stacklens
from stacklens import __main__ as stacklens_command
from stacklens.cli import extract as extract_command
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.models.base import StackModel

ROOT = Path(stacklens.__file__).parent
ZOO = ROOT / "models" / "zoo"
DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit status and what it wrote."""

    status: int
    out: str
    error: str


Shell = Callable[..., Outcome]  # the fixture: a command and its arguments


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, *arguments: str | Path
) -> Outcome:
    """Return the outcome of ``stacklens`` or ``extract-pda`` with ``arguments``, run in this process."""
    monkeypatch.setattr(sys, "argv", [f"/usr/bin/{command}", *map(str, arguments)])
    capsys.readouterr()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit) as ended:
        (extract_command if command == "extract-pda" else stacklens_command).main()
    signal.signal(signal.SIGINT, before)
    status = ended.value.code
    assert isinstance(status, int)
    return Outcome(status, *capsys.readouterr())


def check_refused(found: Outcome, message: str, begins: str = "") -> None:
    """Check that a command gave up before it wrote anything but one line, and in which words."""
    assert (found.status, found.out) == (2, "")
    assert found.error.startswith(f"error: {begins}")
    assert message in found.error
    assert found.error.count("\n") == 1
    assert len(found.error) < 1_200


def check_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let extraction check on few long words and cycles."""

    def quickly(model: StackModel[Any], language: Any, config: ExtractionConfig, *rest: Any, **more: Any) -> Extraction:
        few = dataclasses.replace(
            config, long_words=100, deep_words=2, depth=50, height=8, climbs=1, walks=10, cycles=20
        )
        return extract(model, language, few, *rest, **more)

    for module in ("evaluation.sweep", "extraction"):  # in this order: a sweep keeps what it finds when it is imported
        monkeypatch.setattr(f"stacklens.extract.{module}.extract", quickly)


def papers(*arguments: str | Path) -> str:
    """Return what ``stacklens papers`` prints on a wide screen; what goes wrong in it is raised."""
    result = CliRunner().invoke(stacklens_command.app, ["papers", *map(str, arguments)], env={"COLUMNS": "250"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return result.output


@contextmanager
def page_server(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[], str]]]:
    """Yield ``stacklens app`` as a process in ``folder``, where its store is too, and what reads its next line."""
    command = [sys.executable, "-m", "stacklens", "app", "--port", "0", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT.parent), "STACKLENS_CACHE": str(folder)}
    environment.pop("STACKLENS_TOKEN", None)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe, cwd=folder) as process:
        try:
            yield process, process.stdout.readline
        finally:
            process.kill()
