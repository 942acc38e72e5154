"""Store keys: texts that are equal where everything that can change a judgement is equal.

Beside them stands `spec_of`, the identity of a judge that guarantees compare.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from functools import lru_cache
from typing import Any
from uuid import uuid4

from tcva_adapters.criteria import FIELDS, Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.judge_spec import SAMPLING, UNKNOWN, bare, judge_parts
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.sentences import SPLIT_VERSION

_HASHED = 2000  # bytes at once
_PACKAGE = "tcva_adapters."

_PROCESS = uuid4().hex
"""Distinguishes the keys of objects from those of other processes."""

_KEY_VERSION = 1


def verdict_key(sample: Sample, criterion: Criterion, judge: Any) -> str:
    """The key of a judgement: a SHA-256 over everything that can change its verdicts.

    Of the sample, only the fields that the criterion looks at count; its id and metadata do not.
    The temperature, the weight scheme, the penalty and the threshold are views of verdicts
    and have no place among the judge's parameters.

    Args:
        sample: What is judged.
        criterion: Enters with its fingerprint.
        judge: Enters with its name, the version of its prompts and its parameters; see `key_of`.

    Raises:
        InvalidValueError: A parameter is no JSON value.

    >>> from tcva_adapters.criteria import FAITHFULNESS
    >>> from tcva_adapters.judges.lexical import LexicalJudge
    >>> one = Sample(response="It is red.", contexts=("A red car.",), id="a", reference="Red.")
    >>> two = one.model_copy(update={"id": "b", "reference": None})
    >>> keys = {verdict_key(sample, FAITHFULNESS, LexicalJudge()) for sample in (one, two)}
    >>> len(keys)
    1
    """
    return digest(
        {
            "key_version": _KEY_VERSION,
            "sample": visible_fields(sample, {*criterion.required, *criterion.shows}),
            "criterion": criterion.fingerprint,
            "prompt_version": judge.prompt_version,
            **split_of(criterion, judge),
            **key_of(judge),
        }
    )


def split_of(criterion: Criterion, judge: Any) -> Json:
    """The version of the split of texts, where claims, or what a judge without calls quotes, depend on it."""
    claims = judge.parameters.get("claims")
    is_split = claims is None or (claims == "split" and not criterion.statements)
    return {"split of claims": SPLIT_VERSION} if is_split else {}


def visible_fields(sample: Sample, fields: Collection[str]) -> Json:
    """The fields of a sample that a judge sees, for its key; with the question also the history."""
    values: Json = {name: getattr(sample, name) for name in FIELDS if name in fields}
    if "input" in fields and sample.history:
        values["history"] = sample.history
    return values


def digest(parts: Fields) -> str:
    """A SHA-256 over the parts of a key.

    Args:
        parts: JSON values; the judge's ``parameters`` come from others and are checked.

    Raises:
        InvalidValueError: A parameter is no JSON value.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    try:
        text = json.dumps(
            parts,
            sort_keys=True,
            allow_nan=False,
            separators=(",", ":"),
        )
    except (TypeError, ValueError, RecursionError) as error:
        parameters = parts.get("parameters")
        raise InvalidValueError(
            f"parameters of a judgement must be JSON values, got {parameters!r}: {error}"
        ) from None
    return sha256_of(text)


def sha256_of(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal.

    The text is hashed in pieces below 2048 bytes. From there on Python would release its lock, and
    another thread that computes would hold it for 5 ms: too long for each passage.
    """
    hashed = hashlib.sha256()
    data = text.encode()
    for at in range(0, len(data), _HASHED):
        hashed.update(data[at : at + _HASHED])
    return hashed.hexdigest()


def spec_of(judge: Any) -> Json:
    """Describe the present identity of a judge: its ``judge``, whatever class wraps its model, and its parts.

    It has the judge's parameters, those that the model's method ``known`` adds, and any class that
    is not of this package. A judge that computes in this process has neither an address nor sampling.

    Args:
        judge: A judge, or a model alone.
    """
    model = getattr(judge, "model", judge)
    parameters = {
        "class of the judge": foreign_class(judge.__class__),
        "class of the model": _heir(model.__class__),
        **judge.parameters,
    }
    if getattr(judge, "is_local", False):
        parameters = {**dict.fromkeys(SAMPLING), "address": "", **parameters}
    known = getattr(model, "known", dict)(parameters)
    return {"judge": bare(judge.name), **judge_parts(known)}


def key_of(judge: Any, *, is_stored: bool = False) -> Json:
    """Build a judge's part of the keys: its name as ``judge``, and its ``parameters``.

    A judge or model that declares these is taken at its word. An LLM object declares nothing: its key
    has everything that `spec_of` finds, and the form of its prompts. If a part of that is unknown, only
    the same object has the same key.

    Args:
        judge: A judge, or a model alone.
        is_stored: Whether the judgements are to outlast the object.

    Raises:
        InvalidValueError: They are to outlast it, and something that can change the answers is
            unknown.
    """
    model = getattr(judge, "model", judge)
    declared = dict(judge.parameters)
    heirs = _heir(judge.__class__), _heir(model.__class__)
    if any(heirs):
        declared["classes"] = [*filter(None, heirs)]
    if hasattr(model, "known"):
        spec = spec_of(judge)
        unknown = [name for name, value in spec.items() if value == UNKNOWN]
        if not unknown:
            return {
                "judge": spec.pop("judge"),
                "parameters": {**spec, "prompt": model.prompt},
            }
        if is_stored:
            raise InvalidValueError(
                f"store cannot be used with {judge.name}: nothing tells its {' and '.join(unknown)}, so "
                "it could be given another judge's verdicts; leave store out, or pass an object with "
                "complete and acomplete whose name and parameters say all that can change its answers"
            )
        declared["object"] = f"{_PROCESS} {id(model.identity.holder)}"
    return {"judge": judge.name, "parameters": declared}


@lru_cache(maxsize=256)  # for each sample the same few
def _heir(kind: type) -> str | None:
    """The name of a foreign subclass of a class of this package, which may answer differently."""
    is_heir = any(parent.__module__.startswith(_PACKAGE) for parent in kind.__mro__)
    return foreign_class(kind) if is_heir else None


@lru_cache(maxsize=256)
def foreign_class(kind: type) -> str | None:
    """Module and name of a judge's class that is not of this package; None for one that is."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    return None if name.startswith(_PACKAGE) else name
