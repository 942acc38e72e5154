"""One sample, a table or a file where several samples or conversations are expected."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA, Conversation, Result, Sample, report
from tcva_adapters.batches import submit
from tcva_adapters.compare import compare
from tcva_adapters.errors import InvalidSampleError, InvalidValueError
from tcva_adapters.results.assessment import Assessment
from tcva_adapters.samples.reader import SampleFile

pd = pytest.importorskip("pandas")  # no part of the base

TEXT = "It opens at nine."
SAMPLE = Sample(response=TEXT, contexts=[TEXT])
MESSAGES = [("user", "When?"), ("tool", TEXT), ("assistant", TEXT)]
TALK = Conversation.from_messages(MESSAGES)
FRAME = pd.DataFrame([{"answer": TEXT, "contexts": [TEXT]}])
BY_ROLE = [{"role": role, "content": text} for role, text in MESSAGES]
JUDGED = [Result(Assessment.from_verdicts(["fully"]))]


async def collected(results: Any) -> list[Any]:
    return [result async for result in results]


def submitted(scorer: TCVA, given: Any, folder: Path) -> Any:
    scorer = scorer.changed(judge="openai:m", store=folder / "s.db")
    return submit(scorer, given, folder / "batch")


MANY: dict[str, Callable[[TCVA, Any, Path], Any]] = {
    "evaluate_many": lambda scorer, given, _: scorer.evaluate_many(given),
    "aevaluate_many": lambda scorer, given, _: asyncio.run(
        scorer.aevaluate_many(given)
    ),
    "iter_evaluate": lambda scorer, given, _: list(scorer.iter_evaluate(given)),
    "aiter_evaluate": lambda scorer, given, _: asyncio.run(
        collected(scorer.aiter_evaluate(given))
    ),
    "CCRS": lambda _, given, __: CCRS("qr", judge="lexical").evaluate_many(given),
    "compare": lambda scorer, given, _: compare(given, scorer, frameworks="none"),
    "submit": submitted,
    "report": lambda _, given, folder: report.write(
        JUDGED, folder / "r.html", samples=given
    ),
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (SAMPLE, r"one Sample; evaluate\(sample\) judges one"),
        (TALK, r"one Conversation; evaluate_conversation\(conversation\) judges one"),
        (FRAME, r"one DataFrame; \[Sample.from_record\(row\) for row in frame.to_dict\('records'\)\]"),
        (SampleFile([SAMPLE], [1], []), "one SampleFile; give its samples: read.samples"),
        ({"answer": "x"}, r"one dict; .*Sample.from_record\(record\) a mapping"),
        (5, r"one int; read_samples\(path\).samples reads a file"),
    ],
    ids=["sample", "conversation", "data frame", "read_samples", "record", "number"],
)  # fmt: skip
def test_one_is_refused_where_several_samples_are_expected(
    name: str, given: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with pytest.raises(
        InvalidSampleError, match=f"expected several samples, got {message}"
    ):
        MANY[name](TCVA(judge="lexical"), given, tmp_path)


def test_the_way_that_the_message_names_for_a_data_frame() -> None:
    rows = [Sample.from_record(row) for row in FRAME.to_dict("records")]
    assert [result.score for result in TCVA(judge="lexical").evaluate_many(rows)] == [
        1.0
    ]


@pytest.mark.parametrize(
    "given",
    [
        TALK,
        MESSAGES,
        BY_ROLE,
        pd.DataFrame(BY_ROLE),
        SAMPLE,
        BY_ROLE[0],
        "Hello.",
        None,
    ],
    ids=[
        "conversation",
        "pairs",
        "mappings",
        "data frame",
        "sample",
        "message",
        "text",
        "None",
    ],
)
def test_one_is_refused_where_several_conversations_are_expected(given: Any) -> None:
    tcva, kind = TCVA(judge="lexical"), type(given).__name__
    message = f"expected several conversations, got one {kind}; evaluate_conversation judges one"
    with pytest.raises(InvalidSampleError, match=message):
        tcva.evaluate_conversations(given)
    with pytest.raises(InvalidSampleError, match=message):
        asyncio.run(tcva.aevaluate_conversations(given))


@pytest.mark.parametrize(
    "given", [pd.DataFrame(BY_ROLE), SAMPLE, BY_ROLE[0], "Hello.", None]
)
def test_what_is_no_list_of_messages_is_no_conversation(given: Any) -> None:
    message = f"a conversation must be a list of messages, got {type(given).__name__} "
    with pytest.raises(InvalidSampleError, match=message):
        TCVA(judge="lexical").evaluate_conversation(given)


def test_a_suite_names_a_data_frame() -> None:
    with pytest.raises(
        InvalidValueError, match="cannot judge a DataFrame; give samples"
    ):
        report.Suite(judge="lexical").check(FRAME)
