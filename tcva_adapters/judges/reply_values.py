"""Verdicts in a JSON value of a reply: lists, keys with numbers, and other names for the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tcva_adapters.judges.labels import (
    ParsedVerdict,
    read_number,
)
from tcva_adapters.judges.prompts import ASSERTS
from tcva_adapters.judges.reply_lines import LINE, verdict_in_line
from tcva_adapters.models.reply_json import MAX_DEPTH, plain_key

_KEYS = {
    kind: words.split()
    for kind, words in {
        "label": "verdict label level judgement judgment rating classification support_level score "
        f"{ASSERTS}",
        "number": "claim claim_number claim_no claim_id claim_index number no id index statement "
        "statement_number statement_id criterion criterion_number # n i",
        "evidence": "evidence quote quote_from_passage quote_from_reference quote_from_question "
        "quote_from_response quotes supporting_quote citation support",
        "reason": "reason explanation reasoning rationale justification",
        "text": "evidence quote quote_from_passage quotes citation reason explanation reasoning "
        "rationale context contexts source sources sample input question",
        "words": "verdicts verdict results judgements judgments labels",
        "list": "evaluations assessments claims statements criteria answers output result response",
    }.items()
}
_LABEL_KEYS = frozenset(_KEYS["label"])
_LIST_KEYS = frozenset(_KEYS["words"] + _KEYS["list"])
_CLAIM_KEYS = frozenset({"claims", "statements", "sentences", "facts"})


def verdicts_in(
    value: object,
    key: str = "verdicts",
    depth: int = 0,
) -> list[ParsedVerdict]:
    """Find all verdicts in a JSON value, in order; JSON within its strings is ignored.

    Args:
        value: The value.
        key: The key that it stands under.
        depth: The number of lists and objects around it.
    """
    if depth > MAX_DEPTH:
        return []
    if isinstance(value, dict):
        return _verdicts_in_object(value, depth)
    if not isinstance(value, list):
        return []
    if key in _KEYS["words"] and all(isinstance(item, str) for item in value):
        return [
            verdict_in_line(LINE.match(item)) or ParsedVerdict(None, item)
            for item in value
        ]
    verdicts = []
    for item in value:
        verdicts += verdicts_in(item, key, depth + 1)
    return verdicts


def _verdicts_in_object(value: dict[str, object], depth: int) -> list[ParsedVerdict]:
    """Read an object as one verdict, or collect the verdicts of the lists and objects in it."""
    fields = {}
    labels = set()
    verdicts = []
    listed = []
    for name, item in value.items():
        key = plain_key(name)
        number = read_number(name)
        fields[key] = item
        if key in _LABEL_KEYS:
            labels.add(ParsedVerdict(None, item).label)
        inner = [] if key in _KEYS["text"] else verdicts_in(item, key, depth + 1)
        if number is not None and len(inner) != 1:
            # A number has one verdict; anything else under it is taken as its word.
            inner = [ParsedVerdict(number, item)]
        inner = _with_number(inner, number)
        verdicts += inner
        if key in _LIST_KEYS:
            listed += inner

    numbers = map(read_number, _values(fields, "number"))
    number = next((number for number in numbers if number is not None), None)
    different = labels.union(verdict.label for verdict in verdicts) - {None}
    if labels - {None} and len(different) > 1:
        return [ParsedVerdict(number, " / ".join(sorted(map(str, different))))]
    if not listed and is_verdict(fields):
        verdict = ParsedVerdict(
            number,
            word=next(_values(fields, "label"), None),
            evidence=_text(next(_values(fields, "evidence"), None)),
            reason=_text(next(_values(fields, "reason"), None)),
        )
        return [verdict]
    return _with_number(listed or verdicts, number)


def _with_number(
    verdicts: list[ParsedVerdict],
    number: int | None,
) -> list[ParsedVerdict]:
    """Return the verdicts; a single one without a number gets the given number."""
    if len(verdicts) == 1 and verdicts[0].number is None:
        return [replace(verdicts[0], number=number)]
    return verdicts


def is_verdict(value: Mapping[str, object]) -> bool:
    """Whether an object has a key for a label."""
    return not _LABEL_KEYS.isdisjoint(map(plain_key, value))


def _values(fields: Mapping[str, object], kind: str) -> Iterator[object]:
    """The values under the keys of a kind, the best key first."""
    for key in _KEYS[kind]:
        if fields.get(key) is not None:
            yield fields[key]


def _text(value: object, depth: int = 0) -> str:
    """The text of a value; those in a list or object are joined by an ellipsis."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return "" if value is None else str(value).strip()
    if depth == MAX_DEPTH:
        return ""
    return " ... ".join(filter(None, [_text(item, depth + 1) for item in value]))


def claims_in(value: object, depth: int = 0) -> list[str] | None:
    """Read the texts of a list of claims; None where the value has no list of texts alone."""
    if isinstance(value, dict) and depth <= MAX_DEPTH:
        named = [item for key, item in value.items() if plain_key(key) in _CLAIM_KEYS]
        for item in named or value.values():
            texts = claims_in(item, depth + 1)
            if texts is not None:
                return texts
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return [item.strip() for item in value if item.strip()]


def names_claims(value: object) -> bool:
    """Whether a value is an object with a key for claims."""
    return isinstance(value, dict) and not _CLAIM_KEYS.isdisjoint(map(plain_key, value))
