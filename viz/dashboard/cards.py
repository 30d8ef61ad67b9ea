"""What the page says of networks: a card of each, and the list of all by the paper that their kind is from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stacklens.errors import StacklensError
from stacklens.extract.headline import headline
from stacklens.extract.wording import as_sentence
from stacklens.models.origin import lines_of
from stacklens.viz.dashboard.extractions import known
from stacklens.viz.dashboard.networks import has_network, load, network_names, network_title, own_names

__all__ = ["PAPERS", "network_card", "network_list"]

PAPERS = {  # of each kind of network the paper that it is from
    "nnpda": "Sun et al. 1993: neural network pushdown automata",
    "stack-rnn": "Joulin & Mikolov 2015: Stack RNN",
    "list-rnn": "Joulin & Mikolov 2015: Stack RNN",
    "neural-stack": "Grefenstette et al. 2015, Hao et al. 2018: neural stacks",
    "buffered-neural-stack": "Grefenstette et al. 2015, Hao et al. 2018: neural stacks",
    "marnn-stack-rnn": "Suzgun et al. 2019: memory-augmented RNN",
    "marnn-stack-lstm": "Suzgun et al. 2019: memory-augmented RNN",
    "baby-ntm": "Suzgun et al. 2019: memory-augmented RNN",
}
_OTHERS = "others"


def network_card(name: str) -> dict[str, str]:
    """Return what there is to say of the network called ``name``, by what each line is about.

    Raises:
        StacklensError: there is no such network.
    """
    if not has_network(name):
        return _result_card(name)
    model = load(name).model
    paper = {"paper": PAPERS[model.name]} if model.name in PAPERS else {}
    return {"name": network_title(name), **paper, **lines_of(model)}


def _result_card(name: str) -> dict[str, str]:
    """Return what a saved result says of its network, which is not here."""
    found = known(name)
    assert found is not None  # a saved result is known as long as it is there
    network = found.report["network"]
    said = {"network": network["path"] or network["name"], "kind": network["kind"], "task": network["task_kind"]}
    return {"name": network_title(name), **said, "symbols": " ".join(network["alphabet"])}


def network_list(opened: Iterable[str]) -> list[dict[str, Any]]:
    """Return groups of networks, files that were ``opened`` first: of each network its name, its title and one line."""
    groups: dict[str, list[dict[str, str]]] = {}
    files = [name for name in dict.fromkeys((*own_names(), *opened)) if _is_there(name) and name not in network_names()]
    for name in (*files, *network_names()):
        group = "your own" if name in files else PAPERS.get(load(name).model.name, _OTHERS)
        groups.setdefault(group, []).append({"name": name, "title": network_title(name), "line": _line(name)})
    order = ["your own", *dict.fromkeys(PAPERS.values()), _OTHERS]
    return [{"group": group, "networks": groups[group]} for group in order if group in groups]


def _is_there(name: str) -> bool:
    try:
        has_network(name)
    except StacklensError:
        return False
    return True


def _line(name: str) -> str:
    """Return a network in one line: what it does, how large it is, and what was read out of it."""
    if not has_network(name):
        found = known(name)
        assert found is not None
        return f"only an automaton, its network is not here. {as_sentence(headline(found.report, brief=True))}"
    checkpoint = load(name)
    model, task = checkpoint.model, checkpoint.task.get("language")
    what = f"{model.task_kind}{'' if task is None else f' on {task}'}, {model.n_units} units"
    found = known(name)
    says = "Nothing has been read out of it yet." if found is None else as_sentence(headline(found.report, brief=True))
    return f"{what}. {says}"
