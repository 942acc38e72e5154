"""Names that are imported on first use, and what a user is told when a framework is missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from tcva_adapters.errors import MissingDependencyError

if TYPE_CHECKING:
    from tcva_adapters.frameworks import Requirement

_IMPORT = re.compile(
    r"^from (?P<home>[\w.]+) import (?P<names>\((?:[^)]*)\)|[^\n]+)$", re.MULTILINE
)
_NAME = re.compile(r"(\w+) as \1")


class PublicNames(NamedTuple):
    """What a package defines to have its names imported on first use.

    Attributes:
        getattr: Its ``__getattr__``.
        dir: Its ``__dir__``.
        all: Its ``__all__``.
    """

    getattr: Callable[[str], Any]
    dir: Callable[[], list[str]]
    all: list[str]


def public_names(package: str, *, needs: Requirement | None = None) -> PublicNames:
    """The names that a package's stub (``__init__.pyi``) lists, each imported on first use.

    The stub is what type checkers and editors read, so each name is written once. The package of
    a framework's adapter checks the framework before anything of it is imported.

    Args:
        package: The package's name.
        needs: What every module of it imports, where it is no framework's adapter.
    """
    homes = _homes(package)

    def attribute(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        # Here: pytest imports the package in every run, and the registry takes most of that time.
        from tcva_adapters.frameworks import FRAMEWORKS  # noqa: PLC0415  # see above

        framework = FRAMEWORKS.get(package.rpartition(".")[2])
        if framework is not None:
            check(framework.requirement)
            part = framework.parts.get(homes[name].rpartition(".")[2])
            if part is not None:
                check(part)
        if needs is not None:
            check(needs)
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(homes)
    return PublicNames(attribute, lambda: names, names)


def _homes(package: str) -> dict[str, str]:
    """The public names of a package, each with the module that defines it."""
    loader = sys.modules[package].__spec__.loader  # type: ignore[union-attr]  # an imported package has both
    stub = loader.get_data(f"{sys.modules[package].__path__[0]}/__init__.pyi")  # type: ignore[union-attr]  # as above
    return {
        name: found["home"]
        for found in _IMPORT.finditer(stub.decode())
        for name in _NAME.findall(found["names"])
    }


def check(requirement: Requirement) -> None:
    """Import an optional package.

    Raises:
        MissingDependencyError: It is not there, too old, or broken by another package.
    """
    # Imported here: it takes longer than everything else that `import tcva_adapters` does.
    from importlib.metadata import version  # noqa: PLC0415  # see above

    try:
        import_module(requirement.module)
    except Exception as error:
        # Another package's fault may be any exception: its own error stays in the chain.
        hint = requirement.hint_for(str(error))
        kind = type(error).__name__
        msg = f"{requirement.distribution} cannot be imported ({kind}: {error}); {hint}"
        raise MissingDependencyError(msg) from error
    installed = version(requirement.distribution)
    if _release(installed) < requirement.oldest:
        oldest = ".".join(map(str, requirement.oldest))
        msg = (
            f"{requirement.distribution} {installed} is too old, {oldest} is needed; "
            f"{requirement.install_hint}"
        )
        raise MissingDependencyError(msg)


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version; what follows them (``rc1``, ``.dev0``, ``+cpu``) is left out.

    >>> _release("1.8rc1"), _release("v2.0.1+cpu")
    ((1, 8), (2, 0, 1))
    """
    numbers = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(map(int, numbers[1].split("."))) if numbers else ()
