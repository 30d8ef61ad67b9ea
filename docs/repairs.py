"""Repair networks and write what came of it, a row each: docs/repairs.json, and the table of docs/repair.md.

    python docs/repairs.py NETWORK… [--seconds 120] [--keep FOLDER]   repair these, beside the rows that are there
    python docs/repairs.py                                            only write the table again
    python docs/repairs.py --picture BEFORE AFTER TASK                draw docs/repair.svg
    python docs/repairs.py --bits 150000                              compare the zoo's networks with rounded ones

Networks are files or names of the zoo. Those of the papers' tables come from, for instance,
`stacklens papers run suzgun2019-table2 --seeds 2 --first-seed 40 --networks runs`. Those of the zoo that are hardened
there since come from the history, `git show 04aed386~1:models/zoo/NAME.pt > zoo-as-trained/NAME.pt`.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
CYCLE, CYCLES = "()[]", 120  # hovers over two brackets in the published network's shortest failure: [( ()[] 27 times )
ROWS, PAGE = HERE / "repairs.json", HERE / "repair.md"
MARKS = "<!-- table of repairs -->", "<!-- end of the table of repairs -->"


# ---- The networks of Suzgun et al. 2019 once more in plain numpy, sharing nothing with stacklens but the weights ----


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + e^-x)."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


def outputs_of(w: dict[str, np.ndarray], kind: str, symbols: list[int], limit: int, rounded: bool) -> list[np.ndarray]:
    """Return the outputs after each of ``symbols``: sections 3.1 to 3.3; cells are (limit, D), the first on top."""
    size, outputs = w["output_weights"].shape[1], []
    h, c, cells = np.zeros(size), np.zeros(size), np.zeros((limit, len(w["pushed_weights"])))
    for symbol in symbols:
        if kind == "marnn-joulin":
            h = sigmoid(w["input_weights"][:, symbol] + w["hidden_weights"] @ h + w["memory_weights"] @ cells[0])
        else:
            seen = h + w["memory_weights"] @ cells[0] + w["memory_bias"]
            drive = w["input_weights"][:, symbol] + w["input_bias"] + w["hidden_weights"] @ seen + w["hidden_bias"]
            if kind == "marnn-stack-lstm":
                enter, keep, new, show = np.split(drive, 4)
                c = sigmoid(keep) * c + sigmoid(enter) * np.tanh(new)
                h = sigmoid(show) * np.tanh(c)
            else:
                h = np.tanh(drive)
        sums = w["action_weights"] @ h + w["action_bias"]
        shares = np.exp(sums - sums.max()) / np.exp(sums - sums.max()).sum()
        shares = np.eye(len(shares))[shares.argmax()] if rounded else shares
        value = sigmoid(w["pushed_weights"] @ h + w["pushed_bias"])[None]
        none = np.zeros_like(value)
        popped = np.concatenate([cells[1:], none])
        if kind == "baby-ntm":  # to the right, the left, not at all, and to both with a cell made 0; then added to
            moved = [np.roll(cells, 1, 0), np.roll(cells, -1, 0), cells, np.concatenate([none, cells[:-1]]), popped]
        else:
            moved = [np.concatenate([value, cells[:-1]]), popped]
        cells = np.tensordot(shares, np.array(moved), 1)
        cells[:1] += value if kind == "baby-ntm" else 0
        outputs.append(sigmoid(w["output_weights"] @ h + w["output_bias"]))
    return outputs


def dyck_words(pairs: int, seed: int = 0) -> list[list[int]]:
    """Return long Dyck words, symbols as numbers, openers first: shallow, deep, hovering and repeated ones."""
    rng, words = np.random.default_rng(seed), list[list[int]]()
    for most, base in ((1, 0), (2, 0), (4, 0), (12, 0), (80, 0), (2, 12), (3, 40)):
        for length in (96, 300, 800, 1_200):
            rest = [int(rng.integers(pairs)) for _ in range(base)]
            word, stack = list(rest), list(rest)
            while len(word) < length:
                opens = len(stack) == base or (len(stack) < base + most and rng.random() < 0.5)
                word.append(int(rng.integers(pairs)) if opens else stack.pop() + pairs)
                stack += [word[-1]] if opens else []
            words.append([*word, *(one + pairs for one in reversed(stack))])
    block = [0, 1, 1 + pairs, pairs] if pairs > 1 else [0, 0, pairs, pairs]
    return [*words, *(block * k for k in (12, 33, 34, 100, 300)), *([0, pairs] * k for k in (4, 20, 60, 200, 600))]


PATTERNS = {"anbn": "ab", "anb2n": "abb", "anbncn": "abc", "anbncndn": "abcd"}  # letters of a block, n times each


def predicted(w: dict[str, np.ndarray], shape: dict[str, Any], symbols: list[int], rounded: bool) -> list[int]:
    """Return the likeliest next symbol after each of ``symbols``: Joulin & Mikolov 2015, eqs. 2 to 6."""
    size, depth, limit = shape["n_stacks"], shape["depth"], shape["stack_limit"]
    h, cells, outputs = np.zeros(shape["hidden"]), np.full((size, limit), -1.0), []
    for symbol in symbols:
        h = sigmoid(
            w["input_weights"][symbol]
            + w["memory_weights"] @ cells[:, :depth].ravel()
            + (w["recurrent_weights"] @ h if "recurrent_weights" in w else 0)
        )
        sums = (w["action_weights"] @ h).reshape(size, -1)
        shares = np.exp(sums - sums.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        shares = np.eye(shares.shape[1])[shares.argmax(1)] if rounded else shares
        pushed = np.concatenate([sigmoid(w["pushed_weights"] @ h)[:, None], cells[:, :-1]], 1)
        popped = np.concatenate([cells[:, 1:], np.full((size, 1), -1.0)], 1)
        choices = [pushed, popped, cells][: shares.shape[1]]
        cells = np.sum([shares[:, [i]] * choice for i, choice in enumerate(choices)], axis=0)
        outputs.append(int((w["output_weights"] @ h).argmax()))
    return outputs


def wrong_on_patterns(model: Any, pattern: str) -> list[int]:
    """Return what `wrong_in_numpy` does, of streams of blocks; from its second letter on what comes next is certain."""
    weights, rng = (
        {name: value.double().numpy() for name, value in model.state_dict().items()},
        np.random.default_rng(0),
    )
    most, shape, wrong = 90 if pattern == "abb" else 190, {**model.config(), "stack_limit": model.stack_limit}, [0, 0]
    streams = [[n] for n in (1, 2, 3, 5, 17, 40, 77, 90, most)] + [rng.integers(1, 20, 30).tolist() for _ in range(20)]
    streams += [[1] * 300, [2] * 200, [1, most, 1, most], [3, 1] * 100, [most, 1, 1, most], [60] * 8]
    for sizes in streams:
        blocks = [letter for n in sizes for letter in pattern for _ in range(n)]
        certain = [i >= n for n in sizes for i in range(n * len(pattern))]
        symbols = [model.alphabet.index(letter) for letter in [*blocks, pattern[0]]]
        for which, rounded in enumerate((False, True)):
            found = zip(certain, predicted(weights, shape, symbols, rounded), symbols[1:], strict=False)
            wrong[which] += any(sure and one != other for sure, one, other in found)
    return [*wrong, len(streams)]


# ---- The same for the networks of Hao et al. 2018, sections 2.2 and 2.3: strengths, and queues of buffered ones ----


def taken_off(items: list[tuple[np.ndarray, float]], strength: float) -> list[tuple[np.ndarray, float]]:
    """Return ``items``, the first in front, each with its strength, without the first ``strength`` of them."""
    place, left = 0, strength
    while place < len(items) and items[place][1] <= left:
        left -= items[place][1]
        place += 1
    rest = items[place:]
    return [(rest[0][0], rest[0][1] - left), *rest[1:]] if rest and left > 0 else rest


def front(items: list[tuple[np.ndarray, float]], size: int) -> np.ndarray:
    """Return the sum of what lies within strength 1 of the front, by strength."""
    seen, left = np.zeros(size), 1.0
    for value, own in items:
        seen, left = seen + min(own, left) * value, left - min(own, left)
        if left <= 0:
            break
    return seen


def written(
    w: dict[str, np.ndarray], shape: dict[str, Any], buffered: bool, word: list[int], rounded: bool
) -> list[int]:
    """Return what a Neural Stack answers to each of ``word``, or reads off its output queue in the end."""
    letters, size, kind = len(shape["alphabet"]), shape["cell_size"], shape["controller"]
    h, c = np.zeros(shape["hidden"]), np.zeros(shape["hidden"])
    stack, fed, queue, answers = *(list[tuple[np.ndarray, float]]() for _ in range(3)), list[int]()
    extra, late = (shape.get("extra_steps", 0), shape.get("dequeue_first", True)) if buffered else (0, False)
    read_on = [shape["alphabet"].index(shape["null"])] if late and shape["null"] and not extra else []
    for symbol in [*word, *read_on, *[-1] * extra * len(word)]:
        fed += [(np.eye(letters)[symbol], 1.0)] if symbol >= 0 else []
        x = np.concatenate([front(fed, letters), front(stack, size)])
        if kind != "linear":
            drive = w["net.weight_ih"] @ x + w["net.bias_ih"] + w["net.weight_hh"] @ h + w["net.bias_hh"]
            if kind == "lstm":
                enter, keep, new, show = np.split(drive, 4)
                c = sigmoid(keep) * c + sigmoid(enter) * np.tanh(new)
            h = sigmoid(show) * np.tanh(c) if kind == "lstm" else np.tanh(drive)
        z = w["net.weight"] @ (x if kind == "linear" else h) + w["net.bias"]
        acts = 4 if buffered else 2
        strengths = sigmoid(z[:acts]).round() if rounded else sigmoid(z[:acts])
        stack = [(sigmoid(z[acts : acts + size]), strengths[1]), *taken_off(stack, strengths[0])]
        fed = taken_off(fed, strengths[2] if buffered else 1.0)
        queue.append((z[acts + size :], strengths[3] if buffered else 1.0))
    queue = taken_off(queue, float(late))
    for _ in word:
        answers.append(int(front(queue, len(z) - acts - size).argmax()) if queue else -1)
        queue = taken_off(queue, 1.0)
    return answers


def wrong_of_hao(model: Any, task: str) -> list[int]:
    """Return what `wrong_in_numpy` does, of reversals and exclusive ors, deep and repeated ones among them."""
    weights, rng = (
        {name: value.double().numpy() for name, value in model.state_dict().items()},
        np.random.default_rng(0),
    )
    sizes = [*range(1, 9), 17, 30, 44, 60, 90, 150, 300]
    words = ["".join(rng.choice(list("01"), n)) for n in sizes for _ in range(2)]
    words += ["0" * 200, "1" * 200, "01" * 100, "0011" * 60, "1" + "0" * 199, "0" * 150 + "1" * 150]
    wrong = [0, 0]
    for half in words:
        parity = np.bitwise_xor.accumulate([int(bit) for bit in half])
        expected = [str(bit) for bit in (parity if task == "xor" else [0, *parity[:-1]])]
        word, counted = half, slice(None)
        if task == "reversal":
            word, expected, counted = half + "#" * len(half), [*half[::-1]], slice(len(half), None)
        symbols, numbers = ([model.alphabet.index(x) for x in word], [model.output_alphabet.index(x) for x in expected])
        for which, rounded in enumerate((False, True)):
            found = written(weights, model.config(), model.name.startswith("buffered"), symbols, rounded)
            wrong[which] += found[counted] != numbers
    return [*wrong, len(words)]


def answered(task: str, alphabet: tuple[str, ...], seed: int = 0) -> list[tuple[list[str], list[set[str]]]]:
    """Return long words of a task of Suzgun et al. 2019, with the outputs after each symbol; none of other tasks."""
    rng, words = np.random.default_rng(seed), list[tuple[list[str], list[set[str]]]]()
    if found := re.fullmatch(r"dyck-(\d)", task):
        closed, openers = str.maketrans("([{<", ")]}>"), [one for one in alphabet if one[0] in "([{<"]
        if len(openers) != int(found[1]):
            return []
        letters = [*openers, *(one.translate(closed) for one in openers)]
        for numbers in dyck_words(len(openers)):
            stack, sets = list[int](), list[set[str]]()
            for number in numbers:
                stack = [*stack, number] if number < len(openers) else stack[:-1]
                sets.append({*openers, *(letters[one + len(openers)] for one in stack[-1:])})
            words.append(([letters[number] for number in numbers], sets))
        return words
    if task not in ("string-reversal", "homomorphic-palindrome", "homomorphic-palindrome-nonempty"):
        return []
    halves = [
        "".join(rng.choice(list("abc"), n)) for n in (1, 2, 3, 5, 8, 17, 30, 40, 60, 80, 90, 100) for _ in range(2)
    ]
    for half in [*halves, "a" * 100, "b" * 99, "c" * 50, "ab" * 45, "abc" * 33, "a" * 49 + "b" * 50, "ccb" * 30]:
        if task == "string-reversal":
            words.append(([*half, *"#" * len(half)], [{one} for one in "#" * len(half) + half[::-1]]))
        else:
            back = half[::-1].translate(str.maketrans("abc", "xyz"))
            words.append(([*half, "#", *back], [set("abc#")] * len(half) + [{one} for one in [*back, "⊣"]]))
    return words


def wrong_in_numpy(model: Any, task: str) -> list[int] | None:
    """Return how many long words go wrong: as it is, rounded, of how many; None where this knows no such words."""
    if model.name == "stack-rnn" and task in PATTERNS:
        return wrong_on_patterns(model, PATTERNS[task])
    if model.name.endswith("neural-stack") and task in ("reversal", "xor", "delayed-xor"):
        return wrong_of_hao(model, task)
    words = answered(task, model.alphabet)
    if not words or model.name not in ("marnn-stack-rnn", "marnn-stack-lstm", "marnn-joulin", "baby-ntm"):
        return None
    weights, wrong = {name: value.double().numpy() for name, value in model.state_dict().items()}, [0, 0]
    for word, sets in words:
        symbols = [model.alphabet.index(symbol) for symbol in word]
        expected = [sorted(map(model.output_alphabet.index, own)) for own in sets]
        for which, rounded in enumerate((False, True)):
            answers = outputs_of(weights, model.name, symbols, model.stack_limit or 2_000, rounded)
            found = [np.flatnonzero(answer > 0.5).tolist() for answer in answers]
            wrong[which] += found != expected
    return [*wrong, len(words)]


# ---- The table ----


def row(name: str, seconds: float, keep: Path | None = None) -> dict[str, Any]:
    """Return what a repair did to a network, as plain data; ``keep`` is a folder for the repaired network."""
    import stacklens as sl
    from stacklens.papers.results import processor, versions

    path = Path(name)
    model = sl.load(name)
    task = model.origin.task["language"]
    done = sl.repair(sl.extract(model, quiet=True), seconds=seconds, quiet=True)
    if keep is not None:
        keep.mkdir(exist_ok=True)
        done.model.save(keep / f"{path.parent.name}-{path.stem}.pt")

    def side(result: sl.Extraction) -> dict[str, Any]:
        found = result.certificate.certificate
        first = {who: one.difference for who, one in result.horizon.items()}
        return {
            "status": result.status,
            "certified": isinstance(found, sl.Certified),
            "itself": bool(getattr(found, "itself", False)),
            "proved": isinstance(result.proof, sl.Equal),
            "differs": {who: None if one is None else len(one.word) for who, one in first.items()},
        }

    return {
        "network": f"{path.parent.name}/{path.stem}".removeprefix("zoo-as-trained/") if path.suffix else name,
        "kind": model.name,
        "task": task,
        "before": side(done.before),
        "after": side(done.after),
        "test": done.accuracy,
        "rounds": len(done.rounds),
        "steps": sum(one.steps for one in done.rounds),
        "seconds": round(done.seconds),
        "numpy": {"before": wrong_in_numpy(model, task), "after": wrong_in_numpy(done.model, task)},
        "reason": done.reason,
        "commit": versions()["commit"],
        "processor": processor(),
    }


def line(one: dict[str, Any]) -> str:
    """Return a row of the table."""

    def verdict(side: dict[str, Any]) -> str:
        if side["itself"]:
            return "as itself"
        if side["certified"] and not side["status"]:
            return "rounded"
        lengths = [length for length in side["differs"].values() if length is not None]
        return f"no, wrong at {min(lengths)}" if lengths else "no automaton" if side["status"] == 3 else "no"

    test = "" if one["test"] is None else " → ".join(f"{share:.1%}" for share in one["test"])
    found = one["numpy"]
    anew = (
        ""
        if found["after"] is None
        else f"{max(found['before'][:2])} → {max(found['after'][:2])} of {found['after'][2]}"
    )
    cells = [
        one["network"],
        one["task"],
        verdict(one["before"]),
        verdict(one["after"]),
        anew,
        test,
        f"{one['steps']:,}",
    ]
    return f"| {' | '.join([*cells, str(one['seconds'])])} |"


def write_table(rows: list[dict[str, Any]]) -> None:
    """Write the table into the page, between its marks."""
    head = "| network | task | certified before | after | wrong in numpy | the task's own test | steps | seconds |\n"
    head += "|---|---|---|---|---|---|---|---|"
    ordered = sorted(rows, key=lambda one: (one["task"] or "", one["kind"], one["network"]))
    counts = [
        sum(1 for one in rows if check(one))
        for check in (
            lambda one: one["before"]["certified"] and not one["before"]["status"],
            lambda one: one["after"]["certified"] and not one["after"]["status"],
            lambda one: one["after"]["itself"],
        )
    ]
    total = (
        f"Of {len(rows)} networks {counts[0]} were certified before, {counts[1]} are after, {counts[2]} as themselves."
    )
    table = "\n".join([MARKS[0], total, "", head, *map(line, ordered), MARKS[1]])
    page = PAGE.read_text()
    PAGE.write_text(re.sub(f"{MARKS[0]}.*{MARKS[1]}", lambda _: table, page, flags=re.DOTALL))


def picture(before: str, after: str, task: str) -> None:
    """Draw how sure both networks are after ever more cycles of the word that breaks ``before``, as an SVG."""
    import plotly.graph_objects as go

    import stacklens as sl
    from stacklens.languages.catalogue import get_task

    # after n cycles the inner bracket is closed: is the outer one still known?
    words = [tuple(f"[({CYCLE * n})") for n in range(CYCLES)]
    asked, figure = get_task(task).examples(words), go.Figure()
    for name, network in (("published", before), ("repaired and hardened", after)):
        run, last = sl.trace(network, words), (np.arange(CYCLES), asked.lengths - 1)
        margins = np.where(asked.targets[last], run.output[last] - 0.5, 0.5 - run.output[last]).min(-1)
        figure.add_scatter(x=np.arange(CYCLES), y=margins, name=name, mode="lines")
    figure.add_hline(y=0, line={"dash": "dot"}, annotation_text="wrong below")
    figure.update_layout(
        xaxis_title=f"cycles of {CYCLE} between [( and )",
        yaxis_title="smallest distance of an output from 1/2",
        width=760,
        height=340,
        margin={"t": 20},
    )
    figure.write_image(HERE / "repair.svg")


def compare_bits(most: int) -> None:
    """Print on how many words, ``most`` each at most, zoo networks certified as themselves differ from rounded ones.

    Short words of the task, all that fit, and drawn ones of 20 to 200 symbols; an output differs that differs in a bit.
    """
    from stacklens.extract.by_name import specification_of
    from stacklens.models.checkpoint import ZOO, load_network
    from stacklens.models.rounding import differing_bits

    asked = wrong = 0
    for path in sorted(ZOO.glob("*.json")):
        if not json.loads(path.read_text())["certificate"].get("itself"):
            continue
        checkpoint = load_network(path.with_suffix(".pt"))
        model, specification = checkpoint.model, specification_of(checkpoint)
        words = [*specification.short_words(most), *specification.long_words(most // 100, (20, 200), 7)]
        words = [word for word in dict.fromkeys(words) if word]
        different = differing_bits(model, words)
        asked, wrong = asked + len(words), wrong + different
        print(f"{path.stem}: {different} of {len(words):,} words", flush=True)
    print(f"together: {wrong} of {asked:,} words")


def rows_so_far() -> list[dict[str, Any]]:
    """Return the rows that were written before."""
    return json.loads(ROWS.read_text()) if ROWS.exists() else []


def main() -> None:
    """Repair the networks that are named, and write file and table after each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--picture", nargs=3, metavar=("BEFORE", "AFTER", "TASK"))
    parser.add_argument("--bits", type=int, metavar="WORDS")
    given = parser.parse_args()
    if given.bits:
        compare_bits(given.bits)
        return
    if given.picture:
        picture(*given.picture)
    time.monotonic = time.process_time  # stacklens, imported below, counts its budgets in it: a busy machine costs none
    for name in given.networks:
        try:
            made = row(name, given.seconds, given.keep)
        except Exception as error:
            print(f"{name}: {error}")
            continue
        print(line(made), flush=True)
        rows = {one["network"]: one for one in rows_so_far()}  # read again: another run may have added some
        if before := rows.get(made["network"]):  # what was tried before is told
            tried = {what: before.get(what) for what in ("commit", "seconds")} | {"itself": before["after"]["itself"]}
            made["earlier"] = [*before.get("earlier", []), tried]
        rows[made["network"]] = made
        ROWS.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
    if PAGE.exists():
        write_table(rows_so_far())


if __name__ == "__main__":
    main()
