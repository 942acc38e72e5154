"""Judges that a user brings: subclasses of `Judge`, and LLM objects of a framework."""

import asyncio
import subprocess
import sys

import pytest

from tcva_adapters import TCVA, Assessment, Criterion, Judge, Sample
from tcva_adapters.frameworks import FRAMEWORKS
from tcva_adapters.judges.llm_objects import LLM_READERS, model_of_llm


class Verbatim(Judge):
    """The smallest judge: only copies are supported."""

    name = prompt_version = "verbatim/1"

    def assess(self, sample: Sample, criterion: Criterion) -> Assessment:
        is_copy = sample.response in (sample.contexts or ())
        return Assessment.from_verdicts(["fully" if is_copy else "none"])


def test_a_subclass_of_judge_needs_only_a_name_a_version_and_assess() -> None:
    tcva = TCVA(judge=Verbatim(), share=False, store=":memory:")
    copied = Sample(response="It is open.", contexts=["It is open."])
    invented = Sample(response="It is shut.", contexts=["It is open."])
    assert [tcva.evaluate(sample).score for sample in (copied, invented)] == [1.0, 0.0]
    assert asyncio.run(tcva.aevaluate(copied)).assessment.from_store
    assert asyncio.run(Verbatim().aassess(invented, tcva.criterion)).verdicts == (
        "none",
    )


@pytest.mark.parametrize(
    ("defined", "missing"), [("name", "prompt_version"), ("prompt_version", "name")]
)
def test_a_judge_without_a_member_is_refused_with_its_name(
    defined: str, missing: str
) -> None:
    members = {defined: "half/1", "assess": Verbatim.assess}
    with pytest.raises(TypeError, match=f"Half .*abstract method '?{missing}"):
        TCVA(judge=type("Half", (Judge,), members)())


def test_each_framework_has_a_reader_of_its_llm_objects() -> None:
    assert len(LLM_READERS) == len(FRAMEWORKS)
    assert model_of_llm(object()) is None


@pytest.mark.slow
def test_an_llm_object_judges_where_only_tcva_adapters_was_imported() -> None:
    code = """
from langchain_core.language_models import FakeListChatModel
from tcva_adapters import TCVA, Sample
import sys
assert not any(name.startswith("tcva_adapters.langchain") for name in sys.modules)
reply = '{"claim_1": {"quote_from_passage": "It is open", "reason": "r", "verdict": "fully"}}'
tcva = TCVA(judge=FakeListChatModel(responses=[reply]))
print(tcva.evaluate(Sample(response="It is open.", contexts=["It is open."])).score)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1.0\n"
