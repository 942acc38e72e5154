"""What stands in the JSON of a result is an attribute of it, under the same name."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from tcva_adapters import CCRS, TCVA, Sample
from tcva_adapters.result_reader import read_result
from tcva_adapters.results.protocol import Scored
from tests.support.office import SAMPLE, TWO
from tests.support.scripted import ScriptedModel

MESSAGES = [("user", "When?"), ("tool", "At nine."), ("assistant", "At nine. At ten.")]


def results() -> dict[str, Scored]:
    tcva = TCVA(judge=ScriptedModel([TWO]), store=":memory:", share=False)
    first = tcva.evaluate(SAMPLE)
    panel = TCVA(judge="lexical", fuse=[TCVA("answer_relevancy", judge="lexical")])
    return {
        "asked": first,
        "from a store": tcva.evaluate(SAMPLE),
        "fused": panel.evaluate(
            Sample(**{**dict(SAMPLE), "metadata": {"a": 1}, "id": "s"})
        ),
        "unscored": tcva.evaluate(Sample(response="Ada.", contexts=[])),
        "conversation": TCVA(judge="lexical").evaluate_conversation(MESSAGES),
        "ratings": CCRS(judge="lexical").evaluate(SAMPLE),
    }


RESULTS = results()


def as_json(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    plain = value.to_dict() if hasattr(value, "to_dict") else value
    if isinstance(plain, Mapping):
        return {name: as_json(each) for name, each in plain.items()}
    return to_jsonable_python(plain)


@pytest.mark.parametrize("name", RESULTS)
def test_every_entry_is_an_attribute(name: str) -> None:
    result = RESULTS[name]
    for given in (result, read_result(result.to_json())):
        plain = json.loads(given.to_json())
        left = {entry: as_json(getattr(given, entry)) for entry in plain}
        for claim in plain.get("claims", ()):
            del claim["weight"]  # which the attribute `weights` has
        if usage := left.pop("usage", None):
            # Of the first judge, when it judged; the attribute is of all judges, and this time.
            cost = plain.pop("usage")["calls"]
            assert (cost, usage["calls"]) == {
                "asked": (1, 1),
                "from a store": (1, 0),
            }.get(name, (0, 0))
        assert plain == left


def test_where_a_judgement_came_from() -> None:
    asked: Any = RESULTS["asked"]
    stored: Any = RESULTS["from a store"]
    model = ScriptedModel([TWO])
    _, again = (TCVA(judge=model, temperature=t).evaluate(SAMPLE) for t in (0.5, 0.9))
    assert [(each.from_store, each.shared) for each in (asked, stored, again)] == [
        (False, False),
        (True, False),
        (False, True),
    ]
