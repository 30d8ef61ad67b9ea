"""The pages of the papers and of trust, and the report of trust."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from tests.face.quick import quick_result
from tests.viz.networks import REPRESENTATIVES
from tests.viz.page_client import asked, filled

from stacklens.automata.compare import Equal, compare
from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.extract.claims import disagreements_of
from stacklens.models.base import Checkpoint
from stacklens.models.checkpoint import ZOO, save_model, zoo_names
from stacklens.models.rounding import Rounded
from stacklens.models.training import make_trainer
from stacklens.papers.grid import Grid, GridResults, GridRow, Network, Outcome, RowResult, RunSettings
from stacklens.papers.results import Measured, Results
from stacklens.probe.trace import trace
from stacklens.viz.dashboard import drawers
from stacklens.viz.dashboard.extractions import shipped
from stacklens.viz.dashboard.networks import checkpoint_of, keep_upload
from stacklens.viz.dashboard.opening import keep_file
from stacklens.viz.dashboard.panels import LONGEST, claims_with_words, judged_words, words_to_try
from stacklens.viz.operations import operation_names
from stacklens.viz.papers import (
    FATES,
    VERIFY,
    PaperTables,
    curve_figure,
    fate_of,
    frame_of,
    grid_figures,
    numbered_figure,
    numbered_names,
    paper_tables,
    score_figure,
    table_names,
    traces_figure,
    zoo_networks,
)
from stacklens.viz.report import trust_parts

# ---- The papers' tables without a browser: what the server answers for every one. ----
NAME, SIDES = "nnpda-1n0n", ("theirs", "ours")


@pytest.mark.parametrize("name", list(table_names()))
def test_every_experiment_shows_its_tables_with_their_lines(name: str, client: FlaskClient) -> None:
    tables = paper_tables(name).tables
    found = filled(client, "papers", network=NAME, table=name)
    assert found.of_type("Code")[0]["children"] == paper_tables(name).command
    assert len(found.of_type("AgGrid")) == len(tables)
    titles, captions = [one["children"] for one in found.of_type("H3")], found.said[1:]
    for place, table in enumerate(tables):
        shown = [{k: v for k, v in row.items() if k not in ("in the zoo", "open")} for row in found.table(table.title)]
        frame = frame_of(table).astype(object)
        assert [list(row.values()) for row in shown] == frame.where(frame.notna(), None).to_numpy().tolist()
        assert titles[place] == table.title
        assert any(str(caption).startswith(table.caption) for caption in captions)
        exec(found.lines[place], {})


def test_all_tables_are_listed(client: FlaskClient) -> None:
    assert {one["name"]: one["what"] for one in asked(client, "papers")["tables"]} == table_names() | numbered_names()


@pytest.mark.parametrize("name", list(numbered_names()))
def test_a_papers_figure_stands_beside_ours_with_what_differs(name: str, client: FlaskClient) -> None:
    one, found = numbered_figure(name), filled(client, "papers", network=NAME, table=name)
    assert [head["children"] for head in found.of_type("H3")] == [f"the paper: {one.number}", f"ours: {one.number}"]
    assert [head["children"] for head in found.of_type("H4")] == [*one.theirs, *one.ours]
    assert one.ours or one.command
    assert {one.says, one.differs} <= {str(text) for said in found.said for text in (said, *said)}
    links = [link["href"] for link in found.of_type("A") if link["href"].startswith("?")]
    assert bool(links) == (one.opens is not None)
    for lines in found.lines:
        exec(lines.replace(".show()", ""), {})


def test_what_is_claimed_of_our_figures_beside_the_papers_is_what_they_show() -> None:
    theirs, ours = (next(iter(getattr(numbered_figure("joulin2015-table-3"), side).values())) for side in SIDES)
    columns = [dict(zip(one.data[0].header.values, one.data[0].cells["values"], strict=True)) for one in (theirs, ours)]
    assert [[*one["current"]].count("b") for one in columns] == [1 + 11, 1 + 12]
    for one, before in zip(columns, ("push", "pop"), strict=True):
        assert {*one["action 1"][1:7]} == {"push"}  # stack 1 counts the a, stack 2 the first half of the b
        assert {*one["action 2"][3:7]} == {before}
    assert [*columns[1]["action 2"][7:19]] == ["push"] * 7 + ["pop"] * 5
    for name, never in (("reversal", None), ("delayed-xor", "pop")):
        model = checkpoint_of(f"neural-stack-{name}").model
        seen = trace(model, ["11010001########" if never is None else "110100111001"])
        assert set(np.round(seen.actions, 3).ravel().tolist()) == {0.0, 1.0}
        assert never not in {does for step in operation_names(model, seen) for does in step}
    ring = checkpoint_of("baby-ntm-dyck-2-drifting").model
    seen = trace(ring, ["([([])])[()]([])"], stacks=True)
    does = [one for (one,) in operation_names(ring, seen)]
    assert does == ["pop right" if letter in "([" else "rotate left" for letter in "([([])])[()]([])"]
    assert [float(seen.cells[0, step, 0, 0, 0]) < 0.05 for step in (7, 11, 15)] == [True] * 3  # the stack is emptied
    (paper,), (found,) = (list(getattr(numbered_figure("sun1993-figure-10"), side).values()) for side in SIDES)
    assert isinstance(compare(paper, found), Equal)


def test_an_experiment_with_figures_shows_them(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    table = paper_tables("sun1993-claims").tables[0]
    drawn = PaperTables("A paper", "two models", "a command", True, (table,), tuple(grid_figures(GRID, results())))
    monkeypatch.setattr(drawers, "paper_tables", lambda _: drawn)
    found = filled(client, "papers", network=NAME, table="a-grid", theme="dark")
    (figure,) = found.figures
    assert found.of_type("H3")[-1]["children"] == "test"
    assert figure["layout"]["paper_bgcolor"] == "#16181D"
    assert figure["data"][0]["x"] == list(drawn.figures[0].data[0].x)


def nothing(settings: RunSettings) -> list[Outcome]:
    raise AssertionError(f"nothing is trained here: {settings}")


GRID = Grid(
    "a-grid",
    "A paper",
    "two models",
    (
        GridRow("one", {"model": "one"}, nothing, {"test min": "10.0", "test max": "90.5 %", "training min": "99"}),
        GridRow("two", {"model": "two"}, nothing, {"test median": "not reported"}),
        GridRow("three", {"model": "three"}, nothing, {"test mean": "50"}),
    ),
    scores=("training", "test"),
)


def results() -> GridResults:
    networks = tuple(Network(seed, {"test": 0.25 * seed}, True) for seed in range(3))
    row = RowResult("one", "fast", (0, 1, 2), 1.0, "cpu", networks, {}, {}, "")
    return GridResults("A paper", "a-grid", "two models", (row,))


def test_ours_and_the_papers_figures_are_columns_of_numbers() -> None:
    (table, *_) = paper_tables("suzgun2019-table2").tables
    frame = frame_of(table).set_index(["model", "protocol"])
    assert frame["train max: paper"][("Vanilla LSTM", "fast")] == 62.8
    assert 0 < frame["train max: ours"][("Vanilla LSTM", "fast")] <= 100
    assert frame["test median: paper"].dtype == float
    wide, *_ = paper_tables("joulin2015-table2").tables
    assert frame_of(wide)["a^n b^n: paper"].dropna().tolist()[:2] == [25, 100]


def test_a_tables_rows_name_the_networks_of_the_zoo_that_are_of_their_kind() -> None:
    shipped, found = set(zoo_names()), list[str]()
    for name in table_names():
        found += [one for table in paper_tables(name).tables for one in zoo_networks(name, table) if one]
    assert set(found) == shipped
    assert found.count("marnn-stack-rnn-dyck-2") > 1  # in its paper's table, and in that of all networks


def test_what_was_not_measured_says_so_in_every_row(tmp_path: Path) -> None:
    for name in table_names():
        found = paper_tables(name, tmp_path)
        assert not found.measured
        assert not found.figures
        for row in found.tables[0].rows:
            assert any("not measured" in cell or "not run" in cell for cell in row)
    assert frame_of(paper_tables(VERIFY, tmp_path).tables[0]).empty
    assert paper_tables(VERIFY, tmp_path).tables[0].caption == "not measured"


def test_the_table_of_networks_has_a_row_each_with_its_verdicts() -> None:
    frame = frame_of(paper_tables(VERIFY).tables[0]).set_index("network")
    reversal = frame.loc["neural-stack-reversal"]
    assert (reversal["automaton"], reversal["proof"], reversal["certificate"]) == ("yes", "equal", "certified")
    assert reversal["differs from the rounded network"] == "0"
    ring = frame.loc["baby-ntm-dyck-2-drifting"]
    assert (ring["automaton"], ring["proof"]) == ("contradicted", "equal")
    assert "the output is not sure" in ring["why not"]
    graded = frame.loc["lstm_reverse_task.dat"]
    assert graded["automaton"] == "none"
    assert graded["why not"].startswith("no number of states reproduces the rounded network")


@pytest.mark.parametrize("content", ["{", "[]", '{"networks": [{"network": "x.pt"}]}'])
def test_a_file_that_is_no_table_of_networks_says_what_writes_one(content: str, tmp_path: Path) -> None:
    (tmp_path / "verify.json").write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError, match="no table of networks; write it anew: `stacklens verify --all --report"):
        paper_tables(VERIFY, tmp_path)


def test_a_figure_has_a_dot_a_network_our_median_and_the_papers_numbers() -> None:
    figure = score_figure(GRID, results(), "test")
    ours, medians, theirs = figure.data
    assert list(zip(ours.y, ours.x, strict=True)) == [("one", 0.0), ("one", 25.0), ("one", 50.0)]
    assert list(zip(medians.y, medians.x, strict=True)) == [("one", 25.0)]
    assert list(zip(theirs.y, theirs.x, strict=True)) == [("one", 10.0), ("one", 90.5), ("three", 50.0)]
    assert list(figure.layout.yaxis.categoryarray) == ["three", "one"]


ROWS = (GridRow("RNN", {"network": "RNN"}, nothing), GridRow("Stack RNN", {"network": "Stack RNN"}, nothing))
CURVE = Grid("curve", "A paper", "over n", ROWS, ("n = 5", "n = 5 rounded"), ("chosen",), across="network")


def curve_results() -> GridResults:
    worse = Network(0, {"n = 5": 0.0, "n = 10": 0.0, "validation": 0.1}, False)
    better = Network(1, {"n = 10": 0.5, "n = 5": 1.0, "n = 5 rounded": 0.75, "validation": 0.9}, True)
    row = RowResult("Stack RNN", "fast", (0, 1), 1.0, "cpu", (worse, better), {}, {}, "")
    return GridResults("A paper", "curve", "over n", (row,))


def test_a_curve_is_the_chosen_network_over_all_sizes_that_were_measured() -> None:
    (line,) = [one for one in curve_figure(CURVE, curve_results()).data if one.name == "Stack RNN"]
    assert list(zip(line.x, line.y, strict=True)) == [(5, 1.0), (10, 0.5)]


def network(seed: int, shares: list[float], last: float, falling: float) -> dict[str, Any]:
    trace = {str(100 * place): share for place, share in enumerate(shares)}
    test = {"last": last, "best on the way": 1.0, "rate falling": falling}
    return {"seed": seed, "test": test, "trace": trace, "trace, rate falling": {"200": shares[2], "300": falling}}


NETWORKS = [
    network(0, [0, 1.0, 0.4, 0.2], 0.2, 1.0),
    network(1, [0, 0.2, 1.0, 1.0], 0.995, 0.995),
    network(2, [0, 0.2, 0.3, 0.5], 0.5, 0.98),
]


def traced_results(rows: int) -> Results:
    figures = [{"row": f"row {number}", "networks": NETWORKS} for number in range(rows)]
    claims = tuple(Measured("5", "c", "p", "o", "x", 1.0, one) for one in figures)
    return Results("A paper", "a-traces", "t", claims, (0, 1, 2), {}, 1.0)


def test_what_became_of_a_network_is_told_from_its_trace_and_its_end() -> None:
    right, wrong, never = "learned, right in the end", "learned, wrong in the end", "never learned"
    assert [fate_of(one) for one in NETWORKS] == [wrong, right, never]
    assert [fate_of(one, "rate falling") for one in NETWORKS] == [right, right, never]


def test_every_network_has_a_line_in_each_panel_and_every_fate_one_name() -> None:
    figure = traces_figure(traced_results(2))
    assert len(figure.data) == 2 * 2 * len(NETWORKS)
    assert sorted(line.name for line in figure.data if line.showlegend) == sorted(FATES)
    assert {line.line.color for line in figure.data} == {colour for colour, _ in FATES.values()}
    assert [note.text for note in figure.layout.annotations][:2] == [
        "row 0, one rate: 1 of 3 in the end",
        "row 0, rate falling in the last epoch: 2 of 3 in the end",
    ]
    one, falling = figure.data[0], figure.data[3]
    assert (list(one.x), list(one.y)) == ([0, 100, 200, 300], [0, 1.0, 0.4, 0.2])
    assert (list(falling.x), list(falling.y)) == ([0, 100, 200, 300], [0, 1.0, 0.4, 1.0])


# ---- Claims, checks, accuracy and many words without a browser: what the server answers. ----
UNSEEN = "nnpda-parentheses"


def test_an_extracted_network_shows_checks_and_transitions(visitor: FlaskClient) -> None:
    found = filled(visitor, "checks", network=NAME)
    checks = found.table("checks")
    assert list(checks[0])[:4] == ["words", "up to length", "checked", "accepted"]
    assert list(checks[0].values()) == ["all words", 5, 63, 2, "language", 0, ""]
    assert found.said[0].startswith("4 of 4 transitions are taken by")
    assert len(found.table("coverage")) == 4
    assert [one and one["word"] for one in found.opens("checks")] == [row["counterexample"] or None for row in checks]


def test_a_certificates_boxes_hold_what_the_network_does_and_each_chip_its_claims(visitor: FlaskClient) -> None:
    name = "marnn-stack-rnn-dyck-2"
    report = asked(visitor, "network", network=name)
    boxes = filled(visitor, "figures", network=name, figure="boxes").table("boxes")
    found, model, words = shipped(name), checkpoint_of(name).model, ["", "([])", "[[()]]()["]
    by_box: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in boxes:
        by_box.setdefault((row["box of"], row["after"]), []).append((row["low"], row["high"]))
    assert len(by_box) == found.report["certificate"]["boxes"]
    seen = trace(Rounded(model), words)
    for number, word in enumerate(words):
        for step, one in enumerate(found.automaton.run(word)):
            wanted = (f"state {one.state}", word[step - 1]) if step else ("the start", "")
            mine = [ends for (of, after), ends in by_box.items() if (of, after[:1]) == wanted]
            vector = seen.hidden[number, step]
            assert any(all(low <= x <= high for (low, high), x in zip(ends, vector, strict=True)) for ends in mine)
    with_chips = {claim["what"]: claim["chips"] for claim in report["claims"]}
    assert with_chips["certificate"] == ["follows the rounded network", "follows the network"]
    assert with_chips["proof"] == ["equals the language"]
    (proof,) = (f"{claim['sign']} {claim['says']}" for claim in report["claims"] if claim["what"] == "proof")
    assert proof.startswith("✓ the automaton is equal to that of the language dyck-2 for all words")
    assert with_chips["horizon, network"] == ["follows the network", "horizon"]
    assert all(any(chip["name"] in chips for chips in with_chips.values()) for chip in report["chips"])


def test_a_learning_curve_is_what_a_training_keeps_and_else_its_command_is_named(visitor: FlaskClient) -> None:
    path = ZOO / "nnpda-parentheses.pt"
    trainer = make_trainer("nnpda", "parentheses", 5, 1, {})
    for _ in range(100):
        trainer.epoch()
    buffer = Path(os.environ["STACKLENS_CACHE"]) / "trained.pt"
    save_model(buffer, Checkpoint(trainer.network(), trainer.learned, trainer.provenance("a command")))
    own = keep_upload(buffer.read_bytes(), "trained.pt").name
    (figure,) = filled(visitor, "figures", network=own, figure="learning").figures
    lines = {line["name"]: line["y"] for line in figure["data"]}
    assert figure["data"][0]["x"] == [50, 100]
    assert lines["network"][-1] == trainer.best[0].analog_errors
    assert min(lines["rounded network"]) == trainer.best[0].rounded_errors
    (says,) = filled(visitor, "figures", network=path.stem, figure="learning").said
    anew = re.sub(" --out [^ ]+", "", checkpoint_of(path.stem).provenance["command"])  # into a file of its own
    assert f": {anew} trains it anew, and keeps one" in says


def test_every_claim_that_names_a_word_has_it_to_be_opened(visitor: FlaskClient) -> None:
    del visitor
    found = shipped("marnn-stack-rnn-dyck-2-drifting")
    claims = claims_with_words(found.report, "marnn-stack-rnn-dyck-2-drifting")
    words = {claim["what"]: claim["word"] for claim in claims}
    rounded = {claim["what"] for claim in claims if claim["rounded"]}
    assert rounded == {"result", "checked against the rounded network", "horizon, rounded network"}
    horizon = found.report["horizon"]["rounded network"]["shortest_difference"]["word"]
    assert words["horizon, rounded network"] == horizon
    assert words["automaton"] is None
    for word, who in disagreements_of(found.report):
        (judged,) = judged_words("marnn-stack-rnn-dyck-2-drifting", word)[0].to_dict("records")
        assert judged["agree"] == "✗", (word, who)


def test_the_figure_has_the_automaton_where_there_is_one_and_its_horizon(visitor: FlaskClient) -> None:
    own = keep_upload((ZOO / f"{UNSEEN}.pt").read_bytes(), "mine.pt").name
    soft = "nnpda-palindrome"  # of which a word is known that it gets wrong
    for name, parties in ((soft, {"network", "rounded network", "automaton"}), (own, {"network", "rounded network"})):
        (figure,) = filled(visitor, "accuracy", network=name, theme="dark").figures
        assert {line["name"] for line in figure["data"]} == parties
        assert figure["layout"]["paper_bgcolor"] == "#16181D"
        marked = [note["text"] for note in figure["layout"]["annotations"] if "horizon" in note["text"]]
        assert bool(marked) == (name == soft)


def test_causes_are_told_with_a_figure_where_they_were_asked(visitor: FlaskClient) -> None:
    name = "marnn-stack-rnn-dyck-2-drifting"
    found = filled(visitor, "causes", network=name)
    (verdict,) = (one["children"] for one in found.of_type("B"))
    claims = {one["what"]: one for one in asked(visitor, "network", network=name)["claims"]}
    assert verdict.lower() == f"{claims['mechanism']['sign']} {claims['mechanism']['says']}."
    assert re.match(r"✓ Of four automata that are proved equal, the raw one is what the network computes \(", verdict)
    rows = found.table("interchanges")
    assert {row["automaton"].split()[0] for row in rows} == {"minimised", "raw", "learned", "reference"}
    assert list(rows[0])[2:7] == ["told apart", "score", "random partitions", "permuted labels", "random weights"]
    assert rows[0]["told apart"] == "743"
    assert rows[0]["score"].startswith("0.903 (")
    assert any(str(one).startswith("The shortest of what goes wrong most often with states") for one in found.said)
    (figure,) = found.figures
    assert [trace["name"] for trace in figure["data"]] == [
        name for what in ("states", "symbols") for name in (what, f"{what}, random partitions")
    ]


def test_where_nothing_was_interchanged_a_line_says_how(visitor: FlaskClient, tmp_path: Path) -> None:
    own = keep_upload((ZOO / f"{UNSEEN}.pt").read_bytes(), "mine.pt").name
    assert filled(visitor, "causes", network=own).said == ["nothing has been read out of this network yet."]
    (how,) = filled(visitor, "causes", network=NAME).said
    assert "the button extract again makes them" in how
    assert f"extract-pda {NAME} --causal" in how
    quick_result("nnpda-1n0n").save(tmp_path / "r.json")
    kept = keep_file((tmp_path / "r.json").read_bytes(), "r.json")
    (how,) = filled(visitor, "causes", network=kept).said
    assert "stacklens probe causal r.json makes them" in how
    assert "--causal --save r.json" in how


def test_a_verdict_that_only_a_file_says_is_marked_so(visitor: FlaskClient) -> None:
    kept = keep_file((ZOO / "marnn-stack-rnn-dyck-2-drifting.json").read_bytes(), "r.json")
    (verdict,) = (one["children"] for one in filled(visitor, "causes", network=kept).of_type("B"))
    assert verdict.startswith("? Of four automata")
    assert "as stored, not checked" in verdict


def test_words_are_judged_and_lead_to_the_step_where_runs_part(visitor: FlaskClient) -> None:
    found = filled(visitor, "words", network=NAME, words="10\n110\nε\n")
    rows = found.table("words")
    assert [row["word"] for row in rows] == ["10", "110", "ε"]
    assert [row["automaton"] for row in rows] == ["✓ accepts", "✗ rejects", "✗ rejects"]
    assert [(one["word"], one["step"]) for one in found.opens("words")] == [("10", "2"), ("110", "3"), ("", "1")]
    assert found.said == ["✓ 3 words: all agree."]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("10\n" * 2_001, "these are 2,001 words; expected at most 2,000 at once."),
        ("1\n" * 9_000, "these are 9,000 lines; expected at most 2,000 words at once."),
        ("111000111000\n" * 1_000, "these words have 12,000 symbols in all; expected at most 10,000 at once."),
        ("1" * (LONGEST + 1), "the longest word has 2,001 symbols; expected at most 2,000 here."),
    ],
)
def test_more_than_the_page_judges_at_once_is_refused_in_one_sentence(
    text: str, problem: str, visitor: FlaskClient
) -> None:
    del visitor
    with pytest.raises(StacklensError) as refused:
        judged_words(NAME, text)
    assert f"{refused.value}." == problem


@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_the_words_that_are_offered_can_be_judged(name: str, visitor: FlaskClient) -> None:
    del visitor
    frame, *_ = judged_words(name, words_to_try(name, 3))
    assert len(frame) >= 10
    assert set(frame["rounded network"]) != {""}


# ---- What a report in one file says of how far an extraction can be trusted. ----


def test_without_an_automaton_or_a_language_it_says_so() -> None:
    html = "\n".join(trust_parts(replace(quick_result(NAME), minimised=None, found=None, checks=(), reason="none")))
    assert "none: none" in html
    assert html.count("<table>") == 1
    html = "\n".join(trust_parts(replace(quick_result(NAME), language=None)))
    assert "No language was given, so nothing is right or wrong." in html
