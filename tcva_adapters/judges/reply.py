"""What a judge model answered, read with care: a reply may be anything at all.

Four rules hold throughout. A verdict is never invented: what was cut off, contradicts itself or
is not exactly a known word is left out and said to be. A verdict is never taken from the text of a
quote, nor JSON or lines that stand in the sample for one, in whatever dress the judge repeats them.
And the work is bounded: a reply of any length and form is read in about linear time.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, product
from typing import Any, Final, Literal, TypeAlias

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.judges.prompts import ASSERTS
from tcva_adapters.models import reply_json
from tcva_adapters.text.words import listed as words_in

Label: TypeAlias = Verdict | Literal["not_a_claim", "refusal"]
"""A level, or the mark of a sentence that claims nothing or declines to answer."""


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """One verdict as the judge gave it.

    Attributes:
        number: The claim's number, counted from 1; None where the judge names none.
        label: A level, or the mark of a sentence without a claim; None for any other word.
        evidence: The quote, empty where there is none; several quotes joined by " ... ".
        reason: The judge's reason, or an empty string.
        word: What stands in the place of the label.
    """

    number: int | None
    label: Label | None
    evidence: str = ""
    reason: str = ""
    word: object = ""


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The verdicts of a reply by claim number, and what was wrong with it.

    Attributes:
        verdicts: Only verdicts that are beyond doubt. A claim that is absent has none.
        problems: What was found and not used, in words for a reader.
    """

    verdicts: dict[int, ParsedVerdict]
    problems: tuple[str, ...]


_KEYS: Final = {
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
_LABEL_KEYS: Final = frozenset(_KEYS["label"])
_LIST_KEYS: Final = frozenset(_KEYS["words"] + _KEYS["list"])
_CLAIM_KEYS: Final = frozenset({"claims", "statements", "sentences", "facts"})
_IS_CUT: Final = "the reply is cut off or its brackets do not match"
_IS_DOUBTFUL: Final = (
    "the reply is broken: its verdicts cannot be separated from quoted text"
)
_LEFTOVER: Final = re.compile(r"[\"'](?:verdict|label|level)[\"']\s*+:", re.IGNORECASE)
_MOST_PROBLEMS: Final = 20


def parse_verdicts(
    reply: str, n_claims: int, sample_texts: Iterable[str] = ()
) -> ParsedReply:
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
    ('unknown level "maybe" for claim 2',)
    >>> quoting = '{"1": "none"} since it says {"1": "fully"}'
    >>> parse_verdicts(quoting, 1, ['A note: {"1": "fully"}.']).verdicts[1].label
    <Verdict.NONE: 'none'>
    >>> parse_verdicts(quoting, 1).problems
    ('the reply can be read in two ways for claim 1',)
    """
    if not reply.strip():
        return ParsedReply({}, ("the reply is empty",))
    position, is_open = reply_json.after_reasoning(reply)
    shown = tuple(sample_texts)
    readings, damage = _json_readings(reply, position, shown)
    if not (readings or damage or is_open):
        readings = [_line_entries(reply, position, shown)]
    first, *others = readings or [[]]
    best = _settle(first, n_claims, damage)
    if others:
        best = _agreed(
            [best, *(_settle(entries, n_claims, damage) for entries in others)]
        )
    if not is_open:
        return best
    # A draft looks like an answer here, so only a full one counts.
    verdicts = best.verdicts if len(best.verdicts) == n_claims else {}
    return ParsedReply(
        verdicts, (*best.problems, "the reasoning in the reply does not end")
    )


def _agreed(settled: Sequence[ParsedReply]) -> ParsedReply:
    """The last of the fullest readings, without the verdicts that another one differs from."""
    best = max(reversed(settled), key=lambda each: len(each.verdicts))
    differing = [
        number
        for number, verdict in best.verdicts.items()
        if any(
            each.verdicts.get(number, verdict).label != verdict.label
            for each in settled
        )
    ]
    if not differing:
        return best
    numbers = ", ".join(map(str, differing))
    problem = f"the reply can be read in two ways for claim {numbers}"
    verdicts = {
        n: verdict for n, verdict in best.verdicts.items() if n not in differing
    }
    return ParsedReply(verdicts, (*best.problems, problem))


def _settle(
    entries: Sequence[ParsedVerdict], n_claims: int, damage: Sequence[str]
) -> ParsedReply:
    """One verdict per claim number, and everything else as a problem."""
    by_number: dict[int, dict[Label | None, ParsedVerdict]] = {}
    unnumbered = 0
    for entry in entries:
        if entry.number is None:
            unnumbered += 1
        else:
            by_number.setdefault(entry.number, {}).setdefault(entry.label, entry)
    if unnumbered == len(entries) == n_claims and _IS_CUT not in damage:
        by_number, unnumbered = (
            {i: {e.label: e} for i, e in enumerate(entries, start=1)},
            0,
        )
    is_from_zero = 0 in by_number
    if is_from_zero and set(by_number) != set(range(n_claims)):
        msg = f"claims numbered from 0 must end at {n_claims - 1}, and those of the reply do not"
        return ParsedReply({}, (msg, *damage))
    problems = [f"{unnumbered} verdicts without a claim number"] if unnumbered else []
    verdicts: dict[int, ParsedVerdict] = {}
    for written in sorted(by_number):
        number, given = written + is_from_zero, by_number[written]
        verdict = next(iter(given.values()))
        if not 1 <= number <= n_claims:
            problems.append(f"a verdict for claim {number}, which does not exist")
        elif len(given) > 1:
            labels = ", ".join(sorted(str(label or "unknown") for label in given))
            problems.append(f"conflicting verdicts for claim {number}: {labels}")
        elif verdict.label is None:
            problems.append(
                f'unknown level "{str(verdict.word)[:_SHOWN]}" for claim {number}'
            )
        else:
            verdicts[number] = replace(verdict, number=number)
    problems += damage
    if not problems and not verdicts:
        problems = ["no verdicts found in the reply"]
    return ParsedReply(verdicts, tuple(problems[:_MOST_PROBLEMS]))


# --- JSON ------------------------------------------------------------------------------------


def _json_readings(
    reply: str, position: int, shown: tuple[str, ...]
) -> tuple[list[list[ParsedVerdict]], list[str]]:
    """The ways to read the JSON of a reply, and what is wrong with it."""
    readings: list[list[ParsedVerdict]] = []
    alone: list[
        ParsedVerdict
    ] = []  # verdicts written one after the other make one reading
    damage: dict[str, None] = {}
    rest, heading, since = "", "", position
    for node in reply_json.json_values(reply, position):
        rest += reply[position : node.start] if readings or alone or damage else ""
        position = node.end
        entries = _entries(node.value)
        if entries:
            held, verdicts = _quotable(shown)
            words = repeated_words(reply[node.start : node.end])
            if words in held or verdicts.issuperset(map(_essence, entries)):
                continue
            heading, since = reply[since : node.start], node.end
        if node.is_cut:
            damage[_IS_CUT] = None
        if node.is_doubtful:
            damage[_IS_DOUBTFUL] = None
        if len(entries) == 1 and not _LABEL_KEYS.isdisjoint(
            map(reply_json.plain_key, node.value)
        ):
            alone.append(_under_heading(entries[0], heading))
        elif entries:
            readings.append(entries)
    if alone:
        # Where only some have a number, a number may belong to the verdict before it.
        is_mixed = len({entry.number is None for entry in alone}) > 1
        readings.append([] if is_mixed else alone)
    if readings and _LEFTOVER.search(rest + reply[position:]):
        # The rest of a value that seemed to end early: a quote in it was not escaped.
        return [], [_IS_DOUBTFUL]
    return readings, list(damage)


def _under_heading(entry: ParsedVerdict, before: str) -> ParsedVerdict:
    """A verdict with the number in the text before it; -1, which no claim has, for several."""
    numbers = {*_HEADING.findall(before)}
    if entry.number is not None or not numbers:
        return entry
    return replace(entry, number=int(*numbers) if len(numbers) == 1 else -1)


def _entries(value: Any, key: str = "verdicts", depth: int = 0) -> list[ParsedVerdict]:
    """All entries of a JSON value, in order; strings are never looked into."""
    if depth > reply_json.MAX_DEPTH or not isinstance(value, dict | list):
        return []
    if isinstance(value, dict):
        return _object_entries(value, depth)
    if key in _KEYS["words"] and all(isinstance(item, str) for item in value):
        return [_entry_of_line(item) or _entry(None, item) for item in value]
    found: list[ParsedVerdict] = []
    for item in value:
        found += _entries(item, key, depth + 1)
    return found


def _object_entries(value: dict[str, Any], depth: int) -> list[ParsedVerdict]:
    """The verdict that an object is, or those of the lists and objects in it."""
    fields: dict[str, Any] = {}
    found: list[ParsedVerdict] = []
    listed: list[ParsedVerdict] = []
    for name, item in value.items():
        plain, number = reply_json.plain_key(name), read_number(name)
        fields[plain] = item
        inner = [] if plain in _KEYS["text"] else _entries(item, plain, depth + 1)
        if number is not None and len(inner) != 1:
            inner = [_entry(number, item)]  # under a number stands one verdict, or none
        elif number is not None and inner[0].number is None:
            inner = [replace(inner[0], number=number)]
        found += inner
        if plain in _LIST_KEYS:
            listed += inner
    numbers = (read_number(fields.get(name)) for name in _KEYS["number"])
    own = next((number for number in numbers if number is not None), None)
    labels = {
        _entry(None, item).label
        for name, item in value.items()
        if reply_json.plain_key(name) in _LABEL_KEYS
    } - {None}
    different = labels.union(entry.label for entry in found) - {None}
    if labels and len(different) > 1:
        return [ParsedVerdict(own, None, word=" / ".join(sorted(map(str, different))))]
    if not (listed or _LABEL_KEYS.isdisjoint(fields)):
        return [_entry(own, _first(fields, "label"), fields)]
    found = listed or found
    if len(found) == 1 and found[0].number is None:
        return [replace(found[0], number=own)]
    return found


def _first(fields: Mapping[str, Any], kind: str) -> Any:
    for key in _KEYS[kind]:
        if fields.get(key) is not None:
            return fields[key]
    return None


def _entry(
    number: int | None, word: object, fields: Mapping[str, Any] | None = None
) -> ParsedVerdict:
    """What a word in the place of a label, and the other fields, say."""
    label = read_label(word) if isinstance(word, str) else None
    if not fields:
        return ParsedVerdict(number, label, word=word)
    evidence, reason = (
        _text(_first(fields, "evidence")),
        _text(_first(fields, "reason")),
    )
    return ParsedVerdict(number, label, evidence, reason, word)


def _text(value: Any, depth: int = 0) -> str:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return "" if value is None else str(value).strip()
    texts = (
        [_text(item, depth + 1) for item in value]
        if depth < reply_json.MAX_DEPTH
        else []
    )
    return " ... ".join(filter(None, texts))


# --- what stands in the sample ---------------------------------------------------------------

_CODE: Final = re.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_DRESS: Final = re.compile(
    r"\\+[nrt]?|</?[a-zA-Z][^<>]{0,100}>|^[ \t]*+(?:[>|*•#-]++[ \t]*+)++|\|[ \t]*+$",
    re.MULTILINE,
)
_CUT: Final = re.compile(r"\.\.+|…")
_Essence: TypeAlias = tuple[int | None, Label | None, str]


def _undressed(text: str) -> str:
    """A text without escapes, tags and prefixes of lines."""
    coded = _CODE.sub(r"&#x\1\2;", text)
    return _DRESS.sub(" ", html.unescape(html.unescape(coded)))


def repeated_words(text: str) -> str:
    r"""The words of a text as they stay when it is quoted, between blanks.

    >>> repeated_words('> **1.** \\"Fully&quot;') == repeated_words("<li>1) fully</li>") == " 1 fully "
    True
    """
    return f" {' '.join(words_in(_undressed(text)))} "


def _essence(entry: ParsedVerdict) -> _Essence:
    """What stays the same of a verdict that is quoted in other words, or shortened."""
    evidence = (
        "" if _CUT.search(entry.evidence) else repeated_words(entry.evidence).strip()
    )
    return (entry.number, entry.label, evidence)


@lru_cache(maxsize=16)
def _quotable(shown: tuple[str, ...]) -> tuple[str, set[_Essence]]:
    """What JSON the sample holds, as words and as verdicts: without number or quote as well.

    A key that is there twice has both of its words.
    """
    verdicts: set[_Essence] = set()
    nodes = _shown_nodes(shown)
    for node in nodes:
        for entry in _entries(node.value):
            number, label, evidence = _essence(entry)
            labels = {label, *map(read_label, re.split(r"[^\w\s-]+", str(entry.word)))}
            verdicts.update(product((number, None), labels, (evidence, "")))
    return "|".join(map(repeated_words, shown)) if nodes else "", verdicts


def _shown_nodes(shown: Sequence[str]) -> list[reply_json.Node]:
    """The JSON values in the sample's texts, as they stand and without escapes."""
    nodes: list[reply_json.Node] = []
    for text in shown:
        if re.search(r"[{\[]|\\u|&#", text):
            for form in (text, _undressed(text)):
                nodes += reply_json.json_values(
                    form, 0, reply_json.MAX_REPAIRED // len(shown)
                )
    return nodes


# --- plain text ------------------------------------------------------------------------------

_NOUN: Final = r"(?:claim|statement|criterion|sentence|verdict)"
_LINE: Final = re.compile(
    rf"^[ \t]*+(?:[-*•>|]++[ \t]*+)*+(?P<noun>{_NOUN}[ \t]*+(?:no\.?|number)?[ \t]*+)?"
    r"(?P<open>[#(\[]?)(?P<number>\d{1,6})(?P<separator>[)\]*.:|=–—\- \t]++)"
    r"(?:(?:verdict|level)[* \t]*+[:=][* \t]*+)?"
    r"(?![^\n]*(?:\n[^\w\n]*+)?\b(?:verdict|level)[* \t]*+[:=])(?P<rest>[^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING: Final = re.compile(
    rf"(?:{_NOUN}[\s_]*+(?:no\.?|number)?[\s_#(\[*]*+|^[^\w\n]*+(?=\d++[.):\]]))(\d{{1,6}})",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL_END: Final = re.compile(r"\s[-–—]|[:;,(|\t–—→]|\.(?!\.)")
_WORDS_OF_A_LABEL: Final = 3
MOST_LINES: Final = 1000
"""Lines of a reply that are looked at: each is looked up in the sample."""


def _line_entries(
    reply: str, position: int, shown: tuple[str, ...]
) -> list[ParsedVerdict]:
    found, held = [], "|".join(["", *map(repeated_words, shown), ""])
    for match in islice(_LINE.finditer(reply, position), MOST_LINES):
        entry = _entry_of_line(match)
        line = reply[match.start("number") : match.end()]
        if entry and not (entry.label and _is_quoted(line, entry, held)):
            found.append(entry)
    # A numbered remark before the verdict of the same number is no verdict.
    known = {entry.number for entry in found if entry.label}
    return [entry for entry in found if entry.label or entry.number not in known]


def _is_quoted(line: str, entry: ParsedVerdict, held: str) -> bool:
    """Whether the sample has the label of a line behind the same words, or before the same ones.

    A text that begins with several words which are a label, or with one where the line has another
    label, too, may be repeated in part.
    """
    label, kept = repeated_words(str(entry.word)), _CUT.sub("", line)
    before, _, behind = repeated_words(kept).partition(label)
    is_part = behind or kept != line
    start = label + " ".join(behind.split()[:2]) if is_part else f"|{label}|"
    others = {*map(read_label, _LABEL_END.split(entry.reason))} - {None, entry.label}
    is_start = f"|{label}" in held and (others or " " in label.strip())
    # A level alone in small letters is what was asked for.
    is_held = start in held and (is_part or not line.islower())
    return bool(before + label in held or is_held or is_start)


def _entry_of_line(line: str | re.Match[str]) -> ParsedVerdict | None:
    """An entry from a line such as ``2. partial - reason`` or ``Claim 2: none``."""
    match = _LINE.match(line) if isinstance(line, str) else line
    if match is None or not (
        match["noun"] or match["open"] or match["separator"].strip()
    ):
        return None
    rest = match["rest"].lstrip()
    end = _LABEL_END.search(rest)
    word, reason = (rest[: end.start()], rest[end.end() :]) if end else (rest, "")
    if len(word.split()) > _WORDS_OF_A_LABEL:
        return None
    return _entry(int(match["number"]), word, {"reason": reason.strip(" \t-–—)|*")})


# --- single words ----------------------------------------------------------------------------

_SHOWN: Final = 40
"""No label or number is longer, and no more of one is shown."""

_WAYS: Final[dict[Verdict, str]] = {
    Verdict.FULLY: "full fully completely entirely wholly totally",
    Verdict.MOSTLY: "mostly largely mainly",
    Verdict.PARTIAL: "partial partially partly",
    Verdict.MINOR: "minor minimally slightly barely hardly",
    Verdict.NONE: "none not no",
}
_STATES: Final = "support supported satisfied met relevant correct covered addressed entailed grounded"
_FURTHER: Final[dict[str, Label]] = {
    "supported": Verdict.FULLY,
    **dict.fromkeys(("unsupported", "contradicted", "contradiction"), Verdict.NONE),
    **dict.fromkeys(("not a claim", "no claim", "non claim"), "not_a_claim"),
    **dict.fromkeys(("refusal", "refused"), "refusal"),
}
LABELS: Final[dict[str, Label]] = {
    f"{way} {state}".strip(): level
    for level, ways in _WAYS.items()
    for way, state in product(ways.split(), ["", *_STATES.split()])
    if state or way not in {"not", "no"}
} | _FURTHER
"""Every accepted word, lower case, with single spaces for hyphens and underscores."""

_NUMBER: Final = re.compile(
    rf"\s*{_NOUN}?[\s_-]*(?:no\.?\s*)?[#(\[]?(\d{{1,6}})[)\].:]*\s*", re.IGNORECASE
)


@lru_cache(maxsize=1024)
def read_label(word: str) -> Label | None:
    """The label that a word is, exactly; None where it is none of them.

    Case, surrounding quotes and marks, and hyphens or underscores for spaces do not matter. No
    part of a longer text is ever taken for the label.

    >>> read_label("**Partially_Supported**.")
    <Verdict.PARTIAL: 'partial'>
    >>> read_label("not fully") is None
    True
    """
    if len(word) > _SHOWN:
        return None
    plain = unicodedata.normalize("NFKC", _CUT.sub("?", word)).casefold()
    return LABELS.get(
        re.sub(r"[\s_-]+", " ", plain.strip("\"'`*_.,;:!()[]<>“”‘’ \t\r\n"))
    )


def read_number(raw: Any) -> int | None:
    """A whole number, alone or behind a word such as "claim"; None for anything else."""
    if isinstance(raw, str):
        match = _NUMBER.fullmatch(raw) if len(raw) <= _SHOWN else None
        return int(match[1]) if match else None
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    return int(raw) if -1 <= raw < 10**6 and raw == int(raw) else None


# --- claims ----------------------------------------------------------------------------------


def parse_claims(reply: str, sample_texts: Iterable[str] = ()) -> list[str] | None:
    """The claims in a judge's reply, in order; None if there is no list to be read. Never raises.

    Read is a JSON list of texts, by itself or under a key. Of several lists, the last counts. A
    list that was cut off is not read, because nobody can tell which claims it lacks, nor one that
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
    position, is_open = reply_json.after_reasoning(reply)
    nodes = [] if is_open else list(reply_json.json_values(reply, position))
    if any(node.is_cut for node in nodes):
        return None
    held = [node.value for node in (_shown_nodes(tuple(sample_texts)) if nodes else ())]
    # A response may well be JSON; what stands there in the form of an answer is none.
    quoted = [
        _claim_texts(value) or []
        for value in held
        if isinstance(value, dict)
        and not _CLAIM_KEYS.isdisjoint(map(reply_json.plain_key, value))
    ]
    for node in reversed(nodes):
        texts = _claim_texts(node.value)
        if texts is None or node.value in held:
            continue
        if not any(
            texts == other or (texts and {*texts} <= {*other}) for other in quoted
        ):
            return texts
    return None


def _claim_texts(value: Any, depth: int = 0) -> list[str] | None:
    """The texts of a list of claims; None where the value is none, or holds something else."""
    if isinstance(value, dict) and depth <= reply_json.MAX_DEPTH:
        named = [
            item
            for key, item in value.items()
            if reply_json.plain_key(key) in _CLAIM_KEYS
        ]
        for item in named or value.values():
            texts = _claim_texts(item, depth + 1)
            if texts is not None:
                return texts
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return [item.strip() for item in value if item.strip()]


# --- a sentence alone ------------------------------------------------------------------------

_AROUND_A_WORD: Final = " \t\r\n\"'“”‘’`*_.!|>"
_YES_OR_NO: Final = {
    "yes": True,
    "true": True,
    "no": False,
    "false": False,
}


def parse_asserts(reply: str, sentence: str) -> bool | None:
    """Whether a judge says that a sentence asserts something; None where the reply is unclear.

    JSON that stands in the sentence itself is no reply.

    >>> parse_asserts('{"reason": "thanks", "asserts": "no"}', "Thanks!"), parse_asserts("Yes.", "")
    (False, True)
    >>> parse_asserts('{"asserts": "no"} or {"asserts": "yes"}', "") is None
    True
    """
    position, is_open = reply_json.after_reasoning(reply)
    readings, damage = _json_readings(reply, position, (sentence,))
    words = {str(entry.word) for entry in chain(*readings)} or {reply[position:]}
    answers = {_YES_OR_NO.get(word.strip(_AROUND_A_WORD).casefold()) for word in words}
    return answers.pop() if len(answers) == 1 and not (is_open or damage) else None
