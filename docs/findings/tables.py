"""Counts over the networks of the papers' tables, by table and protocol: result 1 of the findings' text."""

from __future__ import annotations

import pandas as pd
from docs.findings.effects import over_rows
from docs.findings.load import UNTOLD
from docs.findings.stats import share

from stacklens.papers.tables import TextTable, markdown_table

_WHOLE = 10  # networks of a row that are enough, as in the papers
_TABLES = tuple(f"suzgun2019-table{number}" for number in range(2, 7))  # the rest of its rows are meant to fail
_PARTS = ("read", "proved", "good", "certified")


def protocol_figures(networks: pd.DataFrame) -> dict[str, str]:
    """Return what became of networks with a memory: by table and protocol, and the shares that the text names."""
    networks = networks[networks.family.notna()]
    both = networks[networks.groupby("row").protocol.transform("nunique") > 1]
    both = both[both.table != "hao2018-table1"]  # whose batches are the paper's by either
    found = {"protocols table": markdown_table(_protocols_table(networks))}
    for protocol, own in networks.groupby("protocol"):
        learned = own[own.learned]
        sizes = own.groupby("row").size()
        found |= {f"{protocol} {part}": share(learned, part) for part in _PARTS}
        found |= {
            f"{protocol} learned": share(own, "learned"),
            f"{protocol} networks": str(len(own)),
            f"{protocol} rows": str(len(sizes)),
            f"{protocol} whole rows": str((sizes >= _WHOLE).sum()),
            f"both {protocol}": share(both[both.protocol == protocol], "learned"),
        }
    own = networks[networks.protocol == "paper"]
    printed, rest = own[own.table.isin(_TABLES)], own[~own.table.isin(_TABLES)]
    learned = 100 * both.groupby(["row", "protocol"]).learned.mean().unstack()
    apart = over_rows(learned.fast - learned.paper) if {"fast", "paper"} <= set(learned) else None
    seeds = networks.groupby(["protocol", "row"]).data_seed.nunique().groupby("protocol").max()
    return found | {
        "both rows": str(both.row.nunique()),
        "both apart": str(apart),
        **{f"{protocol} data seeds": str(most) for protocol, most in seeds.items()},
        "tables learned": share(printed, "learned"),
        "tables proved": share(printed[printed.learned], "proved"),
        "rest learned": f"{rest.learned.sum()} of {len(rest)}",
    }


def _protocols_table(networks: pd.DataFrame) -> TextTable:
    lines = []
    for (table, protocol), own in networks.groupby(["table", "protocol"], sort=False):
        learned, sizes = own[own.learned], own.groupby("row").size()
        counts = [str(learned[part].sum()) if len(learned) else UNTOLD for part in _PARTS]
        rows = f"{len(sizes)} ({(sizes >= _WHOLE).sum()})"
        lines.append((str(table), str(protocol), rows, f"{len(learned)} of {len(own)}", *counts))
    columns = (
        "table",
        "protocol",
        f"rows ({_WHOLE} networks or more)",
        "learned",
        "read",
        "proved",
        "status 0",
        "certified",
    )
    note = (
        "learned, read: networks; proved: the automaton is equal to the task; status 0: no word is known against it; "
        "certified: the rounded network follows it on words of every length that its stack has cells for"
    )
    return TextTable("Networks with a memory, by table and protocol", columns, tuple(lines), note)
