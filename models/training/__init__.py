"""How networks are trained: one loop, the kinds of training that go through it, and recipes as data."""

_STREAM = ("hidden", "stacks", "depth", "no_op", "recurrent", "epochs", "device", "noise_robust")
_MARNN = ("hidden", "cell_size", "gating", "epochs", "device", "noise_robust")
# model: what may be chosen besides language and seeds
OPTIONS: dict[str, tuple[str, ...]] = {
    "nnpda": ("order", "neurons", "hints", "device"),
    "stack-rnn": _STREAM,
    "list-rnn": _STREAM,
    "marnn-stack-rnn": _MARNN,
    "marnn-stack-lstm": _MARNN,
    "marnn-joulin": _MARNN,
    "baby-ntm": _MARNN,
    "neural-stack": ("controller", "buffered", "hidden", "cell_size", "epochs", "device", "noise_robust"),
    "scrn": ("hidden", "context", "epochs", "device"),
    "rnn": ("hidden", "layers", "epochs", "device"),
    "lstm": ("hidden", "layers", "epochs", "device"),
    "linear": ("epochs", "device"),
}
SYNONYMS = {"firm": "noise_robust"}  # what files that were made before quote
