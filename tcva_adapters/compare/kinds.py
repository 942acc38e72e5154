"""Who judged what: only judgements of one kind have a common mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from tcva_adapters.errors import InvalidSampleError
from tcva_adapters.results.assessment import Assessment

Name = tuple[str, str]
"""A criterion and who judged it."""


@dataclass(slots=True)
class Kinds:
    """The judges of a number of judgements, each with its criterion.

    Attributes:
        number: How many judgements there are.
        judges: The main judges.
        fused: The additional judges of each judgement with a score, by their names.
        forms: In which forms verdicts were asked for, the most frequent first.
    """

    number: int = 0
    judges: dict[Name, None] = field(default_factory=dict)
    fused: dict[tuple[str, ...], None] = field(default_factory=dict)
    forms: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, assessments: Iterable[Assessment]) -> Self:
        """Those of assessments."""
        kinds = cls()
        for each in assessments:
            kinds.add_assessment(each)
        return kinds

    def add_assessment(self, judged: Assessment) -> None:
        """One judgement more."""
        self.number += 1
        self.judges[judged.criterion, judged.judge] = None
        if judged.unscored is None:  # else the others were not asked
            if judged.form:
                self.forms[judged.form] += 1
            members = [f"{member.criterion} by {member.judge}" for member in judged.members]
            self.fused[tuple(members)] = None

    def check(self, source: str) -> None:
        """Refuse judgements that have no common mean, or none at all.

        Args:
            source: Where they are from.

        Raises:
            InvalidSampleError: Several judges or criteria, additional judges on a part of the
                samples alone, or no score at all.
        """
        if len(self.judges) > 1:
            mixed = "; ".join(f"{criterion} by {judge}" for criterion, judge in sorted(self.judges))
            msg = f"{source} mixes judgements that have no common mean: {mixed}"
            raise InvalidSampleError(msg)
        if not self.fused:
            msg = f"none of the {self.number} assessments in {source} has a score"
            raise InvalidSampleError(msg)
        if len(self.fused) > 1:
            mixed = "; ".join(", ".join(names) or "nothing" for names in sorted(self.fused))
            msg = f"{source} mixes scores that are fused with different judges: {mixed}"
            raise InvalidSampleError(msg)
