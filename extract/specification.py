"""What an automaton should do, in one form for languages and tasks: words to check on, and the answers to expect."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..automata.compare import Comparison, Equal, Outputs, Undecided, compare
from ..automata.coverage import Pump, pumps
from ..automata.enumeration import count_all, encode_words, enumerate_words, outputs_all
from ..automata.pda import Output, PushdownAutomaton, Word
from ..automata.rewriting import delayed, lag_of
from ..automata.runs import first_rejection, transduce_many
from ..core.errors import NoWordError, StacklensError, listed
from ..core.progress import while_time
from ..languages.language import Language, all_words, make_word
from ..languages.streams import StreamTask
from ..languages.task import Task
from ..models.base import StackModel
from ..models.inference import number_table, output_number

_LONGEST = 200  # over one symbol there are few words, however long


class Specification(ABC):
    """What a network was trained to do, on all words over ``alphabet``, or, with a ``partial_domain``, on some only."""

    name: str  # what the command line calls it
    alphabet: tuple[str, ...]  # the symbols of its words
    complete: frozenset[Output] = frozenset()  # for predictors, the outputs that say that a word is complete
    partial_domain: bool = False

    @abstractmethod
    def short_words(self, number: int, longest: int | None = None) -> list[Word]:
        """Return all words that matter up to the length that gives at most ``number``, or up to the ``longest`` asked.
        Raises StacklensError: there are more than ``number`` words up to the length that was asked.
        """

    @abstractmethod
    def long_words(self, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
        """Return ``n`` drawn words, members and near-misses among them where there are such things."""

    def deep_words(self, n: int, depth: int, seed: int) -> list[Word]:
        """Return words that drive a stack ``depth`` deep; none where that means nothing."""
        return []

    @abstractmethod
    def answers(self, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
        """Return the answers to expect, in the numbers of ``model``, shaped as `models.inference.network_answers`."""

    def scored(self, words: Sequence[Word]) -> np.ndarray | None:
        """Return which answers count, of the same shape, bool; None for all."""
        return None

    def answers_on_all(self, model: StackModel[Any], max_length: int) -> list[np.ndarray] | None:
        """Return the answers for all words of each length (see `models.inference.answers_on_all`), or None."""
        return None

    def automaton(self) -> PushdownAutomaton | None:
        """Return the reference automaton, whose words are those that matter; None where there is none."""
        return None

    def meant(self, words: Sequence[Word]) -> np.ndarray:
        """Return which of ``words`` matter, (N,) bool: all, or those that the reference automaton reads to the end."""
        automaton = self.automaton() if self.partial_domain else None
        if automaton is None:
            return np.full(len(words), not self.partial_domain)
        return np.asarray(first_rejection(automaton, words) < 0)

    def pumps(self, most: int, seed: int) -> list[Pump]:
        """Return at most ``most`` families of words with a part that is repeated, from the reference automaton."""
        automaton = self.automaton()
        return [] if automaton is None else pumps(automaton, most, seed, rejected=False)

    @abstractmethod
    def compare(self, pda: PushdownAutomaton) -> Comparison:
        """Return whether ``pda`` does what it should on all words, decided against a reference automaton."""

    def question(self) -> tuple[PushdownAutomaton, Outputs, bool] | None:
        """Return what `compare` compares with, which outputs count, and whether acceptance does; None for nothing."""
        return None

    def compare_written(self, pda: PushdownAutomaton) -> Comparison:
        """Return whether all that ``pda`` writes on every word is what it should be, as far as that is decided."""
        return Undecided(f"{self.name} does not say what should be written on a whole word")


class LanguageSpecification(Specification):
    """A language, for recognisers."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.name, self.alphabet = language.name, tuple(language.alphabet)

    def short_words(self, number: int, longest: int | None = None) -> list[Word]:
        return words_over(self.alphabet, number, longest)

    def long_words(self, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
        """Return words, a quarter members, a quarter near-misses; the rest, and what there is none of, is random."""
        words: list[Word] = []
        for positive in (True, False):
            try:
                words += self.language.sample(n // 4, lengths, positive, seed)
            except StacklensError:  # no member of these lengths
                continue
        return words + self.language.sample(n - len(words), lengths, None, seed)

    def deep_words(self, n: int, depth: int, seed: int) -> list[Word]:
        """Return ``n`` members nested so deep, as random words never are, and a near-miss of each; perhaps none."""
        rng = np.random.default_rng(seed)
        try:
            members = self.language.deep(n, depth, seed)
            return [*members, *(self.language.near_miss(word, rng) for word in members)]
        except StacklensError:
            return []

    def answers(self, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
        """Return membership by the language's definition, (N, 1). Raises StacklensError: ``model`` is no recogniser."""
        self._check_kind(model)
        return np.array([[word in self.language] for word in while_time(words)], dtype=np.int32)

    def automaton(self) -> PushdownAutomaton | None:
        try:
            return self.language.automaton
        except StacklensError:
            return None

    def compare(self, pda: PushdownAutomaton) -> Comparison:
        try:
            specification = self.language.automaton
        except StacklensError as error:
            return Undecided(str(error))
        return compare(pda, specification, outputs="ignore")

    def question(self) -> tuple[PushdownAutomaton, Outputs, bool] | None:
        reference = self.automaton()
        return None if reference is None else (reference, "ignore", True)

    def answers_on_all(self, model: StackModel[Any], max_length: int) -> list[np.ndarray]:
        """Return membership of all words, from the members that the definition gives, not the reference automaton.
        Raises StacklensError: ``model`` is no recogniser.
        """
        self._check_kind(model)
        # the number of a word is its symbols as digits, first symbol first
        k = len(model.alphabet)
        members = [np.zeros(k**n, dtype=np.int32) for n in range(max_length + 1)]
        by_length: dict[int, list[Word]] = {}
        for word in self.language.words(max_length):
            by_length.setdefault(len(word), []).append(word)
        for length, words in by_length.items():
            codes, _ = encode_words(words, model.alphabet)
            members[length][codes.astype(np.int64) @ k ** np.arange(length)[::-1]] = 1
        return members

    def _check_kind(self, model: StackModel[Any]) -> None:
        if model.task_kind != "recognition":
            raise StacklensError(
                f"the language {self.name} says which words are members, and a {model.task_kind} network says "
                "something after every symbol: check it against a task"
            )


def default_max_length(n_symbols: int, words: int) -> int:
    """Return the largest length up to which there are at most ``words`` words over ``n_symbols`` symbols.

    >>> default_max_length(2, 2_500_000), default_max_length(3, 2_500_000)
    (20, 13)
    """
    length = 0
    while count_all(n_symbols, length + 1) <= words and length < _LONGEST:
        length += 1
    return length


def words_over(alphabet: tuple[str, ...], number: int, longest: int | None = None) -> list[Word]:
    """Return all words over ``alphabet`` as `Specification.short_words` does. Raises StacklensError: too many."""
    most = default_max_length(len(alphabet), number)
    if longest is not None and longest > most:
        raise StacklensError(
            f"there are more than {number:,} words of length <= {longest} over {len(alphabet)} symbols; "
            f"ask for {most} or less"
        )
    return all_words(alphabet, most if longest is None else longest)


def random_words(alphabet: tuple[str, ...], n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
    """Return ``n`` uniformly random words with lengths in a range."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(lengths[0], lengths[1] + 1, n)
    return [make_word([alphabet[i] for i in rng.integers(0, len(alphabet), size)], alphabet) for size in sizes]


def check_same_alphabet(specification: Specification | None, model: StackModel[Any]) -> None:
    """Check that a network reads the symbols of what it is to be checked against."""
    if specification is not None and set(specification.alphabet) != set(model.alphabet):
        more = set(specification.alphabet) < set(model.alphabet)
        tokens = ", or by sl.wrap(…, bos=…, eos=…, pad=…) what is no symbol of a word" if more else ""
        raise StacklensError(
            f"language {specification.name} has the alphabet {listed(specification.alphabet)}, the network "
            f"{listed(model.alphabet)}; name the language that it was trained on{tokens}"
        )


# ---- A task as a specification: what predictors and transducers should say after every symbol, and where that counts.

_LONGEST_OF_TASK = 40  # symbols of a beginning; there are mostly enough of them long before
_MOST_ASKED = 1_000
_SMALL_PIECES = 3  # sizes of pieces of streams that are repeated, and how many of each
_LONGER = 20  # where sizes are not lengths, words are many times longer than their sizes, and fewer will do


class TaskSpecification(Specification):
    """A task, for predictors and transducers; predictors of next sets should reject words that are none of it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.name, self.alphabet = task.name, tuple(task.alphabet)
        self.partial_domain = task.kind != "next set"
        if (reference := task.reference) is not None and not self.partial_domain and reference.accepting:
            # the outputs that come exactly where a word is complete; none where the outputs do not tell
            steps = reference.transitions.values()
            at_end = frozenset(step.output for step in steps if step.target in reference.accepting)
            elsewhere = {step.output for step in steps if step.target not in reference.accepting}
            self.complete = frozenset() if at_end & elsewhere or None in at_end else at_end
        language = getattr(task, "language", None)
        self.language = language if isinstance(language, Language) and not self.partial_domain else None

    def short_words(self, number: int, longest: int | None = None) -> list[Word]:
        """Return all words over the alphabet for next sets, else all beginnings of the task's words, up to a length."""
        if not self.partial_domain:
            return words_over(self.alphabet, number, longest)
        if longest is not None and longest > _MOST_ASKED:
            raise StacklensError(f"words of length <= {longest} were asked; ask for {_MOST_ASKED} or less")
        found = list[Word]()
        most, reference = _LONGEST_OF_TASK if longest is None else longest, self.task.reference
        words = _beginnings_of_task(self.task, most)
        if reference is not None:
            words = (make_word(word, self.alphabet) for word in enumerate_words(_reading_the_end(reference), most))
        for word in words:
            if len(found) == number:  # the words of this length are not all among them
                if longest is not None:
                    raise StacklensError(
                        f"the task {self.name} has more than {number:,} words of length <= {longest}; "
                        f"ask for {len(word) - 1} or less"
                    )
                return [shorter for shorter in found if len(shorter) < len(word)]
            found.append(word)
        return found

    def meant(self, words: Sequence[Word]) -> np.ndarray:
        """Return which of ``words`` are the task's, or begin one of them, (N,) bool; all where sets are predicted."""
        if not self.partial_domain or self.task.reference is not None:
            return super().meant(words)
        found = np.ones(len(words), dtype=bool)
        for row, word in enumerate(words):
            try:
                self.task.expected(word)
            except NoWordError:
                found[row] = False
        return found

    def pumps(self, most: int, seed: int) -> list[Pump]:
        """Return families of words that repeat something; of streams that no automaton reads small pieces, repeated."""
        if self.task.reference is not None or not isinstance(self.task, StreamTask):
            return super().pumps(most, seed)
        task, rng = self.task, np.random.default_rng(seed)
        sizes = range(task.smallest, task.smallest + _SMALL_PIECES)
        pieces = [tuple(task.piece(n, rng)) for n in sizes for _ in range(_SMALL_PIECES)]
        pairs = [one + other for one in pieces for other in pieces if one != other]
        cycles = list(dict.fromkeys([*pieces, *pairs]))[:most]
        return [Pump((), cycle, (), (), ((),), 0, len(cycle)) for cycle in cycles]

    def long_words(self, n: int, lengths: tuple[int, int], seed: int) -> list[Word]:
        """Return words of the task of some sizes (by depth the paper's longest); for next sets half are near-misses."""
        if self.language is None:
            sizes = None if self.task.by_depth else lengths
            return list(self.task.sample(n // _LONGER, sizes, "test", seed).words)
        halves = ((n - n // 2, True), (n // 2, False))
        return [word for count, member in halves for word in self.language.sample(count, lengths, member, seed)]

    def deep_words(self, n: int, depth: int, seed: int) -> list[Word]:
        """Return members of the task's language nested so deep, and a near-miss of each, where there is a language."""
        return [] if self.language is None else LanguageSpecification(self.language).deep_words(n, depth, seed)

    def answers(self, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
        """Return the outputs to expect, (N, T); -1 from the first symbol with which no word of the task goes on."""
        if (reference := self.task.reference) is not None:
            return np.asarray(number_table(reference, model)[transduce_many(reference, words)])
        answers = np.full((len(words), max(map(len, words), default=0)), -1, dtype=model.number_type)
        for row, word in enumerate(words):
            outputs = self.task.expected_while_live(word)
            answers[row, : len(outputs)] = [output_number(output, model) for output in outputs]
        return answers

    def scored(self, words: Sequence[Word]) -> np.ndarray | None:
        """Return which outputs count, (N, T); None, for all, where sets are predicted."""
        if not self.partial_domain:
            return None
        width = max(map(len, words), default=0)
        mask = np.zeros((len(words), width), dtype=bool)
        for row, word in enumerate(words):
            mask[row, : len(word)] = self.task.scored(word)
        return mask

    def answers_on_all(self, model: StackModel[Any], max_length: int) -> list[np.ndarray] | None:
        """Return the reference automaton's outputs for all words where sets are predicted, else None."""
        if self.partial_domain or (reference := self.task.reference) is None:
            return None
        numbers = number_table(reference, model)  # -1 is the last, where index -1 leads
        answers = [numbers[places] for places in outputs_all(reference, max_length)]
        answers[0][:] = -1  # there is no output before the first symbol
        return answers

    def automaton(self) -> PushdownAutomaton | None:
        return self.task.reference

    def compare(self, pda: PushdownAutomaton) -> Comparison:
        """Return whether ``pda`` says what the task asks for after every symbol, decided against its automaton.

        Where sets are predicted it has to say the same on all words and to be cut at the same symbols, and, where sets
        tell which words are complete, to accept the same words too. Else only the task's own words count: on these it
        must not be cut, and what never counts is not compared.
        """
        asked = self.question()
        if asked is None and self.language is not None:  # which says why there is none
            return LanguageSpecification(self.language).compare(pda)
        if asked is None:
            return self._without_proof()
        specification, outputs, acceptance = asked
        if not acceptance and not self.partial_domain:
            pda, specification = _reading_the_end(pda), _reading_the_end(specification)
        return self._on_its_domain(compare(pda, specification, outputs=outputs))

    def question(self) -> tuple[PushdownAutomaton, Outputs, bool] | None:
        """Return the task's automaton and what counts: acceptance only where sets tell which words are complete."""
        reference, silent = self.task.reference, self.task.silent
        if reference is None or silent is None:
            return None
        if not self.partial_domain:
            return reference, "all", bool(self.complete)
        steps = {
            key: replace(step, output=None if step.output in silent else step.output)
            for key, step in reference.transitions.items()
        }
        return replace(reference, transitions=steps), "where b", False

    def compare_written(self, pda: PushdownAutomaton) -> Comparison:
        """Return whether what ``pda`` writes on whole words is right wherever that counts, at most a letter late."""
        asked = self.question()
        if asked is None:
            return self._without_proof()
        (specification, outputs, _), lag = asked, lag_of(pda)
        if lag is None or not self.partial_domain:
            return Undecided("it does not write one symbol for each letter, at most one letter late")
        if pda.end_marker is not None and lag:
            specification = delayed(specification, pda.end_marker)
        return self._on_its_domain(compare(pda, specification, outputs=outputs))

    def _without_proof(self) -> Undecided:
        no_automaton = self.task.reference is None
        missing = "reference automaton" if no_automaton else "rule for what counts that outputs alone decide"
        return Undecided(f"the task {self.name} has no {missing}")

    def _on_its_domain(self, found: Comparison) -> Comparison:
        reference = self.task.reference
        if not self.partial_domain or not isinstance(found, Equal) or reference is None:
            return found
        partly = (self.task.silent or frozenset()) & {step.output for step in reference.transitions.values()}
        return Equal(f"all words of the task{', wherever an output counts' if partly else ''}")


def _reading_the_end(pda: PushdownAutomaton) -> PushdownAutomaton:
    return replace(pda, acceptance="final state", accepting=frozenset(pda.states))


def _beginnings_of_task(task: Task, longest: int) -> Iterator[Word]:
    """Yield all beginnings of the task's words, shortest first, from its plain function."""
    # breadth first: the words of one length, made longer by every symbol that may follow
    level: list[tuple[str, ...]] = [()]
    for _ in range(longest + 1):
        yield from (make_word(word, task.alphabet) for word in level)
        longer = []
        for word in level:
            known = task.expected(make_word(word, task.alphabet))[-1] if word and task.kind == "next symbol" else None
            for symbol in task.alphabet if known is None else [known]:
                try:
                    task.expected(make_word((*word, str(symbol)), task.alphabet))
                except NoWordError:
                    continue
                longer.append((*word, str(symbol)))
        level = longer
