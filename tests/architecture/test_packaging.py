"""The wheel holds the whole house and nothing else, and works where there is no checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "stacklens"
LEFT_OUT = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "build", "dist")
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def rooms() -> list[Path]:
    """Return the folders at the top that are linked under the import root."""
    return sorted(link.resolve() for link in SOURCE.iterdir() if link.is_symlink())


def folders_with_code() -> dict[str, str]:
    """Return the dotted names of all folders that hold Python files, and where these stand."""
    names = {"stacklens": "src/stacklens"}
    names |= {f"stacklens.{name}": f"src/stacklens/{name}" for name in ("cli", "face")}
    for room in rooms():
        for folder in sorted({path.parent for path in room.rglob("*.py")}):
            place = folder.relative_to(ROOT).as_posix()
            names[f"stacklens.{place.replace('/', '.')}"] = place
    return names


def data_files() -> set[str]:
    """Return the files besides code that an installed stacklens needs, under their names in the wheel."""
    files = [
        *(ROOT / "models" / "zoo").glob("*.pt"),
        *(ROOT / "models" / "zoo").glob("*.json"),
        *(ROOT / "papers" / "results").glob("*.json"),
    ]
    files += (ROOT / "viz" / "dashboard" / "assets").iterdir()
    return {"stacklens/py.typed", *(f"stacklens/{path.relative_to(ROOT).as_posix()}" for path in files)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel built from a copy of the checkout, so that nothing is left behind in it."""
    place = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, place / "copy", symlinks=True, ignore=LEFT_OUT)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(place / "copy"))
    (built,) = place.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the wheel is installed in, without what it depends on."""
    place = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--target", str(place)]
    run(sys.executable, "-m", "pip", "install", *options, str(wheel))
    return place


def run(*command: str, path: Path | None = None, cwd: Path | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_folder_with_code_is_listed_in_pyproject() -> None:
    assert SETUPTOOLS["package-dir"] == folders_with_code()
    assert sorted(SETUPTOOLS["packages"]) == sorted(folders_with_code())


def test_every_room_is_linked_by_a_relative_link() -> None:
    links = {link.name: os.readlink(link) for link in SOURCE.iterdir() if link.is_symlink()}
    assert links == {name: f"../../{name}" for name in links}
    assert {room.name for room in rooms()} == set(links)


@pytest.mark.slow
def test_the_wheel_holds_all_code_and_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    code = {
        f"{name.replace('.', '/')}/{path.name}"
        for name, place in folders_with_code().items()
        for path in (ROOT / place).glob("*.py")
    }
    assert found == code | data_files()
    assert sum(name.startswith("stacklens/models/zoo/") for name in found) >= 3
    assert any(name.startswith("stacklens/papers/results/") for name in found)


@pytest.mark.slow
def test_the_wheel_brings_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())


@pytest.mark.slow
def test_the_installed_command_extracts_from_the_installed_zoo(site: Path, tmp_path: Path) -> None:
    imported = run(sys.executable, "-c", "import stacklens; print(stacklens.__file__)", path=site, cwd=tmp_path)
    assert Path(imported.strip()) == site / "stacklens" / "__init__.py"
    network = site / "stacklens" / "models" / "zoo" / "nnpda-palindrome.pt"
    code = "import sys; from stacklens.cli.extract import main; main()"
    options = ["--max-length", "6", "--out", "pda.json"]
    summary = run(sys.executable, "-c", code, str(network), *options, path=site, cwd=tmp_path)
    assert re.search(r"all 1,093 of length <= 6 +0 +0 +0$", summary, re.MULTILINE)
    assert (tmp_path / "pda.json").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["extract-pda", "stacklens"])
def test_the_commands_are_installed(site: Path, tmp_path: Path, command: str) -> None:
    assert run(str(site / "bin" / command), "-h", path=site, cwd=tmp_path).startswith(f"Usage: {command} ")


@pytest.mark.slow
def test_the_sdist_has_the_examples_the_documents_and_the_tests_and_nothing_left_over(tmp_path: Path) -> None:
    shutil.copytree(ROOT, tmp_path / "copy", symlinks=True, ignore=LEFT_OUT)
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(tmp_path / "copy"))
    (built,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(built) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    assert {"examples/adapter.py", "docs/zoo.md", "tests/conftest.py", "CITATION.cff", "constraints.txt"} <= found
    assert {f"{place}/__init__.py" for place in folders_with_code().values()} <= found
    assert not [name for name in found if "__pycache__" in name or name.endswith(".pyc")]
