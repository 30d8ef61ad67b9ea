"""The certificate of an extracted automaton: which claim was tried, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from stacklens.automata.pda import PushdownAutomaton
from stacklens.automata.regular_domain import regular_domain
from stacklens.errors import StacklensError
from stacklens.extract.ablation import StackUse
from stacklens.extract.certificate.certify import certify
from stacklens.extract.certificate.result import Certificate, Certified, certified_claim
from stacklens.extract.reference import Reference
from stacklens.models.base import StackModel

__all__ = ["NOT_TRIED", "Certification", "certification"]


@dataclass(frozen=True)
class Certification:
    """A certificate, or why there is none.

    Attributes:
        certificate: what `certify` said; None where it could not be asked.
        words: for which words: all, or only those that the task may show the network.
        reason: why it could not be asked, None where it was.
    """

    certificate: Certificate | None
    words: Literal["all", "the task's"] = "all"
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a report."""
        if self.certificate is None:
            return {"verdict": "not tried", "reason": self.reason}
        return {**self.certificate.to_dict(), "words": self.words}

    def __str__(self) -> str:
        if self.certificate is None:
            return f"not tried: {self.reason}"
        if not isinstance(self.certificate, Certified):
            return f"unknown, not certified {self.certificate.reason}"
        return certified_claim(self.to_dict())


NOT_TRIED = Certification(None, reason="there is no automaton")


def certification(
    model: StackModel[Any], automaton: PushdownAutomaton, stacks: StackUse, reference: Reference | None
) -> Certification:
    """Return whether the rounded ``model`` is certified to follow ``automaton`` on words of every length.

    Where that fails for all words and the task shows the network only some, it is tried for these.
    """
    try:
        found = Certification(certify(model, automaton, stacks=stacks.stacks))
        task = None if reference is None or not reference.restricted else reference.automaton()
        if isinstance(found.certificate, Certified) or task is None:
            return found
        narrower = certify(model, automaton, regular_domain(task), stacks=stacks.stacks)
    except StacklensError as error:
        return Certification(None, reason=str(error))
    return Certification(narrower, "the task's") if isinstance(narrower, Certified) else found
