"""What a run of the tests says of those that it skipped: how many and why in one line, and in CI that they failed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models import published_networks
from tests.models.published_networks import ABSENT, published

ROOT = Path(__file__).parents[2]
TESTS = f"""
import pytest

def test_one(): pytest.skip({ABSENT!r})
def test_two(): pytest.skip({ABSENT!r})
"""
MORE = """
@pytest.mark.skipif(True, reason="no moon")
def test_three(): pass
def test_four(): pytest.importorskip("no_such_module")
"""


def run(folder: Path, tests: str, ci: str) -> list[str]:
    """Return the last lines of a run of the tests under our conftest, above the one that says how long it took."""
    (folder / "test_some.py").write_text(tests, encoding="utf-8")
    environment = {**os.environ, "CI": ci, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.splitlines()[:-1]


@pytest.mark.slow
def test_what_is_skipped_is_counted_in_one_line_with_the_reasons(tmp_path: Path) -> None:
    *_, line = run(tmp_path, TESTS + MORE, ci="")
    assert line == (
        f"4 skipped (2: {ABSENT}; 1: no moon; 1: could not import 'no_such_module': No module named 'no_such_module')"
    )


@pytest.mark.slow
def test_in_ci_only_the_published_networks_may_be_missing(tmp_path: Path) -> None:
    *_, line = run(tmp_path, TESTS, ci="true")
    assert line == f"2 skipped (2: {ABSENT})"
    lines = run(tmp_path, TESTS + MORE, ci="true")
    assert any("test_three - skipped, which in CI is a failure: no moon" in line for line in lines)
    assert any("test_four - skipped, which in CI is a failure: could not import" in line for line in lines)


def test_a_published_network_that_is_missing_is_a_failure_where_the_others_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STACKLENS_PUBLISHED", raising=False)
    monkeypatch.setattr(published_networks, "BESIDE", tmp_path / "published")
    with pytest.raises(pytest.skip.Exception, match="name their folder in STACKLENS_PUBLISHED"):
        published("stacknn/*.dat")
    (tmp_path / "published").mkdir()
    with pytest.raises(pytest.fail.Exception, match=r"no stacknn/\*\.dat in .*: expected the networks that the papers"):
        published("stacknn/*.dat")
    (tmp_path / "published" / "one.dat").touch()
    assert published("*.dat").name == "one.dat"
