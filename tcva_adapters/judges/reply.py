"""Read the replies of judge models, which may hold anything at all.

`parse_verdicts` goes through a reply in this order. Reasoning before the answer is skipped. `_read_json`
takes the verdicts from the JSON values behind it (`reply_values`), each value a reading; where there is
none, `_read_lines` takes them from lines (`reply_lines`). Both leave out what the judge repeats of the
sample (`reply_echoes`). `_settled` gives each claim of a reading one verdict, whose word is in `labels`, or
a problem; `_agreed` keeps the fullest reading without the claims that another reading judges otherwise.
`parse_claims` reads a list of claims, and `parse_asserts` the yes or no on a single sentence, likewise.

Three rules hold throughout. A verdict is never invented: one that was cut off, contradicts itself or
is not exactly a known word is left out and reported as a problem. A verdict is never taken from the
text of a quote, nor from JSON or lines of the sample, in whatever form the judge repeats them. The
work is bounded: a reply of any length and form is read in about linear time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import (
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass, replace
from itertools import chain, islice

from tcva_adapters.judges.labels import MAX_SHOWN, ParsedVerdict
from tcva_adapters.judges.reply_echoes import (
    is_quoted_json,
    is_quoted_line,
    nodes_shown,
    repeated_words,
)
from tcva_adapters.judges.reply_lines import (
    LINE,
    numbers_in_heading,
    verdict_in_line,
)
from tcva_adapters.judges.reply_values import (
    claims_in,
    is_verdict,
    names_claims,
    verdicts_in,
)
from tcva_adapters.models.reply_json import (
    Node,
    after_reasoning,
    json_values,
)

MAX_LINES = 1000
"""The most lines of a reply that are read, as each of them is looked up in the sample."""

_MAX_PROBLEMS = 20
_IS_CUT = "the reply is cut off or its brackets do not match"
_IS_DOUBTFUL = "the reply is broken: its verdicts cannot be separated from quoted text"
_SEVERAL = -1
"""The number, which no claim has, of a verdict behind the numbers of several claims."""

_LEFTOVER = re.compile(r"[\"'](?:verdict|label|level)[\"']\s*+:", re.IGNORECASE)
_AROUND_A_WORD = " \t\r\n\"'“”‘’`*_.!|>"
_YES_OR_NO = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The verdicts of a reply by claim number, and what was wrong with it.

    Attributes:
        verdicts: The verdicts that are beyond doubt; a claim without one is absent.
        problems: What was found and not used, in words for a reader.
    """

    verdicts: dict[int, ParsedVerdict]
    problems: tuple[str, ...]


def parse_verdicts(
    reply: str,
    n_claims: int,
    sample_texts: Iterable[str] = (),
) -> ParsedReply:
    """Read the verdicts in a judge's reply, by claim number. Never raises.

    The reply may be JSON in its usual forms, even broken, with reasoning before it and with other
    names for the keys and levels. Where there is no JSON, lines such as ``1. fully - reason`` are
    read.

    A claim is absent from the result, and so can be asked for again, if its verdict is missing,
    was cut off, is not exactly a known word, or if two verdicts on it differ, in one reading of the
    reply or between two of them.

    Args:
        reply: The judge's reply.
        n_claims: The number of claims that it was asked about.
        sample_texts: The texts that the judge was shown; JSON and lines in them are no verdicts.

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
    position, is_open = after_reasoning(reply)
    shown = tuple(sample_texts)
    readings, damage = _read_json(reply, position, shown)
    if not (readings or damage or is_open):
        readings = [_read_lines(reply, position, shown)]
    parsed = _agreed(
        [_settled(verdicts, n_claims, damage) for verdicts in readings or [[]]]
    )
    if not is_open:
        return parsed

    # A draft in open reasoning looks like an answer, so only a full one counts.
    is_full = len(parsed.verdicts) == n_claims
    return ParsedReply(
        verdicts=parsed.verdicts if is_full else {},
        problems=(*parsed.problems, "the reasoning in the reply does not end"),
    )


def _read_json(
    reply: str,
    position: int,
    shown: tuple[str, ...],
) -> tuple[list[list[ParsedVerdict]], list[str]]:
    """Read the JSON values behind a position; return the readings, and what is wrong with the values.

    Each value with several verdicts is a reading of its own; all values that are a single verdict make
    one reading together.
    """
    readings: list[list[ParsedVerdict]] = []
    singles: list[ParsedVerdict] = []
    damage: dict[str, None] = {}
    rest = heading = ""
    heading_start = position
    for node in json_values(reply, position):
        if readings or singles or damage:
            rest += reply[position : node.start]
        position = node.end
        verdicts = verdicts_in(node.value)
        if verdicts:
            if is_quoted_json(reply[node.start : node.end], verdicts, shown):
                continue
            heading = reply[heading_start : node.start]
            heading_start = node.end
        damage |= dict.fromkeys(_faults_of(node))
        if len(verdicts) == 1 and is_verdict(node.value):
            singles.append(_under_heading(verdicts[0], heading))
        elif verdicts:
            readings.append(verdicts)

    if singles:
        # Where only some have a number, a number may belong to the verdict before it.
        is_mixed = len({verdict.number is None for verdict in singles}) > 1
        readings.append([] if is_mixed else singles)
    if readings and _LEFTOVER.search(rest + reply[position:]):
        # A value seemed to end early, as a quote in it was not escaped; this is its rest.
        return [], [_IS_DOUBTFUL]
    return readings, list(damage)


def _faults_of(node: Node) -> Iterator[str]:
    if node.is_cut:
        yield _IS_CUT
    if node.is_doubtful:
        yield _IS_DOUBTFUL


def _under_heading(verdict: ParsedVerdict, heading: str) -> ParsedVerdict:
    """Give a verdict the number in the text before it, or `_SEVERAL` where there are more."""
    numbers = numbers_in_heading(heading)
    if verdict.number is not None or not numbers:
        return verdict
    return replace(verdict, number=numbers.pop() if len(numbers) == 1 else _SEVERAL)


def _read_lines(
    reply: str,
    position: int,
    shown: tuple[str, ...],
) -> list[ParsedVerdict]:
    """Read the verdicts in the lines behind a position, except lines of the sample."""
    verdicts = []
    words_shown = "|".join(["", *map(repeated_words, shown), ""])
    for match in islice(LINE.finditer(reply, position), MAX_LINES):
        verdict = verdict_in_line(match)
        if verdict is None:
            continue
        if not verdict.label or not is_quoted_line(
            reply[match.start("number") : match.end()], verdict, words_shown
        ):
            verdicts.append(verdict)
    # A numbered remark before the verdict of the same number is no verdict.
    judged = {verdict.number for verdict in verdicts if verdict.label}
    return [v for v in verdicts if v.label or v.number not in judged]


def _settled(
    verdicts: Sequence[ParsedVerdict],
    n_claims: int,
    damage: Sequence[str],
) -> ParsedReply:
    """Settle on one verdict per claim number, and report everything else as a problem."""
    unnumbered = sum(verdict.number is None for verdict in verdicts)
    is_in_order = unnumbered == len(verdicts) == n_claims and _IS_CUT not in damage
    problems = []
    if unnumbered and not is_in_order:
        problems.append(f"{unnumbered} verdicts without a claim number")

    by_number = defaultdict(list)
    for place, verdict in enumerate(verdicts, start=1):
        number = place if is_in_order else verdict.number
        if number is not None:
            by_number[number].append(verdict)
    is_from_zero = 0 in by_number
    if is_from_zero and by_number.keys() != {*range(n_claims)}:
        problem = f"claims numbered from 0 must end at {n_claims - 1}, and those of the reply do not"
        return ParsedReply({}, (problem, *damage))

    settled = {}
    for written in sorted(by_number):
        number = written + 1 if is_from_zero else written
        problem = _problem_with(by_number[written], number, n_claims)
        if problem:
            problems.append(problem)
        else:
            settled[number] = replace(by_number[written][0], number=number)
    problems += damage
    if not problems and not settled:
        problems = ["no verdicts found in the reply"]
    return ParsedReply(settled, tuple(problems[:_MAX_PROBLEMS]))


def _problem_with(
    verdicts: Sequence[ParsedVerdict],
    number: int,
    n_claims: int,
) -> str:
    """Say why the verdicts on a claim cannot be used; empty where they can."""
    labels = {str(verdict.label or "unknown") for verdict in verdicts}
    if not 1 <= number <= n_claims:
        return f"a verdict for claim {number}, which does not exist"
    if len(labels) > 1:
        return f"conflicting verdicts for claim {number}: {', '.join(sorted(labels))}"
    if labels == {"unknown"}:
        word = str(verdicts[0].word)[:MAX_SHOWN]
        return f'unknown level "{word}" for claim {number}'
    return ""


def _agreed(settled: Sequence[ParsedReply]) -> ParsedReply:
    """Take the last of the fullest readings, without verdicts on which another reading differs."""
    fullest = max(reversed(settled), key=lambda reading: len(reading.verdicts))
    agreed = dict(fullest.verdicts)
    differing = []
    for number, verdict in fullest.verdicts.items():
        labels = {reading.verdicts.get(number, verdict).label for reading in settled}
        if len(labels) > 1:
            del agreed[number]
            differing.append(str(number))
    if not differing:
        return fullest
    problem = f"the reply can be read in two ways for claim {', '.join(differing)}"
    return ParsedReply(agreed, (*fullest.problems, problem))


def parse_claims(reply: str, sample_texts: Iterable[str] = ()) -> list[str] | None:
    """Read the claims in a judge's reply, in order; None if there is no readable list. Never raises.

    The claims are a JSON list of texts, by itself or under a key. Of several lists, the last counts.
    A list that was cut off is not read, because its missing claims are unknown; nor is a list from
    the sample. An empty list is an answer, too: the judge found no claim.

    Args:
        reply: The judge's reply.
        sample_texts: The texts that the judge was shown.

    >>> parse_claims('{"claims": ["One is odd.", "Two is even."]}')
    ['One is odd.', 'Two is even.']
    >>> parse_claims('{"claims": []}')
    []
    >>> parse_claims('{"claims": ["One is odd.", "Two is') is None
    True
    """
    position, is_open = after_reasoning(reply)
    nodes = [] if is_open else list(json_values(reply, position))
    if not nodes or any(node.is_cut for node in nodes):
        return None
    values_shown = [node.value for node in nodes_shown(tuple(sample_texts))]
    # A response may well be JSON; a list of claims in it is not the judge's answer.
    lists_shown = [
        claims_in(value) or [] for value in values_shown if names_claims(value)
    ]
    for node in reversed(nodes):
        texts = claims_in(node.value)
        if texts is None or node.value in values_shown:
            continue
        is_part = any({*texts} <= {*others} for others in lists_shown)
        is_shown = is_part if texts else [] in lists_shown
        if not is_shown:
            return texts
    return None


def parse_asserts(reply: str, sentence: str) -> bool | None:
    """Read whether a judge says that a sentence asserts something; None where the reply is unclear.

    JSON from the sentence itself is no reply.

    >>> parse_asserts('{"reason": "thanks", "asserts": "no"}', "Thanks!"), parse_asserts("Yes.", "")
    (False, True)
    >>> parse_asserts('{"asserts": "no"} or {"asserts": "yes"}', "") is None
    True
    """
    position, is_open = after_reasoning(reply)
    readings, damage = _read_json(reply, position, (sentence,))
    judged = [str(verdict.word) for verdict in chain(*readings)]
    words = judged or [reply[position:]]
    answers = {_YES_OR_NO.get(word.strip(_AROUND_A_WORD).casefold()) for word in words}
    return None if (is_open or damage or len(answers) > 1) else answers.pop()
