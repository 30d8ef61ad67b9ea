"""Random automata with cuts, outputs, end markers and awkward names against brute force, for all that is said of them.

Nothing here shares code with what it attacks: automata are run by `Run`, from the definition.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from random import Random

from tests.attack.awkward_automata import (
    ACCEPTANCES,
    AWKWARD,
    ENDS,
    PLAIN,
    Run,
    Word,
    changed,
    is_member,
    random_automaton,
    random_domain,
    words_over,
)
from tests.attack.campaign import Attack
from tests.automata.brute_force import derived

from stacklens.automata.compare import Different, Equal, Outputs, compare, is_empty
from stacklens.automata.counting import count_words
from stacklens.automata.coverage import stack_height_words, transition_pair_words
from stacklens.automata.enumeration import accepts_all, compile_tables, enumerate_words, outputs_all
from stacklens.automata.formats.dot import from_dot, to_dot
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.formats.libraries import from_aalpy, from_automata_lib, to_aalpy, to_automata_lib
from stacklens.automata.formats.textbook import from_jflap, to_jflap
from stacklens.automata.grammar import grammar_text, parse_grammar
from stacklens.automata.minimize import Sink, minimize
from stacklens.automata.pda import PushdownAutomaton, Transition
from stacklens.automata.rewriting import drop_end_marker, intersect, with_visible_top
from stacklens.automata.runs import accepts_many, first_rejection, greatest_heights, transduce_many
from stacklens.automata.small_grammar import readable_grammar
from stacklens.automata.summaries import drop_sinks, reachable_heads, trim
from stacklens.core.errors import AutomatonError, StacklensError


def separates(a: PushdownAutomaton, b: PushdownAutomaton, word: Word, outputs: Outputs, member: bool) -> bool:
    """Whether what the automata do up to the end of ``word`` is a difference; on words outside the domain, no ends."""
    speak = any(step.output is not None for pda in (a, b) for step in pda.transitions.values())
    if outputs == "all" and not speak:
        outputs = "ignore"
    one, two = Run(a, word), Run(b, word)
    if outputs in ("all", "ignore") and member and one.accepted != two.accepted:
        return True
    if outputs == "ignore":
        return False
    both_end = a.end_marker is not None and b.end_marker is not None
    longest = len(word) + (both_end and member)
    first, second = one.outputs[:longest], two.outputs[:longest]
    if outputs == "all":
        return first != second
    if outputs == "where both":
        return any(x != y for x, y in zip(first, second, strict=False) if x is not None and y is not None)
    return len(first) < len(second) or any(x != y for x, y in zip(first, second, strict=False) if y is not None)


def _show(*automata: PushdownAutomaton) -> str:
    return "\n".join(to_json(pda) for pda in automata)


def held_against_all_words(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(40):
        letters = PLAIN[: rng.randint(1, 3)]
        a = random_automaton(rng, letters, end=rng.choice(ENDS))
        b = random_automaton(rng, letters, end=rng.choice(ENDS))
        if rng.random() < 0.7:
            b = a
            for _ in range(rng.randint(0, 2)):
                b = changed(rng, b)
            if rng.random() < 0.2:
                b = minimize(b, rng.choice(("drop", "keep", "as it is")))
        domain = random_domain(rng, letters) if rng.random() < 0.25 else None
        outputs: Outputs = rng.choice(("all", "all", "ignore", "where b", "where both"))
        answer = compare(a, b, domain, outputs)
        tried[f"pairs: {type(answer).__name__.lower()}"] += 1
        longest = {1: 12, 2: 7, 3: 5}[len(letters)]
        words = words_over(letters, longest)
        tried["words"] += len(words)
        members = {word for word in words if is_member(domain, word)}
        beginnings = {word[:length] for word in members for length in range(len(word) + 1)}
        found = [word for word in words if word in beginnings and separates(a, b, word, outputs, word in members)]
        where = f"compare, {outputs!r}, {domain}: {answer}\n{_show(a, b)}"
        if isinstance(answer, Equal):
            assert not found, f"not equal on {found[0]}: {where}"
            expected = {"where b": " that the second reads", "where both": " that both read"}.get(outputs, "")
            assert answer.domain == f"all words{'' if domain is None else ' of the domain'}{expected}", where
        if isinstance(answer, Different):
            assert separates(a, b, answer.word, outputs, is_member(domain, answer.word)), f"no difference: {where}"
            shorter = bool(found) and len(found[0]) < len(answer.word)
            assert not (answer.shortest and shorter), f"{found[:1]} is shorter: {where}"
            assert not (len(answer.word) <= longest and not found and domain is None), where
    return tried


def _minimise(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(4):
        letters = PLAIN[: rng.randint(1, 2)]
        n_stacks = rng.choice((1, 1, 2))
        pda = random_automaton(rng, letters, n_stacks, end=rng.choice(ENDS))
        words = words_over(letters, 6)
        before = [Run(pda, word) for word in words]
        sinks: tuple[Sink, ...] = ("drop", "keep", "as it is")
        smaller = [("trimmed", trim(pda)), ("without sinks", drop_sinks(pda))]
        for name, small in [*smaller, *((sink, minimize(pda, sink)) for sink in sinks)]:
            after = [Run(small, word) for word in words]
            tried["automata"] += 1
            tried["words"] += len(words)
            for word, one, two in zip(words, before, after, strict=True):
                where = f"minimise, {name}, {word}\n{_show(pda, small)}"
                assert one.accepted == two.accepted, where
                if name in ("trimmed", "as it is"):
                    assert (one.cut, one.outputs) == (two.cut, two.outputs), where
                if one.accepted:
                    assert one.outputs == two.outputs, where
            if name != "keep":
                assert len(small.states) <= len(pda.states), where
                assert len(small.stack_alphabet) <= len(pda.stack_alphabet), where
    return tried


def _simulate(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(25):
        letters = rng.sample(AWKWARD, rng.randint(1, 3))
        n_stacks = rng.choice((1, 1, 2))
        pda = random_automaton(rng, letters, n_stacks, end=rng.choice(ENDS))
        longest = {1: 10, 2: 6, 3: 4}[len(letters)]
        words = words_over(letters, longest)
        further = [tuple(rng.choices(letters, k=rng.randrange(60))) for _ in range(20)]
        runs = [Run(pda, word) for word in (*words, *further)]
        where = _show(pda)
        tried["automata"] += 1
        tried["words"] += len(runs)
        everything = [*words, *further]
        assert accepts_many(pda, everything).tolist() == [run.accepted for run in runs], where
        said = compile_tables(pda).outputs
        rows = transduce_many(pda, everything).tolist()
        assert [[said[n] for n in row if n >= 0] for row in rows] == [run.outputs for run in runs], where
        assert first_rejection(pda, everything).tolist() == [len(r.keys) if r.cut else -1 for r in runs], where
        assert greatest_heights(pda, everything).tolist() == [run.height for run in runs], where
        accepted = [word for word, run in zip(words, runs, strict=False) if run.accepted]
        assert list(enumerate_words(pda, longest)) == accepted, where
        assert [n for level in accepts_all(pda, longest) for n in level] == [run.accepted for run in runs[: len(words)]]
        last = [said[n] if n >= 0 else "cut" for level in outputs_all(pda, longest) for n in level]
        expected = ["cut" if run.cut else [pda.initial_output, *run.outputs][-1] for run in runs[: len(words)]]
        assert last == expected, where
        if n_stacks == 1:
            counts = [sum(len(word) == length for word in accepted) for length in range(longest + 1)]
            assert count_words(pda, longest) == counts, where
    return tried


def _reach(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(20):
        letters = PLAIN[: rng.randint(1, 3)]
        pda = random_automaton(rng, letters, end=rng.choice(ENDS))
        longest = {1: 12, 2: 7, 3: 5}[len(letters)]
        words = words_over(letters, longest)
        runs = [Run(pda, word) for word in words]
        where = _show(pda)
        tried["automata"] += 1
        tried["words"] += len(words)
        seen = {key[::2] for run in runs for key in run.keys} | {(pda.initial, ("⊥",))}
        reachable = set(reachable_heads(pda))
        assert seen <= reachable, f"{seen - reachable} are not among the reachable heads of {where}"
        accepted = [word for word, run in zip(words, runs, strict=True) if run.accepted]
        found = compare(pda, PushdownAutomaton(("q",), letters, (), {}, "q"), outputs="ignore")
        assert is_empty(pda) == isinstance(found, Equal), where
        assert not accepted or isinstance(found, Different), f"{accepted[0]} is accepted by {where}"
        if isinstance(found, Different):
            assert Run(pda, found.word).accepted, f"{found.word} is not accepted by {where}"
            assert not accepted or len(accepted[0]) == len(found.word), f"{accepted[0]} is shorter: {where}"
            assert accepted or len(found.word) > longest, where
        domain = random_domain(rng, letters)
        both = intersect(pda, domain)
        for word, run in zip(words, runs, strict=True):
            expected = run.accepted and is_member(domain, word)
            assert Run(both, word).accepted == expected, f"{word} in the intersection with {domain} of {where}"
        _hold(words, runs, drop_end_marker(pda), f"without its end marker: {where}")
        _hold(words, runs, with_visible_top(pda), f"with its top in the state: {where}")
    return tried


def _hold(words: Iterable[Word], runs: Iterable[Run], other: PushdownAutomaton | None, where: str) -> None:
    """Hold that ``other`` accepts the same words."""
    if other is not None:
        for word, run in zip(words, runs, strict=True):
            assert Run(other, word).accepted == run.accepted, f"{word} {where}"


def _cover(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(20):
        letters = PLAIN[: rng.randint(1, 2)]
        pda = random_automaton(rng, letters, end=rng.choice((None, None, None, "⊣")))
        words = words_over(letters, 6)
        where = _show(pda)
        covering = transition_pair_words(pda)
        assert len(set(covering)) == len(covering), where
        taken = [Run(pda, word).keys for word in covering]
        pairs = {pair for keys in taken for pair in pairwise(keys)}
        for word in words:
            keys = [key for key in Run(pda, word).keys if key[1] != pda.end_marker]
            missing = set(pairwise(keys)) - pairs
            assert not missing, f"{word} takes {missing}, no covering word of {covering}: {where}"
            assert set(keys) <= {key for one in taken for key in one}, f"{word}: {where}"
        driven = stack_height_words(pda, 6, 2, seed)
        tried["automata"] += 1
        tried["words"] += len(words) + len(covering) + len(driven)
        assert all(set(word) <= set(letters) for word in (*covering, *driven)), where
    return tried


def _formats(seed: int) -> Counter[str]:
    rng, tried = Random(seed), Counter[str]()
    for _ in range(25):
        names = rng.sample(AWKWARD, 8)
        letters = rng.sample(AWKWARD, rng.randint(1, 3))
        pda = random_automaton(rng, letters, rng.choice((1, 1, 2)), names, rng.choice(ENDS))
        where = _show(pda)
        tried["automata"] += 1
        assert from_json(to_json(pda)) == pda, where
        assert from_dot(to_dot(pda, title=rng.choice((None, *AWKWARD)))) == pda, where
        plain = replace(
            pda,
            end_marker=None,
            transitions={
                key: Transition(step.target, step.operations)
                for key, step in pda.transitions.items()
                if key[1] != pda.end_marker
            },
            acceptance=rng.choice(ACCEPTANCES[:3]),
        )
        if pda.n_stacks > 1:
            for write in (to_jflap, to_automata_lib, to_aalpy):
                assert _refused(write, plain), where
            continue
        words = words_over(letters, 4)
        runs = [Run(plain, word) for word in words]
        tried["words"] += len(words)
        assert from_jflap(to_jflap(plain)) == plain, _show(plain)
        dpda = to_automata_lib(plain)
        theirs = [dpda.accepts_input(word) for word in words]
        assert theirs == [run.accepted for run in runs], f"automata-lib: {_show(plain)}"
        _hold(words, runs, from_automata_lib(dpda), f"read back from automata-lib: {_show(plain)}")
        if plain.acceptance != "final state":
            vpa = to_aalpy(plain)
            _hold(words, runs, from_aalpy(vpa), f"read back from AALpy: {_show(plain)}")
            assert [vpa.accepts(list(word)) for word in words] == [run.accepted for run in runs], _show(plain)
    return tried


def _refused(write: Callable[[PushdownAutomaton], object], pda: PushdownAutomaton) -> bool:
    try:
        write(pda)
    except (AutomatonError, StacklensError):
        return True
    return False


def _grammars(seed: int) -> Counter[str]:
    """Grammars are written and read back, and derive by `derived` what runs accept, no word more and none less."""
    rng, tried = Random(seed), Counter[str]()
    for _ in range(25):
        letters = rng.sample(AWKWARD, rng.randint(1, 3))
        pda = random_automaton(rng, letters, 1, end=rng.choice(ENDS))
        longest = {1: 8, 2: 5, 3: 4}[len(letters)]
        words = {word for word in words_over(letters, longest) if Run(pda, word).accepted}
        tried["automata"] += 1
        try:
            grammar = readable_grammar(pda)
            assert derived(grammar, longest) == words, _show(pda)
            read = parse_grammar(grammar_text(grammar))
        except StacklensError:
            tried["refused"] += 1
            continue
        tried["grammars read back"] += 1
        assert derived(read, longest) == words, _show(pda)
    return tried


ATTACKS: tuple[Attack, ...] = (
    Attack("automata: compare against brute force", held_against_all_words),
    Attack("automata: minimise against brute force", _minimise),
    Attack("automata: simulate, enumerate and count against brute force", _simulate),
    Attack("automata: reach, empty and intersect against brute force", _reach),
    Attack("automata: cover and drive against brute force", _cover),
    Attack("automata: formats and awkward names", _formats),
    Attack("automata: grammars against brute force", _grammars),
)
