"""The figures in a page make the scores that the library makes; what a page is made of, and what it leaves out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters import (
    CCRS,
    TCVA,
    Assessment,
    ClaimVerdict,
    Result,
    Sample,
    aggregate_counts,
    fuse,
)
from tcva_adapters.compare import Run, calibrate, comparison, read_scores
from tcva_adapters.compare.diagnosis.joined import diagnosis
from tcva_adapters.compare.diagnosis.report import diagnose
from tcva_adapters.compare.runs.folder import save
from tcva_adapters.compare.scores.passages import passage_tables
from tcva_adapters.core.temperature import Bounds
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.report import write
from tcva_adapters.report.page_data import ABSENT, UNSCORED, Content, texts_of
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.writer import write_results
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.tables import Report
from tcva_adapters.text.quotes import passages_of
from tests.report.blocks import blocks_of
from tests.support.reports import criteria_judged, criteria_samples, gate

SETTINGS: list[dict[str, Any]] = [
    {},
    {
        "scheme": (1.0, 0.8, 0.5, 0.5, 0.1),
        "penalty": "off",
        "eps": 0.05,
        "floor": "always",
    },
    {
        "fuse_weights": (2.0, 1.0),
        "on_unscored": 0.25,
        "penalty": "absolute",
        "threshold": 0.7,
    },
    {"bounds": Bounds(-4.0, 4.0), "scheme": "linear", "penalty": "ramped"},
]
OPENS = "The office opens at nine. Parking is free for visitors."
ANSWERS = {
    "The office opens at nine.": {"human": 1.0, "part": "even"},
    "Parking costs five euros.": {"human": 0.0, "part": "odd"},
    "The office opens at nine. Parking costs five euros.": {
        "human": 0.5,
        "part": "even",
    },
    "I cannot say.": {"human": 0.25, "part": "odd"},
}
SAMPLES = [
    Sample(
        id=f"q{i}",
        input=f"When, number {i}?",
        response=said,
        contexts=(OPENS,),
        metadata=about,
    )
    for i, (said, about) in enumerate(ANSWERS.items())
]
Shown = tuple[dict[str, Any], list[dict[str, Any]]]


def page(source: Any, folder: Path, **reading: Any) -> Shown:
    """Figures and details of a page that is written for it."""
    write(source, folder / "page.html", overwrite=True, **reading)
    return blocks_of(folder / "page.html")


def judged(**settings: Any) -> list[Result]:
    return TCVA(judge="lexical", **settings).evaluate_many(SAMPLES, progress=False)


def assessments(seed: int = 0) -> list[Assessment]:
    """Of two judges, with levels and with probabilities, some unscored."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(60):
        words = rng.choice(LEVELS, rng.integers(1, 6)).tolist()
        one = Assessment.from_verdicts(words, sample_id=f"q{i}")
        if i % 7 == 1:
            soft = tuple(rng.dirichlet(np.ones(5)).tolist())
            claim = ClaimVerdict(claim="soft", verdict=words[0], probabilities=soft)
            one = one.model_copy(update={"claims": (*one.claims, claim)})
        other = Assessment.from_verdicts(words[:1] if i % 5 else [], judge="second")
        change: dict[str, Any] = {"members": (other,)}
        if i % 11 == 3:
            reason = Reason.REFUSAL if i % 2 else Reason.TIMEOUT
            change = {"claims": (), "unscored": Unscored(reason=reason, detail="why")}
        found.append(one.model_copy(update=change))
    return found


def score_in(figures: dict[str, Any], place: int, temperature: float) -> float | None:
    """A sample's score from what stands in the page, by the formulas of the library."""
    (run,) = figures["runs"]
    setting, row = run["settings"], run["row"][place]
    if row < 0:
        given: dict[int, float | None] = {
            sample: score for sample, _, score in run["unscored"]
        }
        return None if row == ABSENT else given[place]
    options = {name: setting[name] for name in ("penalty", "eps", "floor")}
    counts = [[0.0] * 5 if each is None else each for each in run["rows"][row]]
    bounds = Bounds(**setting["bounds"])
    found = aggregate_counts(
        counts, [temperature], scheme=setting["weights"], bounds=bounds, **options
    )
    return float(fuse(found.T, weights=setting["fuse_weights"]).scores[0])


@pytest.mark.parametrize("settings", SETTINGS)
def test_scores_can_be_made_of_the_page(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    results = [Result(each, ScoringConfig(**settings)) for each in assessments()]
    figures, details = page(results, tmp_path)
    assert figures["samples"]["ids"] == [f"q{i}" for i in range(60)]
    for place, result in enumerate(results):
        for temperature in (0.1, 0.35, 0.5, 0.77, 1.0):
            assert score_in(figures, place, temperature) == result.at(temperature).score
    (run,) = figures["runs"]
    unscored = [result for result in results if result.unscored is not None]
    assert run["row"].count(UNSCORED) == len(run["unscored"]) == len(unscored)
    assert run["settings"]["threshold"] == results[0].scoring.threshold
    assert run["judges"][1:] == ["faithfulness by second"]
    for line, result in zip(details, results, strict=True):
        shown = line["runs"][run["name"]]
        assert [claim["claim"] for claim in shown["claims"]] == [
            c.claim for c in result.claims
        ]
        assert ("interval" in shown) is (result.interval is not None)


def test_two_runs_and_what_changed(tmp_path: Path) -> None:
    write_results(tmp_path / "before.jsonl", assessments())
    write_results(tmp_path / "after.jsonl", assessments(seed=1)[5:])
    files = [tmp_path / "before.jsonl", tmp_path / "after.jsonl"]
    figures, details = page(files, tmp_path)
    before, after = (run["name"] for run in figures["runs"])
    assert figures["runs"][1]["row"][:5] == [ABSENT] * 5
    assert ABSENT not in figures["runs"][0]["row"]
    assert (list(details[0]["runs"]), list(details[5]["runs"])) == (
        [before],
        [before, after],
    )
    assert figures["title"] == "before.jsonl, after.jsonl"
    assert [report["view"] for report in figures["reports"]] == ["overview", "changes"]


def test_groups_are_fields_with_a_few_values(tmp_path: Path) -> None:
    given = [
        each.model_copy(
            update={"metadata": {"part": i % 3, "same": "x", "own": i, "human": i / 60}}
        )
        for i, each in enumerate(assessments())
    ]
    samples = page(given, tmp_path, human="human")[0]["samples"]
    assert list(samples["groups"]) == ["part"]
    assert (samples["groups"]["part"][:4], samples["human_scale"]) == (
        ["0", "1", "2", "0"],
        [0, 1],
    )


def test_files_lists_and_tables_give_the_same_page(tmp_path: Path) -> None:
    results = judged(temperature=0.3, threshold=0.8)
    file = tmp_path / "judged.jsonl"
    write_results(file, results)
    table = read_scores(results)
    sources = (results, file, [str(file)], table, [table, comparison(table)])
    found = [page(each, tmp_path, title="one", samples=SAMPLES) for each in sources]
    assert all(each == found[0] for each in found)
    figures, details = found[0]
    setting = figures["runs"][0]["settings"]
    assert (setting["temperature"], setting["threshold"]) == (0.3, 0.8)
    assert figures["reports"][0]["sentence"] == comparison(table).sentence
    assert details[0]["contexts"] == [OPENS]
    figures, details = page(results, tmp_path, samples=SAMPLES[:3])
    assert "response" not in details[3]
    with pytest.raises(InvalidValueError, match="4 samples"):
        page(results, tmp_path, samples=[Sample(id="else", response="x")])


def test_a_comparison_and_its_folder(tmp_path: Path) -> None:
    scores = tmp_path / "mine.csv"
    scores.write_text("id,mine\nq0,0.5\nq1,\nq2,1\n", encoding="utf-8")
    how: Any = {"frameworks": "none", "imported": [str(scores)], "human": "human"}
    run = Run(SAMPLES, {"judge": "lexical"}, **how)
    table = run.table()
    figures, details = page([table, Report("It is so.")], tmp_path)
    (shown,) = figures["runs"]
    assert (shown["name"], shown["settings"]["temperature"]) == (
        "faithfulness by lexical/6",
        0.5,
    )
    assert [method["name"] for method in figures["methods"]] == ["mine"]
    assert figures["methods"][0]["scores"] == [0.5, None, 1, None]
    assert figures["samples"]["human"] == [1, 0, 0.5, 0.25]
    assert figures["reports"][0]["sentence"] == "It is so."
    assert details[0]["response"] == SAMPLES[0].response
    some, texts = page(table.select([3, 1]), tmp_path)
    assert (some["samples"]["ids"], texts[0]["response"]) == (
        ["q3", "q1"],
        SAMPLES[3].response,
    )
    save(tmp_path / "side", table, comparison(table))
    saved, texts = page(tmp_path / "side", tmp_path, human="human")
    assert saved["runs"][0]["rows"] == shown["rows"]
    assert saved["methods"][0]["scores"] == figures["methods"][0]["scores"]
    assert saved["samples"] == figures["samples"]
    assert texts[0]["response"] == SAMPLES[0].response


def test_ccrs_and_reports_do_not_follow_the_temperature(tmp_path: Path) -> None:
    rated = CCRS(["cc", "qr"], judge="lexical").evaluate_many(SAMPLES, progress=False)
    figures, details = page(rated, tmp_path)
    assert figures["runs"] == []
    for method, name in zip(figures["methods"], ("cc", "qr"), strict=True):
        assert method["scores"] == [each.scores[name] for each in rated]
        assert details[0]["methods"][method["name"]]["reason"] == rated[0].reasons[name]
    figures, details = page(Report("Alone."), tmp_path)
    assert (figures["reports"][0]["sentence"], figures["samples"]["ids"]) == (
        "Alone.",
        [],
    )
    assert details == []
    assert write(Report("Alone."), tmp_path / "page.html").contents == "report"


def test_a_gate_has_its_limits_and_the_threshold_that_keeps_them(
    tmp_path: Path,
) -> None:
    pytest.importorskip("scipy", reason="the extra stats")
    counts, ratings = [[9, 0, 0, 0, 1], [10, 0, 0, 0, 0]] * 40, [0.0, 1.0] * 40
    # Halfway from the score that has to be rejected to 1.
    above = (float(aggregate_counts(counts[:1], [0.5])[0, 0]) + 1) / 2
    for limit, threshold in ((0.1, above), (0.01, None)):
        found = calibrate(counts, ratings, max_false_pass=limit)
        write(found, tmp_path / "gate.html", overwrite=True)
        (shown,) = blocks_of(tmp_path / "gate.html")[0]["reports"]
        assert shown["gate"] == {
            "threshold": threshold,
            "isRecommended": threshold is not None,
            "limits": [["at most", limit]],
        }
        records = found.records("thresholds")
        assert records[0].keys() == gate().records("thresholds")[0].keys()
        kept = [each["threshold"] for each in records if each["certified"]]
        assert kept[-1:] == [threshold] * bool(threshold)


def test_a_threshold_that_is_not_recommended_is_not_said_to_be(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the extra stats")
    # Good and rejected answers have the same scores, so the gate passes both alike.
    counts, ratings = [[9, 0, 0, 0, 1]] * 80, [0.0, *[1.0] * 7] * 10
    found = calibrate(counts, ratings, max_false_pass=0.9)
    assert "not recommended" in found.sentence
    write(found, tmp_path / "gate.html")
    (shown,) = blocks_of(tmp_path / "gate.html")[0]["reports"]
    assert shown["gate"]["threshold"] is not None
    assert not shown["gate"]["isRecommended"]


def test_two_criteria_are_no_change(tmp_path: Path) -> None:
    answers = [s.model_copy(update={"reference": OPENS}) for s in SAMPLES]
    files = {}
    for name in ("faithfulness", "correctness"):
        files[name] = TCVA(name, judge="lexical").evaluate_many(answers, progress=False)
    figures, _ = page(files, tmp_path)
    assert [run["criterion"] for run in figures["runs"]] == [*files]
    assert [run["against"] for run in figures["runs"]] == ["contexts", "reference"]
    assert "changes" not in [report["view"] for report in figures["reports"]]
    files = {"before": judged(), "after": judged(evidence="off")}
    figures, _ = page(files, tmp_path)
    assert "changes" in [report["view"] for report in figures["reports"]]


def test_several_criteria_are_diagnosed_claim_by_claim(tmp_path: Path) -> None:
    samples = [*criteria_samples()]
    results = criteria_judged()
    figures, details = page(results, tmp_path, samples=samples)
    found = diagnosis(read_scores(results)).faults
    assert len({cause for _, cause in found}) == 4
    assert figures["faults"] == [
        [
            claim.row,
            claim.of,
            claim.place,
            cause,
            ", ".join(map(str, claim.passages)) or None,
        ]
        for claim, cause in found
    ]
    (shown,) = (each for each in figures["reports"] if each["view"] == "diagnosis")
    said = diagnose(results, samples=samples)
    assert shown["sentence"] == said.sentence
    (measures,) = (each for each in shown["tables"] if each["title"] == "measures")
    assert measures["records"] == said.records("measures")
    assert {each["measure"]: each["mean"] for each in measures["records"]}[
        "context_precision"
    ] > 0
    for claim, _ in found:
        name = "faithfulness" if claim.of == "response" else "context_recall"
        assert (
            details[claim.row]["runs"][name]["claims"][claim.place]["claim"]
            == claim.claim
        )
    for row, result in enumerate(results["faithfulness"]):
        shown = details[row]["runs"]["faithfulness"]
        assert shown["passages"] == [
            [use.id, [*use.claims]] for use in result.passages()
        ]
        assert [(place, outcome) for place, *_, outcome in shown["citations"]] == [
            (part.place, part.outcome) for part in result.citations().parts
        ]
        assert "citations" not in details[row]["runs"]["correctness"]


def test_why_there_is_no_diagnosis_quotes_no_claim(tmp_path: Path) -> None:
    samples = [*criteria_samples()]
    results = {
        "faithfulness": criteria_judged()["faithfulness"],
        "correctness": TCVA("correctness", judge="lexical").evaluate_many(
            [sample.model_copy(update={"response": "Zebras!"}) for sample in samples]
        ),
    }
    figures, _ = page(results, tmp_path, samples=samples, max_details=0)
    (note,) = (note for note in figures["notes"] if "no diagnosis" in note)
    assert "tcva diagnose says why" in note
    written = (tmp_path / "page.html").read_text()
    claims = results["faithfulness"][0].claims
    assert not any(claim.claim in written for claim in claims)
    (note,) = (
        note
        for note in page(results, tmp_path, samples=samples)[0]["notes"]
        if "no diagnosis" in note
    )
    assert f"{claims[0].claim!r} for the other" in note


def test_claims_with_wrong_citations_count_as_removed(tmp_path: Path) -> None:
    samples = [*criteria_samples()]
    evaluator = TCVA(judge="lexical", require_citations=True)
    results = evaluator.evaluate_many(samples, progress=False)
    figures, details = page(results, tmp_path, samples=samples)
    removed = [len(result.supported().removed) for result in results]
    parts = [detail["runs"]["faithfulness"]["served"]["parts"] for detail in details]
    assert removed == [sum(not stays for _, _, stays, _ in shown) for shown in parts]
    (run,) = figures["runs"]
    assert f"threshold partial, {sum(removed)} of 9" in run["served"]
    # Without texts nothing is known of marks; the claims that their level removes count.
    (run,) = page(results, tmp_path)[0]["runs"]
    assert "threshold partial, 2 of 9" in run["served"]


def test_a_page_without_texts_has_none_of_claims_either(tmp_path: Path) -> None:
    samples = [*criteria_samples()]
    results = criteria_judged()
    table = read_scores(results)
    source = [table, Report("Cited.", passage_tables(table, samples))]
    page(source, tmp_path, samples=samples, max_details=0)
    assert "Insurance is free" not in (tmp_path / "page.html").read_text()
    figures, _ = page(source, tmp_path, samples=samples)
    assert "Insurance is free" in (tmp_path / "page.html").read_text()
    titles = [
        {table["title"] for table in each["tables"]} for each in figures["reports"]
    ]
    assert all("citations to check" in names for names in titles)
    assert titles[1].isdisjoint({"claims", "worst samples"})  # causes have a view


def test_results_without_ids_get_the_texts_in_their_order(tmp_path: Path) -> None:
    # The frameworks give their evaluators no ids; the rows of the suite have some.
    bare = [sample.model_copy(update={"id": None}) for sample in SAMPLES]
    results = TCVA(judge="lexical").evaluate_many(bare)
    figures, details = page(results, tmp_path, samples=SAMPLES)
    assert figures["samples"]["questions"] == [sample.input for sample in SAMPLES]
    assert [each["response"] for each in details] == [
        sample.response for sample in SAMPLES
    ]
    with pytest.raises(InvalidValueError):
        page(results, tmp_path, samples=SAMPLES[:-1])


def test_ids_that_come_again_are_numbered_alike_in_results_and_texts(
    tmp_path: Path,
) -> None:
    again = [
        Sample(id="a", response=text)
        for text in ("The sky is blue.", "The sea is green.")
    ]
    figures, details = page(
        TCVA(judge="lexical").evaluate_many(again), tmp_path, samples=again
    )
    assert figures["samples"]["ids"] == ["a", "a#2"]
    assert [each["response"] for each in details] == [
        sample.response for sample in again
    ]


def test_a_conversation_has_the_row_of_all_its_claims(tmp_path: Path) -> None:
    chats = [
        [("user", "When?"), ("tool", OPENS), ("assistant", answer), ("user", "And?"), *rest]
        for answer, rest in (
            ("The office opens at nine.", [("tool", OPENS), ("assistant", "Parking costs five euros.")]),
            ("Parking is free for visitors.", [("assistant", "You are welcome!")]),
        )
    ]  # fmt: skip
    given = [Conversation.from_messages(chat, id="a") for chat in chats]
    results = TCVA(judge="lexical").evaluate_conversations(given, progress=False)
    write_results(tmp_path / "judged.jsonl", results)
    turns = [turn for conversation in given for turn in conversation.turns]
    figures, details = page(tmp_path / "judged.jsonl", tmp_path, samples=turns)
    assert figures["samples"]["conversations"] == [["a", [0, 1]], ["a#2", [2, 3]]]
    (run,) = figures["runs"]
    for place, result in enumerate(results, start=4):
        for temperature in (0.2, 0.5, 0.9):
            assert score_in(figures, place, temperature) == result.at(temperature).score
    assert (run["row"][3], len(run["levels"])) == (UNSCORED, 4)
    assert details[3]["response"] == "You are welcome!"
    assert "history" not in details[1]  # it is what the turns before it say
    said = Sample(id="q0", input="And?", response="It opens.", history="User: When?")
    _, (first, *_) = page(judged(), tmp_path, samples=[said, *SAMPLES[1:]])
    assert first["history"] == "User: When?"


def test_sentences_that_claim_nothing_have_their_kind(tmp_path: Path) -> None:
    marked = ClaimVerdict(
        claim="Servus!", verdict=None, reason="greeting", marked_by_judge=True
    )
    one = Assessment.from_verdicts(["fully"], sample_id="a")
    _, (detail,) = page(
        [one.model_copy(update={"claims": (*one.claims, marked)})], tmp_path
    )
    assert detail["runs"]["faithfulness"]["claims"] == [
        {"claim": "claim 1", "verdict": "fully"},
        {
            "claim": "Servus!",
            "verdict": None,
            "reason": "greeting",
            "marked_by_judge": True,
        },
    ]


def of_words(n: int) -> list[Assessment]:
    """The first ten are the worst, the eleventh has no score."""
    words = [["none"] if i < 10 else [] if i == 10 else ["fully"] for i in range(n)]
    return [Assessment.from_verdicts(w, sample_id=f"q{i}") for i, w in enumerate(words)]


def test_the_worst_are_in_and_others_at_random(tmp_path: Path) -> None:
    written = write(of_words(200), tmp_path / "page.html", max_details=30)
    assert (written.samples, written.details) == (200, 30)
    assert written.contents == "report on 200 samples, 30 of them with texts"
    assert written.size == written.path.stat().st_size
    figures, details = blocks_of(tmp_path / "page.html")
    lines = figures["samples"]["line"]
    assert figures["samples"]["drawn"] is True
    assert len(figures["runs"][0]["row"]) == 200
    assert [place for place, line in enumerate(lines) if line >= 0][:11] == list(
        range(11)
    )
    assert len(details) == 30
    assert page(of_words(200), tmp_path, max_details=30)[0]["samples"]["line"] == lines
    figures, details = page(of_words(20), tmp_path, max_details=0)
    assert (details, set(figures["samples"]["line"])) == ([], {-1})
    figures, _ = page(of_words(20), tmp_path)
    assert figures["samples"]["line"] == list(range(20))
    with pytest.raises(InvalidValueError, match=r"max_details.*--max-details.*-1"):
        page(of_words(20), tmp_path, max_details=-1)


def test_all_texts_count_towards_the_limit(tmp_path: Path) -> None:
    """Long ids and questions, too: 40 samples of a megabyte or so are no page of 55 MB."""
    long = "word " * 120_000
    samples = [Sample(id=f"{i} {long}", input=long, response="Yes.") for i in range(40)]
    given = [
        Assessment.from_verdicts(["fully"], sample_id=sample.id) for sample in samples
    ]
    written = write(given, tmp_path / "page.html", samples=samples)
    assert written.size < 17_000_000
    assert 10 < written.details < 40
    names = blocks_of(tmp_path / "page.html")[0]["samples"]["ids"]
    assert len(set(names)) == 40
    assert max(map(len, names)) < 250


def test_contexts_are_prepared_once_for_all_criteria_and_views() -> None:
    samples = [*criteria_samples()]
    table = read_scores(criteria_judged(), samples=samples)
    content = Content("criteria", table, samples)
    passages_of.cache_clear()
    assert len(texts_of(content, None).lines) == len(samples)
    assert passages_of.cache_info().misses == len(
        {sample.contexts for sample in samples}
    )


def test_a_page_with_texts_is_not_replaced_by_one_without(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write(judged(), path, samples=SAMPLES)
    with pytest.raises(InvalidValueError, match=r"4 samples.*--samples"):
        write(judged(), path)
    assert "response" in blocks_of(path)[1][0]
    write(judged(), path, samples=SAMPLES[:2])
    write(judged(), path, overwrite=True)
    assert "response" not in blocks_of(path)[1][0]
    write(judged(), path)
