"""Criteria: the claims of one field, judged against another, with a description of each level."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Literal, get_args

from tcva_adapters.core.checks import as_list, nearest
from tcva_adapters.core.temperature import misplaced
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.sample import whole_characters

Field = Literal["input", "response", "contexts", "reference"]
FIELDS: tuple[Field, ...] = get_args(Field)


SUPPORT_LEVELS = (
    (
        "everything the claim asserts is stated in or follows directly from the passages; a "
        "paraphrase, a summary or a reordering of what they say counts as fully"
    ),
    "the claim is supported except for a small imprecision that misleads nobody",
    "about half of what the claim asserts is supported; the rest is not in the passages",
    "the passages speak about the same matter, but what the claim asserts is hardly supported",
    "the passages contradict the claim, or contain nothing related to it",
)


@dataclass(frozen=True)
class Criterion:
    """What is judged, which field it is compared with, and what each level means.

    Attributes:
        name: Short name, used in tables and store keys.
        instruction: One or two sentences of the prompt: what the judge has to decide.
        claims: The field whose sentences are judged. Unused when ``statements`` is given.
        against: The field that they are judged against.
        levels: What fully, mostly, partial, minor and none mean here; by default how far the
            contexts support a claim.
        shows: Further fields that the judge sees for orientation only.
        statements: Fixed texts to judge, such as the rules of a rubric; each gets its own verdict
            about ``against``.
        checks_evidence: Whether fully and mostly need a quote that occurs in ``against``.

    Raises:
        InvalidValueError: A field name is unknown, a text is empty, or a field is compared with
            itself.
    """

    name: str
    instruction: str
    claims: Field = "response"
    against: Field = "contexts"
    levels: tuple[str, str, str, str, str] = SUPPORT_LEVELS
    shows: tuple[Field, ...] = ()
    statements: tuple[str, ...] = ()
    checks_evidence: bool = True

    def __post_init__(self) -> None:
        for part in ("name", "instruction"):
            text = getattr(self, part)
            if not isinstance(text, str):
                raise InvalidValueError(
                    f"{part} of a criterion must be a string, got {text!r}"
                )
            object.__setattr__(self, part, whole_characters(text))
        for part in ("levels", "shows", "statements"):
            object.__setattr__(
                self, part, tuple(map(whole_characters, getattr(self, part)))
            )
        if fault := self._fault():
            raise InvalidValueError(f"criterion {self.name!r} {fault}")

    def _fault(self) -> str | None:
        for field in (self.claims, self.against, *self.shows):
            if field not in FIELDS:
                return (
                    f"has the unknown field {field!r}; fields are {', '.join(FIELDS)}"
                )
        if not self.name.strip() or not self.instruction.strip():
            return (
                f"needs a name and an instruction, got instruction={self.instruction!r}"
            )
        if self.claims == self.against and not self.statements:
            return (
                f"compares {self.claims!r} with itself; claims and against must differ"
            )
        if any(not statement.strip() for statement in self.statements):
            return "has an empty text among its statements"
        return None

    @cached_property
    def fingerprint(self) -> str:
        """A digest that changes with anything that could change a verdict."""
        return fingerprint_of(asdict(self))

    @cached_property
    def required(self) -> tuple[Field, ...]:
        """The fields that a sample must have, in the order of the sample's own fields."""
        needed = {self.against} if self.statements else {self.claims, self.against}
        return tuple(field for field in FIELDS if field in needed)


def fingerprint_of(parts: Mapping[str, object]) -> str:
    """A short digest of JSON values, which is equal where the values are."""
    return hashlib.sha256(
        json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()
    ).hexdigest()[:16]


FAITHFULNESS = Criterion(
    name="faithfulness",
    shows=("input",),
    instruction=(
        "Decide how far each claim is supported by the passages. Absence of contradiction is not "
        "support: what the passages do not say is not supported, however true it may be."
    ),
)

ANSWER_RELEVANCY = Criterion(
    name="answer_relevancy",
    claims="response",
    against="input",
    instruction=(
        "Decide how far each claim helps to answer what the user wants to know. Judge relevance "
        "to the intent of the question only, not whether the claim is true."
    ),
    levels=(
        "the claim answers the question or a part of it, in whatever words",
        "the claim serves the question, with a little that was not asked for",
        "about half of the claim serves the question; the rest does not",
        "the claim is on the topic but does not help to answer the question",
        "the claim is unrelated to the question or answers a different one",
    ),
    checks_evidence=False,
)

CORRECTNESS = Criterion(
    name="correctness",
    claims="response",
    against="reference",
    shows=("input",),
    instruction=(
        "Decide how far each claim agrees with the reference answer, which is taken to be right "
        "and complete."
    ),
)

COMPLETENESS = Criterion(
    name="completeness",
    claims="reference",
    against="response",
    shows=("input",),
    instruction=(
        "The claims come from the reference answer. Decide how far the response under test says "
        "what each of them says."
    ),
    levels=(
        "the response says all that the claim says, in whatever words",
        "the response says it except for an unimportant detail",
        "the response says about half of it",
        "the response touches on the matter but hardly says what the claim says",
        "the response contradicts the claim or says nothing about it",
    ),
)

CONTEXT_RECALL = Criterion(
    name="context_recall",
    claims="reference",
    against="contexts",
    shows=("input",),
    instruction=(
        "The claims come from the reference answer. Decide how far each of them could have been "
        "drawn from the retrieved passages."
    ),
)

CRITERIA = {
    criterion.name: criterion
    for criterion in (
        FAITHFULNESS,
        ANSWER_RELEVANCY,
        CORRECTNESS,
        COMPLETENESS,
        CONTEXT_RECALL,
    )
}
"""The built-in criteria by name."""


def rubric(
    name: str,
    statements: Sequence[str],
    *,
    against: Field = "response",
    shows: tuple[Field, ...] = ("input",),
) -> Criterion:
    """Make a criterion from a list of statements, each of which gets its own verdict.

    Raises:
        InvalidValueError: The list or one of its texts is empty.

    >>> rubric("tone", ["Is polite.", "Does not promise a date."]).required
    ('response',)
    """
    statements = as_list("statements", statements)
    if not statements:
        raise InvalidValueError(
            f"rubric {name!r} needs at least one text in statements"
        )
    return Criterion(
        name=name,
        against=against,
        shows=shows,
        statements=tuple(statements),
        instruction="Decide how far the text under test meets each of the numbered criteria.",
        levels=(
            "the text meets the criterion entirely",
            "the text meets it with a flaw that hardly matters",
            "the text meets about half of it",
            "the text meets it only in traces",
            "the text does not meet it, or does the opposite",
        ),
        checks_evidence=False,
    )


def resolve_criterion(criterion: Criterion | str) -> Criterion:
    """Find a built-in criterion by its name; return a `Criterion` as it is.

    Raises:
        InvalidValueError: The name is unknown.
    """
    if isinstance(criterion, Criterion):
        return criterion
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        known = nearest(
            criterion, CRITERIA, f"use {', '.join(CRITERIA)}, or a Criterion"
        )
        raise InvalidValueError(
            f"unknown criterion {criterion!r}; {misplaced(criterion) or known}"
        )
    return CRITERIA[criterion]
