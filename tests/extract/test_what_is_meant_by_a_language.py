"""A language or a task that is not of the network's kind: what was meant where that is clear, else one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import stacklens as sl
from stacklens.automata.formats.json import to_json
from stacklens.core.errors import FileFormatError, StacklensError
from stacklens.extract.by_name import specification_for, specification_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.specification import LanguageSpecification, TaskSpecification
from stacklens.languages.catalogue import get_language, get_task
from stacklens.languages.classic import Dyck
from stacklens.models.checkpoint import Checkpoint, load_network, save_model
from stacklens.models.training.factory import make_trainer

QUICK = ExtractionConfig(max_length=5, long_words=50, deep_words=2, depth=20, height=5, walks=5)


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_was_meant_is_found_from_the_networks_kind(wrapped: bool) -> None:
    given = LanguageSpecification(Dyck(1)) if wrapped else Dyck(1)
    task = TaskSpecification(get_task("dyck-1")) if wrapped else get_task("dyck-1")
    found = specification_for(given, "next set")
    assert isinstance(found, TaskSpecification)
    assert found.task == get_task("dyck-1")
    found = specification_for(task, "recognition")
    assert isinstance(found, LanguageSpecification)
    assert found.language == Dyck(1)
    for kind, subject in (("recognition", given), ("next set", task)):
        found = specification_for(subject, kind)  # type: ignore[arg-type]
        assert found is subject or not wrapped
    assert specification_for(None, "next set") is None
    assert isinstance(specification_for(get_task("parenthesis-prediction"), "transduction"), TaskSpecification)


def test_what_makes_no_sense_is_refused_in_one_line() -> None:
    for given, kind, message in (
        (get_language("1n0n"), "next set", "next set network cannot be checked against the language 1n0n; give a task"),
        (get_language("anbn"), "next symbol", "next symbol network cannot be checked against the language anbn; give"),
        (get_language("anbn"), "next set", "next set network cannot be checked against the language anbn; give a task"),
        (
            get_task("anbn"),
            "recognition",
            "recognition network cannot be checked .* next symbol task anbn; give a lang",
        ),
        (get_task("anbn"), "next set", "cannot be checked against the next symbol task anbn; give a next set task"),
        (get_task("dyck-2"), "transduction", "against the next set task dyck-2; give a transduction task"),
    ):
        with pytest.raises(StacklensError, match=message):
            specification_for(given, kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("network", "tasks"),
    [
        (
            "marnn-stack-rnn-dyck-2",
            "next set network; name its task, such as dyck-2, dyck-2-3, or see docs/own-tasks.md",
        ),
        ("neural-stack-reversal", "transduction network; name its task, such as reversal, or see docs/own-tasks.md"),
        ("stack-rnn-anbn", "next symbol network; name its task, such as anb2n, anbn, or see docs/own-tasks.md"),
    ],
)
def test_the_file_of_a_language_is_refused_for_a_network_with_a_task_and_its_tasks_are_named(
    network: str, tasks: str, tmp_path: Path
) -> None:
    (tmp_path / "br.cfg").write_text("S -> ( S ) S | [ S ] S | ε\n", encoding="utf-8")
    with pytest.raises(StacklensError) as error:
        specification_of(load_network(network), str(tmp_path / "br.cfg"))
    assert str(error.value) == (
        f"{tmp_path / 'br.cfg'}: a grammar or an automaton is for networks that accept or reject whole words, and this "
        f"is a {tasks}"
    )


@pytest.mark.parametrize("name", ["br.cfg", "br.json"])
def test_a_network_trained_on_a_file_has_it_with_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    there.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(there)
    if name.endswith(".cfg"):
        Path(name).write_text("S -> ( S ) S | ε\n", encoding="utf-8")
    else:
        get_language("dyck-1").automaton.save(name)
    trainer = make_trainer("nnpda", name)
    trainer.epoch()
    trainer.check()
    for kept, task in (("net.pt", trainer.learned), ("old.pt", {"kind": "recognition", "language": name})):
        save_model(elsewhere / kept, Checkpoint(trainer.network(), task))
    monkeypatch.chdir(elsewhere)
    checkpoint = load_network("net.pt")
    result = extract(checkpoint.model, specification_of(checkpoint), replace(QUICK, budget=0.5))
    assert result.language_name == name
    result.save("r.json")
    (tmp_path / "r.json").write_bytes(Path("r.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    loaded = sl.load("r.json")
    assert isinstance(loaded.language, LanguageSpecification)
    assert list(loaded.language.language.words(4)) == ["", "()", "(())", "()()"]
    with pytest.raises(FileFormatError, match=r"no such file.* was trained on it: --language"):
        specification_of(load_network(elsewhere / "old.pt"))
    other = tmp_path / name  # who names a file that is here means that one
    other.write_bytes(
        b"S -> ) ( | ( )" if name.endswith(".cfg") else to_json(get_language("dyck-2").automaton).encode()
    )
    for given, words in ((None, 4), (name, 2 if name.endswith(".cfg") else 11)):
        found = specification_of(load_network(elsewhere / "net.pt"), given)
        assert isinstance(found, LanguageSpecification)
        assert len(list(found.language.words(4))) == words
    monkeypatch.chdir(there)
    assert specification_of(load_network(elsewhere / "old.pt")) is not None


def test_a_text_in_a_file_never_stands_in_for_a_language_of_ours(tmp_path: Path) -> None:
    checkpoint = load_network("nnpda-parentheses")
    tampered = {**checkpoint.task, "text": "S -> ) ( | ε"}
    save_model(tmp_path / "net.pt", Checkpoint(checkpoint.model, tampered))
    for name in (None, "parentheses"):
        found = specification_of(load_network(tmp_path / "net.pt"), name)
        assert isinstance(found, LanguageSpecification)
        assert found.language == get_language("parentheses")
