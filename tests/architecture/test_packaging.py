"""What is built and installed, with which extras; and what is skipped where."""

import ast
import doctest
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from tests.models import published_networks
from tests.models.published_networks import ABSENT, published

# ---- The wheel holds the whole house and nothing else, and works without a checkout; the editable install is one
# that type checkers and editors follow: scripts in another folder pass theirs.
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
    names["stacklens.face"] = "src/stacklens/face"
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
        *(ROOT / "papers" / "declared").glob("*.toml"),
        *(ROOT / "models" / "training").glob("*.toml"),
    ]
    files += (ROOT / "viz" / "dashboard" / "assets").iterdir()
    return {"stacklens/py.typed", *(f"stacklens/{path.relative_to(ROOT).as_posix()}" for path in files)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an sdist of a copy of the checkout, so that nothing is left behind in it, and its wheel."""
    place = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, place / "copy", symlinks=True, ignore=LEFT_OUT)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place), str(place / "copy"))
    return place


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the wheel is installed in, without what it depends on."""
    place = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--target", str(place)]
    run(sys.executable, "-m", "pip", "install", *options, str(wheel))
    return place


@pytest.fixture(scope="module")
def another_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of another project, whose .venv has an editable install of a copy of the checkout.

    What the copy depends on, the environment takes from this one.
    """
    place = tmp_path_factory.mktemp("another")
    checkout = shutil.copytree(ROOT, place / "checkout", symlinks=True, ignore=LEFT_OUT)
    with (checkout / "src" / "stacklens" / "__init__.py").open("a", encoding="utf-8") as file:
        file.write("of_the_copy: int = 7\n")
    (place / "project").mkdir()
    environment = place / "project" / ".venv"
    run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    code = f"from setuptools.build_meta import build_editable; build_editable({str(place)!r})"  # which pip calls
    run(sys.executable, "-c", code, cwd=checkout)
    site_packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (built,) = place.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(site_packages)
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return place / "project"


def readme_scripts() -> str:
    """Return the Python examples of the README as one script, which prints what an example shows."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    examples = [one.source for block in blocks for one in doctest.DocTestParser().get_examples(block)]
    parts = [part for example in examples for part in ast.parse(example).body]
    shown = [isinstance(part, ast.Expr) and not isinstance(part.value, ast.Call) for part in parts]  # to be looked at
    texts = [ast.unparse(part) for part in parts]
    return "\n".join(f"print({text})" if alone else text for text, alone in zip(texts, shown, strict=True)) + "\n"


def run(*command: str, path: Path | None = None, cwd: Path | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_folder_with_code_is_listed_in_pyproject_and_every_room_linked_by_a_relative_link() -> None:
    elsewhere = {name: place for name, place in folders_with_code().items() if not place.startswith("src/")}
    assert SETUPTOOLS["package-dir"] == {"": "src", **elsewhere}
    assert sorted(SETUPTOOLS["packages"]) == sorted(folders_with_code())
    links = {link.name: os.readlink(link) for link in SOURCE.iterdir() if link.is_symlink()}
    assert links == {name: f"../../{name}" for name in links}
    assert {room.name for room in rooms()} == set(links)


@pytest.mark.slow
def test_an_editable_install_is_a_path_that_checkers_follow(another_project: Path) -> None:
    """No import hook, which no checker runs; and no bare `models` beside that of a user."""
    (path,) = another_project.glob(".venv/**/site-packages/__editable__*.pth")
    assert path.read_text(encoding="utf-8").split() == [str(another_project.parent / "checkout" / "src")]
    code = (
        "import importlib.util, stacklens.extract; print(stacklens.of_the_copy); "
        "print([name for name in ('models', 'probe', 'extract', 'viz') if importlib.util.find_spec(name)])"
    )
    assert run(str(another_project / ".venv" / "bin" / "python"), "-c", code, cwd=another_project) == "7\n[]\n"


ACCEPTED = """
number: int = sl.of_the_copy
model: sl.StackModel[Any] = sl.load("nnpda-palindrome")
opened = (sl.load("a.pt", kind="network"), sl.load("a.json", kind="result"), sl.load("a.npz", kind="trace"))
anything = sl.load("a.json")
anything.automaton.accepts("aca")
result = sl.extract(opened[0], "palindrome")
opened[2].with_automaton(result.automaton).to_frame()
if result.minimised is not None:
    result.minimised.save("pda.svg")
sl.compare(result, "palindrome")
print(sl.verify(result, max_length=10).disagreements)
print(result.causal().states.accuracy, result.network.name, result.report()["seconds"])
net = sl.train("marnn-stack-rnn", "dyck-2", seeds=5)
print(sl.ablate(net), sl.linear_probes(net), sl.horizon_curve(net), sl.saliency(net, "()"))
print(sl.sweep(["a.pt", net]).to_frame(), sl.zoo(), sl.languages(), sl.tasks())


def even(words: list[tuple[str, ...]]) -> list[bool]:
    return [len(word) % 2 == 0 for word in words]


print(sl.learn(even, "ab").automaton.states)
"""
REFUSED = """
sl.laod("a.pt")
sl.load("a.pt", kind="netwrok")
sl.trace(sl.load("a.json", kind="result"), "aca")
sl.extract("a.pt").automata
"""


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["pyright", "mypy"])
def test_scripts_of_another_project_pass_a_strict_checker(another_project: Path, checker: str) -> None:
    (another_project / "readme.py").write_text(readme_scripts(), encoding="utf-8")
    begin = "from typing import Any\nimport stacklens as sl\n"
    (another_project / "accepted.py").write_text(begin + ACCEPTED, encoding="utf-8")
    (another_project / "refused.py").write_text("import stacklens as sl" + REFUSED, encoding="utf-8")
    python = str(another_project / ".venv" / "bin" / "python")
    if checker == "mypy":
        if (ROOT / ".mypy_cache").exists():  # of `make check`: the libraries are known then
            shutil.copytree(ROOT / ".mypy_cache", another_project / ".mypy_cache")
        command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "."]
    else:
        playwright, pyright = (pytest.importorskip(name) for name in ("playwright", "pyright"))
        (another_project / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
        node = Path(playwright.__file__).parent / "driver" / "node"  # pyright itself would download one
        command = [str(node), str(Path(pyright.__file__).parent / "dist" / "index.js"), "--pythonpath", python]
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run(command, cwd=another_project, env=environment, capture_output=True, text=True, check=False)
    wrong = re.findall(r"(\w+)\.py:(\d+)\S* -? ?error", done.stdout)
    lines = range(2, 2 + len(REFUSED.strip().splitlines()))
    assert list(dict.fromkeys(wrong)) == [("refused", str(line)) for line in lines], done.stdout + done.stderr


@pytest.mark.slow
def test_the_wheel_holds_all_code_and_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())
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
def test_the_installed_commands_run_and_extract_from_the_installed_zoo(site: Path, tmp_path: Path) -> None:
    network = site / "stacklens" / "models" / "zoo" / "nnpda-palindrome.pt"
    code = "import stacklens; print(stacklens.__file__); from stacklens.cli.extract import main; main()"
    options = ["--max-length", "6", "--out", "pda.json"]
    imported, _, summary = run(sys.executable, "-c", code, str(network), *options, path=site, cwd=tmp_path).partition(
        "\n"
    )
    assert Path(imported) == site / "stacklens" / "__init__.py"
    assert re.search(r"all 1,093 of length <= 6 +0 +0 +0$", summary, re.MULTILINE)
    assert (tmp_path / "pda.json").is_file()
    for command in ("extract-pda", "stacklens"):
        assert run(str(site / "bin" / command), "-h", path=site, cwd=tmp_path).startswith(f"Usage: {command} ")


@pytest.mark.slow
def test_the_sdist_has_the_examples_the_documents_and_the_tests_and_nothing_left_over(built: Path) -> None:
    (packed,) = built.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    assert {"examples/adapter.py", "docs/zoo.md", "tests/conftest.py", "CITATION.cff", "constraints.txt"} <= found
    assert {f"{place}/__init__.py" for place in folders_with_code().values()} <= found
    assert {f"src/{name.replace('.', '/')}/__init__.py" for name in folders_with_code()} <= found  # for -e
    assert not [name for name in found if "__pycache__" in name or name.endswith(".pyc")]


# ---- What an installation may lack: everything else works, and who asks for it learns the command that installs it.
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = (
    *("dash", "dash_ag_grid", "diskcache", "psutil", "waitress", "kaleido"),
    *("distributed", "dask", "aalpy", "statsmodels"),
)


def run_without(*libraries: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` where ``libraries`` cannot be imported."""
    command = [sys.executable, "-c", f"import sys; sys.modules |= dict.fromkeys({libraries!r})\n{code}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_page_without_one_of_its_libraries_is_one_line_with_the_command() -> None:
    """In the shell, and where any part of the page is imported."""
    code = f"""
from importlib import import_module
from stacklens.__main__ import main
sys.argv = ["stacklens", "app", "--port", "0"]
for library in {OPTIONAL[:5]}:
    sys.modules[library] = None
    for attempt in (main, lambda: import_module("stacklens.viz.dashboard.requests")):
        try:
            attempt()
        except (Exception, SystemExit) as error:
            print(library, error, file=sys.stderr)
    del sys.modules[library]
"""
    done = run_without(code=code)
    line = "the page is not installed: pip install 'stacklens[page]'"
    assert done.stderr.splitlines() == [
        said
        for library in OPTIONAL[:5]
        for said in (f"error: {line}", f"{library} 2", f"{library} {line}")
        if library != "waitress" or said != f"{library} {line}"  # which only the server needs
    ]


@pytest.mark.slow
def test_traces_and_extraction_need_nothing_optional_but_for_figures_as_png(tmp_path: Path) -> None:
    network = "models/zoo/nnpda-palindrome.pt"
    code = f"""
from stacklens.__main__ import main
for words in (
    ("trace", {network!r}, "abcba", "--out", "{tmp_path}/a.png"),
    ("trace", {network!r}, "abcba", "--out", "{tmp_path}/a.html"),
    ("extract", {network!r}, "--max-length", "6", "--out", "{tmp_path}/pda.svg"),
):
    sys.argv = ["stacklens", *words]
    try:
        main()
    except SystemExit as ended:
        print("status", ended, file=sys.stderr)
"""
    done = run_without(*OPTIONAL, code=code)
    missing, *statuses = done.stderr.splitlines()
    assert missing.endswith("is not installed: pip install 'stacklens[figures]'")
    assert statuses == ["status 2", "status 0", "status 0"]
    assert {path.name for path in tmp_path.iterdir()} == {"a.html", "pda.svg"}


def test_what_is_optional_is_in_an_extra_and_in_no_requirement_of_all() -> None:
    extras = " ".join(" ".join(found) for name, found in PROJECT["optional-dependencies"].items() if name != "test")
    needed = " ".join(PROJECT["dependencies"])
    for library in OPTIONAL:
        name = library.replace("_", "-")
        assert name in extras
        assert f"{name}>" not in needed


# ---- What is skipped in CI has failed there, but for networks that are published and not there. ----
TESTS = f"""
import pytest

def test_one(): pytest.skip({ABSENT!r})
@pytest.mark.skipif(True, reason="no moon")
def test_two(): pass
def test_three(): pytest.importorskip("no_such_module")
"""


@pytest.mark.slow
def test_in_ci_only_the_published_networks_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    environment = {**os.environ, "CI": "true", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.stderr, done.stdout.count("1 skipped")) == ("", 1)
    assert "test_two - skipped, which in CI is a failure: no moon" in done.stdout
    assert "test_three - skipped, which in CI is a failure: could not import" in done.stdout


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
