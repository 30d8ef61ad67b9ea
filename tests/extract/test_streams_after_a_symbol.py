"""The C++ program of Joulin & Mikolov feeds its networks the last letter first; what they do then is what counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from stacklens.automata.pda import Word
from stacklens.extract.answers import network_answers
from stacklens.extract.by_name import specification_for, specification_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.specification import Specification
from stacklens.languages.catalogue import get_task
from stacklens.models.checkpoint import Checkpoint, load_network
from stacklens.models.rounding import Rounded

K = 60.0


def file_of_a_network_that_marks_the_bottom(folder: Path) -> Path:
    """Return a file of the program: a^n b^n, right if something lies under the first sequence.

    On b over nothing it pushes a mark. After a b it says a over the mark, and b over an a or over nothing.
    """
    units = [  # weight of a, of b, of the top cell, of the second
        (K, -K, 0, 0),  # an a
        (-4 * K, -0.6 * K, K, 0),  # b over an a
        (-4 * K, -0.6 * K, 0, K),  # b over two a
        (-4 * K, -0.5 * K, 0, -K),  # b, and nothing below the top
        (-4 * K, -0.5 * K, -K, 0),  # b over nothing
        (-K, K, 0, 0),  # b
    ]
    cells, hidden = 200, len(units)
    in2hid = [[unit[symbol] for unit in units] for symbol in range(2)]
    actions = [[40, 0, 0, 0, 40, 0], [0, 40, 0, 0, 0, 0]]  # push, pop
    pushed = [[2.2, 0, 0, 0, -0.85, 0], *[[0.0] * hidden] * (cells - 1)]
    looks = [[unit[2], unit[3], *[0.0] * (cells - 2)] for unit in units]
    out = [[0, 0, 0, 0, 0, 20], [0, 0, 40, 40, 0, 0]]
    matrices: list[Sequence[Sequence[float]]] = [in2hid, [[0.0] * hidden] * hidden, actions, pushed, looks, out]
    numbers = "".join(f"{value}," for matrix in matrices for row in matrix for value in row)
    path = folder / "model_ntask1_nchar2_nhid6_nstack1_bptt50_mod1_depth2_noop0_nrep1_hard1_seed1"
    path.write_text(f"2 2 {hidden} 1 {cells} 2 50 1 1 2\n{numbers}\n")
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return file_of_a_network_that_marks_the_bottom(tmp_path_factory.mktemp("cpp"))


CONFIG = ExtractionConfig(max_length=8, long_words=300, deep_words=5)


def mistakes(checkpoint: Checkpoint, specification: Specification | None, words: list[Word]) -> int:
    """Return on how many words the rounded network says something else where it counts."""
    assert specification is not None
    wrong = network_answers(Rounded(checkpoint.model), words) != specification.answers(checkpoint.model, words)
    return int((wrong & specification.scored(words)).any(1).sum())


def test_a_network_that_is_right_after_the_last_letter_is_not_called_wrong_for_want_of_it(path: Path) -> None:
    checkpoint = load_network(path)
    alone, after = specification_for(get_task("anbn")), specification_of(checkpoint)
    assert alone is not None
    assert after is not None
    assert mistakes(checkpoint, alone, alone.short_words(200)) > 100  # without the letter the first b is wrong
    assert all(list(word[:1]) in ([], ["b"]) for word in after.short_words(200))
    assert mistakes(checkpoint, after, after.short_words(2_000)) == 0
    assert mistakes(checkpoint, after, after.long_words(40, (10, 40), seed=1)) == 0


@pytest.mark.slow
def test_its_automaton_is_that_of_the_streams_after_the_letter(path: Path) -> None:
    checkpoint = load_network(path)
    found = extract(checkpoint.model, specification_of(checkpoint), CONFIG)
    assert found.status == 0
    assert found.automaton is not None
    assert found.automaton.transduce("baabbab")[3:] == ["b", "a", found.automaton.transduce("baabba")[-1], "a"]
