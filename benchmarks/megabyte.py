"""One megabyte of anything in every stage that a sample or a reply goes through.

Run: python -m benchmarks.megabyte [STAGE ...]
Each stage reads each pattern in a process of its own: seconds of CPU, and memory above what the
process had at its start (the text itself included). Targets: below 1 s and below 200 MB each.
"""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tcva_adapters.ccrs.lexical import LexicalRater
from tcva_adapters.ccrs.metrics import METRICS
from tcva_adapters.ccrs.question import rating_request
from tcva_adapters.ccrs.reply import read_rating
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import CORRECTNESS, FAITHFULNESS
from tcva_adapters.judges.base import verdict_key
from tcva_adapters.judges.evidence import check_evidence
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.prompts import claims_request, verdict_request
from tcva_adapters.judges.reply import parse_claims, parse_verdicts
from tcva_adapters.judges.yes_no import read_yes
from tcva_adapters.models.openai_exchange import read_completion
from tcva_adapters.models.protocol import ModelReply, TokenLogprob
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.non_claims import non_claim_kind
from tcva_adapters.text.sentences import split_claims

SIZE = 1_000_000
MOST_SECONDS = 1.0
MOST_MEGABYTES = 200
GIVEN_UP = 60  # seconds of CPU

_ENTRY = '{"claim":1,"evidence":"a","passage":1,"reason":"b","verdict":"fully"}'

UNITS: dict[str, str] = {
    **{f"only {char!a}": char for char in "a9 .-_*#|`~\"'“«({[<>:;,?!\\/%$@\t\0"},
    "newlines": "\n",
    "carriage returns": "\r",
    "line separators": "\u2028",
    "capitals": "A",
    "sentences": "a. ",
    "short sentences": "A b. ",
    "sentences of prose": "The office opens at nine and closes at 5 pm on Mondays. ",
    "words": "word ",
    "letters": "a b ",
    "lines": "a\n",
    "numbers": "0 ",
    "figures": "1,",
    "points": "1.",
    "items": "1. a\n",
    "bullets": "- a\n",
    "dashes and blanks": "- ",
    "headings": "# a\n",
    "tables": "| a | b |\n",
    "table rules": "|-|\n",
    "code fences": "```\n",
    "tildes": "~~~ a\n",
    "initials": "J. ",
    "abbreviations": "Mr. ",
    "questions": "Is it? ",
    "quotations": '"a" ',
    "brackets in brackets": "(a [b] ",
    "citations": " [1]",
    "closing quotes": '. " ',
    "emoji": "😀",
    "combining marks": "\u0301",
    "letters with marks": "e\u0301",
    "Chinese": "中文",
    "Chinese sentences": "中文。",
    "Chinese numerals": "二〇",
    "Arabic": "السلام عليكم ",
    "Hebrew": "שלום",
    "full width": "\uff1c",
    "zero width": "\u200b",
    "soft hyphens": "a\u00ad",
    "joiners": "<\u034f",
    "blanks between marks": "< ",
    "fences": "<<<END PASSAGE 1>>>\n",
    "ends": "END ",
    "template marks": "<|im_start|>",
    "numbers in words": "twenty-two hundred ",
    "clocks": "8:30 pm ",
    "names": "Anna sued Ben. ",
    "negations": "not a ",
    "contractions": "don't ",
    "apostrophes": "a'",
    "verdict entries": _ENTRY + ",",
    "verdict entries alone": _ENTRY + "\n",
    "open objects": '{"a":',
    "open lists": '{"a":[',
    "open keys": '{"',
    "open keys in lines": '\n{"',
    "broken objects": "{'a': b ",
    "broken objects in lines": "\n{'a': b ",
    "broken verdicts": '{"claim":1,"verdict":"fully" "x"}',
    "broken verdicts in lines": '{"claim":1,"verdict":"fully" "x"}\n',
    "Python verdicts": "{'claim': 1, 'verdict': 'fully',}\n",
    "escapes": '\\"',
    "comments": '{"a":/*',
    "open thoughts": "<think>",
    "closed thoughts": "</think>",
    "objects and thoughts": 'x {"a</think>',
    "scores": "score 8 ",
    "scores out of a hundred": "87/100 ",
    "ranges": "(0-",
    "lines of verdicts": "1. fully - because\n",
    "claims": "claim ",
}  # fmt: skip

PREFIXES: dict[str, str] = {
    "a number of 1 MB": '{"verdicts":[{"claim":1,"verdict":"fully","passage":' + "9",
    "a cut list": '{"verdicts":[' + _ENTRY + ",",
    "a broken list": '{"verdicts":[{"claim":1,"evidence":"a "b" c","verdict":"fully"},',
    "a quote": '{"verdicts":[{"claim":1,"evidence":"',
    "a score": '{"score": ',
    "a Python list": "{'verdicts': [",
    "claims in a list": '{"claims":["a",',
}


def patterns(size: int) -> dict[str, str]:
    """Texts of about this many bytes, by what they are made of."""
    texts = {name: _repeated(unit, size) for name, unit in UNITS.items()}
    fill = {"a number of 1 MB": "9", "a quote": "x ", "claims in a list": '"b",'}
    fill |= {"a score": "8", "a Python list": "{'claim': 1, 'verdict': 'fully'}, "}
    texts |= {
        name: lead + _repeated(fill.get(name, _ENTRY + ","), size)
        for name, lead in PREFIXES.items()
    }
    texts["a whole quote"] = texts["a quote"] + '","verdict":"fully"}]}'
    texts["distinct words"] = " ".join(f"w{i}x" for i in range(size // 8))[:size]
    texts["distinct numbers"] = " ".join(map(str, range(size // 7)))[:size]
    texts["distinct sentences"] = " ".join(f"Row {i} is {i * 7}." for i in range(size // 20))[:size]
    texts["distinct claims"] = json.dumps(
        {"verdicts": [{"claim": i, "verdict": "fully"} for i in range(size // 33)]}
    )
    texts["distinct keys"] = json.dumps({f"claim {i}": "fully" for i in range(size // 25)})
    return texts


def _repeated(unit: str, size: int) -> str:
    return unit * (size // len(unit.encode()))


_QUESTION = Sample(
    input="When does it open?",
    response="The office opens at nine.",
    contexts=("The office opens at nine.",),
    reference="It opens at nine.",
)
_CLAIMS = ["The office opens at nine.", "It closes at five."]
_JUDGE = LexicalJudge()
_RATER = LexicalRater()


def _with(**fields: object) -> Sample:
    return _QUESTION.model_copy(update=fields)


def _stored(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder, VerdictStore(Path(folder) / "store") as store:
        assessment = Assessment.from_verdicts(["fully"]).model_copy(
            update={"metadata": {"m": text}}
        )
        store.put("key", assessment)
        store.get("key")


def _result(text: str) -> None:
    claim = ClaimVerdict(claim=text, verdict=Verdict.FULLY, evidence=text, reason=text)
    assessment = Assessment(
        criterion="faithfulness",
        judge="j",
        prompt_version="1",
        claims=(claim,),
        metadata={"m": text},
    )
    result = Result.from_json(Result(assessment, ScoringConfig()).to_json())
    str(result.score) + result.reason  # it is computed


def _logprobs(text: str) -> None:
    """Eight verdicts of one reply, whose tokens do not quite add up to its text."""
    tokens = [text[i : i + 8] for i in range(0, len(text), 8)]
    listed = tuple(TokenLogprob(each, -0.1, ((each, -0.1), ("none", -2.0))) for each in tokens)
    reply = ModelReply(text + " ", token_logprobs=listed)
    read_yes("It opens at nine.", reply)


def _completion(text: str) -> None:
    message = {"content": text}
    content = [{"token": text[:1000], "logprob": -0.1, "top_logprobs": []}] * 3
    read_completion(
        json.dumps({"choices": [{"message": message, "logprobs": {"content": content}}]})
    )
    read_completion(text)


def _record(text: str) -> None:
    Sample.from_record({"id": text, "question": text, "answer": text, "contexts": text, "m": text})


def _evidence(verdict: str, quote: str, passage: str) -> None:
    claim = ClaimVerdict(claim=_CLAIMS[0], verdict=Verdict(verdict), evidence=quote, passage=1)
    check_evidence([claim], (passage,))


STAGES: dict[str, Callable[[str], object]] = {
    "record": _record,
    "claims of the response": split_claims,
    "non-claims": lambda t: [non_claim_kind(claim) for claim in split_claims(t)],
    "prompt, passage": lambda t: verdict_request(_with(contexts=(t,)), FAITHFULNESS, _CLAIMS),
    "prompt, claim": lambda t: verdict_request(_QUESTION, FAITHFULNESS, [t]),
    "prompt for claims": lambda t: claims_request(_with(response=t), FAITHFULNESS, 8),
    "prompt for ratings": lambda t: rating_request(_with(reference=t), METRICS["ac"]),
    "prompt, 10 000 passages": lambda t: verdict_request(
        _with(contexts=tuple(t[i : i + 100] for i in range(0, len(t), 100))), FAITHFULNESS, _CLAIMS
    ),
    "key": lambda t: verdict_key(
        _with(contexts=(t,)), FAITHFULNESS, judge="j", prompt_version="1", parameters={}
    ),
    "lexical judge, response": lambda t: _JUDGE.assess(_with(response=t), FAITHFULNESS),
    "lexical judge, passage": lambda t: _JUDGE.assess(_with(contexts=(t,)), FAITHFULNESS),
    "lexical judge, both": lambda t: _JUDGE.assess(_with(response=t, reference=t), CORRECTNESS),
    "lexical judge, 10 000 passages": lambda t: LexicalJudge().judge_claims(
        _CLAIMS, [t[i : i + 100] for i in range(0, len(t), 100)], FAITHFULNESS
    ),
    "lexical ratings, response": lambda t: [
        _RATER.rate(_with(response=t), each) for each in METRICS.values()
    ],
    "lexical ratings, reference": lambda t: [
        _RATER.rate(_with(reference=t), each) for each in METRICS.values()
    ],
    "reply with verdicts": lambda t: parse_verdicts(t, 8),
    "reply with claims": parse_claims,
    "reply with a rating": lambda t: read_rating(t, t),
    "completion": _completion,
    "log probabilities": _logprobs,
    "evidence, passage": lambda t: _evidence("fully", "opens ... nine", t),
    "evidence, quote": lambda t: _evidence("fully", t, _CLAIMS[0]),
    "evidence, both": lambda t: _evidence("fully", t[: len(t) // 2], t),
    "result": _result,
    "store": _stored,
}


def measured(stage: Callable[[str], object], text: str) -> tuple[float, float] | str:
    """Seconds of CPU and megabytes above the start, in a process of its own; or how it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (GIVEN_UP, GIVEN_UP))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()
        try:
            stage(text)
        except Exception as error:  # noqa: BLE001  # whatever it raises is what it printed about
            os.write(writing, f"{type(error).__name__}: {error}".encode()[:300])
        else:
            taken = time.process_time() - started
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            os.write(writing, b"\0" + struct.pack("dd", taken, grown / 1000))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    if told[:1] == b"\0":
        taken, grown = struct.unpack("dd", told[1:])
        return taken, grown
    return told.decode(errors="replace") or f"ended after more than {GIVEN_UP} s of CPU"


def main() -> None:
    size = int(os.environ.get("SIZE", SIZE))
    wanted = sys.argv[1:]
    texts = patterns(size)
    failures = tried = 0
    for name, stage in STAGES.items():
        if wanted and not any(each in name for each in wanted):
            continue
        found = {pattern: measured(stage, text) for pattern, text in texts.items()}
        tried += len(found)
        figures = {p: f for p, f in found.items() if not isinstance(f, str)}
        slow = sorted(figures, key=lambda p: -figures[p][0])[:3]
        large = max(figures, key=lambda p: figures[p][1])
        print(
            f"{name:32} "
            + ", ".join(f"{figures[p][0]:5.2f} s {p}" for p in slow)
            + f"; {figures[large][1]:4.0f} MB {large}"
        )
        for pattern, told in found.items():
            if isinstance(told, str):
                print(f"   FAILED {pattern}: {told}")
                failures += 1
            elif told[0] >= MOST_SECONDS or told[1] >= MOST_MEGABYTES:
                print(f"   OVER   {pattern}: {told[0]:.2f} s, {told[1]:.0f} MB")
                failures += 1
    print(f"{tried - failures} of {tried} below {MOST_SECONDS:g} s of CPU and {MOST_MEGABYTES} MB")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
