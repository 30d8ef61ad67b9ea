"""Learning by asking: automata of any function come back, as black boxes, and every word is asked once."""

import random
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.attack.attack_extraction import BOXES
from tests.languages.plain_brackets import may_come, nested
from tests.refusals import refused

import stacklens as sl
from stacklens.automata.compare import Equal
from stacklens.extract.claims import claims_of
from stacklens.extract.diagnosis import cause_of
from stacklens.extract.saved import load_result
from stacklens.extract.search.asking import VisibleStack, visible_stack
from stacklens.languages.catalogue import get_language

QUICK: dict[str, Any] = {"words": 1_000, "quiet": True}
TINY: dict[str, Any] = {"words": 350, "deep_words": 2, "depth": 6, "height": 6, "climbs": 1, "walks": 5, "quiet": True}


def random_dfa(seed: int, states: int) -> Callable[[list[tuple[str, ...]]], list[bool]]:
    rng = random.Random(seed)
    table = {(q, x): rng.randrange(states) for q in range(states) for x in "ab"}
    accepting = {q for q in range(states) if rng.random() < 0.5}

    def box(words: list[tuple[str, ...]]) -> list[bool]:
        said = []
        for word in words:
            state = 0
            for symbol in word:
                state = table[state, symbol]
            said.append(state in accepting)
        return said

    return box


@pytest.mark.parametrize("seed", range(4))
def test_random_finite_automata_come_back(seed: int) -> None:
    box = random_dfa(seed, 6)
    result = sl.learn(box, "ab", kind="dfa", **QUICK)
    assert (result.status, result.report()["method"]) == (0, "learn-dfa")
    rng = random.Random(seed)
    words = [tuple(rng.choice("ab") for _ in range(rng.randrange(60))) for _ in range(300)]
    assert [result.automaton.accepts(word) for word in words] == box(words)


@pytest.mark.parametrize("given", [{"language": "dyck-2"}, {"calls": "([", "returns": ")]"}])
def test_balanced_brackets_are_learned_with_their_stack_and_proved(given: dict[str, Any]) -> None:
    result = sl.learn(lambda words: [nested(word) for word in words], "()[]", **given, **QUICK)
    assert isinstance(sl.compare(result, "dyck-2"), Equal)
    assert isinstance(result.proof, Equal) == ("language" in given)
    assert (len(result.automaton.states), set(result.automaton.stack_alphabet)) == (1, {"(", "["})
    assert result.found.method == "learn-vpa"
    assert "it tells what the network does, not how" in str(result)


def test_predictors_of_sets_are_learned_as_mealy_machines_or_with_their_stack_and_outputs_of_any_kind() -> None:
    bounded = sl.learn(lambda ws: [may_come(w, 2) for w in ws], "()[]", "dyck-2-2", first="([", longest=60, **TINY)
    assert (bounded.status, isinstance(bounded.proof, Equal)) == (0, True)
    assert len(bounded.automaton.states) == 7
    stacked = sl.learn(lambda words: [may_come(w) for w in words], "()[]", "dyck-2", first="([", longest=60, **TINY)
    assert (stacked.status, isinstance(stacked.proof, Equal)) == (0, True)
    assert stacked.found.method == "learn-vpa"
    result = sl.learn(lambda words: [sum(x == "a" for x in word) % 3 for word in words], "ab", **QUICK)
    assert result.automaton.transduce("aaba") == ["1", "2", "2", "0"]
    assert (result.status, len(result.automaton.states), result.report()["method"]) == (0, 3, "learn-mealy")


def test_every_word_is_asked_once_and_in_few_batches() -> None:
    asked: list[tuple[str, ...]] = []
    batches = 0

    def box(words: list[tuple[str, ...]]) -> list[bool]:
        nonlocal batches
        batches += 1
        asked.extend(words)
        return [len(word) % 5 == 0 for word in words]

    result = sl.learn(box, "ab", **QUICK)
    again = min(10_000, len(asked) - len(set(asked)) - 3)  # some of them in the end, to see whether it says the same
    assert (result.status, len(set(asked[:-again])) + 3) == (0, len(asked) - again)  # and 3 for the kind of answers
    assert 1_000 < again < 2_000
    assert batches < len(asked) / 5


FAR = 10**6  # deeper than any word is asked
BOUNDED: dict[str, tuple[Callable[[tuple[str, ...]], Any], str, int]] = {  # member, alphabet, states of the right one
    **{f"brackets to depth {n}": (partial(nested, depth=n), "()", n + 1) for n in (19, 21, 60)},
    "a^n b^n to 30 over a b c": (partial(BOXES["a^n b^n"], 30), "abc", 61),
    "saturating at 25": (partial(BOXES["a saturating count"], 25), "ab", 26),
    "balanced mod 29": (partial(BOXES["as many modulo"], 29), "ab", 29),
    "a 211 times": (lambda word: word.count("a") % 211 == 0, "ab", 211),
    "a^n b^2n to 25": (partial(BOXES["a^n b^2n"], 25), "ab", 76),
    "pairs to depth 3": (partial(nested, depth=3), "()[]", 15),
}
QUICK_ONES = ("brackets to depth 21", "a^n b^n to 30 over a b c", "saturating at 25", "balanced mod 29")


@pytest.mark.parametrize(
    "name", [one if one in QUICK_ONES else pytest.param(one, marks=pytest.mark.slow) for one in BOUNDED]
)
def test_a_box_that_is_bounded_gives_the_automaton_that_is_right(name: str) -> None:
    member, alphabet, states = BOUNDED[name]
    result = sl.learn(lambda words: [member(word) for word in words], alphabet, quiet=True)
    assert (result.status, len(result.automaton.states)) == (0, states)
    assert [result.automaton.accepts(w) for w in deep_words(alphabet)] == [member(w) for w in deep_words(alphabet)]


def deep_words(alphabet: str) -> list[tuple[str, ...]]:
    a, b = tuple(alphabet)[:2]
    return [(*a * n, *b * m) for n in range(1, 230, 3) for m in (n - 1, n, n + 1)] + [(a,) * n for n in range(450)]


def test_depth_199_is_found_and_depth_200_is_not_taken_for_a_count() -> None:
    for depth, status in ((199, 0), (201, 3)):
        result = sl.learn(lambda words, most=depth: [nested(w, most) for w in words], "()", quiet=True)  # type: ignore[misc]
        assert result.status == status


ENDLESS: dict[str, tuple[Callable[[tuple[str, ...]], bool], str]] = {
    "brackets": (nested, "()"),
    "a^n b^n": (partial(BOXES["a^n b^n"], FAR), "ab"),
    "one of two kinds, the other bounded": (lambda w: nested(w) and nested([x for x in w if x in "()"], 3), "()[]"),
    "as many a as b": (lambda word: word.count("a") == word.count("b"), "ab"),
    "more b than a": (
        lambda w: w == ("a",) * w.count("a") + ("b",) * w.count("b") and w.count("b") > w.count("a"),
        "ab",
    ),
    "palindromes": (lambda word: word.count("c") == 1 and word == word[::-1], "abc"),
    "pairs of two symbols": (lambda w: w == ("a", "b") * (len(w) // 4) + ("c", "d") * (len(w) // 4), "abcd"),
    "three counts": (lambda w: w == tuple(x for x in "abc" for _ in range(len(w) // 3)), "abc"),
    "none of depth 17": (lambda w: nested(w) and (nested(w, 16) or not nested(w, 17)), "()"),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_box_that_counts_further_than_was_asked_is_status_3_and_says_so(name: str) -> None:
    member, alphabet = ENDLESS[name]
    result = sl.learn(lambda words: [member(word) for word in words], alphabet, quiet=True)
    assert (result.status, result.minimised) == (3, None)
    assert "it counts, or is bounded at a depth not seen" in (result.reason or "")
    assert re.search(r"every n up to (200|133|100) needs a state of its own", result.headline)
    assert result.best.error_rate > 0


def test_a_box_beside_a_language_is_asked_again_until_no_check_breaks_it() -> None:
    result = sl.learn(lambda words: [nested(w, 5) for w in words], "()[]", "dyck-2", budget=900, quiet=True)
    assert (result.status, len(result.automaton.states)) == (1, 63)
    assert "the automaton follows the black box, and is not dyck-2" in result.why()
    checks = [replace(one, disagreements=3, words=600) for one in result.checks if one.other == "rounded network"]
    cause = cause_of(replace(result, checks=tuple(checks)), None, None)
    assert cause.measured == "the automaton is not dyck-2, and leaves the black box on 3 of 600 words"


@pytest.mark.parametrize("depth", [None, 30, 150])
def test_a_bound_shows_beside_a_language_with_calls_and_returns(depth: int | None) -> None:
    result = sl.learn(lambda words: [nested(w, depth or FAR) for w in words], "()", "dyck-1", quiet=True)
    assert result.status == (0 if depth is None else 1)
    follows = "the black box follows it" in result.headline  # or the automaton is the language, which the box leaves
    assert follows is not isinstance(result.proof, Equal) or depth is None
    assert follows or f"'(' {(depth or 0) + 1} times, then ')' {(depth or 0) + 1} times" in result.headline


@pytest.mark.parametrize(("from_length", "alphabet"), [(30, "ab"), (390, "ab")])
def test_a_box_that_is_wrong_of_all_long_words_is_never_status_0(from_length: int, alphabet: str) -> None:
    def box(words: list[tuple[str, ...]]) -> list[bool]:
        return [(word.count(alphabet[0]) % 2 == 0) ^ (len(word) >= from_length) for word in words]

    result = sl.learn(box, alphabet, quiet=True)
    if result.status == 0:
        words = deep_words(alphabet)
        assert [result.automaton.accepts(word) for word in words] == box(words)


@pytest.mark.parametrize("depth", [45, None])
def test_a_bound_of_sets_is_found_or_told(depth: int | None) -> None:
    def says(word: tuple[str, ...]) -> set[str]:
        height = word.count("(") - word.count(")")
        return ({"("} if depth is None or height < depth else set()) | ({")"} if height > 0 else set())

    result = sl.learn(
        lambda words: [says(word) for word in words], "()", quiet=True
    )  # the empty word says what is first
    assert result.status == (3 if depth is None else 0)
    assert depth is None or len(result.automaton.states) == depth + 1


def test_what_the_words_show_is_in_result_and_summary(tmp_path: Path) -> None:
    result = sl.learn(lambda words: [word.count("a") % 5 == 0 for word in words], "ab", quiet=True)
    checks = {check.kind: check for check in result.checks if check.other == "network"}
    assert {"conformance", "random", "pumped"} <= set(checks)
    drawn, tested = checks["random"], checks["conformance"]
    assert drawn.words == 600
    assert drawn.error_bound == pytest.approx(1 - 0.0125 ** (1 / 600))
    assert (tested.more_states or 0) >= 2
    text = str(result)
    assert "at most 0.73 % of words drawn anew differ (uniformly random symbols, lengths 10 to 60)" in text
    assert f"no machine with up to {tested.more_states} states more" in text
    result.save(tmp_path / "r.json")
    assert str(load_result(tmp_path / "r.json", trusted=True)) == text
    (entry,) = (one for one in result.report()["checks"] if one["kind"] == "random" and one["between"][1] == "network")
    assert (entry["delta"], round(entry["epsilon"], 4)) == (0.05, 0.0073)


def test_a_box_is_not_rounded_and_is_not_sent_to_where_it_came_from() -> None:
    right = sl.learn(lambda words: [len(word) % 3 == 0 for word in words], "ab", **QUICK)
    wrong = sl.learn(lambda words: [sum(map(ord, word)) ** 2 % 1_009 < 500 for word in words], "ab", **QUICK)
    none = sl.learn(lambda words: [nested(word) for word in words], "()", **QUICK)
    assert "the black box follows it on" in right.headline
    for result in (right, wrong, none):
        claims = " ".join(f"{claim.what} {claim.words}" for claim in claims_of(result.report()))
        for text in (str(result), repr(result), result.why(), claims):
            assert "rounded" not in text.replace("nothing rounded", "")
            assert "noise" not in text
            assert "sl.learn(model" not in text
            assert "sl.extract(" not in text
    assert none.status == 3
    assert wrong.status in (1, 3)


def test_a_search_ends_where_states_count_the_symbols() -> None:
    """AALpy's L# tells states apart by words that it looks for in ways whose number doubles at every symbol."""
    result = sl.learn(lambda ws: [(len(w) >= 30) ^ (w.count("a") % 2 == 0) for w in ws], "ab", budget=20, quiet=True)
    assert result.status in (0, 1, 3)


def test_the_shape_of_a_stack_is_seen_in_an_automaton() -> None:
    assert visible_stack(get_language("dyck-2").automaton) == VisibleStack(("(", "["), (")", "]"))
    assert visible_stack(get_language("dyck-2-3").automaton) is None  # which never pushes
    assert visible_stack(get_language("palindrome").automaton) is None  # where a symbol does both
    assert visible_stack(None) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "pda"}, "kind is 'pda'; expected auto, dfa, mealy or vpa"),
        ({"kind": "vpa"}, "which symbols push, and which pop"),
        ({"kind": "mealy"}, "a recogniser does not: ask for a dfa"),
        ({"calls": "a", "returns": "a"}, "a cannot be a call and a return"),
        ({"calls": "a"}, "give both calls"),
        ({"calls": "x", "returns": "b", "kind": "vpa"}, "calls and returns are of a b, not x"),
        ({"alphabet": None}, "give its alphabet"),
        ({"language": "dyck-1"}, "has the alphabet"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], said: str) -> None:
    box = random_dfa(0, 2)
    refused(said, sl.learn, box, **{"alphabet": "ab", **QUICK, **given})


def test_a_function_that_fails_or_answers_too_little_is_one_line() -> None:
    refused(r"the function failed, given .* words, a list .*: division by", sl.learn, lambda _: 1 / 0, "ab", **QUICK)
    refused("the function gave 0 answers to 3 words", sl.learn, lambda _: [], "ab", **QUICK)
    refused("expected a function from a list of words", sl.learn, 7, "ab", **QUICK)


# ---- Evidence that contradicts itself is weighed, and never of status 0.


@pytest.mark.parametrize("again", [False, True])
def test_a_box_that_answers_wrongly_now_and_then_has_the_automaton_of_the_rest(again: bool) -> None:
    """Of a box wrong on 1 % of the words, always the same or anew each time, three states come out as they are."""
    drawn = random.Random(0)

    def box(words: list[tuple[str, ...]]) -> list[bool]:
        wrong = [(drawn if again else random.Random(" ".join(word))).random() < 0.01 for word in words]
        return [(word.count("a") % 3 == 0) ^ one for word, one in zip(words, wrong, strict=True)]

    result = sl.learn(box, "ab", budget=60, words=4_000, quiet=True)
    assert result.status == 1
    assert all(
        result.automaton.accepts(word) == ("".join(word).count("a") % 3 == 0)
        for length in range(9)
        for word in product("ab", repeat=length)
    )
    explained, steps = result.found.explains
    assert 0.985 < explained / steps < 0.995
    assert f"explains {explained / steps:.1%} of {steps:,} steps; never status 0" in str(result.caution)
    assert "contradicts itself" in result.why()


@pytest.mark.parametrize("how", ["learn", "forward", "stack"])
@pytest.mark.parametrize("rate", [0.5, 0.001, 0.0])
def test_what_answers_otherwise_when_it_is_asked_again_is_never_of_status_0(how: str, rate: float) -> None:
    """One answer in a thousand that is wrong passes the trial of `sl.wrap`; one in two does not."""
    drawn, thirds = torch.Generator().manual_seed(0), random.Random(0)

    def noisy(right: torch.Tensor) -> torch.Tensor:
        return (right.float() - (torch.rand(right.shape, generator=drawn) < rate).float()).abs()[..., None]

    def step(x: torch.Tensor, h: torch.Tensor, top: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Push an opening bracket, pop for a closing one, and note in ``h`` what has closed and went wrong."""
        close = x[:, 1:]
        h = torch.maximum(h, torch.cat([close, torch.where(close > 0, 1 - top, h[:, :1])], 1))
        return h, torch.cat([close, 0 * close, 1 - close], 1), 0 * top + 1, noisy(h[:, 1] < 0.5)

    ways: dict[str, Any] = {
        "forward": {"alphabet": "ab", "forward": lambda x: noisy((x == 0).cumsum(1) % 3 == 0), "symbols": "index"},
        "stack": {"alphabet": "()", "step": step, "stack": "superposition", "cell": 1, "hidden": 2},
    }
    if how != "learn" and rate == 0.5:
        refused("to the same word: is there dropout", sl.wrap, None, empty_word=True, **ways[how])
        return
    few: dict[str, Any] = {"long_words": 20, "deep_words": 0, "cycles": 0, "max_length": 6, "quiet": True}
    if how == "learn":
        result = sl.learn(
            lambda some: [(len(w) % 3 == 0) ^ (thirds.random() < rate) for w in some], "ab", words=4_000, **few
        )
    else:
        result = sl.extract(sl.wrap(None, empty_word=True, **ways[how]), **few)
    assert (result.status == 0) is (rate == 0)
    if rate == 0.001:
        assert "another answer; never status 0" in str(result.caution)
        assert "Nothing contradicts" not in result.why()  # also where no word of the checks speaks against it
        assert "contradicts itself: asked again" in result.why()


@pytest.mark.parametrize("kind", ["coins", "counts", "rare"])
def test_what_no_automaton_explains_is_not_weighed(kind: str) -> None:
    """Coins, a^n b^n, and words that hardly any is one of: what explains rejections explains nothing."""

    def box(words: list[tuple[str, ...]]) -> list[bool]:
        texts = ["".join(word) for word in words]
        if kind == "coins":
            return [random.Random(text).random() < 0.5 for text in texts]
        if kind == "rare":
            return [random.Random(text).random() < 0.01 for text in texts]
        return [text == "a" * (len(text) // 2) + "b" * (len(text) // 2) for text in texts]

    result = sl.learn(box, "ab", budget=30, kind="dfa", words=1_000, quiet=True)
    assert result.status == 3
