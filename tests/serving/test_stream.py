"""Answers that are served while they arrive, by judges that compute here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tcva_adapters import TCVA, Sample, streaming
from tcva_adapters.data import sample_lines
from tcva_adapters.errors import GuaranteeWarning, InvalidSampleError, InvalidValueError
from tcva_adapters.serving import REFUSAL, OnFail, serve
from tcva_adapters.streaming import AnswerStream, ServedPart
from tests.support.certified import (
    GOOD,
    HOLDS,
    LOST,
    MIXED,
    OPEN,
    certified,
    certified_by,
    state_of,
)
from tests.support.office import ONE
from tests.support.scripted import ScriptedModel

JUDGE = TCVA(judge="lexical")
BUNDLED = [Sample.from_record(json.loads(line)) for line in sample_lines()]
CONTEXTS = ("We open at 9. Lunch is at 12. Plus costs 9 EUR. Basic costs 5 EUR.",)
ANSWER = """Hello! Here is what I found.

# Hours
We open at 9. We close at 23. Lunch is at 12.

## Fees
- Basic costs 70 EUR.
- Plus costs 80 EUR.

Prices:

| Plan | Price |
|---|---|
| Basic costs | 5 EUR |
| Plus costs | 90 EUR |

Ask anybody about free parking on Sundays."""


def chunked(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def streamed(
    sample: Sample, on_fail: OnFail, size: int, tcva: TCVA = JUDGE
) -> tuple[list[ServedPart], AnswerStream]:
    stream = AnswerStream(tcva, sample, on_fail=on_fail)
    return [*stream.chunks(chunked(sample.response or "", size))], stream


def ended(stream: AnswerStream) -> Any:
    """What was served in all."""
    assert stream.served is not None
    return stream.served


@pytest.mark.parametrize("size", [1, 7, 50, 10_000])
@pytest.mark.parametrize("on_fail", ["flag", "remove"])
def test_a_stream_serves_what_is_served_of_the_whole(
    on_fail: OnFail, size: int
) -> None:
    own = Sample(response=ANSWER, contexts=CONTEXTS)
    for sample in [own, *BUNDLED[::7]]:
        whole = serve(JUDGE.evaluate(sample), on_fail)
        parts, stream = streamed(sample, on_fail, size)
        assert stream.served == whole
        assert "".join(part.text for part in parts) == whole.text
        assert [mark for part in parts for mark in part.marks] == whole.marks


CITING = """We open at 9.[doc-1] Lunch is at 12.¹ Entry costs 90 EUR.【1†hours. Part 2.pdf】 Plus costs 9 EUR. [Source 1]
Basic costs 5 EUR.[^1] Dogs pay 7 EUR. [^note] Cats pay 8 EUR.(1) We open at 9. ¹ Lunch is at 12.[1, 2] Basic costs 5 EUR.

[^1]: hours.pdf"""


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11])
@pytest.mark.parametrize("on_fail", ["flag", "remove"])
def test_marks_that_arrive_in_parts_stay_with_their_sentence(
    on_fail: OnFail, size: int
) -> None:
    sample = Sample(response=CITING, contexts=CONTEXTS)
    whole = serve(JUDGE.evaluate(sample), on_fail)
    parts, stream = streamed(sample, on_fail, size)
    assert ended(stream) == whole
    assert not ended(stream).split_moved
    assert "".join(part.text for part in parts) == whole.text
    if on_fail == "remove":
        assert "Part 2" not in whole.text
        assert "We open at 9.[doc-1] Lunch is at 12.¹ Plus costs" in whole.text


@pytest.mark.parametrize("is_closed_early", [False, True])
def test_a_stream_serves_one_answer(*, is_closed_early: bool) -> None:
    stream = AnswerStream(JUDGE, Sample(contexts=CONTEXTS))
    parts = stream.chunks(chunked(ANSWER, 7))
    if is_closed_early:
        next(parts)
        parts.close()
    else:
        assert [*parts]

    async def again() -> None:
        await anext(stream.achunks(_words()))

    for read in (
        lambda: [*stream.chunks(["We open at 9."])],
        lambda: asyncio.run(again()),
    ):
        with pytest.raises(InvalidValueError, match="make a new one"):
            read()


async def _words() -> AsyncIterator[str]:
    yield "We open at 9."


def test_a_sample_that_cannot_be_judged_is_refused_before_the_stream() -> None:
    with pytest.raises(InvalidSampleError, match="contexts"):
        AnswerStream(JUDGE, Sample(input="When?"))
    earlier = TCVA(judge="lexical", uncontexted="earlier")
    assert AnswerStream(earlier, Sample(input="When?")).served is None


@pytest.mark.parametrize("threshold", [0.3, 0.9])
@pytest.mark.parametrize("on_fail", ["refuse", "raise"])
def test_what_follows_an_unsupported_claim_waits_for_the_score_of_the_whole(
    on_fail: OnFail, threshold: float
) -> None:
    good, bad = "We open at 9.", "Bananas ripen faster in paper bags."
    before = after = f"{good} {good} {good}"
    answer = f"{before} {bad} {after}"
    tcva = TCVA(judge="lexical", threshold=threshold)
    sample = Sample(response=answer, contexts=CONTEXTS)
    whole = serve(tcva.evaluate(sample), on_fail)
    parts, stream = streamed(sample, on_fail, 7, tcva)
    served = ended(stream)
    assert served.failed is whole.failed is (threshold == 0.9)
    assert served.result == whole.result
    rest = {"refuse": f"\n\n{REFUSAL}", "raise": ""} if served.failed else {}
    assert served.text == before + rest.get(on_fail, f" {bad} {after}")
    early = "".join(part.text for part in parts[:-1])
    assert early == before


@pytest.mark.parametrize("size", [1, 7])
def test_a_text_without_capitals_waits_for_the_first_one(size: int) -> None:
    text = "we open at 9. lunch is at 12. we close late. and so on. Plus costs 9 EUR."
    for response in (text, text.lower()):
        sample = Sample(response=response, contexts=CONTEXTS)
        parts, stream = streamed(sample, "remove", size)
        assert stream.served == serve(JUDGE.evaluate(sample), "remove")
        assert not stream.served.split_moved
        assert len(parts) == 1


BLOCKS = (
    "We open at 9. We close at 23. Lunch is at 12!",
    "Hello!",
    "Prices:",
    "# Fees",
    "## Hours",
    "- Basic costs 5 EUR.\n- Plus costs 80 EUR.\n  - Plus costs 9 EUR.",
    "1. Stir it. 2. Heat it.\n3. Lunch is at 12.",
    "| Plan | Price |\n|---|---|\n| Basic | 5 EUR |\n| Plus | 90 EUR |",
    "```\nWe open at 9. x = 1\n```",
    "> It is free. Lunch is at 12.",
    "**Lunch** is at *12*. It is free [1]. Yes.",
    "オフィスは九時に開く。入場は無料です。",
    "it is free. we open at 9. and so on",
    "👍 Come by! 🎉",
    "(We open at 9. It is so. Lunch is at 12. Plus costs 9 EUR. It is red.) Yes.",
    'He said "We open at 9. It is so. Lunch is at 12. It is red." in (May.',
)
answers = st.lists(
    st.tuples(
        st.sampled_from(BLOCKS), st.sampled_from(("\n\n", "\n", "\r\n\r\n", " "))
    ),
    min_size=1,
    max_size=6,
).map(lambda blocks: "".join(block + gap for block, gap in blocks))


def test_the_first_item_of_a_list_waits_for_the_second_one() -> None:
    # Its number is no claim, as in the whole answer.
    text = """Fees:

1. Basic costs 5 EUR.
   - We open at 9.
   - Lunch is at 12.
   - We open at 9.
2. Plus costs 9 EUR.
   - Lunch is at 12."""
    sample = Sample(response=text, contexts=CONTEXTS)
    parts, stream = streamed(sample, "remove", 1)
    assert stream.served == serve(JUDGE.evaluate(sample), "remove")
    assert ended(stream).text == text
    assert len([part for part in parts if part.text]) > 1


@pytest.mark.parametrize("on_fail", ["flag", "remove", "refuse", "raise"])
def test_sentences_in_brackets_and_quotations_are_one_sentence(on_fail: OnFail) -> None:
    inside = (
        "We open at 9. Roses are red. Lunch is at 12. Plus costs 9 EUR. It is free."
    )
    long = f"{inside} {inside} {inside} {inside}"
    for opening, closing in ("()", "“”", '""', "[]", "«»", "``", "（）"):
        for text in (inside, long):
            response = f"Note {opening}{text}{closing} this. We open at 9. Lunch is at 12. It is."
            sample = Sample(response=response, contexts=CONTEXTS)
            whole = serve(JUDGE.evaluate(sample), on_fail)
            parts, stream = streamed(sample, on_fail, 1)
            served = ended(stream)
            assert not served.split_moved
            assert served.failed == whole.failed
            assert served.marks == whole.marks
            if on_fail in {"flag", "remove"}:
                assert "".join(part.text for part in parts) == whole.text


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    text=answers,
    size=st.integers(1, 60),
    on_fail=st.sampled_from(("flag", "remove", "refuse", "raise")),
)
def test_streams_of_markdown(text: str, size: int, on_fail: OnFail) -> None:
    sample = Sample(response=text, contexts=CONTEXTS)
    whole: Any = serve(JUDGE.evaluate(sample), on_fail)
    parts, stream = streamed(sample, on_fail, size)
    served = stream.served
    assert served is not None
    assert "".join(part.text for part in parts) == served.text
    marks = [mark for part in parts for mark in part.marks]
    assert marks == served.marks
    if on_fail == "flag":
        assert served.text == text
    if not served.split_moved and on_fail in {"flag", "remove"}:
        assert served == whole
    if not served.split_moved and on_fail in {"refuse", "raise"}:
        assert served.failed == whole.failed
        assert (served.text == text) or served.failed
        assert text.startswith(served.text.removesuffix(REFUSAL).strip())


def test_a_split_that_moves_is_said_and_nothing_is_served_twice() -> None:
    sample = Sample(contexts=CONTEXTS)
    stream = AnswerStream(JUDGE, sample, on_fail="flag")
    chunks = ["We open at 9.", " Lunch is at 12. Plus costs 9 EUR. Basic"]
    source = iter([*chunks, " costs 5 EUR."])
    with pytest.MonkeyPatch.context() as patch:
        # Otherwise it takes a table below a line of several sentences.
        patch.setattr(streaming, "_HELD_BACK", 0)
        texts = [part.text for part in stream.chunks(source)]
    served = stream.served
    assert served is not None
    assert served.split_moved
    assert "end of the stream changed" in served.to_dict()["why"]
    assert "".join(texts) == "".join(chunks) + " costs 5 EUR."
    whole = JUDGE.evaluate(ended(stream).result.sample)
    assert ended(stream).result == whole
    assert ended(stream).supported == whole.supported()


@pytest.mark.parametrize("on_fail", ["flag", "remove", "refuse", "raise"])
def test_sentences_that_become_the_header_of_a_table_are_judged_anew(
    on_fail: OnFail,
) -> None:
    text = """We open at 9. Roses are red. Lunch is at 12. Plus costs 9 EUR. | Plan | Price |
|---|---|
| Basic | 5 EUR |

Lunch is at 12."""
    for threshold in (0.1, 0.9):
        tcva = TCVA(judge="lexical", threshold=threshold)
        sample = Sample(response=text, contexts=CONTEXTS)
        whole = serve(tcva.evaluate(sample), on_fail)
        parts, stream = streamed(sample, on_fail, 1, tcva)
        served = ended(stream)
        assert served.split_moved
        assert (served.result, served.failed) == (whole.result, whole.failed)
        assert served.marks == whole.marks
        assert "".join(part.text for part in parts) == served.text
        if on_fail == "remove":
            assert served.text == "We open at 9. Lunch is at 12."
        elif on_fail == "flag" or not served.failed:
            assert served.text == text


def test_a_certificate_holds_for_the_stream_of_a_judge_that_computes_here() -> None:
    tcva = TCVA.from_config(certified(), judge="lexical")
    for response in (GOOD.response, MIXED.response):
        sample = GOOD.model_copy(update={"response": response})
        _, stream = streamed(sample, "remove", 5, tcva)
        assert state_of(ended(stream).result) == HOLDS


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_certificate_is_lost_in_the_stream_of_a_model_that_is_asked_otherwise(
    *, is_streamed: bool
) -> None:
    judge = TCVA(judge=ScriptedModel([ONE]), streamed=is_streamed)
    config = certified_by(judge.judge)
    assert config.guarantee is not None
    known = {**config.guarantee.judged_by}
    if is_streamed:
        known["streamed"] = True
    guarantee = config.guarantee.model_copy(update={"judged_by": known}).with_digest()
    certificate = config.model_copy(update={"guarantee": guarantee})
    tcva = TCVA.from_config(certificate, judge=judge.judge, streamed=is_streamed)
    # A scripted model tells no address, so that its certificate can only be lost, or not be checked.
    why = "address" if is_streamed else "streamed in parts"
    with pytest.warns(GuaranteeWarning, match=why):
        _, stream = streamed(GOOD, "remove", 5, tcva)
    assert state_of(ended(stream).result) == (OPEN if is_streamed else LOST)


def test_a_stream_by_a_cross_encoder_serves_what_is_served_of_the_whole(
    tmp_path: Path,
) -> None:
    pytest.importorskip("onnxruntime", reason="the extra nli")
    pytest.importorskip("onnx", reason="writes the models")
    from tests.support.cross_encoder import save  # noqa: PLC0415  # asks for onnx

    text = "We open at 9. Yes.\n1. Lunch is at 12.\n2. Plus costs 80 EUR.\n3. It is free. Basic costs 5 EUR."
    folder = save(tmp_path / "tiny", [text, *CONTEXTS])
    tcva = TCVA(judge=f"nli:{folder}", share=False)
    sample = Sample(response=text, contexts=CONTEXTS)
    whole = serve(tcva.evaluate(sample), "flag")
    for size in (1, 9):
        assert streamed(sample, "flag", size, tcva)[1].served == whole
