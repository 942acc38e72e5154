"""Keys of judgements: one digest over everything that can change a verdict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.samples.sample import Sample

_KEY_VERSION: Final = 1


def verdict_key(
    sample: Sample,
    criterion: Criterion,
    *,
    judge: str,
    prompt_version: str,
    parameters: Mapping[str, Any],
) -> str:
    """The key of a judgement: a SHA-256 over everything that can change its verdicts.

    Of the sample, only the fields that the criterion looks at count; its id and metadata do not.
    The dial's temperature, the weight scheme, the penalty and the threshold are views of verdicts
    and have no place among the parameters.

    Args:
        sample: What is judged.
        criterion: Enters with its fingerprint.
        judge: Name of the judge, with its version or model.
        prompt_version: Version of the prompt or of the algorithm.
        parameters: Whatever else changes a verdict: claims mode, ``max_claims``, seed and so on.
            JSON values only.

    Raises:
        InvalidValueError: A parameter is no JSON value.

    >>> from tcva_adapters.criteria import FAITHFULNESS
    >>> how = {"judge": "lexical", "prompt_version": "1", "parameters": {"max_claims": 8}}
    >>> one = Sample(response="It is red.", contexts=("A red car.",), id="a", reference="Red.")
    >>> two = one.model_copy(update={"id": "b", "reference": None})
    >>> verdict_key(one, FAITHFULNESS, **how) == verdict_key(two, FAITHFULNESS, **how)
    True
    """
    used = {*criterion.required, *criterion.shows}
    parts = {
        "key_version": _KEY_VERSION,
        "sample": {field: getattr(sample, field) for field in FIELDS if field in used},
        "criterion": criterion.fingerprint,
        "judge": judge,
        "prompt_version": prompt_version,
        "parameters": dict(parameters),
    }
    return digest(parts)


def digest(parts: Mapping[str, Any]) -> str:
    """A SHA-256 over the parts of a key.

    Args:
        parts: JSON values; the judge's ``parameters`` come from others and are checked.

    Raises:
        InvalidValueError: A parameter is no JSON value.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    try:
        text = json.dumps(parts, sort_keys=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        given = parts.get("parameters")
        msg = f"parameters of a judgement must be JSON values, got {given!r}: {error}"
        raise InvalidValueError(msg) from None
    return hashlib.sha256(text.encode()).hexdigest()
