"""The optional parts of an installation: what each brings, and one clear line where one is missing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .errors import StacklensError


class _Late(ModuleType):
    """A library that is imported when something of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import pandas

    pd = pandas
else:
    pd = _Late("pandas")


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Turn a failed import of a library that only ``extra`` brings into one line with the command that installs it.

    ``what``: which part of stacklens, or which library, is being asked for, as the line names it. ``extra``: the
    extra's name in ``pip install 'stacklens[extra]'``.

    >>> with needing("the moon", "space"):
    ...     import no_such_library
    Traceback (most recent call last):
    stacklens.core.errors.StacklensError: the moon is not installed: pip install 'stacklens[space]'
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").split(".")[0] == "stacklens":
            raise  # a defect of ours, which no command installs
        raise _not_installed(what, extra) from None


def check_extra(what: str, extra: str, *libraries: str) -> None:
    """Check that ``libraries``, which only ``extra`` brings, are installed, without importing any of them.

    ``what``, ``extra``: as in `needing`. ``libraries``: the names that they are imported by.
    """
    if not all(map(is_installed, libraries)):
        raise _not_installed(what, extra)


def is_installed(library: str) -> bool:
    """Return whether there is a ``library`` of this name, without importing it."""
    try:
        return find_spec(library) is not None
    except ValueError:  # somebody has barred it with None in `sys.modules`
        return False


def _not_installed(what: str, extra: str) -> StacklensError:
    return StacklensError(f"{what} is not installed: pip install 'stacklens[{extra}]'")


# ---- The one way up: what lower layers show through upper ones, looked up by name when it is called ----
#
# A notebook shows a trace as a figure, which `viz` draws, although `probe` knows nothing of `viz`; and the packages
# `stacklens.extract` and `stacklens.languages` bear the names of functions of the public face, so that calling them
# calls these. Nothing else looks upward, which tests/architecture holds.

R = TypeVar("R")

_FUNCTIONS = {"stacklens.extract": "stacklens.face.results", "stacklens.languages": "stacklens.face.notebook"}


@overload
def above(name: str, returns: type[R]) -> Callable[..., R]: ...
@overload
def above(name: str, returns: None) -> Callable[..., None]: ...
@overload
def above(name: str) -> Callable[..., Any]: ...
def above(name: str, returns: Any = Any) -> Callable[..., Any]:  # noqa: ARG001  # it is for type checkers
    """Return the function with the dotted ``name``, which returns ``returns`` and lies in a layer above its caller."""
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


class _CallablePackage(ModuleType):
    """A package that can be called as the function of the public face that has its name."""

    def _function(self) -> Callable[..., Any]:
        home = import_module(_FUNCTIONS[self.__name__])
        function: Callable[..., Any] = getattr(home, self.__name__.rpartition(".")[2])
        return function

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._function()(*arguments, **options)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """Return what the package is, and what calling it does: what `help` and a notebook's ``?`` show."""
        import inspect

        function = self._function()
        about = (inspect.getdoc(function) or "").partition("\n>>>")[0].rstrip()  # examples are run where they stand
        return f"{self.__dict__['__doc__']}\n\nsl.{function.__name__}{inspect.signature(function)}\n\n{about}\n"

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(self._function())


def callable_package(name: str) -> None:
    """Make the package ``name``, which is being imported, callable."""
    sys.modules[name].__class__ = _CallablePackage
