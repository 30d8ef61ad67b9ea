"""Every task: what is expected, against its automaton, against brute force, and against a restated definition."""

from itertools import product

import pytest

from stacklens.automata.pda import Output, Word
from stacklens.automata.simulation import first_rejection
from stacklens.errors import StacklensError
from stacklens.languages import get_language, get_task, task_names
from stacklens.languages.tasks.task import Task

NAMES = [name.replace("K-M", "2-3").replace("N", "2") for name in task_names()]
each_task = pytest.mark.parametrize("task", [get_task(name) for name in NAMES], ids=NAMES)
NONE_ON_ONE_STACK = {"anbncn", "anbncndn", "addition"}


def expected(task: Task, word: Word) -> list[Output] | None:
    try:
        return task.expected(word)
    except StacklensError:
        return None


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NONE_ON_ONE_STACK])
def test_the_automaton_says_what_is_expected_of_every_short_prefix(name: str) -> None:
    task = get_task(name)
    assert task.reference is not None
    longest = {2: 12, 3: 8, 4: 7, 5: 6, 6: 5, 7: 5, 8: 5, 9: 5, 11: 4}[len(task.alphabet)]
    joined = max(map(len, task.alphabet)) == 1
    words: list[Word] = []
    for length in range(longest + 1):
        words += ["".join(w) if joined else w for w in product(task.alphabet, repeat=length)]
    cut = first_rejection(task.reference, words)
    for word, at in zip(words, cut, strict=True):
        said = expected(task, word)
        assert (said is None) == (at >= 0), word
        if said is not None:
            assert task.reference.transduce(word) == said, word


@each_task
@pytest.mark.parametrize("split", ["train", "test"])
def test_the_automaton_says_what_is_expected_of_sampled_words(task: Task, split: str) -> None:
    examples = task.sample(30, split="train" if split == "train" else "test", seed=3)
    assert len(examples) == 30
    for row, word in enumerate(examples.words):
        said = task.expected(word)
        assert len(said) == len(word) == examples.lengths[row]
        if task.reference is not None:
            assert task.reference.transduce(word) == said
            assert task.reference.accepts(word)
        places = [None if i < 0 else task.alphabet[i] for i in examples.symbols[row, : len(word)]]
        assert places == list(word)
        assert examples.mask[row].tolist() == task.scored(word) + [False] * (examples.mask.shape[1] - len(word))


@each_task
def test_what_is_expected_depends_on_no_later_symbol(task: Task) -> None:
    for word in task.sample(3, seed=5).words:
        whole = task.expected(word)
        assert all(task.expected(word[:n]) == whole[:n] for n in range(0, len(word) + 1, 3))


@pytest.mark.parametrize(
    "name",
    [
        *("dyck-1", "dyck-2", "dyck-3", "dyck-5", "simple-palindrome", "homomorphic-palindrome"),
        *("simple-palindrome-nonempty", "homomorphic-palindrome-nonempty"),
    ],
)
def test_next_sets_are_the_live_symbols(name: str) -> None:
    task, language = get_task(name), get_language(name)
    assert (task.name, task.alphabet) == (language.name, language.alphabet)
    ends = task.output_alphabet[len(task.alphabet) :]
    for length in range(1, 6 if len(task.alphabet) < 8 else 4):
        for word in product(task.alphabet, repeat=length):
            if language.is_live(word):
                live = tuple(symbol for symbol in language.alphabet if language.is_live((*word, symbol)))
                assert task.expected(word)[-1] == (*live, *(ends if word in language else ())), word


@pytest.mark.parametrize(
    ("name", "word", "counts"),
    [
        ("anbn", "aabbaaabbbabaaaaabbbbb", "  ..   ... .     ....."),  # table 1, one place before the bold symbols
        ("anbncn", "aaabbbccca", "   ...... "),
        ("anbncndn", "aabbccdda", "  ...... "),
        ("anb2n", "aabbbbaaabbbbbbabb", "  ....   ...... .."),
        ("anbmcnm", "aabcccaabbccccabcc", "   ...    ....  .."),
        ("memorization", "12=21", "  .. "),
        ("addition", "101+1=011.", "     .... "),
        ("reversal", "110###", "   ..."),
        ("reversal-with-excluded", "1203##", "    .."),
        ("string-reversal", "ab##", "...."),
        ("xor", "1010", "...."),
        ("delayed-xor", "1010", "...."),
        ("parenthesis-prediction", "([()])[]", "  ... . "),
        ("boolean-formula", "TF∧", "..."),
        ("dyck-2", "([])", "...."),
        ("homomorphic-palindrome", "abc#zyx", "......."),
    ],
)
def test_what_counts(name: str, word: str, counts: str) -> None:
    assert get_task(name).scored(word) == [mark == "." for mark in counts.ljust(len(word))]


def test_examples_of_the_papers() -> None:
    opening = ("(", "[")
    assert get_task("dyck-2").expected("([])") == [("(", ")", "["), ("(", "[", "]"), ("(", ")", "["), opening]
    letters = ("a", "b", "c", "#")
    sets = [letters, letters, letters, ("z",), ("y",), ("x",), ("⊣",)]
    assert get_task("homomorphic-palindrome").expected("abc#zyx") == sets
    assert get_task("simple-palindrome").expected("ab#") == [letters, letters, ("b",)]
    assert get_task("xor").expected("1010110") == list("1100100")
    assert get_task("delayed-xor").expected("1010110") == list("0110010")
    assert get_task("memorization").expected("2122=221212=") == [*[None] * 4, *"2212", *[None] * 3, "2"]
    assert "".join(str(out) for out in get_task("addition").expected("101+1=011.") if out) == "011."
    assert get_task("boolean-formula").expected("TFT∧∨") == list("TFTFT")


@pytest.mark.parametrize(
    ("name", "word", "message"),
    [
        ("dyck-2", "([)", "no word of dyck-2 begins with the first 3 symbols"),
        ("anbn", "aabbb", "no stream of anbn: none of its pieces begins with b"),
        ("anbn", "aaba", "'a' at position 4, expected 'b'"),
        ("memorization", "=", "none of its pieces begins with ="),
        ("addition", "01", "none of its pieces begins with 01"),
        ("reversal", "1###", "expected w and up to |w| times #"),
        ("reversal-with-excluded", "123##", "expected w and up to # for every 0 and 1 in it"),
        ("reversal-with-excluded", "124", "expected w and up to #"),
        ("xor", "012", "expected 0 and 1 only"),
        ("parenthesis-prediction", "(()(", "'\\(' at position 4"),
        ("boolean-formula", "T∧", "'∧' at position 2 of T∧"),
        ("agreement", ("the", "lobster", "have"), "'have' at position 3 of the lobster have"),
        ("agreement", ("the", "lobster", "has", "devoured"), "'devoured' at position 4"),
    ],
)
def test_what_is_no_word_of_a_task(name: str, word: Word, message: str) -> None:
    with pytest.raises(StacklensError, match=message.replace("|w|", "\\|w\\|")):
        get_task(name).expected(word)
