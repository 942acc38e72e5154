"""The measures of RAGChecker and the causes of faults, from labels of one sample's claims."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tcva_adapters.core.verdicts import FloatArray
from tcva_adapters.stats.checks import BoolArray
from tcva_adapters.stats.describe import mean

Texts = npt.NDArray[np.str_]


class Cause(StrEnum):
    """Why a claim of the response is wrong, or a claim of the reference is missing from it.

    A wrong claim repeats a relevant passage, which also holds needed facts; an irrelevant one; or some passage,
    where it is unknown which are relevant; or it stands in none, as a hallucination. A missing claim was not
    retrieved, or was retrieved and not used. It is unknown why where that was not judged.
    """

    RELEVANT_PASSAGE = "relevant passage"
    IRRELEVANT_PASSAGE = "irrelevant passage"
    SOME_PASSAGE = "some passage"
    HALLUCINATION = "hallucination"
    NOT_RETRIEVED = "not retrieved"
    NOT_USED = "not used"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class ClaimLabels:
    """Labels of the N claims of one text; all nan where a criterion was not judged.

    Attributes:
        agrees: Whether the other text supports each claim, 1 or 0, shape (N,): the reference a claim of the
            response (it is right), the response a claim of the reference (it is said).
        grounded: Whether the passages support it, 1 or 0.
        passages: Which of P passages hold its sound quote, shape (N, P); none where it is not grounded.
    """

    agrees: FloatArray
    grounded: FloatArray
    passages: BoolArray

    @property
    def has_unplaced(self) -> bool:
        """Whether a passage supports one of the claims, and it is unknown which."""
        return bool(np.any((self.grounded == 1) & ~self.passages.any(axis=1)))


def measures(
    response: ClaimLabels, reference: ClaimLabels, n_passages: int = 0
) -> dict[str, float]:
    """Compute the measures of RAGChecker for one sample, nan where one is not defined or not judged.

    They are those of D. Ru et al., RAGChecker, 2024 (arXiv 2408.08067), section 3.3: shares of the response's
    claims; recall and claim recall of the reference's claims, context utilisation of those retrieved; context
    precision of the passages. Of nothing there is no share; the package ``ragchecker`` then gives 0. Nor is there
    one that depends on passages where it is unknown which of them support a claim.

    Args:
        response: The labels of its claims.
        reference: The labels of its claims.
        n_passages: The number of passages; 0 where it is unknown.

    >>> response = ClaimLabels(np.array([1.0, 0.0]), np.ones(2), np.array([[True, False], [False, True]]))
    >>> reference = ClaimLabels(np.array([1.0, 0.0]), np.ones(2), np.array([[True, False], [True, False]]))
    >>> found = measures(response, reference, n_passages=2)
    >>> found["noise_sensitivity_in_irrelevant"], found["context_precision"]
    (0.5, 0.5)
    """
    wrong, _ = causes(response, reference)
    precision = mean(response.agrees)
    recall = mean(reference.agrees)
    total = precision + recall
    claim_recall = mean(reference.grounded)
    faithfulness = mean(response.grounded)
    # Each is 0, or nan where that is unknown, and makes what is added to it nan.
    known = 0.0 * (precision + faithfulness)
    known_needed = np.nan if reference.has_unplaced else 0.0 * claim_recall
    known_places = known_needed + (np.nan if response.has_unplaced else known)
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / total if total else 0.0,
        "claim_recall": claim_recall,
        "context_precision": int(reference.passages.any(axis=0).sum())
        / (n_passages or np.nan)
        + known_needed,
        "context_utilization": mean(reference.agrees[reference.grounded == 1]),
        "noise_sensitivity_in_relevant": mean(wrong == Cause.RELEVANT_PASSAGE)
        + known_places,
        "noise_sensitivity_in_irrelevant": mean(wrong == Cause.IRRELEVANT_PASSAGE)
        + known_places,
        "hallucination": mean(wrong == Cause.HALLUCINATION) + known,
        "self_knowledge": mean(response.agrees * (1 - response.grounded)),
        "faithfulness": faithfulness,
    }


def causes(response: ClaimLabels, reference: ClaimLabels) -> tuple[Texts, Texts]:
    """Name the `Cause` of each claim of the response that is wrong, and of each missing one of the reference.

    A claim that is neither has an empty text. A passage is relevant if it holds a claim of the reference, and a
    wrong claim in several passages repeats the relevant one. Where it was not judged what the response says, each
    claim of the reference that was not retrieved counts.
    """
    grounded = response.grounded
    is_judged = ~np.isnan(mean(reference.grounded))
    is_relevant = response.passages @ reference.passages.any(axis=0)
    is_irrelevant = response.passages.any(axis=1) & (not reference.has_unplaced)
    said = reference.agrees
    wrong = np.select(
        [
            response.agrees != 0,
            is_relevant & is_judged,
            is_irrelevant & is_judged,
            grounded == 1,
            grounded == 0,
        ],
        ["", *[*Cause][:4]],
        Cause.UNKNOWN,
    )
    missing = np.select(
        [said == 1, reference.grounded == 0, np.isnan(said), reference.grounded == 1],
        ["", Cause.NOT_RETRIEVED, "", Cause.NOT_USED],
        Cause.UNKNOWN,
    )
    return wrong, missing
