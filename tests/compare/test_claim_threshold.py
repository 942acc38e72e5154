"""A threshold of claims with a guarantee: recomputed by hand, from labels of every form, kept in a file."""

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra stats")

from scipy import stats

from tcva_adapters import Assessment, Config, Result, Verdict
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.recommendation import recommended
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.judgement import Reason, Unscored
from tests.cli.conftest import Run, tcva, write  # noqa: F401  # a fixture

SAMPLES: Final = Path("examples/data/samples.jsonl").resolve()
DEFAULT: Final = {
    "fully": 1.0,
    "mostly": 0.9,
    "partial": 0.7,
    "minor": 0.3,
    "none": 0.0,
}

Sentence = tuple[float, bool]
"""A weight, nan for what claims nothing, and whether people reject it."""


def weight_of(claim: dict[str, Any]) -> float:
    if claim["verdict"] is None:
        return math.nan
    shares = claim["probabilities"]
    if shares is None:
        return DEFAULT[claim["verdict"]]
    return float(np.dot(shares, [*DEFAULT.values()]))


def by_hand(judged: Path) -> list[list[Sentence]]:
    """The labelled sentences of each answer, read without the library."""
    answers = []
    for line in judged.read_text(encoding="utf-8").splitlines():
        result = json.loads(line)
        if "empty_context" in str(result["unscored"]):
            continue  # three lack contexts
        labels = {each["claim"]: each["level"] for each in result["metadata"]["labels"]}
        claims = result["claims"]
        if not {each["claim"] for each in claims} <= labels.keys():
            continue
        levels = [labels[each["claim"]] for each in claims]
        answers.append(
            [
                (weight_of(claim), level is not None and DEFAULT[level] < 0.7)
                for claim, level in zip(claims, levels, strict=True)
            ]
        )
    return answers


def served(answer: list[Sentence], threshold: float, rule: float) -> list[Sentence]:
    """What stays of an answer."""
    gone = [weight < threshold for weight, _ in answer if not math.isnan(weight)]
    if sum(gone) > rule * len(gone):
        return []
    return [(weight, bad) for weight, bad in answer if not weight < threshold]


def thresholds(answers: list[list[Sentence]]) -> Iterator[float]:
    """From the top: one between each two neighbouring weights."""
    weights = {round(weight, 12) for answer in answers for weight, _ in answer}
    ends = sorted({weight for weight in weights if not math.isnan(weight)} | {1.0})
    for higher, lower in pairwise(ends[::-1]):
        yield (higher + lower) / 2
    yield 0.0


@pytest.mark.parametrize("limit", [0.1, 0.3, 0.5])
def test_the_command_equals_a_loop_over_tests(tcva: Run, limit: float) -> None:  # noqa: F811  # the fixture
    tcva("evaluate", SAMPLES, "--judge", "lexical", "--out", "judged.jsonl")
    options = ("--human", "labels", "--max-unsupported", limit)
    done = tcva(
        "calibrate", "judged.jsonl", *options, "--out", "t.json", "--json", code=None
    )
    assert done.out, done.text
    answers = by_hand(Path("judged.jsonl"))
    n = len(answers)
    assert n == 51  # three could not be judged, three have other labels
    good_claims = sum(
        not bad
        for answer in answers
        for weight, bad in answer
        if not math.isnan(weight)
    )
    kept = []
    rows = done.json["tables"]["rules"]
    assert {row["max_removed"] for row in rows} == {1.0, 0.5, 0.0}
    for row in rows:
        rule = row["max_removed"]
        found = None
        for threshold in thresholds(answers):
            left = [served(answer, threshold, rule) for answer in answers]
            hits = sum(any(bad for _, bad in answer) for answer in left)
            if stats.binom.cdf(hits, n, limit) > row["error"]:
                break
            claims = [
                [each for each in answer if not math.isnan(each[0])] for answer in left
            ]
            if any(claims):
                found = threshold, left, claims, hits
        if found is None:
            assert row["threshold"] is None
            continue
        threshold, left, claims, hits = found
        assert row["threshold"] == pytest.approx(threshold, abs=1e-9)
        stay = sum(not bad for answer in claims for _, bad in answer) / good_claims
        silent = [all(math.isnan(weight) for weight, _ in answer) for answer in answers]
        is_served = [
            bool(answer) if is_silent else bool(claim)
            for answer, claim, is_silent in zip(left, claims, silent, strict=True)
        ]
        holds = [
            is_one and any(bad for _, bad in answer)
            for answer, is_one in zip(left, is_served, strict=True)
        ]
        assert row["risk"] == pytest.approx(hits / n, abs=1e-12)
        assert row["good_kept"] == pytest.approx(stay, abs=1e-12)
        assert row["empty"] == pytest.approx(1 - sum(is_served) / n, abs=1e-12)
        assert row["served"] == sum(is_served)
        assert row["served_risk"] == pytest.approx(
            sum(holds) / sum(is_served), abs=1e-12
        )
        scipys = stats.binomtest(hits, n, alternative="less")
        bound = scipys.proportion_ci(1 - row["error"], "exact").high
        assert row["bound"] == pytest.approx(bound, abs=1e-9)
        kept.append((stay, row))
    best = max(kept, key=lambda pair: pair[0])[1]
    assert [row["recommended"] for _, row in kept].count(True) == (done.code == 0)
    assert Path("t.json").exists() == (done.code == 0)
    certificate = done.json["settings"]["guarantee"]
    assert certificate["setting"]["claim_threshold"] == best["threshold"]
    assert (certificate["n"], certificate["risk"]) == (n, best["risk"])
    if done.code == 0:
        assert best["recommended"]
        assert f"Use claim_threshold {best['threshold']:g}" in done.json["sentence"]
        assert Config.load("t.json").settings["claim_threshold"] == best["threshold"]


def judged(levels: str, name: str = "a", labels: Any = None, **more: Any) -> Result:
    """An answer with a claim for each letter: f, m, p, i and n for the levels, - for no claim."""
    words: dict[str, Any] = {**dict(zip("fmpin", DEFAULT, strict=True)), "-": None}
    claims = tuple(
        ClaimVerdict(claim=f"Claim {number}.", verdict=words[letter])
        for number, letter in enumerate(levels)
    )
    known: Any = {
        "criterion": "faithfulness",
        "judge": "given",
        "prompt_version": "given",
    }
    metadata = {"labels": labels, **more.pop("metadata", {})}
    return Result(
        Assessment(**known, claims=claims, sample_id=name, metadata=metadata, **more)
    )


def good_judge(n: int = 60) -> list[Result]:
    """Answers with a supported claim and, in every other one, an unsupported one; the judge is right."""
    return [
        judged(
            "fn" if i % 2 else "fm", f"s{i}", ["fully", "none" if i % 2 else "mostly"]
        )
        for i in range(n)
    ]


def rules_of(results: list[Result], human: Any = "labels", **limits: Any) -> Any:
    return calibrate(results, human, **{"max_unsupported": 0.1, **limits})


def test_what_a_good_judge_is_certified_for() -> None:
    report = rules_of(good_judge())
    certificate = report.settings["guarantee"]
    assert certificate["setting"]["claim_threshold"] == pytest.approx(0.45)
    assert report.settings["recommended"] == certificate["setting"]
    assert "max_removed" not in certificate["setting"]  # which cuts, as by default
    [row] = [row for row in report.records("rules") if row["recommended"]]
    assert (row["good_kept"], row["risk"], row["empty"]) == (1.0, 0.0, 0.0)
    assert row["p"] == pytest.approx(0.9**60, abs=1e-12)
    assert report.sentence == (
        "Use claim_threshold 0.45, max_removed 1: at most 10 % of all questions get an answer that holds a "
        "claim people reject (95 % confidence), where claims below 0.45 are removed; "
        "people reject what they label below partial. Of 60 labelled answers, "
        "0.0 % hold one, 0.0 % are left empty, and 100.0 % of the good claims stay. Of the 60 that are served, the share that holds one is "
        "0.000 [0.00, 0.06]."
    )
    assert (
        "It promises nothing about other data, nor that an answer makes sense"
        in report.notes[-1]
    )
    served = rules_of(good_judge(150), of="served")
    assert "at most 10 % of the answers that are served hold a claim" in served.sentence
    assert "% hold one," not in served.sentence
    assert served.settings["guarantee"]["of"] == "served"
    stricter = rules_of(good_judge(), rejected_below="fully")
    assert stricter.settings["recommended"]["claim_threshold"] == pytest.approx(0.95)


def test_a_judge_that_cannot_tell_is_not_recommended() -> None:
    """Good and rejected claims have the same weights: nothing is left, or nothing is better."""
    useless = [
        judged("fn", f"s{i}", ["none", "fully"] if i % 2 else ["fully", "none"])
        for i in range(100)
    ]
    report = rules_of(useless)
    assert report.settings["guarantee"] is report.settings["recommended"] is None
    assert "nothing would be left" in report.sentence
    assert "More labels would let no more claims stay" in report.notes[0]
    with pytest.raises(InvalidValueError, match="nothing would be left"):
        recommended(report)
    report = rules_of(useless, max_unsupported=0.7)
    assert report.settings["guarantee"] is not None
    assert report.settings["recommended"] is None
    assert "is certified but not recommended" in report.sentence


def test_what_more_labels_would_bring() -> None:
    few = rules_of(good_judge(20))
    assert "nothing would be left" in few.sentence
    [note] = [note for note in few.notes if "times as many labels" in note]
    assert note.startswith("At the same shares, 2 times as many labels would let 100 %")


FORMS: Final[dict[str, Any]] = {
    "levels in order": ["fully", "Minor", "fully"],
    "weights": [1, 0.3, 1.0],
    "an array": np.array([1.0, 0.3, 1.0]),
    "as csv has them": "fully, minor,fully",
    "objects as the page writes them": [
        {"claim": "Claim 1.", "verdict": "minor"},
        {"claim": "Claim 2.", "verdict": None},
        {"claim": "Claim 0.", "verdict": "fully"},
    ],
    "objects of the bundled samples": [
        {"claim": f"Claim {number}.", "level": level, "note": "stated"}
        for number, level in enumerate(["fully", "minor", None])
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_labels_of_every_form(form: str) -> None:
    labels = FORMS[form]
    results = [judged("fm-", f"s{i}", labels) for i in range(40)]
    wanted = {"claim_threshold": pytest.approx(0.95), "whole": 1.0}
    for human, source in (
        *([] if form == "an array" else [("labels", results)]),
        ({f"s{i}": labels for i in range(40)}, results),
        ([labels] * 40, results),
    ):
        report = rules_of(source, human)
        assert "100 % of the answers hold a claim" in " ".join(report.notes)
        assert (
            report.settings["recommended"]["claim_threshold"]
            == wanted["claim_threshold"]
        )


def test_labels_in_files(tmp_path: Path) -> None:
    results = [judged("fm-", f"s{i}") for i in range(40)]
    claims = FORMS["objects as the page writes them"]
    page = tmp_path / "labels.jsonl"
    write(
        page,
        *({"id": f"s{i}", "claims": claims, "temperature": 0.5} for i in range(40)),
    )
    table = tmp_path / "labels.csv"
    rows = "".join(f's{i},"fully,minor,fully"\n' for i in range(40))
    table.write_text(f"id,levels\n{rows}", encoding="utf-8")
    of_page = rules_of(results, str(page))
    of_table = rules_of(results, f"{table}::levels")
    assert of_page.records("rules") == of_table.records("rules")
    assert of_page.settings["guarantee"]["n"] == 40


def test_answers_with_a_missing_label_are_left_out_and_counted() -> None:
    results = [
        *good_judge(),
        judged("fn", "short", ["fully"]),
        judged("ff", "other", [{"claim": "Claim 0.", "verdict": "fully"}]),
        judged("f-", "silent", [{"claim": "Claim 0.", "verdict": "fully"}]),
        judged("f", "none"),
    ]
    report = rules_of(results)
    assert report.settings["guarantee"]["n"] == 60
    assert "Left out: 4 answers without a label for each sentence." in report.notes
    with pytest.raises(InvalidValueError, match="no answer has a label for each"):
        rules_of(results[-4:])
    with pytest.raises(InvalidValueError, match=r"'bad', labels: .*'great'"):
        rules_of([*results, judged("f", "bad", ["great"])])
    with pytest.raises(InvalidValueError, match=r"'bad', labels: a label .*got 4"):
        rules_of([*results, judged("f", "bad", [4])])
    with pytest.raises(InvalidValueError, match="no sample has 'grades'"):
        rules_of(results, "grades")


def test_failed_answers_are_left_out_and_silent_ones_are_served() -> None:
    failed = {"unscored": Unscored(reason=Reason.TIMEOUT, detail="no answer")}
    silent = {"unscored": Unscored(reason=Reason.NO_CLAIMS, detail="polite")}
    results = [
        *good_judge(),
        judged("", "failed", ["none", "none"], **failed),
        judged("", "by text", [{"claim": "It rains.", "level": "none"}], **failed),
        judged("", "unlabelled", **failed),
        judged("--", "polite", ["fully", 1], **silent),
        judged("--", "rude", [1.0, "none"], **silent),
    ]
    report = rules_of(results)
    certificate = report.settings["guarantee"]
    assert (certificate["n"], certificate["served"]) == (62, 62)
    assert certificate["risk"] == pytest.approx(1 / 62)
    assert certificate["empty"] == 0.0
    assert [note for note in report.notes if note.startswith("Left out")] == [
        "Left out: 3 answers that could not be judged; nothing of these is served."
    ]


def test_groups_count_once_each() -> None:
    results = [
        judged("fn", f"s{i}", ["fully", "none"], metadata={"document": i // 3})
        for i in range(240)
    ]
    report = rules_of(results, group="document")
    assert report.settings["guarantee"]["groups"] == 80
    assert "in the mean over groups (95 % confidence)" in report.sentence
    again = [judged("fn", "same", ["fully", "none"]) for _ in range(60)]
    assert rules_of(again).settings["guarantee"] is None  # one sample, judged 60 times


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"max_false_pass": 0.1},
            "max_false_pass=0.1 is not used with max_unsupported",
        ),
        ({"temperatures": [0.5]}, "temperatures"),
        ({"human_threshold": 0.5}, "human_threshold"),
        ({"objective": "mae"}, "objective"),
        ({"by": "domain"}, "by='domain'"),
        ({"per": "answer"}, "per='answer'"),
        ({"max_unsupported": 1.5}, "max_unsupported must be"),
        ({"rejected_below": "great"}, "rejected_below"),
        ({"rejected_below": 0.0}, "rejected_below 0.0 rejects no claim"),
        ({"rejected_below": "none"}, "rejected_below none rejects no claim"),
        ({"of": "some"}, "of must be"),
        (
            {"max_unsupported": None, "of": "served"},
            "of='served' needs max_unsupported",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(more: Any, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        rules_of(good_judge(), **more)


def test_labels_are_needed() -> None:
    with pytest.raises(InvalidValueError, match="needs human ratings"):
        rules_of(good_judge(), None)


def test_claims_in_the_words_of_the_judge_cannot_be_cut() -> None:
    results = [
        judged("f", f"s{i}", ["fully"], judged_by={"claims": "llm"}) for i in range(9)
    ]
    with pytest.raises(
        InvalidValueError, match="nothing can be cut; judge with claims='split'"
    ):
        rules_of(results)


def test_claims_that_stand_in_no_response_cannot_be_cut() -> None:
    """Of completeness they are those of the reference."""
    results = [judged("f", f"s{i}", ["fully"]) for i in range(9)]
    results = [
        Result(result.assessment.model_copy(update={"criterion": "completeness"}))
        for result in results
    ]
    with pytest.raises(InvalidValueError, match="do not stand in the responses"):
        rules_of(results)


def test_labels_that_cannot_be_read_name_their_form() -> None:
    results = good_judge()
    for label in (1, [{"claim": "Claim 0.", "label": "none"}], ["great"]):
        with pytest.raises(InvalidValueError, match=r"'s0', .*labels are a list of"):
            rules_of(results, {"s0": label})
    with pytest.raises(InvalidValueError, match="1 lists of labels for 60 samples"):
        rules_of(results, [["fully"]])


def test_a_sentence_that_stands_twice_is_labelled_by_order() -> None:
    def labels(*verdicts: str | None) -> list[dict[str, Any]]:
        return [{"claim": "Claim 0.", "verdict": verdict} for verdict in verdicts]

    def twice(letters: str) -> list[Result]:
        claims = tuple(
            ClaimVerdict(claim="Claim 0.", verdict=verdict)
            for verdict in [Verdict.FULLY, Verdict.NONE][: len(letters)]
        )
        return [
            Result(each.assessment.model_copy(update={"claims": claims}))
            for each in (judged(letters, f"s{i}") for i in range(40))
        ]

    human = {f"s{i}": labels("fully", "none") for i in range(40)}
    [row] = [
        row
        for row in rules_of(twice("fn"), human).records("rules")
        if row["recommended"]
    ]
    assert (row["good_kept"], row["risk"]) == (1.0, 0.0)
    with pytest.raises(InvalidValueError, match=r"'Claim 0\.' has different labels"):
        rules_of(twice("f"), human)
    same = {f"s{i}": labels("none", "none") for i in range(40)}
    assert "100 % of the answers hold" in " ".join(rules_of(twice("f"), same).notes)


def test_a_missing_label_is_not_taken_from_elsewhere(tmp_path: Path) -> None:
    results = [
        *good_judge(),
        judged("f", "null", [None]),
        judged("f", "other field", metadata={"claims": ["fully"]}),
    ]
    report = rules_of(results)
    assert report.settings["guarantee"]["n"] == 60
    assert "Left out: 2 answers without a label for each sentence." in report.notes
    with pytest.raises(InvalidValueError, match="labels of one rater, got a, b"):
        rules_of(results, "a,b")
    page = tmp_path / "labels.jsonl"
    claims = FORMS["objects as the page writes them"]
    write(page, *({"id": f"s{i}", "human": 0.5, "claims": claims} for i in range(40)))
    of_page = rules_of([judged("fm-", f"s{i}") for i in range(40)], str(page))
    assert of_page.settings["guarantee"]["n"] == 40


def test_judgements_of_different_judges_are_refused() -> None:
    results = [
        judged(
            "fn", f"s{i}", ["fully", "none"], judged_by={"address": f"http://{i % 2}"}
        )
        for i in range(60)
    ]
    with pytest.raises(InvalidValueError, match="differ in their judge"):
        rules_of(results)


def test_lines_that_were_left_out_are_noted(tcva: Run) -> None:  # noqa: F811  # the fixture
    lines = [json.loads(each.to_json()) for each in good_judge()]
    write("judged.jsonl", *lines, {"criterion": "faithfulness"})
    options = ("--human", "labels", "--max-unsupported", 0.1, "--skip-bad")
    assert "1 of judged.jsonl" in tcva("calibrate", "judged.jsonl", *options).text


@pytest.mark.parametrize("setting", ["threshold", "claim_threshold", "max_removed"])
def test_settings_that_are_chosen_are_not_given(tcva: Run, setting: str) -> None:  # noqa: F811  # the fixture
    write("judged.jsonl", *(json.loads(each.to_json()) for each in good_judge()))
    options = ("--human", "labels", "--max-unsupported", 0.1, "--set")
    done = tcva("calibrate", "judged.jsonl", *options, f"{setting}=0.5", code=None)
    assert done.code not in (0, 1)
    assert f"--set {setting} is not used with a limit; leave it out" in done.text
