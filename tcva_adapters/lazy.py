"""Import names on first use, and raise a clear error if a framework is missing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tcva_adapters.errors import MissingDependencyError, install_hint

if TYPE_CHECKING:
    from tcva_adapters.frameworks import Requirement

_IMPORT = re.compile(r"^from ([\w.]+) import (?:\(\s*)?(\w+) as \2\b", re.MULTILINE)


def public_names(
    package: str,
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Offer the names that a package's stub (``__init__.pyi``) lists, imported on first use.

    The stub is what type checkers and editors read, so each name is written once. What a module
    needs (`frameworks.NEEDS`) is checked before anything of it is imported.

    Returns:
        The package's ``__getattr__``, which also has ``__all__`` (the names whose own packages are
        installed), and ``__dir__``.
    """
    module = sys.modules[package]
    stub = module.__spec__.loader.get_data(f"{module.__path__[0]}/__init__.pyi")  # type: ignore[union-attr]  # an imported package has both
    homes = {name: home for home, name in _IMPORT.findall(stub.decode())}

    def attribute(name: str) -> object:
        if name != "__all__" and name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Imported here, as pytest imports the package in every run, and the registry
        # takes most of that time.
        from tcva_adapters.frameworks import NEEDS  # noqa: PLC0415  # see above

        if name == "__all__":
            return [n for n in names if is_installed(NEEDS.get(homes[n]))]
        for part in (package, homes[name]):
            if part in NEEDS:
                check(NEEDS[part])
        value = getattr(import_module(homes[name]), name)
        setattr(module, name, value)
        return value

    names = sorted(homes)
    return attribute, lambda: names


def is_installed(requirement: Requirement | None) -> bool:
    """Whether an optional package is there, or none is needed; does not import it."""
    return requirement is None or bool(find_spec(requirement.module.partition(".")[0]))


def check(requirement: Requirement) -> None:
    """Import an optional package.

    Raises:
        MissingDependencyError: It is not there, too old, or broken by another package.
    """
    # Imported here: it takes longer than the rest of `import tcva_adapters`.
    from importlib.metadata import distributions, version  # noqa: PLC0415  # see above

    try:
        import_module(requirement.module)
    except Exception as error:
        # A fault of another package may be any exception; the chain shows its own error.
        why = f"cannot be imported ({type(error).__name__}: {error}); "
        if not [*distributions(name=requirement.distribution)]:
            why = "is not installed: "
        raise MissingDependencyError(
            f"{requirement.distribution} {why}{install_hint(requirement.extra)}"
        ) from error
    installed = version(requirement.distribution)
    if _release(installed) < requirement.oldest:
        oldest = ".".join(map(str, requirement.oldest))
        raise MissingDependencyError(
            f"{requirement.distribution} {installed} is too old, {oldest} is needed; "
            f"{install_hint(requirement.extra)}"
        )


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without ``rc1``, ``.dev0`` or ``+cpu`` after them.

    >>> _release("1.8rc1"), _release("v2.0.1+cpu")
    ((1, 8), (2, 0, 1))
    """
    numbers = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(map(int, numbers[1].split("."))) if numbers else ()
