"""The lexical judge as a judge of samples."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.base import blank_field, nothing_to_score, passages
from tcva_adapters.lexical.judge import LexicalJudge
from tcva_adapters.results.assessment import Assessment, ClaimVerdict, Usage
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.sentences import split_claims


@dataclass(frozen=True, slots=True)
class LexicalSampleJudge:
    """The embedded judge: word overlap, numbers, names and negation; no model, no network."""

    lexical: LexicalJudge = field(default_factory=LexicalJudge)

    is_local = True

    @property
    def name(self) -> str:
        """Name and version; it says that the judge is lexical."""
        return self.lexical.name

    @property
    def prompt_version(self) -> str:
        """The version of the algorithm: there is no prompt."""
        return self.lexical.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The settings that can change a verdict."""
        return {"settings": repr(self.lexical.settings)}

    def check(self, criterion: Criterion) -> None:
        """Refuse lists of criteria texts, which words cannot judge.

        Raises:
            InvalidValueError: The criterion is such a list.
        """
        if criterion.statements:
            msg = f"the lexical judge cannot judge criteria texts ({criterion.name!r}); use a model"
            raise InvalidValueError(msg)

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """Judge one sample by its words.

        Raises:
            InvalidValueError: See `check`.
        """
        self.check(criterion)
        started = time.perf_counter()
        unscored = blank_field(sample, criterion)
        claims: list[ClaimVerdict] = []
        if unscored is None:
            texts = split_claims(sample.field(criterion.claims) or "")
            claims = self.lexical.judge_claims(texts, passages(sample, criterion), criterion)
            unscored = nothing_to_score(claims)
        return Assessment(
            criterion=criterion.name,
            judge=self.name,
            prompt_version=self.prompt_version,
            claims=tuple(claims),
            unscored=unscored,
            usage=Usage(seconds=time.perf_counter() - started),
            sample_id=sample.id,
            metadata=sample.metadata,
        )

    async def aassess(self, sample: Sample, criterion: Criterion) -> Assessment:
        """The same; it takes milliseconds and does not wait for anything."""
        return self.assess(sample, criterion)
