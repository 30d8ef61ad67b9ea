"""What is imported late: pandas, and what lower layers show through upper ones."""

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload


class _Late(ModuleType):
    """A library that is imported when something of it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


if TYPE_CHECKING:
    import pandas

    pd = pandas
else:
    pd = _Late("pandas")


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
    return cast(Callable[..., Any], getattr(import_module(module), function))


class _CallablePackage(ModuleType):
    """A package that can be called as the function of the public face that has its name."""

    def _function(self) -> Callable[..., Any]:
        return above(f"{_FUNCTIONS[self.__name__]}.{self.__name__.rpartition('.')[2]}")

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._function()(*arguments, **options)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """Return what the package is, and what calling it does: what `help` and a notebook's ``?`` show."""
        function = self._function()
        about = (inspect.getdoc(function) or "").partition("\n>>>")[0].rstrip()  # examples are run where they stand
        return f"{self.__dict__['__doc__']}\n\nsl.{function.__name__}{inspect.signature(function)}\n\n{about}\n"

    @property
    def __signature__(self) -> Any:
        return inspect.signature(self._function())


def callable_package(name: str) -> None:
    """Make the package ``name``, which is being imported, callable."""
    sys.modules[name].__class__ = _CallablePackage
