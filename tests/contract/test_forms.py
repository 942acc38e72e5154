"""The forms of verdicts: the same in all adapters, whatever the server or the LLM object gives."""

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest
from deepeval.models import OpenAIModel
from langchain_core.language_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from llama_index.core.base.llms.types import LogProb
from llama_index.core.llms import ChatMessage, ChatResponse, CustomLLM, LLMMetadata
from pydantic import SecretStr
from ragas.llms.base import LangchainLLMWrapper

from tcva_adapters import TCVA, Result
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.adapters.table import Adapter, each_adapter
from tests.contract.adapters import SAMPLES
from tests.deepeval.entry import hanging_up
from tests.support.one_word import SERVERS, one_word
from tests.support.server import ScriptedServer

# RAGAS announces the end of its wrapper on every use.
pytestmark = pytest.mark.filterwarnings(
    "ignore:LangchainLLMWrapper is:DeprecationWarning"
)

KEY = "sk-none-of-anybody-0123456789"


def in_words(prompt: str) -> str:
    """What a model without probabilities answers."""
    said = one_word({"messages": [{"content": prompt}]}, 1)
    if isinstance(said, str):
        return said
    return str(getattr(said, "payload", {})["choices"][0]["message"]["content"])


@each_adapter
def test_a_class_of_the_users_without_probabilities_is_refused(
    adapter: Adapter,
) -> None:
    evaluator = adapter.built(adapter.llm(in_words), verdicts="yes_no")
    (results,) = adapter.suite([evaluator], SAMPLES, False)
    for result in results:
        refused(result)  # type: ignore[arg-type]  # a Result


@each_adapter
def test_every_drop_in_asks_in_the_form_that_it_was_given(adapter: Adapter) -> None:
    with ScriptedServer(SERVERS["logprobs only"]) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url)
        expected = TCVA(judge=model, verdicts="yes_no").evaluate(SAMPLES[0])
        result: Any = adapter.score(adapter.built(model, verdicts="yes_no"), SAMPLES[0])
    assert result.assessment.form == expected.assessment.form == "yes_no"
    assert (result.unscored, result.score, result.claims) == (
        None,
        expected.score,
        expected.claims,
    )


# --- LLM objects of the frameworks, over HTTP ------------------------------------------------------


class ChatLLM(CustomLLM):
    """A LlamaIndex LLM with the fields and the replies of that framework's class for OpenAI."""

    url: str
    logprobs: bool | None = None
    top_logprobs: int = 0

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="m", is_chat_model=True)

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        sent: Any = [{"role": m.role.value, "content": m.content} for m in messages]
        with openai.OpenAI(api_key=KEY, base_url=self.url, max_retries=0) as client:
            found = client.chat.completions.create(model="m", messages=sent, **kwargs)
        choice = found.choices[0]
        content = (choice.logprobs and choice.logprobs.content) or ()
        return ChatResponse(
            message=ChatMessage(role="assistant", content=choice.message.content),
            raw=found,
            logprobs=[
                [LogProb(token=t.token, logprob=t.logprob) for t in token.top_logprobs]
                for token in content
            ],
        )

    async def achat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return await asyncio.to_thread(self.chat, messages, **kwargs)

    def complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def stream_complete(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def chat(url: str, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(
        model="m", api_key=SecretStr(KEY), base_url=url, max_retries=0, **options
    )


LLMS: dict[str, tuple[Callable[[str], Any], str]] = {
    "LangChain": (chat, "yes_no"),
    "LangChain, bound": (lambda url: chat(url).bind(seed=1), "yes_no"),
    "LangChain, with retries": (lambda url: chat(url).with_retry(), "yes_no"),
    "LangChain, with fallbacks": (
        lambda url: chat(url).with_fallbacks([FakeListChatModel(responses=["no"])]),
        "",
    ),
    "LlamaIndex": (lambda url: ChatLLM(url=url), "yes_no"),
    "DeepEval": (lambda url: OpenAIModel("gpt-4.1", api_key=KEY, base_url=url), ""),
    "RAGAS": (
        lambda url: LangchainLLMWrapper(chat(url, logprobs=True, top_logprobs=20)),
        "",
    ),
}


@pytest.mark.parametrize(("make", "form"), LLMS.values(), ids=LLMS)
def test_replies_of_llm_objects_are_read(make: Callable[[str], Any], form: str) -> None:
    with ScriptedServer(hanging_up(one_word)) as server:
        tcva = TCVA(judge=make(server.base_url), verdicts="yes_no", share=False)
        results = [tcva.evaluate(SAMPLES[0]), asyncio.run(tcva.aevaluate(SAMPLES[0]))]
    for result in results:
        if not form:
            refused(result)
            continue
        assert (result.unscored, result.assessment.form) == (None, form)
        high, low = (claim.probabilities for claim in result.claims)
        assert high == pytest.approx((0, 0.3, 0.7, 0, 0), abs=1e-9)
        assert low == pytest.approx((0, 0, 0, 1 / 6, 5 / 6), abs=1e-9)


def refused(result: Result) -> None:
    assert result.unscored is not None
    assert result.unscored.fatal
    assert "verdicts='written'" in result.unscored.detail
