"""The network's verdicts: on given words, in batches, and on every word up to a length, prefixes shared."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..automata.compiled import encode_words
from ..automata.pda import Word
from ..core.progress import check_time
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
    leading = model.initial_state(1).hidden.shape[:-2]
    verdicts = np.zeros((*leading, len(words)), dtype=bool)
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
