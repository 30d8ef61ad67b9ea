"""Networks for palindromes with the trap monitor and without it."""

from __future__ import annotations

import torch

from stacklens.languages.words import all_words
from stacklens.models.checkpoint import ZOO, load_model
from stacklens.models.inference import verdicts_on
from stacklens.papers.sun1993_training import PalindromeSizes, palindromes_experiment, without_monitor


@torch.no_grad()
def test_without_the_monitor_a_word_is_judged_at_its_end_alone() -> None:
    net = load_model(ZOO / "nnpda-palindrome.pt")
    words, expected = all_words(("a", "b", "c"), 4), []
    for word in words:
        state = net.initial_state(1)
        for symbol in word:
            state = net.step(torch.tensor([net.alphabet.index(symbol)]), state).state
        expected.append(bool(state.hidden[0, -1] > 0.5) and bool(state.stack.length <= 0.5))
    assert verdicts_on(without_monitor(net), words).tolist() == expected
    assert verdicts_on(net, words).tolist() != expected  # else the test tells nothing


def test_errors_are_counted_network_by_network_on_all_words() -> None:
    experiment = palindromes_experiment(PalindromeSizes(nets=2, length=4, epochs=1))
    finding = experiment.claims[2].measure()
    for name in ("without_monitor", "with_monitor", "rounded_without_monitor", "rounded_with_monitor"):
        assert len(finding.figures[name]) == 2
        assert all(0 <= wrong <= 121 for wrong in finding.figures[name])
    assert finding.figures["epochs"] == 1
    assert finding.ours.endswith("CPU s a net")
