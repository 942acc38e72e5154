"""The same judge by whatever class: its model, address and arguments count, and what is unknown never holds."""

import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import openai
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from deepeval.models import OpenAIModel
from langchain_core.runnables import ConfigurableField
from langchain_openai import ChatOpenAI
from pydantic import Field
from ragas.llms import llm_factory

from tcva_adapters import TCVA, Panel
from tcva_adapters.errors import GuaranteeWarning
from tcva_adapters.judges.lexical import LexicalJudge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.llamaindex.entry import ScriptedLLM
from tests.support.certified import (
    GOOD,
    HOLDS,
    LOST,
    OPEN,
    certified,
    certified_by,
    state_of,
)
from tests.support.server import ScriptedServer, auto_judge


class LlamaIndexOpenAI(ScriptedLLM):
    """The settings of llama_index.llms.openai.OpenAI 0.8."""

    reply: Any = str
    model: str
    max_tokens: int | None = None
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    api_base: str | None = None

    @property
    def metadata(self) -> Any:
        return super().metadata.model_copy(update={"model_name": self.model})


LlamaIndexOpenAI.__module__ = (
    "llama_index.llms.openai"  # which is no class of the user's
)


class Own:
    """A model of the user's that tells what it is known by."""

    def __init__(self, **parameters: Any) -> None:
        self.name, self.parameters = "m", parameters

    def complete(self, request: Any) -> Any:
        raise NotImplementedError

    async def acomplete(self, request: Any) -> Any:
        raise NotImplementedError


WITH_PASSWORD: Final = "http://user:secret-1234@127.0.0.1:9/v1"
WITH_KEY: Final = f"{WITH_PASSWORD}/?key=sk-secret-123456"
KEY: Final = "sk-never-shown-1234567890"


@dataclass(frozen=True)
class Arguments:
    """What all wrappers are asked for; the defaults are those of ``openai:MODEL``."""

    model: str = "m"
    base_url: str = "http://127.0.0.1:9/v1"
    temperature: float = 0.0
    seed: int | None = 0
    max_tokens: int = 4096


def _openai(a: Arguments) -> Any:
    how: Any = {"base_url": a.base_url, "api_key": KEY, "temperature": a.temperature}
    return OpenAICompatibleModel(a.model, **how, seed=a.seed, max_tokens=a.max_tokens)


def _chat(a: Arguments) -> Any:
    how: Any = {"base_url": a.base_url, "api_key": KEY, "max_tokens": a.max_tokens}
    return ChatOpenAI(model=a.model, temperature=a.temperature, seed=a.seed, **how)


def _factory(a: Arguments, client: Any = openai.OpenAI) -> Any:
    made = client(base_url=a.base_url, api_key=KEY)
    sampling: Any = {
        "temperature": a.temperature,
        "max_tokens": a.max_tokens,
        "top_p": None,
    }
    return llm_factory(a.model, client=made, seed=a.seed, **sampling)


WRAPPERS: Final[dict[str, Callable[[Arguments], Any]]] = {
    "openai:MODEL": _openai,
    "LangChain's ChatOpenAI": _chat,
    "LangChain's ChatOpenAI, bound": lambda a: _chat(
        Arguments(model=a.model, base_url=a.base_url, temperature=1.5, seed=9, max_tokens=9)
    ).bind(temperature=a.temperature, seed=a.seed, max_completion_tokens=a.max_tokens),
    "LangChain's ChatOpenAI with retries": lambda a: _chat(a).with_retry(),
    "LlamaIndex' OpenAI": lambda a: LlamaIndexOpenAI(
        model=a.model, api_base=a.base_url, temperature=a.temperature, max_tokens=a.max_tokens,
        additional_kwargs={"seed": a.seed},
    ),
    "RAGAS' llm_factory": _factory,
    "RAGAS' llm_factory, async": lambda a: _factory(a, openai.AsyncOpenAI),
    "DeepEval's OpenAIModel": lambda a: OpenAIModel(
        model=a.model, base_url=a.base_url, api_key=KEY, temperature=a.temperature,
        cost_per_input_token=0.0, cost_per_output_token=0.0,
        generation_kwargs={"seed": a.seed, "max_tokens": a.max_tokens},
    ),
    "a model of the user's": lambda a: Own(
        server=a.base_url.partition("://")[2], temperature=a.temperature, seed=a.seed,
        max_tokens=a.max_tokens,
    ),
}  # fmt: skip

OTHERS: Final[dict[str, Arguments]] = {
    "judge other instead of m": Arguments(model="other"),
    "address 127.0.0.1:8/v1 instead of 127.0.0.1:9/v1": Arguments(
        base_url="http://127.0.0.1:8/v1"
    ),
    "sampling temperature 0.7 instead of 0": Arguments(temperature=0.7),
    "seed 1 instead of 0": Arguments(seed=1),
    "seed None instead of 0": Arguments(seed=None),
    "max_tokens 5 instead of 4096": Arguments(max_tokens=5),
}


def checked_for(judge: Any, by: Any) -> Any:
    """Whether the guarantee that was certified for one judge holds for the other; no call."""
    scorer = TCVA.from_config(certified_by(by), judge=judge)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuaranteeWarning)
        judged = TCVA(judge="lexical").evaluate(GOOD).assessment
        return scorer.result(judged.model_copy(update={"judged_by": {}})).guarantee


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_the_class_that_wraps_a_model_is_no_part(wrapper: str) -> None:
    by = WRAPPERS["openai:MODEL"](Arguments())
    url = {
        "openai:MODEL": WITH_PASSWORD,
        "a model of the user's": Arguments().base_url,
    }.get(wrapper, WITH_KEY)
    same = WRAPPERS[wrapper](Arguments(base_url=url))
    assert checked_for(same, by).state == HOLDS
    assert checked_for(by, same).state == HOLDS
    told = json.dumps(TCVA(judge=same).judged_by())
    assert not re.search(r"secret|key=|sk-|1234567890", told)
    for why, arguments in OTHERS.items():
        if wrapper == "a model of the user's" and arguments.model != "m":
            continue
        check = checked_for(WRAPPERS[wrapper](arguments), by)
        assert (check.state, check.text) == (LOST, f"The guarantee is lost: {why}")


UNKNOWN: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "a fallback": (
        lambda: _chat(Arguments()).with_fallbacks([_chat(Arguments(model="n"))]),
        "address",
    ),
    "settings by the run's config": (
        lambda: _chat(Arguments()).configurable_fields(
            temperature=ConfigurableField(id="t")
        ),
        "address",
    ),
    "a model without an address": (
        lambda: Own(temperature=0, seed=0, max_tokens=4096),
        "address",
    ),
    "a model without a seed": (
        lambda: Own(server="h/v1", temperature=0, max_tokens=4096),
        "seed",
    ),
}


@pytest.mark.parametrize("judge", UNKNOWN)
def test_an_unknown_part_never_holds(judge: str) -> None:
    made, part = UNKNOWN[judge]
    check = checked_for(made(), made())
    assert check.state == OPEN
    assert part in check.text.partition(" unknown")[0]


def test_further_arguments_are_compared_and_kept_secret() -> None:
    def bound(**arguments: Any) -> Any:
        return _chat(Arguments(temperature=0.7)).bind(**arguments)

    penalty = bound(extra_body={"repetition_penalty": 1.1, "token": "hunter2-hunter2"})
    assert checked_for(penalty, penalty).state == HOLDS
    assert "hunter2" not in json.dumps(TCVA(judge=penalty).judged_by())
    for other, why in (
        (bound(), "repetition_penalty None instead of digest "),
        (bound(top_p=0.5), "top_p 0.5 instead of None"),
    ):
        check = checked_for(other, penalty)
        assert check.state == LOST
        assert why in check.text


BODY: Final = {"repetition_penalty": 1.1}
SENT: Final[dict[str, dict[str, Any]]] = {
    "logit_bias": {"logit_bias": {7: -100}},
    "logit_bias in model_kwargs": {"model_kwargs": {"logit_bias": {7: -100}}},
    "reasoning": {"reasoning": {"effort": "low"}},
    "reasoning_effort": {"reasoning_effort": "low"},
    "verbosity": {"verbosity": "low"},
    "disabled_params": {"disabled_params": {"seed": None}},
    "repetition_penalty": {"extra_body": BODY},
    "use_responses_api": {"use_responses_api": False},
    "address, by default_query": {"default_query": {"deployment": "A", "token": "hunter2-hunter2"}},
    "address, by default_headers": {"default_headers": {"X-Route": "A"}},
    "address, by base_url": {"base_url": "http://127.0.0.1:9/v1?deployment=A"},
}  # fmt: skip


def _sent(**arguments: Any) -> Any:
    how: dict[str, Any] = {
        "base_url": Arguments().base_url,
        "temperature": 0,
        "seed": 0,
    }
    how |= {"model": "m", "api_key": KEY, "max_tokens": 4096}
    own = {
        n: {**value} if isinstance(value, dict) else value
        for n, value in arguments.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # of arguments that have fields, too
        return ChatOpenAI(**{**how, **own})  # it empties model_kwargs


@pytest.mark.parametrize("name", SENT)
def test_all_that_an_llm_object_sends_is_compared(name: str) -> None:
    made, part = _sent(**SENT[name]), name.partition(" in ")[0].partition(",")[0]
    assert checked_for(made, _sent(**SENT[name])).state == HOLDS
    for by in (_sent(), WRAPPERS["openai:MODEL"](Arguments())):
        check = checked_for(made, by)
        assert (check.state, check.text.partition(f"lost: {part} ")[1] != "") == (
            LOST,
            True,
        )
    told = json.dumps(TCVA(judge=made).judged_by())
    assert not re.search(r"hunter2|sk-|deployment|X-Route", told)
    assert (
        checked_for(
            _sent(**SENT[name], timeout=9, max_retries=7, tags=["a"]), made
        ).state
        == HOLDS
    )


def test_arguments_are_the_same_wherever_they_stand() -> None:
    bias = {7: -100}
    ways = [
        _sent(logit_bias=bias),
        _sent(model_kwargs={"logit_bias": bias}),
        _sent().bind(logit_bias=bias),
        _sent().bind(extra_body={"logit_bias": bias}),
    ]
    assert {checked_for(one, other).state for one in ways for other in ways} == {HOLDS}
    check = checked_for(_sent().bind(model="other"), _sent())
    assert check.state == LOST


def _of_four(query: str = "", **further: Any) -> dict[str, Any]:
    """An LLM object of each framework with these arguments behind an address with this query."""
    url = Arguments().base_url + query
    llama: Any = {"temperature": 0.0, "max_tokens": 9, "additional_kwargs": further}
    made = openai.OpenAI(base_url=url, api_key=KEY)
    deepeval: Any = {
        "cost_per_input_token": 0.0,
        "cost_per_output_token": 0.0,
        "api_key": KEY,
    }
    return {
        "LangChain": _sent(base_url=url, model_kwargs=further),
        "LlamaIndex": LlamaIndexOpenAI(model="m", api_base=url, **llama),
        "RAGAS": llm_factory("m", client=made, **further),
        "DeepEval": OpenAIModel(
            "m", base_url=url, generation_kwargs=further, **deepeval
        ),
        "a client of the user's": OpenAICompatibleModel("m", client=made),
    }


@pytest.mark.parametrize("framework", _of_four())
def test_arguments_and_queries_count_in_all_frameworks(framework: str) -> None:
    plain, other = _of_four()[framework], _of_four("?deployment=B")[framework]
    one = _of_four("?deployment=A&key=sk-secret-123456")[framework]
    assert checked_for(plain, _of_four()[framework]).state == HOLDS
    assert checked_for(one, _of_four("?deployment=A")[framework]).state == HOLDS
    for by in (plain, other):
        assert "lost: address 127.0.0.1:9/v1?" in checked_for(one, by).text
    if framework != "a client of the user's":
        biased = _of_four(logit_bias={"7": -100})[framework]
        assert "lost: logit_bias digest" in checked_for(biased, plain).text


def test_values_without_a_digest_never_hold() -> None:
    made = _sent(http_client=httpx.Client())
    check = checked_for(made, made)
    assert (check.state, "http_client unknown" in check.text) == (OPEN, True)


def test_an_asynchronous_client_at_another_address_cannot_be_checked() -> None:
    client = openai.AsyncOpenAI(base_url="http://127.0.0.1:8/v1", api_key=KEY)
    made = _sent(async_client=client.chat.completions)
    for by in (made, _sent()):
        check = checked_for(made, by)
        assert (check.state, "address unknown" in check.text) == (OPEN, True)


def test_top_p_counts_where_repeats_or_draws_have_a_temperature_of_their_own() -> None:
    def model(top_p: float) -> Any:
        return Own(server="h/v1", temperature=0, seed=0, max_tokens=9, top_p=top_p)

    for judging, state in (
        ({}, HOLDS),
        ({"repeats": 3}, LOST),
        ({"verdicts": "yes_no"}, LOST),
    ):
        for made in (model(0.1), model(1.0)):
            made.follows_sampling = True
            by = TCVA(judge=model_of(model(1.0)), **judging).judge
            judge = TCVA(judge=model_of(made), **judging).judge
            expected = state if made.parameters["top_p"] == 0.1 else HOLDS
            assert checked_for(judge, by).state == expected


def model_of(model: Any) -> Any:
    model.follows_sampling = True
    return model


class Rewriting(LLMJudge):
    """Judges another sample than the one it is given."""


class OwnPanel(Panel):
    """Combines verdicts in its own way."""


def test_a_class_of_the_users_is_part_of_what_a_judge_is_known_by() -> None:
    class Own4(LexicalJudge):
        name = "lexical/6"

    model = WRAPPERS["openai:MODEL"](Arguments())
    pairs = [
        (Rewriting(model), LLMJudge(model), "class of the judge tests.adapters."),
        (Own4(), LexicalJudge(), "class of the judge tests.adapters."),
        (
            OwnPanel([model, "lexical"]),
            Panel([model, "lexical"]),
            "class of the panel tests.",
        ),
    ]
    for judge, by, why in pairs:
        assert checked_for(judge, judge).state == HOLDS
        check = checked_for(judge, by)
        assert (check.state, why in check.text) == (LOST, True)


def test_panels_among_additional_judges_are_compared_too() -> None:
    model = WRAPPERS["openai:MODEL"](Arguments())
    median, fused = (
        Panel([model, "lexical"], combine=combine) for combine in ("median", "fused")
    )
    one, other = (
        TCVA(judge="lexical", fuse=[panel]).judged_by() for panel in (median, fused)
    )
    assert {name for name in one if one[name] != other[name]} == {"combine"}


def test_judges_of_a_panel_and_additional_ones_are_compared_one_by_one() -> None:
    one, two = (
        WRAPPERS["openai:MODEL"](Arguments(model=name)) for name in ("one", "two")
    )
    other = WRAPPERS["openai:MODEL"](Arguments(model="two", temperature=0.7))
    by = Panel([one, two])
    assert checked_for(Panel([one, two]), by).state == HOLDS
    check = checked_for(Panel([one, other]), by)
    assert check.text.endswith("lost: judge 2: sampling temperature 0.7 instead of 0")
    assert (
        "combine fused instead of median"
        in checked_for(Panel([one, two], combine="fused"), by).text
    )
    assert (
        "judge panel(two, one) instead of panel(one, two)"
        in checked_for(Panel([two, one]), by).text
    )
    assert "judge" in checked_for(one, by).text
    repeated = TCVA(judge=one, repeats=3).judge
    assert checked_for(one, repeated).state == LOST


def test_a_guarantee_holds_for_what_a_store_serves(tmp_path: Path) -> None:
    with ScriptedServer(auto_judge) as server:
        llm = _chat(Arguments(base_url=server.base_url))
        config, path = certified_by(llm), tmp_path / "verdicts.sqlite"
        scorer = TCVA.from_config(config, judge=llm, store=path, share=False)
        assert [state_of(scorer.evaluate(GOOD)) for _ in range(2)] == [HOLDS, HOLDS]
        own = _openai(Arguments(base_url=server.base_url))
        scorer = TCVA.from_config(certified_by(own), judge=own, store=path, share=False)
        assert [state_of(scorer.evaluate(GOOD)) for _ in range(2)] == [HOLDS, HOLDS]
        local = TCVA.from_config(certified(), judge="lexical", store=path)
        assert [state_of(local.evaluate(GOOD)) for _ in range(2)] == [HOLDS, HOLDS]


def test_two_judges_of_one_name_are_told_apart() -> None:
    here, there = (
        _openai(Arguments(base_url=f"http://{host}/v1")) for host in ("here", "there")
    )
    scorer = TCVA(judge=here, fuse=[here])
    assert (
        scorer.judged_by()
        == TCVA(
            judge=_openai(Arguments(base_url="http://here/v1")), fuse=[here]
        ).judged_by()
    )
    for other in (TCVA(judge=there, fuse=[here]), TCVA(judge=here, fuse=[there])):
        differs = [
            n
            for n, value in other.judged_by().items()
            if scorer.judged_by()[n] != value
        ]
        assert len(differs) == 1
        assert differs[0].endswith("address")
