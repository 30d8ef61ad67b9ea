"""The public face: what a day's work with stacklens calls, with names wherever a network, language or task is wanted.

Everything is imported when it is called, so that ``import stacklens`` stays light.
"""

from .opening import load, trace
from .probing import ablate, horizon_curve, intervene, linear_probes, saliency
from .results import certify, compare, extract, harden, learn, repair, sweep, train, verify

__all__ = [
    "ablate",
    "certify",
    "compare",
    "extract",
    "harden",
    "horizon_curve",
    "intervene",
    "learn",
    "linear_probes",
    "load",
    "repair",
    "saliency",
    "sweep",
    "trace",
    "train",
    "verify",
]
