"""What a judge model answered, read with care: a reply may be anything at all.

Three rules hold throughout. A verdict is never invented: what was cut off, contradicts itself or
is not exactly a known word is left out and said to be. A verdict is never taken from the text of a
quote. And the work is bounded: a reply of any length and form is read in about linear time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tcva_adapters.judging.reply_words import (
    INNER_WEIGHTS,
    NOUN,
    PASSAGE,
    SHOWN,
    WEIGHTS,
    Label,
    read_decimal,
    read_label,
    read_number,
)
from tcva_adapters.models.reply_json import (
    CUT,
    MAX_DEPTH,
    Node,
    after_reasoning,
    json_values,
    plain_key,
)


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """One verdict as the judge gave it.

    Attributes:
        number: The claim's number, counted from 1.
        label: A level, or the mark of a sentence without a claim.
        evidence: The quote, empty where there is none; several quotes joined by " ... ".
        reason: The judge's reason, or an empty string.
        passage: The passage that the judge names, counted from 1; None where it names none.
        sentences: Numbers of the sentences that it names in place of a quote.
        start: Offset of the label's first character in the reply, where it is known for certain.
    """

    number: int
    label: Label
    evidence: str = ""
    reason: str = ""
    passage: int | None = None
    sentences: tuple[int, ...] = ()
    start: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The verdicts of a reply by claim number, and what was wrong with it.

    Attributes:
        verdicts: Only verdicts that are beyond doubt. A claim that is absent has none.
        problems: What was found and not used, in words for a reader.
    """

    verdicts: dict[int, ParsedVerdict]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What stands for one verdict, before its number and label are checked."""

    number: int | None
    raw_label: Any
    key: str
    fields: Mapping[str, Any]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    """Entries that belong together, and what was wrong with the text that they come from."""

    entries: list[_Entry]
    problems: list[str]
    is_cut: bool


_LABEL_KEYS: Final = [
    "verdict",
    "label",
    "level",
    "judgement",
    "judgment",
    "rating",
    "classification",
    "support_level",
    "score",
]
_NUMBER_KEYS: Final = [
    "claim",
    "claim_number",
    "claim_no",
    "claim_id",
    "claim_index",
    "number",
    "no",
    "id",
    "index",
    "statement",
    "statement_number",
    "statement_id",
    "criterion",
    "criterion_number",
    "#",
    "n",
    "i",
]
_EVIDENCE_KEYS: Final = [
    "evidence",
    "quote",
    *map("quote_from_{}".format, ("passage", "reference", "question", "response")),
    "quotes",
    "supporting_quote",
    "citation",
    "support",
]
_REASON_KEYS: Final = ["reason", "explanation", "reasoning", "rationale", "justification"]
_SENTENCE_KEYS: Final = ["sentence", "sentences", "sentence_number", "sentence_numbers"]
_PASSAGE_KEYS: Final = [
    "passage",
    "passage_number",
    "passage_id",
    "passage_no",
    "context",
    "source",
]
_LIST_KEYS: Final = [
    "verdicts",
    "verdict",
    "results",
    "judgements",
    "judgments",
    "labels",
    "evaluations",
    "assessments",
    "claims",
    "statements",
    "criteria",
    "answers",
    "output",
    "result",
    "response",
]

_WORD_LIST_KEYS: Final = frozenset(_LIST_KEYS[:6])

_IS_CUT: Final = "the reply is cut off or its brackets do not match"
_IS_DOUBTFUL: Final = "the reply is broken, and its verdicts cannot be told from quoted ones"
_LEFTOVER: Final = re.compile(r"[\"'](?:verdict|label|level)[\"']\s*+:", re.IGNORECASE)
_MAX_PROBLEMS: Final = 20


def _read_labels(entries: list[_Entry]) -> list[Label | None]:
    """A label for each entry; numbers are read as weights where no other scale can be meant.

    A lone 1 or 0 may belong to a scale of 1 to 5 or to a yes-no question. So a whole number
    counts only beside a weight such as 0.9, and none does beside a number that is no weight.
    """
    numbers = [read_decimal(entry.raw_label) for entry in entries]
    given = [n for n in numbers if n is not None]
    is_weights = all(n in WEIGHTS for n, _ in given)
    is_weights = is_weights and any(n in INNER_WEIGHTS for n, _ in given)
    labels: list[Label | None] = []
    for entry, number in zip(entries, numbers, strict=True):
        if number is None:
            raw = entry.raw_label
            labels.append(read_label(raw) if isinstance(raw, str) else None)
        else:
            has_point = number[1] and all(n in WEIGHTS for n, _ in given)
            labels.append(WEIGHTS[number[0]] if is_weights or has_point else None)
    return labels


# --- from JSON values to verdicts ------------------------------------------------------------


def _first(fields: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _entries(value: Any, depth: int = 0) -> list[_Entry]:
    """All entries of a JSON value, in order; strings are never looked into."""
    if depth > MAX_DEPTH:
        return []
    if isinstance(value, list):
        if _is_words(value):
            return [_read_line(item) or _Entry(None, item, "", {}) for item in value]
        return [entry for item in value for entry in _entries(item, depth + 1)]
    return _entries_of_mapping(value, depth) if isinstance(value, dict) else []


def _entries_of_mapping(value: dict[str, Any], depth: int) -> list[_Entry]:
    """One entry, a map from claim numbers, or whatever a known or unknown key holds."""
    names = {plain_key(key): key for key in value}
    fields = {name: value[key] for name, key in names.items()}
    numbers = (read_number(fields[key]) for key in _NUMBER_KEYS if key in fields)
    number = next((n for n in numbers if n is not None), None)
    for key in _LIST_KEYS:
        inner = fields.get(key)
        if isinstance(inner, dict | list) and (key in _WORD_LIST_KEYS or not _is_words(inner)):
            found = _entries(inner, depth + 1)
            if len(found) == 1 and found[0].number is None:
                return [replace(found[0], number=number)]
            if found:
                return found
    label_key = next((k for k in _LABEL_KEYS if k in fields), None)
    if label_key is not None:
        return [_Entry(number, fields[label_key], names[label_key], fields)]
    numbered = [(n, key) for key in value if (n := read_number(str(key))) is not None]
    if numbered:
        return [_numbered(n, key, value[key], depth) for n, key in numbered]
    nested = (item for item in value.values() if not _is_words(item))
    return [entry for item in nested for entry in _entries(item, depth + 1)]


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _numbered(number: int, key: str, value: Any, depth: int) -> _Entry:
    if not isinstance(value, dict):
        return _Entry(number, value, key, {})
    inner = _entries(value, depth + 1)
    if len(inner) != 1:
        return _Entry(number, None, key, {})
    return inner[0] if inner[0].number is not None else replace(inner[0], number=number)


def _is_sound(reply: str, node: Node) -> bool:
    """Whether a repair can be trusted: no key got lost or added, and all entries are alike.

    A quote with verdicts in it, written without escapes, may swallow or replace real ones.
    """
    text = reply[node.start : node.end]
    for key, count in Counter(_keys(node.value)).items():
        mark = re.escape(key)
        quoted = re.findall(rf"[\"'“‘]{mark}[\"'”’]\s*+[:=]", text)
        if count != len(quoted or re.findall(rf"(?<![\w\\]){mark}\s*+[:=]", text)):
            return False
    return _is_uniform(node.value, is_cut=node.is_cut)


def _is_uniform(value: Any, *, is_cut: bool) -> bool:
    """Whether entries side by side have the same keys; the last of a cut reply may lack some."""
    if isinstance(value, dict):
        entries = [item for key, item in value.items() if read_number(str(key)) is not None]
        inner = all(_is_uniform(item, is_cut=is_cut) for item in value.values())
        return inner and _is_uniform(entries, is_cut=is_cut)
    if not isinstance(value, list) or not any(isinstance(item, dict) for item in value):
        return True
    kinds = [set(item) if isinstance(item, dict) else None for item in value]
    whole = kinds[:-1] if is_cut else kinds
    return all(kind == kinds[0] for kind in whole)


def _keys(value: Any) -> Iterator[str]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield from (key for key in value if CUT not in key)
    for item in inner:
        yield from _keys(item)


_TOKEN: Final = re.compile(r'"((?:[^"\\]++|\\.)*+)("?)|[{}\[\],:]|[^\s"{}\[\],:]++', re.DOTALL)


def _with_starts(reply: str, node: Node, entries: list[_Entry]) -> list[_Entry]:
    """The entries with the offsets of their labels, if each is found in its place for certain."""
    keys = {entry.key for entry in entries}
    found: list[tuple[str, str, int]] = []
    before: tuple[str, str] = ("", "")
    for match in _TOKEN.finditer(reply, node.start, node.end):
        text = match[1]
        if text is not None and before[1] == ":" and before[0] in keys:
            found.append((before[0], text, match.start(1)))
        before = (before[0], ":") if match[0] == ":" else (text or "", "")
    found = found[: len(entries)] if node.is_cut else found
    if [(key, text) for key, text, _ in found] != [(e.key, e.raw_label) for e in entries]:
        return entries
    return [
        replace(entry, start=start + _lead(text))
        for entry, (_, text, start) in zip(entries, found, strict=True)
    ]


# --- plain text ------------------------------------------------------------------------------

_LINE: Final = re.compile(
    rf"^[ \t]*+(?:[-*•>|]++[ \t]*+)*+(?P<noun>{NOUN}[ \t]*+(?:no\.?|number)?[ \t]*+)?"
    r"(?P<open>[#(\[]?)(?P<number>\d{1,6})(?P<separator>[)\]*.:|=–—\- \t]++)"
    r"(?:(?:verdict|level)[* \t]*+[:=][* \t]*+)?(?P<rest>[^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_END: Final = re.compile(r"\s[-–—]|[:;,(.|\t–—]")
_WORDS_OF_A_LABEL: Final = 3


def _lead(word: str) -> int:
    """How many marks stand before the first letter of a label."""
    return len(word) - len(word.lstrip("*_\"'`“ \t\r\n"))


def _read_line(line: str | re.Match[str]) -> _Entry | None:
    """An entry from a line such as ``2. partial - reason`` or ``Claim 2: none``."""
    match = _LINE.match(line) if isinstance(line, str) else line
    if match is None or not (match["noun"] or match["open"] or match["separator"].strip()):
        return None
    rest = match["rest"].lstrip()
    end = _LABEL_END.search(rest)
    word, reason = (rest[: end.start()], rest[end.end() :]) if end else (rest, "")
    if len(word.split()) > _WORDS_OF_A_LABEL:
        return None
    start = match.start("rest") + len(match["rest"]) - len(rest) + _lead(word)
    fields = {"reason": reason.strip(" \t-–—)|*")}
    return _Entry(int(match["number"]), word, "", fields, None if isinstance(line, str) else start)


# --- settling --------------------------------------------------------------------------------


def parse_verdicts(reply: str, n_claims: int, *, with_starts: bool = True) -> ParsedReply:
    """The verdicts in a judge's reply, by claim number. Never raises.

    Read are JSON in any of the usual dresses and states of repair, reasoning blocks around it,
    other names for the keys and levels, and, where there is no JSON, lines such as
    ``1. fully - reason``. Of several readings, that with most verdicts counts, of equals the last.

    A claim is absent from the result, and so can be asked for again, if its verdict is missing,
    was cut off, is not exactly a known word, or if two verdicts on it differ.

    Args:
        reply: What the judge answered.
        n_claims: How many claims it was asked about.
        with_starts: Whether to look for the offsets of labels, which token probabilities need.

    >>> parse_verdicts('{"verdicts":[{"claim":1,"verdict":"mostly"}]}', 1).verdicts[1].label
    <Verdict.MOSTLY: 'mostly'>
    >>> parse_verdicts('{"1": "fully", "2": "maybe", "3": "no', 3).problems
    ('unknown level "maybe" for 2', 'the reply is cut off or its brackets do not match')
    """
    if not reply.strip():
        return ParsedReply({}, ("the reply is empty",))
    position, is_open = after_reasoning(reply)
    best = ParsedReply({}, ("no verdicts found in the reply",))
    for reading in _readings(reply, position, has_plain_text=not is_open, with_starts=with_starts):
        parsed = _settle(reading, n_claims)
        if len(parsed.verdicts) >= len(best.verdicts):
            best = parsed
    if is_open:
        # A draft cannot be told from an answer here, so only a full one counts.
        verdicts = best.verdicts if len(best.verdicts) == n_claims else {}
        return ParsedReply(verdicts, (*best.problems, "the block of reasoning was never closed"))
    return best


def _readings(
    reply: str, position: int, *, has_plain_text: bool, with_starts: bool
) -> list[_Reading]:
    """The ways to read a reply; where it holds no JSON with verdicts, its lines are one."""
    readings: list[_Reading] = []
    alone: list[_Entry] = []
    damage: list[str] = []
    gaps: list[str] = []
    end = position
    for node in json_values(reply, position):
        gaps.append(reply[end : node.start])
        end = node.end
        entries = _entries(node.value)
        if with_starts:
            entries = _with_starts(reply, node, entries)
        problems = [_IS_CUT] if node.is_cut else []
        if node.is_repaired and not _is_sound(reply, node):
            entries, problems = [], [*problems, _IS_DOUBTFUL]
        damage += problems
        if len(entries) == 1 and _is_entry(node.value):
            alone += entries
        elif entries:
            readings.append(_Reading(entries, problems, is_cut=node.is_cut))
    if (readings or alone) and _LEFTOVER.search("\n".join([*gaps[1:], reply[end:]])):
        # The rest of a value that seemed to end early: a quote in it was not escaped.
        return [_Reading([], [_IS_DOUBTFUL], is_cut=True)]
    if alone:  # verdicts written one after the other make one reading
        readings.append(_Reading(alone, damage, is_cut=_IS_CUT in damage))
    if readings:
        return readings
    if damage:
        return [_Reading([], damage, is_cut=True)]
    lines = (
        [_read_line(match) for match in _LINE.finditer(reply, position)] if has_plain_text else []
    )
    found = [line for line in lines if line is not None]
    known = {line.number for line in found if read_label(line.raw_label)}
    # A numbered remark before the verdict of the same number is no verdict.
    found = [line for line in found if line.number not in known or read_label(line.raw_label)]
    return [_Reading(found, [], is_cut=False)] if found else []


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and any(plain_key(key) in _LABEL_KEYS for key in value)


def _settle(reading: _Reading, n_claims: int) -> ParsedReply:
    """One verdict per claim number, and everything else as a problem."""
    entries = reading.entries
    is_in_order = all(entry.number is None for entry in entries) and not reading.is_cut
    if is_in_order and len(entries) == n_claims:
        entries = [replace(entry, number=i) for i, entry in enumerate(entries, start=1)]
    problems: list[str] = []
    if unnumbered := sum(entry.number is None for entry in entries):
        problems.append(f"{unnumbered} without a claim number")
    by_number = _by_number(entries)
    if 0 in by_number:
        if set(by_number) == set(range(n_claims)):
            by_number = {number + 1: given for number, given in by_number.items()}
        else:
            problems.append("numbered from 0, but not from 0 to one below the number of claims")
            by_number = {}
    verdicts: dict[int, ParsedVerdict] = {}
    for number, given in sorted(by_number.items()):
        problem = _problem(number, given, n_claims)
        if problem:
            problems.append(problem)
        entry, label = given[0]
        if label is not None and 1 <= number <= n_claims and len({g[1] for g in given}) == 1:
            verdicts[number] = _verdict(number, label, entry)
    problems += dict.fromkeys(reading.problems)
    if len(problems) > _MAX_PROBLEMS:
        problems[_MAX_PROBLEMS:] = [f"{len(problems) - _MAX_PROBLEMS} further problems"]
    return ParsedReply(verdicts, tuple(problems))


def _by_number(entries: list[_Entry]) -> dict[int, list[tuple[_Entry, Label | None]]]:
    by_number: dict[int, list[tuple[_Entry, Label | None]]] = defaultdict(list)
    for entry, label in zip(entries, _read_labels(entries), strict=True):
        if entry.number is not None:
            by_number[entry.number].append((entry, label))
    return by_number


def _problem(number: int, given: list[tuple[_Entry, Label | None]], n_claims: int) -> str | None:
    if not 1 <= number <= n_claims:
        return f"extra {number}"
    labels = {label for _, label in given}
    if len(labels) > 1:
        words = ", ".join(sorted(str(label or "unknown") for label in labels))
        return f"conflicting verdicts for {number}: {words}"
    if labels == {None}:
        shown = str(given[0][0].raw_label)
        if CUT in shown:
            return f"cut off at {number}"
        return f'unknown level "{shown[:SHOWN]}" for {number}'
    return f"duplicate {number}" if len(given) > 1 else None


def _verdict(number: int, label: Label, entry: _Entry) -> ParsedVerdict:
    passage = read_number(_first(entry.fields, _PASSAGE_KEYS), PASSAGE)
    named = _first(entry.fields, _SENTENCE_KEYS)
    sentences = map(read_number, named if isinstance(named, list) else [named])
    return ParsedVerdict(
        number=number,
        label=label,
        evidence=_text(_first(entry.fields, _EVIDENCE_KEYS)),
        reason=_text(_first(entry.fields, _REASON_KEYS)),
        passage=passage if passage and passage > 0 else None,
        sentences=tuple(number for number in sentences if number),
        start=entry.start,
    )


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ... ".join(text for item in value if (text := _text(item)))
    if isinstance(value, dict):
        return _text(list(value.values()))
    return "" if value is None else str(value).replace(CUT, "").strip()


def parse_claims(reply: str) -> list[str] | None:
    """The claims in a judge's reply, in order; None if there is no list to be read. Never raises.

    Read are a JSON list of texts or of objects with a text, by itself or under a key, and, where
    there is no JSON, lines with a number or a bullet. Of several lists, the last counts. A list
    that was cut off is not read, because nobody can tell which claims it lacks. An empty list is
    an answer too: the judge found nothing that is claimed.

    >>> parse_claims('{"claims": ["One is odd.", "Two is even."]}')
    ['One is odd.', 'Two is even.']
    >>> parse_claims('{"claims": []}')
    []
    >>> parse_claims('{"claims": ["One is odd.", "Two is') is None
    True
    """
    position, is_open = after_reasoning(reply)
    nodes = [] if is_open else list(json_values(reply, position))
    if is_open or any(node.is_cut for node in nodes):
        return None
    lists = [texts for node in nodes if (texts := _claim_texts(node.value)) is not None]
    if lists:
        return lists[-1]
    lines = [match["text"].strip() for match in _BULLET.finditer(reply, position)]
    return lines if lines and not nodes else None


_BULLET: Final = re.compile(
    rf"^[ \t]*+(?:[-*•]|{NOUN}?[ \t]*+\d{{1,3}}[.):])[ \t]++(?P<text>[^\n]*[^\s])",
    re.IGNORECASE | re.MULTILINE,
)
_CLAIM_LIST_KEYS: Final = ("claims", "statements", "sentences", "facts")
_CLAIM_TEXT_KEYS: Final = ("claim", "text", "statement", "sentence", "content", "fact")


def _claim_texts(value: Any, depth: int = 0) -> list[str] | None:
    """The texts of a list of claims; None where the value is none, or holds something else."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list):
        texts = [_claim_text(item) for item in value]
        return None if None in texts else [text for text in texts if text]
    if not isinstance(value, dict):
        return None
    fields = {plain_key(key): item for key, item in value.items()}
    for key in _CLAIM_LIST_KEYS:
        if key in fields:
            return _claim_texts(fields[key], depth + 1)
    if value and all(read_number(str(key)) is not None for key in value):
        return _claim_texts(list(value.values()), depth + 1)
    nested = (_claim_texts(item, depth + 1) for item in value.values())
    return next((texts for texts in nested if texts is not None), None)


def _claim_text(item: Any) -> str | None:
    if isinstance(item, dict):
        fields = {plain_key(key): value for key, value in item.items()}
        item = next((fields[key] for key in _CLAIM_TEXT_KEYS if key in fields), None)
    return item.strip() if isinstance(item, str) else None
