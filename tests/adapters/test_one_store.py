"""One store for many judges: never another judge's verdict, and no call for the same judge again.

``pytest tests/adapters/test_one_store.py -v`` lists the differences that count, and what is refused.
"""

import asyncio
import gc
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

import httpx
import openai
import pytest
from deepeval.models import DeepEvalBaseLLM, OpenAIModel
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import (
    ConfigurableField,
    RunnableBinding,
    RunnableBranch,
    RunnableLambda,
    RunnableParallel,
)
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models import _client_utils
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from pydantic import Field, SecretStr
from ragas.llms import base as ragas_llms
from ragas.llms import llm_factory
from ragas.llms.base import BaseRagasLLM, InstructorBaseRagasLLM

from tcva_adapters import CCRS, TCVA, Panel, Sample, clear_shared
from tcva_adapters.compare import acompare, compare
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.langchain.llm import LangChainModel
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.cli.conftest import Run, tcva, write  # noqa: F401  # a fixture
from tests.support.lexical_server import LexicalServer
from tests.support.scripted import Declared
from tests.support.server import CLAIM, ScriptedServer

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:LangchainLLMWrapper is deprecated:DeprecationWarning"
    ),
    pytest.mark.filterwarnings(
        "ignore:(?s).*WARNING! .* is not default parameter:UserWarning"
    ),
    # Frameworks leave clients open.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KEY: Final = "sk-never-shown-1234567890"
SAMPLE: Final = Sample(
    input="When?", response="It opens at nine.", contexts=("It opens at nine.",)
)


def script(level: str) -> Callable[[Any, int], str]:
    """Whatever is asked has this level."""

    def answer(body: Any, _: int) -> str:
        contents = [each["content"] for each in body["messages"]]
        prompt = "\n".join(c if isinstance(c, str) else c[0]["text"] for c in contents)
        numbers = dict.fromkeys(number for number, _ in CLAIM.findall(prompt))
        entry = {
            "verdict": level,
            "quote_from_passage": "It opens at nine",
            "reason": "r",
        }
        return json.dumps({f"claim_{number}": entry for number in numbers})

    return answer


class LlamaOpenAI(CustomLLM):
    """The settings of llama_index.llms.openai.OpenAI 0.8, with as much of it as a judge needs."""

    model: str = "m"
    api_base: str = ""
    temperature: float = 0.0
    max_tokens: int | None = None
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    default_headers: dict[str, str] | None = None
    messages_to_prompt: Any = None

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self.model, is_chat_model=True)

    def _ask(self, prompt: str) -> CompletionResponse:
        how: Any = {"default_headers": self.default_headers, "api_key": KEY}
        with openai.OpenAI(base_url=self.api_base, **how) as client:
            told = [{"role": "user", "content": prompt}]
            made: Any = client.chat.completions.create(
                model=self.model, messages=told, temperature=self.temperature,  # type: ignore[arg-type]  # a plain dict
                max_tokens=self.max_tokens, **self.additional_kwargs,
            )  # fmt: skip
        return CompletionResponse(text=made.choices[0].message.content)

    def complete(
        self, prompt: str, formatted: bool = False, **_: Any
    ) -> CompletionResponse:
        return self._ask(prompt)

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise NotImplementedError


LlamaOpenAI.__module__ = "llama_index.llms.openai"


def langchain(url: str | None, **further: Any) -> Any:
    how: dict[str, Any] = {
        "model": "m",
        "base_url": url,
        "api_key": KEY,
        "temperature": 0,
        "seed": 0,
    }
    return ChatOpenAI(**{**how, "max_tokens": 99, "max_retries": 0, **further})


def llamaindex(url: str, **further: Any) -> Any:
    own = {
        n: further.pop(n)
        for n in ("temperature", "max_tokens", "default_headers")
        if n in further
    }
    return LlamaOpenAI(api_base=url, **own, additional_kwargs=further)


def ragas(url: str | None, kind: Any = openai.OpenAI, **further: Any) -> Any:
    own = {
        n: further.pop(n)
        for n in ("default_headers", "default_query", "http_client")
        if n in further
    }
    client = kind(base_url=url, api_key=KEY, max_retries=0, **own)
    return llm_factory(
        "m", client=client, **{"temperature": 0.5, "max_tokens": 99, **further}
    )


def ragas_wrapped(url: str | None, **further: Any) -> Any:
    return ragas_llms.LangchainLLMWrapper(langchain(url, **further))


def deepeval(url: str | None, **further: Any) -> Any:
    own = {
        n: further.pop(n)
        for n in ("default_headers", "default_query", "temperature")
        if n in further
    }
    costs: Any = {
        "cost_per_input_token": 0.0,
        "cost_per_output_token": 0.0,
        "api_key": KEY,
    }
    return OpenAIModel("m", base_url=url, generation_kwargs=further, **costs, **own)


def openai_model(url: str | None, **further: Any) -> Any:
    own = {
        n: further.pop(n) for n in ("default_headers", "default_query") if n in further
    }
    client = (
        openai.OpenAI(base_url=url, api_key=KEY, max_retries=0, **own) if own else None
    )
    how = {} if client else {"base_url": url, "api_key": KEY}
    return OpenAICompatibleModel("m", client=client, **how, **further)


MAKERS: Final[dict[str, Callable[..., Any]]] = {
    "LangChain": langchain,
    "LangChain, bound": lambda url, **further: langchain(url).bind(**further),
    "LangChain with retries": lambda url, **further: langchain(
        url, **further
    ).with_retry(),
    "LlamaIndex": llamaindex,
    "RAGAS": ragas,
    "RAGAS, async": lambda url, **further: ragas(url, openai.AsyncOpenAI, **further),
    "RAGAS, wrapped": ragas_wrapped,
    "DeepEval": deepeval,
    "openai:MODEL": openai_model,
}
CHAT: Final = ("LangChain", "LangChain with retries", "RAGAS, wrapped")
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "temperature": {"temperature": 0.7},
    "max_tokens": {"max_tokens": 50},
    "seed": {"seed": 7},
    "logit_bias": {"logit_bias": {"7": -100}},
    "extra_body": {"extra_body": {"repetition_penalty": 1.1}},
    "extra_headers": {"extra_headers": {"X-Route": "B"}},
    "presence_penalty": {"presence_penalty": 0.5},
    "frequency_penalty": {"frequency_penalty": 0.5},
    "stop": {"stop": ["END"]},
    "reasoning_effort": {"reasoning_effort": "low"},
}
HEADERS: Final[dict[str, dict[str, Any]]] = {
    "default_headers": {"default_headers": {"X-Route": "B"}},
    "a virtual key": {"default_headers": {"x-portkey-virtual-key": "hunter2-hunter2"}},
    "a token": {"default_headers": {"Authorization": "Bearer hunter2-hunter2"}},
    "default_query": {"default_query": {"deployment": "B"}},
}
LANGCHAIN_ONLY: Final[dict[str, dict[str, Any]]] = {
    "model_kwargs": {"model_kwargs": {"logit_bias": {"7": -100}}},
    "verbosity": {"verbosity": "low"},
    "use_responses_api": {"use_responses_api": False},
    "disabled_params": {"disabled_params": {"seed": None}},
}


def _differences() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for maker in MAKERS:
        has_headers = not maker.startswith("LangChain, bound")
        for name, further in {**ARGUMENTS, **HEADERS, **LANGCHAIN_ONLY}.items():
            is_fit = (
                name in ARGUMENTS or (name in HEADERS and has_headers) or maker in CHAT
            )
            if maker == "RAGAS, wrapped" and name == "temperature":
                continue  # RAGAS sets it for each call
            if maker == "LlamaIndex" and name == "default_query":
                continue
            if maker == "openai:MODEL" and name in {*ARGUMENTS} - {
                "temperature",
                "max_tokens",
                "seed",
            }:
                continue
            if is_fit:
                yield maker, name, further


DIFFERENCES: Final = [*_differences()]


@pytest.fixture(autouse=True)
def _close_what_frameworks_left_open() -> Iterator[None]:
    yield
    for kind in ("sync", "async"):
        getattr(_client_utils, f"_cached_{kind}_httpx_client").cache_clear()
    gc.collect()


@pytest.fixture
def servers() -> Iterator[tuple[ScriptedServer, ScriptedServer]]:
    with (
        ScriptedServer(script("fully")) as one,
        ScriptedServer(script("none")) as other,
    ):
        yield one, other


def judged(llm: Any, store: Path, **settings: Any) -> Any:
    """The result of one sample in a process of its own, as far as sharing goes."""
    clear_shared()
    result = TCVA(judge=llm, store=store, evidence="off", **settings).evaluate(SAMPLE)
    assert result.score is not None, result.reason
    return result


@pytest.mark.parametrize("maker", MAKERS)
def test_a_store_serves_judgements_of_the_same_server_alone(
    maker: str, servers: tuple[ScriptedServer, ScriptedServer], tmp_path: Path
) -> None:
    store, make = tmp_path / "v.sqlite", MAKERS[maker]
    scores = [judged(make(each.base_url), store).score for each in servers]
    assert scores == [1.0, 0.0]
    calls = [each.count for each in servers]
    again = [judged(make(each.base_url), store) for each in servers]
    assert [each.score for each in again] == [1.0, 0.0]
    assert all(each.from_store for each in again)
    assert [each.count for each in servers] == calls
    clear_shared()
    scorer = TCVA(judge=make(servers[1].base_url), store=store, evidence="off")
    assert asyncio.run(scorer.aevaluate(SAMPLE)).score == 0.0
    assert [each.count for each in servers] == calls


def test_no_wrapper_is_served_what_another_servers_wrapper_got(
    servers: tuple[ScriptedServer, ScriptedServer], tmp_path: Path
) -> None:
    store = tmp_path / "v.sqlite"
    for maker in MAKERS.values():
        assert judged(maker(servers[0].base_url), store).score == 1.0
    for maker in MAKERS.values():
        assert judged(maker(servers[1].base_url), store).score == 0.0
    with closing(sqlite3.connect(store)) as connection:
        held = "".join(
            map(str, connection.execute("SELECT * FROM judgements").fetchall())
        )
    assert not {text for text in (KEY, "127.0.0.1") if text in held}


def test_one_server_through_two_frameworks_is_one_judge_where_the_prompt_is_equal(
    servers: tuple[ScriptedServer, ScriptedServer], tmp_path: Path
) -> None:
    store, (server, _) = tmp_path / "v.sqlite", servers
    assert judged(langchain(server.base_url), store).usage.calls == 1
    same = judged(llamaindex(server.base_url, max_tokens=99, seed=0), store)
    assert (same.from_store, same.judge, server.count) == (True, "llamaindex:m", 1)


@pytest.mark.parametrize(
    "maker", ["LangChain", "RAGAS", "RAGAS, async", "DeepEval", "openai:MODEL"]
)
def test_an_address_from_the_environment_counts(
    maker: str,
    servers: tuple[ScriptedServer, ScriptedServer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = []
    for server in (*servers, *servers):
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        results.append(judged(MAKERS[maker](None), tmp_path / "v.sqlite"))
    assert [each.score for each in results] == [1.0, 0.0, 1.0, 0.0]
    assert [each.from_store for each in results] == [False, False, True, True]


@pytest.mark.filterwarnings(
    "ignore:Parameters .* should be specified explicitly:UserWarning"
)
@pytest.mark.parametrize(
    ("maker", "name", "further"), DIFFERENCES, ids=lambda each: str(each)[:30]
)
def test_a_judge_that_differs_in_anything_judges_anew(
    maker: str,
    name: str,
    further: dict[str, Any],
    servers: tuple[ScriptedServer, ScriptedServer],
    tmp_path: Path,
) -> None:
    server, store = servers[0], tmp_path / "v.sqlite"
    plain, other, again = (
        judged(MAKERS[maker](server.base_url, **json.loads(json.dumps(given))), store)
        for given in ({}, further, further)
    )
    assert [each.from_store for each in (plain, other, again)] == [
        False,
        False,
        True,
    ], name
    assert "hunter2" not in store.read_bytes().decode(errors="replace")


class OwnChat(ChatOpenAI):
    """Tells its settings, and sends something else."""

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        return super()._generate([*messages, AIMessage("Be strict.")], *args, **kwargs)


class Rewriting(LLMJudge):
    """Judges another sample than the one it is given."""


class OwnModel(OpenAICompatibleModel):
    """Asks something else than it is asked."""


class OwnWrapper(LangChainModel):
    """Likewise."""


def test_a_class_of_the_users_is_another_judge(
    servers: tuple[ScriptedServer, ScriptedServer], tmp_path: Path
) -> None:
    url, store = servers[0].base_url, tmp_path / "v.sqlite"
    how: Any = {
        "model": "m",
        "base_url": url,
        "api_key": KEY,
        "temperature": 0,
        "seed": 0,
    }
    how["max_tokens"] = 99
    own = OwnModel("m", base_url=url, api_key=KEY)
    judges: list[Callable[[], Any]] = [
        lambda: langchain(url),
        lambda: OwnChat(**how),
        lambda: OwnWrapper(langchain(url)),
        lambda: openai_model(url),
        lambda: own,
        lambda: Rewriting(openai_model(url)),
        lambda: Rewriting(LangChainModel(langchain(url))),
    ]
    assert [judged(make(), store).from_store for make in judges] == [False] * len(
        judges
    )
    assert [judged(make(), store).from_store for make in judges] == [True] * len(judges)


class Silent(CustomLLM):
    """A LlamaIndex LLM that tells nothing."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(
        self, prompt: str, formatted: bool = False, **_: Any
    ) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        raise NotImplementedError


class SilentDeepEval(DeepEvalBaseLLM):  # type: ignore[no-untyped-call]  # as its __init_subclass__ is
    def load_model(self, *_: Any, **__: Any) -> Any:
        return self

    def get_model_name(self, *_: Any, **__: Any) -> str:
        return "m"

    def generate(self, *_: Any, **__: Any) -> str:
        raise NotImplementedError

    async def a_generate(self, *_: Any, **__: Any) -> str:
        raise NotImplementedError


class SilentRagas(InstructorBaseRagasLLM):
    def generate(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def agenerate(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


class SilentOldRagas(BaseRagasLLM):
    def generate_text(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def agenerate_text(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def is_finished(self, response: Any) -> bool:
        raise NotImplementedError


class OwnBinding(RunnableBinding[Any, Any]):
    """Wraps a model, and may do anything."""


URL: Final = "http://127.0.0.1:9/v1"


def _local_class() -> Any:
    class Local(ChatOpenAI):
        """One of many of this name."""

    return Local(model="m", base_url=URL, api_key=SecretStr(KEY))


def _two_clients() -> Any:
    other = openai.AsyncOpenAI(base_url="http://127.0.0.1:8/v1", api_key=KEY)
    return langchain(URL, async_client=other.chat.completions)


def _opaque_client() -> Any:
    made = langchain(URL)
    made.client = object()
    return made


UNKNOWN: Final[dict[str, Callable[[], Any]]] = {
    "a chain": lambda: langchain(URL) | StrOutputParser(),
    "a longer chain": lambda: RunnableLambda(str) | langchain(URL) | StrOutputParser(),
    "a function": lambda: RunnableLambda(lambda _: "x"),
    "a branch": lambda: RunnableBranch((bool, langchain(URL)), langchain(URL)),
    "parallel ones": lambda: RunnableParallel(a=langchain(URL)),
    "fallbacks": lambda: langchain(URL).with_fallbacks([langchain("http://127.0.0.1:8/v1")]),
    "structured output": lambda: langchain(URL).with_structured_output(None, method="json_mode"),
    "fields by the run's config": lambda: langchain(URL).configurable_fields(
        temperature=ConfigurableField(id="t")
    ),
    "alternatives": lambda: langchain(URL).configurable_alternatives(
        ConfigurableField(id="llm"), other=langchain("http://127.0.0.1:8/v1")
    ),
    "a binding of the user's": lambda: OwnBinding(bound=langchain(URL)),
    "a model without an address": lambda: FakeListChatModel(responses=["x"]),
    "a wrapped chain": lambda: ragas_llms.LangchainLLMWrapper(langchain(URL) | StrOutputParser()),
    "an http_client": lambda: langchain(URL, http_client=httpx.Client()),
    "an http_async_client": lambda: langchain(URL, http_async_client=httpx.AsyncClient()),
    "clients at two addresses": _two_clients,
    "a client that tells nothing": _opaque_client,
    "a class that is no module's": _local_class,
    "LlamaIndex: own class": Silent,
    "LlamaIndex: a function": lambda: LlamaOpenAI(api_base=URL, messages_to_prompt=lambda _: "x"),
    "DeepEval: own class": SilentDeepEval,
    "DeepEval: an async http client": lambda: OpenAIModel(
        "gpt-4o", base_url=URL, api_key=KEY, async_http_client=httpx.AsyncClient()
    ),
    "RAGAS: own class": SilentRagas,
    "RAGAS: own class of the older family": SilentOldRagas,
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_store_is_refused_for_a_judge_that_is_not_fully_known(
    name: str, tmp_path: Path
) -> None:
    llm, store = UNKNOWN[name](), tmp_path / "v.sqlite"
    TCVA(judge=llm)  # without a store it judges
    with pytest.raises(
        InvalidValueError,
        match=r"store cannot be used with .* nothing tells its .* leave store out",
    ):
        TCVA(judge=llm, store=store)
    for make in (
        lambda: TCVA(judge="lexical", fuse=[llm], store=store),
        lambda: TCVA(judge=Panel([llm, "lexical"]), store=store),
        lambda: CCRS("qr", judge=llm, store=store),
        lambda: TCVA(judge=llm).changed(store=store),
    ):
        with pytest.raises(InvalidValueError, match="store cannot be used"):
            make()
    assert not store.exists()


def test_a_declared_name_is_the_way_out(
    servers: tuple[ScriptedServer, ScriptedServer], tmp_path: Path
) -> None:
    def chain(url: str) -> Any:
        return Declared(langchain(url) | StrOutputParser(), "langchain", server=url)

    store = tmp_path / "v.sqlite"
    results = [judged(chain(each.base_url), store) for each in (*servers, *servers)]
    assert [each.score for each in results] == [1.0, 0.0, 1.0, 0.0]
    assert [each.count for each in servers] == [1, 1]


def test_an_environment_that_changes_under_an_object_does_nothing(
    servers: tuple[ScriptedServer, ScriptedServer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", servers[0].base_url)
    llms = [MAKERS[name](None) for name in ("LangChain", "RAGAS", "openai:MODEL")]
    scorers = [
        TCVA(judge=llm, evidence="off", store=tmp_path / "v.sqlite") for llm in llms
    ]
    for server in servers:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert [scorer.evaluate(SAMPLE).score for scorer in scorers] == [1.0] * 3
    assert servers[1].count == 0


def test_evaluators_of_one_chain_share_and_those_of_two_do_not(
    servers: tuple[ScriptedServer, ScriptedServer],
) -> None:
    one, other = (langchain(each.base_url) | StrOutputParser() for each in servers)
    clear_shared()
    results = [
        TCVA(judge=each, temperature=t).evaluate(SAMPLE)
        for each in (one, other)
        for t in (0.2, 0.9)
    ]
    assert [each.claims[0].verdict for each in results] == [
        each.claims[0].verdict for each in results
    ]
    assert [each.score == 1.0 for each in results] == [True, True, False, False]
    assert [each.count for each in servers] == [1, 1]


def test_a_judge_that_is_no_longer_fully_known_gets_no_stored_judgement(
    servers: tuple[ScriptedServer, ScriptedServer], tmp_path: Path
) -> None:
    llm = llamaindex(servers[0].base_url)
    scorer = TCVA(judge=llm, store=tmp_path / "v.sqlite", share=False)
    keys = [scorer.key(SAMPLE)]
    for made in (lambda _: "a", lambda _: "b"):
        other = llamaindex(servers[0].base_url)
        other.messages_to_prompt = made
        keys.append(TCVA(judge=other).key(SAMPLE))
    assert len({*keys}) == 3


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_framework_metric_of_another_server_is_not_served(
    asynchronous: bool, tmp_path: Path
) -> None:
    store, calls = tmp_path / "v.sqlite", []
    with LexicalServer() as one, LexicalServer() as other:
        for server in (one, other, one, other):
            clear_shared()
            tcva = TCVA(judge=langchain(server.base_url), store=store)
            how: Any = {"frameworks": "deepeval", "metrics": "faithfulness"}
            found = acompare([SAMPLE], tcva, **how) if asynchronous else None
            asyncio.run(found) if found else compare([SAMPLE], tcva, **how)
            calls.append(server.count)
    assert calls == [calls[0]] * 4
    assert calls[0] > 1


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_commands_keep_servers_apart_in_one_store(
    command: str,
    tcva: Run,  # noqa: F811  # the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(
        "s.jsonl",
        {"question": "When?", "answer": "It opens.", "contexts": ["It opens."]},
    )
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    how = {
        "evaluate": [],
        "compare": ["--with", "deepeval", "--metrics", "faithfulness"],
    }
    calls = []
    with LexicalServer() as one, LexicalServer() as other:
        for server in (one, other, one, other):
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            run = [command, "s.jsonl", "--judge", "openai:m", "--store", "v.sqlite"]
            tcva(*run, *how[command])
            calls.append(server.count)
    assert calls == [calls[0]] * 4
    assert calls[0] > 0


def test_keys_of_openai_models_stay_as_they_were() -> None:
    """Whatever was paid for under `openai:MODEL` is still found."""
    model = OpenAICompatibleModel("m", base_url="http://127.0.0.1:9/v1", api_key=KEY)
    keys = [TCVA(judge=each).key(SAMPLE) for each in (model, "lexical")]
    # The second version of the split of claims gave them new keys.
    assert [each[:16] for each in keys] == ["bbc0a7d4e65d1c1e", "dbaf7aa1d86b3741"]


def test_share_keys_and_store_keys_are_the_guarantees_identity() -> None:
    with ExitStack():
        one, other = (
            TCVA(judge=langchain(URL, timeout=t, max_retries=t, tags=["a"]))
            for t in (1, 2)
        )
    assert one.key(SAMPLE) == other.key(SAMPLE)
    assert one.judged_by() == other.judged_by()
