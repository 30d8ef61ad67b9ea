"""The docs' site, the readme, the examples and the notebooks say what the program does, and run."""

import ast
import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.architecture.shown_commands import (
    ROOT,
    commands_in,
    docs_script,
    inline_commands,
    is_ours,
    refusal,
    unknown_names,
)

import stacklens as sl
from stacklens.face import notebook, opening, results
from stacklens.languages.catalogue import language_names, task_names
from stacklens.models.checkpoint import load_checkpoint, zoo_names
from stacklens.models.training import OPTIONS

# ---- The documentation site: it builds without a warning, every link leads somewhere, and no other host is asked.
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
INDENTED = re.compile(r"^    ((?:extract-pda|stacklens) .*)$", re.MULTILINE)


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def check(site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DOCS / "check_site.py"), str(site)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def build(site: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    """Build a site by the command of `make docs`, with another place for it."""
    (options,) = re.findall(r"/mkdocs (build .*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    command = [sys.executable, "-m", "mkdocs", *options.split(), "--site-dir", str(site), "--config-file", str(config)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def home(name: str) -> str:
    """Return where the public ``name`` is defined, as the reference calls it."""
    value = next(getattr(room, name) for room in (opening, results, notebook, sl) if hasattr(room, name))
    return f"{value.__module__}.{value.__qualname__}"


def test_the_site_builds_without_a_warning_and_asks_no_other_host(tmp_path: Path) -> None:
    done = build(tmp_path)
    assert (done.returncode, re.findall("WARNING.*", done.stderr)) == (0, [])
    found = check(tmp_path)
    assert (found.returncode, found.stdout) == (0, "the site asks no other host for anything\n")
    reference = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "api").glob("*.html"))
    assert [name for name in sl.__all__ if f'id="{home(name)}"' not in reference] == []
    assert "<blockquote>" not in reference  # examples are shown as examples


def test_warnings_fail_the_build_of_the_site(tmp_path: Path) -> None:
    """Those of links that lead nowhere, of names that there are not, and of a page that the menu lacks."""
    pages = tmp_path / "pages"
    pages.mkdir()
    lost = "[lost](gone.md) [lost](index.md#gone) [lost](../Makefile) [[]][()]"
    (pages / "index.md").write_text(f"# A page\n\n{lost}\n", encoding="utf-8")
    (pages / "second.md").touch()
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: pages\nnav: [index.md]\n", encoding="utf-8")
    done = build(tmp_path / "site", config)
    found = re.findall("WARNING.*(?:\n {2,}.*)*", done.stderr)
    for warning in ("gone.md", "#gone", "../Makefile", "cross-reference", 'not included in the "nav"'):
        assert any(warning in line for line in found), done.stderr
    assert done.returncode != 0


def test_what_another_host_is_asked_for_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://example.org">fine</a><script src="https://example.org/a.js"></script>'
        '<link rel="stylesheet" href="//example.org/a.css"><img src="there.png"><img src="lost%20one.png">'
        '<img src="data:image/png;base64,AA==">',
        encoding="utf-8",
    )
    (tmp_path / "b.css").write_text('@font-face { src: url("https://example.org/f.woff") }', encoding="utf-8")
    (tmp_path / "there.png").touch()
    found = check(tmp_path)
    assert found.returncode == 1
    assert found.stdout.splitlines() == [
        "a.html: asks another host: https://example.org/a.js",
        "a.html: asks another host: //example.org/a.css",
        "a.html: not there: lost%20one.png",
        "b.css: asks another host: https://example.org/f.woff",
    ]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_is_there(page: Path) -> None:
    for block in blocks(page, "python"):
        if ">>>" not in block:
            ast.parse(block)
        assert [name for name in re.findall(r"\bsl\.(\w+)", block) if name not in dir(sl)] == []
    text = page.read_text(encoding="utf-8")
    assert [(command, names) for command in inline_commands(text) if (names := unknown_names(command))] == []
    for command in [*commands_in(text), *INDENTED.findall(text)]:
        assert not is_ours(command) or refusal(command) is None, command
        words = command.split()
        if words[0] == "make":
            assert words[1] in TARGETS
        if words[:2] == ["stacklens", "train"]:
            assert words[2] in OPTIONS
            subject = words[words.index("--language") + 1]
            assert re.sub(r"dyck-\d+", "dyck-N", subject) in {*language_names(), *task_names()}


def test_every_network_of_the_zoo_is_in_the_gallery() -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"^### (\S+)$", text, re.MULTILINE)
    assert shown == list(zoo_names())
    pictures = {path.stem for path in (DOCS / "gallery").iterdir()}
    assert set(re.findall(r"\(gallery/(\S+)\.svg\)", text)) == pictures <= set(shown)


# ---- What the README shows is what happens: its examples are run, and their output is compared with the one shown.
FIRST_PAGE = ROOT / "README.md"
README = FIRST_PAGE.read_text(encoding="utf-8")
TRACED = (ROOT / "docs/first-automaton.md").read_text(encoding="utf-8").split("```python\n")[2].partition("```")[0]


def shell_examples() -> list[tuple[str, str]]:
    """Return the README's commands, each with the output that is shown below it, if any."""
    examples = []
    for block in blocks(FIRST_PAGE, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            examples.append((command, output))
    return examples


def without_analog_figures(output: str) -> str:
    """Return ``output`` without the figures that the last bit of a floating-point number can change.

    These are the verdicts of the network itself and its smallest margin, and timings if there are any.
    """
    output = re.sub(r"^( {11}.* of length <= [\d,]+ .*?) +[\d,]+$", r"\1 …", output, flags=re.MULTILINE)
    output = re.sub(r"^( {11}network: .*| {11}in full: .*|.*from the network on .*)\n", "", output, flags=re.MULTILINE)
    output = re.sub(r"; the network (is first known to differ|follows it) on .*\.$", "", output, flags=re.MULTILINE)
    return re.sub(r"(action margin |in )\d+\.\d+", r"\1…", output)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Run torch on one thread, as the commands do: the arrays are small, and more threads only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder that looks like a checkout to the README's commands, and may be written to."""
    (tmp_path / "docs").mkdir()
    shutil.copytree(ROOT / "models" / "zoo", tmp_path / "models" / "zoo")
    return tmp_path


def run(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FORCE_COLOR")}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", "")])
    environment["PYTHONIOENCODING"] = "utf-8"
    return subprocess.run(
        shlex.split(command.removeprefix(".venv/bin/")),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    "example", [*blocks(FIRST_PAGE, "python"), TRACED], ids=["the first", "an intervention", "a trace"]
)
def test_a_python_example_gives_what_it_shows(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(example, {}, "README", "README.md", 0)
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted > 3
    assert result.failed == 0, "".join(report)


@pytest.mark.usefixtures("one_thread")
def test_the_page_on_a_language_model_is_one_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page, names = DOCS / "first-language-model.md", dict[str, Any]()
    exec("\n".join(blocks(page, "python")), names)
    result, lines = names["result"], set(re.findall(r"^(\w+)  +", str(names["result"]), re.MULTILINE))
    assert result.headline.startswith("proved equal to dyck-1-3")
    assert result.status in (0, 1)  # on long words another build of torch may leave the language
    assert set(re.findall(r"^\| `(\w+)`", page.read_text(encoding="utf-8"), re.MULTILINE)) <= lines
    assert {path.name for path in tmp_path.iterdir()} == {"mine.dot", "result.json"}


def test_the_page_on_probing_reaches_into_a_network_as_it_says() -> None:
    section = (DOCS / "probing.md").read_text(encoding="utf-8").split("## Reach into a network")[1]
    exec(section.split("```python\n")[1].partition("```")[0], {})


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), [example for example in shell_examples() if example[1]])
def test_a_shell_example_gives_what_it_shows(command: str, output: str, checkout: Path) -> None:
    done = run(command, checkout)
    assert done.returncode == 0, done.stderr
    assert without_analog_figures(done.stdout) == without_analog_figures(output)


def test_the_picture_is_the_one_that_its_command_makes(checkout: Path) -> None:
    """Compared by its texts: where lines and letters fall depends on the version of Graphviz."""
    (command,) = {command for command, _ in shell_examples() if "docs/" in command}
    assert run(f"{command} --quiet --max-length 5", checkout).returncode == 0
    shown = [(folder / "docs" / "palindrome.svg").read_text(encoding="utf-8") for folder in (ROOT, checkout)]
    texts = [sorted(re.findall(r"<text[^>]*>(.*?)</text>", picture)) for picture in shown]
    assert len(texts[0]) > 10
    assert texts[0] == texts[1]
    assert "docs/palindrome.svg" in README


def test_the_zoo_is_made_by_the_commands_in_its_checkpoints() -> None:
    """The commands that the files remember stand in docs/zoo.md, most without where they write."""
    listed = (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "models" / "zoo").glob("*.pt")):
        known, name = load_checkpoint(path).provenance, path.name.replace("-drifting", "")
        for command in {
            known["command"].removesuffix(" --quiet"),
            known.get("trained_by", "").removesuffix(" --quiet"),
        }:
            shorter = command.removesuffix(f" --out models/zoo/{name}")
            assert command in listed or f"| `{name}` | `{shorter}` |" in listed, path.name


def test_files_that_the_readme_links_to_exist() -> None:
    links = re.findall(r"\]\(([^):#]+)\)", README)
    assert "docs/palindrome.svg" in links
    assert [link for link in links if not (ROOT / link).exists()] == []


# ---- The page on networks of one's own: its table is of the networks that there are, and its mapping can be read.
PAGE = (ROOT / "docs" / "own-networks.md").read_text(encoding="utf-8")


def test_the_table_has_a_row_for_every_network_and_what_is_read_is_right() -> None:
    table = PAGE[PAGE.index("<!-- networks:") : PAGE.index("<!-- end of networks")]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[3:] if line.startswith("|")]
    assert len(rows) == 14
    for number, cells in enumerate(rows):
        assert len(cells) == 8
        assert int(cells[1]) <= (2 if number < 4 else 10)
        right = "on 1,000 of 1,000 words" if cells[3] in ("clusters", "merging", "asked") else ""
        assert (cells[4] == "3", cells[6]) == (not right, right)


def test_the_mapping_of_the_page_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    for name in ("own_networks", "own_networks_plain"):  # both can be imported
        plain = import_module(name)
        monkeypatch.delitem(sys.modules, name)
    mapping = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    torch.manual_seed(0)
    net = plain.StackRNN(temperature=1.0)
    torch.save({"model_state_dict": net.state_dict()}, tmp_path / "net.pt")
    (tmp_path / "mapping.json").write_text(mapping[1], encoding="utf-8")
    model = sl.load(tmp_path / "mapping.json")
    assert json.loads(mapping[1])["keys"].keys() >= {"input weight", "output bias"}
    word = "([])[("
    with torch.no_grad():
        own = net(plain.encode(word))[0].sigmoid()
    torch.testing.assert_close(torch.from_numpy(sl.trace(model, word).output[0]), own)


# ---- The map in CONTRIBUTING is the one that `make map` draws of the code as it is. ----
def test_the_picture_shows_the_packages_as_they_are() -> None:
    """Compared by its texts, and between what arrows lead: where things lie depends on the version of Graphviz."""
    made, kept = docs_script("architecture"), (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    drawn = made.render(made.dot(), "svg").decode()
    old, new = (sorted(re.findall(r"<(?:title|text)[^>]*>([^<]+)<", svg)) for svg in (kept, drawn))
    assert old == new, "run make map"


# ---- What docs/zoo.md says of words that networks part on is what their results hold. ----
def test_the_table_of_the_page_is_that_of_the_results() -> None:
    page = (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8")
    made = docs_script("zoo_table")
    assert made.with_table(page, made.table()) == page, "run python docs/zoo_table.py"
    networks = {path.stem for path in (ROOT / "models" / "zoo").glob("*.pt")}
    assert {line.split("`")[1].removesuffix(".pt") for line in made.table().splitlines()[2:]} == networks


# ---- The examples run as they stand, and come out as docs/adapter.md says. ----


def test_the_adapter_extracts_the_one_state_automaton_of_balanced_parentheses() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "adapter.py")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    apart = re.search(r"the adapter's outputs and the network's own differ by at most (\S+)", done.stdout)
    assert float(apart[1]) < 1e-9
    assert re.search(r"^automaton +1 state, 2 stack symbols, 5 transitions$", done.stdout, re.MULTILINE)
    found = re.findall(r"of length <= [\d,]+ +(\w+) +(\w+) +\d+$", done.stdout, re.MULTILINE)
    assert len(found) == 6  # all, long, deep, covering, driven, repeated cycles
    assert {one for pair in found for one in pair} <= {"0", "proved"}


# ---- The notebooks of examples/ run as they stand, and hold no outputs of an earlier run. ----
EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_no_notebook_holds_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:(zmq|jupyter_client|jupyter_core|ipykernel|traitlets)")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_runs_and_shows_something_in_every_cell(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent / "src"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    nbformat, nbclient = (pytest.importorskip(name) for name in ("nbformat", "nbclient"))  # no other test needs them
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not [
        out for cell in code for out in cell.outputs if out.output_type == "error" or out.get("name") == "stderr"
    ]
    assert sum(bool(cell.outputs) for cell in code) >= len(code) - 1


# ---- The page that goes with one word through the code names functions and files that are there. ----
FOLLOW_PAGE = " ".join((ROOT / "docs" / "follow-a-word.md").read_text(encoding="utf-8").split())
NAMED = re.findall(r"`(\w+)` \(`([\w/]+\.py)`\)", FOLLOW_PAGE)


def defined(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_every_name_is_defined_in_the_file_beside_it() -> None:
    assert len(NAMED) > 30
    assert [(name, path) for name, path in NAMED if name not in defined(path)] == []
