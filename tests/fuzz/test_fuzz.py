"""Random inputs: for each target what it is given, and what must hold of what comes back.

A target may raise an error of ours; anything else is a finding.
"""

import contextlib
import io
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tcva_adapters import (
    TCVA,
    Assessment,
    CCRSResult,
    ClaimVerdict,
    Result,
    Sample,
    Verdict,
)
from tcva_adapters.ccrs.reply import read_rating
from tcva_adapters.cli.app import run
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import TCVAError
from tcva_adapters.judges.evidence_check import check_evidence
from tcva_adapters.judges.reply import parse_claims, parse_verdicts
from tcva_adapters.result_reader import read_result, read_results
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.fields import ALIASES
from tcva_adapters.samples.reader import read_samples
from tcva_adapters.text.quotes import Passages
from tcva_adapters.text.sentences import split_claims
from tests.hostile.corpus import TEXTS


class Target(NamedTuple):
    """What is fuzzed.

    Attributes:
        given: What it is given.
        check: Uses it, and asserts what must hold.
    """

    given: st.SearchStrategy[Any]
    check: Callable[[Any], object]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- what is given ---------------------------------------------------------------------------

_PIECES: Final = st.sampled_from(
    ['"', "'", "\\", "{", "}", "[", "]", ":", ",", "\n", " ", "```", "<think>", "</think>", "//", "/*", "#",
     '"claim":', '"verdict":', '"verdicts":[', '"evidence":"', '"fully"', "none", "1", "2", "0.9", "87", "null",
     "\ua66e", "1. fully", "claim 2:", "- ", "score", "/100", "<<<", ">>>", "END", "\ud800", "\0", "\u2028", "“", "”",
     '{"claim":1,"verdict":"fully"}', "...", "…", "not ", "The office opens at nine.", "9" * 30, "1e999", "NaN"]
)  # fmt: skip
ANY_TEXT: Final = st.one_of(
    st.text(),
    st.lists(st.one_of(_PIECES, st.text(max_size=4)), max_size=30).map("".join),
    st.sampled_from([hostile.text[:2000] for hostile in TEXTS]),
)
_LEAF: Final = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), ANY_TEXT),
    st.sampled_from([10**400, -(10**400), math.nan, math.inf, -0.0, 1e-320]),
)
ANY_VALUE: Final = st.recursive(
    _LEAF,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
_FIELDS: Final = [name for names in ALIASES.values() for name in names]
_NAMES: Final = st.sampled_from([*_FIELDS, "metadata", "messages", "inputs", "outputs"])
_FIELD: Final = ANY_VALUE | st.lists(ANY_TEXT, max_size=3)
_RECORD: Final = st.dictionaries(_NAMES | st.text(max_size=5), _FIELD, max_size=7)
_ENTRY: Final = st.dictionaries(
    st.sampled_from(
        ["claim", "verdict", "evidence", "passage", "reason", "label", "id", "cc"]
    ),
    st.sampled_from([1, 2, "1", *map(str, LEVELS), "refusal"]) | ANY_VALUE,
    max_size=5,
)
_VERDICTS: Final = st.lists(_ENTRY, max_size=4).map(
    lambda made: _json({"verdicts": made})
)
_BROKEN: Final = _VERDICTS.map(lambda made: made.replace('","', '" "'))
_REPLY: Final = st.one_of(
    *(ANY_TEXT, ANY_VALUE.map(_json)),
    st.tuples(st.text(max_size=3), _VERDICTS).map("".join),
    st.tuples(_BROKEN, st.integers(0, 400)).map(lambda made: made[0][: made[1]]),
)
_ROWS: Final = st.lists(_RECORD, max_size=3)
_LINES: Final = st.lists(st.lists(ANY_TEXT, max_size=3).map(",".join), max_size=4)
_FILE: Final = st.one_of(
    *(ANY_TEXT, _ROWS.map(_json), _ROWS.map(lambda rows: "\n".join(map(_json, rows)))),
    _LINES.map(lambda lines: "\n".join(["question,answer,contexts", *lines])),
)
_BYTES: Final = st.binary(max_size=300) | st.builds(
    lambda text, encoding: text.encode(encoding, "surrogatepass"),
    *(_FILE, st.sampled_from(["utf-8", "utf-8", "utf-16"])),
)


def _edited(text: str, edits: list[tuple[int, str]]) -> str:
    """A text with a few places overwritten."""
    for at, piece in edits:
        place = at % (len(text) + 1)
        text = text[:place] + piece + text[place + len(piece) :]
    return text


_RESULT: Final = Result(
    Assessment.from_verdicts(["fully", "none"]), ScoringConfig()
).to_json()
_STORED: Final = st.one_of(
    *(ANY_TEXT, ANY_VALUE.map(_json)),
    st.lists(st.tuples(st.integers(0, 2000), _PIECES), min_size=1, max_size=4).map(
        lambda edits: _edited(_RESULT, edits)
    ),
    st.tuples(st.sampled_from(sorted(json.loads(_RESULT))), ANY_VALUE).map(
        lambda pair: _json({**json.loads(_RESULT), pair[0]: pair[1]})
    ),
)
_OPTIONS: Final = st.sampled_from(
    ["--json", "--out", "-o", "--temperature", "-T", "--threshold", "--criterion", "--judge", "--scheme", "--penalty",
     "--eps", "--floor", "--max-claims", "--claims", "--map", "--format", "--skip-bad", "--store", "--limit", "--seed",
     "--config", "--profiles", "--metrics", "--help", "--gate", "--fuse", "--mean-of", "--human-scale", "--em", "--lambda"]
)  # fmt: skip
_VALUES: Final = st.one_of(
    st.sampled_from(["in.jsonl", "in.csv", "bad.json", "missing.jsonl", ".", "out.jsonl", "lexical", "0.5", "strict",
                     "faithfulness", "-1", "nan", "1e999", "9" * 40, "a=b", "answer=response", "csv", ""]),
    st.text(max_size=6),
    st.sampled_from([hostile.text[:60] for hostile in TEXTS]),
)  # fmt: skip
_COMMAND: Final = st.tuples(
    st.sampled_from(["evaluate", "sweep", "ccrs", "calibrate", "systems", "x"]),
    st.lists(st.one_of(_OPTIONS, _VALUES), max_size=6),
).map(lambda made: [made[0], *made[1]])


# --- what must hold --------------------------------------------------------------------------


def _replies(reply: str) -> None:
    for n_claims in (1, 3):
        parsed = parse_verdicts(reply, n_claims)
        assert set(parsed.verdicts) <= set(range(1, n_claims + 1))
        assert parsed.verdicts or parsed.problems
    claims = parse_claims(reply)
    assert claims is None or all(claim.strip() for claim in claims)
    rating = read_rating(reply)
    assert bool(rating.problem) == (rating.value is None)
    assert rating.value is None or 0.0 <= rating.value <= 100.0


def _records(record: dict[str, Any]) -> None:
    sample = Sample.from_record(record)
    result = TCVA(judge="lexical").evaluate_many([sample])[0]
    result.to_json().encode()
    assert Result.from_json(result.to_json()).score == result.score


def _texts(texts: tuple[str, str, str]) -> None:
    claim, quote, passage = texts
    assert bool(split_claims(passage)) == bool(passage.strip())
    verdict = ClaimVerdict(
        claim=claim, verdict=Verdict.FULLY, evidence=quote, context=1
    )
    (checked,) = check_evidence(
        [verdict], Passages((passage, "The office opens at nine."))
    )
    assert checked.verdict is not None


def _stored(text: str) -> None:
    for read in (
        Assessment.from_json,
        Result.from_json,
        CCRSResult.from_json,
        read_result,
    ):
        with contextlib.suppress(TCVAError):
            found: Any = read(text)
            found.to_json().encode()


def _files(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("jsonl", "json", "csv", "parquet"):
            path = Path(folder) / f"in.{suffix}"
            path.write_bytes(content)
            for skip_bad in (False, True):
                with contextlib.suppress(TCVAError):
                    read_samples(path, skip_bad=skip_bad)
        with contextlib.suppress(TCVAError):
            read_results(Path(folder) / "in.jsonl")


_PLACED: Final = {
    "in.jsonl": '{"id": "a", "question": "When?", "answer": "At nine.", "contexts": ["At nine."]}',
    "in.csv": "question,answer,contexts\nWhen?,Nine.,Nine.\n",
    "bad.json": "{",
}


def _command(arguments: list[str]) -> None:
    shown = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in _PLACED.items():
            Path(name).write_text(text, encoding="utf-8")
        with contextlib.redirect_stderr(shown), contextlib.redirect_stdout(shown):
            code = run(arguments)
    assert code in {0, 1, 2}
    assert "--debug shows where" not in shown.getvalue(), shown.getvalue()


TARGETS: Final[dict[str, Target]] = {
    "replies": Target(_REPLY, _replies),
    "records": Target(_RECORD, _records),
    "texts": Target(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT), _texts),
    "stored results": Target(_STORED, _stored),
    "files": Target(_BYTES, _files),
    "commands": Target(_COMMAND, _command),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_but_an_error_of_ours_is_raised(name: str, data: st.DataObject) -> None:
    target = TARGETS[name]
    with contextlib.suppress(TCVAError):
        target.check(data.draw(target.given))
