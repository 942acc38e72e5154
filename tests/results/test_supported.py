"""Answers without their unsupported claims."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import (
    TCVA,
    Assessment,
    ClaimVerdict,
    Criterion,
    Result,
    Sample,
    Verdict,
    rubric,
)
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import Config, settings_of
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.text.sentences import split_claims
from tests.support.scripted import ScriptedModel, verdict_json

ANSWER = "Hello! We open at 9. Entry is 5 EUR.\n\n- Dogs are fine.\n- Cats are fine."
LEVELS = (None, "fully", "partial", "minor", "none")


def judged(answer: str, levels: tuple[str | None, ...], **scoring: object) -> Result:
    claims = tuple(
        ClaimVerdict(
            claim=claim,
            verdict=Verdict(level) if level else None,
            reason="because",
            evidence="quote",
        )
        for claim, level in zip(split_claims(answer), levels, strict=True)
    )
    assessment = Assessment(
        criterion="faithfulness", judge="given", prompt_version="1", claims=claims
    )
    sample = Sample(response=answer)
    return Result(assessment, ScoringConfig(**scoring), sample=sample)


@pytest.mark.parametrize(
    ("threshold", "left"),
    [
        ("none", ANSWER),
        (0.0, ANSWER),
        ("minor", ANSWER.removesuffix("\n- Cats are fine.")),
        (0.3, ANSWER.removesuffix("\n- Cats are fine.")),
        (None, "Hello! We open at 9. Entry is 5 EUR."),
        ("partial", "Hello! We open at 9. Entry is 5 EUR."),
        (0.71, "Hello! We open at 9."),
        ("mostly", "Hello! We open at 9."),
        ("fully", "Hello! We open at 9."),
    ],
)
def test_claims_below_the_threshold_go(threshold: str | float, left: str) -> None:
    supported = judged(ANSWER, LEVELS).supported(threshold)
    assert supported.text == left
    assert not supported.is_empty
    assert len(supported.kept) + len(supported.removed) == len(LEVELS)
    for part in supported.removed:
        assert part.claim.claim.lstrip("- ") in ANSWER[part.start : part.end]
        assert (part.reason, part.quote) == ("because", "quote")


def test_an_answer_is_empty_where_no_claim_is_left() -> None:
    supported = judged("Hello! We open at 9.", (None, "none")).supported()
    assert supported.text == "Hello!"
    assert supported.is_empty
    alone = judged("We open at 9.", ("none",)).supported()
    assert (alone.text, alone.is_empty) == ("", True)
    assert alone.to_dict()["removed"][0] == {
        "claim": "We open at 9.", "level": "none", "weight": 0.0, "reason": "because",
        "quote": "quote", "start": 0, "end": 13, "orphan": False,
    }  # fmt: skip


@pytest.mark.parametrize(("most", "refused"), [(1, False), (0.5, False), (0.49, True)])
def test_an_answer_that_loses_too_much_is_refused_whole(
    most: float, refused: bool
) -> None:
    supported = judged(ANSWER, LEVELS, max_removed=most).supported()
    assert supported.is_empty is refused
    assert (supported.text == "") is refused
    assert len(supported.removed) == (5 if refused else 2)


def test_the_sample_stays_with_live_results_and_is_never_written() -> None:
    sample = Sample(response="We open at 9.", contexts=["We open at 9."])
    result = TCVA(judge="lexical").evaluate(sample)
    assert result.sample is sample
    assert result.at("strict").sample is sample
    back = Result.from_json(result.to_json())
    assert back == result
    assert back.sample is None
    assert "sample" not in result.to_dict()
    with pytest.raises(InvalidValueError, match=r"supported\(sample=\.\.\.\)"):
        back.supported()
    with pytest.raises(InvalidValueError, match="got 'We open"):
        back.supported(sample="We open at 9.")  # type: ignore[arg-type]  # what is refused
    assert back.supported(sample=sample) == result.supported()


def test_what_was_not_judged_is_not_supported() -> None:
    why = Unscored(reason=Reason.TIMEOUT, detail="no reply within 3 s")
    assessment = Assessment(
        criterion="faithfulness", judge="given", prompt_version="1", unscored=why
    )
    answer = Sample(response="Hello! We open at 9. Entry is free.")
    supported = Result(assessment, sample=answer).supported()
    assert supported.text == "Hello!"
    assert supported.is_empty
    assert [part.reason for part in supported.removed] == [why.text, why.text]
    assert [part.level for part in supported.removed] == [None, None]


def test_of_an_empty_answer_nothing_is_cut() -> None:
    sample = Sample(input="When?", response="", contexts=["We open at 9."])
    answer = TCVA(judge="lexical").evaluate(sample).supported()
    assert (answer.text, answer.kept, answer.removed) == ("", (), ())
    assert not answer.is_empty


def test_a_greeting_and_a_refusal_stay_whole() -> None:
    for answer in ("Hello! How can I help?", "I cannot find this in the documents."):
        sample = Sample(response=answer, contexts=["We open at 9."])
        supported = TCVA(judge="lexical").evaluate(sample).supported()
        assert (supported.text, supported.is_empty) == (answer, False)
        assert supported.removed == ()


def test_lines_of_nothing_but_tags_stay_so_that_they_stay_balanced() -> None:
    text = "We open at 9.\n\n<details>\n\nCake is lethal.\n\n</details>\n\n<bananas> <ripen>"
    sample = Sample(response=text, contexts=["We open at 9."])
    answer = TCVA(judge="lexical").evaluate(sample).supported()
    assert answer.text == "We open at 9.\n\n<details>\n\n</details>"
    assert [part.reason for part in answer.kept[1:]] == ["markup", "markup"]
    removed = [part.claim.claim for part in answer.removed]
    assert removed == ["Cake is lethal.", "<bananas> <ripen>"]


@pytest.mark.parametrize(
    ("answer", "levels", "orphan"),
    [
        ("No. The cake is lethal. We open at 9.", (None, "none", "fully"), True),
        ("**Yes!** The cake is lethal. We open at 9.", ("fully", "none", "fully"), True),
        ("No. We open at 9. The cake is lethal.", (None, "fully", "none"), False),
        ("Hello! The cake is lethal. We open at 9.", (None, "none", "fully"), False),
    ],
)  # fmt: skip
def test_a_yes_or_no_whose_next_sentence_was_removed_is_flagged(
    answer: str, levels: tuple[str | None, ...], orphan: bool
) -> None:
    supported = judged(answer, levels).supported()
    assert supported.kept[0].orphan is orphan
    assert not any(part.orphan for part in supported.kept[1:])


OFFICE = Sample(
    input="When?", response="We open at 9.", reference="At 9. Or 10.", contexts=["At 9."]
)  # fmt: skip


@pytest.mark.parametrize(
    ("criterion", "claims", "replies", "why"),
    [
        ("completeness", "split", [verdict_json((1, "none", ""), (2, "none", ""))], "not the sentences"),
        (rubric("tone", ["Is polite."]), "split", [verdict_json((1, "fully", ""))], "no statements"),
        ("faithfulness", "llm", ['{"claims": ["It opens at 9."]}', verdict_json((1, "none", ""))], "claims='split'"),
    ],
)  # fmt: skip
def test_claims_that_are_not_in_the_answer_cannot_be_cut(
    criterion: Criterion | str, claims: str, replies: list[str], why: str
) -> None:
    model = ScriptedModel(replies)
    result = TCVA(criterion, judge=model, claims=claims).evaluate(OFFICE)
    assert result.score is not None
    with pytest.raises(InvalidValueError, match=why):
        result.supported()


def test_the_sample_of_another_answer_is_refused() -> None:
    result = TCVA(judge="lexical").evaluate(OFFICE)
    with pytest.raises(InvalidValueError, match="pass the sample that was judged"):
        result.supported(sample=Sample(response="It never opens."))


@given(
    levels=st.lists(st.sampled_from([None, *Verdict]), max_size=8),
    thresholds=st.tuples(*[st.floats(0, 1) | st.sampled_from([*Verdict])] * 2),
)
def test_a_higher_threshold_leaves_no_more(
    levels: list[Verdict | None], thresholds: tuple[float | Verdict, float | Verdict]
) -> None:
    answer = " ".join(f"Point {chr(97 + n)} is so." for n in range(len(levels)))
    if not any(levels):
        return
    result = judged(answer, tuple(levels))
    weights = [ScoringConfig(claim_threshold=t).least_weight for t in thresholds]
    supported = [result.supported(threshold) for threshold in thresholds]
    low, high = (supported[n] for n in np.argsort(weights, kind="stable"))
    assert {*high.kept} <= {*low.kept}
    for weight, each in zip(weights, supported, strict=True):
        # Found again without the package: which sentences have the weight, and what joins them.
        own = [
            level is None or ScoringConfig().scheme.weight(level) >= weight
            for level in levels
        ]
        sentences = [f"{part}." for part in answer.removesuffix(".").split(". ")]
        assert each.text == " ".join(
            s for s, stays in zip(sentences, own, strict=True) if stays
        )


def test_the_settings_stand_in_files_only_where_they_are_not_the_default() -> None:
    usual = ScoringConfig()
    assert not {"claim_threshold", "max_removed"} & usual.model_dump().keys()
    other = usual.changed(claim_threshold="mostly", max_removed=0.5)
    assert ScoringConfig(**other.model_dump(mode="json")) == other
    assert repr(other) == repr(
        usual
    )  # by which runs are known: every score is the same
    plain = settings_of(other)
    assert (plain["claim_threshold"], plain["max_removed"]) == ("mostly", 0.5)
    assert Config(settings=plain).options()["claim_threshold"] == "mostly"
    assert "claim_threshold" not in settings_of(usual)
    assert ScoringConfig(claim_threshold=0.25).least_weight == 0.25


@pytest.mark.parametrize(
    ("answer", "orphan"),
    [
        ("The plan costs 9. It has tea.", True),
        ("The plan costs 9. This plan has tea.", True),
        ("The plan costs 9. **They** have tea.", True),
        ("The plan costs 9.\n\n**It is green**", True),
        ("The plan costs 9.\n\n**It is green**\n\nTea is free.", True),
        ("The plan costs 9. __It is green.__", True),
        ("1. The plan costs 9.\n2. **It** is green.", True),
        ("The plan costs 9.\n\n# Tea\n\nIt is free.", False),
        ("The plan costs 9. Items have tea.", False),
        ("- The plan costs 9.\n- Its tea is good.", True),
        ("Der Plan kostet 9. Er hat Tee.", True),
        ("Der Plan kostet 9. Das Büro hat Tee.", False),
        ("Le plan coûte 9. Cette offre a du thé.", True),
        ("El plan cuesta 9. Esto incluye té.", True),
        ("プランは九です。その料金は安い。", True),
        ("プランは九です。料金は安い。", False),
        ("套餐九元。它含茶。", True),
    ],
)
def test_a_pronoun_behind_what_was_removed_is_flagged(
    answer: str, orphan: bool
) -> None:
    supported = judged(answer, ("none", "fully")).supported()
    assert [part.orphan for part in supported.kept] == [orphan]
    assert not judged(answer, ("fully", "fully")).supported().kept[1].orphan


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("Prices:\n- A is 1.\n- B is 2.", "Prices:\n- B is 2."),
        ("## Prices\n\nA is 1. B is 2.", "## Prices\n\nB is 2."),
        ("The moon is made of cheese:\n- A is 1.\n- B is 2.", "- B is 2."),
        ("# The moon is made of cheese\n\nA is 1. B is 2.", "B is 2."),
        ("Der Mond ist aus Käse:\n- A is 1.\n- B is 2.", "- B is 2."),
        ("Dogs aren't allowed:\n- A is 1.\n- B is 2.", "- B is 2."),
        ("# Where can I buy it?\n\nA is 1. B is 2.", "# Where can I buy it?\n\nB is 2."),
    ],
)  # fmt: skip
def test_a_line_that_plainly_states_something_goes_with_the_claim_it_was_judged_with(
    answer: str, left: str
) -> None:
    assert judged(answer, ("none", "fully")).supported().text == left
    assert judged(answer, ("fully", "fully")).supported().text == answer


@pytest.mark.parametrize(
    "front",
    ["Opening hours on weekdays:", "The plans cost:", "The steps are:", "The following plans are available:",
     "Here are the plans:", "Key benefits of the plans:", "The prices are as follows:", "Documents you will need:",
     "Die Preise im Überblick:", "Folgende Pläne sind verfügbar:", "Hier sind die Preise:", "Les prix sont les suivants :",
     "Aquí están los precios:", "# Our most popular plans and prices", "## What is included in the plan",
     "Opening hours in May and June:", "以下是价格："],
)  # fmt: skip
def test_a_line_that_introduces_claims_stays_with_any_of_them(front: str) -> None:
    answer = f"{front}\n- A is 1.\n- B is 2.\n\nC is 3."
    left = judged(answer, ("none", "fully", "fully")).supported().text
    assert left == f"{front}\n- B is 2.\n\nC is 3."
    if front[0] != "#":
        assert judged(answer, ("none", "none", "fully")).supported().text == "C is 3."


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_nothing_is_cut_out_of_an_answer_without_sentences(answer: str) -> None:
    supported = TCVA(judge="lexical").evaluate(Sample(response=answer, contexts=["A."]))
    served = supported.supported()
    assert (served.kept, served.removed, served.is_empty) == ((), (), False)


def test_a_wrong_threshold_is_named_with_the_way_out() -> None:
    wanted = (
        "claim_threshold must be one of fully, .*, or a weight from 0 to 1, got 'most'"
    )
    with pytest.raises(InvalidValueError, match=wanted):
        TCVA(judge="lexical", claim_threshold="most")
    with pytest.raises(InvalidValueError, match=wanted):
        judged(ANSWER, LEVELS).supported("most")
