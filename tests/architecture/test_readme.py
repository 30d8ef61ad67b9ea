"""What the README shows is what happens: its examples are run, and their output is compared with the one shown."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.architecture.shown_commands import commands_in, inline_commands, is_ours, refusal, unknown_names

from stacklens.models.checkpoint import load_checkpoint

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def blocks(kind: str) -> list[str]:
    return [text for name, text in BLOCKS if name == kind]


def shell_examples() -> list[tuple[str, str]]:
    """Return the README's commands, each with the output that is shown below it, if any."""
    examples = []
    for block in blocks("console"):
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
@pytest.mark.parametrize("example", blocks("python"), ids=["the first", "a trace", "an intervention"])
def test_a_python_example_gives_what_it_shows(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(example, {}, "README", "README.md", 0)
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.attempted > 3
    assert result.failed == 0, "".join(report)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), [example for example in shell_examples() if example[1]])
def test_a_shell_example_gives_what_it_shows(command: str, output: str, checkout: Path) -> None:
    done = run(command, checkout)
    assert done.returncode == 0, done.stderr
    assert without_analog_figures(done.stdout) == without_analog_figures(output)


@pytest.mark.slow
def test_the_picture_is_the_one_that_its_command_makes(checkout: Path) -> None:
    """Compared by its texts: where lines and letters fall depends on the version of Graphviz."""
    (command,) = {command for command, _ in shell_examples() if "docs/" in command}
    assert run(f"{command} --quiet --max-length 5", checkout).returncode == 0
    shown = [(folder / "docs" / "palindrome.svg").read_text(encoding="utf-8") for folder in (ROOT, checkout)]
    texts = [sorted(re.findall(r"<text[^>]*>(.*?)</text>", picture)) for picture in shown]
    assert len(texts[0]) > 10
    assert texts[0] == texts[1]
    assert "docs/palindrome.svg" in README


def test_every_command_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    commands = commands_in(README)
    assert {command.split()[0] for command in commands} >= {"make", "stacklens", "extract-pda"}
    for command in commands:
        name, argument, *_ = shlex.split(command)
        if name == "make":
            assert argument in targets
        elif is_ours(command):
            assert refusal(command) is None, command
        else:
            assert shutil.which(name.removeprefix(".venv/bin/"), path=str(Path(sys.executable).parent)), name


def test_commands_in_the_prose_of_the_readme_have_names_that_there_are() -> None:
    shown = inline_commands(README)
    assert len(shown) > 10
    assert [(command, names) for command in shown if (names := unknown_names(command))] == []


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("stacklens trce nnpda-palindrome --nope", "no command 'trce'"),
        ("stacklens trace nnpda-palindrome abcba --nope", "No such option: --nope"),
        ("stacklens trace nnpda-palindrome", "Missing argument 'WORD'"),
        ("stacklens train nnpda --seeds 3", "Missing option '--language'"),
        ("stacklens probe horizn nnpda-palindrome", "no command 'horizn'"),
        ("extract-pda nnpda-palindrome --max-length many", "Invalid value for '--max-length'"),
        (".venv/bin/extract-pda nnpda-palindrome --out pda.svg --save result.json  # a comment", None),
        ("stacklens papers table joulin2015-table2", None),
    ],
)
def test_a_command_that_would_be_refused_is_found_without_running_it(command: str, wrong: str | None) -> None:
    found = refusal(command)
    assert (found or "").startswith(wrong or "")
    assert (found is None) is (wrong is None)


def test_the_zoo_is_made_by_the_commands_in_its_checkpoints() -> None:
    """The commands that the files remember stand in docs/zoo.md, most without where they write."""
    listed = (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "models" / "zoo").glob("*.pt")):
        command = load_checkpoint(path).provenance["command"].removesuffix(" --quiet")
        shorter = command.removesuffix(f" --out models/zoo/{path.name}")
        assert command in listed or f"| `{path.name}` | `{shorter}` |" in listed, path.name


def test_files_that_the_readme_links_to_exist() -> None:
    links = re.findall(r"\]\(([^):#]+)\)", README)
    assert "docs/palindrome.svg" in links
    assert [link for link in links if not (ROOT / link).exists()] == []
