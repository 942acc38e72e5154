"""Serve answers: whole and marked, without their unsupported claims, or refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.protocol import Scored
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings_base import check
from tcva_adapters.results.supported import AnswerPart, SupportedAnswer
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample

OnFail = Literal["flag", "remove", "refuse", "raise"]
"""What is done with an answer. ``flag`` serves it whole, with a mark on each claim; ``remove`` without the
claims below ``claim_threshold``. ``refuse`` and ``raise`` act on answers that do not pass."""

REFUSAL = "I have no answer that the documents support."


@dataclass(frozen=True)
class ServedAnswer:
    """An answer as it is served.

    Attributes:
        text: The text that is served.
        result: The result of the answer.
        supported: What of the answer is supported, and where it stands; None where claims cannot be
            found in it, as for whole answers that are rated.
        is_refused: Whether the text is the refusal, or ends with it.
        failed: Whether the answer does not pass, as gates see it. An answer that claims nothing
            passes; one that could not be judged does not.
        split_moved: Whether the end of a stream changed sentences that had been judged. The whole
            answer was judged anew then, and counts; what ``remove`` had served may differ from it.
    """

    text: str
    result: Scored
    supported: SupportedAnswer | None
    is_refused: bool
    failed: bool
    split_moved: bool = False

    @property
    def why(self) -> str:
        """The score in a sentence, or why there is none."""
        reason = self.result.reason
        if self.split_moved:
            reason += "; the end of the stream changed sentences that had been served"
        return reason

    @property
    def marks(self) -> list[Json]:
        """The sentences of the answer with their verdicts, in order, as JSON values.

        ``start`` and ``end`` are offsets in the answer before anything was removed.
        """
        return marks_of(self.supported.parts) if self.supported else []

    def to_dict(self) -> Json:
        """Convert to JSON values, for the metadata of frameworks."""
        return {
            "is_refused": self.is_refused,
            "failed": self.failed,
            "why": self.why,
            "marks": self.marks,
        }


def marks_of(parts: Iterable[AnswerPart]) -> list[Json]:
    """Convert sentences, each with whether it is supported, to JSON values."""
    return [{**part.to_dict(), "supported": part.stays} for part in parts]


def serve(
    result: Scored,
    on_fail: OnFail,
    *,
    refusal: str = REFUSAL,
    allow_unscored: bool = False,
    sample: Sample | None = None,
) -> ServedAnswer:
    """Decide what is served of an answer that was judged; no call is made.

    An answer without text becomes the refusal, other than with ``flag`` and ``raise``. ``raise`` is left to the caller, who asks `ServedAnswer.failed`.

    Args:
        result: The result of the answer.
        on_fail: What is done with claims that are not supported, or with an answer that fails.
        refusal: The text in place of a refused answer, and of one of which nothing is left.
        allow_unscored: Let answers without a score pass. Sentences that could not be judged are
            flagged or removed all the same.
        sample: The sample that was judged, for a result that was read back or does not refer to it.

    Raises:
        InvalidValueError: The sample is not known, or claims cannot be flagged or removed in it.

    >>> from tcva_adapters import TCVA, Sample
    >>> sample = Sample(response="We open at 9. Entry is 90 EUR.", contexts=["We open at 9."])
    >>> result = TCVA(judge="lexical").evaluate(sample)
    >>> serve(result, "remove").text, serve(result, "refuse").text
    ('We open at 9.', 'I have no answer that the documents support.')
    """
    check(OnFail, "on_fail", on_fail)
    check(str, "refusal", refusal)
    sample = sample or getattr(result, "sample", None)
    if sample is None:
        raise InvalidValueError(
            "this result does not refer to its sample; pass the one that was judged, "
            "serve(..., sample=...)"
        )
    if isinstance(result, Result):
        result = result.as_cited(sample)
    failed = fails(result, allow_unscored=allow_unscored)
    supported = _supported(result, on_fail, sample)
    text = sample.response or ""
    is_refused = failed and on_fail == "refuse"
    if on_fail == "remove" and supported is not None:
        is_refused = supported.is_empty or not supported.text.strip()
        text = supported.text
    return ServedAnswer(
        refusal if is_refused else text, result, supported, is_refused, failed
    )


def fails(result: Scored, *, allow_unscored: bool = False) -> bool:
    """Whether an answer does not pass, as gates see it; see `ServedAnswer.failed`."""
    if allow_unscored:
        return result.passed is False
    closed = result.at_gate() if isinstance(result, Result) else result
    return not (closed.passed or closed.nothing_to_check)


def _supported(
    result: Scored, on_fail: OnFail, sample: Sample
) -> SupportedAnswer | None:
    """What of the answer is supported; None where claims cannot be found and need not be.

    Raises:
        InvalidValueError: They cannot be found, and have to be flagged or removed.
    """
    is_needed = on_fail in {"flag", "remove"}
    if isinstance(result, Result):
        try:
            return result.supported(sample=sample)
        except InvalidValueError:
            if is_needed:
                raise
            return None
    if is_needed:
        raise InvalidValueError(
            f"on_fail={on_fail!r} needs claims with verdicts, and this is a result of kind "
            f"{result.kind!r}; use 'refuse' or 'raise'"
        )
    return None
