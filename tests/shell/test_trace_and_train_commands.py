"""`stacklens trace`, `train` and `sweep`: what they print, what they write, and what they refuse."""

import csv
import dataclasses
import io
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import torch
from tests.models.hand_made import parentheses_net
from tests.shell.commands import ZOO, Shell, check_quickly, check_refused
from typer.testing import CliRunner

from stacklens.__main__ import app
from stacklens.automata.formats.json import to_json
from stacklens.extract.accuracy import scores_by_size
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.evaluation import sweep as sweep_row
from stacklens.extract.extraction import extract
from stacklens.languages.catalogue import get_language
from stacklens.models.checkpoint import Checkpoint, load_checkpoint, save_model, zoo_names
from stacklens.models.training import OPTIONS
from stacklens.models.training import recipes as fit_recipes
from stacklens.models.training import recipes as stream_recipes
from stacklens.models.training.recipes import RECIPES, SETS, SYMBOL_RECIPE, FitRecipe, recipe_for
from stacklens.models.training.recognition import Training
from stacklens.models.training.supervised import Fitting
from stacklens.probe.trace import trace

TRAIN = ("train", "nnpda", "--language", "parentheses", "--seeds", "2", "--seed", "1")


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """Return a checkpoint with a hand-made network for parentheses."""
    save_model(tmp_path / "net.pt", Checkpoint(parentheses_net(), {"language": "parentheses"}))
    return tmp_path / "net.pt"


def same_weights(one: Path, other: Path) -> bool:
    left, right = (load_checkpoint(path).model.state_dict() for path in (one, other))
    return all(torch.equal(left[name], right[name]) for name in right)


def test_trace_shows_every_step_and_the_verdict(net: Path, shell: Shell) -> None:
    accepted = shell("stacklens", "trace", net, "(())")
    assert (accepted.status, accepted.error) == (0, "")
    assert accepted.out.endswith("accepted\n")
    assert len([line for line in accepted.out.splitlines() if line.startswith("│")]) == 5
    rejected = shell("stacklens", "trace", net, "())", "--rounded")
    assert (rejected.status, rejected.error) == (0, "")
    assert rejected.out.endswith("rejected\n")
    assert shell("stacklens", "trace", net, "").out.endswith("accepted\n")


@pytest.mark.parametrize(
    ("network", "word", "says"),
    [
        ("nnpda-palindrome", "ε", "rejected"),
        ("marnn-stack-rnn-dyck-2-drifting", "ε", "accepted"),
        ("neural-stack-reversal", "0#1#", "outputs 0 0 0 1"),
        ("buffered-neural-stack-reversal", "011", "outputs 0 1 1"),
        ("neural-stack-reversal", "", "no outputs: the word is empty"),
    ],
)
def test_a_transducer_is_said_to_answer_and_not_to_accept_and_epsilon_is_the_empty_word(
    network: str, word: str, says: str, shell: Shell
) -> None:
    found = shell("stacklens", "trace", network, word)
    assert (found.status, found.out.splitlines()[-1]) == (0, says)


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [1, 74])
def test_ctrl_c_leaves_a_checkpoint_from_which_the_same_network_comes(
    epochs: int, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stage,) = RECIPES["parentheses"].stages
    brief = dataclasses.replace(stage, epochs=120)
    short = dataclasses.replace(RECIPES["parentheses"], stages=(brief,), check_length=8)
    monkeypatch.setitem(RECIPES, "parentheses", short)
    straight, stopped, resumed = (tmp_path / f"{name}.pt" for name in ("straight", "stopped", "resumed"))
    found = shell("stacklens", *TRAIN, "--out", straight)
    assert (found.status, found.error) == (0, "")
    assert f"to {straight}" in found.out
    with monkeypatch.context() as patched:
        epoch = Training.epoch

        def interrupted(self: Training) -> None:
            epoch(self)
            if self.epochs_done == epochs:
                os.kill(os.getpid(), signal.SIGINT)

        patched.setattr(Training, "epoch", interrupted)
        found = shell("stacklens", *TRAIN, "--out", stopped)
    assert (found.status, found.error) == (130, "")
    assert f"stopped; {stopped} holds the best network so far; go on with --resume {stopped}" in found.out
    checkpoint = load_checkpoint(stopped)
    assert checkpoint.training["epochs_done"] == epochs
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if epochs > 1:
        check_quickly(monkeypatch)
        assert shell("extract-pda", stopped, "--max-length", "5", "--quiet").status in (0, 1, 3)
    found = shell("stacklens", *TRAIN, "--resume", stopped, "--out", resumed)
    assert (found.status, found.error) == (0, "")
    assert same_weights(straight, resumed)
    assert load_checkpoint(resumed).training is None
    at_once, in_two = (load_checkpoint(one).provenance["history"] for one in (straight, resumed))
    assert in_two == at_once
    assert len(in_two["epochs"]) > len(load_checkpoint(stopped).provenance["history"]["epochs"]) > 0
    assert shell("stacklens", *TRAIN, "--resume", stopped).status == 0
    assert same_weights(straight, stopped)  # without --out the file itself goes on


def test_a_training_is_resumed_only_with_the_options_it_was_begun_with(tmp_path: Path, shell: Shell) -> None:
    stopped = tmp_path / "stopped.pt"
    training = Training(recipe_for(get_language("parentheses")), get_language("parentheses"), seed=1, nets=2)
    training.epoch()
    save_model(stopped, Checkpoint(training.network(), {"language": "parentheses"}, {}, training.state()))
    before = stopped.read_bytes()
    for option, value, message in [
        ("--seeds", "3", "it was begun with nets 2, asked for is 3"),
        ("--seed", "0", "it was begun with seed 1, asked for is 0"),
        ("--language", "dyck-1", "it was begun with language 'parentheses', asked for is 'dyck-1'"),
        ("--neurons", "4", "n_states=3"),
        ("--order", "third", "order=second"),
    ]:
        found = shell("stacklens", *TRAIN, "--resume", stopped, option, value)
        check_refused(found, message, f"{stopped}: this training cannot be resumed: ")
    assert stopped.read_bytes() == before


SMALL = {"words": 20, "check_words": 10, "epochs": 2}
LANGUAGES = {
    **dict.fromkeys(("stack-rnn", "list-rnn", "scrn"), "anbn"),
    **dict.fromkeys(("marnn-stack-rnn", "marnn-stack-lstm", "marnn-joulin", "baby-ntm", "rnn", "lstm"), "dyck-1"),
    **dict.fromkeys(("neural-stack", "linear"), "reversal"),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the recipes by ones that take no time."""
    sets = FitRecipe(**{**vars(SETS), **SMALL, "lengths": (2, 10), "long_words": 0})
    monkeypatch.setattr(fit_recipes, "SETS", sets)
    monkeypatch.setattr(fit_recipes, "SYMBOL_RECIPE", FitRecipe(**{**vars(SYMBOL_RECIPE), **SMALL, "lengths": (1, 3)}))
    stream = stream_recipes.STREAM_RECIPES["anbn"]
    fast = {"windows": 2, "streams": 4, "check_sizes": (2, 5), "check_pieces": 1, "epochs": 2}
    monkeypatch.setitem(stream_recipes.STREAM_RECIPES, "anbn", type(stream)(**{**vars(stream), **fast}))


def train(*arguments: str | Path, status: int = 0) -> str:
    result = CliRunner().invoke(app, ["train", *map(str, arguments)], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    assert result.return_value == status, result.output
    return result.output


@pytest.mark.parametrize("model", [model for model in OPTIONS if model != "nnpda"])  # which has tests of its own
def test_every_model_trains_and_writes_a_checkpoint_that_loads_and_traces(model: str, tmp_path: Path) -> None:
    language, out = LANGUAGES[model], tmp_path / "net.pt"
    options = ("--seeds", "2", "--seed", "3", "--epochs", "1", "--out", out)
    shown = train(model, "--language", language, *options)
    assert f"to {out}" in shown
    assert "2 networks, 1 epochs" in shown
    checkpoint = load_checkpoint(out)
    assert checkpoint.model.name == model
    assert checkpoint.task["language"] == language
    assert checkpoint.provenance["seed"] in (3, 4)
    assert {"command", "recipe", "scores", "versions"} <= set(checkpoint.provenance)
    assert checkpoint.training is None
    assert trace(checkpoint.model, [checkpoint.model.alphabet[:1] * 2]).hidden.shape[:2] == (1, 3)


@pytest.mark.parametrize("name", ["own.cfg", "re:(ab)*"])
def test_a_language_is_a_predictors_task_for_all_but_the_nnpda(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "own.cfg":
        path.write_text("S -> ( S ) S | ε", encoding="utf-8")
        name = str(path)
    shown = train("lstm", "--language", name, "--seeds", "1", "--epochs", "1", "--out", tmp_path / "net.pt")
    assert shown.startswith(f"a predictor's task: lstm learns what may come next in words of {name} (nnpda")
    assert load_checkpoint(tmp_path / "net.pt").model.task_kind == "next set"


def test_the_zoo_is_listed_and_a_shell_completes_its_names(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = shell("stacklens", "zoo").out
    assert "NETWORK.pt" in shown
    assert all(name in shown for name in zoo_names())
    assert "_EXTRACT_PDA_COMPLETE=complete_bash" in shell("stacklens", "--completion", "bash").out
    assert "expected one of bash, zsh, fish" in shell("stacklens", "--completion", "tcsh").error
    for line, found in (
        ("trace nnpda-p", "nnpda-palindrome\nnnpda-parentheses\n"),
        ("extract --language anbm", "anbmcnm\n"),
    ):
        monkeypatch.setenv("COMP_WORDS", f"stacklens {line}")
        monkeypatch.setenv("COMP_CWORD", str(len(line.split())))
        monkeypatch.setenv("_STACKLENS_COMPLETE", "complete_bash")
        assert shell("stacklens").out == found


def test_ctrl_c_leaves_a_checkpoint_that_goes_on_as_if_nothing_had_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("marnn-stack-rnn", "--language", "dyck-1", "--seeds", "2")
    whole, stopped = tmp_path / "whole.pt", tmp_path / "stopped.pt"
    train(*arguments, "--out", whole)
    with monkeypatch.context() as patch:
        patch.setattr(Fitting, "epoch", interrupted(Fitting.epoch))
        assert "go on with --resume" in train(*arguments, "--out", stopped, status=130)
    assert load_checkpoint(stopped).training is not None
    train(*arguments, "--resume", stopped)
    one, other = load_checkpoint(whole), load_checkpoint(stopped)
    assert other.training is None
    for name, value in one.model.state_dict().items():
        assert torch.equal(value, other.model.state_dict()[name])
    assert one.provenance["scores"] == other.provenance["scores"]


def interrupted(epoch: Callable[[Fitting], None]) -> Callable[[Fitting], None]:
    def stopping(self: Fitting) -> None:
        epoch(self)
        signal.raise_signal(signal.SIGINT)

    return stopping


NETWORK = "nnpda-palindrome"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("ablate", NETWORK), "whole network: accuracy 1.000"),
        (("linear", NETWORK), "tested on longer ones"),
        (("saliency", NETWORK, "abcba"), "pushes agree with the automaton's top"),
    ],
)
def test_each_command_prints_what_it_found(shell: Shell, arguments: tuple[str, ...], expected: str) -> None:
    done = shell("stacklens", "probe", *arguments)
    assert done.status == 0, done.error
    assert expected in done.out


def test_tables_and_figures_are_written(shell: Shell, tmp_path: Path) -> None:
    table, figure = tmp_path / "t.csv", tmp_path / "t.html"
    done = shell("stacklens", "probe", "ablate", NETWORK, "--out", str(table), "--out", str(figure))
    assert done.status == 0, done.error
    assert table.read_text(encoding="utf-8").startswith("kind,name,role,accuracy,importance")
    assert "plotly" in figure.read_text(encoding="utf-8")


def test_an_extraction_is_followed_by_interchanges_where_these_are_asked_for(shell: Shell, tmp_path: Path) -> None:
    saved, drawn = tmp_path / "r.json", tmp_path / "r.csv"
    network = "marnn-stack-rnn-string-reversal"
    done = shell("extract-pda", network, "--causal", "--max-length", "4", "--save", str(saved))
    assert done.status == 0, done.error
    assert "causal     of four automata that are proved equal, the minimised one is what the network" in done.out
    assert "symbols          1,000       1.000 (0.98" in done.out
    again = shell("stacklens", "probe", "causal", str(saved), "--cases", "100", "--out", str(drawn))
    assert again.status == 0, again.error
    assert drawn.read_text(encoding="utf-8").startswith("what,name,interchanges,accuracy,low,high\nstate,q0,")


NET = ZOO / "marnn-stack-rnn-dyck-2-drifting.pt"


def test_trace_writes_figures_and_numbers_in_one_go(tmp_path: Path, shell: Shell) -> None:
    page, data, steps = (tmp_path / name for name in ("t.html", "t.json", "t.csv"))
    found = shell("stacklens", "trace", NET, "([])", "--out", page, "--out", data, "--out", steps)
    assert (found.status, found.error) == (0, "")
    assert found.out == f"wrote {page}\nwrote 4 steps to {data}\nwrote 4 steps to {steps}\n"
    html = page.read_text(encoding="utf-8")
    assert "marnn-stack-rnn on ([]): read to the end" in html
    assert '"reference height"' in html
    assert json.loads(data.read_text(encoding="utf-8"))["symbols"] == list("([])")
    assert len(steps.read_text(encoding="utf-8").splitlines()) == 5


def test_a_picture_is_refused_before_the_network_is_read_where_there_is_no_browser(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/none")
    found = shell("stacklens", "trace", "none.pt", "()", "--out", tmp_path / "t.svg")
    assert found.status == 2
    assert found.error.startswith("error: cannot draw .svg, .png or .pdf: no Chrome or Chromium was found; install one")


def test_export_writes_a_page_with_automaton_checks_proof_and_traces(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_quickly(monkeypatch)
    out = tmp_path / "report.html"
    arguments = ("export", ZOO / "nnpda-palindrome.pt", "--html", out, "--max-length", "5", "--word", "abcba")
    found = shell("stacklens", *arguments)
    assert (found.status, found.out, found.error) == (0, f"wrote {out}\n", "")
    html = out.read_text(encoding="utf-8")
    assert "equal for all words (proof)" in html
    assert "nnpda on abcba: accepted" in html
    assert "<svg" in html
    assert shell("stacklens", *arguments, "--word", "x").status == 2


def test_a_port_that_is_taken_is_one_line(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = shell("stacklens", "app", "--port", str(port))
    assert found.status == 2
    assert found.error.startswith(f"error: cannot listen on 127.0.0.1:{port}: ")
    assert found.error.endswith("; choose another --port or --host\n")


# ---- `stacklens sweep` and `stacklens train --snapshots`: what they print, what they write, and what they refuse.
OURS = {"kind": "recognition", "language": "parentheses"}
QUICK = ExtractionConfig(max_length=5, long_words=50, deep_words=1, depth=20, height=5, climbs=1, walks=5, cycles=8)


@pytest.fixture
def networks_in_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    for name in ("one", "two"):
        save_model(f"runs/{name}.pt", Checkpoint(parentheses_net(), OURS))
    monkeypatch.setattr(sweep_row, "scores_by_size", partial(scores_by_size, largest=12))
    monkeypatch.setattr(sweep_row, "extract", lambda model, language, _: extract(model, language, QUICK))


@pytest.mark.usefixtures("networks_in_runs")
def test_a_pattern_gives_a_table_and_the_files_asked_for(shell: Shell) -> None:
    out = ("--out", "sweep.csv", "--out", "sweep.html", "--out", "sweep.json")
    outcome = shell("stacklens", "sweep", "runs/*.pt", "--language", "parentheses", *out)
    assert (outcome.status, outcome.error) == (0, "")
    lines = [line for line in outcome.out.splitlines() if line.startswith("│")]
    assert [line.split("│")[1].strip() for line in lines] == ["runs/one.pt", "runs/two.pt"]
    assert all("equal" in line for line in lines)
    table = pd.read_csv("sweep.csv")
    assert table.network.tolist() == ["runs/one.pt", "runs/two.pt"]
    assert table.automaton.tolist() == [1, 1]
    assert len(json.loads(Path("sweep.json").read_text(encoding="utf-8"))["rows"]) == 2
    assert "plotly" in Path("sweep.html").read_text(encoding="utf-8").lower()
    assert sorted(path.name for path in Path().iterdir()) == ["runs", "sweep.csv", "sweep.html", "sweep.json"]


@pytest.mark.usefixtures("networks_in_runs")
def test_a_sweep_that_was_begun_goes_on_only_when_asked_to(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(model: object, *_: object) -> None:
        if getattr(model, "origin").name == "two":  # noqa: B009
            raise KeyboardInterrupt
        return extract(model, None, QUICK)  # type: ignore[arg-type,return-value]

    with monkeypatch.context() as patched:
        patched.setattr(sweep_row, "extract", killed)
        outcome = shell("stacklens", "sweep", "runs", "--out", "t.csv")
    assert (outcome.status, outcome.error) == (130, "")
    assert sorted(path.name for path in Path().iterdir()) == ["runs", "t.sweep.jsonl"]
    refused = shell("stacklens", "sweep", "runs", "--out", "t.csv")
    assert refused.status == 2
    assert "this job was begun and not finished; go on with --resume" in refused.error
    done = shell("stacklens", "sweep", "runs", "--out", "t.csv", "--resume")
    assert (done.status, done.error) == (0, "")
    assert sorted(path.name for path in Path().iterdir()) == ["runs", "t.csv"]


SWEEP_NET = ZOO / "nnpda-1n0n.pt"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    (tmp_path / "words.txt").write_text("10\n\nε\n110\n", encoding="utf-8")
    return tmp_path / "words.txt"


@pytest.mark.usefixtures("networks_in_runs")
def test_all_agree(words: Path, shell: Shell) -> None:
    found = shell("stacklens", "judge", SWEEP_NET, words)
    assert (found.status, found.error) == (0, "")
    lines = [line for line in found.out.splitlines() if "✓" in line or "✗" in line]
    assert [line.split()[1] for line in lines] == ["10", "ε", "110"]
    assert "✓ accepts" in lines[0]
    assert "✗ not a member" in lines[2]


@pytest.mark.usefixtures("networks_in_runs")
def test_a_wrong_automaton_is_found_and_the_table_written(words: Path, tmp_path: Path, shell: Shell) -> None:
    automaton, out = tmp_path / "wrong.json", tmp_path / "words.csv"
    automaton.write_text(to_json(get_language("anb2n").automaton).replace('"a"', '"1"').replace('"b"', '"0"'))
    found = shell("stacklens", "judge", SWEEP_NET, words, "--automaton", automaton, "--out", out)
    assert (found.status, found.out, found.error) == (1, f"wrote 3 words to {out}\n", "")
    with out.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["agree"] for row in rows] == ["✗", "✓", "✓"]
    assert rows[0]["automaton"] == "✗ rejects"


@pytest.mark.usefixtures("networks_in_runs")
def test_words_may_come_from_the_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1100\n")))
    assert "✓ a member" in shell("stacklens", "judge", SWEEP_NET, "-").out
