"""The figures of the findings' text: each by a name that stands in the text, all computed from the results files."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stacklens.errors import StacklensError
from stacklens.papers.claims import Experiment
from stacklens.papers.comparisons import comparisons, comparisons_table
from stacklens.papers.drift_table import drift_table
from stacklens.papers.families import family_of
from stacklens.papers.foreseen_text import foreseen_figures
from stacklens.papers.grid import Grid
from stacklens.papers.grid_results import GridResults, Network, read_grid
from stacklens.papers.grid_tables import summed_minutes
from stacklens.papers.intervals import counted, sign_test
from stacklens.papers.limits_text import interchange_figures, limit_figures
from stacklens.papers.results import read_results, result_path
from stacklens.papers.sun1993_palindromes import palindrome_statements
from stacklens.papers.suzgun2019_search import search_statements
from stacklens.papers.suzgun2019_traces import trace_statements

__all__ = ["figures_of", "filled"]

Experiments = Mapping[str, Callable[[], Experiment | Grid]]
_Measured = Sequence[tuple[Grid, GridResults]]
_PLACEHOLDER = re.compile(r"\{\{ *([a-z0-9 ,&:+-]+?) *\}\}", re.IGNORECASE)
_BLOCKS = "suzgun2019-repeated-blocks"
# as the text calls them: the end of a family's name
_FAMILIES = {
    "linear": "Hao et al. 2018: Neural Stack, linear",
    "lstm stack": "Hao et al. 2018: Neural Stack, LSTM",
    "many stacks": "Joulin & Mikolov 2015: Stack RNN 40+10",
    "stack-rnn": "Suzgun et al. 2019: Stack-RNN",
    "j&m": "Suzgun et al. 2019: Stack-RNN by J&M",
    "stack-lstm": "Suzgun et al. 2019: Stack-LSTM",
    "ring": "Suzgun et al. 2019: Baby-NTM",
}


def filled(template: str, figures: Mapping[str, str]) -> str:
    """Return ``template`` with every ``{{ name }}`` replaced by its figure.

    Raises:
        StacklensError: there is no figure of a name.

    >>> filled("of {{ all }} one", {"all": "12"})
    'of 12 one'
    """

    def figure(match: re.Match[str]) -> str:
        if match[1] not in figures:
            raise StacklensError(f"the text asks for {match[1]!r}, of which nothing is measured")
        return figures[match[1]]

    return _PLACEHOLDER.sub(figure, template)


def figures_of(experiments: Experiments, folder: Path, interchanges: Path | None = None) -> dict[str, str]:
    """Return all figures by name, from the results in ``folder`` and the file of ``interchanges``, if there is one.

    Raises:
        FileFormatError: a file holds something else.
        StacklensError: statsmodels is not installed, which fits what can be known beforehand.
    """
    from stacklens.papers.findings import markdown_table

    built = [build() for build in experiments.values()]
    grids = [one for one in built if isinstance(one, Grid)]
    measured = [(grid, found) for grid in grids if (found := read_grid(grid.name, folder)) is not None]
    return {
        **_extent(measured),
        **_families(measured),
        **_long_words(measured),
        **_budgets(measured),
        **_protocols(measured),
        **_differences(measured),
        **_blocks(folder),
        **foreseen_figures(measured),
        **limit_figures(measured),
        **interchange_figures(interchanges),
        "drift by length": markdown_table(drift_table(measured)),
        **trace_statements(folder),
        **search_statements(folder),
        **palindrome_statements(folder),
    }


def _extent(measured: _Measured) -> dict[str, str]:
    runs = [run for _, results in measured for run in results.rows]
    memory = [(grid, row.name) for grid, _ in measured for row in grid.rows if row.stacks]
    with_memory = {(grid.name, name) for grid, name in memory}
    networks = [
        network
        for grid, results in measured
        for run in results.rows
        if (grid.name, run.name) in with_memory
        for network in run.networks
    ]
    seeds = sorted({run.data_seed for run in runs})
    unnamed = sum(not run.processor for run in runs)
    return {
        "networks": str(sum(len(run.networks) for run in runs)),
        "networks with a memory": str(len(networks)),
        "converged": counted(sum(one.converged for one in networks), len(networks)),
        "tables": str(len(measured)),
        "runs": str(len(runs)),
        "hours": f"{summed_minutes(runs) / 60:.1f}",
        "data seeds": ", ".join(map(str, seeds)),
        "runs on other data seeds": str(sum(run.data_seed != 0 for run in runs)),
        "networks on other data seeds": str(sum(len(run.networks) for run in runs if run.data_seed)),
        "runs without processor": str(unnamed),
        "processors": ", ".join(sorted({run.processor for run in runs if run.processor})) or "none",
    }


def _by_family(measured: _Measured) -> dict[str, list[Network]]:
    families: dict[str, list[Network]] = {}
    for grid, results in measured:
        for row in grid.rows:
            if (family := family_of(grid, row)) is not None:
                networks = [one for run in results.runs(row.name) for one in run.networks if one.converged]
                families.setdefault(family, []).extend(networks)
    return families


def _read(networks: Iterable[Network]) -> list[dict[str, Any]]:
    return [one.extraction for one in networks if one.extraction is not None and one.extraction["status"] != 3]


def _verdict(extraction: dict[str, Any], kind: str) -> Any:
    return (extraction.get(kind) or {}).get("verdict")


def _leaves(extraction: dict[str, Any]) -> int | None:
    first = ((extraction.get("horizon") or {}).get("rounded network") or {}).get("shortest_difference")
    return None if first is None else int(first["length"])


def _families(measured: _Measured) -> dict[str, str]:
    families = _by_family(measured)
    families["all"] = [one for networks in families.values() for one in networks]
    found: dict[str, str] = {}
    for short, name in {**_FAMILIES, "all": "all"}.items():
        networks = families.get(name, [])
        read = _read(networks)
        left = [length for one in read if (length := _leaves(one)) is not None]
        counts = {
            "read": len(read),
            "proved": sum(_verdict(one, "proof") == "equal" for one in read),
            "good": sum(one["status"] == 0 for one in read),
            "certified": _certified(networks),
        }
        found |= {f"{short} {what}": counted(number, len(networks)) for what, number in counts.items()}
        found[f"{short} leaves"] = counted(len(left), sum(bool(one.get("horizon")) for one in read))
        found[f"{short} learned"] = str(len(networks))
        found[f"{short} leaves at"] = f"{statistics.median(left):g}" if left else "–"
    certified = [(name, _certified(own)) for name, own in families.items() if name != "all"]
    found["certified families"] = ", ".join(f"{name} ({number})" for name, number in certified if number) or "none"
    read = _read(families["all"])
    contradicted = [one for one in read if one["status"] == 1]
    right = sum(_verdict(one, "proof") == "equal" for one in contradicted)
    found["contradicted and proved"] = counted(right, len(contradicted))
    return found


def _certified(networks: Iterable[Network]) -> int:
    return sum(_verdict(one, "certificate") == "certified" for one in _read(networks))


def _long_words(measured: _Measured) -> dict[str, str]:
    """Return what networks of the tables do on pumped words and on their controls, each network a pair."""
    pairs = [
        long
        for networks in _by_family(measured).values()
        for one in networks
        if (long := (one.measures or {}).get("long words")) is not None
    ]
    found = {"long measured": str(len(pairs))}
    for net, short in (("network", "long"), ("rounded network", "long rounded")):
        for kind in ("pumped", "control"):
            wrong = [one[net][kind]["horizon"] for one in pairs if one[net][kind]["horizon"] is not None]
            found[f"{short} {kind} wrong"] = counted(len(wrong), len(pairs))
            found[f"{short} {kind} first"] = f"{statistics.median(wrong):g}" if wrong else "–"
            found[f"{short} {kind} mean"] = _last(pairs, net, kind)
        sums = [[sum(one[net][kind]["accuracy"]) for kind in ("pumped", "control")] for one in pairs]
        worse, better = sum(a < b for a, b in sums), sum(a > b for a, b in sums)
        found[f"{short} worse"], found[f"{short} better"] = str(worse), str(better)
        found[f"{short} p"] = f"{sign_test(worse, better):.2g}"
        found[f"{short} verdict"] = _which_is_worse(worse, better)
    return found


def _which_is_worse(worse: int, better: int) -> str:
    """Return what a sign test says of so many pairs that are worse on repeated words, and so many on random ones."""
    if sign_test(worse, better) >= 0.05:
        return "that repetition is harder than length and depth alone is not shown"
    return "repeated words are harder" if worse > better else "random words are harder"


def _last(pairs: Sequence[dict[str, Any]], net: str, kind: str) -> str:
    """Return the mean accuracy on the longest words in percent."""
    return f"{100 * statistics.fmean(one[net][kind]['accuracy'][-1] for one in pairs):.0f}" if pairs else "–"


def _budgets(measured: _Measured) -> dict[str, str]:
    tried = [one for networks in _by_family(measured).values() for one in networks if one.extraction is not None]
    extractions = [one.extraction for one in tried if one.extraction is not None]
    read = [one for one in extractions if one["status"] != 3]
    out = [one for one in extractions if (one.get("budget") or {}).get("ran_out")]
    seconds = sorted(float(one["seconds"]) for one in read)
    many = [one for one in read if len((one.get("stacks") or {}).get("kept", [])) > 1]
    stacks = sorted({len((one.get("stacks") or {}).get("kept", [])) for one in many})
    return {
        "tried": str(len(extractions)),
        "out of time": counted(len(out), len(extractions)),
        "out of time and read": str(sum(one["status"] != 3 for one in out)),
        "median seconds": f"{statistics.median(seconds):.0f}" if seconds else "–",
        "ninety percent seconds": f"{seconds[int(0.9 * (len(seconds) - 1))]:.0f}" if seconds else "–",
        "several stacks": str(len(many)),
        "several stacks proved": counted(sum(_verdict(one, "proof") == "equal" for one in many), len(many)),
        "stacks kept": ", ".join(map(str, stacks)) or "–",
    }


def _protocols(measured: _Measured) -> dict[str, str]:
    """Return how many networks learned their task: of each row, and of all rows that were run by both protocols."""
    found = {}
    for grid, results in measured:
        both = [row for row in grid.rows if row.stacks and len({run.protocol for run in results.runs(row.name)}) > 1]
        for protocol in ("fast", "paper"):
            runs = [run for row in both for run in results.runs(row.name) if run.protocol == protocol]
            networks = [one for run in runs for one in run.networks]
            found[f"{grid.name} {protocol}"] = counted(sum(one.converged for one in networks), len(networks))
        for row in grid.rows:
            for protocol in ("fast", "paper"):
                own = [one for run in results.runs(row.name) if run.protocol == protocol for one in run.networks]
                name = re.sub(r"[^a-z0-9+&-]+", " ", f"{grid.name} {row.name} {protocol}".lower())
                found[name] = f"{sum(one.converged for one in own)} of {len(own)}"
        for cell in ("1", "5"):
            rows = [row.name for row in grid.rows if row.cells.get("numbers a cell") == cell]
            own = [one for name in rows for run in results.runs(name) for one in run.networks]
            found[f"{grid.name} learned {cell}"] = counted(sum(one.converged for one in own), len(own))
    return found


def _differences(measured: _Measured) -> dict[str, str]:
    from stacklens.papers.findings import markdown_table

    every = comparisons(measured)
    differing = [one for one in every if one.differs]
    return {
        "compared rows": str(len(every)),
        "differing rows": str(len(differing)),
        "expected by chance": f"{0.05 * len(every):.0f}",
        "rows below": str(sum(one.ours < one.theirs for one in differing)),
        "differences": markdown_table(comparisons_table(every)),
    }


def _blocks(folder: Path) -> dict[str, str]:
    """Return what the zoo's networks do on repeated blocks, by the name of the file."""
    if not result_path(_BLOCKS, folder).is_file():
        return {}
    found = {}
    for claim in read_results(_BLOCKS, folder).claims:
        long, name = claim.figures["long words"], claim.figures["network"]
        for net, short in (("network", "soft"), ("rounded network", "rounded")):
            for kind in ("pumped", "control"):
                own = long[net][kind]
                found[f"{name} {short} {kind}"] = f"{100 * own['accuracy'][-1]:.0f} %"
                found[f"{name} {short} {kind} first"] = "never" if own["horizon"] is None else str(own["horizon"])
        found["longest"] = str(long["lengths"][-1])
    return found
