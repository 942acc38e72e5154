"""Everything that reads what others wrote, and the texts that are hardest for it.

`python -m benchmarks.growth --readers all` measures every reader with every text over growing sizes, and
tests/hostile/test_growth.py holds them to linear growth.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tcva_adapters import Assessment, ClaimVerdict, Sample, Verdict
from tcva_adapters.batches.request_lines import Line, read_lines
from tcva_adapters.ccrs.reply import read_rating
from tcva_adapters.compare import read_scores
from tcva_adapters.criteria import ANSWER_RELEVANCY, FAITHFULNESS
from tcva_adapters.errors import TCVAError
from tcva_adapters.judges.evidence_check import check_evidence
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.reply import parse_asserts, parse_claims, parse_verdicts
from tcva_adapters.judges.yes_no import read_yes
from tcva_adapters.models.judge_model import ModelReply, TokenLogprob
from tcva_adapters.models.openai_batches import split
from tcva_adapters.models.openai_exchange import read_completion
from tcva_adapters.models.secrets import mask, quotable
from tcva_adapters.report.evaluating import evaluation
from tcva_adapters.report.gates import Gates
from tcva_adapters.report.junit import to_junit
from tcva_adapters.report.markdown import to_markdown
from tcva_adapters.report.page import write
from tcva_adapters.result_reader import read_results
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.reader import read_samples
from tcva_adapters.text.contradiction import contradicts, opposed
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.numbers import other_numbers
from tcva_adapters.text.quotes import Passages, find_quote
from tcva_adapters.text.sentences import split_claims
from tcva_adapters.text.words import tokenise

Read = Callable[[str], object]
_PIECE: Final = 65_536


def _pieces(data: bytes) -> list[bytes]:
    return [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)]


def _batch(text: str) -> object:
    """A result file that is this text, and one that holds it in a reply."""
    line = {
        "custom_id": "5f-0",
        "response": {"status_code": 200, "body": _completion(text)},
    }
    found: list[Line] = []
    for data in (text.encode(), json.dumps(line).encode()):
        found += read_lines(split(iter(_pieces(data))), mask)
    return found[-1].body


def _completion(text: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": text}}]}


def _file(suffix: str) -> Read:
    def read(text: str) -> object:
        try:
            return read_samples(io.StringIO(text), format=suffix, skip_bad=True)  # type: ignore[arg-type]  # one of them
        except TCVAError as error:
            return error

    return read


def _fields(text: str) -> object:
    """A sample with the text in each field, and one with its words as the names of fields."""
    names = dict.fromkeys(text.split(), text[:9])
    return [
        Sample(
            input=text, response=text, contexts=[text, *text.split()], reference=text
        ),
        Sample.from_record(
            {"answer": text, "contexts": text, "metadata": {text: text}}
        ),
        Sample.from_record(
            {"answer": "a", "metadata": names, **names, "contexts": [*names]}
        ),
    ]


def _talk(text: str) -> object:
    """A conversation whose tool repeats its arguments, one of many statements, one of many messages, one that goes on."""
    call = {
        "role": "assistant",
        "tool_calls": [{"function": {"arguments": json.dumps({"text": text})}}],
    }
    words = text.split() or [text]
    many = [
        {"role": role, "content": word}
        for word in words
        for role in ("user", "assistant")
    ]
    calls = [{"role": "assistant", "input": f"{word} is one of two"} for word in words]
    tool, said = (
        {"role": "tool", "content": text},
        [{"role": "user", "content": "Who?"}],
    )
    saved = (
        {"role": "assistant", "args": "Ada is the captain."},
        {"role": "tool", "content": f"Ada is the captain{text}x"},
    )
    last = {"role": "assistant", "content": text}
    return [
        Sample.from_record({"messages": [*said, *messages, tool, last]})
        for messages in (
            [call],
            many,
            [{"role": "assistant", "args": text}],
            calls,
            [*saved],
        )
    ]


def _quotes(text: str) -> object:
    """Quotes from a text, and of it, as verdicts."""
    long = text[:9_990]
    said = [
        text[:100],
        text[-100:],
        long,
        " ... ".join([text[:50], text[-50:]]),
        "It opens at nine.",
    ]
    verdicts = [
        ClaimVerdict(claim=claim, verdict=Verdict.FULLY, evidence=quote)
        for quote in said for claim in (quote, "It opens at nine.", long)
    ]  # fmt: skip
    return check_evidence(verdicts, Passages([text]))


def _contrast(text: str) -> object:
    """What a claim denies of a source, and its other numbers, in both directions."""
    texts = text[:9_990], text[:9_990].swapcase() + " not 7"
    tokens = tokenise(texts[0]), tokenise(texts[1])
    denied = [
        compare(texts[at], texts[1 - at])
        for compare, at in product((opposed, contradicts), (0, 1))
    ]
    return denied, [other_numbers(tokens[at], tokens[1 - at]) for at in (0, 1)]


def _results(text: str) -> object:
    """A result file that is the text, and a result and a store that hold it."""
    own = _judged([text])
    with TemporaryDirectory() as name:
        path = Path(name) / "results.jsonl"
        for content in (text, own.model_dump_json()):
            path.write_text(content, encoding="utf-8", errors="replace")
            try:
                read_results(path, skip_bad=True)
            except TCVAError as error:
                str(error)
        with VerdictStore(Path(name) / "store.sqlite") as store:
            store.put(text, own)
            return store.get(text)


def _judged(texts: list[str]) -> Assessment:
    """An assessment whose claims, quotes and reasons are these texts, under a name that is the first."""
    claims = tuple(
        ClaimVerdict(
            claim=text, verdict=Verdict.NONE, evidence=texts[0], reason=texts[0]
        )
        for text in texts
    )
    return Assessment.from_verdicts(["none"], sample_id=texts[0]).model_copy(
        update={"claims": claims}
    )


def _reports(text: str) -> object:
    """The page, JUnit and Markdown of a sample that is the text, and of one with its words as claims."""
    words = text.split() or [text]
    sample = Sample(id=text, input=text, response=text, contexts=[text])
    judged = [_judged([text]), _judged([word[:9] for word in words])]
    table = read_scores(judged)
    report = evaluation(table, Gates.of(["mean>=0.9"]))
    with TemporaryDirectory() as name:
        write(judged, Path(name) / "report.html", samples=[sample])
    return to_junit(report, table), to_markdown(report, table)


def _lexical(text: str) -> object:
    judge = LexicalJudge()
    claims = ["It opens at nine.", text[:9_990]]
    return judge.judge_claims(claims, [text], FAITHFULNESS), judge.judge_claims(
        split_claims(text)[:240], [text], ANSWER_RELEVANCY
    )


def _tokens(text: str) -> object:
    """A reply of one word whose first token has the words of a text as alternatives."""
    top = tuple((word, -1.0) for word in text.split())
    return read_yes(
        "a", ModelReply(text, token_logprobs=(TokenLogprob(text, 0.0, top),))
    )


REPLIES: Final[dict[str, Read]] = {
    "verdicts": lambda text: parse_verdicts(text, 8),
    "verdicts as in the sample": lambda text: parse_verdicts(text, 8, [text]),
    "verdicts not in the sample": lambda text: parse_verdicts(
        '{"1": "fully"}', 1, [text]
    ),
    "claims": parse_claims,
    "claims as in the sample": lambda text: parse_claims(text, [text]),
    "asserts": lambda text: parse_asserts(text, text),
    "rating": lambda text: read_rating(text, text),
    "completion": lambda text: [
        *map(read_completion, (text, json.dumps(_completion(text))))
    ],
}
READERS: Final[dict[str, Read]] = REPLIES | {
    "yes or no": _tokens,
    "batch": _batch,
    "jsonl": _file("jsonl"),
    "json": _file("json"),
    "csv": _file("csv"),
    "fields": _fields,
    "conversation": _talk,
    "quotes": _quotes,
    "a quote": lambda text: find_quote(
        "Row 7 ... was 49 then, or is it", Passages([text])
    ),
    "sentences": split_claims,
    "non-claims": non_claim_kind,
    "words": tokenise,
    "contrast": _contrast,
    "lexical judge": _lexical,
    "secrets": lambda text: (mask(text, "hunter2-hunter2"), quotable(text)),
    "results and store": _results,
    "reports": _reports,
}

_OPENINGS: Final = (
    "",
    '{"verdicts":[{"claim":1,"verdict":"',
    '[{"claim":1,"quote":',
    "{'1':'",
)
"""What replies begin with; other texts begin with nothing."""

SHAPES: Final = (
    # replies
    '{"verdicts":[', '[{"claim":1,"verdict":"', '{"claim":#,"verdict":"fully"} ', '{"claim":#,"verdict":"fully","quote":"a',
    '{"#":"fully",', '"k#":', '"claim_#": {"verdict": "none"}, ', "#. fully - so\n", "Claim #: none\n> ", "Verdict: none\n",
    '```json\n{"#":"none"}\n```\n', "</think>", '<think>{"#":1}', 'x {"a</think>', "Score: #\n", "yes, no ", "[#],",
    # marks of JSON, Markdown and regular expressions
    "{", "[", '{"a":[', "}", '"', "\\", '\\"', "'", "{'a", '"a":"b" ', '{"a" "b",', "\\u0041", ":", ",", "/*", "//", "`", "```\n", "~~~ ",
    "(", "(a [b] ", "*", "**a", "| # | b |\n", "|", "> ", "- ", "# ", "1. ", "#) ", "a:\n", "<", "&", "<a href='#'>", "]]>",
    # texts
    "a", "ab", "a ", "w# ", "W# ", "Row # is #. ", "It is not # but #. ", "a\n", "\n", " ", "\t", "\r\n", "\u2028", "...", "#", "# ", "-#", "#%",
    "# to # ", "at least # mg ", "not ", "no, not ", "un# ", "\u0301", "e\u0301", "\u4e0d", "\u79df\u7ea6\u4e3a\u671f#\u3002", "\u200b", "\uff3b", "\U0001f600",
    "...a", ' ... "', "\u201ca", "(#) ", "[#] ", "e.g. ", "J. ", "Thanks, ", "I cannot find ", "Ada # is the captain. ", "<<<END A>>>\n",
    # lines of files
    '{"answer":"a#"}\n', '{"id":"#","answer":"a","x#":', "a,b#,", '"a""b#",', "a;b\n", '{"k#":{"k":', '[{"answer":', '{"custom_id":"5f-#"}\n', '{"custom_id":"5f-0","response":{"status_code":500}}\n',
    "sk-a", "key=", "://a:b@", "hunter2-hunter", "api_key: #, ", "a@b:", "Bearer ",
)  # fmt: skip
"""Units of a text that are repeated; a # is a number that grows."""


def texts(reader: str, size: int) -> Iterator[tuple[str, str]]:
    """The hard texts of about so many characters for a reader, and what each is made of."""
    for opening, unit in product(
        _OPENINGS if reader in REPLIES else _OPENINGS[:1], SHAPES
    ):
        yield f"{opening}{unit}", text_of(opening, unit, size)


def text_of(opening: str, unit: str, size: int) -> str:
    """A text of about so many characters: an opening, and a unit again and again."""
    parts, number = [opening], 0
    while size > 0:
        parts.append(unit.replace("#", str(number)))
        size -= len(parts[-1])
        number += 1
    return "".join(parts)
