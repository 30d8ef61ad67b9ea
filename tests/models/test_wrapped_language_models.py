"""Language models with begin, end and padding: wrapped as they are, and held by forward passes of their own."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.models.own.networks_of_ones_own import KEYS, TOKENS, GptModel, GruModel, Marked, taught
from tests.refusals import refused
from torch import Tensor, nn

import stacklens as sl
from stacklens.automata.compare import Equal
from stacklens.core.progress import TimeLimit, time_limit
from stacklens.extract.by_name import specification_for, subject_named
from stacklens.languages.catalogue import get_language
from stacklens.models.inference import answers_in_time, outputs_on
from stacklens.models.rounding import Outputs

NAMES: dict[str, Any] = {"bos": "<s>", "eos": "</s>", "pad": "<pad>"}
SHORT = ["".join(word) for n in range(1, 6) for word in product("()", repeat=n)]
FEW: dict[str, Any] = {"max_length": 5, "long_words": 20, "long_lengths": (6, 8), "deep_words": 0, "cycles": 0}
torch.manual_seed(0)
GRU, GPT, MARKED = taught(GruModel(), 150), taught(GptModel(), 200), Marked()
LOW = deepcopy(GRU).bfloat16()
ON_A_STACK: dict[str, Any] = {"step": MARKED.update, "output": MARKED.output, "reads": "after", "hidden": 1}
MODELS: dict[str, tuple[nn.Module, dict[str, Any], str]] = {
    "gru": (GRU, {"forward": GRU}, "dyck-1-2"),
    "gru, low precision": (LOW, {"forward": LOW}, "dyck-1-2"),
    "gru, step": (GRU, {"step": GRU.step}, "dyck-1-2"),
    "gpt": (GPT, {"forward": GPT, "longest": 30}, "dyck-1-2"),
    "marked stack": (MARKED, {"stack": "superposition", **ON_A_STACK}, "dyck-1"),
}


def logits(net: nn.Module, word: str) -> Tensor:
    """One row before the first symbol, and one after each, by a forward pass of its own."""
    read = torch.tensor([[1, *map(TOKENS.index, word)]])
    with torch.no_grad():
        if isinstance(net, GruModel):
            return torch.as_tensor(net(read)[1][0])
        if isinstance(net, GptModel):
            return torch.as_tensor(net(read).logits[0])
        heights = [word[:n].count("(") - word[:n].count(")") for n in range(len(word) + 1)]
        tops = torch.tensor([[float(height == 0), float(height > 0)] for height in heights])
        return MARKED.output(tops, tops)


def sets(net: nn.Module, word: str, threshold: float = 1 / 15) -> list[set[str]]:
    """What may come before and after each symbol, up to the first that may not."""
    found = []
    for n, row in enumerate(logits(net, word).softmax(-1)):
        found.append({token for token, p in zip(TOKENS, row.tolist(), strict=True) if p > threshold} - {"<s>", "<pad>"})
        if n < len(word) and word[n] not in found[-1]:
            break
    return found


@pytest.mark.parametrize("name", MODELS)
def test_a_language_model_is_read_and_extracted_as_its_own_forward_pass_says(name: str) -> None:
    net, how, language = MODELS[name]
    model = sl.wrap(net, TOKENS, **NAMES, **how)
    assert (model.alphabet, model.output_alphabet, model.first) == (("(", ")"), ("(", ")", "</s>"), ("(",))
    said = outputs_on(model, SHORT)  # of unequal lengths, together
    for word, row in zip(SHORT, said, strict=True):
        own = [] if word[0] == ")" else sets(net, word)[1:]
        assert [set(model.output_name(n)) for n in row[: len(word)] if n >= 0] == own
    assert sl.check(model, lambda word: logits(net, word)[None], ["(())", "()()"])
    assert sl.check(model, lambda word: logits(net, word)[1:], ["(())", "()()"])
    result = sl.extract(model, language, quiet=True, budget=10, **FEW)
    assert isinstance(result.proof, Equal)
    for word in SHORT:
        taken = result.automaton.taken(word)
        meant = [set(result.automaton.transitions[key].output or ()) for key in taken]
        assert meant == ([] if word[0] == ")" else sets(net, word)[1:])


def test_a_mapping_names_begin_end_and_padding(tmp_path: Path) -> None:
    torch.manual_seed(1)
    parts = {"rnn": nn.GRUCell(5 + 2, 6), "shares": nn.Linear(6, 3), "new": nn.Linear(6, 2), "next_": nn.Linear(6, 5)}
    net = nn.ModuleDict(parts)
    torch.save(net.state_dict(), tmp_path / "net.pt")
    given = {"format": "stacklens mapping", "weights": "net.pt", "alphabet": list(TOKENS), "cell": "gru", "keys": KEYS}
    (tmp_path / "m.json").write_text(json.dumps({**given, **NAMES, "threshold": "60%"}))
    model = sl.load(tmp_path / "m.json", kind="network")
    assert model.output_alphabet == ("(", ")", "</s>")
    stack, h, found = torch.zeros(1, 9, 2), torch.zeros(1, 6), []
    for token in (1, 3, 3, 4):
        with torch.no_grad():
            x = nn.functional.one_hot(torch.tensor([token]), 5).float()
            h = parts["rnn"](torch.cat([x, stack[:, 0]], 1), h)
            push, pop, none = parts["shares"](h).softmax(1)[0]
            new = parts["new"](h).sigmoid()[:, None]
            below = torch.cat([stack[:, 1:], torch.zeros(1, 1, 2)], 1)
            stack = push * torch.cat([new, stack[:, :-1]], 1) + pop * below + none * stack
            found.append(parts["next_"](h).softmax(1)[0, [3, 4, 2]])
    held = net.state_dict()  # and without columns for tokens that no word has
    torch.save({**held, "rnn.weight_ih": held["rnn.weight_ih"][:, [1, 3, 4, 5, 6]]}, tmp_path / "net.pt")
    few = sl.load(tmp_path / "m.json", kind="network")
    assert (sl.trace(few, "(()").output == sl.trace(model, "(()").output).all()
    shares = torch.stack([row / row.max() for row in found[1:]])
    torch.testing.assert_close(torch.from_numpy(sl.trace(model, "(()").output[0]), shares - 0.1)
    assert model.first == tuple(s for s, p in zip("()", found[0] / found[0].max(), strict=False) if p > 0.6)


@pytest.mark.parametrize(
    ("threshold", "says"),
    [
        (0.1, [1, 1, 1, 0]),
        (0.2, [1, 1, 0, 0]),
        ("0.2", [1, 1, 0, 0]),
        ("50%", [1, 1, 0, 0]),
        ("24 %", [1, 1, 1, 0]),
        ("top 1", [1, 0, 0, 0]),
        ("top3", [1, 1, 1, 0]),
    ],
)
def test_thresholds_are_probabilities_shares_of_the_largest_or_so_many(threshold: Any, says: list[int]) -> None:
    read = Outputs("next set", tuple("abcd"), None, threshold)
    tiny = torch.tensor([[0.48, 0.3, 0.12, 0.0], [1 - 3e-9, 2e-9, 1e-9, 0.0]])
    made = read.read(tiny, 2)
    assert (made[0] > 0.5).int().tolist() == says
    if "top" in str(threshold):  # however small they are
        assert (made[1] > 0.5).int().tolist() == says


def fixed(values: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Outputs that say after every token which numbers of `TOKENS` it has, by its own number alone."""
    table = torch.tensor([[0.0, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 1], [0, 0, 1, 1, 0]])
    return lambda x: values(table[x])


@pytest.mark.parametrize(
    ("values", "activation", "threshold"),
    [
        (lambda t: 9 * t - 4, "softmax", 1 / 15),
        (lambda t: (9 * t - 4).softmax(-1), None, 1 / 15),
        (lambda t: (9 * t - 4).log_softmax(-1), "softmax", 1 / 15),
        (lambda t: (9 * t - 4).sigmoid(), None, 0.5),
    ],
)
def test_logits_and_probabilities_are_told_apart_by_a_trial(values: Any, activation: Any, threshold: float) -> None:
    numbers = {token: number for number, token in reversed([*enumerate(TOKENS)])}  # as a tokenizer's
    model: Any = sl.wrap(None, numbers, forward=fixed(values), **NAMES, symbols="index")
    assert (model.outputs.activation, model.outputs.threshold) == (activation, threshold)
    assert sl.trace(model, "()").verdicts.tolist() == [True]
    assert sl.trace(model, "((").verdicts.tolist() == [False]


def test_a_begin_may_be_the_end_and_columns_may_lack_what_never_comes_next() -> None:
    line: Any = sl.wrap(
        None,
        ("\n", "a", "b"),
        forward=lambda x: 9.0 * (x[..., None] == torch.arange(3)),
        bos="\n",
        eos="\n",
        symbols="index",
        first="ab",
    )
    assert (line.alphabet, line.output_alphabet) == (("a", "b"), ("a", "b", "⊣"))
    full = fixed(lambda t: 9 * t - 4)
    for columns, named in (([2, 3, 4], None), ([4, 2, 3], (")", "</s>", "("))):
        forward = partial(lambda x, chosen: full(x)[..., chosen], chosen=columns)
        cut = sl.wrap(None, TOKENS, forward=forward, **NAMES, output_alphabet=named, symbols="index")
        assert [set(cut.output_name(n)) for n in outputs_on(cut, ["()"])[0]] == [{")", "</s>"}, {"(", "</s>"}]


def test_the_task_of_a_network_with_an_end_says_where_words_may_end() -> None:
    for name in ("dyck-1", "anbn", "simple-palindrome"):
        letters = get_language(name).alphabet
        task = specification_for(
            subject_named(name, "next set", letters, (*letters, "</s>")), "next set", (*letters, "</s>")
        )
        pda = task.automaton()
        word = get_language(name).sample(1, (2, 8), seed=0)[0]
        assert (pda.transduce(word)[-1] or ())[-1] == "</s>"


GOOD: dict[str, Any] = {"forward": fixed(lambda t: 9 * t - 4), "symbols": "index", **NAMES}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"eos": "<end>"}, "eos is '<end>', which the vocabulary lacks: .'<pad>', '<s>'"),
        ({"bos": 1}, "bos is 1, which the vocabulary lacks: .*; expected the token, not its number"),
        ({"alphabet": None}, "the alphabet is None; expected symbols in the network's order"),
        ({"alphabet": {"a": 0, "b": 2}}, "numbers its symbols {'a': 0, 'b': 2}; expected 0, 1, 2, … once each"),
        ({"longest": "24"}, "longest must be a whole number of at least 1, not '24'"),
        ({"alphabet": [*TOKENS, "("]}, r"vocabulary has '\(' twice"),
        ({"alphabet": [*TOKENS, "\n"], "bos": "\r"}, r"bos is '\\r', which the vocabulary lacks"),
        ({"alphabet": [0, 1, 2], "bos": 1}, "the vocabulary has 0; expected strings"),
        ({"alphabet": TOKENS[:3]}, "has no symbol beside bos, eos, pad"),
        ({"threshold": 3}, 'threshold is 3; expected a probability from 0 to below 1, a share of the largest as "5%"'),
        ({"threshold": "top 0"}, 'threshold is \'top 0\'; .*"top 1" to "top 2"'),
        ({"threshold": "top 3"}, "threshold is 'top 3'"),
        ({"threshold": "0%"}, "threshold is '0%'"),
        ({"threshold": True}, "threshold is True"),
        ({"outputs": "recognition"}, 'eos is of outputs="next set" or "next symbol"; with recognition give end='),
        ({"eos": None}, 'logits; give activation="softmax" for a language model, or "sigmoid"'),
        ({"forward": fixed(lambda t: t / 4 + 0.2)}, 'outputs lie between 0.2 and 0.45 in a trial, as small .* "none"'),
        (
            {"threshold": 0.9, "forward": fixed(lambda t: t.softmax(-1))},
            "no symbol may begin a word where .* above 0.9",
        ),
        ({"output_alphabet": "()"}, "output_alphabet lacks '</s>'"),
        ({"forward": lambda x: fixed(lambda t: t)(x)[:, 1:]}, r"returned \(4, 3, 5\) for words of 4 symbols; expected"),
        ({"forward": lambda x: fixed(lambda t: t)(x)[..., :4]}, r"\(4, 4\); expected \(words 4, 5 or 3, one for each"),
        (
            {"forward": lambda x: fixed(lambda t: t)(x) + (x == 0).sum(1)[:, None, None]},
            "differently where pad stands behind it: is pad masked",
        ),
    ],
)
def test_what_is_wrong_with_a_vocabulary_is_one_line(given: dict[str, Any], says: str) -> None:
    refused(says, sl.wrap, None, **{"alphabet": TOKENS, **GOOD, **given})


def test_a_slow_network_is_asked_as_much_as_there_is_time_for() -> None:
    now, says = [0.0], fixed(lambda t: 9 * t - 4)

    def slow(x: Tensor) -> Tensor:
        now[0] += x.numel() / 1_000  # a millisecond a symbol, 11 a word and its begin
        return says(x)

    model = sl.wrap(None, TOKENS, **{**GOOD, "forward": slow})
    end = now[0] + 2
    with time_limit(TimeLimit(end, lambda: now[0])):
        assert 100 < len(answers_in_time(model, ["()" * 5] * 9_999)) < 200
    assert now[0] < end + 0.3
    with time_limit(TimeLimit(now[0] + 1.1, lambda: now[0])):
        assert model.affordable == 100


def test_padding_is_no_symbol_of_a_word() -> None:
    refused("<pad>", sl.trace, sl.wrap(None, TOKENS, **GOOD), ["(", "<pad>"])
