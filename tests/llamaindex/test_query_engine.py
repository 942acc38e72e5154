"""A query engine that serves what its sources support. The LLM is scripted, all else is real."""

import asyncio
import pickle
from itertools import product
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine, RetryQueryEngine
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool
from llama_index_instrumentation import root_dispatcher

from tcva_adapters import CCRS
from tcva_adapters.errors import InvalidValueError, TCVAError
from tcva_adapters.llamaindex import (
    BelowThresholdError,
    ScorerEvaluationEndEvent,
    ScorerEvaluator,
    TCVAEvaluator,
    TCVAQueryEngine,
)
from tcva_adapters.serving import REFUSAL, OnFail
from tcva_adapters.text.non_claims import non_claim_kind
from tests.adapters.test_claim_certificate import certified_for_claims
from tests.llamaindex.entry import ScriptedLLM, scripted
from tests.llamaindex.serving import (
    ANSWERS,
    BAD,
    CASES,
    GOOD,
    MODES,
    PASSAGE,
    QUESTION,
    RAISED,
    WAYS,
    Notes,
    Writer,
    engine_for,
    engine_of,
    evaluator_of,
    nodes,
    outcome,
    serve,
)
from tests.llamaindex.test_engines import Recorder
from tests.support.certified import MIXED
from tests.support.scripted import verdict_json

BOTH = "a supported and an unsupported claim"
LEXICAL = TCVAEvaluator("lexical")
OBJECTS = [case for case in CASES if "object" in case]
WHOLE = ("supported claims", "greeting", "refusal", "object, supported")
"""What every mode serves as it is."""

EXPECTED: dict[OnFail, dict[str, str]] = {
    "flag": {},
    "remove": {BOTH: GOOD},
    "refuse": {},
    "raise": {},
}
"""What comes out where it is neither the whole answer, nor the refusal, nor an error."""


def expected(case: str, mode: OnFail) -> str:
    if mode == "flag" or case in WHOLE:
        return ANSWERS[case]
    return EXPECTED[mode].get(case, RAISED if mode == "raise" else REFUSAL)


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_what_comes_out(case: str, mode: OnFail, way: str) -> None:
    assert outcome(case, mode, way) == expected(case, mode)


@pytest.mark.parametrize("way", ["stream", "async stream"])
@pytest.mark.parametrize("mode", ["flag", "remove"])
@pytest.mark.parametrize("case", [case for case in CASES if case not in OBJECTS])
def test_a_stream_gives_what_the_whole_answer_gives(
    case: str, mode: OnFail, way: str
) -> None:
    assert outcome(case, mode, way) == expected(case, mode)


def test_the_refusal_claims_nothing() -> None:
    # or else an evaluator, a retry engine or an agent behind would fail it
    assert non_claim_kind(REFUSAL) == "refusal"


# --- marks, source nodes, and what else the response holds --------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["flag", "remove"])
def test_marks_stand_beside_what_the_response_holds(mode: OnFail, way: str) -> None:
    inner = engine_of(BOTH, way)
    served = serve(TCVAQueryEngine(inner, LEXICAL, on_fail=mode), way)
    (node,) = served.response.source_nodes
    assert node.get_content() == PASSAGE
    metadata = dict(served.response.metadata)
    marks = metadata.pop("tcva")
    assert [*metadata] == [node.node_id]
    assert marks["is_refused"] is False
    supported, unsupported = marks["marks"]
    assert (supported["claim"], supported["level"]) == (GOOD, "fully")
    assert (unsupported["claim"], unsupported["level"]) == (BAD, "none")
    answer = ANSWERS[BOTH]
    for mark in (supported, unsupported):
        assert answer[mark["start"] : mark["end"]].strip() == mark["claim"]
    assert supported["quote"] in PASSAGE
    if not isinstance(served.response, Response):
        read = served.response.get_response()
        if isinstance(served.response, AsyncStreamingResponse):
            read = asyncio.run(read)
        assert read.metadata["tcva"] == marks


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["flag", "remove"])
def test_what_was_not_judged_is_marked_with_the_failure(mode: OnFail, way: str) -> None:
    case = "failed judge"
    engine = TCVAQueryEngine(engine_of(case, way), evaluator_of(case), on_fail=mode)
    greeting, claim = serve(engine, way).marks["marks"]
    assert (greeting["claim"], greeting["supported"]) == ("Hello!", True)
    assert (claim["claim"], claim["level"], claim["supported"]) == (GOOD, None, False)
    assert "the line went dead" in claim["reason"]


def test_the_engine_behind_keeps_its_metadata() -> None:
    class Shared(RetrieverQueryEngine):
        def _query(self, query_bundle: QueryBundle) -> Any:
            return response

    response = Response(GOOD, nodes(PASSAGE), metadata={"own": 1})
    inner = Shared.from_args(Notes(PASSAGE), llm=Writer(GOOD))
    served = TCVAQueryEngine(inner, LEXICAL).query(QUESTION)
    assert served.metadata is not None
    assert (served.metadata["own"], response.metadata) == (1, {"own": 1})


def test_an_object_stays_an_object_or_is_refused() -> None:
    modes: tuple[OnFail, ...] = ("flag", "remove")
    for case, mode in product(OBJECTS, modes):
        inner = engine_of(case)
        own: Any = inner.query(QUESTION)
        assert type(own) is PydanticResponse
        served: Any = TCVAQueryEngine(inner, LEXICAL, on_fail=mode).query(QUESTION)
        stays = mode == "flag" or case == "object, supported"
        kind = "PydanticResponse" if stays else "Response"
        assert type(served).__name__ == kind
        assert served.metadata["tcva"]["is_refused"] is not stays
        if stays:
            assert served.text == own.text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["remove", "refuse"])
def test_an_engine_that_answers_nothing_is_refused_in_every_way(
    mode: OnFail, way: str
) -> None:
    engine = TCVAQueryEngine(engine_for("", way=way), LEXICAL, on_fail=mode)
    assert serve(engine, way).text == REFUSAL


@pytest.mark.parametrize("answer", [None, ""])
def test_a_response_without_text_is_refused(answer: str | None) -> None:
    class Silent(RetrieverQueryEngine):
        def _query(self, query_bundle: QueryBundle) -> Any:
            return Response(answer, nodes(PASSAGE))

    inner = Silent.from_args(Notes(PASSAGE), llm=Writer(GOOD))
    served: Any = TCVAQueryEngine(inner, LEXICAL).query(QUESTION)
    assert served.metadata["tcva"]["why"].startswith("unscored: empty_response")
    assert str(served) == REFUSAL


@pytest.fixture
def _some_llm(monkeypatch: pytest.MonkeyPatch) -> None:
    # FeedbackQueryTransformation resolves Settings.llm even where it does not use it.
    monkeypatch.setattr(Settings, "_llm", scripted())


# --- streams ------------------------------------------------------------------------------------

LONG = f"{GOOD} {BAD} The door is green. {GOOD} {GOOD} {GOOD}"


def counted(chunks: list[str], taken: list[str]) -> Any:
    for chunk in chunks:
        taken.append(chunk)
        yield chunk


def streamed(chunks: Any, **settings: Any) -> Any:
    class Streaming(RetrieverQueryEngine):
        def _query(self, query_bundle: QueryBundle) -> Any:
            return StreamingResponse(chunks, nodes(PASSAGE))

    inner = Streaming.from_args(Notes(PASSAGE), llm=Writer(GOOD))
    return TCVAQueryEngine(inner, LEXICAL, **settings).query(QUESTION)


def test_text_and_marks_come_before_the_stream_has_ended() -> None:
    taken: list[str] = []
    words = LONG.replace(" ", "\0 ").split("\0")
    response = streamed(counted(words, taken))
    assert taken == []
    first = next(response.response_gen)
    assert GOOD.startswith(first.strip())
    assert len(taken) < len(words)
    assert response.metadata["tcva"]["marks"][0]["claim"] == GOOD
    text = first + "".join(response.response_gen)
    assert text == f"{GOOD} {GOOD} {GOOD} {GOOD}"
    assert len(response.metadata["tcva"]["marks"]) == 6


def test_closing_a_stream_early_ends_the_one_behind() -> None:
    ended = []

    def chunks() -> Any:
        try:
            yield from LONG.replace(" ", "\0 ").split("\0")
        finally:
            ended.append(True)

    response = streamed(chunks())
    next(response.response_gen)
    response.response_gen.close()
    assert ended == [True]


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_that_breaks_raises_what_broke_it(mode: OnFail) -> None:
    def chunks() -> Any:
        yield f"{GOOD} "
        msg = "the line went dead"
        raise ConnectionError(msg)

    with pytest.raises(ConnectionError, match="the line went dead"):
        str(streamed(chunks(), on_fail=mode))


@pytest.mark.parametrize("way", ["stream", "async stream"])
def test_a_stream_is_refused_or_raises_where_it_fails(way: str) -> None:
    def served(mode: OnFail, case: str) -> Any:
        engine = TCVAQueryEngine(
            engine_of(case, way), evaluator_of(case), on_fail=mode, refusal="Sorry."
        )
        return serve(engine, way)

    refused = served("refuse", BOTH)
    assert refused.text.startswith(GOOD)
    assert refused.text.endswith("Sorry.")
    assert BAD not in refused.text
    assert refused.marks["is_refused"] is True
    raised = served("raise", BOTH)
    assert raised.text.strip() in (GOOD, "")
    assert raised.error is not None
    assert raised.error.response is raised.response
    assert raised.error.result.claims[1].claim == BAD
    for mode in ("refuse", "raise"):
        failed = served(mode, "failed judge")
        assert GOOD not in failed.text


@pytest.mark.parametrize("way", WAYS)
def test_handlers_get_the_result_of_the_whole_answer(way: str) -> None:
    recorder = Recorder()
    root_dispatcher.event_handlers.append(recorder)
    try:
        served = serve(TCVAQueryEngine(engine_of(BOTH, way), LEXICAL), way)
    finally:
        root_dispatcher.event_handlers.remove(recorder)
    (end,) = (e for e in recorder.events if isinstance(e, ScorerEvaluationEndEvent))
    assert end.result.response == ANSWERS[BOTH]
    assert end.result.contexts == [PASSAGE]
    assert end.result.result.supported().text == served.text == GOOD


@pytest.mark.parametrize("way", WAYS)
def test_a_certificate_of_a_file_is_checked_for_what_is_served(way: str) -> None:
    evaluator = TCVAEvaluator.from_config(certified_for_claims(), llm="lexical")
    inner = engine_for(str(MIXED.response), MIXED.contexts or (), way)
    recorder = Recorder()
    root_dispatcher.event_handlers.append(recorder)
    try:
        served = serve(TCVAQueryEngine(inner, evaluator), way)
    finally:
        root_dispatcher.event_handlers.remove(recorder)
    (end,) = (e for e in recorder.events if isinstance(e, ScorerEvaluationEndEvent))
    assert end.result.result.guarantee.state == "holds"
    assert served.text == "The office opens at nine."


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_an_llm_of_llamaindex_judges(way: str, is_streamed: bool) -> None:
    def judge(prompt: str) -> str:
        _, _, claims = prompt.partition("<<<CLAIM 1 ")
        verdicts = [(GOOD, "fully", GOOD), (BAD, "none", "")]
        asked = sorted(
            (c for c in verdicts if c[0] in claims), key=lambda c: claims.index(c[0])
        )
        entries = [
            (n, word, quote) for n, (_, word, quote) in enumerate(asked, start=1)
        ]
        return verdict_json(*entries)

    llm = ScriptedLLM(reply=judge)
    evaluator = TCVAEvaluator(llm, streamed=is_streamed)
    served = serve(TCVAQueryEngine(engine_of(BOTH, way), evaluator), way)
    assert served.text == GOOD
    assert [mark["level"] for mark in served.marks["marks"]] == ["fully", "none"]
    assert len(llm.prompts) == (2 if is_streamed else 1)


def test_an_async_stream_is_closed_with_its_reader_and_can_be_read_as_text() -> None:
    ended = []

    async def chunks() -> Any:
        try:
            for word in LONG.replace(" ", "\0 ").split("\0"):
                yield word
        finally:
            ended.append(True)

    class Streaming(RetrieverQueryEngine):
        async def _aquery(self, query_bundle: QueryBundle) -> Any:
            return AsyncStreamingResponse(chunks(), nodes(PASSAGE))

    inner = Streaming.from_args(Notes(PASSAGE), llm=Writer(GOOD))
    engine = TCVAQueryEngine(inner, LEXICAL)

    async def first() -> None:
        response: Any = await engine.aquery(QUESTION)
        assert GOOD.startswith(await anext(response.response_gen))
        await response.response_gen.aclose()
        assert ended == [True]

    async def many() -> list[str]:
        responses: Any = await asyncio.gather(
            *(engine.aquery(QUESTION) for _ in range(8))
        )
        read = await asyncio.gather(*(each.get_response() for each in responses))
        return [str(each) for each in read]

    asyncio.run(first())
    assert asyncio.run(many()) == [f"{GOOD} {GOOD} {GOOD} {GOOD}"] * 8


@pytest.mark.usefixtures("_some_llm")
def test_a_stream_that_was_read_by_the_engine_behind_is_judged() -> None:
    inner = RetryQueryEngine(engine_of(BOTH, "stream"), LEXICAL, max_retries=0)
    retrying = RetryQueryEngine(engine_of("supported claims", "stream"), LEXICAL)
    for engine in (inner, retrying):
        served = serve(TCVAQueryEngine(engine, LEXICAL), "stream")
        assert served.text == GOOD


def test_a_streaming_chat_engine_over_it_says_what_it_serves() -> None:
    engine = TCVAQueryEngine(engine_of(BOTH, "stream"), LEXICAL)
    memory = ChatMemoryBuffer(token_limit=500)
    chat = CondenseQuestionChatEngine.from_defaults(
        engine, llm=scripted(), memory=memory
    )
    assert "".join(chat.stream_chat(QUESTION).response_gen) == GOOD


# --- other faces of a query engine ----------------------------------------------------------------


def test_retrieving_and_synthesising_from_given_nodes() -> None:
    engine = TCVAQueryEngine(engine_of(BOTH), LEXICAL)
    query = QueryBundle(QUESTION)
    found = engine.retrieve(query)
    assert [node.get_content() for node in found] == [PASSAGE]
    extra = nodes("Bananas ripen faster in paper bags.")
    assert str(engine.synthesize(query, found)) == GOOD
    assert str(engine.synthesize(query, found, extra)) == ANSWERS[BOTH]
    assert str(asyncio.run(engine.asynthesize(query, found))) == GOOD


def test_prompts_are_those_of_the_engine_behind() -> None:
    inner = engine_of(BOTH)
    engine = TCVAQueryEngine(inner, LEXICAL)
    assert engine.get_prompts() == inner.get_prompts()
    name = "response_synthesizer:text_qa_template"
    template = PromptTemplate("Answer {query_str} from {context_str} alone.")
    engine.update_prompts({name: template})
    assert inner.get_prompts()[name].get_template() == template.get_template()
    assert engine.callback_manager is inner.callback_manager


@pytest.mark.usefixtures("_some_llm")
@pytest.mark.parametrize("way", ["sync", "stream"])
def test_a_retry_engine_around_it_judges_what_it_serves(way: str) -> None:
    engine = TCVAQueryEngine(engine_of(BOTH, way), LEXICAL)
    response = RetryQueryEngine(engine, LEXICAL, max_retries=1).query(QUESTION)
    assert str(response) == GOOD


def test_a_tool_and_a_chat_engine_over_it_say_what_it_serves() -> None:
    engine = TCVAQueryEngine(engine_of(BOTH), LEXICAL)
    assert QueryEngineTool.from_defaults(engine).call(QUESTION).content == GOOD
    memory = ChatMemoryBuffer(token_limit=500)
    chat = CondenseQuestionChatEngine.from_defaults(
        engine, llm=scripted(), memory=memory
    )
    assert str(chat.chat(QUESTION)) == GOOD


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"query_engine": "engine"}, "query_engine must be a query engine"),
        ({"evaluator": CCRS("qr", judge="lexical")}, "evaluator must be"),
        (
            {"evaluator": ScorerEvaluator(CCRS("qr", judge="lexical"))},
            "evaluator must be",
        ),
        ({"evaluator": TCVAEvaluator("lexical", criterion="correctness")}, "reference"),
        (
            {"evaluator": TCVAEvaluator(scripted(), claims="llm")},
            "on_fail='remove' needs sentences, and claims='llm'",
        ),
        ({"on_fail": "retry"}, "on_fail"),
        ({"refusal": None}, "refusal"),
    ],
)
def test_arguments_that_cannot_be_used_are_named(arguments: Any, named: str) -> None:
    given = {"query_engine": engine_of(BOTH), "evaluator": LEXICAL, **arguments}
    with pytest.raises(InvalidValueError, match=named):
        TCVAQueryEngine(**given)


def test_the_error_travels_to_another_process() -> None:
    served = serve(TCVAQueryEngine(engine_of(BOTH), LEXICAL, on_fail="raise"))
    error = served.error
    assert isinstance(error, BelowThresholdError | TCVAError)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.result == error.result
    assert str(again.response) == ANSWERS[BOTH]
