"""Words that count: a finite automaton follows at least those that a pushdown automaton follows."""

from itertools import product

from hypothesis import given, reject, settings
from tests.automata.strategies import pushdown_automata
from tests.extract.certificate.proved import ZOO, extracted

from stacklens.automata.pda import PushdownAutomaton
from stacklens.core.errors import StacklensError
from stacklens.extract.certificate.certify import certify, regular_domain
from stacklens.extract.certificate.claim import Certified, NotCertified
from stacklens.languages.catalogue import get_task


@settings(max_examples=60)
@given(pushdown_automata())
def test_every_word_that_is_followed_counts(pda: PushdownAutomaton) -> None:
    try:
        domain = regular_domain(pda)
    except StacklensError:  # it would be too large
        reject()
    for length in range(5):
        for word in product(pda.input_alphabet, repeat=length):
            configurations = list(pda.run(word))
            if len(configurations) > length:
                assert domain.accepts(word)


def test_a_transducer_that_errs_on_other_words_is_certified_for_those_of_its_task() -> None:
    model, pda = extracted(ZOO / "marnn-stack-rnn-string-reversal.pt")
    task = get_task("string-reversal")
    assert task.reference is not None
    assert isinstance(certify(model, pda), NotCertified)
    assert isinstance(certify(model, pda, regular_domain(task.reference)), Certified)
