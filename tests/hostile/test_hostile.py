"""One hostile text in one field, judged by a judge that repeats it: what must hold all the same."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from tcva_adapters import (
    CCRS,
    TCVA,
    CCRSResult,
    Criterion,
    Result,
    Sample,
    aggregate,
    rubric,
)
from tcva_adapters.criteria import CRITERIA, FIELDS
from tcva_adapters.judges.prompts import BLOCKS, sendable
from tcva_adapters.models.judge_model import JudgeRequest, ModelReply
from tcva_adapters.results.settings import ClaimsMode
from tests.hostile.corpus import TEXTS, Hostile
from tests.support.scripted import ScriptedModel

PLACES: Final = (*FIELDS, "id", "metadata", "everywhere", "statement", "claims")
"""Where a text stands: in a field, in a text of a rubric, or in claims that the judge wrote."""

_GIVEN: Final = ("partial", "minor", "none")
"""Levels that need no evidence, by the number of the claim."""

_BLOCK: Final = re.compile(
    r"(?s)<<<([A-Z]+(?: \d+)?) (\w{6})>>>\n(.*?)\n<<<END \1 \2>>>\n\n"
)
_RATING: Final = 37


def echoing(text: str) -> ScriptedModel:
    """A judge that repeats a text wherever a reply has room for one, and keeps the prompts."""

    def answer(request: JudgeRequest) -> ModelReply:
        if request.schema_name == "tcva_claims":
            said: dict[str, Any] = {"claims": [text, f"It says {text}"]}
        elif request.schema_name.startswith("ccrs"):
            said = dict.fromkeys(request.schema["properties"], _RATING)
        else:
            texts = dict.fromkeys(("evidence", "reason", "claim_text"), text)
            names = [
                name for name, _ in blocks(request.user) if name.startswith("CLAIM")
            ]
            numbers = range(1, len(names) + 1)
            said = {
                "verdicts": [
                    {"claim": n, **texts, "verdict": given(n)} for n in numbers
                ]
            }
        return ModelReply(json.dumps(said, ensure_ascii=False))

    return ScriptedModel(answer, name="echo")


def given(number: int) -> str:
    """The level that the judge gives to a claim."""
    return _GIVEN[number % len(_GIVEN)]


def blocks(user: str) -> list[tuple[str, str]]:
    """The names and texts of a prompt's blocks, read strictly; what follows must be our last line."""
    found = []
    position = 0
    while match := _BLOCK.match(user, position):
        assert match[2] not in match[3]
        found.append((match[1], match[3]))
        position = match.end()
    assert user[position:].startswith("The data ends here. "), user[
        position : position + 200
    ]
    assert "\n" not in user[position:]
    return found


def check_prompt(request: JudgeRequest, wanted: list[tuple[str, str]]) -> None:
    """Exactly the fences that were written stand in a prompt, around exactly the fields' texts."""
    assert blocks(request.user) == [(name, sendable(text)) for name, text in wanted]


def sample_with(text: str, place: str) -> Sample:
    """A sample that has the text in one place, or everywhere."""
    fields: dict[str, Any] = {
        "input": "When does the office open?",
        "response": "The office opens at nine. It closes at five.",
        "contexts": ("The office opens at nine.", "It is closed on Sundays."),
        "reference": "At nine.",
    }
    if place in {"contexts", "everywhere"}:
        fields["contexts"] = (text, "The office opens at nine.", text)
    for name in ("input", "response", "reference", "id"):
        if place in {name, "everywhere"}:
            fields[name] = text
    if place in {"metadata", "everywhere"}:
        fields["metadata"] = {"text": text, text: [text, {"deep": text}]}
    return Sample(**fields)


def _shown(sample: Sample, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The blocks of a prompt that shows these fields of a sample."""
    wanted: list[tuple[str, str]] = []
    for field, name in BLOCKS.items():
        if field == "contexts" and field in names:
            texts = sample.contexts or ()
            wanted += [(f"{name} {i}", text) for i, text in enumerate(texts, start=1)]
        elif field in names:
            wanted.append((name, getattr(sample, field)))
    return wanted


def verdicts_hold(text: str, place: str, criterion: Criterion) -> None:
    """Judge by claims."""
    if place == "statement" and text.strip():
        criterion = rubric("own", [text, "It is polite."])
    model = echoing(text)
    sample = sample_with(text, place)
    claims: ClaimsMode = (
        "llm" if place == "claims" and not criterion.statements else "split"
    )
    result = TCVA(criterion, judge=model, claims=claims, share=False).evaluate(sample)
    held = Result.from_json(result.to_json())
    assert (held.score, held.claims, held.reason) == (
        result.score,
        result.claims,
        result.reason,
    )
    f"{result}{result!r}".encode(errors="replace")
    if result.unscored is not None:
        is_empty_list = claims == "llm" and not text.strip()
        assert not result.unscored.reason.is_failure or is_empty_list, result
        return
    requests = [each for each in model.requests if each.schema_name == "tcva_verdicts"]
    sizes = [
        len(each.schema["properties"]) for each in requests
    ]  # a long text is asked in parts
    levels = [given(number) for size in sizes for number in range(1, size + 1)]
    assert ([claim.verdict for claim in result.claims], result.score) == (
        levels,
        aggregate(levels),
    )
    names = (criterion.against, *criterion.shows)
    texts = iter(claim.claim for claim in result.claims)
    for request, size in zip(requests, sizes, strict=True):
        wanted = [(f"CLAIM {i}", next(texts)) for i in range(1, size + 1)]
        check_prompt(request, [*_shown(sample, names), *wanted])
    if claims == "llm":
        asked = () if criterion.claims == "input" else ("input",)
        judged = sample.field(criterion.claims) or ""
        check_prompt(model.requests[0], [*_shown(sample, asked), ("TEXT", judged)])


def ratings_hold(text: str, place: str) -> None:
    """Rate whole answers."""
    model = echoing(text)
    sample = sample_with(text, place)
    result = CCRS(judge=model, share=False).evaluate(sample)
    held = CCRSResult.from_json(result.to_json())
    assert held.scores == result.scores
    for name, answer in result.answers.items():
        assert held.answers[name].replies == answer.replies
        if answer.unscored is None:
            assert answer.rating == (_RATING if answer.replies else 0.0)
        else:
            assert not answer.unscored.reason.is_failure, answer
    for request in model.requests:
        shown = [name.partition(" ")[0] for name, _ in blocks(request.user)]
        fields = tuple(field for field, name in BLOCKS.items() if name in shown)
        check_prompt(request, _shown(sample, fields))


def attacks(text: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """All attacks with one text, by name; each raises what does not hold."""
    for place in PLACES:
        for name, criterion in CRITERIA.items():
            yield (
                f"{place}, {name}",
                lambda p=place, c=criterion: verdicts_hold(text, p, c),  # type: ignore[misc]  # bound at once
            )
    for place in PLACES[:-2]:
        yield f"{place}, CCRS", lambda p=place: ratings_hold(text, p)  # type: ignore[misc]  # as above


def test_the_corpus_names_each_text_once() -> None:
    assert (
        len({hostile.id for hostile in TEXTS})
        == len({hostile.text for hostile in TEXTS})
        >= 25
    )


@pytest.mark.slow
@pytest.mark.parametrize("hostile", TEXTS, ids=lambda hostile: hostile.id)
def test_a_text_stays_in_its_place(hostile: Hostile) -> None:
    for _, attack in attacks(hostile.text):
        attack()
