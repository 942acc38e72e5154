"""The frameworks' own metrics as functions: what fails is a value, what is wrong is refused."""

import asyncio
import inspect
import math
import pydoc
import re
from importlib import import_module
from operator import attrgetter
from typing import Any, ClassVar

import pytest

from tcva_adapters import Sample
from tcva_adapters._adapter.own_metrics import MetricRun
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.frameworks import FRAMEWORKS, Framework
from tcva_adapters.results.framework_score import FrameworkScore
from tests.adapters.table import ADAPTERS
from tests.ragas.entry import ScriptedInstructorLLM
from tests.support.office import SAMPLE

LLMS: dict[str, Any] = {a.name: a.llm for a in ADAPTERS} | {
    "ragas": ScriptedInstructorLLM
}
METRICS = [
    *(("langchain", name) for name in ("context_qa", "labeled_criteria")),
    *(("llamaindex", name) for name in ("answer_relevancy", "correctness")),
    *(("ragas", name) for name in ("faithfulness", "legacy_faithfulness")),
    *(
        ("deepeval", name)
        for name in ("faithfulness", "answer_relevancy", "contextual_recall")
    ),
]


def both_faces(framework: str, name: str, sample: Sample, llm: Any) -> Any:
    module: Any = import_module(f"tcva_adapters.{framework}")
    found = module.score_framework_metric(name, sample, llm)
    awaited = asyncio.run(module.ascore_framework_metric(name, sample, llm))
    assert (awaited.score, awaited.error) == (found.score, found.error)
    return found


@pytest.mark.parametrize(("framework", "name"), METRICS)
def test_failures_are_values(framework: str, name: str) -> None:
    def fails(_: str) -> str:
        raise ConnectionError("the line is dead")  # as others write it

    found = both_faces(framework, name, SAMPLE, LLMS[framework](fails))
    assert (found.score, found.verdicts) == (None, ())
    assert "ConnectionError" in found.error
    assert found.assessment().unscored is not None
    llm = LLMS[framework](fails)
    bare = both_faces(framework, name, Sample(input="Who?"), llm)
    assert (bare.score, bare.calls or 0, llm.prompts) == (None, 0, [])
    assert bare.error


@pytest.mark.parametrize("framework", ["langchain", "llamaindex", "ragas", "deepeval"])
def test_unknown_metrics_and_llms_are_refused(framework: str) -> None:
    with pytest.raises(InvalidValueError, match="'beauty'"):
        both_faces(framework, "beauty", SAMPLE, LLMS[framework](str))
    with pytest.raises(InvalidValueError, match="'gpt-x'"):
        both_faces(framework, dict(METRICS)[framework], SAMPLE, "gpt-x")


@pytest.mark.parametrize("framework", FRAMEWORKS.values(), ids=attrgetter("name"))
def test_a_typo_in_an_argument_gets_the_nearest_name(framework: Framework) -> None:
    module = import_module(framework.package)
    typo: dict[str, Any] = {"name": "faithfulness", "sampel": SAMPLE, "llm": None}
    meant = "score_framework_metric; did you mean 'sample'"
    with pytest.raises(InvalidValueError, match=f"of {meant}"):
        module.score_framework_metric(**typo)
    with pytest.raises(InvalidValueError, match=f"of a{meant}"):
        asyncio.run(module.ascore_framework_metric(**typo))


@pytest.mark.parametrize("framework", FRAMEWORKS.values(), ids=attrgetter("name"))
@pytest.mark.parametrize("face", ["", "a"], ids=["sync", "async"])
def test_help_shows_a_function_with_its_arguments(
    framework: Framework, face: str
) -> None:
    name = f"{face}score_framework_metric"
    function = getattr(import_module(framework.package), name)
    page = pydoc.plain(pydoc.render_doc(function))
    assert inspect.isfunction(function)
    assert inspect.iscoroutinefunction(function) is bool(face)
    assert (function.__module__, function.__name__) == (
        f"{framework.package}.own_metrics",
        name,
    )
    assert [*inspect.signature(function).parameters][:3] == ["name", "sample", "llm"]
    assert f"{name}(name" in re.sub(r"\(\s+", "(", page)
    assert "instance" not in page
    assert "InvalidValueError" in page


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (math.inf, "the metric returned inf"),
        (math.nan, "the metric returned nan"),
        ("high", "ValueError: could not convert string to float: 'high'"),
        (None, "TypeError: "),
    ],
)
def test_what_is_no_number_is_no_score(returned: Any, said: str) -> None:
    class Odd(MetricRun):
        title = "odd"
        metrics: ClassVar = {"m": lambda llm: llm}
        llm_classes = object
        llm_kind = "anything"

        async def _measure(self) -> Any:
            return returned

        def _read(self, returned: Any) -> FrameworkScore:
            return self._with_score(returned, [])

    score = asyncio.run(Odd("m", SAMPLE, None).score())
    assert score.score is None
    assert score.error.startswith(said)
