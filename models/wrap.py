"""`wrap`: a network of one's own under the lens, in a few lines; what can be found out by a trial is not asked for."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor, nn

from ..core.errors import StacklensError, check_alphabet, check_whole, fresh
from ..core.progress import count
from ..languages.language import TaskKind
from ..languages.next_sets import END_MARK
from .networks.layers import guarded, in_order, like_weights, shapes_of, tensors_in, vocabulary_of
from .rounding import Activation, Outputs, predicted, settled
from .step_network import PARTS, Packing, StackChoice, StepNetwork, packing_of, stack_choice
from .word_network import AFFORDABLE, ForwardNetwork, WordNetwork

T = TypeVar("T")
Own = TypeVar("Own", StepNetwork, ForwardNetwork)
_FORMS = ("one-hot", "index")
_CELLS = (*range(1, 65), 80, 96, 100, 128, 200, 256, 300, 512)  # sizes of cells that are tried
_NOISY = "If it is meant to, give noisy=True"
_SHORT, _WORDS = 6, 300  # symbols of the words on which two forms of symbols are compared, and how many at most
_BATCHES = 2, 3  # words of the trials, by which the axis of the words is found


def wrap(
    module: nn.Module | None,
    alphabet: Sequence[str] | Mapping[str, int],
    *,
    step: Callable[..., Any] | None = None,
    forward: Callable[[Tensor], Any] | None = None,
    stack: Any = None,
    actions: Sequence[str] | None = None,
    outputs: TaskKind | None = None,
    reads: str = "before",
    output: Callable[..., Any] | None = None,
    hidden: Any = None,
    cell: int | None = None,
    n_stacks: int = 1,
    initial: Any = None,
    returns: Sequence[str] | None = None,
    symbols: str | None = None,
    activation: Activation | Literal["none"] | None = None,
    threshold: float | str | None = None,
    output_alphabet: Sequence[str] | None = None,
    first: Sequence[str] | None = None,
    end: str | None = None,
    bos: str | None = None,
    eos: str | None = None,
    pad: str | None = None,
    empty_word: bool | None = None,
    limit: int | None = None,
    depth: int = 1,
    empty_value: float = 0.0,
    longest: int | None = None,
    action_layer: str | Sequence[str] = (),
    name: str | None = None,
    noisy: bool = False,
) -> StepNetwork | WordNetwork:
    """Return a network of one's own as one that everything in stacklens takes; its weights are shared, not copied. A
    trial on a symbol finds out how symbols are read, how large cells and hidden states are, and which of their axes is
    the batch's. `stacklens.check` then compares with the network's own forward pass.

    Args:
        module: the network, which is put in evaluation mode; None where there is none.
        alphabet: the symbols, in the order of the network's own numbers, or a dictionary with these; with ``bos``,
            ``eos`` or ``pad`` all of its tokens, of which words are made of the others.
        step: ``step(symbols, hidden, top)``, without ``top`` where there is no stack, returns the hidden state after a
            symbol, the actions (B, A), the value to push (B, D) and the output (B, O), as a tuple or a dictionary with
            these names. B words are read at once; ``top`` is (B, D), or (B, depth, D). With several stacks ``top``,
            actions and values have an axis (B, n_stacks, …).
        forward: in place of ``step``, ``forward(symbols)`` returns the outputs after every symbol of (B, T) words,
            (B, T, O), or after the last only, (B, O). For networks without a stack. The first tensor that fits is taken
            of a tuple, and what is called logits of anything else.
        stack: "superposition" (Joulin & Mikolov 2015), "strength" (Grefenstette et al. 2015), "continuous" (Sun et al.
            1993), None, or an object with ``empty(batch, n_stacks, cell_size, like)`` and ``from_cells(cells)``.
        actions: what the actions are of, in the network's order: ("pop", "none", "push") by default; ("pop",
            "push") for strengths; a continuous stack takes one number, push above 0 and pop below.
        outputs: "recognition" (the probability to accept), "next set" (of each symbol that may come next), "next
            symbol" or "transduction" (the largest counts); by default sets with ``bos``, ``eos`` or ``pad``, else
            recognition.
        reads: "after" where outputs see the top after the update: then ``output`` gives them, and ``step`` none.
        output: ``output(hidden, top)``, for ``reads="after"``.
        hidden: the hidden state before the first symbol: a size, a tensor without the batch, a tuple of these, or a
            function of the batch size; without it ``step`` is given None once, and begins with zeros.
        cell: the size of a cell, unless the trial is to find it.
        n_stacks: number of stacks.
        initial: the cells that lie on every stack before the first symbol, (K, D), the top first. What is read takes
            them for the bottom: that a network pops them the checks find.
        returns: what ``step`` returns, in its order; without "pushed" the symbol read is pushed.
        symbols: "one-hot" or "index", unless the trial is to find it; needed where both can be run.
        activation: "sigmoid" or "softmax" where outputs are logits, "none" where they are probabilities. Of sets with
            ``bos``, ``eos`` or ``pad`` a trial finds it; logits are a softmax's then if there is an ``eos``.
        threshold: what a probability has to exceed to count, 0.5; of sets also a share of the largest, "5%", or how
            many of the largest count, "top 2". The default of a language model is `default_threshold`.
        output_alphabet: what outputs are made of, where that is not the alphabet.
        first: for sets, which symbols may begin a word; all by default, and with ``bos`` those that come after it.
        end: a symbol that the network reads after a word.
        bos: the token that is read before a word; what it leaves on a stack lies there when the word begins.
        eos: the token whose output says that the word may end; it may be ``bos``, too.
        pad: the token behind shorter words of a batch. Without it words of one length are read together.
        empty_word: whether a recogniser accepts the empty word, which most cannot be asked.
        limit, depth, empty_value: cells of a stack, how many of them ``top`` shows, and what an empty one holds.
        longest: the longest word that ``forward`` takes.
        action_layer: the names of the layer, or of the weights, that decide the actions, for `harden`; of these, and by
            default of all, a trial finds the rows that do.
        name: what reports call it; the module's class by default.
        noisy: whether it may answer the same word otherwise each time, as with dropout left on: the module stays in the
            mode that it is in, and an extraction weighs what it says.

    Raises:
        StacklensError: the arguments do not fit together or the trial failed; one line that says what was given.

    >>> gru = nn.GRUCell(2, 4)
    >>> net = wrap(gru, "ab", step=lambda x, h: (h := gru(x, h), h[:, :1].sigmoid()), empty_word=True)
    >>> net, net.config()["hidden"]
    (<GRUCell over a b>, 4)
    """
    if not isinstance(module, nn.Module | None):
        given = f"the class {module.__name__}" if isinstance(module, type) else f"{module!r:.40}"
        raise StacklensError(f"module is {given}; expected a torch.nn.Module, or None where there is none")
    letters, vocabulary = in_order(alphabet), None
    columns: tuple[tuple[int, tuple[int, ...]], ...] = ()
    if of_tokens := (bos, eos, pad) != (None, None, None):
        outputs = outputs or "next set"
        letters, vocabulary, columns = vocabulary_of(letters, output_alphabet, end, bos=bos, eos=eos, pad=pad)
    outputs = outputs or "recognition"
    predicts = of_tokens and outputs in ("next set", "next symbol")
    if eos is not None and not predicts:
        raise StacklensError(f'eos is of outputs="next set" or "next symbol"; with {outputs} give end={eos!r:.40}')
    written = letters if output_alphabet is None else tuple(output_alphabet)
    if predicts:
        # a line's end, and whatever else cannot be shown, is called otherwise in outputs
        shown = eos is None or (eos.split() == [eos] and eos.isprintable())
        written = letters if eos is None else (*letters, eos if shown else fresh(END_MARK, letters))
    elif outputs == "next set" and written[: len(letters)] != letters:
        raise StacklensError(
            f"sets of next symbols are of the alphabet {' '.join(letters)}, not of {' '.join(written)}"
        )
    chosen: Any = None if activation == "none" else activation
    kinds = Outputs(outputs, written, chosen, 0.5 if threshold is None else threshold, columns if predicts else ())
    settle: Callable[[Tensor], Outputs] | None = None
    if predicts and outputs == "next set":
        settle = partial(settled, kinds, activation=activation, threshold=threshold, ends=eos is not None)
        kinds = replace(kinds, unread=True)
    check_alphabet(letters)
    wholes = {"cell": cell, "n_stacks": n_stacks, "limit": limit, "depth": depth, "longest": longest}
    for what, given in ((what, given) for what, given in wholes.items() if given is not None):
        check_whole(what, given, 1)
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
    if outputs == "recognition" and end is None and empty_word is None and output is None and bos is None:
        raise StacklensError(
            "what does it say of the empty word? give empty_word=True or False, or end, a symbol read after every word"
        )
    if module is not None:
        for part, values in (module if noisy else module.eval()).named_parameters():
            if not torch.isfinite(values).all():
                raise StacklensError(
                    f"{part} of {type(module).__name__} holds NaN or infinite weights; was it trained to an end?"
                )
    named = (action_layer,) if isinstance(action_layer, str) else tuple(action_layer)
    weights = dict(() if module is None else module.named_parameters())
    if strange := [one for one in named if not any(f"{weight}.".startswith(f"{one}.") for weight in weights)]:
        known = sorted({weight.rpartition(".")[0] or weight for weight in weights})
        raise StacklensError(
            f"action_layer is {strange[0]!r:.60}, which has no weights; expected some of {', '.join(known) or 'none'}"
        )
    called = name or (type(module).__name__ if module is not None else "own network")
    common: dict[str, Any] = {"name": called, "alphabet": letters, "outputs": kinds, "end": end}
    common |= {"empty_word": empty_word, "first": None if first is None else tuple(first), "vocabulary": vocabulary}
    forms = _FORMS if symbols is None else (symbols,)
    if step is None:
        assert forward is not None
        common |= {"longest": longest, "affordable": AFFORDABLE}
        whole = partial(tried_forward, module=module, settings=common, settle=settle, noisy=noisy)
        tries = {form: [(f"symbols as {form}", partial(whole, form=form))] for form in forms}
        return _of_one_form(forward, tries, noisy)
    after = reads == "after" and stack is not None
    laid = None if initial is None else _contents(initial, stack, limit)
    kept: dict[str, Any] = {"limit": limit, "depth": depth, "empty_value": empty_value, "after": after, "initial": laid}
    choice = stack_choice(stack, actions, **kept)
    common |= {"returns": _returned(returns, choice, reads), "n_stacks": n_stacks if choice.kind != "none" else 0}
    start = None if hidden is None else _start(hidden, module)
    finding = partial(found_action_layer, named=named)
    # a trial for each way to give symbols and, where cells hold what the network pushes, for each size of a cell
    sizes: tuple[int, ...] = _CELLS if cell is None else (cell,)
    if laid is not None:
        if cell not in (None, laid.shape[1]):
            raise StacklensError(f"initial has cells of {count(laid.shape[1], 'number')}, and cell is {cell}")
        sizes = (laid.shape[1],)
    if choice.kind == "none":
        sizes = (1,)
    elif "pushed" not in common["returns"]:
        sizes = (len(letters) + (end is not None) if vocabulary is None else vocabulary.size,)

    def trial(call: Callable[..., Any], form: str, size: int) -> StepNetwork:
        make = partial(StepNetwork, module, call, choice=choice, output=output, find_actions=finding)
        return tried(make, {"symbols": form, "cell": size, **common}, start, settle, noisy)

    trials: dict[str, list[tuple[str, Callable[..., StepNetwork]]]] = {form: [] for form in forms}
    for form, size in product(forms, sizes):
        cells = "" if choice.kind == "none" else f" and cells of {count(size, 'number')}"
        trials[form].append((f"symbols as {form}{cells}", partial(trial, form=form, size=size)))
    return _of_one_form(step, trials, noisy)


@torch.no_grad()
def _of_one_form(
    call: Callable[..., Any], trials: Mapping[str, Sequence[tuple[str, Callable[[Any], Own]]]], noisy: bool
) -> Own:
    """Return the first network of the ``trials``, by form of symbols, unless another form answers differently."""
    made = first_success(call, [one for some in trials.values() for one in some])
    made.noisy = noisy
    for form in [] if noisy else list(trials)[list(trials).index(made.symbols) + 1 :]:
        try:
            other = first_success(call, trials[form])
        except StacklensError:
            continue
        # code in plain Python answers what it does not mean: both on all words of a short length, and their beginnings
        letters, longest = torch.arange(made.n_symbols), min(made.longest or _SHORT, _SHORT)
        size = next(size for size in range(longest, 0, -1) if size == 1 or len(letters) ** size <= _WORDS)
        words = torch.cartesian_prod(*[letters] * size).reshape(-1, size).T
        one, two = (net.run(words, net.initial_state(words.shape[1])).output for net in (made, other))
        if one.shape != two.shape or not torch.equal(one, two):
            raise StacklensError(
                f"{made.name} runs on symbols as {made.symbols} and as {form}, with different answers: give "
                f'symbols="{made.symbols}" or symbols="{form}"'
            )
    return made


def _contents(initial: Any, stack: Any, limit: int | None) -> Tensor:
    """Return what lies on every stack before the first symbol, (K, D)."""
    as_cells = partial(torch.as_tensor, dtype=torch.get_default_dtype())
    cells: Tensor = guarded(as_cells, "initial", {"it": initial})
    if stack is None or cells.dim() != 2 or 0 in cells.shape or not cells.isfinite().all():
        where = "without a stack" if stack is None else f"of shape {tuple(cells.shape)}"
        raise StacklensError(
            f"initial is {where}; expected cells of finite numbers, (cells, numbers a cell), which lie on every stack"
        )
    if limit is not None and len(cells) > limit:
        raise StacklensError(f"initial is {len(cells)} cells; the stack has {limit} at most (limit=…)")
    return cells


def _returned(returns: Sequence[str] | None, choice: StackChoice, reads: str) -> tuple[str, ...]:
    stacked = choice.kind != "none"
    allowed = [part for part, there in zip(PARTS, (True, stacked, stacked, reads == "before"), strict=True) if there]
    needed = [part for part in allowed if part != "pushed"]
    found = tuple(returns or allowed)
    if not {*needed} <= {*found} <= {*allowed} or len(set(found)) < len(found):
        raise StacklensError(
            f"returns is {found}; expected {', '.join(needed)}"
            f"{', and pushed unless the symbol read is' if stacked else ''}, in the order of step"
        )
    return found


def _start(hidden: Any, module: nn.Module | None) -> Callable[[int], Any]:
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


@torch.no_grad()
def tried(
    make: Callable[..., StepNetwork],  # from its ``settings``, ``packing`` and ``start``
    settings: dict[str, Any],
    start: Callable[[int], Any] | None,
    settle: Callable[[Tensor], Outputs] | None = None,
    noisy: bool = False,
) -> StepNetwork:
    """Return the network if a trial with these ``settings`` succeeds, if not ``noisy`` twice in the same way. With
    ``settle`` the trial's outputs say how they are read, and those after bos which symbols come first.
    """
    if start is None:
        # zeros of the form of the hidden state that a step returns where it is given None for one
        blank, found = make(**settings, packing=Packing(None, ()), start=lambda _: None), []
        like = like_weights(blank.module)
        for batch in _BATCHES:
            nothing = like.new_zeros(batch, 0)
            reading = blank.choice.empty(batch, blank.n_stacks, blank.cell_size, nothing).reading()
            try:
                answer = blank.answered(torch.zeros(batch, dtype=torch.int64), nothing, reading)
            except StacklensError as error:
                raise StacklensError(f"{error}; with hidden=… step is not given None for the hidden state") from error
            found.append(answer["hidden"])
        zeros = packing_of(found[0], found[1], _BATCHES)
        try:
            return tried(make, settings, lambda batch: zeros.unpack(like.new_zeros(batch, zeros.size)), settle, noisy)
        except StacklensError as error:
            order = ", ".join(blank.returns)
            raise StacklensError(
                f"{error}; does step return {order}, in this order? else name it: returns=…"
            ) from error
    # where the words' axis is, by two batches; then two steps on every symbol, which have to be alike
    packing = packing_of(start(_BATCHES[0]), start(_BATCHES[1]), _BATCHES)
    network = make(**settings, packing=packing, start=start)
    codes = torch.arange(network.n_symbols)
    taken = [network.step(codes, network.initial_state(len(codes))) for _ in range(2)]
    network.step(codes, taken[0].state)
    for part in ("hidden", "actions", "output"):
        one, other = (getattr(found, part) for found in taken)
        if not noisy and not torch.equal(one, other) and not (one.isnan() & other.isnan()).all():
            raise StacklensError(
                f"{network.name} gives another {part} to the same word: is there dropout or noise left? {_NOISY}"
            )
    before, outputs = network.begun().output if network.begins else None, network.outputs
    if settle is not None:
        codes, raw = _trial_words(network.n_symbols), [] if before is None else [before]
        state = network.initial_state(len(codes))
        for column in codes.unbind(1):
            made = network.step(column, state)
            raw, state = [*raw, made.output], made.state
        outputs = settle(torch.cat(raw))
    first = network.first
    if before is not None and outputs.kind == "next set" and first is None:
        first = predicted(outputs, before, network.alphabet)
    return make(**{**settings, "outputs": outputs, "first": first}, packing=packing, start=start)


def _trial_words(symbols: int) -> Tensor:
    turns = torch.arange(8) % symbols
    drawn = torch.randint(symbols, (12, 8), generator=torch.Generator().manual_seed(0))
    return torch.cat([turns[None], torch.zeros_like(turns)[None], drawn])


@torch.no_grad()
def tried_forward(
    forward: Callable[[Tensor], Any],
    module: nn.Module | None,
    form: str,
    settings: dict[str, Any],
    settle: Callable[[Tensor], Outputs] | None = None,
    noisy: bool = False,
) -> ForwardNetwork:
    """Return the network if it answers short words, alone as beside others and by what it has read only. With
    ``settle`` the trial's outputs say how they are read, and those before the first symbol which come first.
    """
    last = len(settings["alphabet"]) - 1
    codes = torch.tensor([[0, 0, 0], [0, last, 0], [last, 0, last], [0, 0, last]])[:, : settings["longest"]]
    network = ForwardNetwork(module, forward, form, True, **settings)
    outputs = network.forwarded(codes)
    alone = outputs.dim() == 1 and network.task_kind == "recognition"
    if outputs.dim() not in (2, 3) and not alone:
        raise StacklensError(
            f"forward(symbols) returned {shapes_of(outputs)}; expected outputs (words, symbols, O), or (words, O)"
        )
    network.along = outputs.dim() == 3
    begins = network.begins
    ahead = outputs.shape[1] - codes.shape[1] if network.along else begins
    if network.along and (ahead not in (0, 1) or (begins and not ahead)):
        raise StacklensError(
            f"forward(symbols) returned {shapes_of(outputs)} for words of {codes.shape[1] + begins} symbols; expected "
            "outputs after each of them"
        )
    network.outputs_of(codes)
    if outputs.isnan().any():
        raise StacklensError(f"{network.name} answers NaN, which is no number; are its weights sound?")
    if not noisy:
        _check_answers(network, codes, outputs, ahead)
    if settle is not None:
        words = _trial_words(network.n_symbols)[:, : settings["longest"]]
        network.outputs = settle(network.forwarded(words).flatten(0, -2))
        network.squared_error = network.outputs.activation != "softmax"
    if ahead and network.task_kind == "next set" and network.first is None:
        network.begin()
    return network


def _check_answers(network: ForwardNetwork, codes: Tensor, outputs: Tensor, ahead: int) -> None:
    """Check that a word is answered alike again, alone, whatever comes after it, and with padding behind it."""
    if not torch.equal(outputs, network.forwarded(codes)):
        raise StacklensError(f"{network.name} answers differently to the same word: is there dropout left? {_NOISY}")
    if not _alike(outputs[1:2], network.forwarded(codes[1:2])):
        raise StacklensError(
            f"{network.name} answers a word differently beside others: are words the first axis (batch_first=True)?"
        )
    if network.along and not _alike(outputs[0, ahead], outputs[1, ahead]):
        raise StacklensError(
            f"{network.name} answers a symbol differently by what comes after it: does it lack a causal mask, or read "
            "backwards too?"
        )
    if network.along and network.vocabulary is not None and network.vocabulary.pad is not None:
        beside = network.forwarded(codes[:2], [1, codes.shape[1]])  # padded behind its one symbol
        if not _alike(beside[0, ahead], network.forwarded(codes[:1, :1])[0, ahead]):
            raise StacklensError(
                f"{network.name} answers a word differently where pad stands behind it: is pad masked? without pad=… "
                "words of one length are read together"
            )


def _alike(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape:
        return False
    # numbers of low precision may part by some of their steps, as large as the largest numbers have them
    step = 8 * torch.finfo(one.dtype).eps if one.is_floating_point() else 0.0
    near = max(1e-4, step * float(one.abs().nan_to_num().amax())) if one.numel() else 1e-4
    return torch.allclose(one, other, rtol=max(1e-3, step), atol=near)


def first_success(call: Callable[..., Any], trials: Iterable[tuple[str, Callable[[Callable[..., Any]], T]]]) -> T:
    """Return what the first of the named ``trials`` returns that succeeds; each is given the function ``call``."""
    problems: list[tuple[int, str, str]] = []  # how often it answered, the trial, what was wrong
    answered = 0

    def counted(*given: Any) -> Any:
        nonlocal answered
        answer = call(*given)
        answered += 1
        return answer

    for name, trial in trials:
        answered = 0
        try:
            trial(counted)
        except StacklensError as error:
            problems.append((answered, name, str(error)))
        else:
            return trial(call)
    if len(problems) == 1:
        raise StacklensError(problems[0][2])
    # of the trials that came furthest one for each of the problems, but for their numbers, that are rarest
    furthest, alike = max(answers for answers, _, _ in problems), dict[str, list[str]]()
    for answers, name, problem in problems:
        if answers == furthest:
            alike.setdefault(re.sub(r"\([\d, ]*\)|\d+", "", problem), []).append(f"with {name}: {problem}")
    rarest = min(map(len, alike.values()))
    shown = [some[0] for some in alike.values() if len(some) == rarest]
    raise StacklensError(f"none of {len(problems)} trials succeeded; {'; '.join(shown[:2])}")


# ---- Which weights decide the actions of a network of one's own: those with which the sums behind them double ----
# A weight decides actions and nothing else where, of all that a step answers, only the actions have a gradient to it.
# Whole rows of such weights (columns, where they stand so) are a layer's: its sums double with them, on any state.

_STATES = 256  # drawn, of hidden units and tops, on which a trial runs a step
_SPREAD = (1.0, 0.3, 0.1, 0.03)  # of hidden units: where one is too sure of its actions, another is not
_SEEN = {"softmax": 60.0, "strengths": 12.0, "signed": 12.0}  # sums that shares in float32 still show
_LEAST_SEEN, _NEAR = 16, 0.02  # states that have to show them, and how near to twice as much they have to come


def found_action_layer(network: StepNetwork, named: Sequence[str] = ()) -> dict[str, Any]:
    """Return the rows or columns of weights, by name, that decide a network's actions and nothing else, by a trial.
    ``network``: the network, which takes one step from drawn states, with gradients. ``named``: modules or weights
    among which they are; all by default.
    """
    own = {} if network.module is None else dict(network.module.named_parameters())
    chosen = [name for name in own if not named or any(f"{name}.".startswith(f"{one}.") for one in named)]
    # drawn states: every symbol, hidden units of several sizes, tops between 0 and 1
    draw = torch.Generator().manual_seed(0)
    codes = torch.arange(_STATES, device=network.like.device) % network.n_symbols
    before = network.initial_state(_STATES)
    size = torch.tensor(_SPREAD).repeat_interleave(_STATES // len(_SPREAD))[torch.randperm(_STATES, generator=draw)]
    drawn = torch.randn(before.hidden.shape, generator=draw) * size.unsqueeze(1)
    reading = before.stack.reading()
    seen = torch.rand(reading.shape, generator=draw).to(reading)

    def answered(weights: dict[str, Tensor]) -> dict[str, list[Tensor]]:
        answer = network.answered(codes, drawn.to(before.hidden), seen, weights)
        return {part: [one for one in tensors_in(answer[part]) if one.is_floating_point()] for part in PARTS}

    with torch.enable_grad():
        weights = {name: value.detach().clone().requires_grad_() for name, value in own.items()}
        answer = answered(weights)
        decide = _moving([weights[name] for name in chosen], answer["actions"], draw)
        others = [tensor for part in PARTS if part != "actions" for tensor in answer[part]]
        disturb = _moving([weights[name] for name in chosen], others, draw)
    # the rows, or else the columns, of a weight in which numbers move actions and none moves anything else
    found: dict[str, Any] = {}
    for name, moves, other in zip(chosen, decide, disturb, strict=True):
        for axis in range(min(2, moves.dim())):
            rest = tuple(place for place in range(moves.dim()) if place != axis)
            kept = (moves.any(rest) & ~other.any(rest)) if rest else moves & ~other
            if name not in found and kept.any():
                places: Any = slice(None) if kept.all() else kept.nonzero().flatten().tolist()
                found[name] = places if axis == 0 else (slice(None), places)
    # all of them together are the layer, or those of one module are
    layers: dict[str, list[str]] = {}
    for name in found:
        layers.setdefault(name.rpartition(".")[0], []).append(name)
    with torch.no_grad():
        fits = [some for some in ([*found], *layers.values()) if some and _doubles(network, answered, own, found, some)]
    if not fits or (len(fits[0]) < len(found) and len(fits) > 1):
        given = f" among {', '.join(named)}" if named else ""
        which = "no rows decide them and nothing else, and double the sums behind them when they are doubled"
        if not any(moves.any() for moves in decide):
            which = "torch follows no gradient from them to weights of its module"
        elif fits:
            which = f"{' or '.join(', '.join(names) for names in fits)} would do"
        raise StacklensError(
            f"which layer{given} decides the actions of {network.name} is not seen in a trial: {which}; name it, or "
            'the weights where they are in no layer: sl.wrap(…, action_layer="name.of.module")'
        )
    return {f"module.{name}": found[name] for name in fits[0]}


def _moving(weights: list[Tensor], answers: list[Tensor], draw: torch.Generator) -> list[Tensor]:
    """Return which numbers of each weight ``answers`` depend on, bool."""
    total = sum(((torch.randn(one.shape, generator=draw).to(one) * one).sum() for one in answers), torch.zeros(()))
    if not weights or not total.requires_grad:
        return [torch.zeros_like(weight, dtype=torch.bool) for weight in weights]
    return [grad != 0 for grad in torch.autograd.grad(total, weights, retain_graph=True, materialize_grads=True)]


def _doubles(
    network: StepNetwork,
    answered: Callable[[dict[str, Tensor]], dict[str, list[Tensor]]],
    own: Mapping[str, Tensor],
    parts: dict[str, Any],
    names: Sequence[str],
) -> bool:
    """Return whether the sums behind actions halve, and nothing else changes, where ``parts`` of weights are halved."""
    halved = {name: own[name].detach().clone() for name in own}
    for name in names:
        halved[name][parts[name]] *= 0.5
    whole, half, kind = answered(dict(own)), answered(halved), network.action_kind
    # the sums behind actions (B, …, A), of shares those beside their mean
    shares = torch.stack([answer["actions"][0] for answer in (whole, half)])
    if kind == "softmax":
        before, after = shares.log() - shares.log().mean(-1, keepdim=True)
    else:
        before, after = torch.logit((shares + 1) / 2 if kind == "signed" else shares)
    shown = (before.abs() < _SEEN[kind]).flatten(1).all(1)  # of infinite sums it is not, nor of NaN
    pairs = [pair for part in PARTS if part != "actions" for pair in zip(whole[part], half[part], strict=True)]
    near = ((2 * after - before).abs() <= _NEAR * (1 + before.abs()))[shown].all()
    return (
        all(one.equal(other) for one, other in pairs)
        and int(shown.sum()) >= _LEAST_SEEN
        and bool(near)
        and not before[shown].eq(0).all()
    )
