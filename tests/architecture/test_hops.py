"""The measure of how far one has to go to read a call (benchmarks/hops.py)."""

from benchmarks.hops import Hops, measure

from stacklens.automata.pda import Configuration
from stacklens.languages.words import make_word


def test_a_call_of_one_short_function_passes_one_file() -> None:
    found = measure(lambda: Configuration("q", ((), ("A",))).tops("⊥"))
    assert found == {"all": Hops(1, 1, 1), "automata": Hops(1, 1, 1)}


def test_what_is_not_ours_does_not_count() -> None:
    assert measure(lambda: sorted("ba")) == {"all": Hops(0, 0, 0)}


def test_lines_count_once_and_rooms_add_up() -> None:
    def words() -> None:
        for _ in range(3):
            make_word(["a", "b"], "ab")
        Configuration("q", ()).tops("⊥")

    found = measure(words)
    assert found["languages"] == measure(lambda: make_word(["a", "b"], "ab"))["languages"]
    rooms = [hops for room, hops in found.items() if room != "all"]
    assert found["all"] == tuple(map(sum, zip(*rooms, strict=True)))
