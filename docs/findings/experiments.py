"""The figures and tables of the text that come from the fresh networks' experiments, by the names that stand there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pandas as pd
from docs.findings.bottom import LENGTHS as BOTTOM_LENGTHS
from docs.findings.bottom import WORDS as BOTTOM_WORDS
from docs.findings.design import CAPS, CELLS, LENGTHS, TURNS, WORDS
from docs.findings.effects import (
    Effect,
    asked,
    bottom,
    bottom_test,
    design_tests,
    effects_table,
    emptying_share,
    factor_names,
    loss,
    mean_of_rows,
    mechanism_test,
    mechanisms,
    mixed,
    over_tasks,
    read,
    right_on_longest,
    share_of,
    walks,
)
from docs.findings.mechanism import BUDGET, LOOKS
from docs.findings.stats import SURE, holm, interval_in_rows, p_in_words
from scipy.stats import binomtest

from stacklens.papers.grid import CONVERGED
from stacklens.papers.tables import TextTable, markdown_table
from stacklens.probe.outcome import BAR

DOCS = Path(__file__).parents[1]
AUTOMATA = ("raw", "minimised", "learned", "reference")
_BOTTOM = 10  # points that H9 asks for
_REPAIRED = 6  # networks of the ablation
_FIRST = ("H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8")  # written before all data
_MOST = 10  # networks with the most wrong words at the bottom


def experiment_figures() -> dict[str, str]:
    """Return all of them."""
    found, swapped, becoming = asked(), mechanisms(), _becoming()
    return {
        **_trained(),
        **_design(found),
        **_mechanism(swapped),
        **becoming,
        **_repair(),
        **_boxes(),
        **_hypotheses(found, swapped, becoming),
        **{
            f"head {name}": _head(read(name))
            for name in ("fresh", "design", "bottom", "mechanism", "becoming", "ablation", "parts", "boxes")
        },
    }


def _head(content: dict[str, Any]) -> str:
    commits = [one[:7] + one[40:] for one in content["commits"]]  # "with changes" stays
    named = f"commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}"
    return f"`{content['command']}`, {named}, {', '.join(content['processors'])}"


def _table(title: str, columns: Sequence[str], lines: Sequence[Sequence[str]], note: str = "") -> str:
    return markdown_table(TextTable(title, tuple(columns), tuple(tuple(line) for line in lines), note))


def _of(hits: int, of: int) -> str:
    return f"{hits} of {of}"


def _trained() -> dict[str, str]:
    rows = read("fresh")["rows"]
    tasks = {one["task"] for one in rows}
    by_task = {task: [right for one in rows if one["task"] == task for right in one["learned"]] for task in tasks}
    return {
        "fresh rows": str(len(rows)),
        "fresh networks": str(sum(len(one["learned"]) for one in rows)),
        "fresh learned": str(sum(sum(one["learned"]) for one in rows)),
        "fresh by task": ", ".join(f"{task} {_of(sum(own), len(own))}" for task, own in sorted(by_task.items())),
        "fresh minutes": f"{sum(one['training seconds']['CPU'] for one in rows) / 60:.0f}",
    }


# ---- Experiment 2 ----


def _design(found: pd.DataFrame) -> dict[str, str]:
    longest = right_on_longest(found)
    low = found[found.cap == 2]
    figures = {
        "design networks": str(found.network.nunique()),
        "design rows": str(found.row.nunique()),
        "design words": f"{WORDS * len(CELLS):,}",
        "shortest": str(LENGTHS[0]),
        "longest": str(LENGTHS[-1]),
        **{f"{name} length": str(length) for name, length in zip(("training", "test"), LENGTHS, strict=False)},
        **{
            f"design at {name} length": f"{mean_of_rows(found[found.length == length], 'soft'):.0f} %"
            for name, length in zip(("training", "test"), LENGTHS, strict=False)
        },
        "bottom lengths": f"{min(BOTTOM_LENGTHS)} to {max(BOTTOM_LENGTHS)}",
        "design seconds": f"{sum(one['seconds'] for one in read('design')['rows']):.0f}",
        "bottom seconds": f"{sum(one['seconds'] for one in read('bottom')['rows']):.0f}",
        "design stand": share_of(longest, "stands"),
        "design rounded stand": share_of(longest, "rounded_stands"),
        "design at longest": f"{mean_of_rows(found[found.length == LENGTHS[-1]], 'soft'):.0f} %",
        "design rounded at longest": f"{mean_of_rows(found[found.length == LENGTHS[-1]], 'rounded'):.0f} %",
        "floor of low rounded": str(loss(low, "rounded", "floor", 0, 12)),
        "turns rounded": str(loss(found, "rounded", "turn", 0.1, 0.9)),
    }
    figures["bottom in numpy"] = _of((bottom().again == True).sum(), bottom().again.notna().sum())  # noqa: E712
    figures["bottom share"] = f"{100 * emptying_share():.0f} %"
    low_found, at_floor = bottom(), found[found.floor > 0]
    ring = low_found.family == "Baby-NTM"
    stacks, rings = low_found[~ring], low_found[ring]
    by_row = pd.Series(bottom_test(low_found).by_row)
    wrong, read_up = low_found["rounded wrong"].sort_values(), len(BOTTOM_LENGTHS) * BOTTOM_WORDS * len(rings)
    figures |= {
        "bottom high rows": _of((by_row >= _BOTTOM).sum(), len(by_row)),
        "bottom high names": ", ".join(by_row.index[by_row >= _BOTTOM].str.replace("+Softmax", "")),
        "bottom words up rings": f"{rings['rounded up wrong'].sum()} of {read_up}",
        "bottom most": f"{100 * wrong.tail(_MOST).sum() / wrong.sum():.0f} %",
        "bottom most networks": f"{_MOST} of {len(wrong)}",
    }
    ring = found.family == "Baby-NTM"
    figures["cap stacks rounded"] = str(loss(found[~ring], "rounded", "cap", 20, 2))
    figures["cap rings rounded"] = " and ".join(
        f"{one:.0f}" for one in loss(found[ring], "rounded", "cap", 20, 2).by_row.values()
    )
    figures |= {f"turns cap {cap}": str(loss(found[found.cap == cap], "soft", "turn", 0.1, 0.9)) for cap in CAPS}
    for cap in CAPS:
        walked = [walks(cap, turn) for turn in TURNS]
        for number, what in enumerate(("height", "returns", "turns")):
            own = [f"{one[number]:.2g}" for one in walked]
            figures[f"walks {cap} {what}"] = f"{own[0]} to {own[-1]}"
            figures[f"walks {cap} {what} in all"] = f"{fmean(one[number] for one in walked):.0f}"
    for net in ("soft", "rounded"):
        figures |= {
            f"bottom {net}": str(bottom_test(low_found, net)),
            f"bottom stacks {net}": str(bottom_test(stacks, net)),
            f"bottom rings {net}": f"{-bottom_test(rings, net).loss:.0f}",
            f"bottom empty {net}": _of(low_found[f"{net} empty"].sum(), low_found[f"{net} wrong"].sum()),
            f"bottom closes {net}": _of(low_found[f"{net} closes"].sum(), low_found[f"{net} empty"].sum()),
            f"bottom up open {net}": _of(low_found[f"{net} up open"].sum(), low_found[f"{net} up wrong"].sum()),
            f"low at bottom {net}": f"{mean_of_rows(low[low.floor == 0], net):.0f} %",
            f"low up there {net}": f"{mean_of_rows(low[low.floor == 12], net):.0f} %",
            f"cap at bottom {net}": str(loss(found[found.floor == 0], net, "cap", 20, 2)),
            f"cap above {net}": str(loss(at_floor, net, "cap", 20, 2)),
        }
    columns = ("network", "family", "rows / networks", "right, %", *factor_names())
    note = (
        "means over rows; points that are lost between the first level and the second, all other factors crossed, with "
        "Student's 95 % interval over rows; without one where a family has two rows or fewer"
    )
    return {**figures, "effects table": _table("What costs words", columns, effects_table(found), note)}


# ---- Experiment 3 ----


def _mechanism(found: pd.DataFrame) -> dict[str, str]:
    rows = read("mechanism")["rows"]
    tested, proved = found[found.tested], found[found.proved]
    lines = []
    for family, own in [*proved.groupby("family"), ("all", proved)]:
        shares = []
        for name in AUTOMATA:
            there = [one[name] for one in own.automata if name in one]
            scores = [one["score"] for one in there if one["score"] is not None]
            hits = sum(one["mechanism"] for one in there)
            shares.append(f"{_of(hits, len(there))}{f', {median(scores):.2f}' if scores else ''}")
        none = sum(own.mechanism.isna())
        lines.append([str(family), str(len(own)), *shares, str(none)])
    columns = ("family", "networks", *AUTOMATA, "none of them")
    note = (
        "how many are the mechanism, of how many networks that have such an automaton, and the median of the lowest "
        "score of a kind of swaps; an automaton that is another one renamed is counted once"
    )
    random = [
        kind["random network"]
        for one in proved.automata
        for automaton in one.values()
        for kind in automaton["kinds"].values()
        if kind["random network"] is not None
    ]
    told = [kind["told apart"] for one in proved.automata for a in one.values() for kind in a["kinds"].values()]
    others = [one["raw"]["score"] for one in tested[~tested.raw].automata]
    hits = tested[tested.raw]
    wrong = sorted(one for one in hits.wrong if one)
    swaps = Counter(tuple(kind["told apart"] for kind in one["raw"]["kinds"].values()) for one in hits.automata)
    alike, often = max(swaps.items(), key=lambda item: item[1], default=((), 0))
    scores = Counter(one["minimised"]["score"] for one in hits.automata).most_common(1)
    states = {
        which: median([one[which]["kinds"]["states"]["told apart"] for one in hits.automata])
        for which in ("raw", "minimised")
        if len(hits)
    }
    outside = [
        f"{one.row}, seed {rows[one.network]['seed']}, the {one.mechanism} one, "
        f"{'/'.join(map(str, one.automata[one.mechanism]['sizes']))}"
        for one in found[~found.proved & found.mechanism.notna()].itertuples()
    ]
    single = [a["score"] for one in proved.automata for a in one.values() if a["sizes"][0] == 1 and a["score"]]
    return {
        "mechanism table": _table("Which of the equal automata is the mechanism", columns, lines, note),
        "bar": f"{100 * BAR:.0f} %",
        "mechanism networks": str(len(rows)),
        "mechanism proved": _of(len(proved), len(found)),
        "mechanism raw": share_of(tested, "raw"),
        "mechanism minimised": share_of(tested, "minimised"),
        "mechanism random most": f"{max(random):.2f}" if random else "none",
        "mechanism swaps": f"{median(told):,.0f}" if told else "none",
        "mechanism one state": f"{median(single):.2f} in the median of {len(single)}" if single else "none",
        "mechanism raw rows": " and ".join(
            f"{row} {_of(own.raw.sum(), len(own))}" for row, own in tested.groupby("row") if own.raw.any()
        ),
        "mechanism raw sizes": ", ".join(sorted({"/".join(map(str, one["raw"]["sizes"])) for one in hits.automata})),
        "mechanism alike": f"{often} of {len(hits)} ({' / '.join(map(str, alike))} told apart)",
        "mechanism alike scores": f"{scores[0][1]} of {len(hits)} ({scores[0][0]})" if scores else "none",
        **{f"mechanism states {which}": f"{own:.0f}" for which, own in states.items()},
        "mechanism wrong": f"{_of(len(wrong), len(hits))} (on {', '.join(map(str, wrong))})",
        "mechanism outside": f"(Outside them, where not all are proved equal: {'; '.join(outside) or 'none'}.)",
        "mechanism raw others": f"{median(others):.2f}" if others else "none",
        "mechanism seconds": f"{median([one['extraction seconds'] for one in rows]):.0f}",
        "swap seconds": f"{median([one['interchange seconds'] for one in rows if 'automata' in one]):.0f}",
        "fresh read": _of(sum(one["status"] != 3 for one in rows), len(rows)),
        "fresh equal": _of(sum(one.get("equal to the task", False) for one in rows), len(rows)),
        "fresh uncontradicted": _of(sum(one["status"] == 0 for one in rows), len(rows)),
        "fresh certified": _of(sum(one.get("certified", False) for one in rows), len(rows)),
    }


def _becoming() -> dict[str, str]:
    """Return the verdict of H12, and what the looks at networks on their way came to."""
    rows = read("becoming")["rows"]
    looks = [one["looks"] for one in rows]
    # a truth value a look: the task is done, as it is; an automaton equal to it is read; one is the mechanism; one
    # would be, by the swaps alone that should change something
    does = [[look["test"] >= CONVERGED for look in own] for own in looks]
    reads = [[bool(look.get("equal to the task")) for look in own] for own in looks]
    has = [[any(one["mechanism"] for one in _equal_to_task(look).values()) for look in own] for own in looks]
    letter = [
        [any((one["score"] or 0) >= BAR for one in _equal_to_task(look).values()) for look in own] for own in looks
    ]
    before, after, at_once = _orders(does, has)
    p = float(binomtest(before, before + after).pvalue) if before + after else 1.0
    verdict = "undecided" if p >= SURE else "shown" if before > after else "refuted"
    lost = [not all(own[own.index(True) :]) for own in has if any(own)]
    later = [look for own, one in zip(looks, has, strict=True) if any(one) for look in own[one.index(True) :]]
    scores = [look["automata"]["raw"]["score"] for look in later if not look["mechanism"] and "automata" in look]
    ends: dict[str, list[bool]] = {}  # of those that do the task at the last look, whether they have a mechanism then
    for one, done, own in zip(rows, does, has, strict=True):
        if done[-1]:
            ends.setdefault(f"{one['task']}: {one['row']}", []).append(own[-1])
    which = {name for own in looks for look in own for name, one in _equal_to_task(look).items() if one["mechanism"]}
    return {
        "becoming verdict": verdict,
        "becoming says": f"first the task {before}, first the mechanism {after}; {p_in_words(p)}",
        "becoming networks": str(len(rows)),
        "becoming looks": str(LOOKS),
        "becoming done": str(sum(map(any, does))),
        "becoming has": str(len(lost)),
        "becoming which": " or ".join(sorted(which)),
        "becoming first": f"{before} do the task first, {after} have the mechanism first, {at_once} at the same look",
        "becoming letter": "{}, {} and {}".format(*_orders(does, letter)),
        "becoming read": "{} had one at an earlier look, {} at a later one, {} at the same".format(
            *_orders(reads, does)
        ),
        "becoming end": ", ".join(f"{row} {_of(sum(own), len(own))}" for row, own in ends.items()),
        "becoming lost": _of(sum(lost), len(lost)),
        "becoming lost scores": f"{min(scores):.3f} to {max(scores):.3f}",
    }


def _orders(one: list[list[bool]], other: list[list[bool]]) -> tuple[int, int, int]:
    """Return for how many networks that come to both the one is first, the other is, and both are at the same look."""
    first = [(a.index(True), b.index(True)) for a, b in zip(one, other, strict=True) if any(a) and any(b)]
    return sum(a < b for a, b in first), sum(a > b for a, b in first), sum(a == b for a, b in first)


def _equal_to_task(look: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the automata that were read at a look at a network, and are proved equal to the task."""
    known = look.get("equal to the task", False) and not look.get("doubt")
    return {name: one for name, one in look.get("automata", {}).items() if known and one["equal"]}


# ---- Experiment 4 ----


def _repair() -> dict[str, str]:
    repairs = json.loads((DOCS / "repairs.json").read_text(encoding="utf-8"))
    fresh, zoo = ([one for one in repairs if ("/" in one["network"]) is wanted] for wanted in (True, False))
    lines = []
    for kind in dict.fromkeys(one["kind"] for one in fresh):
        own = [one for one in fresh if one["kind"] == kind]
        certified = (_certified(own, when) for when in ("before", "after"))
        lines.append([kind, str(len(own)), *certified, f"{median(one['seconds'] for one in own):.0f}"])
    tested = [one["test"] for one in fresh if one["test"] is not None]
    fallen = [after for before, after in tested if after < before]
    low = sorted(before for before, _ in tested if before < CONVERGED)
    commits, processors = (sorted({one[name] for one in repairs if name in one}) for name in ("commit", "processor"))
    older = sum("commit" not in one for one in repairs)
    # tries of each network, the last one the row's; a later rule was given those that failed and some not tried before
    tries = [[*one.get("earlier", []), {**one["after"], "commit": one.get("commit")}] for one in fresh]
    # those that were certified and repaired once more, for plain numpy to follow them, count as they were tried before
    repeated = [own for own in tries if len(own) > 1 and own[-2]["itself"]]
    tries = [own[:-1] if own in repeated else own for own in tries]
    later = {own[-1]["commit"] for own in tries if len(own) > 1}
    once = [own for own in tries if own[0]["commit"] and own[0]["commit"] not in later]
    failed = [own for own in tries if not own[0]["itself"] and own[0]["commit"] not in later]
    again = [own for own in tries if len(own) > 1 and own[0]["commit"] not in later]
    anew = [own for own in tries if own[0]["commit"] in later]
    older_tries = [own for own in tries if len(own) == 1 and own[0]["commit"] is None]
    followed = [one for one in repairs if one["after"]["itself"] and one["numpy"]["after"] is not None]
    earlier = sum(own["seconds"] or 0 for one in repairs for own in one.get("earlier", []))
    named = ", ".join([*(commit[:7] + commit[40:] for commit in commits), *processors])
    named += f"{', ' * bool(named)}{older} rows older than the record of these" if older else ""
    columns = ("model", "networks", "certified as themselves before", "after", "seconds, median")
    figures = {
        "repair table": _table("Networks of seeds 40 and 41, by kind", columns, lines),
        "repair head": named,
        "repair fresh": _certified(fresh, "after"),
        "repair fresh before": _certified(fresh, "before"),
        "repair rounded before": _of(sum(one["before"]["certified"] for one in fresh), len(fresh)),
        "repair once": _of(sum(tries[0]["itself"] for tries in once), len(once)),
        "repair failed": str(len(failed)),
        "repair retried": str(len(again)),
        "repair most tries": str(max(map(len, tries))),
        "repair commits": str(len(later)),
        "repair again": _of(sum(tries[-1]["itself"] for tries in again), len(again)),
        "repair anew": _of(sum(tries[-1]["itself"] for tries in anew), len(anew)),
        "repair repeated": _of(sum(own[-1]["itself"] for own in repeated), len(repeated)),
        "repair followed": str(len(followed)),
        "repair wrong": str(sum(max(one["numpy"]["after"][:2]) > 0 for one in followed)),
        "repair older": _of(sum(own[0]["itself"] for own in older_tries), len(older_tries)),
        "repair zoo": _certified(zoo, "after"),
        "repair seconds": f"{median(one['seconds'] for one in fresh):.0f}",
        "repair hours": f"{sum(one['seconds'] for one in repairs) / 3600:.1f}",
        "repair earlier hours": f"{earlier / 3600:.1f}",
        "repair worse": _of(len(fallen), len(tested)),
        "repair least": f", to {100 * min(fallen):.0f} % at worst" if fallen else "",
        "repair low": f"{len(low)} ({', '.join(f'{100 * one:.1f}' for one in low)} %)" if low else "none",
    }
    rows, arms = _whole("parts"), dict[str, list[dict[str, Any]]]()
    for one in rows:
        arms.setdefault(one["arm"], []).append(one)
    cells = [[arm, str(len(own)), *_arm(own)] for arm, own in arms.items()]
    arm_columns = (
        "repair",
        "networks",
        "kept a round",
        "certified rounded",
        "as itself",
        "words wrong, median: before",
        "after",
        "steps, median",
    )
    whole = arms["all parts"]
    soft = [one for one in whole if "wrong without hardening" in one]
    by_row = pd.DataFrame([{"row": f"{one['task']}: {one['row']}", "itself": one["after"]["itself"]} for one in whole])
    return figures | {
        "parts table": _table(f"{len(whole)} new networks, each repaired by every arm", arm_columns, cells),
        "parts apart H11": str(sum(a != b for a, b in zip(*_pairs("parts", "no counterexamples"), strict=True))),
        "parts hours": f"{sum(one['seconds'] for one in read('parts')['rows']) / 3600:.1f}",
        "parts seconds": f"{read('parts')['seconds for each']:.0f}",
        "parts networks": str(len(whole)),
        "parts rows": str(by_row.row.nunique()),
        "parts itself": share_of(by_row, "itself"),
        "parts rounded": _of(sum(one["after"]["certified"] for one in whole), len(whole)),
        "parts worse": _of(sum(one["after"]["wrong"] > one["before"]["wrong"] for one in whole), len(whole)),
        **{f"parts steps {arm}": f"{median(one['steps'] for one in own):,.0f}" for arm, own in arms.items()},
        **{f"parts kept {arm}": _of(sum(map(_kept, own)), len(own)) for arm, own in arms.items()},
        "parts hardened": f"{sum(one['after']['wrong'] for one in soft):,}",
        "parts unhardened": f"{sum(one['wrong without hardening'] for one in soft):,}",
        "parts made whole": str(len(soft)),
        "parts words": f"{len(soft) * WORDS * len(CELLS):,}",
        "ablation seconds": f"{read('ablation')['seconds for each']:.0f}",
        **{
            f"ablation kept {arm}": _of(sum(map(_kept, own)), len(own))
            for arm in ("all parts", "not disturbed")
            if (own := [one for one in _whole("ablation") if one["arm"] == arm])
        },
    }


def _whole(name: str) -> list[dict[str, Any]]:
    """Return the lines of an ablation of the networks that were repaired by every arm."""
    rows = read(name)["rows"]
    arms = Counter((one["task"], one["row"], one["seed"]) for one in rows)
    return [one for one in rows if arms[one["task"], one["row"], one["seed"]] == max(arms.values())]


def _certified(own: list[dict[str, Any]], when: str) -> str:
    return _of(sum(one[when]["itself"] for one in own), len(own))


def _kept(one: dict[str, Any]) -> bool:
    """Return whether a repair kept a round: with actions scaled back, other words go wrong than before."""
    return bool(one.get("wrong without hardening", one["after"]["wrong"]) != one["before"]["wrong"])


def _arm(own: list[dict[str, Any]]) -> list[str]:
    certified = (str(sum(one["after"][what] for one in own)) for what in ("certified", "itself"))
    wrong = (f"{median(one[when]['wrong'] for one in own):,.0f}" for when in ("before", "after"))
    return [str(sum(map(_kept, own))), *certified, *wrong, f"{median(one['steps'] for one in own):,.0f}"]


# ---- Experiment 5 ----


def compared() -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Return of each network what the stack's own reading, KV and L# came to."""
    white = {(one["task"], one["row"], one["seed"]): one for one in read("mechanism")["rows"]}
    rows = read("boxes")["rows"]
    return [
        (white[key], one["KV"], one["L#"]) for one in rows if (key := (one["task"], one["row"], one["seed"])) in white
    ]


def _boxes() -> dict[str, str]:
    both = compared()
    kv, sharp, white = [one[1] for one in both], [one[2] for one in both], [one[0] for one in both]

    def line(name: str, own: list[dict[str, Any]], seconds: str, about: str) -> list[str]:
        found = [one for one in own if one["status"] != 3]
        sizes = [one["sizes"][0] + one["sizes"][1] for one in found]
        claims = [one for one in found if one["status"] == 0]
        wrong = sum(one["wrong"][about] > 0 for one in claims)
        size = f"{median(sizes):.0f} ({min(sizes)} to {max(sizes)})" if sizes else "none"
        equal = sum(one["equal to the task"] for one in found)
        return [
            name,
            str(len(found)),
            str(equal),
            size,
            f"{median(one[seconds] for one in own):.0f}",
            _of(wrong, len(claims)),
        ]

    states = [one["states"] for one in sharp]
    ended = [one for one in sharp if one["ended"]]
    lines = [
        line("the stack's own reading", white, "extraction seconds", "rounded"),
        line("KV, visibly pushdown", kv, "seconds", "network"),
        [
            *("L#, Mealy machines", str(len(ended)), "0"),
            f"{median(states):.0f} ({min(states)} to {max(states)})" if states else "none",
            f"{median([one['seconds'] for one in sharp]):.0f}" if sharp else "none",
            _of(sum(one["wrong"] > 0 for one in ended), len(ended)),
        ],
    ]
    columns = ("way", "automata", "equal to the task", "states and symbols, median", "seconds", "claims that are wrong")
    note = "of L# those that ended by themselves are claims, and the size is that of its last hypothesis"
    wrong = [
        (w["status"] == 0 and w["wrong"]["rounded"] > 0, k["status"] == 0 and k["wrong"]["network"] > 0)
        for w, k, _ in both
    ]
    return {
        "boxes table": _table(f"{len(both)} networks of seed 60", columns, lines, note),
        "boxes networks": str(len(both)),
        "boxes sharp words": f"{median([one['wrong'] for one in sharp]):,.0f}" if sharp else "none",
        "boxes sharp ended": _of(len(ended), len(sharp)),
        "boxes sharp states": f"{median(states):.0f}" if states else "none",
        "boxes kv seconds": f"{median([one['seconds'] for one in kv]):.0f}",
        "boxes white seconds": f"{median([one['extraction seconds'] for one in white]):.0f}",
        "boxes kv equal": _of(sum(one.get("equal to the task", False) for one in kv), len(kv)),
        "boxes white equal": _of(sum(one.get("equal to the task", False) for one in white), len(white)),
        "boxes kv left": _of(sum(one["status"] == 1 for one in kv), len(kv)),
        "boxes kv claims": _of(sum(one["status"] == 0 for one in kv), len(kv)),
        "boxes white claims": _of(sum(one["status"] == 0 for one in white), len(white)),
        "boxes sharp seconds": f"{median([one['seconds'] for one in sharp]):.0f}" if sharp else "none",
        "boxes minutes": f"{sum(one['seconds'] for one in (*kv, *sharp)) / 60:.0f}",
        "boxes budget": f"{BUDGET:.0f}",
        "boxes least": f"{float(binomtest(len(both), len(both)).pvalue):.4f}",
        "boxes only black": str(sum(k and not w for w, k in wrong)),
        "boxes only white": str(sum(w and not k for w, k in wrong)),
    }


# ---- The hypotheses ----


def _hypotheses(found: pd.DataFrame, swapped: pd.DataFrame, becoming: dict[str, str]) -> dict[str, str]:
    """Return the table of hypotheses, with what came of each."""
    tests, models = {**design_tests(found), "H5": mechanism_test(swapped)}, design_tests(found, mixed)
    allowed = dict(zip(tests, holm([one.p for one in tests.values()]), strict=True))
    ranks = dict(zip(tests, holm([one.p_of_ranks for one in tests.values()]), strict=True))
    tasks, interval = over_tasks(tests["H3"]), share_of(swapped[swapped.tested], "raw")
    says = {name: _says(one, allowed[name]) for name, one in tests.items()}
    verdicts = {name: one.verdict(allowed[name]) for name, one in tests.items()}
    own = swapped[swapped.tested]
    if 2 * own.raw.sum() <= len(own):
        verdicts["H5"] = "refuted"
    hits, of, low, high = interval_in_rows(right_on_longest(found), "stands")
    verdicts["H4"] = "shown" if high < 0.5 else "refuted" if low > 0.5 else "undecided"
    says["H4"] = f"{_of(hits, of)}, interval {100 * low:.0f} to {100 * high:.0f} %"
    whole, undisturbed = _pairs("ablation", "not disturbed")
    more = sum(whole) - sum(undisturbed)
    one = bottom_test(bottom())
    verdicts["H9"] = (
        "shown" if one.low > 0 and one.loss >= _BOTTOM else "refuted" if one.high < _BOTTOM else "undecided"
    )
    says["H9"] = f"{one} points over {one.rows} rows, p = {one.p:.5f}"
    verdicts["H6"] = "shown" if more >= 3 else "refuted" if more <= 1 and len(whole) == _REPAIRED else "undecided"
    says["H6"] = _certified_by("ablation", "not disturbed")
    verdicts |= (parts := _parts())[0]
    says |= parts[1]
    verdicts["H12"], says["H12"] = becoming["becoming verdict"], becoming["becoming says"]
    figures = _boxes()
    black, white = int(figures["boxes only black"]), int(figures["boxes only white"])
    p = float(binomtest(black, black + white).pvalue) if black + white else 1.0
    verdicts["H7"] = "shown" if p < SURE and black > white else "refuted" if white > black else "undecided"
    says["H7"] = f"wrong by KV alone {black}, by the stack alone {white}; {p_in_words(p)}"
    names = {
        "H1": "low stacks break rounded networks: cap 2 against 20",
        "H2": "hovering breaks networks as they are: floor 12 against 0, cap 2",
        "H3": "turns break networks as they are: .9 against .1",
        "H4": "fewer than half stand words of 768 symbols, as they are",
        "H5": "the raw automaton is the mechanism, more often than the minimised",
        "H6": "disturbance makes the difference in repair",
        "H7": "answers alone claim more than is so",
        "H8": "deep words break Stack-RNNs as they are: cap 20 against 2, floor 0",
        "H9": "coming back to the empty stack breaks rounded networks: floor 0 against 1, cap 2",
        "H10": "disturbance makes the difference in repair, with time to keep rounds",
        "H11": "counterexamples make the difference in repair",
        "H12": "in training the task is done before an automaton is the mechanism",
    }
    kept = sum(_kept(row) for row in _whole("ablation") if row["arm"] == "all parts")
    sixth = holm([*(effect.p for effect in tests.values()), one.p])[-1]
    beside = {
        "H3": f"hangs on the test: by Wilcoxon, as first written, {p_in_words(ranks['H3'])}",
        "H5": f"{interval.partition('(')[2].removesuffix(')')}: more than half is not excluded",
        "H6": f"not tested: of {len(whole)} networks {kept} kept a round",
        "H7": f"could not be shown: of {figures['boxes networks']} networks the least p is {figures['boxes least']}",
        "H11": "by its rule, as fewer are; that they hurt is not shown",
        "H9": f"the networks that suggested it; by sign flips {p_in_words(one.p_of_flips)}",
    }
    lines = [
        [name, names[name], says[name], verdicts[name], beside.get(name, "")]
        for name in sorted(names, key=lambda name: int(name[1:]))
    ]
    by_verdict = {
        verdict: ", ".join(name for name in names if verdicts[name] == verdict and name in _FIRST) or "none"
        for verdict in ("shown", "refuted", "undecided")
    }
    return {
        "hypotheses table": _table("Hypotheses", ("", "hypothesis", "found", "verdict", "beside it"), lines),
        **{f"hypotheses {verdict}": own for verdict, own in by_verdict.items()},
        **{f"effect {name}": str(one) for name, one in tests.items()},
        "effects mixed": ", ".join(f"{name} {one}" for name, one in models.items()),
        **{f"says {name}": own for name, own in says.items()},
        "p H9": f"p = {one.p:.5f}",
        "p H9 flips": p_in_words(one.p_of_flips),
        "p H9 sixth": p_in_words(sixth),
        "tasks H3": f"{tasks} points, {p_in_words(tasks.p)}",
        **{f"verdict {name}": verdict for name, verdict in verdicts.items()},
    }


def _pairs(ablation: str, other: str) -> tuple[list[bool], list[bool]]:
    """Return whether each network of an ablation is certified after a repair by all parts, and by another arm."""
    own = {arm: [one for one in _whole(ablation) if one["arm"] == arm] for arm in ("all parts", other)}
    return tuple([one["after"]["certified"] for one in found] for found in own.values())  # type: ignore[return-value]


def _certified_by(ablation: str, other: str) -> str:
    one, two = _pairs(ablation, other)
    return f"of {len(one)} networks certified {sum(one)} and {sum(two)}"


def _parts() -> tuple[dict[str, str], dict[str, str]]:
    """Return the verdicts of H10 and H11 and what was found: exact McNemar tests over networks."""
    others = {"H10": "not disturbed", "H11": "no counterexamples"}
    only = {
        name: [sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)]
        for name, other in others.items()
        if (pairs := list(zip(*_pairs("parts", other), strict=True)))
    }
    p = [float(binomtest(more, more + fewer).pvalue) if more + fewer else 1.0 for more, fewer in only.values()]
    verdicts, says = {}, {}
    for (name, (more, fewer)), allowed in zip(only.items(), holm(p), strict=True):
        verdicts[name] = "shown" if allowed < SURE and more > fewer else "refuted" if fewer > more else "undecided"
        says[name] = f"{_certified_by('parts', others[name])}; {p_in_words(allowed)}"
    return verdicts, says


def _says(one: Effect, corrected: float) -> str:
    return f"{one} points over {one.rows} rows, {p_in_words(corrected)}"
