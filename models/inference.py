"""The network's verdicts: on given words, in batches, and on every word up to a length, prefixes shared; and its
answers beside an automaton's.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..automata.enumeration import accepts_all, compile_tables, encode_words, outputs_all
from ..automata.pda import Output, PushdownAutomaton, Word, output_text
from ..automata.runs import accepts_many, transduce_many, written_many
from ..core.errors import StacklensError
from ..core.progress import OutOfTimeError, check_time, current_limit, cut_short
from .base import NetworkState, StackModel


@torch.no_grad()
def verdicts_on(model: StackModel[Any], words: Sequence[Word], chunk: int = 1_024) -> np.ndarray:
    """Return the network's verdicts on ``words``, (..., N) bool. Long words run together and a word that has ended no
    longer costs anything, nor does one that every network on the leading axis has rejected for good. Raises
    UnknownSymbolError: a word has a symbol outside the network's alphabet.
    """
    if (known := model.answers_to(words)) is not None:
        return np.asarray(known[:, 0] == 1)
    codes, lengths = encode_words(words, model.alphabet)
    verdicts = np.zeros((*model.initial_state(1).hidden.shape[:-2], len(words)), dtype=bool)
    for rows, t, state in _on_the_way(model, codes, lengths, chunk):
        ended = lengths[rows] == t
        if ended.any():
            at_end = torch.from_numpy(np.flatnonzero(ended)).to(state.hidden.device)
            verdicts[..., rows[ended]] = model.verdict(state.select(at_end)).cpu().numpy()
    return verdicts


def _on_the_way(
    model: StackModel[Any], codes: np.ndarray, lengths: np.ndarray, chunk: int
) -> Iterator[tuple[np.ndarray, int, NetworkState[Any]]]:
    """Yield which words, how many symbols they have read and the network's state then, ``chunk`` words at a time. One
    is left out once it has ended, and once every network on the leading axis has rejected it for good.
    """
    by_length = np.argsort(-lengths, kind="stable")
    for begin in range(0, len(lengths), chunk):
        rows = by_length[begin : begin + chunk]  # the longest first
        state = model.initial_state(len(rows))
        symbols = torch.from_numpy(codes[rows].astype(np.int64)).to(state.hidden.device)
        for t in range(int(lengths[rows[0]]) + 1):
            check_time()
            yield rows, t, state
            going = (lengths[rows] > t) & ~_hopeless(state).cpu().numpy()
            if not going.any():
                break
            if not going.all():
                keep = torch.from_numpy(np.flatnonzero(going)).to(symbols.device)
                state, symbols, rows = state.select(keep), symbols[keep], rows[going]
            state = model.step(symbols[:, t], state).state


def verdicts_on_all(model: StackModel[Any], max_length: int, chunk: int = 8_192) -> list[np.ndarray]:
    """Return a recogniser's verdicts on all words, bool (..., k**n) for every length n; see `answers_on_all`."""
    return [answers == 1 for answers in answers_on_all(model, max_length, chunk)]


@torch.no_grad()
def answers_on_all(
    model: StackModel[Any], max_length: int, chunk: int = 8_192, prefix: Sequence[int] = ()
) -> list[np.ndarray]:
    """Return the answers to all words, one array (..., k**n) for every length n = 0..max_length.

    An answer is 1 or 0 from a recogniser, the number of the last output from others, -1 where a word is rejected on the
    way (see `StackModel.answer`). A word's place in its array is its lexicographic number: its symbols' indices read in
    base k, the alphabet's size. With a ``prefix`` (symbols' indices) they are the words after it. The tree of prefixes
    is walked depth first, ``chunk`` prefixes at a time, so memory stays bounded. What every network on the leading axis
    has rejected for good is not extended: none of its continuations can be accepted.
    """
    k = len(model.alphabet)
    root = model.initial_state(1)
    for symbol in prefix:
        root = model.step(torch.tensor([symbol], device=root.hidden.device), root).state
    leading = root.hidden.shape[:-2]
    rejected = 0 if model.task_kind == "recognition" else -1
    answers = [np.full((*leading, k**n), rejected, dtype=model.number_type) for n in range(max_length + 1)]
    pending = [(0, torch.zeros(1, dtype=torch.int64, device=root.hidden.device), root)]
    while pending:
        check_time()
        length, numbers, state = pending.pop()
        answers[length][..., numbers.cpu().numpy()] = model.answer(state)
        live = torch.nonzero(~_hopeless(state)).squeeze(1)
        if length == max_length or not len(live):
            continue
        # the live words one symbol longer, at most about `chunk` together
        for parents in torch.split(live, max(1, chunk // k)):
            symbols = torch.arange(k, device=parents.device).repeat(len(parents))
            parents = parents.repeat_interleave(k)
            after = model.step(symbols, state.select(parents)).state
            pending.append((length + 1, numbers[parents] * k + symbols, after))
    return answers


@torch.no_grad()
def outputs_on(model: StackModel[Any], words: Sequence[Word], chunk: int = 1_024) -> np.ndarray:
    """Return the number of a single network's output after every symbol, (N, T); -1 after the end of a word, and from
    where the word is rejected. Raises UnknownSymbolError: a word has a symbol outside the network's alphabet.
    """
    if (known := model.answers_to(words)) is not None:
        return known
    codes, lengths = encode_words(words, model.alphabet)
    numbers = np.full(codes.shape, -1, dtype=model.number_type)
    for rows, t, state in _on_the_way(model, codes, lengths, chunk):
        if t:
            numbers[rows, t - 1] = model.answer(state)
    return numbers


@torch.no_grad()
def written_on(model: StackModel[Any], words: Sequence[Word], chunk: int = 1_024) -> np.ndarray:
    """Return what a single buffered network answers to each word as a whole, (N, T): numbers of symbols.

    As many symbols are read off its output queue as the word has, once it has taken all of its steps; -1 where less
    than half a symbol was written, and behind them. What it reads behind a word (see `StackModel.reads_on`) is read as
    well. Raises UnknownSymbolError: a word has a symbol outside the network's alphabet.
    """
    codes, lengths = encode_words(words, model.alphabet)
    numbers = np.full(codes.shape, -1, dtype=model.number_type)
    by_length = np.argsort(-lengths, kind="stable")
    for begin in range(0, len(words), chunk):
        rows = by_length[begin : begin + chunk]
        longest = int(lengths[rows].max(initial=0))
        if longest:
            fed, _ = encode_words([(*words[row], *model.reads_on) for row in rows], model.alphabet)
            run = model.run(torch.from_numpy(fed.T.astype(np.int64)), model.initial_state(len(rows)))
            written = model.output_numbers(run.output[:longest]).T  # (B, T)
            # how many symbols can be read off the output queues, half ones too, by the strength of all pushes there
            steps = (lengths[rows] + len(model.reads_on)) * (1 + model.extra_steps)
            taken = np.arange(len(run.actions))[:, None] < steps  # (S, B)
            strength = (run.actions[:, :, 0, 3].cpu().numpy() * taken).sum(0)
            there = np.minimum(np.floor(strength - model.skipped + 0.5), lengths[rows])
            seen = np.arange(longest) < there[:, None]
            numbers[rows, :longest] = np.where(seen, written, -1)
    return numbers


def _hopeless(state: NetworkState[Any]) -> Tensor:
    """Return which words every network on the leading axis has rejected for good, (B,) bool."""
    return state.rejected.flatten(0, -2).all(0) if state.rejected.dim() > 1 else state.rejected


# ---- Answers that can be compared: what a network and an automaton say of a word, as numbers ----
# A recogniser gives one answer a word, 1 or 0. Predictors and transducers give one after every symbol, the number of
# their output, and -1 from where the word is rejected. A buffered network writes when it likes: of what it has written
# in the end as many symbols count as the word has, the first for its first symbol, and -1 stands for those missing.

_FIRST, _MORE = 16, 64  # words that are asked together first, where time may end, and then so many times as many


def network_answers(model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the network's answers, (N, 1) for recognisers, else (N, T), int; buffered ones: see above."""
    if model.task_kind == "recognition":
        return verdicts_on(model, words)[:, None].astype(np.int32)
    return outputs_on(model, words) if model.real_time else written_on(model, words)


def answers_in_time(model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the network's answers to as many of ``words``, from the first, as there is time for (see `check_time`)."""
    limit = current_limit()
    if limit is None:
        return network_answers(model, words)
    parts, begin, size = list[np.ndarray](), 0, _FIRST
    try:
        while begin < max(1, len(words)):
            begun = limit.clock()
            parts.append(network_answers(model, words[begin : begin + size]))
            # what is begun and not ended is lost: no more than fits into half of the time that is left
            left = (limit.end - limit.clock()) / max(limit.clock() - begun, 1e-9)
            begin, size = begin + size, max(1, int(min(_MORE, left / 2) * size))
    except OutOfTimeError:
        cut_short()
    parts = parts or [np.zeros((0, 1), np.int32)]
    width = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=-1) for part in parts])


def automaton_answers(pda: PushdownAutomaton, model: StackModel[Any], words: Sequence[Word]) -> np.ndarray:
    """Return the automaton's answers in the numbers of ``model``, of the same shape as the network's."""
    if model.task_kind == "recognition":
        return accepts_many(pda, words)[:, None].astype(np.int32)
    table = number_table(pda, model)
    if model.real_time:
        return np.asarray(table[transduce_many(pda, words)])
    # of what is written (N, W) on each word as many symbols as it has, (N, T); -1 for those missing
    written, lengths = table[written_many(pda, words)], np.array([len(word) for word in words], np.int64)
    longest = int(lengths.max(initial=0))
    there = np.pad(written, ((0, 0), (0, max(0, longest - written.shape[1]))), constant_values=-1)[:, :longest]
    return np.asarray(np.where(np.arange(longest) < lengths[:, None], there, -1))


def automaton_answers_on_all(
    pda: PushdownAutomaton, model: StackModel[Any], max_length: int, prefix: Word = ()
) -> Iterator[np.ndarray]:
    """Yield the automaton's answers to all words of each length behind ``prefix``, see `answers_on_all`."""
    if model.task_kind == "recognition":
        yield from (accepted.astype(np.int32) for accepted in accepts_all(pda, max_length, prefix))
        return
    table = number_table(pda, model)
    for length, outputs in enumerate(outputs_all(pda, max_length, prefix)):
        # there is no answer before the first symbol
        yield table[outputs] if length + len(prefix) > 0 else np.full(1, -1, np.int32)


def output_number(output: Output, model: StackModel[Any]) -> int:
    """Return the number that ``model`` gives to an output; -1 for None. Raises StacklensError: it has none such."""
    if output is None:
        return -1
    symbols = set(output) if isinstance(output, tuple) else {output}
    if isinstance(output, tuple) is not (model.task_kind == "next set") or not symbols <= set(model.output_alphabet):
        raise StacklensError(
            f"the output {output!r} is none of this {model.task_kind} network's, over {' '.join(model.output_alphabet)}"
        )
    numbers = [model.output_alphabet.index(symbol) for symbol in symbols]
    return sum(1 << number for number in numbers) if isinstance(output, tuple) else numbers[0]


def number_table(pda: PushdownAutomaton, model: StackModel[Any]) -> np.ndarray:
    """Return the model's numbers of the automaton's outputs, and -1 as the last, where index -1 leads."""
    outputs = compile_tables(pda).outputs
    return np.array([*(output_number(output, model) for output in outputs), -1], dtype=model.number_type)


def differences(one: np.ndarray, other: np.ndarray, scored: np.ndarray | None = None) -> np.ndarray:
    """Return where answers to the same words differ, of their shape, bool; nowhere but where they are ``scored``.
    Raises StacklensError: the shapes are not the same: a recogniser's answers cannot be held against a predictor's.
    """
    for shape in (other.shape, one.shape if scored is None else scored.shape):
        if shape != one.shape:
            raise StacklensError(f"answers of shape {one.shape} and {shape} are not to the same question")
    different: np.ndarray = one != other
    return different if scored is None else different & scored


def accepted_answers(answers: np.ndarray, model: StackModel[Any], lengths: np.ndarray | int) -> np.ndarray:
    """Return which answers to words of these ``lengths`` accept, or do not cut the word short; never the empty one."""
    return np.asarray(answers > 0 if model.task_kind == "recognition" else (answers >= 0) | (lengths == 0))


def answer_name(number: int, model: StackModel[Any]) -> str:
    """Return what the answer with this ``number`` is called in a sentence: of a recogniser, a verdict."""
    if model.task_kind == "recognition":
        return "accepts" if number > 0 else "rejects"
    if number < 0:
        return "a rejection"
    return output_text(model.output_name(number))
