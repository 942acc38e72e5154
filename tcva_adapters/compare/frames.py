"""Reports as data frames: one place that needs pandas, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tcva_adapters.compare.printing import Report
from tcva_adapters.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements


class Tabular(Report):
    """A report whose main figures are one table."""

    __slots__ = ()

    def records(self) -> Sequence[dict[str, Any]]:
        """The rows of that table, as plain values."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """The same as a data frame; what is nested has dots in its column's name.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415  # not among the requirements
        except ImportError:
            msg = "a data frame needs pandas: pip install pandas"
            raise MissingDependencyError(msg) from None
        return pd.json_normalize(self.records())
