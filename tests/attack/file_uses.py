"""What is done with a file that may be spoiled: it is opened, and if that works, put to a small use."""

import random
import traceback
from pathlib import Path

import torch
from tests.attack.file_kinds import KINDS

import stacklens as sl
from stacklens.automata.compiled import compile_tables
from stacklens.automata.formats import read_automaton
from stacklens.automata.formats.json import from_json, to_json
from stacklens.automata.pda import PushdownAutomaton
from stacklens.core.errors import StacklensError
from stacklens.extract.by_name import specification_of
from stacklens.extract.evaluation.judge import parse_words
from stacklens.languages.catalogue import language_from_file
from stacklens.languages.words import make_word
from stacklens.models.checkpoint import load_network
from stacklens.models.rounding import Rounded
from stacklens.probe.trace import trace

_LONGEST = 2_100  # characters of a message about a file


def use(kind: str, path: Path) -> tuple[str, str]:
    """Return "files that load" or "files refused", or else what is wrong with how the file ended, and the details."""
    torch.set_num_threads(1)
    try:
        _USES[KINDS[kind].opened](path)
    except StacklensError as error:
        message = str(error)
        if not message.isprintable() or len(message) > _LONGEST + len(str(path)) or not message:
            return "messages that are no line", repr(message[:3_000])
        return "files refused", message
    except MemoryError:
        return "files that fill the memory", traceback.format_exc()[-2_000:]
    except Exception:
        return "tracebacks", traceback.format_exc()[-3_000:]
    return "files that load", ""


def _network(path: Path) -> None:
    checkpoint = load_network(path)
    model, rng = checkpoint.model, random.Random(1)
    repr(checkpoint.task)
    repr(checkpoint.provenance)
    words = [make_word([rng.choice(model.alphabet) for _ in range(n)], model.alphabet) for n in (0, 1, 3)]
    for network in (model, Rounded(model)):
        trace(network, words[1:])
    specification_of(checkpoint)


def _automaton(path: Path) -> None:
    pda = read_automaton(path)
    assert from_json(to_json(pda)) == pda
    _run(pda)
    compile_tables(pda)


def _run(pda: PushdownAutomaton) -> None:
    rng = random.Random(2)
    for length in (0, 1, 4):
        word = [rng.choice(pda.input_alphabet) for _ in range(length)] if pda.input_alphabet else []
        pda.accepts(word)
        list(pda.run(word))


def _language(path: Path) -> None:
    language = language_from_file(path)
    rng = random.Random(3)
    for length in (0, 1, 4):
        word = make_word([rng.choice(language.alphabet) for _ in range(length)], language.alphabet)
        assert (word in language) in (True, False)
        language.is_live(word)
    if len(language.alphabet) <= 8:
        list(language.words(2))


def _words(path: Path) -> None:
    parse_words(path.read_text(encoding="utf-8", errors="replace"), "()[]")


def _result(path: Path) -> None:
    result = sl.load(path)
    if not isinstance(result, sl.Extraction):  # a file may say that it is an automaton
        return
    shown = f"{result}{result!r}{result.why()}"
    assert all(c.isprintable() or c == "\n" for c in shown), shown
    assert result == result
    result.save(path)
    assert sl.load(path) == result


def _trace(path: Path) -> None:
    seen = sl.load(path)
    str(seen)
    assert seen == seen
    seen.save(path)
    assert sl.load(path) == seen


_USES = {
    "network": _network,
    "automaton": _automaton,
    "language": _language,
    "words": _words,
    "result": _result,
    "trace": _trace,
}
