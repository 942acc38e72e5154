"""The texts of a criterion as LlamaIndex' prompts: read, replaced, refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core.prompts import PromptTemplate

from tcva_adapters import TCVA, Panel
from tcva_adapters.errors import TCVAError
from tcva_adapters.llamaindex import TCVAEvaluator
from tests.llamaindex.entry import scripted
from tests.llamaindex.office import evaluated
from tests.support.office import TWO
from tests.support.scripted import ScriptedModel


def test_prompts_can_be_read_and_replaced() -> None:
    llm = scripted(TWO, TWO)
    evaluator = TCVAEvaluator(llm, share=False)
    assert list(evaluator.get_prompts()) == [
        "wording",
        "fully",
        "mostly",
        "partial",
        "minor",
        "none",
    ]
    evaluator.update_prompts(
        {
            "wording": PromptTemplate("Weigh each claim against the {what}.").partial_format(
                what="house rules"
            ),
            "minor": PromptTemplate("a faint echo of the rules"),
        }
    )
    evaluated(evaluator)
    assert "Weigh each claim against the house rules." in llm.prompts[0]
    assert "- minor: a faint echo of the rules" in llm.prompts[0]
    evaluator.update_prompts(evaluator.get_prompts())
    evaluated(evaluator)
    assert llm.prompts[1] == llm.prompts[0]


def test_prompts_reach_every_judge_of_the_criterion() -> None:
    models = [ScriptedModel([TWO], name=name) for name in ("one", "two", "further", "other")]
    one, two, further, other = models
    own = TCVA("answer_relevancy", judge=other)
    evaluator = TCVAEvaluator(Panel([one, two]), fuse=[further, own])
    evaluator.update_prompts({"wording": PromptTemplate("Decide otherwise.")})
    evaluated(evaluator)
    reached = ["Decide otherwise." in model.requests[0].system for model in models]
    assert reached == [True, True, True, False]


def test_other_wording_is_another_judgement_for_the_store(tmp_path: Path) -> None:
    llm = scripted(TWO, TWO)
    evaluator = TCVAEvaluator(llm, store=tmp_path / "verdicts.sqlite")
    evaluated(evaluator)
    evaluator.update_prompts({"wording": PromptTemplate("Decide otherwise.")})
    evaluated(evaluator)
    assert len(llm.prompts) == 2


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        ({"eval_template": PromptTemplate("x")}, "eval_template"),
        ({"wording": PromptTemplate("Judge {query_str}")}, "query_str"),
        ({"wording": PromptTemplate("   ")}, "wording"),
    ],
)
def test_prompts_that_would_not_be_used_are_refused(prompts: Any, said: str) -> None:
    evaluator = TCVAEvaluator(scripted())
    before = evaluator.get_prompts()
    with pytest.raises(TCVAError, match=said):
        evaluator.update_prompts(prompts)
    assert evaluator.get_prompts() == before
