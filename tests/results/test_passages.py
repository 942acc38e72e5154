"""Which claims rest on which passage."""

from typing import Any

import pytest

from tcva_adapters import (
    TCVA,
    Assessment,
    ClaimVerdict,
    Conversation,
    Criterion,
    Panel,
    Result,
    Sample,
    WeightScheme,
)
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.scoring import ScoringConfig
from tests.support.scripted import ScriptedModel, verdict_json

CONTEXTS = (
    "The library opens at nine. It closes at six.",
    "A card is free for residents of the town.",
    "The library opens at nine. Dogs stay outside.",
)
OPENS, CLOSES, CARD, DOGS = (
    "The library opens at nine.",
    "It closes at six.",
    "A card is free for residents of the town.",
    "Dogs stay outside.",
)
SAMPLE = Sample(
    response="It opens at nine. It shuts at six. Cards are free.", contexts=CONTEXTS
)


def judged(*claims: dict[str, Any], **fields: Any) -> Assessment:
    verdicts = [
        ClaimVerdict(claim=f"claim {n}", **{"verdict": "fully", **claim})
        for n, claim in enumerate(claims)
    ]
    return Assessment(
        **{
            "criterion": "faithfulness",
            "judge": "given",
            "prompt_version": "1",
            "claims": verdicts,
            **fields,
        }
    )


def claims_by_passage(assessment: Assessment, sample: Sample = SAMPLE) -> list[Any]:
    uses = Result(assessment).passages(sample)
    assert [use.passage for use in uses] == [*range(1, len(uses) + 1)]
    assert [use.is_used for use in uses] == [bool(use.claims) for use in uses]
    return [use.claims for use in uses]


def test_a_claim_rests_on_each_passage_that_holds_its_quote() -> None:
    quotes = [{"evidence": quote} for quote in (OPENS, CLOSES, DOGS, CARD, CARD)]
    assert claims_by_passage(judged(*quotes)) == [(0, 1), (3, 4), (0, 2)]


def test_a_quote_of_several_passages_rests_on_that_of_its_longest_part() -> None:
    joined = f"{DOGS} ... {CARD}"
    assert claims_by_passage(judged({"evidence": joined})) == [(), (0,), ()]


@pytest.mark.parametrize(
    ("claim", "is_used"),
    [
        ({"evidence": CARD}, True),
        ({"evidence": CARD, "verdict": "mostly"}, True),
        ({"evidence": CARD, "verdict": "minor"}, True),
        ({"evidence": CARD, "evidence_check": "unchecked"}, True),
        ({"evidence": "a card is FREE ... of the town"}, True),
        ({"evidence": ""}, False),
        ({"evidence": "Cards are sold here."}, False),
        ({"evidence": CARD, "verdict": "none"}, False),
        ({"evidence": CARD, "verdict": None}, False),
        *(
            ({"evidence": CARD, "verdict": "partial", "evidence_check": check}, False)
            for check in EvidenceCheck
            if check.is_fault
        ),
    ],
)
def test_only_a_sound_quote_counts(claim: dict[str, Any], is_used: bool) -> None:
    second = {"evidence": DOGS}
    assert claims_by_passage(judged(claim, second))[1] == ((0,) if is_used else ())


def test_a_lowered_verdict_rests_on_nothing_whether_or_not_it_is_lowered() -> None:
    lowered = {
        "evidence": CARD,
        "verdict": "partial",
        "original_verdict": "fully",
        "evidence_check": "contradicts",
    }
    for evidence in ("lower", "off"):
        other = {"evidence": DOGS}
        result = Result(judged(lowered, other), ScoringConfig(evidence=evidence))
        assert [use.claims for use in result.passages(SAMPLE)] == [(), (), (1,)]


def test_weights_add_up_what_supports_the_claims() -> None:
    result = Result(
        judged(
            {"evidence": OPENS, "verdict": "fully"},
            {"evidence": CLOSES, "verdict": "partial"},
            {"evidence": CARD, "probabilities": (0.5, 0, 0, 0, 0.5)},
        )
    )
    weights = [use.weight for use in result.passages(SAMPLE)]
    scheme = result.scoring.scheme.weights
    assert weights == pytest.approx([scheme[0] + scheme[2], 0.5, scheme[0]], abs=1e-12)
    own = result.changed(scheme=WeightScheme("own", (1.0, 0.8, 0.25, 0.1, 0.0)))
    assert own.passages(SAMPLE)[0].weight == pytest.approx(1.25, abs=1e-12)


def test_ids_and_lengths_are_those_of_the_contexts() -> None:
    named = SAMPLE.model_copy(update={"context_ids": ("a", "", "c")})
    uses = Result(judged({"evidence": CARD})).passages(named)
    assert [use.id for use in uses] == ["a", None, "c"]
    assert [use.characters for use in uses] == [len(text) for text in CONTEXTS]
    assert [use.id for use in Result(judged({"evidence": CARD})).passages(SAMPLE)] == [
        None
    ] * 3


def test_it_says_the_same_of_a_result_that_was_read_back() -> None:
    result = TCVA(judge="lexical").evaluate(
        Sample(response=f"{CARD} {DOGS}", contexts=CONTEXTS, id="a")
    )
    assert [use.claims for use in result.passages()] == [(), (0,), (1,)]
    read = Result.from_dict(result.to_dict())
    assert read.passages(result.sample) == result.passages()
    with pytest.raises(InvalidValueError, match=r"pass it: passages\(sample=\.\.\.\)"):
        read.passages()
    with pytest.raises(InvalidValueError, match="got 'a'"):
        read.passages("a")  # type: ignore[arg-type]  # as a user may


def test_it_makes_no_call() -> None:
    model = ScriptedModel(lambda _: verdict_json((1, "fully", CARD)))
    result = TCVA(judge=model).evaluate(Sample(response=CARD, contexts=CONTEXTS))
    calls = len(model.requests)
    assert [use.is_used for use in result.passages()] == [False, True, False]
    assert len(model.requests) == calls


@pytest.mark.parametrize("name", ["correctness", "completeness", "answer_relevancy"])
def test_a_criterion_that_compares_with_another_text_is_refused(name: str) -> None:
    result = Result(judged({"evidence": CARD}, criterion=name))
    with pytest.raises(InvalidValueError, match=rf"{name}.*against='contexts'"):
        result.passages(SAMPLE)


def test_other_criteria_against_contexts_have_passages_too() -> None:
    assert claims_by_passage(judged({"evidence": CARD}, criterion="context_recall")) == [
        (), (0,), ()
    ]  # fmt: skip
    assert claims_by_passage(judged({"evidence": CARD}, criterion="my own"))[1] == (0,)


def test_what_was_not_judged_says_nothing_of_the_passages() -> None:
    def fail(_: object) -> str:
        raise JudgeError("no reply")

    sample = Sample(response=CARD, contexts=CONTEXTS)
    assert TCVA(judge=ScriptedModel(fail)).evaluate(sample).passages() == ()
    greeting = Sample(response="Hello!", contexts=CONTEXTS)
    assert TCVA(judge="lexical").evaluate(greeting).passages() == ()
    assert Result(Assessment.from_verdicts([])).passages(SAMPLE) == ()


@pytest.mark.parametrize("contexts", [None, (), ("",), ("", CARD)])
def test_missing_and_empty_contexts(contexts: tuple[str, ...] | None) -> None:
    sample = SAMPLE.model_copy(update={"contexts": contexts})
    uses = Result(judged({"evidence": CARD})).passages(sample)
    assert [use.is_used for use in uses] == (
        [False, True] if any(sample.contexts or ()) else []
    )
    none = Result(judged({"verdict": "none"})).passages(sample)
    assert [use.characters for use in none] == [*map(len, contexts or ())]


def test_a_turn_may_rest_on_passages_of_earlier_turns() -> None:
    turns = (
        Sample(input="When?", response=OPENS, contexts=CONTEXTS),
        Sample(input="And a card?", response=CARD),
    )
    conversation = Conversation(turns=turns)
    last = (
        TCVA(judge="lexical", uncontexted="earlier")
        .evaluate_conversation(conversation)
        .turns[-1]
    )
    assert [use.claims for use in last.passages()] == [(), (0,), ()]
    read = Result.from_dict(last.to_dict())
    assert read.passages(conversation.turns[-1]) == last.passages()


def test_a_fault_that_one_judge_of_a_panel_was_found_in_counts() -> None:
    claim = "A card is free for nobody of the town."
    replies = [verdict_json((1, "fully", CARD)), verdict_json((1, "partial", CARD))]
    panel = Panel(
        [
            ScriptedModel(lambda _, reply=reply: reply, name=name)
            for reply, name in zip(replies, "ab", strict=True)
        ]
    )
    result = TCVA(judge=panel).evaluate(Sample(response=claim, contexts=CONTEXTS))
    assert result.panel[0].claims[0].evidence_check is EvidenceCheck.CONTRADICTS
    assert result.claims[0].evidence_check is None
    assert not any(use.is_used for use in result.passages())


def test_nothing_is_known_where_claims_are_supported_and_none_has_a_sound_quote() -> (
    None
):
    quoteless = judged({"verdict": "fully"}, {"verdict": "none"})
    assert Result(quoteless).passages(SAMPLE) == ()
    other_texts = SAMPLE.model_copy(update={"contexts": ("Zebras sleep.",)})
    assert Result(judged({"evidence": CARD})).passages(other_texts) == ()
    made_up = {"evidence": CARD, "verdict": "partial", "evidence_check": "not_found"}
    assert Result(judged(made_up)).passages(SAMPLE) == ()
    assert claims_by_passage(judged({"verdict": "none"})) == [(), (), ()]
    assert claims_by_passage(judged({"verdict": "none"}, {"verdict": None}))[0] == ()


def test_claims_that_the_judge_lists_rest_on_passages_too() -> None:
    own = Criterion(name="own", instruction="Decide.")
    result = Result(
        judged({"evidence": CARD}, criterion=own.name, judged_by={"claims": "llm"})
    )
    assert result.passages(SAMPLE)[1].claims == (0,)
