"""stacklens: a lens into stack-augmented neural networks. ``import stacklens as sl`` is all that a day's work needs.

>>> import stacklens as sl
>>> sl.load("nnpda-palindrome")
<nnpda over a b c, trained on palindrome>

Nothing heavy is loaded before it is used: a name is looked up in its own module when it is first asked for.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .core.errors import StacklensError

if TYPE_CHECKING:
    from .automata.compare import Different, Equal, Undecided
    from .automata.pda import PushdownAutomaton
    from .extract.agreement import Certified, NotCertified
    from .extract.result import Extraction
    from .face.notebook import languages, tasks, zoo
    from .face.opening import ablate, horizon_curve, intervene, linear_probes, load, saliency, trace
    from .face.results import certify, compare, extract, harden, learn, repair, sweep, train, verify
    from .languages.language import Language
    from .languages.task import Task
    from .models.base import StackModel
    from .models.wrap import wrap
    from .probe.adapter_check import check
    from .probe.trace import Trace

__version__ = "0.1.0"
# fmt: off
__all__ = [
    "Certified", "Different", "Equal", "Extraction", "Language", "NotCertified", "PushdownAutomaton", "StackModel",
    "StacklensError", "Task", "Trace", "Undecided", "ablate", "certify", "check", "compare", "extract", "harden",
    "horizon_curve", "intervene", "languages", "learn", "linear_probes", "load", "repair", "saliency", "sweep", "tasks",
    "trace", "train", "verify", "wrap", "zoo",
]
# fmt: on

_HOMES = {  # of every name its module
    **dict.fromkeys(("Different", "Equal", "Undecided"), "automata.compare"),
    **dict.fromkeys(("Certified", "NotCertified"), "extract.agreement"),
    **dict.fromkeys(("languages", "tasks", "zoo"), "face.notebook"),
    **dict.fromkeys(("load", "trace", "intervene"), "face.opening"),
    **dict.fromkeys(("ablate", "horizon_curve", "linear_probes", "saliency"), "face.opening"),
    **dict.fromkeys(("certify", "compare", "harden", "learn", "repair", "sweep", "train", "verify"), "face.results"),
    "Extraction": "extract.result",
    "Language": "languages.language",
    "PushdownAutomaton": "automata.pda",
    "StackModel": "models.base",
    "Task": "languages.task",
    "Trace": "probe.trace",
    "check": "probe.adapter_check",
    "wrap": "models.wrap",
}
_PACKAGES = ("extract", "languages")  # packages that can be called as the function of the same name

logging.getLogger("stacklens").addHandler(logging.NullHandler())  # quiet, unless the importing program wants to listen


if not TYPE_CHECKING:  # checkers take a module with __getattr__ to have every name, misspelt ones too

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return import_module(f"stacklens.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'stacklens' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"stacklens.{_HOMES[name]}"), name)
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
