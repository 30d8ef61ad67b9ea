"""`stacklens trace`, `train` and `sweep`: what they print, what they write, and what they refuse."""

import csv
import dataclasses
import io
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from tests.face.quick import save_parentheses, sweep_quickly
from tests.shell.commands import ZOO, Shell, check_quickly, check_refused

from stacklens.automata.formats.json import to_json
from stacklens.extract.evaluation import sweep as sweep_row
from stacklens.languages.catalogue import get_language
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import load_checkpoint, save_model, zoo_names
from stacklens.models.training import OPTIONS
from stacklens.models.training import recipes as fit_recipes
from stacklens.models.training import recipes as stream_recipes
from stacklens.models.training.recipes import RECIPES, SETS, SYMBOL_RECIPE, FitRecipe, recipe_for
from stacklens.models.training.recognition import Training
from stacklens.models.training.supervised import Fitting
from stacklens.probe.trace import trace

TRAIN = ("train", "nnpda", "--language", "parentheses", "--seeds", "2", "--seed", "1")


def test_trace_shows_every_step_and_the_verdict(shell: Shell) -> None:
    save_parentheses("net.pt")
    accepted = shell("stacklens", "trace", "net.pt", "(())")
    assert (accepted.status, accepted.error) == (0, "")
    assert accepted.out.endswith("accepted\n")
    assert len([line for line in accepted.out.splitlines() if line.startswith("│")]) == 5
    rejected = shell("stacklens", "trace", "net.pt", "())", "--rounded")
    assert (rejected.status, rejected.error) == (0, "")
    assert rejected.out.endswith("rejected\n")
    assert shell("stacklens", "trace", "net.pt", "").out.endswith("accepted\n")


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


@pytest.mark.parametrize(
    ("model", "language", "loop", "epochs"),
    [
        *(pytest.param("nnpda", "parentheses", Training, epochs, marks=pytest.mark.slow) for epochs in (1, 74)),
        ("marnn-stack-rnn", "dyck-1", Fitting, 1),
    ],
)
def test_ctrl_c_leaves_a_checkpoint_from_which_the_same_network_comes(
    model: str, language: str, loop: Any, epochs: int, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stage,) = RECIPES["parentheses"].stages
    brief = dataclasses.replace(stage, epochs=120)
    short = dataclasses.replace(RECIPES["parentheses"], stages=(brief,), check_length=8)
    monkeypatch.setitem(RECIPES, "parentheses", short)
    command = ("stacklens", "train", model, "--language", language, "--seeds", "2", "--seed", "1")
    found = shell(*command, "--out", "straight.pt")
    assert (found.status, found.error) == (0, "")
    assert "to straight.pt" in found.out
    epoch = loop.epoch

    def interrupted(self: Any) -> None:
        epoch(self)
        if self.epochs_done == epochs:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(loop, "epoch", interrupted)
        found = shell(*command, "--out", "stopped.pt")
    assert (found.status, found.error) == (130, "")
    assert "stopped; stopped.pt holds the best network so far; go on with --resume stopped.pt" in found.out
    assert load_checkpoint("stopped.pt").training["epochs_done"] == epochs
    if epochs > 1:
        check_quickly(monkeypatch)
        assert shell("extract-pda", "stopped.pt", "--max-length", "5", "--quiet").status in (0, 1, 3)
    found = shell(*command, "--resume", "stopped.pt", "--out", "resumed.pt")
    assert (found.status, found.error) == (0, "")
    assert shell(*command, "--resume", "stopped.pt").status == 0  # without --out the file itself goes on
    straight, *others = (load_checkpoint(f"{name}.pt") for name in ("straight", "resumed", "stopped"))
    for other in others:
        assert other.training is None
        assert [other.provenance[name] for name in ("scores", "history")] == [
            straight.provenance[name] for name in ("scores", "history")
        ]
        for name, value in straight.model.state_dict().items():
            assert torch.equal(value, other.model.state_dict()[name])


def test_a_training_is_resumed_only_with_the_options_it_was_begun_with(shell: Shell) -> None:
    stopped = Path("stopped.pt")
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


@pytest.mark.parametrize("model", [model for model in OPTIONS if model != "nnpda"])  # which has tests of its own
def test_every_model_trains_and_writes_a_checkpoint_that_loads_and_traces(model: str, shell: Shell) -> None:
    language, options = LANGUAGES[model], ("--seeds", "2", "--seed", "3", "--epochs", "1", "--out", "net.pt")
    found = shell("stacklens", "train", model, "--language", language, *options)
    assert (found.status, found.error) == (0, "")
    assert "to net.pt" in found.out
    assert "2 networks, 1 epochs" in found.out
    checkpoint = load_checkpoint("net.pt")
    assert checkpoint.model.name == model
    assert checkpoint.task["language"] == language
    assert checkpoint.provenance["seed"] in (3, 4)
    assert {"command", "recipe", "scores", "versions"} <= set(checkpoint.provenance)
    assert checkpoint.training is None
    assert trace(checkpoint.model, [checkpoint.model.alphabet[:1] * 2]).hidden.shape[:2] == (1, 3)


@pytest.mark.parametrize("name", ["own.cfg", "re:(ab)*"])
def test_a_language_is_a_predictors_task_for_all_but_the_nnpda(name: str, shell: Shell) -> None:
    Path("own.cfg").write_text("S -> ( S ) S | ε", encoding="utf-8")
    options = ("--seeds", "1", "--epochs", "1", "--out", "net.pt")
    shown = shell("stacklens", "train", "lstm", "--language", name, *options).out
    assert shown.startswith(f"a predictor's task: lstm learns what may come next in words of {name} (nnpda")
    assert load_checkpoint("net.pt").model.task_kind == "next set"


def test_the_zoo_is_listed_and_a_shell_completes_its_names(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = shell("stacklens", "zoo").out
    assert "NETWORK.pt" in shown
    assert all(name in shown for name in zoo_names())
    assert shell("stacklens", "--version").out.startswith("stacklens ")
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


def test_tables_and_figures_are_written(shell: Shell) -> None:
    done = shell("stacklens", "probe", "ablate", NETWORK, "--out", "t.csv", "--out", "t.html")
    assert done.status == 0, done.error
    assert Path("t.csv").read_text(encoding="utf-8").startswith("kind,name,role,accuracy,importance")
    assert "plotly" in Path("t.html").read_text(encoding="utf-8")


def test_an_extraction_is_followed_by_interchanges_where_these_are_asked_for(shell: Shell) -> None:
    network = "marnn-stack-rnn-string-reversal"
    done = shell("extract-pda", network, "--causal", "--max-length", "4", "--save", "r.json")
    assert done.status == 0, done.error
    assert "causal     of four automata that are proved equal, the minimised one is what the network" in done.out
    assert "symbols          1,000       1.000 (0.98" in done.out
    again = shell("stacklens", "probe", "causal", "r.json", "--cases", "100", "--out", "r.csv")
    assert again.status == 0, again.error
    assert Path("r.csv").read_text(encoding="utf-8").startswith("what,name,interchanges,accuracy,low,high\nstate,q0,")


NET = ZOO / "marnn-stack-rnn-dyck-2-drifting.pt"


def test_trace_writes_figures_and_numbers_in_one_go(shell: Shell) -> None:
    found = shell("stacklens", "trace", NET, "([])", "--out", "t.html", "--out", "t.json", "--out", "t.csv")
    assert (found.status, found.error) == (0, "")
    assert found.out == "wrote t.html\nwrote 4 steps to t.json\nwrote 4 steps to t.csv\n"
    html, data, steps = (Path(f"t.{suffix}").read_text(encoding="utf-8") for suffix in ("html", "json", "csv"))
    assert "marnn-stack-rnn on ([]): read to the end" in html
    assert '"reference height"' in html
    assert json.loads(data)["symbols"] == list("([])")
    assert len(steps.splitlines()) == 5


def test_export_writes_a_page_with_automaton_checks_proof_and_traces(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_quickly(monkeypatch)
    arguments = ("export", NETWORK, "--html", "report.html", "--max-length", "5", "--word", "abcba")
    found = shell("stacklens", *arguments)
    assert (found.status, found.out, found.error) == (0, "wrote report.html\n", "")
    html = Path("report.html").read_text(encoding="utf-8")
    assert "equal for all words (proof)" in html
    assert "nnpda on abcba: accepted" in html
    assert "<svg" in html
    assert shell("stacklens", *arguments, "--word", "x").status == 2


# ---- `stacklens sweep` and `stacklens train --snapshots`: what they print, what they write, and what they refuse.


@pytest.fixture
def networks_in_runs(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell  # in whose folder they are
    Path("runs").mkdir()
    for name in ("one", "two"):
        save_parentheses(f"runs/{name}.pt")
    sweep_quickly(monkeypatch)


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
    quickly = vars(sweep_row)["extract"]

    def killed(model: Any, *given: Any) -> Any:
        if model.origin.name == "two":
            raise KeyboardInterrupt
        return quickly(model, *given)

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


SWEEP_NET, JUDGED = ZOO / "nnpda-1n0n.pt", "10\n\nε\n110\n"


def test_all_agree(shell: Shell) -> None:
    Path("words.txt").write_text(JUDGED, encoding="utf-8")
    found = shell("stacklens", "judge", SWEEP_NET, "words.txt")
    assert (found.status, found.error) == (0, "")
    lines = [line for line in found.out.splitlines() if "✓" in line or "✗" in line]
    assert [line.split()[1] for line in lines] == ["10", "ε", "110"]
    assert "✓ accepts" in lines[0]
    assert "✗ not a member" in lines[2]


def test_a_wrong_automaton_is_found_and_the_table_written(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = to_json(get_language("anb2n").automaton).replace('"a"', '"1"').replace('"b"', '"0"')
    Path("wrong.json").write_text(wrong, encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(JUDGED.encode())))  # words may come from the input
    found = shell("stacklens", "judge", SWEEP_NET, "-", "--automaton", "wrong.json", "--out", "words.csv")
    assert (found.status, found.out, found.error) == (1, "wrote 3 words to words.csv\n", "")
    rows = list(csv.DictReader(Path("words.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["agree"] for row in rows] == ["✗", "✓", "✓"]
    assert rows[0]["automaton"] == "✗ rejects"
