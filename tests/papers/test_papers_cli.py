"""`stacklens papers`: list, run, table, report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stacklens.__main__ import app
from stacklens.core.errors import StacklensError, UnknownNameError
from stacklens.papers import experiments
from stacklens.papers.experiments import EXPERIMENTS
from stacklens.papers.findings import BEGIN, END
from stacklens.papers.results import Experiment, Finding, PaperClaim


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = PaperClaim("4.3", "all words of length <= 9", "4 errors on 29,523 words", lambda: Finding("0 errors [x]"))
    experiment = Experiment("sun1993-claims", "Sun 1993", "small", (claim,), (0,))
    monkeypatch.setattr(experiments, "EXPERIMENTS", {"sun1993-claims": lambda: experiment})


def papers(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["papers", *map(str, arguments)], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return result.output


def test_list_names_the_experiments_and_whether_they_are_measured(tmp_path: Path) -> None:
    assert "yes" in papers("list")
    shown = papers("list", "--results", tmp_path)
    assert "sun1993-claims" in shown
    assert "sun1993-training" in shown
    assert "yes" not in shown


@pytest.mark.usefixtures("small")
def test_run_measures_writes_and_shows(tmp_path: Path) -> None:
    shown = papers("run", "sun1993-claims", "--results", tmp_path)
    assert (tmp_path / "sun1993-claims.json").is_file()
    assert "0 errors [x]" in shown
    assert shown.endswith(f"wrote {tmp_path / 'sun1993-claims.json'}\n")


@pytest.mark.usefixtures("small")
def test_quiet_shows_nothing(tmp_path: Path) -> None:
    assert papers("run", "sun1993-claims", "--quiet", "--results", tmp_path) == ""


@pytest.mark.usefixtures("small")
def test_nothing_is_measured_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match="does not exist; make it first"):
        papers("run", "sun1993-claims", "--results", tmp_path / "missing")


def test_the_table_that_comes_with_us_shows_the_papers_figures_beside_ours() -> None:
    shown = papers("table", "sun1993-claims")
    for figure in ("29,523", "21,523,359", "21,523,360", "2,097,150", "2,097,151"):
        assert figure in shown


@pytest.mark.parametrize("command", ["run", "table"])
def test_an_unknown_experiment_is_named_with_the_known_ones(command: str) -> None:
    expected = "unknown experiment 'sun1994': expected one of .*sun1993-claims, .*sun1993-training"
    with pytest.raises(UnknownNameError, match=expected):
        papers(command, "sun1994")


def test_a_table_of_nothing_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match="stacklens papers run sun1993-training"):
        papers("table", "sun1993-training", "--results", tmp_path)


def test_report_writes_a_line_an_experiment_and_every_table_between_the_markers(tmp_path: Path) -> None:
    readme, findings = tmp_path / "README.md", tmp_path / "findings.md"
    for file in (readme, findings):
        file.write_text(f"# Title\n\n{BEGIN}\n", encoding="utf-8")
    papers("report", "--readme", readme, "--findings", findings)
    short, long = (file.read_text(encoding="utf-8") for file in (readme, findings))
    for text in (short, long):
        assert text.startswith(f"# Title\n\n{BEGIN}\n")
        assert text.endswith(f"{END}\n")
    for experiment in EXPERIMENTS:
        assert f"`{experiment}`" in short
        assert f"stacklens papers run {experiment}" in long
    papers("report", "--readme", readme, "--findings", findings)
    assert (readme.read_text(encoding="utf-8"), findings.read_text(encoding="utf-8")) == (short, long)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "options", [("--seeds", "3"), ("--rows", "x"), ("--fresh",), ("--jobs", "2"), ("--protocol", "paper")]
)
def test_claims_have_no_rows_that_options_could_be_about(tmp_path: Path, options: tuple[str, ...]) -> None:
    with pytest.raises(StacklensError, match=f"has claims and no rows of networks: leave out {options[0]}$"):
        papers("run", "sun1993-claims", "--results", tmp_path, *options)


def test_report_of_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match="no such file; expected a Markdown file"):
        papers("report", "--readme", tmp_path / "README.md", "--findings", tmp_path / "findings.md")


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_without_results_is_refused_and_nothing_is_written(tmp_path: Path, there: bool) -> None:
    readme, findings = tmp_path / "README.md", tmp_path / "findings.md"
    for file in (readme, findings):
        file.write_text(f"# Title\n\n{BEGIN}\n", encoding="utf-8")
    folder = tmp_path if there else tmp_path / "nowhere"
    with pytest.raises(StacklensError, match="no results of any experiment; expected a folder"):
        papers("report", "--readme", readme, "--findings", findings, "--results", folder)
    assert {file.read_text(encoding="utf-8") for file in (readme, findings)} == {f"# Title\n\n{BEGIN}\n"}


def test_a_table_of_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StacklensError, match="nowhere: no such folder; expected one that"):
        papers("table", "sun1993-claims", "--results", tmp_path / "nowhere")


def test_neither_help_nor_list_loads_torch() -> None:
    code = "import sys; from stacklens.__main__ import app; app(['papers', *sys.argv[1:]], standalone_mode=False)"
    for arguments in (["-h"], ["run", "-h"], ["list"]):
        script = f"{code}; assert 'torch' not in sys.modules"
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
