"""The public face: what a day's work with stacklens calls, with names wherever a network, language or task is wanted.

Everything is imported when it is called, so that ``import stacklens`` stays light.
"""

from stacklens.face.checking import certify, compare, verify
from stacklens.face.opening import load, trace
from stacklens.face.probing import ablate, horizon_curve, intervene, linear_probes, saliency
from stacklens.face.reading import extract, learn
from stacklens.face.sweeping import sweep
from stacklens.face.training import train

__all__ = [
    "ablate",
    "certify",
    "compare",
    "extract",
    "horizon_curve",
    "intervene",
    "learn",
    "linear_probes",
    "load",
    "saliency",
    "sweep",
    "trace",
    "train",
    "verify",
]
