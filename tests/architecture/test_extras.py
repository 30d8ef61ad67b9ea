"""What an installation may lack: everything else works, and who asks for it learns the command that installs it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = (
    "dash",
    "dash_ag_grid",
    "diskcache",
    "waitress",
    "psutil",
    "kaleido",
    "distributed",
    "dask",
    "aalpy",
    "statsmodels",
)


def run_without(*libraries: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` where ``libraries`` cannot be imported."""
    barred = f"import sys; sys.modules |= dict.fromkeys({libraries!r})"
    command = [sys.executable, "-c", f"{barred}; {code}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def stacklens(*words: str) -> str:
    return f"sys.argv = ['stacklens', *{words!r}]; from stacklens.__main__ import main; main()"


@pytest.mark.parametrize("library", ["dash", "dash_ag_grid", "waitress"])
def test_the_page_without_its_libraries_is_one_line_with_the_command(library: str) -> None:
    done = run_without(library, code=stacklens("app", "--port", "0"))
    assert done.returncode == 2
    assert done.stderr == "error: the page is not installed: pip install 'stacklens[page]'\n"


@pytest.mark.slow
@pytest.mark.parametrize("library", ["dash", "dash_ag_grid", "diskcache", "psutil"])
def test_any_part_of_the_page_says_so_too(library: str) -> None:
    done = run_without(library, code="import stacklens.viz.dashboard.requests")
    assert done.stderr.endswith("StacklensError: the page is not installed: pip install 'stacklens[page]'\n")


def test_figures_as_png_without_their_library_are_one_line_and_pages_need_none(tmp_path: Path) -> None:
    network, word = "models/zoo/nnpda-palindrome.pt", "abcba"
    done = run_without("kaleido", code=stacklens("trace", network, word, "--out", str(tmp_path / "a.png")))
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.endswith("is not installed: pip install 'stacklens[figures]'\n")
    done = run_without(*OPTIONAL, code=stacklens("trace", network, word, "--out", str(tmp_path / "a.html")))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_extraction_needs_nothing_optional(tmp_path: Path) -> None:
    words = ("models/zoo/nnpda-palindrome.pt", "--max-length", "6", "--out", str(tmp_path / "pda.svg"))
    code = f"sys.argv = ['extract-pda', *{words!r}]; from stacklens.cli.extract import main; main()"
    done = run_without(*OPTIONAL, code=code)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "pda.svg").exists()


def test_what_is_optional_is_in_an_extra_and_in_no_requirement_of_all() -> None:
    extras = " ".join(" ".join(found) for name, found in PROJECT["optional-dependencies"].items() if name != "test")
    needed = " ".join(PROJECT["dependencies"])
    for library in OPTIONAL:
        name = library.replace("_", "-")
        assert name in extras
        assert f"{name}>" not in needed
