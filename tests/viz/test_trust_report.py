"""What a report in one file says of how far an extraction can be trusted."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from stacklens.extract.by_name import specification_of
from stacklens.extract.config import ExtractionConfig
from stacklens.extract.extraction import extract
from stacklens.extract.result import Extraction
from stacklens.models.checkpoint import ZOO, load_network
from stacklens.viz.report import trust_parts

SMALL = ExtractionConfig(max_length=4, long_words=20, long_lengths=(8, 12), deep_words=2, depth=5, height=3, walks=2)


@cache
def extraction(name: str) -> Extraction:
    checkpoint = load_network(ZOO / f"{name}.pt")
    return extract(checkpoint.model, specification_of(checkpoint), SMALL)


def test_a_report_has_claims_checks_transitions_and_accuracy() -> None:
    html = "\n".join(trust_parts(extraction("nnpda-1n0n")))
    for text in (
        "How far it can be trusted",
        "<td>✓</td><td>the automaton is equal to",
        "<td>all words</td><td>4</td>",
    ):
        assert text in html
    assert html.count("<table>") == 3
    assert html.count("plotly-graph-div") == 1


def test_without_an_automaton_or_a_language_it_says_so() -> None:
    html = "\n".join(
        trust_parts(replace(extraction("nnpda-1n0n"), minimised=None, found=None, checks=(), reason="none"))
    )
    assert "none: none" in html
    assert html.count("<table>") == 1
    html = "\n".join(trust_parts(replace(extraction("nnpda-1n0n"), language=None)))
    assert "No language was given, so nothing is right or wrong." in html
