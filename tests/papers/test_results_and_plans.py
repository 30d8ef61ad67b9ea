"""Files of results, running claims, what is left to do, and the commands of the shell."""

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.refusals import refused
from tests.shell.commands import papers

from stacklens.core.errors import FileFormatError, UnknownNameError
from stacklens.models.checkpoint import ZOO
from stacklens.papers import results, runner
from stacklens.papers.grid import Grid, GridResults, GridRow, Network, Outcome, RowResult, RunSettings, read_grid
from stacklens.papers.results import FOLDER, Experiment, Finding, PaperClaim, read_results, result_path, write_results
from stacklens.papers.runner import EXPERIMENTS, Plan, part_of, plan_of, run_experiment, run_into
from stacklens.papers.tables import BEGIN, END, claims_table, markdown_table, replace_section, with_section

# ---- Results as files: what is written is read back, what is no result is refused, what is committed can be shown.

LISTS = [name for name, made in EXPERIMENTS.items() if isinstance(made(), Experiment)]
GRIDS = [name for name in EXPERIMENTS if name not in LISTS and read_grid(name) is not None]


def toy() -> Experiment:
    claim = PaperClaim("4.1", "words of length <= 2", "0 errors", lambda: Finding("1 error", {"errors": 1}))
    return Experiment("toy", "Nobody 1993", "a|b", (claim,), (7,))


def test_results_say_what_was_run_and_are_read_back_as_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    clock = iter([12.0, 14.5])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    measured = run_experiment(toy(), told.append)
    assert write_results(measured, tmp_path) == tmp_path / "toy.json"
    assert read_results("toy", tmp_path) == measured
    assert told == ["4.1 words of length <= 2"]
    assert measured.claims[0].command == "stacklens papers run toy"
    assert measured.claims[0].figures == {"errors": 1}
    assert measured.seeds == (7,)
    assert {"python", "stacklens", "torch", "numpy"} <= set(measured.versions)
    assert (measured.claims[0].seconds, measured.seconds) == (2.5, 2.5)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema": 2}', '{"schema": 1, "paper": "x"}', "\xff"])
def test_what_is_no_result_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "toy.json").write_text(content, encoding="latin-1")
    refused(r"toy.json: no results of an experiment", read_results, "toy", tmp_path, error=FileFormatError)


@pytest.mark.parametrize("name", LISTS)
def test_what_is_committed_covers_every_claim_in_the_papers_words(name: str) -> None:
    experiment = EXPERIMENTS[name]()
    assert isinstance(experiment, Experiment)
    assert json.loads(result_path(name).read_text(encoding="utf-8"))["schema"] == 1
    measured = read_results(name)
    expected = [(claim.section, claim.claim, claim.paper) for claim in experiment.claims]
    assert [(claim.section, claim.claim, claim.paper) for claim in measured.claims] == expected
    assert measured.seeds == experiment.seeds
    assert all(claim.ours for claim in measured.claims)


@pytest.mark.parametrize("name", GRIDS)
def test_what_is_committed_of_a_grid_are_rows_that_it_has_at_full_size(name: str) -> None:
    grid, measured = EXPERIMENTS[name](), read_grid(name)
    assert isinstance(grid, Grid)
    assert measured.rows
    assert (measured.paper, measured.experiment) == (grid.paper, name)
    assert {row.name for row in measured.rows} <= {row.name for row in grid.rows}
    assert all(row.scale == 1 and row.seconds["training, CPU"] > 0 for row in measured.rows)


def test_every_file_of_results_belongs_to_an_experiment() -> None:
    others = {"verify"}  # the table of `stacklens verify --all`
    assert {path.stem for path in FOLDER.glob("*.json")} - others <= set(EXPERIMENTS)


# `sun1993-claims` is measured again in test_sun1993.py, but for what takes millions of words
_CHEAP = [f"suzgun2019-{name}" for name in ("counts", "figure2", "repeated-blocks")]


@pytest.mark.slow
@pytest.mark.parametrize("name", _CHEAP)
def test_what_is_committed_is_what_the_code_of_today_measures(name: str) -> None:
    """Where this fails the results are older than the code: `stacklens papers run` them again, in half a minute.

    Networks that a claim trains take longer, and come out otherwise on another processor: their results name a commit.
    """
    experiment = EXPERIMENTS[name]()
    assert isinstance(experiment, Experiment)
    kept = {claim.claim: claim.ours for claim in read_results(name).claims}
    assert {claim.claim: claim.measure().ours for claim in experiment.claims} == kept


def test_the_table_of_the_zoo_has_all_its_networks_as_their_own_results_have_them() -> None:
    rows = json.loads((FOLDER / "verify.json").read_text(encoding="utf-8"))["networks"]
    table = {row["network"].removesuffix(".pt"): row for row in rows}
    for path in ZOO.glob("*.pt"):
        row, own = table[path.stem], json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        report = own.get("report", own)
        sizes = [None if one["automaton"] is None else one["automaton"]["states"] for one in (row, report)]
        assert sizes[0] == sizes[1], path.stem
        for part in ("proof", "certificate"):
            assert row[part]["verdict"] == report[part]["verdict"], path.stem


def test_every_file_of_results_names_the_commit_of_its_code_and_every_automaton_its_search() -> None:
    for path in FOLDER.glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        runs = content.get("rows", [content])
        for run in runs:
            assert re.fullmatch(r"[0-9a-f]{40}( with changes| \(history of the file\))?", run["versions"]["commit"]), (
                path
            )
        found = [one["extraction"] or {"status": 3} for run in runs for one in run.get("networks", ()) if "seed" in one]
        assert {one["method"] for one in found if one["status"] != 3} <= {"learn", "learn-mealy", "kmeans"}


def test_a_run_says_which_commit_it_is_of_and_whether_code_differs_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> str:
        own = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", "-C", tmp_path, *own, *arguments], check=True, capture_output=True, text=True
        ).stdout

    code, result = tmp_path / "papers" / "results.py", tmp_path / "papers" / "results" / "a.json"
    result.parent.mkdir(parents=True)
    monkeypatch.setattr(results, "__file__", str(code))
    commit = results._commit.__wrapped__
    assert commit() == ""  # installed, or a folder in a repository of another project
    git("init", "-q")
    assert commit() == ""  # nothing is committed yet
    code.write_text("1", encoding="utf-8")
    result.write_text("1", encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "m")
    head = git("rev-parse", "HEAD").strip()
    result.write_text("2", encoding="utf-8")  # what a run itself changes
    assert commit() == head
    code.write_text("2", encoding="utf-8")
    assert commit() == f"{head} with changes"


def test_a_markdown_table_keeps_signs_that_mean_something_in_markdown() -> None:
    lines = markdown_table(claims_table(run_experiment(toy()))).splitlines()
    assert lines[-3] == "| 4.1 | words of length &lt;= 2 | 0 errors | 1 error |"


def test_the_section_is_replaced_and_nothing_else_also_where_its_end_is_missing() -> None:
    once = replace_section(f"# Title\n\n{BEGIN}\nold\n{END}\n\n## Next\n", "new")
    assert once == f"# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\n## Next\n"
    assert replace_section(once, "new") == once
    assert replace_section(f"a\n{BEGIN}\n\n## Next\n", "new") == f"a\n{BEGIN}\n\nnew\n\n{END}\n\n## Next\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "README.md: expected the line <!-- results: written by stacklens papers report --> once"),
        (f"{BEGIN}\n{BEGIN}\n", "found it 2 times"),
        (f"{END}\n{BEGIN}\n", "stands before"),
    ],
)
def test_a_readme_without_its_markers_is_left_as_it_is(tmp_path: Path, text: str, message: str) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text, encoding="utf-8")
    refused(message, with_section, readme, "new")
    assert readme.read_text(encoding="utf-8") == text


# ---- Claims that are measured one after the other: a run that is stopped goes on, and nothing of another run is taken.


def three(measured: list[str], stop_at: str = "") -> Experiment:
    """Return three claims that write down when they are measured; one of them stops the run."""

    def claim(name: str) -> PaperClaim:
        def measure() -> Finding:
            if name == stop_at:
                raise KeyboardInterrupt
            measured.append(name)
            return Finding(f"{name} is {len(name)}", {"length": len(name)})

        return PaperClaim("4.1", name, "not reported", measure)

    return Experiment("toy", "Nobody 1993", "three claims", tuple(map(claim, ("one", "three", "eleven"))), (7,))


def test_a_run_that_was_stopped_measures_what_is_left(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_into(three([], "eleven"), tmp_path)
    assert not result_path("toy", tmp_path).exists()
    measured: list[str] = []
    told: list[str] = []
    results = run_into(three(measured), tmp_path, told.append)
    assert measured == ["eleven"]
    assert [claim.figures["length"] for claim in results.claims] == [3, 5, 6]
    assert len(told) == 3  # the bar moves over those that were measured before
    assert read_results("toy", tmp_path) == results
    assert list(tmp_path.iterdir()) == [result_path("toy", tmp_path)]


def test_results_stay_until_a_new_run_is_whole(tmp_path: Path) -> None:
    whole = run_into(three([]), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_into(three([], "three"), tmp_path)
    assert read_results("toy", tmp_path) == whole


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content.update(seeds=[8]),
        lambda content: content["versions"].update(torch="0.1"),
        lambda content: content["claims"][0].update(claim="another"),
        lambda content: content["claims"][0].update(paper="4 errors"),
        lambda content: content["claims"].extend({**content["claims"][0], "claim": one} for one in ("eleven", "more")),
        lambda content: content.pop("claims"),
    ],
)
def test_a_part_of_another_run_is_not_taken(tmp_path: Path, spoil: Callable[[dict[str, object]], object]) -> None:
    experiment = three([], "eleven")
    with pytest.raises(KeyboardInterrupt):
        run_into(experiment, tmp_path)
    part = part_of(experiment, tmp_path)
    content = json.loads(part.read_text(encoding="utf-8"))
    spoil(content)
    part.write_text(json.dumps(content), encoding="utf-8")
    measured: list[str] = []
    run_into(three(measured), tmp_path)
    assert measured == ["one", "three", "eleven"]


def test_a_folder_that_is_not_there_is_said_before_a_second_claim_is_measured(tmp_path: Path) -> None:
    measured: list[str] = []
    refused("nowhere does not exist; make it first", run_into, three(measured), tmp_path / "nowhere")
    assert measured == ["one"]


# ---- What is left to run, and for how long: nothing is run to say it. ----

TWO = RunSettings((0, 1))


def trained(settings: RunSettings) -> list[Outcome]:
    return [Outcome(seed, {"test": settings.data_seed / 10}) for seed in settings.seeds]


def toy_plan(name: str = "toy", data_seeds: bool = True) -> Grid:
    rows = tuple(GridRow(one, {"model": one}, trained) for one in ("a", "b", "c"))
    return Grid(name, "Nobody 1993", "t", rows, ("test",), ("mean",), seeds=2, data_seeds=data_seeds)


def done(row: str, seconds: float, nets: int = 4) -> RowResult:
    networks = tuple(Network(seed, {"test": 0.0}, False) for seed in range(nets))
    spent = {"training, CPU": seconds, "training, wall": 999.0, "extraction, CPU": seconds}
    return RowResult(row, "fast", tuple(range(nets)), 1.0, "cpu", networks, spent, {}, "")


def test_seconds_are_those_that_networks_of_the_same_row_and_protocol_took(tmp_path: Path) -> None:
    write_results(GridResults("", "toy", "", (done("a", 60.0), done("b", 20.0))), tmp_path)
    assert plan_of(toy_plan(), TWO, tmp_path) == Plan(6, 3, 2 * (30.0 + 10.0), 1)
    assert plan_of(toy_plan(), RunSettings((0, 1, 2, 3)), tmp_path) == Plan(4, 1, 0.0, 1)  # a and b are there already
    assert plan_of(toy_plan(), RunSettings((0, 1, 2, 3)), tmp_path, ["b"], fresh=True) == Plan(4, 1, 40.0, 0)
    assert plan_of(toy_plan(), RunSettings((0,), data_seed=3), tmp_path, ["a"]).seconds == 30.0
    assert plan_of(toy_plan(), RunSettings((0,), "paper"), tmp_path).unknown == 3


@pytest.fixture
def two_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    grids = {"toy": toy_plan, "apart": lambda: toy_plan("apart", data_seeds=False)}
    monkeypatch.setattr(runner, "EXPERIMENTS", grids)


def test_a_grid_with_settings_of_its_own_is_left_out_by_the_protocol_of_the_paper(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = replace(toy_plan("own"), protocols=("fast",))
    monkeypatch.setattr(runner, "EXPERIMENTS", {"toy": toy_plan, "own": lambda: own})
    for protocol, grids in (("fast", ["own", "toy"]), ("paper", ["toy"])):
        (tmp_path / protocol).mkdir()
        papers("run", "--all", "--quiet", "--protocol", protocol, "--results", tmp_path / protocol)
        assert sorted(path.stem for path in (tmp_path / protocol).iterdir()) == grids
    own_settings = "own is run by --protocol fast alone, not paper"
    refused(own_settings, papers, "run", "own", "--protocol", "paper", "--results", tmp_path)
    refused("unknown protocol 'papers'", papers, "run", "--all", "--protocol", "papers", "--results", tmp_path)


@pytest.mark.usefixtures("two_grids")
def test_all_grids_are_run_one_after_the_other_and_what_is_done_stays(tmp_path: Path) -> None:
    said = papers("run", "--all", "--forecast", "--results", tmp_path)
    assert said.splitlines()[-1].startswith("all: 6 rows, 12 networks")
    assert not list(tmp_path.iterdir())
    papers("run", "--all", "--quiet", "--results", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["apart.json", "toy.json"]
    assert papers("run", "--all", "--forecast", "--results", tmp_path).splitlines()[-1] == "all: nothing is left to do"
    assert "toy: 3 rows" in papers("run", "--all", "--forecast", "--data-seed", "1", "--results", tmp_path)


@pytest.mark.usefixtures("two_grids")
def test_data_seeds_and_protocols_stand_side_by_side_in_one_file(tmp_path: Path) -> None:
    for options in ((), ("--data-seed", "2"), ("--protocol", "paper")):
        papers("run", "toy", "--quiet", "--results", tmp_path, *options)
    fast, other, paper, *_ = read_grid("toy", tmp_path).rows
    assert [(row.protocol, row.data_seed) for row in (fast, other, paper)] == [("fast", 0), ("fast", 2), ("paper", 0)]
    assert other.command == 'stacklens papers run toy --rows "a" --seeds 2 --data-seed 2 --protocol fast --fresh'
    assert fast.processor
    no_words = r"^apart has no words that all networks of a row share: leave out --data"
    refused(no_words, papers, "run", "apart", "--data-seed", "2", "--results", tmp_path)


@pytest.mark.usefixtures("two_grids")
def test_all_and_a_name_exclude_each_other_and_all_has_no_rows(tmp_path: Path) -> None:
    one, whole = "give the name of an experiment, or --all: one of", "--all runs whole experiments: leave out --rows"
    for given, says in ((), one), (("toy", "--all"), one), (("--all", "--rows", "a"), whole):
        refused(says, papers, "run", *given, "--results", tmp_path)


# ---- `stacklens papers`: list, run, table, report. ----


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = PaperClaim("4.3", "all words of length <= 9", "4 errors on 29,523 words", lambda: Finding("0 errors [x]"))
    experiment = Experiment("sun1993-claims", "Sun 1993", "small", (claim,), (0,))
    monkeypatch.setattr(runner, "EXPERIMENTS", {"sun1993-claims": lambda: experiment})


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
    assert papers("run", "sun1993-claims", "--quiet", "--results", tmp_path) == ""


@pytest.mark.parametrize("command", ["run", "table"])
def test_an_unknown_experiment_is_named_with_the_known_ones(command: str) -> None:
    expected = "unknown experiment 'sun1994': expected one of .*sun1993-claims, .*sun1993-training"
    refused(expected, papers, command, "sun1994", error=UnknownNameError)


def test_a_table_of_nothing_says_what_to_run(tmp_path: Path) -> None:
    refused("stacklens papers run sun1993-training", papers, "table", "sun1993-training", "--results", tmp_path)
    gone = "nowhere: no such folder; expected one that"
    refused(gone, papers, "table", "sun1993-claims", "--results", tmp_path / "nowhere")


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
    "options", [("--seeds", "3"), ("--rows", "x"), ("--fresh",), ("--jobs", "2"), ("--protocol", "paper"), ()]
)
def test_claims_have_no_rows_that_options_could_be_about(tmp_path: Path, options: tuple[str, ...]) -> None:
    says = f"leave out {options[0]}$" if options else "there is no forecast of it$"
    asked = ("--results", tmp_path, *options, *["--forecast"] * (not options))
    refused(f"sun1993-claims has claims and no rows of networks: {says}", papers, "run", "sun1993-claims", *asked)


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_without_results_is_refused_and_nothing_is_written(tmp_path: Path, there: bool) -> None:
    readme, findings = tmp_path / "README.md", tmp_path / "findings.md"
    for file in (readme, findings):
        file.write_text(f"# Title\n\n{BEGIN}\n", encoding="utf-8")
    folder = tmp_path if there else tmp_path / "nowhere"
    given = ("--readme", readme, "--findings", findings, "--results", folder)
    refused("no results of any experiment; expected a folder", papers, "report", *given)
    assert {file.read_text(encoding="utf-8") for file in (readme, findings)} == {f"# Title\n\n{BEGIN}\n"}
