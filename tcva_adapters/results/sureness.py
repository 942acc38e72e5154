"""How sure the scores of a batch are, and which samples to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tcva_adapters.core.summing import ExactSum
from tcva_adapters.printing import counted, share, shortened
from tcva_adapters.results.result import Result

_LISTED: Final = 5
_NAME: Final = 40


@dataclass(frozen=True, slots=True)
class UncertaintyCounts:
    """How sure the scores of a batch are, as far as their verdicts have probabilities.

    Attributes:
        samples: Those with probabilities; everything else is of these.
        pass_probability: Their mean chance to pass, in [0, 1]: the pass rate to expect where each
            verdict is settled one way or the other.
        undecided: Samples whose interval has scores on both sides of the threshold.
        claims: Their claims with a verdict.
        unsure_claims: Those of which the judge is unsure, see `Result.unsure_claims`.
        least_sure: The five samples whose chance to pass is nearest 1/2, with that chance; the
            nearest first.
    """

    samples: int
    pass_probability: float
    undecided: int
    claims: int
    unsure_claims: int
    least_sure: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "samples": self.samples,
            "pass_probability": self.pass_probability,
            "undecided": self.undecided,
            "claims": self.claims,
            "unsure_claims": self.unsure_claims,
            "least_sure": [
                {"sample": name, "pass_probability": found} for name, found in self.least_sure
            ],
        }

    def lines(self) -> Iterator[str]:
        """What to expect, what is undecided, and the samples to look at."""
        yield (
            f"mean chance to pass {share(self.pass_probability)} of "
            f"{counted(self.samples, 'sample')} with probabilities; {self.undecided} undecided: "
            "the 95% interval has scores on both sides of the threshold"
        )
        yield f"the judge is unsure of {self.unsure_claims} of {counted(self.claims, 'claim')}"
        if self.undecided:
            named = (f"{shortened(name, _NAME)} {share(found)}" for name, found in self.least_sure)
            yield f"least sure, with the chance to pass: {', '.join(named)}"


@dataclass(slots=True)
class UncertaintyTally:
    """The same while results come; of these five names are held."""

    _samples: int = 0
    _undecided: int = 0
    _claims: int = 0
    _unsure: int = 0
    _chances: ExactSum = field(default_factory=ExactSum)
    _least: list[tuple[str, float]] = field(default_factory=list)

    def add(self, name: str, result: Result) -> None:
        """One more; what has no uncertainty is passed over.

        Args:
            name: Of the sample.
            result: Of it.
        """
        found = result.uncertainty
        if found is None:
            return
        self._samples += 1
        self._undecided += found.is_undecided
        self._claims += len(result.seen.verdicts)
        self._unsure += len(result.unsure_claims)
        self._chances.add(found.pass_probability)
        self._least.append((name, found.pass_probability))
        self._least.sort(key=lambda each: abs(each[1] - 0.5))
        del self._least[_LISTED:]

    @property
    def counts(self) -> UncertaintyCounts | None:
        """Of those that came; None where there were none."""
        if not self._samples:
            return None
        return UncertaintyCounts(
            samples=self._samples,
            pass_probability=self._chances.value / self._samples,
            undecided=self._undecided,
            claims=self._claims,
            unsure_claims=self._unsure,
            least_sure=tuple(self._least),
        )
