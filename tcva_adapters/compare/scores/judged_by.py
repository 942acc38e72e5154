"""Facts about the judgements behind a table of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.summary import MissingScores
from tcva_adapters.tables import Record


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """What was judged, by whom, and under which settings.

    Attributes:
        criterion: The criterion; empty for imported scores.
        judge: The name of the main judge; empty for imported scores.
        scoring: The settings of the scores; None where there are none.
        additional_judges: The judges whose verdicts are fused with the main one's:
            ``CRITERION by JUDGE``.
        summary: Levels, quotes, cost and reasons of what was read; None where nothing was counted.
        kind: The kind of the source: ``tcva``, ``ccrs``, or a kind of `Imported`; empty where it
            was judged now.

    >>> JudgedBy("faithfulness", "lexical/6").is_lexical
    True
    """

    criterion: str = ""
    judge: str = ""
    scoring: ScoringConfig | None = None
    additional_judges: tuple[str, ...] = ()
    summary: MissingScores | None = None
    kind: str = ""

    @property
    def is_lexical(self) -> bool:
        """Whether the judge only compares words."""
        return self.judge.startswith("lexical/")

    @property
    def settings(self) -> Record:
        """What is known of these facts, as reports show them."""
        settings = {
            "kind": self.kind,
            "criterion": self.criterion,
            "judge": self.judge,
            "scoring": self.scoring and self.scoring.model_dump(mode="json"),
            "fused": self.additional_judges,
        }
        return {name: value for name, value in settings.items() if value}

    def __str__(self) -> str:
        fused = "".join(f", fused with {judge}" for judge in self.additional_judges)
        return f"{self.criterion} by {self.judge}{fused}"


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Facts about the run that made a table, see `tcva_adapters.compare.Run`.

    Attributes:
        temperatures: The temperatures of TCVA's views.
        views: The methods that are views of TCVA's one judgement.
        metrics: By framework metric, the package with its version.
        fatal: Why the run ended early; empty where it did not.
        fingerprint: Equal for equal samples, judges and settings.
    """

    temperatures: tuple[float, ...] = ()
    views: tuple[str, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict)
    fatal: str = ""
    fingerprint: str = ""
