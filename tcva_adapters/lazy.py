"""Names that are imported on first use, and what a user is told when a framework is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

from tcva_adapters.errors import MissingDependencyError


class Requirement(NamedTuple):
    """A package that a folder needs.

    Attributes:
        distribution: Its name for pip.
        module: What is imported to see that it works.
        oldest: The oldest version that will do.
        way_out: The command that installs what was seen to work.
        known_faults: Texts in an error of its import, each with its own way out.
    """

    distribution: str
    module: str
    oldest: tuple[int, ...]
    way_out: str
    known_faults: Mapping[str, str] | None = None

    def check(self) -> None:
        """Import it.

        Raises:
            MissingDependencyError: It is not there, too old, or broken by another package.
        """
        # Imported here: it takes longer than everything else that `import tcva_adapters` does.
        from importlib.metadata import version  # noqa: PLC0415  # see above

        try:
            import_module(self.module)
        except Exception as error:
            # Another package's fault may be any exception: its own error stays in the chain.
            faults = self.known_faults or {}
            way_out = next(
                (way for mark, way in faults.items() if mark in str(error)), self.way_out
            )
            kind = type(error).__name__
            msg = f"{self.distribution} cannot be imported ({kind}: {error}); {way_out}"
            raise MissingDependencyError(msg) from error
        installed = version(self.distribution)
        if _release(installed) < self.oldest:
            oldest = ".".join(map(str, self.oldest))
            msg = f"{self.distribution} {installed} is too old, {oldest} is needed; {self.way_out}"
            raise MissingDependencyError(msg)


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version; what follows them (``rc1``, ``.dev0``, ``+cpu``) is left out.

    >>> _release("1.8rc1"), _release("v2.0.1+cpu")
    ((1, 8), (2, 0, 1))
    """
    numbers = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(map(int, numbers[1].split("."))) if numbers else ()


def importer(
    package: str,
    homes: Mapping[str, str],
    namespace: MutableMapping[str, Any],
    requirements: Mapping[str, Requirement] | None = None,
    *,
    always: Requirement | None = None,
) -> Callable[[str], Any]:
    """A package's ``__getattr__``.

    Args:
        package: The package's name.
        homes: Its public names, each with the module below it that defines it.
        namespace: Its globals: a name that was found is kept there.
        requirements: What single modules need.
        always: What all of them need.
    """

    def attribute(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home = homes[name]
        for needed in (always, (requirements or {}).get(home)):
            if needed is not None:
                needed.check()
        value = getattr(import_module(f"{package}.{home}"), name)
        namespace[name] = value
        return value

    return attribute
