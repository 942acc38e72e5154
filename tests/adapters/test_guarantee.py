"""A guarantee through every way to change a judge, a threshold or a setting, in all adapters.

``pytest tests/adapters/test_guarantee.py -v`` lists the ways with what becomes of the guarantee.
"""

import asyncio
import json
import pickle
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import openai
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from deepeval.models import OpenAIModel
from langchain_core.runnables import ConfigurableField
from langchain_openai import ChatOpenAI
from llama_index.core import Settings
from llama_index.core.async_utils import asyncio_run
from llama_index.core.evaluation import BatchEvalRunner
from pydantic import Field
from ragas.llms import llm_factory

import tests.deepeval.entry as deepeval_entry
import tests.langchain.entry as langchain_entry
import tests.ragas.entry as ragas_entry
from tcva_adapters import TCVA, Config, Criterion, Panel, Result, Sample, deepeval, langchain, ragas
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration import recommended
from tcva_adapters.errors import GuaranteeWarning, InvalidValueError, SharedNameWarning
from tcva_adapters.langchain import gate
from tcva_adapters.langchain.gating import BelowThresholdError
from tests.adapters.table import (
    ADAPTERS,
    Adapter,
    _given,
    _llamaindex_suite,
    _turn,
    each_adapter,
    each_of_conversations,
)
from tests.cli.conftest import PASSAGE, Run, tcva  # noqa: F401  # a fixture
from tests.llamaindex.entry import ScriptedLLM as LlamaIndexLLM
from tests.support.office import ONE
from tests.support.server import ScriptedServer, auto_judge

HOLDS: Final = "holds"
LOST: Final = "lost"
OPEN: Final = "cannot be checked"

GOOD: Final = Sample(input="When?", response="The office opens at nine.", contexts=(PASSAGE,))
BAD: Final = GOOD.model_copy(update={"response": "The museum shows paintings of old ships."})
RATED: Final = [
    each.model_copy(update={"id": f"s{number}", "metadata": {"human": rating}})
    for number in range(40)
    for each, rating in ((GOOD, 1), (BAD.model_copy(update={"id": None}), 0))
]
RATED[1::2] = [each.model_copy(update={"id": f"b{n}"}) for n, each in enumerate(RATED[1::2])]
LIMIT: Final[Any] = {"human": "human", "max_false_pass": 0.1}
STRICTER: Final = Criterion("faithfulness", instruction="Decide how far each claim is supported.")


@cache
def certified(**settings: Any) -> Config:
    """Settings with a guarantee for the lexical judge."""
    results = TCVA(judge="lexical", **settings).evaluate_many(RATED)
    return recommended(calibrate(results, **LIMIT))


def certified_by(judge: Any) -> Config:
    """The settings of `certified` with a guarantee for another judge, as results of it tell it."""
    asked = TCVA(judge=judge, share=False)
    config = certified()
    assert config.guarantee is not None
    judged_by = {n: v for n, v in asked.judged_by().items() if n != "profiles"}
    guarantee = config.guarantee.model_copy(update={"judged_by": judged_by})
    return config.model_copy(update={"guarantee": guarantee})


def state_of(result: Any) -> str | None:
    return None if result.guarantee is None else str(result.guarantee.state)


Way = Callable[[Adapter, Any], Any]
"""From an adapter and an evaluator of a certified file to a result."""


def changed(**settings: Any) -> Way:
    """A copy with other settings."""

    def way(adapter: Adapter, evaluator: Any) -> Any:
        renamed = {adapter.judge if n == "judge" else n: v for n, v in settings.items()}
        return adapter.score(adapter.changed(evaluator, **renamed), GOOD)

    return way


def other_llm(adapter: Adapter) -> Any:
    return adapter.llm(lambda _: ONE)


ALIKE: Final[dict[str, tuple[Way, str]]] = {
    "nothing": (lambda adapter, evaluator: adapter.score(evaluator, GOOD), HOLDS),
    "awaited": (lambda adapter, evaluator: asyncio.run(adapter.ascore(evaluator, GOOD)), HOLDS),
    "a suite": (lambda adapter, evaluator: adapter.suite([evaluator], [GOOD], False)[0][0], HOLDS),
    "an awaited suite": (
        lambda adapter, evaluator: adapter.suite([evaluator], [GOOD], True)[0][0],
        HOLDS,
    ),
    "pickled": (
        lambda adapter, evaluator: adapter.score(pickle.loads(pickle.dumps(evaluator)), GOOD),
        HOLDS,
    ),
    "share off": (changed(share=False), HOLDS),
    "threshold": (changed(threshold=0.1), LOST),
    "temperature": (changed(temperature=0.2), LOST),
    "scheme": (changed(scheme="linear"), LOST),
    "penalty": (changed(penalty="off"), LOST),
    "floor": (changed(floor="always"), LOST),
    "bounds": (changed(bounds=(-4, 12)), LOST),
    "evidence": (changed(evidence="off"), LOST),
    "on_unscored": (changed(on_unscored=1.0), LOST),
    "fuse": (changed(fuse="lexical"), LOST),
    "criterion": (changed(criterion="answer_relevancy"), LOST),
    "the texts of the criterion": (changed(criterion=STRICTER), LOST),
    "another judge": (
        lambda adapter, evaluator: changed(judge=other_llm(adapter))(adapter, evaluator),
        LOST,
    ),
    "another judge in a suite": (
        lambda adapter, evaluator: adapter.suite(
            [adapter.changed(evaluator, **{adapter.judge: other_llm(adapter)})], [GOOD], False
        )[0][0],
        LOST,
    ),
    "back again": (
        lambda adapter, evaluator: adapter.score(
            adapter.changed(adapter.changed(evaluator, temperature=0.2), temperature=0.5), GOOD
        ),
        HOLDS,
    ),
    "a view at another temperature": (
        lambda adapter, evaluator: adapter.score(evaluator, GOOD).at(0.2),  # type: ignore[attr-defined]  # a Result
        LOST,
    ),
    "a view at another threshold": (
        lambda adapter, evaluator: adapter.score(evaluator, GOOD).at(0.5, threshold=0.1),  # type: ignore[attr-defined]  # likewise
        LOST,
    ),
    "a view and back": (
        lambda adapter, evaluator: adapter.score(evaluator, GOOD).at(0.2).at(0.5),  # type: ignore[attr-defined]  # likewise
        HOLDS,
    ),
}


@each_adapter
@pytest.mark.parametrize("way", ALIKE)
def test_ways_of_all_adapters(adapter: Adapter, way: str) -> None:
    change, state = ALIKE[way]
    evaluator = adapter.drop_in.from_config(certified(), **{adapter.judge: "lexical"})
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = change(adapter, evaluator)
    assert state_of(result) == state
    ours = [str(each.message) for each in warned if each.category is GuaranteeWarning]
    is_view = way.startswith("a view")  # of which the result alone tells
    assert ours == ([] if state == HOLDS or is_view else [result.guarantee.text])
    assert ("The guarantee is lost" in result.reason) == (state == LOST)


def _ragas(llm: Any = None, **settings: Any) -> Any:
    return ragas.TCVAMetric.from_config(certified(), llm=llm, **settings)


def _ragas_evaluated(metric: Any, llm: Any = None) -> Any:
    found = ragas_entry.evaluated([metric], GOOD, llm=llm)
    return ragas.results_of(found)[0]


def _ragas_llm_set(metric: Any) -> Any:
    metric.llm = ragas_entry.ScriptedLLM(lambda _: ONE)
    return metric.single_turn_score(_turn(GOOD)).result


def _deepeval(**settings: Any) -> Any:
    return deepeval.TCVAMetric.from_config(certified(), model="lexical", **settings)


def _deepeval_set(name: str, value: Any, *, in_suite: bool = False) -> Any:
    metric = _deepeval()
    setattr(metric, name, value)
    if in_suite:
        cases = [deepeval_entry.case_of(each) for each in (GOOD, BAD)]
        return deepeval.results_of(deepeval_entry.evaluated(cases, [metric]))[0]
    metric.measure(deepeval_entry.case_of(GOOD))
    return metric.result


RECORD: Final = langchain_entry.records([GOOD])[0]


def _langchain(**settings: Any) -> Any:
    return langchain.TCVAEvaluator.from_config(certified(), llm="lexical", **settings)


def _langchain_run(field: str, value: Any) -> Any:
    step = _langchain().configurable_fields(**{field: ConfigurableField(id="it")})
    return langchain.result_of(step.invoke(RECORD, {"configurable": {"it": value}}))


def _langchain_gate(**settings: Any) -> Any:
    # The threshold is above all scores, so that the gate tells the output.
    with pytest.raises(BelowThresholdError) as stopped:
        gate(_langchain(**settings)).invoke(langchain_entry.records([BAD])[0])
    return stopped.value.result


def _langsmith(**settings: Any) -> Any:
    step = _langchain(**settings).with_config(tags=["x"])
    feedback = langchain.TCVARunEvaluator(step).evaluate_run(
        langchain_entry.run_of(
            {"question": GOOD.input}, {"answer": GOOD.response, "context": [PASSAGE]}
        )
    )
    return langchain.result_of(feedback)


def _llamaindex(**settings: Any) -> Any:
    import tcva_adapters.llamaindex as adapter  # noqa: PLC0415  # of the same name as others here

    return adapter.TCVAEvaluator.from_config(certified(), **settings)


def _llamaindex_batch(**settings: Any) -> Any:
    rows = {"queries": [GOOD.input], "response_strs": [GOOD.response]}
    rows |= {"contexts_list": [[*(GOOD.contexts or ())]]}
    runner = BatchEvalRunner({"tcva": _llamaindex(llm="lexical")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # LlamaIndex' own
        found = asyncio_run(runner.aevaluate_response_strs(**rows, tcva=settings))  # type: ignore[arg-type]  # lists
    return found["tcva"][0].result


def _llamaindex_settings(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(Settings, "_llm", LlamaIndexLLM(reply=lambda _: ONE))
    return _llamaindex().evaluate(**_given(GOOD)).result


OWN: Final[dict[str, tuple[Callable[[pytest.MonkeyPatch], Any], str]]] = {
    "RAGAS: evaluate(llm=the judge)": (lambda _: _ragas_evaluated(_ragas(), ragas.LexicalLLM()), HOLDS),
    "RAGAS: evaluate(llm=ANOTHER)": (
        lambda _: _ragas_evaluated(_ragas(), ragas_entry.ScriptedLLM(lambda _: ONE)),
        LOST,
    ),
    "RAGAS: evaluate(llm=ANOTHER), with a judge": (
        lambda _: _ragas_evaluated(_ragas("lexical"), ragas_entry.ScriptedLLM(lambda _: ONE)),
        HOLDS,  # the metric keeps its own
    ),
    "RAGAS: metric.llm = ANOTHER": (lambda _: _ragas_llm_set(_ragas("lexical")), LOST),
    "RAGAS: from_config(threshold=)": (lambda _: _ragas_evaluated(_ragas("lexical", threshold=0.1)), LOST),
    "RAGAS: a score's view": (
        lambda _: _ragas("lexical").single_turn_score(_turn(GOOD)).at(0.2).result,
        LOST,
    ),
    "RAGAS: a scorer's metric": (
        lambda _: _ragas_evaluated(
            ragas.ScorerMetric(TCVA.from_config(certified(), judge="lexical").changed(threshold=0.1))
        ),
        LOST,
    ),
    "DeepEval: metric.threshold = the same": (
        lambda _: _deepeval_set("threshold", certified().settings["threshold"]),
        HOLDS,
    ),
    "DeepEval: metric.threshold = .1": (lambda _: _deepeval_set("threshold", 0.1), LOST),
    "DeepEval: metric.threshold = .1 in evaluate": (
        lambda _: _deepeval_set("threshold", 0.1, in_suite=True),
        LOST,
    ),
    "DeepEval: metric.threshold = None": (lambda _: _deepeval_set("threshold", None), LOST),
    "DeepEval: metric.strict_mode = True": (lambda _: _deepeval_set("strict_mode", True), LOST),
    "DeepEval: async_mode = False": (lambda _: _deepeval_set("async_mode", False), HOLDS),
    "LangChain: a threshold by the run's config": (lambda _: _langchain_run("threshold", 0.1), LOST),
    "LangChain: a temperature by the run's config": (
        lambda _: _langchain_run("temperature", 0.2),
        LOST,
    ),
    "LangChain: a judge by the run's config": (
        lambda _: _langchain_run("llm", langchain_entry.ScriptedChatModel(reply=lambda _: ONE)),
        LOST,
    ),
    "LangChain: a setting that is no part by the run's config": (
        lambda _: _langchain_run("share", False),
        HOLDS,
    ),
    "LangChain: a gate": (lambda _: _langchain_gate(), HOLDS),
    "LangChain: a gate with another threshold": (lambda _: _langchain_gate(threshold=1.0), LOST),
    "LangSmith: with_config": (lambda _: _langsmith(), HOLDS),
    "LangSmith: another temperature": (lambda _: _langsmith(temperature=0.2), LOST),
    "LangSmith: profiles": (lambda _: _langsmith(profiles={"domain": {"a": 0.2}}), LOST),
    "LlamaIndex: evaluate(threshold=)": (
        lambda _: _llamaindex(llm="lexical").evaluate(**_given(GOOD), threshold=0.1).result,
        LOST,
    ),
    "LlamaIndex: evaluate(temperature=)": (
        lambda _: _llamaindex(llm="lexical").evaluate(**_given(GOOD), temperature=0.2).result,
        LOST,
    ),
    "LlamaIndex: a batch's thresholds": (lambda _: _llamaindex_batch(threshold=[0.1]), LOST),
    "LlamaIndex: a batch without": (lambda _: _llamaindex_batch(), HOLDS),
    "LlamaIndex: Settings.llm": (_llamaindex_settings, LOST),
}  # fmt: skip


@pytest.mark.parametrize("way", OWN)
def test_ways_of_one_adapter(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, state = OWN[way]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = change(monkeypatch)
    assert state_of(result) == state
    ours = {str(each.message) for each in warned if each.category is GuaranteeWarning}
    assert ours == (set() if state == HOLDS or way.endswith("view") else {result.guarantee.text})


@each_adapter
def test_one_run_warns_once(adapter: Adapter) -> None:
    evaluator = adapter.drop_in.from_config(
        certified(), threshold=0.1, **{adapter.judge: "lexical"}
    )
    with pytest.warns(GuaranteeWarning) as warned:
        results = adapter.suite([evaluator], [GOOD, BAD, *RATED[:6]], False)[0]
    assert len(warned) == 1
    assert {state_of(result) for result in results} == {LOST}


def test_an_llm_that_ragas_sets_begins_a_run() -> None:
    metric = _ragas()
    for _ in range(2):
        with pytest.warns(GuaranteeWarning) as warned:
            _ragas_evaluated(metric, ragas_entry.ScriptedLLM(lambda _: ONE))
        assert len(warned) == 1


@each_of_conversations
def test_scores_of_conversations_are_not_what_was_certified(adapter: Adapter) -> None:
    from tcva_adapters import Conversation  # noqa: PLC0415

    talk = Conversation(turns=[GOOD])
    evaluator = adapter.drop_in.from_config(certified(), **{adapter.judge: "lexical"})
    with pytest.warns(GuaranteeWarning, match="scored a conversation instead of None"):
        result: Any = adapter.suite([evaluator], [talk], False)[0][0]  # type: ignore[list-item]  # of conversations
    assert (state_of(result), state_of(result.turns[0])) == (LOST, HOLDS)
    assert state_of(result.at(0.5)) == LOST
    assert type(result).from_json(result.to_json()).guarantee == result.guarantee


@each_adapter
def test_what_an_llm_object_does_not_tell_cannot_be_checked(adapter: Adapter) -> None:
    """The same opaque object, and then with another sampling temperature."""
    llm = adapter.llm(lambda _: ONE)
    config = certified_by(llm)
    evaluator = adapter.drop_in.from_config(config, **{adapter.judge: llm})
    with pytest.warns(
        GuaranteeWarning, match=r"address.* unknown; pass the judge as 'openai:MODEL'"
    ):
        result: Any = adapter.score(evaluator, GOOD)
    assert state_of(result) == OPEN
    assert "cannot be checked" in result.reason
    if adapter.name.startswith("ragas"):
        return  # RAGAS sets the temperature of each call
    llm.temperature = 0.7
    with pytest.warns(GuaranteeWarning, match=r"lost: sampling temperature 0\.7 instead of 0$"):
        other = adapter.score(adapter.changed(evaluator, share=False), GOOD)
    assert state_of(other) == LOST


class LlamaIndexOpenAI(LlamaIndexLLM):
    """The settings of llama_index.llms.openai.OpenAI 0.8."""

    reply: Any = str
    model: str
    max_tokens: int | None = None
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)
    api_base: str | None = None

    @property
    def metadata(self) -> Any:
        return super().metadata.model_copy(update={"model_name": self.model})


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
    from tcva_adapters.models.openai_model import OpenAICompatibleModel  # noqa: PLC0415

    how = {"base_url": a.base_url, "api_key": KEY, "temperature": a.temperature}
    return OpenAICompatibleModel(a.model, **how, seed=a.seed, max_tokens=a.max_tokens)


def _factory(a: Arguments, client: Any = openai.OpenAI) -> Any:
    made = client(base_url=a.base_url, api_key=KEY)
    sampling: Any = {"temperature": a.temperature, "max_tokens": a.max_tokens, "top_p": None}
    return llm_factory(a.model, client=made, seed=a.seed, **sampling)


WRAPPERS: Final[dict[str, Callable[[Arguments], Any]]] = {
    "openai:MODEL": _openai,
    "LangChain's ChatOpenAI": lambda a: ChatOpenAI(
        model=a.model, base_url=a.base_url, api_key=KEY, temperature=a.temperature, seed=a.seed,
        max_tokens=a.max_tokens,
    ),
    "LangChain's ChatOpenAI, bound": lambda a: ChatOpenAI(
        model=a.model, base_url=a.base_url, api_key=KEY, temperature=1.5, seed=9, max_tokens=9
    ).bind(temperature=a.temperature, seed=a.seed, max_completion_tokens=a.max_tokens),
    "LangChain's ChatOpenAI with retries": lambda a: WRAPPERS["LangChain's ChatOpenAI"](a).with_retry(),
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
    "address 127.0.0.1:8/v1 instead of 127.0.0.1:9/v1": Arguments(base_url="http://127.0.0.1:8/v1"),
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
        return scorer.result(TCVA(judge="lexical").evaluate(GOOD).assessment).guarantee


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_the_class_that_wraps_a_model_is_no_part(wrapper: str) -> None:
    by = WRAPPERS["openai:MODEL"](Arguments())
    url = {"openai:MODEL": WITH_PASSWORD, "a model of the user's": Arguments().base_url}.get(
        wrapper, WITH_KEY
    )
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
    "a fallback": (lambda: WRAPPERS["LangChain's ChatOpenAI"](Arguments()).with_fallbacks([ChatOpenAI(api_key=KEY)]), "address"),
    "settings by the run's config": (
        lambda: WRAPPERS["LangChain's ChatOpenAI"](Arguments()).configurable_fields(
            temperature=ConfigurableField(id="t")
        ),
        "address",
    ),
    "an own model without an address": (lambda: Own(temperature=0, seed=0, max_tokens=4096), "address"),
    "an own model without a seed": (lambda: Own(server="127.0.0.1:9/v1", temperature=0, max_tokens=4096), "seed"),
}  # fmt: skip


@pytest.mark.parametrize("judge", UNKNOWN)
def test_an_unknown_part_never_holds(judge: str) -> None:
    made, part = UNKNOWN[judge]
    check = checked_for(made(), made())
    assert check.state == OPEN
    assert part in check.text.partition(" unknown")[0]


def test_further_arguments_are_compared_and_kept_secret() -> None:
    def bound(**arguments: Any) -> Any:
        return WRAPPERS["LangChain's ChatOpenAI"](Arguments(temperature=0.7)).bind(**arguments)

    penalty = bound(extra_body={"repetition_penalty": 1.1, "token": "hunter2-hunter2"})
    assert checked_for(penalty, penalty).state == HOLDS
    assert "hunter2" not in json.dumps(TCVA(judge=penalty).judged_by())
    for other, why in (
        (bound(), "further arguments None instead of "),
        (bound(top_p=0.5), "top_p 0.5 instead of None"),
    ):
        check = checked_for(other, penalty)
        assert check.state == LOST
        assert why in check.text


def test_judges_of_a_panel_and_additional_ones_are_compared_one_by_one() -> None:
    one, two = (WRAPPERS["openai:MODEL"](Arguments(model=name)) for name in ("one", "two"))
    other = WRAPPERS["openai:MODEL"](Arguments(model="two", temperature=0.7))
    by = Panel([one, two])
    assert checked_for(Panel([one, two]), by).state == HOLDS
    check = checked_for(Panel([one, other]), by)
    assert check.text.endswith("lost: two: sampling temperature 0.7 instead of 0")
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


def test_what_a_store_served_of_an_llm_object_tells_no_address(tmp_path: Path) -> None:
    with ScriptedServer(auto_judge) as server:
        llm = ChatOpenAI(
            model="m", base_url=server.base_url, api_key=KEY, temperature=0, seed=0, max_tokens=4096
        )
        config, path = certified_by(llm), tmp_path / "verdicts.sqlite"
        scorer = TCVA.from_config(config, judge=llm, store=path, share=False)
        assert state_of(scorer.evaluate(GOOD)) == HOLDS
        with pytest.warns(GuaranteeWarning, match="cannot be checked: address unknown"):
            assert state_of(scorer.evaluate(GOOD)) == OPEN
        own = OpenAIStore(server.base_url)
        scorer = TCVA.from_config(certified_by(own), judge=own, store=path, share=False)
        assert [state_of(scorer.evaluate(GOOD)) for _ in range(2)] == [HOLDS, HOLDS]
        local = TCVA.from_config(certified(), judge="lexical", store=path)
        assert [state_of(local.evaluate(GOOD)) for _ in range(2)] == [HOLDS, HOLDS]


def OpenAIStore(url: str) -> Any:  # noqa: N802
    return _openai(Arguments(base_url=url))


def test_a_file_of_an_earlier_version_cannot_be_checked(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    certified().dump(path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    del plain["guarantee"]["judged_by"]
    plain["guarantee"] |= {"criterion": "faithfulness", "judge": "lexical/4", "fused": []}
    path.write_text(json.dumps(plain), encoding="utf-8")
    scorer = TCVA.from_config(path, judge="lexical")
    with pytest.warns(GuaranteeWarning, match="unknown; .*calibrate again"):
        assert state_of(scorer.evaluate(GOOD)) == OPEN
    assert state_of(scorer.evaluate(GOOD).at(0.2)) == LOST


def test_the_state_is_written_and_read_back_and_old_results_are_read() -> None:
    result = TCVA.from_config(certified(), judge="lexical").evaluate(GOOD)
    plain = result.to_dict()
    assert plain["guarantee"] == {
        "state": HOLDS,
        "text": result.guarantee and result.guarantee.text,
    }
    again = Result.from_json(result.to_json())
    assert again == result
    assert again.guarantee == result.guarantee
    assert [state_of(again.at(t)) for t in (0.2, 0.5)] == [LOST, HOLDS]
    for name in ("guarantee", "certified", "judged_by"):
        del plain[name]
    old = Result.from_dict(plain)
    assert (old.guarantee, old.assessment.judged_by) == (None, {})
    assert old.assessment == result.assessment
    assert TCVA(judge="lexical").evaluate(GOOD).guarantee is None


def test_unscored_answers_keep_the_state() -> None:
    scorer = TCVA.from_config(certified(), judge="lexical", fuse=())
    empty = scorer.evaluate(GOOD.model_copy(update={"contexts": ()}))
    assert (empty.score, state_of(empty)) == (None, HOLDS)


# From the results of a framework to a gate, as a user goes.


def _rated(adapter: Adapter, path: Path) -> list[str]:
    """Judge rated answers in a framework, and write what it gives; the options that calibrate it."""
    import pandas as pd  # noqa: PLC0415
    import tcva_adapters.llamaindex as llamaindex  # noqa: PLC0415, PLR0402

    del llamaindex
    file = path / "scores.csv"
    evaluator = adapter.built("lexical")
    ratings = [each.metadata["human"] for each in RATED]
    if adapter.name == "ragas":
        other = ragas.TCVAMetric(llm="lexical", temperature=0.9)
        frame = ragas.results_to_pandas(ragas_entry.evaluated([evaluator, other], *RATED))
        frame["human"] = ratings
        frame.to_csv(file, index=False)
        return [str(file)]
    if adapter.name == "ragas collections":
        rows = [evaluator.score(**each) for each in map(_row, RATED)]
        cells = [row.result.to_json() for row in rows]
        pd.DataFrame(
            {
                "user_input": "q",
                "response": "a",
                "tcva": [float(r.value) for r in rows],
                "tcva_result": cells,
                "human": ratings,
            }
        ).to_csv(file)
        return [str(file)]
    if adapter.name == "deepeval":
        cases = [deepeval_entry.case_of(each) for each in RATED]
        found = deepeval_entry.evaluated(cases, [evaluator])
        file = file.with_suffix(".json")
        file.write_text(found.model_dump_json(), encoding="utf-8")
        return [str(file)]
    lines = []
    for sample in RATED:
        if adapter.name == "langchain":
            lines.append(json.dumps(evaluator.invoke(langchain_entry.records([sample])[0])))
        else:
            lines.append(evaluator.evaluate(**_given(sample)).model_dump_json())
    file = file.with_suffix(".jsonl")
    file.write_text("\n".join(lines), encoding="utf-8")
    return [str(file)]


def _row(sample: Sample) -> dict[str, Any]:
    row: dict[str, Any] = _turn(sample).to_dict()
    return {name: row[name] for name in ("user_input", "response", "retrieved_contexts")}


@each_adapter
def test_from_a_frameworks_results_to_a_gate(adapter: Adapter, tcva: Run, tmp_path: Path) -> None:  # noqa: F811  # the fixture
    sources = _rated(adapter, tmp_path)
    limit = ["--human", "human", "--max-false-pass", "0.1", "--out", "gate.json"]
    said = tcva("calibrate", *sources, *limit, "--json").json
    guarantee = said["settings"]["guarantee"]
    assert (guarantee["rejected"], guarantee["good"]) == (40, 40)
    held = adapter.drop_in.from_config("gate.json", **{adapter.judge: "lexical"})
    rows = adapter.suite([held], [GOOD, BAD], True)[0]
    assert [(state_of(result), result.passed) for result in rows] == [(HOLDS, True), (HOLDS, False)]
    other = adapter.drop_in.from_config("gate.json", **{adapter.judge: other_llm(adapter)})
    with pytest.warns(GuaranteeWarning, match="judge scripted instead of lexical/4"):
        assert state_of(adapter.score(other, GOOD)) == LOST


def test_ragas_own_table_has_no_verdicts_and_the_message_says_what_has(
    tcva: Run, tmp_path: Path
) -> None:  # noqa: F811  # the fixture
    frame = ragas_entry.evaluated([ADAPTERS[0].built("lexical")], *RATED).to_pandas()
    frame["human"] = [each.metadata["human"] for each in RATED]
    frame.to_csv(tmp_path / "scores.csv", index=False)
    for limit in ([], ["--max-false-pass", "0.1"]):
        failed = tcva("calibrate", "scores.csv", "--human", "human", *limit, code=2)
        assert "results_to_pandas(evaluation).to_csv" in failed.text


def test_two_judges_in_one_table_are_calibrated_one_by_one() -> None:
    results = TCVA(judge="lexical").evaluate_many(RATED)
    mixed = [TCVA(judge="lexical", fuse="lexical").evaluate(GOOD), *results]
    with pytest.raises(Exception, match="fused with different judges"):
        calibrate(mixed, **LIMIT)


def test_two_metrics_of_one_name_in_one_evaluation_are_told() -> None:
    def metrics(**names: str) -> list[Any]:
        other = ragas_entry.ScriptedLLM(lambda _: ONE)
        return [ragas.TCVAMetric(llm="lexical"), ragas.TCVAMetric(llm=other, **names)]

    with pytest.warns(SharedNameWarning, match=r"'tcva_faithfulness', .* name=\.\.\.") as warned:
        found = ragas_entry.evaluated(metrics(), GOOD, BAD)
    assert (len(warned), [*found.scores[0]]) == (1, ["tcva_faithfulness"])
    found = ragas_entry.evaluated(metrics(name="scripted"), GOOD)
    assert [*found.scores[0]] == ["tcva_faithfulness", "scripted"]
    for metric in metrics():  # one after the other, each in a column of its own
        ragas_entry.evaluated([metric], GOOD)


def test_deepevals_name_has_the_threshold_and_follows_it() -> None:
    metric = deepeval.TCVAMetric(model="lexical", temperature=0.2)
    assert metric.name == "TCVA faithfulness (T=0.2)"
    metric.threshold = 0.7
    assert metric.name == metric.__name__ == "TCVA faithfulness (T=0.2, threshold=0.7)"
    assert metric.changed(temperature=0.5).name == "TCVA faithfulness (threshold=0.7)"
    named = deepeval.TCVAMetric(model="lexical", threshold=0.7, name="mine")
    named.threshold = 0.2
    assert named.name == "mine"
    both = [deepeval.TCVAMetric(model="lexical", threshold=t) for t in (0.2, 0.7)]
    found = deepeval_entry.evaluated([deepeval_entry.case_of(GOOD)], both)
    assert [len(deepeval.results_of(found, each.name)) for each in both] == [1, 1]
    with pytest.raises(InvalidValueError, match="threshold"):
        metric.threshold = 7
