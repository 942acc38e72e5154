"""What a judge model answered, read with care: a reply may be anything at all.

Four rules hold throughout. A verdict is never invented: what was cut off, contradicts itself or
is not exactly a known word is left out and said to be. A verdict is never taken from the text of a
quote, nor JSON or lines that stand in the sample for one. And the work is bounded: a reply of any
length and form is read in about linear time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from tcva_adapters.judges.reply_words import NOUN, PASSAGE, SHOWN, Label, read_label, read_number
from tcva_adapters.models.reply_json import (
    MAX_DEPTH,
    MAX_REPAIRED,
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
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> Label | None:
        return read_label(self.raw_label) if isinstance(self.raw_label, str) else None

    def first(self, kind: str) -> Any:
        given = (self.fields.get(key) for key in _KEYS[kind])
        return next((value for value in given if value is not None), None)

    @property
    def essence(self) -> tuple[object, ...]:
        """What stays the same where JSON is quoted in another dress."""
        texts = (_plain(_text(self.first(kind))) for kind in ("evidence", "reason"))
        return (self.number, self.label, *texts)


_KEYS: Final = {
    kind: words.split()
    for kind, words in {
        "label": "verdict label level judgement judgment rating classification support_level score",
        "number": "claim claim_number claim_no claim_id claim_index number no id index statement "
        "statement_number statement_id criterion criterion_number # n i",
        "evidence": "evidence quote quote_from_passage quote_from_reference quote_from_question "
        "quote_from_response quotes supporting_quote citation support",
        "reason": "reason explanation reasoning rationale justification",
        "passage": "passage passage_number passage_id passage_no context source",
        "words": "verdicts verdict results judgements judgments labels",
        "list": "evaluations assessments claims statements criteria answers output result response",
        "claims": "claims statements sentences facts",
        "claim": "claim text statement sentence content fact",
    }.items()
}
_IS_CUT: Final = "the reply is cut off or its brackets do not match"
_IS_DOUBTFUL: Final = "the reply is broken, and its verdicts cannot be told from quoted ones"
_LEFTOVER: Final = re.compile(r"[\"'](?:verdict|label|level)[\"']\s*+:", re.IGNORECASE)
_MAX_PROBLEMS: Final = 20
_MARKS: Final = re.compile(r"[\s\"'“”‘’\\]+")


def _plain(text: str) -> str:
    return _MARKS.sub("", text).casefold()


@dataclass(frozen=True)
class _Shown:
    """What the judge was shown: what stands there is quoted, and no answer of the judge."""

    texts: Sequence[str]

    def has(self, text: str) -> bool:
        """Whether a text stands there, whatever its spaces, quotes and escapes."""
        return _plain(text) in self._plain

    def has_json(self, text: str, entries: Iterable[_Entry]) -> bool:
        """Whether JSON stands there as a text, or its entries in whatever form."""
        if not any("{" in shown or "[" in shown for shown in self.texts):
            return False
        return self.has(text) or {entry.essence for entry in entries} <= self._essences

    @cached_property
    def _plain(self) -> str:
        return "\n".join(map(_plain, self.texts))

    @cached_property
    def nodes(self) -> list[Node]:
        """The JSON values in there."""
        share = MAX_REPAIRED // max(len(self.texts), 1)
        return [node for text in self.texts for node in json_values(text, 0, share)]

    @cached_property
    def _essences(self) -> set[tuple[object, ...]]:
        return {entry.essence for node in self.nodes for entry in _entries(node.value)}


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
    shown = _Shown(tuple(sample_texts))
    readings, damage = _json_readings(reply, position, shown)
    if not readings and not damage and not is_open:
        readings = [_line_entries(reply, position, shown)]
    found = [_settle(entries, n_claims, damage) for entries in readings or [[]]]
    best = max(reversed(found), key=lambda each: len(each.verdicts))
    verdicts, problems = best.verdicts, best.problems
    differing = [
        n
        for n, verdict in verdicts.items()
        if any(n in each.verdicts and each.verdicts[n].label != verdict.label for each in found)
    ]
    if differing:
        problems += (f"two readings differ for {', '.join(map(str, differing))}",)
    if is_open:
        problems += ("the block of reasoning was never closed",)
    if is_open and len(verdicts) < n_claims:
        verdicts = {}  # a draft cannot be told from an answer here, so only a full one counts
    return ParsedReply({n: v for n, v in verdicts.items() if n not in differing}, problems)


# --- JSON ------------------------------------------------------------------------------------


def _json_readings(
    reply: str, position: int, shown: _Shown
) -> tuple[list[list[_Entry]], list[str]]:
    """The ways to read the JSON of a reply, and what is wrong with it."""
    readings: list[list[_Entry]] = []
    alone: list[_Entry] = []  # verdicts written one after the other make one reading
    damage: dict[str, None] = {}
    rest = ""
    for node in json_values(reply, position):
        rest += reply[position : node.start] if readings or alone or damage else ""
        position = node.end
        entries = [] if node.is_doubtful else _entries(node.value)
        if entries and shown.has_json(reply[node.start : node.end], entries):
            continue
        damage |= dict.fromkeys([_IS_CUT] * node.is_cut + [_IS_DOUBTFUL] * node.is_doubtful)
        is_alone = len(entries) == 1 and isinstance(node.value, dict)
        if is_alone and {*map(plain_key, node.value)} & {*_KEYS["label"]}:
            alone += entries
        elif entries:
            readings.append(entries)
    readings += [alone] if alone else []
    if readings and _LEFTOVER.search(rest + reply[position:]):
        # The rest of a value that seemed to end early: a quote in it was not escaped.
        return [], [_IS_DOUBTFUL]
    return readings, list(damage)


def _entries(value: Any, key: str = "verdicts", depth: int = 0) -> list[_Entry]:
    """All entries of a JSON value, in order; strings are never looked into."""
    if depth > MAX_DEPTH or not isinstance(value, dict | list):
        return []
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            is_list = key in _KEYS["words"]
            return [_entry_of_line(item) or _Entry(None, item) for item in value if is_list]
        return [entry for item in value for entry in _entries(item, key, depth + 1)]
    fields = {plain_key(name): item for name, item in value.items()}
    numbers = (read_number(fields[name]) for name in _KEYS["number"] if name in fields)
    own = next((n for n in numbers if n is not None), None)
    found: list[_Entry] = []
    listed: list[_Entry] = []
    for name, item in value.items():
        number = read_number(name)
        inner = _entries(item, plain_key(name), depth + 1)
        if len(inner) == 1 and inner[0].number is None:
            inner = [replace(inner[0], number=own if number is None else number)]
        # Under a claim's number stands one verdict, or none that can be told.
        found += inner if number is None or len(inner) == 1 else [_Entry(number, item)]
        listed += inner if plain_key(name) in (*_KEYS["words"], *_KEYS["list"]) else []
    label = next((name for name in _KEYS["label"] if name in fields), None)
    return listed or ([_Entry(own, fields[label], fields)] if label else found)


# --- plain text ------------------------------------------------------------------------------

_LINE: Final = re.compile(
    rf"^[ \t]*+(?:[-*•>|]++[ \t]*+)*+(?P<noun>{NOUN}[ \t]*+(?:no\.?|number)?[ \t]*+)?"
    r"(?P<open>[#(\[]?)(?P<number>\d{1,6})(?P<separator>[)\]*.:|=–—\- \t]++)"
    r"(?:(?:verdict|level)[* \t]*+[:=][* \t]*+)?(?P<rest>[^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_END: Final = re.compile(r"\s[-–—]|[:;,(.|\t–—]")
_WORDS_OF_A_LABEL: Final = 3


def _line_entries(reply: str, position: int, shown: _Shown) -> list[_Entry]:
    lines = [(match[0], _entry_of_line(match)) for match in _LINE.finditer(reply, position)]
    found = [e for line, e in lines if e and not (e.label and shown.has(line))]
    # A numbered remark before the verdict of the same number is no verdict.
    known = {entry.number for entry in found if entry.label}
    return [entry for entry in found if entry.label or entry.number not in known]


def _entry_of_line(line: str | re.Match[str]) -> _Entry | None:
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


def _settle(entries: Sequence[_Entry], n_claims: int, damage: Sequence[str]) -> ParsedReply:
    """One verdict per claim number, and everything else as a problem."""
    in_order = all(entry.number is None for entry in entries) and _IS_CUT not in damage
    if in_order and len(entries) == n_claims:
        entries = [replace(entry, number=i) for i, entry in enumerate(entries, start=1)]
    by_number: defaultdict[int, list[_Entry]] = defaultdict(list)
    for entry in entries:
        if entry.number is not None:
            by_number[entry.number].append(entry)
    before = 0 in by_number
    if before and set(by_number) != set(range(n_claims)):
        msg = "numbered from 0, but not from 0 to one below the number of claims"
        return ParsedReply({}, (msg, *damage))
    unnumbered = sum(entry.number is None for entry in entries)
    problems = [f"{unnumbered} without a claim number"] if unnumbered else []
    verdicts: dict[int, ParsedVerdict] = {}
    for number, given in sorted((n + before, given) for n, given in by_number.items()):
        (label, *others) = {entry.label for entry in given}
        if label is not None and not others and 1 <= number <= n_claims:
            verdicts[number] = _verdict(number, label, given[0])
        problems += _problems(number, given, n_claims)
    problems += damage
    if len(problems) > _MAX_PROBLEMS:
        problems[_MAX_PROBLEMS:] = [f"{len(problems) - _MAX_PROBLEMS} further problems"]
    if not problems and not verdicts:
        problems = ["no verdicts found in the reply"]
    return ParsedReply(verdicts, tuple(problems))


def _problems(number: int, given: Sequence[_Entry], n_claims: int) -> list[str]:
    labels = {entry.label for entry in given}
    if not 1 <= number <= n_claims:
        return [f"extra {number}"]
    if len(labels) > 1:
        words = ", ".join(sorted(str(label or "unknown") for label in labels))
        return [f"conflicting verdicts for {number}: {words}"]
    if None in labels:
        return [f'unknown level "{str(given[0].raw_label)[:SHOWN]}" for {number}']
    return [f"duplicate {number}"] if len(given) > 1 else []


def _verdict(number: int, label: Label, entry: _Entry) -> ParsedVerdict:
    passage = read_number(entry.first("passage"), PASSAGE) or 0
    evidence, reason = (_text(entry.first(kind)) for kind in ("evidence", "reason"))
    return ParsedVerdict(number, label, evidence, reason, passage if passage > 0 else None)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return " ... ".join(text for item in value if (text := _text(item)))
    return "" if value is None else str(value).strip()


# --- claims ----------------------------------------------------------------------------------

_BULLET: Final = re.compile(
    rf"^[ \t]*+(?:[-*•]|{NOUN}?[ \t]*+\d{{1,3}}[.):])[ \t]++(?P<text>[^\n]*[^\s])",
    re.IGNORECASE | re.MULTILINE,
)


def parse_claims(reply: str, sample_texts: Iterable[str] = ()) -> list[str] | None:
    """The claims in a judge's reply, in order; None if there is no list to be read. Never raises.

    Read are a JSON list of texts or of objects with a text, by itself or under a key, and, where
    there is no JSON, lines with a number or a bullet. Of several lists, the last counts. A list
    that was cut off is not read, because nobody can tell which claims it lacks, nor one that
    stands in the sample. An empty list is an answer too: the judge found nothing that is claimed.

    Args:
        reply: What the judge answered.
        sample_texts: What the judge was shown.

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
    shown = _Shown(tuple(sample_texts))
    # A response may well be JSON; what stands there in the form of an answer is none.
    values = [node.value for node in shown.nodes if isinstance(node.value, dict)]
    forms = [value for value in values if {*map(plain_key, value)} & {*_KEYS["claims"]}]
    quoted = [texts for value in forms if (texts := _claim_texts(value)) is not None]
    lists = [
        texts
        for node in nodes
        if (texts := _claim_texts(node.value)) is not None
        and not shown.has(reply[node.start : node.end])
        and not any(texts == other or (texts and {*texts} <= {*other}) for other in quoted)
    ]
    if nodes:
        return lists[-1] if lists else None
    lines = list(_BULLET.finditer(reply, position))
    if any(shown.has(line[0]) for line in lines):
        return None
    return [line["text"].strip() for line in lines] or None


def _claim_texts(value: Any, depth: int = 0) -> list[str] | None:
    """The texts of a list of claims; None where the value is none, or holds something else."""
    if isinstance(value, dict) and depth <= MAX_DEPTH:
        if value and all(read_number(key) is not None for key in value):
            return _claim_texts(list(value.values()))
        named = [item for key, item in value.items() if plain_key(key) in _KEYS["claims"]]
        inner = (_claim_texts(item, depth + 1) for item in named or value.values())
        return next((texts for texts in inner if texts is not None), None)
    if not isinstance(value, list):
        return None
    texts = []
    for item in value:
        fields = (
            {plain_key(key): text for key, text in item.items()} if isinstance(item, dict) else {}
        )
        text = next((fields[key] for key in _KEYS["claim"] if key in fields), item)
        if not isinstance(text, str):
            return None
        texts += [text.strip()] if text.strip() else []
    return texts
