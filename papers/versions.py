"""The versions that a result was measured with."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from stacklens import __version__

__all__ = ["versions"]

_LIBRARIES = ("numpy", "scikit-learn", "torch")


def versions() -> dict[str, str]:
    """Return the versions of Python, of stacklens and of the libraries that figures may depend on, by name."""
    return {"python": python_version(), "stacklens": __version__, **{name: _version(name) for name in _LIBRARIES}}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # vendored without its metadata
        return "unknown"
