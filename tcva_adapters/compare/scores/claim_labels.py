"""Labels that people gave the claims of an answer: a level or a weight for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any

import numpy as np

from tcva_adapters.compare.scores.ratings import Ratings, names_in
from tcva_adapters.core.verdicts import Verdict, WeightScheme
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.settings_base import ClaimThreshold, check
from tcva_adapters.samples.fields import Fields


def label_weight(label: object) -> float:
    """Read a label as a weight, a level as that of the default scheme.

    None, the label of a sentence that claims nothing, is 1: there is nothing to reject.

    Raises:
        InvalidValueError: It is neither a level nor a weight in [0, 1].

    >>> [label_weight(label) for label in ("Partial", 0.25, "0.25", None)]
    [0.7, 0.25, 0.25, 1.0]
    """
    if label is None:
        return 1.0
    if isinstance(label, str):
        with suppress(ValueError):  # a level
            label = float(label)
    weight = check(ClaimThreshold, "a label", label)
    return (
        WeightScheme.DEFAULT.weight(weight) if isinstance(weight, Verdict) else weight
    )


def claim_labels(
    ratings: Ratings,
    name: str,
    metadata: Fields,
    claims: Sequence[str],
) -> list[float | None]:
    """Read the labels of a sample's claims as weights, in the order of the claims.

    They are a list in the order of the text, or objects with the text in ``claim`` and the label in
    ``verdict`` or ``level``, as the report's page exports them. In csv they have commas between. Objects for
    a sentence that stands several times go by order. Of an object null says that the sentence claims nothing;
    in a list it is a missing label.

    Args:
        ratings: Where the labels are.
        name: The sample's id.
        metadata: The sample's metadata.
        claims: The texts of the claims.

    Returns:
        As many as there are labels in order; of labels with texts one a claim. None where one is missing.

    Raises:
        InvalidValueError: A value is no label, or one text has different labels for more or fewer sentences.

    >>> ratings = Ratings.find({"a": ["fully", 0.3], "b": [{"claim": "It opens.", "level": "minor"}]})
    >>> claims = ["It opens.", "It closes."]
    >>> claim_labels(ratings, "a", {}, claims), claim_labels(ratings, "b", {}, claims)
    ([1.0, 0.3], [0.3, None])
    """
    if len(ratings.raters) > 1:
        raise InvalidValueError(
            f"max_unsupported takes the labels of one rater, got {', '.join(ratings.raters)}; name one"
        )
    record = ratings.record(name, metadata)
    try:
        labels: Any = record.get(ratings.raters[0])
        if ratings.labels is not None and ratings.raters == ("human",):
            labels = record.get("claims") or labels
        if isinstance(labels, str):
            labels = names_in(labels)
        labels = labels.tolist() if isinstance(labels, np.ndarray) else labels or ()
        if not any(isinstance(label, Mapping) for label in labels):
            return [x if x is None else label_weight(x) for x in labels]
        by_text: dict[str, list[float]] = {}
        for label in labels:
            level = label["verdict"] if "verdict" in label else label["level"]
            by_text.setdefault(label["claim"], []).append(label_weight(level))
        in_order = {}
        for text, weights in by_text.items():
            is_one = len({*weights}) == 1
            if not is_one and len(weights) != claims.count(text):
                raise InvalidValueError(f"{text!r} has different labels")
            in_order[text] = repeat(weights[0]) if is_one else iter(weights)
        return [next(in_order[x]) if x in in_order else None for x in claims]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidValueError(
            f"sample {name!r}, {ratings.source}: {error}; labels are a list of levels or weights, one a claim, "
            "or of objects with claim and verdict"
        ) from None
