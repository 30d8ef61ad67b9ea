"""Languages from files: grammars as text, automata as JSON, and what cannot be read."""

import pickle
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.automata.strategies import pushdown_automata

from stacklens.automata.automaton_grammar import grammar_of
from stacklens.automata.counting import count_words
from stacklens.automata.formats.json import to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.rewriting import drop_end_marker
from stacklens.errors import FileFormatError, StacklensError, UnknownNameError
from stacklens.languages import get_language
from stacklens.languages.context_free import AutomatonLanguage


def test_a_grammar_file(tmp_path: Path) -> None:
    path = tmp_path / "brackets"
    path.write_text("S -> ( S ) S | ε  # Dyck-1\n", encoding="utf-8")
    language = get_language(str(path))
    assert language.name == str(path)
    assert list(language.words(4)) == ["", "()", "(())", "()()"]
    assert pickle.loads(pickle.dumps(language)) == language == get_language(str(path))
    assert hash(language) == hash(get_language(str(path)))


@pytest.mark.parametrize("name", ["dyck-2", "palindrome", "anb2n", "anbmcnm", "homomorphic-palindrome"])
def test_an_automaton_file_is_the_language_that_it_accepts(name: str, tmp_path: Path) -> None:
    known = get_language(name)
    path = tmp_path / "automaton.json"
    path.write_text(to_json(known.automaton), encoding="utf-8")
    language = get_language(str(path))
    assert language.alphabet == known.alphabet
    assert language.automaton == known.automaton
    longest = 6 if len(known.alphabet) < 5 else 4
    assert list(language.words(longest)) == list(known.words(longest))
    for word in product(known.alphabet, repeat=longest):
        assert language.first_dead(word) == known.first_dead(word)
        assert (word in language) == (word in known)
    assert all(word in known for word in language.sample(40, (10, 60)))
    assert all(word not in known for word in language.sample(40, (10, 60), positive=False))
    for deep in language.deep(3, 30):
        assert deep in known
        assert max(len(moment.stacks[0]) for moment in known.automaton.run(deep)) >= 30


@settings(max_examples=80)
@given(pushdown_automata(max_stacks=1, acceptances=("final state", "empty stack", "both")))
def test_the_grammar_of_a_random_automaton(pda: PushdownAutomaton) -> None:
    counts = count_words(pda, 6)
    try:
        grammar = grammar_of(pda)
    except StacklensError:
        assert not any(counts) or drop_end_marker(pda) is None
        return
    language = AutomatonLanguage("random", grammar, pda)
    form = language._form
    assert [form.count(length) for length in range(7)] == counts  # as many derivations as words: unambiguous
    for length in range(4):
        for word in product(pda.input_alphabet, repeat=length):
            assert (word in language) == pda.accepts(word)
            assert (word in language) == (word in form.words(length))
            if word in language:
                assert language.is_live(word)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    def refuse(name: str, content: bytes, message: str) -> None:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=message) as error:
            get_language(str(path))
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)

    refuse("bad.cfg", b"S -> a\nT b", "bad.cfg, line 2: expected a rule")
    refuse("binary.cfg", b"\xff\xfe\x00", "not text in UTF-8")
    refuse("bad.json", b"S -> a", "bad.json: not JSON")
    refuse("other", b'{"format": "png"}', "not an automaton file")
    two = PushdownAutomaton(("q",), ("a",), (), {}, "q", n_stacks=2)
    refuse("two.json", to_json(two).encode(), "needs one stack and acceptance by state or stack, not 2 stacks")
    none = PushdownAutomaton(("q",), ("a",), (), {}, "q")
    refuse("none.json", to_json(none).encode(), "no word can be derived")
    with pytest.raises(FileFormatError, match=r"missing\.cfg: no such file; expected a grammar"):
        get_language(str(tmp_path / "missing.cfg"))
    with pytest.raises(FileFormatError, match=r": is a folder; expected a grammar"):
        get_language(str(tmp_path))
    with pytest.raises(UnknownNameError):
        get_language("missing")
