"""Human ratings of the samples of a comparison, wherever they are, on the scale of its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tcva_adapters.compare.existing.imports import ImportedScores
from tcva_adapters.compare.labels import Labels
from tcva_adapters.compare.ratings import mean_of
from tcva_adapters.compare.running.run import rater_scores
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.sample import Sample
from tcva_adapters.stats.correlation import Measure


class Ratings(NamedTuple):
    """Ratings by sample id.

    Attributes:
        of_samples: The mean of a sample's raters; None where nobody rated any.
        raters: Those of each rater by name, where there are several.
    """

    of_samples: Mapping[str, float] | None
    raters: Mapping[str, Mapping[str, float]]

    @classmethod
    def find(
        cls,
        source: str | Labels | None,
        samples: Sequence[Sample],
        imported: Sequence[ImportedScores],
        say: Callable[[str], None],
    ) -> Ratings:
        """Those of a field of the samples or of labels, by default those of imported files.

        Raises:
            InvalidValueError: No label is of one of the samples, or a value is no rating.
            InvalidSampleError: No sample has a rating.
        """
        if isinstance(source, Labels):
            names = [sample.id or "" for sample in samples]
            found = source.of(names)
            for note in source.notes(names):
                say(note)
            return cls(found, source.raters)
        if source is not None:
            raters = rater_scores(samples, source)
            return cls(mean_of(raters), raters if len(raters) > 1 else {})
        return cls(next((one.human for one in imported if one.human), None), {})

    def scaled(self, scale: tuple[float, float] | None) -> Ratings:
        """These from their own scale to [0, 1]; as they are where no scale is named.

        Raises:
            InvalidValueError: The scale has no lowest and highest rating, or one lies outside.
        """
        if scale is None or self.of_samples is None:
            return self
        low, high = scale
        if not low < high < float("inf"):
            msg = f"human_scale or --human-scale {low:g},{high:g}; give the lowest rating first, e.g. 1,5"
            raise InvalidValueError(msg)

        def moved(ratings: Mapping[str, float]) -> dict[str, float]:
            for name, rating in ratings.items():
                if not low <= rating <= high:
                    msg = (
                        f"the rating of {name!r} is {rating:g}, outside the scale from {low:g} to "
                        f"{high:g}; name their scale (human_scale, --human-scale)"
                    )
                    raise InvalidValueError(msg)
            return {name: (rating - low) / (high - low) for name, rating in ratings.items()}

        return Ratings(
            moved(self.of_samples), {rater: moved(each) for rater, each in self.raters.items()}
        )


def check_distances(objective: Measure, ratings: Mapping[str, float]) -> None:
    """Refuse errors of scores, which lie in [0, 1], against ratings on another scale.

    Raises:
        InvalidValueError: One lies outside.
    """
    outside = [each for each in ratings.values() if not 0.0 <= each <= 1.0]
    if objective == "mae" and outside:
        msg = (
            f"objective or --objective mae: a human rating is {outside[0]:g}, scores lie in [0, 1]; "
            "name the scale of the ratings (human_scale=(1, 5), --human-scale 1,5)"
        )
        raise InvalidValueError(msg)
