"""What a judge model answered, read with care: a reply may be anything at all.

Four rules hold throughout. A verdict is never invented: what was cut off, contradicts itself or
is not exactly a known word is left out and said to be. A verdict is never taken from the text of a
quote, nor JSON that stands in the sample for one. And the work is bounded: a reply of any length
and form is read in about linear time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tcva_adapters.judges.reply_words import NOUN, PASSAGE, SHOWN, Label, read_label, read_number
from tcva_adapters.models.reply_json import (
    CUT,
    MAX_DEPTH,
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
    """

    number: int
    label: Label
    evidence: str = ""
    reason: str = ""
    passage: int | None = None


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
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Reading:
    """Entries that belong together, and what was wrong with the text that they come from."""

    entries: list[_Entry]
    problems: list[str]
    is_cut: bool = False


_LABEL_KEYS: Final = (
    "verdict label level judgement judgment rating classification support_level score".split()  # noqa: SIM905  # a word list reads better as text
)
_NUMBER_KEYS: Final = (
    "claim claim_number claim_no claim_id claim_index number no id index statement statement_number "  # noqa: SIM905  # as above
    "statement_id criterion criterion_number # n i".split()
)
_EVIDENCE_KEYS: Final = (
    "evidence quote quote_from_passage quote_from_reference quote_from_question quote_from_response "  # noqa: SIM905  # as above
    "quotes supporting_quote citation support".split()
)
_REASON_KEYS: Final = ("reason", "explanation", "reasoning", "rationale", "justification")
_PASSAGE_KEYS: Final = (
    "passage",
    "passage_number",
    "passage_id",
    "passage_no",
    "context",
    "source",
)
_WORD_LIST_KEYS: Final = (
    "verdicts",
    "verdict",
    "results",
    "judgements",
    "judgments",
    "labels",
)
_LIST_KEYS: Final = (
    *_WORD_LIST_KEYS,
    *"evaluations assessments claims statements criteria answers output result response".split(),  # noqa: SIM905  # as above
)
_IS_CUT: Final = "the reply is cut off or its brackets do not match"
_IS_DOUBTFUL: Final = "the reply is broken, and its verdicts cannot be told from quoted ones"
_LEFTOVER: Final = re.compile(r"[\"'](?:verdict|label|level)[\"']\s*+:", re.IGNORECASE)
_MAX_PROBLEMS: Final = 20


def parse_verdicts(reply: str, n_claims: int, sample_texts: Iterable[str] = ()) -> ParsedReply:
    """The verdicts in a judge's reply, by claim number. Never raises.

    Read are JSON in any of the usual dresses and states of repair, reasoning blocks around it,
    other names for the keys and levels, and, where there is no JSON, lines such as
    ``1. fully - reason``.

    A claim is absent from the result, and so can be asked for again, if its verdict is missing,
    was cut off, is not exactly a known word, or if two verdicts on it differ, in one reading of the
    reply or between two of them.

    Args:
        reply: What the judge answered.
        n_claims: How many claims it was asked about.
        sample_texts: What the judge was shown; JSON and lines that stand there are no verdicts.

    >>> parse_verdicts('{"verdicts":[{"claim":1,"verdict":"mostly"}]}', 1).verdicts[1].label
    <Verdict.MOSTLY: 'mostly'>
    >>> parse_verdicts('{"1": "fully", "2": "maybe"}', 2).problems
    ('unknown level "maybe" for 2',)
    >>> quoting = '{"1": "none"} since it says {"1": "fully"}'
    >>> parse_verdicts(quoting, 1, ['A note: {"1": "fully"}.']).verdicts[1].label
    <Verdict.NONE: 'none'>
    >>> parse_verdicts(quoting, 1).problems
    ('two readings differ for 1',)
    """
    if not reply.strip():
        return ParsedReply({}, ("the reply is empty",))
    position, is_open = after_reasoning(reply)
    shown = _Shown(sample_texts)
    readings = _json_readings(reply, position, shown)
    if readings is None:
        readings = [] if is_open else _line_readings(reply, position, shown)
    found = [_settle(reading, n_claims) for reading in readings]
    verdicts: dict[int, ParsedVerdict] = {}
    problems: tuple[str, ...] = ("no verdicts found in the reply",)
    for each in found:
        if len(each.verdicts) >= len(verdicts):
            verdicts, problems = each.verdicts, each.problems
    differing = [
        n
        for n, verdict in verdicts.items()
        if any(n in each.verdicts and each.verdicts[n].label != verdict.label for each in found)
    ]
    if differing:
        problems += (f"two readings differ for {', '.join(map(str, differing))}",)
        verdicts = {n: verdict for n, verdict in verdicts.items() if n not in differing}
    if is_open:
        # A draft cannot be told from an answer here, so only a full one counts.
        verdicts = verdicts if len(verdicts) == n_claims else {}
        problems += ("the block of reasoning was never closed",)
    return ParsedReply(verdicts, problems)


class _Shown:
    """What the judge was shown, as quotes of it are compared: without spaces, quotes and escapes."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._plain: str | None = None

    def __contains__(self, text: str) -> bool:
        if self._plain is None:
            self._plain = "\n".join(map(_plain, self._texts))
        return bool(self._plain) and _plain(text) in self._plain


_MARKS: Final = re.compile(r"[\s\"'“”‘’\\]+")


def _plain(text: str) -> str:
    return _MARKS.sub("", text).casefold()


# --- JSON ------------------------------------------------------------------------------------


def _json_readings(reply: str, position: int, shown: _Shown) -> list[_Reading] | None:
    """The ways to read the JSON of a reply; None where it holds none that is meant for verdicts."""
    readings: list[_Reading] = []
    alone: list[_Entry] = []
    damage: list[str] = []
    gaps: list[str] = []
    end = position
    for node in json_values(reply, position):
        gaps.append(reply[end : node.start])
        end = node.end
        entries = [] if node.is_doubtful else _entries(node.value)
        if entries and reply[node.start : node.end] in shown:
            continue
        problems = [_IS_CUT] if node.is_cut else []
        problems += [_IS_DOUBTFUL] if node.is_doubtful else []
        damage += problems
        if len(entries) == 1 and _is_entry(node.value):
            alone += entries
        elif entries:
            readings.append(_Reading(entries, problems, is_cut=node.is_cut))
    if (readings or alone) and _LEFTOVER.search("\n".join([*gaps[1:], reply[end:]])):
        # The rest of a value that seemed to end early: a quote in it was not escaped.
        return [_Reading([], [_IS_DOUBTFUL])]
    if alone:  # verdicts written one after the other make one reading
        readings.append(_Reading(alone, damage, is_cut=_IS_CUT in damage))
    return readings or ([_Reading([], damage)] if damage else None)


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and any(plain_key(key) in _LABEL_KEYS for key in value)


def _entries(value: Any, depth: int = 0) -> list[_Entry]:
    """All entries of a JSON value, in order; strings are never looked into."""
    if depth > MAX_DEPTH:
        return []
    if isinstance(value, list):
        if _is_words(value):
            return [_read_line(item) or _Entry(None, item, {}) for item in value]
        return [entry for item in value for entry in _entries(item, depth + 1)]
    return _entries_of_mapping(value, depth) if isinstance(value, dict) else []


def _entries_of_mapping(value: dict[str, Any], depth: int) -> list[_Entry]:
    """One entry, a map from claim numbers, or whatever a known or unknown key holds."""
    fields = {plain_key(key): item for key, item in value.items()}
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
    label_key = next((key for key in _LABEL_KEYS if key in fields), None)
    if label_key is not None:
        return [_Entry(number, fields[label_key], fields)]
    numbered = [(n, key) for key in value if (n := read_number(str(key))) is not None]
    if numbered:
        return [_numbered(n, value[key], depth) for n, key in numbered]
    nested = (item for item in value.values() if not _is_words(item))
    return [entry for item in nested for entry in _entries(item, depth + 1)]


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _numbered(number: int, value: Any, depth: int) -> _Entry:
    if not isinstance(value, dict):
        return _Entry(number, value, {})
    inner = _entries(value, depth + 1)
    if len(inner) != 1:
        return _Entry(number, None, {})
    return inner[0] if inner[0].number is not None else replace(inner[0], number=number)


# --- plain text ------------------------------------------------------------------------------

_LINE: Final = re.compile(
    rf"^[ \t]*+(?:[-*•>|]++[ \t]*+)*+(?P<noun>{NOUN}[ \t]*+(?:no\.?|number)?[ \t]*+)?"
    r"(?P<open>[#(\[]?)(?P<number>\d{1,6})(?P<separator>[)\]*.:|=–—\- \t]++)"
    r"(?:(?:verdict|level)[* \t]*+[:=][* \t]*+)?(?P<rest>[^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_END: Final = re.compile(r"\s[-–—]|[:;,(.|\t–—]")
_WORDS_OF_A_LABEL: Final = 3


def _line_readings(reply: str, position: int, shown: _Shown) -> list[_Reading]:
    lines = [
        entry
        for match in _LINE.finditer(reply, position)
        if (entry := _read_line(match)) is not None
        and not (read_label(entry.raw_label) and match[0] in shown)
    ]
    known = {line.number for line in lines if read_label(line.raw_label)}
    # A numbered remark before the verdict of the same number is no verdict.
    found = [line for line in lines if line.number not in known or read_label(line.raw_label)]
    return [_Reading(found, [])] if found else []


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
    return _Entry(int(match["number"]), word, {"reason": reason.strip(" \t-–—)|*")})


# --- settling --------------------------------------------------------------------------------


def _settle(reading: _Reading, n_claims: int) -> ParsedReply:
    """One verdict per claim number, and everything else as a problem."""
    entries = reading.entries
    is_in_order = all(entry.number is None for entry in entries) and not reading.is_cut
    if is_in_order and len(entries) == n_claims:
        entries = [replace(entry, number=i) for i, entry in enumerate(entries, start=1)]
    problems: list[str] = []
    if unnumbered := sum(entry.number is None for entry in entries):
        problems.append(f"{unnumbered} without a claim number")
    by_number: dict[int, list[_Entry]] = defaultdict(list)
    for entry in entries:
        if entry.number is not None:
            by_number[entry.number].append(entry)
    if 0 in by_number:
        if set(by_number) == set(range(n_claims)):
            by_number = {number + 1: given for number, given in by_number.items()}
        else:
            problems.append("numbered from 0, but not from 0 to one below the number of claims")
            by_number = {}
    verdicts: dict[int, ParsedVerdict] = {}
    for number, given in sorted(by_number.items()):
        labels = {_label(entry) for entry in given}
        problem = _problem(number, given, labels, n_claims)
        problems += [problem] if problem else []
        (label, *others) = labels
        if label is not None and not others and 1 <= number <= n_claims:
            verdicts[number] = _verdict(number, label, given[0].fields)
    problems += dict.fromkeys(reading.problems)
    if len(problems) > _MAX_PROBLEMS:
        problems[_MAX_PROBLEMS:] = [f"{len(problems) - _MAX_PROBLEMS} further problems"]
    return ParsedReply(verdicts, tuple(problems))


def _problem(
    number: int, given: Sequence[_Entry], labels: Collection[Label | None], n_claims: int
) -> str | None:
    if not 1 <= number <= n_claims:
        return f"extra {number}"
    if len(labels) > 1:
        words = ", ".join(sorted(str(label or "unknown") for label in labels))
        return f"conflicting verdicts for {number}: {words}"
    if None in labels:
        word = str(given[0].raw_label)
        if CUT in word:
            return f"cut off at {number}"
        return f'unknown level "{word[:SHOWN]}" for {number}'
    return f"duplicate {number}" if len(given) > 1 else None


def _label(entry: _Entry) -> Label | None:
    return read_label(entry.raw_label) if isinstance(entry.raw_label, str) else None


def _verdict(number: int, label: Label, fields: Mapping[str, Any]) -> ParsedVerdict:
    def first(keys: Sequence[str]) -> Any:
        return next((fields[key] for key in keys if fields.get(key) is not None), None)

    passage = read_number(first(_PASSAGE_KEYS), PASSAGE)
    return ParsedVerdict(
        number=number,
        label=label,
        evidence=_text(first(_EVIDENCE_KEYS)),
        reason=_text(first(_REASON_KEYS)),
        passage=passage if passage and passage > 0 else None,
    )


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ... ".join(text for item in value if (text := _text(item)))
    if isinstance(value, dict):
        return _text(list(value.values()))
    return "" if value is None else str(value).replace(CUT, "").strip()


# --- claims ----------------------------------------------------------------------------------


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
