"""LLM objects of the frameworks as judge models: what is one, whose it is, and how it fails."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.protocol import JudgeRequest, acomplete, complete, identity_of
from tests.adapters.table import Adapter, each_adapter

REQUEST = JudgeRequest("Judge.", "The data.", {}, "verdicts")
KEY = "sk-never-shown-1234567890"


class StatusError(Exception):
    """As providers' clients raise it."""

    status_code = 401


def read(adapter: Adapter, llm: object) -> Any:
    return import_module(f"tcva_adapters.{adapter.name.split()[0]}").as_judge_model(llm)


@each_adapter
def test_llms_of_the_framework_and_nothing_else_are_taken(adapter: Adapter) -> None:
    llm: Any = adapter.llm(lambda _: "yes")
    for other in ("lexical", None, 3, object(), type(llm)):
        assert read(adapter, other) is None
    model = read(adapter, llm)
    assert identity_of(model) == identity_of(read(adapter, llm))
    answered = complete(model, REQUEST), asyncio.run(acomplete(model, REQUEST))
    assert [each.text for each in answered] == ["yes"] * 2
    assert llm.prompts == ["Judge.\n\nThe data."] * 2
    assert model.name == f"{adapter.name.split()[0]}:scripted"
    assert "sk-never" not in f"{model!r}{model.parameters}"
    assert identity_of(model).holder is llm


@each_adapter
def test_a_failure_has_a_reason_and_shows_no_key(adapter: Adapter) -> None:
    def fails(_: str) -> str:
        raise StatusError(f"status 401, Bearer {KEY}")  # noqa: EM102, TRY003  # as others write it

    model = read(adapter, adapter.llm(fails))
    for ask in (complete, lambda *given: asyncio.run(acomplete(*given))):
        with pytest.raises(JudgeError) as caught:
            ask(model, REQUEST)
        assert (caught.value.reason, caught.value.fatal) == ("authentication", True)
        assert isinstance(caught.value.__cause__, StatusError)
        assert KEY not in str(caught.value)
