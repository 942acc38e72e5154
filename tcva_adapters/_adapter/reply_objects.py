"""Replies as objects, for LLMs of frameworks that return nothing else."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, create_model

from tcva_adapters.models.judge_model import JudgeRequest, closed_object
from tcva_adapters.samples.json_values import Json

_ONE_WORD = closed_object({"answer": {"type": "string"}})
"""The schema where a request asks for plain text."""


class AnyObject(BaseModel):
    """Any JSON object; what it has to hold is checked where the reply is read.

    Attributes:
        reply_schema: The schema that the LLM is given, as JSON.
    """

    model_config = ConfigDict(extra="allow")
    reply_schema: ClassVar[str] = "{}"

    @classmethod
    def model_json_schema(cls, *_: object, **__: object) -> Json:
        """Return the schema that the reply has to follow."""
        return dict(json.loads(cls.reply_schema))


def reply_model(
    request: JudgeRequest, base: type[AnyObject] = AnyObject
) -> type[AnyObject]:
    """Return the class of the objects that a request asks for; equal requests share a class."""
    return _reply_model(
        base, request.schema_name, json.dumps(request.schema or _ONE_WORD)
    )


@lru_cache(maxsize=64)
def _reply_model(base: type[AnyObject], name: str, schema: str) -> type[AnyObject]:
    model = create_model(name, __base__=base)
    model.reply_schema = schema
    return model


def object_text(answer: BaseModel, request: JudgeRequest) -> str:
    """Return the text of such an object: its JSON, or its word if plain text was asked for."""
    if request.schema:
        return answer.model_dump_json()
    return str(answer.model_dump().get("answer", ""))
