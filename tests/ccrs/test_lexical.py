"""The five metrics by words: simple, monotone, labelled as what they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import CCRS, CCRSResult, Sample
from tcva_adapters.ccrs import METRICS
from tcva_adapters.results.judgement import Reason

PASSAGE = "Adults take 40 mg once a day. Children take 10 mg in the morning."


def rated(metric: str, **fields: object) -> CCRSResult:
    given = Sample.model_validate({"contexts": (PASSAGE,), **fields})
    return CCRS(metric, judge="lexical").evaluate(given)


def judged(metric: str, **fields: object) -> float:
    value = rated(metric, **fields).judged[metric]
    assert value is not None
    return value


def test_coherence_falls_with_what_the_passages_do_not_say() -> None:
    copied = judged("cc", response="Adults take 40 mg once a day.")
    half = judged("cc", response="Adults take 40 mg once a day. Parking is free.")
    wrong = judged("cc", response="Adults never take 70 mg once a day.")
    assert copied == pytest.approx(1.0)
    # The mean of a supported claim and one without any word, which is minor with .3.
    assert half == pytest.approx((1 + 0.3 * 0.3) / 2)
    assert wrong < half


def test_relevance_is_the_share_of_the_question_s_words() -> None:
    question = "How much do adults take in the morning?"  # much, adults, take, morning
    shares = [
        judged("qr", input=question, response=response)
        for response in (
            "Yes.",
            "Adults do.",
            "Adults take it.",
            "Adults take it in the morning.",
        )
    ]
    assert (shares, shares[0]) == (sorted(shares), 0.0)
    assert shares[-1] > shares[1]
    assert judged(
        "qr", input="Who are you?", response="You are here."
    ) == pytest.approx(2 / 3)


def test_density_falls_with_repetition_padding_and_thinness() -> None:
    good = "Adults swallow one white tablet with water after breakfast every single morning."
    fields = {"input": "How?"}
    best = judged("id", response=good, **fields)
    assert best == 1.0
    assert judged("id", response=f"{good} {good}", **fields) == pytest.approx(0.5)
    assert judged("id", response="A tablet.", **fields) == pytest.approx(1 / 8)
    padding = " ".join(f"{chr(97 + i // 26)}{chr(97 + i % 26)}tox" for i in range(240))
    assert judged("id", response=padding, **fields) == pytest.approx(
        0.5
    )  # 120 of 240 words
    assert judged("id", response="?!", **fields) == 0.0


def test_correctness_wants_both_ways() -> None:
    reference = "Adults take 40 mg once a day. Children take 10 mg in the morning."
    whole = judged("ac", response=reference, reference=reference)
    part = judged("ac", response="Adults take 40 mg once a day.", reference=reference)
    more = judged("ac", response=f"{reference} Parking is free.", reference=reference)
    wrong = judged("ac", response="Adults take 70 mg once a day.", reference=reference)
    assert whole == pytest.approx(1.0)
    assert max(part, more) < whole
    assert wrong < part


def test_recall_is_the_share_of_the_reference_s_words() -> None:
    reference = "Adults take a white tablet."  # adults, take, white, tablet
    assert judged("ir", response="Adults take it.", reference=reference) == 0.5
    assert judged("ir", response=f"Well: {reference} More.", reference=reference) == 1.0


def test_a_text_that_claims_nothing_has_no_coherence() -> None:
    why = rated("cc", response="I don't know.").unscored_by["cc"]
    assert why.reason is Reason.REFUSAL
    assert (
        rated("qr", input="?!", response="Yes.").unscored_by["qr"].reason
        is Reason.EMPTY_INPUT
    )


texts = st.text(max_size=60) | st.sampled_from(
    ["Adults take 40 mg.", "Hello!", "I don't know."]
)


@given(texts, texts, texts, texts)
def test_every_text_gives_a_rating_or_a_reason(a: str, b: str, c: str, d: str) -> None:
    sample = Sample(input=a, response=b, contexts=(c,), reference=d)
    result = CCRS(judge="lexical").evaluate(sample)
    assert (result.judge, result.usage.calls) == ("lexical/ccrs-3", 0)
    assert list(result.answers) == list(METRICS)
    for name, answer in result.answers.items():
        assert (answer.rating is None) == (name in result.unscored_by)
    others = CCRS(judge="lexical").evaluate(sample)
    assert result == others.model_copy(update={"answers": result.answers})
