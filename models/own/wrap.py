"""`wrap`: a network of one's own under the lens, in a few lines; what can be found out by a trial is not asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from stacklens.automata.naming import check_alphabet
from stacklens.errors import StacklensError
from stacklens.languages.tasks.task import TaskKind
from stacklens.models.own.black_box import AFFORDABLE
from stacklens.models.own.guarded import guarded
from stacklens.models.own.outputs import Activation, Outputs
from stacklens.models.own.stack_choice import StackChoice, stack_choice
from stacklens.models.own.step_network import StepNetwork, StepShape
from stacklens.models.own.trial import first_success, like_weights, tried, tried_forward
from stacklens.models.own.word_network import WordNetwork
from stacklens.progress import count

__all__ = ["wrap"]

_FORMS = ("one-hot", "index")
_CELLS = (*range(1, 65), 80, 96, 100, 128, 200, 256, 300, 512)  # sizes of cells that are tried
_PARTS = ("hidden", "actions", "pushed", "output")


def wrap(
    module: nn.Module | None,
    alphabet: Sequence[str],
    *,
    step: Callable[..., Any] | None = None,
    forward: Callable[[Tensor], Any] | None = None,
    stack: Any = None,
    actions: Sequence[str] | None = None,
    outputs: TaskKind = "recognition",
    reads: str = "before",
    output: Callable[..., Any] | None = None,
    hidden: Any = None,
    cell: int | None = None,
    n_stacks: int = 1,
    returns: Sequence[str] | None = None,
    symbols: str | None = None,
    activation: Activation | None = None,
    threshold: float = 0.5,
    output_alphabet: Sequence[str] | None = None,
    first: Sequence[str] | None = None,
    end: str | None = None,
    empty_word: bool | None = None,
    limit: int | None = None,
    depth: int = 1,
    empty_value: float = 0.0,
    longest: int | None = None,
    name: str | None = None,
) -> StepNetwork | WordNetwork:
    """Return a network of one's own as one that everything in stacklens takes; its weights are shared, not copied.

    A trial on a symbol finds out how symbols are read, how large cells and hidden states are, and which of their axes
    is the batch's. `stacklens.check` then compares with the network's own forward pass.

    Args:
        module: the network, which is put in evaluation mode; None where there is none.
        alphabet: the symbols, in the order of the network's own numbers.
        step: ``step(symbols, hidden, top)``, without ``top`` where there is no stack, returns the hidden state after a
            symbol, the actions (B, A), the value to push (B, D) and the output (B, O), as a tuple or a dictionary with
            these names. B words are read at once; ``top`` is (B, D), or (B, depth, D). With several stacks ``top``,
            actions and values have an axis (B, n_stacks, …).
        forward: in place of ``step``, ``forward(symbols)`` returns the outputs after every symbol of (B, T) words,
            (B, T, O), or after the last only, (B, O). For networks without a stack.
        stack: "superposition" (Joulin & Mikolov 2015), "strength" (Grefenstette et al. 2015), "continuous" (Sun et al.
            1993), None, or an object with ``empty(batch, n_stacks, cell_size, like)`` and ``from_cells(cells)``.
        actions: what the actions are of, in the network's order: ("pop", "none", "push") unless it is told; ("pop",
            "push") for strengths; a continuous stack takes one number, push above 0 and pop below.
        outputs: "recognition" (the probability to accept), "next set" (of each symbol that may come next), "next
            symbol" or "transduction" (the largest counts).
        reads: "after" where outputs see the top after the update: then ``output`` gives them, and ``step`` none.
        output: ``output(hidden, top)``, for ``reads="after"``.
        hidden: the hidden state before the first symbol: a size, a tensor without the batch, a tuple of these, or a
            function of the batch size; unless it is told ``step`` is given None once, and begins with zeros.
        cell: the size of a cell, unless the trial is to find it.
        n_stacks: number of stacks.
        returns: what ``step`` returns, in its order; without "pushed" the symbol read is pushed.
        symbols: "one-hot" or "index", unless the trial is to find it.
        activation: "sigmoid" or "softmax" where outputs are logits.
        threshold: what a probability has to exceed to count.
        output_alphabet: what outputs are made of, where that is not the alphabet.
        first: for sets, which symbols may begin a word; all unless it is told.
        end: a symbol that the network reads after a word.
        empty_word: whether a recogniser accepts the empty word, which most cannot be asked.
        limit, depth, empty_value: cells of a stack, how many of them ``top`` shows, and what an empty one holds.
        longest: the longest word that ``forward`` takes.
        name: what reports call it; the module's class unless it is told.

    Raises:
        StacklensError: the arguments do not fit together or the trial failed; one line that says what was given.

    >>> gru = nn.GRUCell(2, 4)
    >>> net = wrap(gru, "ab", step=lambda x, h: (h := gru(x, h), h[:, :1].sigmoid()), empty_word=True)
    >>> net, net.config()["hidden"]
    (<GRUCell over a b>, 4)
    """
    letters, kinds = tuple(alphabet), _kinds(outputs, alphabet, output_alphabet, activation, threshold)
    check_alphabet(letters)
    _check_choices(step, forward, stack, reads, output, symbols)
    if outputs == "recognition" and end is None and empty_word is None and output is None:
        raise StacklensError(
            "what does it say of the empty word? give empty_word=True or False, or end, a symbol read after every word"
        )
    if module is not None:
        _check_weights(module.eval())
    called = name or (type(module).__name__ if module is not None else "own network")
    common: dict[str, Any] = {"name": called, "alphabet": letters, "outputs": kinds, "end": end}
    common |= {"empty_word": empty_word, "first": None if first is None else tuple(first)}
    forms = _FORMS if symbols is None else (symbols,)
    if step is None:
        assert forward is not None
        common |= {"longest": longest, "affordable": AFFORDABLE}
        whole = partial(tried_forward, module=module, settings=common)
        return first_success(forward, [(f"symbols as {form}", partial(whole, form=form)) for form in forms])
    after = reads == "after" and stack is not None
    choice = stack_choice(stack, actions, limit=limit, depth=depth, empty_value=empty_value, after=after)
    common |= {"returns": _returned(returns, choice, reads), "n_stacks": n_stacks if choice.kind != "none" else 0}
    start = None if hidden is None else _start(hidden, module)
    stepping = partial(tried, module=module, choice=choice, start=start, output=output)
    trials = []
    for form, size in product(forms, _sizes(choice, common["returns"], letters, end, cell)):
        cells = "" if choice.kind == "none" else f" and cells of {count(size, 'number')}"
        shape = StepShape(symbols=form, cell=size, **common)
        trials.append((f"symbols as {form}{cells}", partial(stepping, shape=shape)))
    return first_success(step, trials)


def _check_choices(step: Any, forward: Any, stack: Any, reads: str, output: Any, symbols: str | None) -> None:
    """Check that what is given goes together.

    Raises:
        StacklensError: it does not.
    """
    if (step is None) is (forward is None):
        raise StacklensError("give either step, which reads one symbol, or forward, which reads whole words")
    if reads not in ("before", "after") or (reads == "after") is not (output is not None):
        raise StacklensError(
            'reads is "before" or "after" the update; with "after" give output(hidden, top), and only then'
        )
    if symbols not in (None, *_FORMS):
        raise StacklensError(f"symbols is {symbols!r:.40}; expected one-hot or index")
    if step is None and stack is not None:
        raise StacklensError("a stack is seen step by step: give step in place of forward")


def _check_weights(module: nn.Module) -> None:
    """Raise StacklensError where a weight is no number: then the network says nothing."""
    for name, values in module.named_parameters():
        if not torch.isfinite(values).all():
            raise StacklensError(
                f"{name} of {type(module).__name__} holds NaN or infinite weights; was it trained to an end?"
            )


def _kinds(
    outputs: TaskKind,
    alphabet: Sequence[str],
    output_alphabet: Sequence[str] | None,
    activation: Activation | None,
    threshold: float,
) -> Outputs:
    said = tuple(alphabet if output_alphabet is None else output_alphabet)
    if outputs == "next set" and said[: len(alphabet)] != tuple(alphabet):
        raise StacklensError(f"sets of next symbols are of the alphabet {' '.join(alphabet)}, not of {' '.join(said)}")
    return Outputs(outputs, said, activation, threshold)


def _returned(returns: Sequence[str] | None, choice: StackChoice, reads: str) -> tuple[str, ...]:
    """Return what a step returns, in its order.

    Raises:
        StacklensError: there is something unknown, or something missing.
    """
    needed = (
        {"hidden"} | ({"actions"} if choice.kind != "none" else set()) | ({"output"} if reads == "before" else set())
    )
    allowed = needed | ({"pushed"} if choice.kind != "none" else set())
    found = tuple(returns or (part for part in _PARTS if part in allowed))
    if not needed <= set(found) <= allowed or len(set(found)) < len(found):
        raise StacklensError(
            f"returns is {found}; expected {', '.join(part for part in _PARTS if part in needed)}"
            f"{', and pushed unless the symbol read is' if choice.kind != 'none' else ''}, in the order of step"
        )
    return found


def _sizes(
    choice: StackChoice, returns: tuple[str, ...], alphabet: tuple[str, ...], end: str | None, cell: int | None
) -> tuple[int, ...]:
    """Return the sizes of cells to try."""
    if choice.kind == "none":
        return (1,)
    if "pushed" not in returns:
        return (len(alphabet) + (end is not None),)
    return _CELLS if cell is None else (cell,)


def _start(hidden: Any, module: nn.Module | None) -> Callable[[int], Any]:
    """Return the function from a batch size to the hidden states before the first symbol."""
    if callable(hidden):
        return lambda batch: guarded(lambda: hidden(batch), f"hidden({batch})", {})
    like = like_weights(module)

    def made(one: Any, batch: int) -> Any:
        if isinstance(one, Tensor):
            return one.detach().expand(batch, *one.shape).clone()
        if isinstance(one, tuple | list):
            return type(one)(made(part, batch) for part in one)
        if isinstance(one, int) and one >= 0:
            return like.new_zeros(batch, one)
        raise StacklensError(f"hidden is {one!r:.40}; expected a size, a tensor, a tuple of these or a function")

    return lambda batch: made(hidden, batch)
