"""Everything that is claimed of a result, made once from its report as a list of `Claim`, and the sentences in it.

Summary, page, report page and `stacklens verify` print that list. Of entries that reports of earlier versions lack
there are no claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from ..automata.enumeration import is_all
from ..core.errors import listed
from ..core.imports import pd
from ..core.progress import count
from ..probe.outcome import BAR, Causality
from . import wording

ClaimVerdict = Literal["yes", "no", "unknown", "note"]
# the questions that a verdict has; the first three are those of `equals_of`
Chip = Literal["equals the language", "follows the rounded network", "follows the network", "horizon", "mechanism"]
CHIPS: tuple[Chip, ...] = get_args(Chip)
_LANGUAGE, _FOLLOWS_ROUNDED, _FOLLOWS, _HORIZON, _MECHANISM = CHIPS
_ROUNDED, _ALL = "rounded network", "all words"
_CHIP_OF = {"language": _LANGUAGE, _ROUNDED: _FOLLOWS_ROUNDED, "network": _FOLLOWS}

# ---- The list of claims ----


class Claim(NamedTuple):
    """One claim."""

    what: str  # the question that it answers
    verdict: ClaimVerdict  # whether the answer is good; "note" where it is neither good nor bad
    evidence: str  # the entry of the report that it rests on, such as "checks" or "horizon.network"; "" for several
    words: str  # the answer and what it rests on
    word: str | None = None  # a word that shows it, None where none does
    brief: str = ""  # the answer where it stands under a label of its own, if that is another; see `in_brief`
    aside: bool = False  # whether it is for the summary only
    chips: tuple[Chip, ...] = ()  # the questions that it is evidence of

    @property
    def in_brief(self) -> str:
        """Return the answer as a summary prints it."""
        return self.brief or self.words


def claims_of(report: Mapping[str, Any], asides: bool = False) -> tuple[Claim, ...]:
    """Return every claim of a report: what it equals, its size, rounding, checks, horizons, counts, proof, and so on.

    They are different kinds of evidence and stand side by side. Without an automaton there is its reason, and rounding.
    A claim that was read from a file and not shown again is "unknown", and says so. ``asides``: also those that only a
    summary has room for.
    """
    stored, found = report.get("as_stored", ()), []
    parts = [_network_claims, _search_claims, *([] if report["automaton"] is None else [_word_claims, _proof_claims])]
    for one in (claim for part in parts for claim in part(report) if asides or not claim.aside):
        if one.evidence not in stored:
            found.append(one)
            continue
        mark, verdict = f" ({wording.AS_STORED})", one.verdict if one.verdict == "note" else "unknown"
        brief = one.brief and one.brief + mark
        found.append(one._replace(verdict=verdict, words=one.words + mark, brief=brief))
    return tuple(found)


def _aside(what: str, evidence: str, words: str, chips: tuple[Chip, ...] = ()) -> Claim:
    return Claim(what, "note", evidence, words, aside=True, chips=chips)


def _network_claims(report: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield which network and which automaton the report is about, and which of three this equals."""
    of, threshold, sizes = report["model"], report.get("threshold"), report["automaton"]
    against = "no language given" if report["language"] is None else f"language {report['language']}"
    yield _aside("network", "", f"{of.get('name')} over {listed(of['alphabet'])}; {against}")
    if threshold is not None:
        # the probabilities that come nearest to the threshold, from below and above
        near = [
            f"the nearest {side} is {threshold[side]:.3g} (after {wording.word_named(threshold[f'word_{side}'])})"
            for side in ("below", "above")
            if threshold[side] is not None
        ]
        # a number, a share of the largest, or how many of the largest
        given = threshold["threshold"]
        above = f"above {given} of the largest" if isinstance(given, str) else f"above {given:.3g}"
        if isinstance(given, str) and (top := given.removeprefix("top")) != given:
            above, near = f"among the {count(int(top), 'largest', 'largest')}", []
        says = f"what counts is a probability {above}"
        if near:
            says = f"a symbol may come next where its probability is {above}"
            says = f"{says}; in {count(threshold['words'], 'word')} {', '.join(near)}"
        better = "" if threshold.get("better") is None else f"; {wording.better_threshold_claim(threshold)}"
        yield _aside("threshold", "threshold", f"{says}{better}")
    if sizes is None:
        yield Claim("automaton", "no", "reason", f"none: {report['reason']}")
        if report.get("best") is not None:
            yield _aside("best", "best", wording.best_claim(report["best"]))
        return
    equals, counts = equals_of(report), report.get("counts")
    # the first of language, rounded network and network from which the automaton differs
    differs = next((who for who, entry in equals.items() if entry["verdict"] == "different"), None)
    wrong = any(equals[other]["verdict"] == "different" for other in ("language", _ROUNDED))
    wrong = wrong or (counts is not None and not counts["equal"]) or bool(report.get("refuted"))
    unread = any(entry["as_stored"] for entry in equals.values() if entry["verdict"] in ("equal", "different"))
    word = None if differs is None else equals[differs]["word"]
    chips = () if differs is None else (_CHIP_OF[differs],)
    yield Claim("result", "no" if wrong else "unknown" if unread else "yes", "", headline(report), word, chips=chips)
    use = report.get("stacks") or {"kept": range(report.get("n_stacks", 1)), "push_only": ()}
    size = wording.automaton_claim(sizes, max(1, len(set(use["kept"]) - set(use["push_only"]))))
    if (raw := sizes.get("before_minimization")) is None:
        yield Claim("automaton", "yes", "", size)
        return
    before = f"{count(raw['states'], 'state')}, {count(raw['stack_symbols'], 'stack symbol')} before minimisation"
    yield Claim("automaton", "yes", "", f"{size}; {before}", brief=size)


def _search_claims(report: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield on what the automaton was looked for, what rounding changes there, and what else was learned."""
    there, boxed, view = report["automaton"] is not None, wording.is_boxed(report), report.get("view")
    if there and view is not None:
        yield Claim("seen as", "note", "view", wording.view_claim(view))
    if not boxed and (fidelity := report.get("fidelity")) is not None:
        found, margin, outvoted = fidelity["rounding"], fidelity["action_margin"], fidelity["minority_transitions"]
        says = f"changes {found['disagreements']:,} of {count(found['words'], 'verdict')}"
        says = f"{says}; smallest action margin {margin or 0:.3f}"
        says = says if outvoted is None else f"{says}; {outvoted:.1%} of transitions outvoted"
        says = "changes nothing: the network has no actions" if margin is None else says
        verdict: ClaimVerdict = "no" if found["disagreements"] else "yes"
        yield Claim("rounding", verdict, "fidelity", says, chips=(_FOLLOWS_ROUNDED, _FOLLOWS))
    if there and (second := report.get("second")) is not None:
        stacks = f", with {count(second['stacks'], 'stack')}" if "stacks" in second else ""
        says = f"another automaton, {wording.found_claim(second['method'], second['quantiser'])}{stacks}"
        yield _aside("second", "second", f"{says}; the two are {_comparison_claim(second['comparison'])}")
    if there and (entry := report.get("black_box")) is not None:
        yield _aside("black box", "black_box", _black_box_claim(entry))
    if there and (use := report.get("stacks") or {}).get("unseen"):
        named = f"stack{'s' * (len(use['unseen']) > 1)} {' and '.join(str(stack + 1) for stack in use['unseen'])}"
        does = "and the automaton does without: it tells what the network does, not how"
        yield _aside("unseen stacks", "stacks", f"the network uses {named} too, {does}")
    if there and report.get("caution") is not None:
        yield _aside("caution", "caution", report["caution"])
    if there and (report.get("budget") or {}).get("ran_out"):
        yield Claim("budget", "unknown", "budget", wording.budget_claim(report["budget"]))


def _word_claims(report: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield what words have shown: checks, horizons, counts, and what drifts on a word that goes round."""
    boxed = wording.is_boxed(report)
    checks = [check for check in report["checks"] if check["between"][1] != _ROUNDED or not boxed]
    for other in dict.fromkeys(check["between"][1] for check in checks):
        some = [check for check in checks if check["between"][1] == other]
        wrong = sum(check["disagreements"] for check in some)
        words, cycles = (sum(c["words"] for c in some if (c["kind"] == "pumped") is pumped) for pumped in (False, True))
        among = count(words, "word") + (f" and {count(cycles, 'repeated cycle')}" if cycles else "")
        says = "; ".join([f"{count(wrong, 'disagreement')} in {among}", *filter(None, map(_coverage_claim, some))])
        first = min((check["counterexample"] for check in some if check["disagreements"]), key=len, default=None)
        if first is not None and len(first) <= wording.IN_A_SENTENCE:
            says += f"; a short one is {wording.word_named(first)}"
        if wrong and other == "network" and not boxed:
            says += "; the errors of the network with soft actions add up on long words, which contradicts nothing"
        what = f"language {report['language']}" if other == "language" else other
        shown = next((word for word, who in disagreements_of(report) if who == other), None)
        verdict: ClaimVerdict = "no" if wrong else "yes"
        yield Claim(f"checked against the {what}", verdict, "checks", says, shown, chips=(_CHIP_OF[other],))
    for says in dict.fromkeys(filter(None, map(_coverage_claim, checks))):
        yield _aside("tested", "checks", says)
    for other, entry in (report.get("horizon") or {}).items():
        if other == _ROUNDED and boxed:
            continue
        first, says = entry["shortest_difference"], wording.horizon_claim(entry)
        word, brief = None if first is None else first["word"], f"{'black box' if boxed else other}: {says}"
        verdict, chips = "yes" if first is None else "no", (_CHIP_OF[other], _HORIZON)
        yield Claim(f"horizon, {other}", verdict, f"horizon.{other}", says, word, brief, chips=chips)
    if (counts := report.get("counts")) is not None:
        counted, run = counts["counted"], counts["exhaustive"]
        says = f"{sum(counted):,} accepted words of length <= {len(run) - 1}, without running them"
        if counts["equal"]:
            says = f"{says}: as many as were found by running all"
        else:
            length = next(i for i, (one, other) in enumerate(zip(counted, run, strict=True)) if one != other)
            says = f"{says}: not as many at length {length} as the {run[length]:,} found by running all"
        yield Claim("counted twice", "yes" if counts["equal"] else "no", "counts", says, chips=(_LANGUAGE,))
    if report.get("drift") is not None:
        yield _aside("drift", "drift", wording.drift_claim(report["drift"]), (_FOLLOWS_ROUNDED, _HORIZON))


def _proof_claims(report: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield what is shown of all words: proof and certificate; what interchanges show, and where claims end."""
    proof, certificate, causes = report["proof"], report["certificate"], report.get("causality") or {}
    # the language is the one that was checked against, which need not be the network's own
    says = _comparison_claim(proof, f"that of the language {report['language']}")
    brief, verdict = _comparison_claim(proof), {"equal": "yes", "different": "no"}.get(proof["verdict"], "unknown")
    if proof["verdict"] == "equal":
        says, brief = f"the automaton is {says}", f"{brief} (proof)"
    word = proof.get("counterexample")
    yield Claim("proof", verdict, "proof", says, word, brief, chips=(_LANGUAGE,))  # type: ignore[arg-type]
    says, brief = wording.certificate_claim(certificate, "the automaton"), wording.certificate_claim(certificate)
    holds: ClaimVerdict = "yes" if certificate["verdict"] == "certified" else "unknown"
    chips = (_FOLLOWS_ROUNDED, *([_FOLLOWS] if certificate.get("itself") else []))
    yield Claim("certificate", holds, "certificate", says, None, brief, chips=chips)
    # an automaton that is right may merge what the network keeps apart: are its states what that computes with?
    for what in ("states", "symbols", "heads"):
        if (entry := causes.get(what)) is not None:
            good: ClaimVerdict = "note" if entry["accuracy"] is None else "yes" if entry["accuracy"] >= BAR else "no"
            word = None if entry.get("worst") is None else str(entry["worst"]["word"])
            says = wording.interchange_claim(entry)
            yield Claim(f"{what} as causes", good, "causality", says, word, chips=(_MECHANISM,))
    if causes.get("verdict") is not None:
        # it follows from the numbers: what an earlier version wrote is not repeated
        found = Causality.from_dict(causes)
        good = "note" if found.undecided is not None else "no" if found.mechanism is None else "yes"
        yield Claim("mechanism", good, "causality", found.verdict, chips=(_MECHANISM,))
    if (limit := report.get("stack_limit")) is not None and report.get("view") is None:
        says = f"the network's stack has {count(limit, 'cell')}; all claims end there"
        yield Claim("depth", "note", "", says, chips=(_HORIZON,))


def disagreements_of(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return all words on which the automaton is known to differ, with from what, short words first."""
    found = {(check["counterexample"], check["between"][1]) for check in report["checks"] if check["disagreements"]}
    for who, entry in (report.get("horizon") or {}).items():
        found.add(((entry["shortest_difference"] or {}).get("word"), who))
    return sorted((one for one in found if one[0] is not None), key=lambda one: (len(one[0]), one))


# ---- The verdict: whether each question of `CHIPS` has an answer, which, and what shows it ----

_ANSWERS: dict[str, ClaimVerdict] = {"equal": "yes", "different": "no", "no difference found": "unknown"}


def verdict_of(report: Mapping[str, Any]) -> dict[Chip, tuple[ClaimVerdict, str]]:
    """Return the answer to each question that is answered, and "by" what, as `equals_of` and the claims say."""
    if report["automaton"] is None:
        return {}
    found = dict[Chip, tuple[ClaimVerdict, str]]()
    for chip, entry in zip(CHIPS, equals_of(report).values(), strict=False):
        if (verdict := _ANSWERS.get(entry["verdict"])) is not None:
            unread = entry["as_stored"] and verdict == "yes"
            found[chip] = "unknown" if unread else verdict, entry["by"] or ""
    horizons, claims = report.get("horizon") or {}, {claim.what: claim.verdict for claim in claims_of(report)}
    marks = {claims[what] for who in horizons if (what := f"horizon, {who}") in claims}
    for mark in ("no", "unknown", "yes"):
        if mark in marks:
            found.setdefault(_HORIZON, (mark, " | ".join(dict.fromkeys(map(wording.horizon_cell, horizons.values())))))
    if "mechanism" in claims:
        found[_MECHANISM] = claims["mechanism"], Causality.from_dict(report["causality"]).mechanism or ""
    return found


# ---- Which of three an automaton equals: the language, the rounded network, the network.
#
# They are different questions. An automaton that is proved equal to the language, while the network drifts from both
# on long words, is right about the language and shows something of the network. Reports of earlier versions have no
# horizon; what their checks know stands in for it.


def equals_of(report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entry "equals" of a report: an entry each for "language", "rounded network" and "network".

    Each has these keys. "verdict" is "equal" (on all words of "domain"), "different", "no difference found" or "not
    compared"; "by" says what shows that: "proof", "certificate", or "words"; "length" is up to which length all words
    agree, None where that is not known; "others" is how many other words, and repeated cycles, were run; "word",
    "word_length" and "made_of" are of the shortest word known on which they differ, and "exact" says whether there can
    be none that is shorter; "as_stored" says whether that was read from a file, and not shown again.
    """
    horizon, stored, certificate = report.get("horizon") or {}, report.get("as_stored", ()), report["certificate"]
    domain = next((entry["domain"] for entry in horizon.values()), _ALL)
    found = {"language": _equals_by_words({**_horizon_of_checks(report, "language"), "domain": domain})}
    for other in wording.NETWORKS:
        found[other] = _equals_by_words(horizon.get(other) or _horizon_of_checks(report, other))
    # a proof shows more of the language than any words; words of a file are no match for it
    language, proof = found["language"], report["proof"]
    wrong = language["verdict"] == "different" and not ("checks" in stored and "proof" not in stored)
    if proof["verdict"] == "different" and (word := proof["counterexample"]) is not None:
        length = _symbols_in(report, word)
        if not wrong or length < language["word_length"]:
            language |= {"verdict": "different", "by": "proof", "word": word, "word_length": length}
            language |= {"exact": bool(proof.get("shortest"))}
    elif proof["verdict"] == "equal" and not wrong:
        language |= {"verdict": "equal", "by": "proof", "domain": proof.get("domain", _ALL)}
    # a certificate shows more of the rounded network, unless a word refutes it; and of the network, if it is of that
    followed = wording.NETWORKS[: 1 + bool(certificate.get("itself"))]
    for other in followed if certificate["verdict"] == "certified" else ():
        if found[other]["verdict"] != "different":
            found[other] |= {"verdict": "equal", "by": "certificate", "domain": wording.certified_words(certificate)}
    for who, entry in found.items():
        words = "checks" if who == "language" else f"horizon.{who}"
        entry["as_stored"] = (entry["by"] if entry["by"] in ("proof", "certificate") else words) in stored
    return found


def _equals_by_words(horizon: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of "equals" that follows from a horizon alone."""
    first, others = horizon["shortest_difference"] or {}, horizon["others"] + horizon["cycles"]
    nothing = not first and horizon["length"] is None and not others
    verdict = "not compared" if nothing else "different" if first else "no difference found"
    bounded = not first and horizon["shown_by"] == "bounded certificate"
    return {
        "verdict": verdict,
        "by": None if nothing else "bounded certificate" if bounded else "words",
        "domain": None if nothing else horizon["domain"],
        "length": horizon["length"],
        "others": others,
        "word": first.get("word"),
        "word_length": first.get("length"),
        "made_of": first.get("made_of"),
        "exact": horizon["exact"],
        "as_stored": False,
    }


def _horizon_of_checks(report: Mapping[str, Any], other: str) -> dict[str, Any]:
    """Return in the form of a horizon how far the checks of a report know that ``other`` is followed."""
    checks = [check for check in report["checks"] if check["between"][1] == other]
    words = [check["counterexample"] for check in checks if check["counterexample"] is not None]
    exhaustive = [check for check in checks if check["kind"] == "exhaustive"]
    length = max((check["max_length"] for check in exhaustive), default=None)
    first, exact = None, False
    if words:
        word = min(words, key=lambda word: _symbols_in(report, word))
        first = {"word": word, "length": _symbols_in(report, word), "made_of": None}
        exact = word in [check["counterexample"] for check in exhaustive]
        length = (first["length"] - 1 if first["length"] else None) if exact else length
    return {
        "length": length,
        "shown_by": None if length is None else "all words run",
        "domain": _ALL,
        "cycles": sum(check["words"] for check in checks if check["kind"] == "pumped"),
        "others": sum(check["words"] for check in checks if check["kind"] not in ("pumped", "exhaustive")),
        "shortest_difference": first,
        "exact": exact,
    }


def _symbols_in(report: Mapping[str, Any], word: str) -> int:
    single = all(len(symbol) == 1 for symbol in report["model"]["alphabet"])
    return len(word) if single else len(word.split())


# what one network does, or several do: follow the automaton, differ from it first, or as far as known
_ONE = ("follows", "first differs", "is first known to differ")
_BOTH = ("follow", "first differ", "are first known to differ")


def headline(report: Mapping[str, Any], brief: bool = False) -> str:
    """Return what a report comes to in one sentence: which of the three the automaton equals, or that there is none.

    The three are the language or task, the rounded network and the network (see `equals_of`), which is left out where
    it is to be ``brief``; nothing is rounded of a black box. It begins in lower case and has no full stop, so that it
    can stand in other sentences.
    """
    marked = report.get("as_stored", ())
    if report["automaton"] is None:
        return f"no automaton: {report['reason']}{f' ({wording.AS_STORED})' if 'reason' in marked else ''}"
    equals, name, counts = equals_of(report), report["language"], report.get("counts")
    unread = all(entry["as_stored"] for entry in equals.values())

    def mark(stored: bool) -> str:
        # where all of it is as stored, the sentence begins with that
        return f" ({wording.AS_STORED})" if stored and not unread else ""

    entry = equals["language"]
    domain = "" if entry["domain"] == _ALL else f" on {entry['domain']}"
    about = {
        "equal": f"proved equal to {name}{domain}",
        "different": f"different from {name}, {'first' if entry['exact'] else 'as'} on {_differing_word(entry)}",
        "no difference found": f"equal to {name} {_among_which(entry)} (not proved)",
        "not compared": "held against no language",
    }[entry["verdict"]]
    says = [f"{about}{mark(entry['as_stored'])}"]

    def does(who: str, entry: Mapping[str, Any], verbs: tuple[str, str, str] = _ONE) -> list[str]:
        follows, first, known = verbs
        claim = {
            "equal": f"{follows} it on {entry['domain']} (certificate)",
            "different": f"{first if entry['exact'] else known} on {_differing_word(entry)}",
            "no difference found": f"{follows} it {_among_which(entry)}",
        }.get(entry["verdict"])
        return [] if claim is None else [f"{who} {claim}{mark(entry['as_stored'])}"]

    rounded, network = equals[_ROUNDED], equals["network"]
    verdict = rounded["verdict"] if rounded["verdict"] == network["verdict"] else None  # of both
    alike = verdict is not None and all(rounded[name] == network[name] for name in ("exact", "word", "as_stored"))
    by_words = rounded["by"] == network["by"] == "words"
    if wording.is_boxed(report):
        says += does("the black box", network)
    elif brief:
        says += does("the rounded network", rounded)
    elif alike and verdict == "equal":  # the network is its rounded form
        says += does("the network itself", network)
    elif alike and (verdict == "different" or (verdict == "no difference found" and by_words)):
        says += does("rounded network and network", rounded, _BOTH)
    elif verdict == "different" and rounded["exact"] == network["exact"]:
        there = f"the network on {_differing_word(network)}{mark(network['as_stored'])}"
        says += [f"{does('the rounded network', rounded)[0]}, {there}"]
    else:
        says += [*does("the rounded network", rounded), *does("the network", network)]
    if counts is not None and not counts["equal"]:
        says.append(f"its accepted words were counted twice, differently{mark('counts' in marked)}")
    return f"{wording.AS_STORED}: {'; '.join(says)}" if unread else "; ".join(says)


def _differing_word(entry: Mapping[str, Any]) -> str:
    return "" if entry["word"] is None else wording.word_shown(entry["word"], entry["word_length"], entry["made_of"])


def _among_which(entry: Mapping[str, Any]) -> str:
    if entry["length"] is None:
        return "on all words tried"
    how = " (bounded certificate)" if entry["by"] == "bounded certificate" else ""
    others = " and on all others tried" if entry["others"] else ""
    return f"on {entry['domain']} of length <= {entry['length']:,}{how}{others}"


# ---- Sentences of the list alone ----


def _comparison_claim(proof: Mapping[str, Any], other: str | None = None) -> str:
    """Return whether the automaton is proved equal to the ``other`` one, which need not be named.

    >>> _comparison_claim({"verdict": "equal", "domain": "all words"}, "dyck-1")
    'equal to dyck-1 for all words'
    """
    if proof["verdict"] == "equal":
        return f"equal{'' if other is None else f' to {other}'} for {proof.get('domain', 'all words')}"
    word = "" if proof["counterexample"] is None else f", on {wording.word_named(proof['counterexample'])}"
    different = f"different{'' if other is None else f' from {other}'}"
    verdict = different if proof["verdict"] == "different" else "undecided"
    return f"{verdict}: {proof['reason']}{word}"


def _coverage_claim(check: Mapping[str, Any]) -> str | None:
    """Return how much is known from the words of one check of all others; None where that is not known.

    >>> _coverage_claim({"kind": "conformance", "disagreements": 0, "more_states": 2})
    'no machine with up to 2 states more answers the words of the W-method so and is another one'
    >>> drawn = {"drawn": "uniformly random symbols, lengths 10 to 60", "epsilon": 0.00613, "delta": 0.05}
    >>> _coverage_claim({"kind": "random", "disagreements": 0, **drawn})
    'at most 0.61 % of words drawn anew differ (uniformly random symbols, lengths 10 to 60), with 95 % confidence'
    """
    if check["disagreements"]:
        return None
    if check.get("more_states") is not None:
        more = count(check["more_states"], "state")
        return f"no machine with up to {more} more answers the words of the W-method so and is another one"
    if check.get("epsilon") is None:
        return None
    sure = f"with {100 * (1 - check['delta']):g} % confidence"
    return f"at most {100 * check['epsilon']:.2g} % of words drawn anew differ ({check['drawn']}), {sure}"


def _black_box_claim(entry: Mapping[str, Any]) -> str:
    """Return whether what was learned from answers alone equals the automaton, from a report's "black_box".

    >>> apart = {"word": "([)", "shortest": True, "step": 3, "meant": True, "white": "a rejection", "black": "{(}"}
    >>> entry = {"quantiser": "KV, 90 words asked", "reason": None, "agree_to": None, "wrong": 0, "words": 9}
    >>> entry |= {"automaton": {"states": 2, "stack_symbols": 0, "transitions": 3}}
    >>> entry |= {"comparison": {"verdict": "different"}}
    >>> _black_box_claim({**entry, "said": {**apart, "network": "{(}", "rounded": "a rejection"}})
    ... # doctest: +NORMALIZE_WHITESPACE
    'from answers alone (KV, 90 words asked): 2 states, 0 stack symbols, 3 transitions; different from the automaton,
    first on ([) after symbol 3: the automaton says a rejection, the black box {(}, the network itself {(}, the rounded
    network a rejection'
    """
    size = "no automaton" if entry["automaton"] is None else wording.automaton_claim(entry["automaton"])
    learned = f"from answers alone ({entry['quantiser']}): {size}"
    doubt = "" if entry["reason"] is None else f", which does not stand for the network: {entry['reason']}"
    verdict, apart = entry["comparison"]["verdict"], entry["said"]
    if verdict == "equal":
        return f"{learned}{doubt}; proved equal to the automaton on {entry['comparison'].get('domain', 'all words')}"
    if apart is None:
        shown = f"equal to the automaton on all words of length <= {entry['agree_to']:,}"
        return f"{learned}{doubt}; {shown}, not proved: {entry['comparison']['reason']}"
    known = "first on" if apart["shortest"] else "as on"
    step = "" if apart["step"] is None else f" after symbol {apart['step']:,}"
    strange = "" if apart["meant"] else ", which the task does not ask about"
    parties = (("the automaton", "white"), ("the black box", "black"), ("the network itself", "network"))
    verb = "" if apart["step"] is None else "says "
    answers = ", ".join(f"{who} {verb if key == 'white' else ''}{apart[key]}" for who, key in parties)
    word = f"{known} {wording.word_named(apart['word'])}{strange}{step}"
    return f"{learned}{doubt}; different from the automaton, {word}: {answers}, the rounded network {apart['rounded']}"


# ---- The claims and the checks of a report as tables ----

SIGNS: dict[ClaimVerdict, str] = {"yes": "✓", "no": "✗", "unknown": "?", "note": "·"}
_COLUMNS = ["words", "up to length", "checked", "accepted", "automaton and", "disagreements", "counterexample"]


def claim_table(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return the claims of a report as a table, one row each."""
    rows = [(claim.what, SIGNS[claim.verdict], claim.words) for claim in claims_of(report)]
    return pd.DataFrame(rows, columns=["what", "", "rests on"])


def check_table(report: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row a check: words, how many, against what, disagreements, and a word ("" for none, ε if empty)."""
    letters = len(report["model"]["alphabet"])
    rows = []
    for check in report["checks"]:
        kind, word = wording.KINDS[check["kind"]][2], check["counterexample"]
        if check["kind"] == "exhaustive" and not is_all(letters, check["max_length"], check["words"]):
            kind = f"{kind} of the task"
        numbers = (check["max_length"], check["words"], check["accepted"], check["between"][1], check["disagreements"])
        rows.append((kind, *numbers, "" if word is None else word or "ε"))
    return pd.DataFrame(rows, columns=_COLUMNS)
