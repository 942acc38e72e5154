"""Everything that becomes a table of scores: judgements, imported scores, ratings, groups, systems."""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # it comes without types
import pytest

from tcva_adapters import CCRS, TCVA, Assessment, CCRSResult, Result, Sample, aggregate
from tcva_adapters.compare import (
    ScoreTable,
    comparison,
    read_scores,
    read_systems,
    validate,
)
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    UnreadableInputError,
)
from tcva_adapters.report.evaluating import evaluation
from tcva_adapters.results.scoring import ScoringConfig
from tests.support.results import read_assessments

OPENS = "The office opens at nine."
SAMPLES = [
    Sample(
        id=f"s{i}",
        input="When?",
        response=OPENS + more,
        contexts=(OPENS,),
        metadata=about,
    )
    for i, more in enumerate(("", " It is blue.") * 3)
    for about in [
        {"human": i % 3 / 2, "ben": str(i % 2), "document": i // 2, "bot": "AB"[i % 2]}
    ]
]


def written(path: Path, results: Sequence[Result | CCRSResult]) -> Path:
    path.write_text(
        "".join(f"{each.to_json()}\n" for each in results), encoding="utf-8"
    )
    return path


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return TCVA("faithfulness", judge="lexical").evaluate_many(SAMPLES)


@pytest.fixture
def judged(tmp_path: Path, results: list[Result]) -> Path:
    return written(tmp_path / "judged.jsonl", results)


def test_judgements_with_ratings_and_groups(
    judged: Path, results: list[Result]
) -> None:
    table = read_scores(judged, human="human,ben", group="document")
    assert table.samples == tuple(f"s{i}" for i in range(6))
    assert (table.methods, table.raters) == (("faithfulness",), ("human", "ben"))
    assert table.scores[:, 0].tolist() == [result.score for result in results]
    assert table.rating.tolist() == [0.0, 0.75, 0.5, 0.5, 0.25, 1.0]
    assert table.groups == (0, 0, 1, 1, 2, 2)
    assert (table.judged.criterion, table.judged.judge) == (
        "faithfulness",
        "lexical/6",
    )
    assert table.at(0.2).tolist() == [result.at(0.2).score for result in results]
    same = read_scores(results, scoring=ScoringConfig(temperature=0.2, threshold=0.7))
    assert np.array_equal(same.scores[:, 0], table.at(0.2))
    assert same.threshold("faithfulness") == 0.7


def test_several_files_stand_side_by_side(judged: Path, tmp_path: Path) -> None:
    rated = CCRS(("qr", "ir"), judge="lexical").evaluate_many(SAMPLES[:4])
    table = read_scores(
        [judged, written(tmp_path / "rated.jsonl", rated)], human="human"
    )
    assert table.methods == ("faithfulness", "qr", "ir")
    assert table.notes == ("2 samples came without a row of qr, ir",)
    assert np.isnan(table.column("qr")).tolist() == [False] * 4 + [True] * 2
    assert table.reason("s0", "ir").startswith("missing_field")
    strict = read_scores({"strict": judged, "again": judged})
    assert strict.methods == ("strict", "again")
    with pytest.raises(InvalidValueError, match="NAME=PATH"):
        read_scores([judged, judged])


def test_repeated_ids_and_skipped_lines(judged: Path, results: list[Result]) -> None:
    line = results[0].to_json()
    judged.write_text(f"{line}\nnonsense\n{line}\n", encoding="utf-8")
    with pytest.raises(UnreadableInputError, match="line 2"):
        read_scores(judged)
    table = read_scores(judged, skip_bad=True)
    assert (table.samples, table.skipped) == (("s0", "s0#2"), 1)
    assert [note[:15] for note in table.notes] == ["skipped line 2 ", "judged repeats "]


def test_a_file_of_labels(judged: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,human\ns1,pass\ns2,\nelse,0\n", encoding="utf-8")
    table = read_scores(judged, human=labels)
    assert np.isfinite(table.rating).tolist() == [i == 1 for i in range(6)]
    said = ["1 of 2 labels match no sample.", "5 of 6 samples came without a label."]
    assert [note.partition(": ")[2] for note in table.notes] == said
    labels.write_text("id,anna,ben\ns1,1,5\ns2,3,\n", encoding="utf-8")
    table = read_scores(judged, human=f"{labels}::anna,ben", human_scale=(1, 5))
    assert (table.raters, table.rating[1:3].tolist()) == (("anna", "ben"), [0.5, 0.5])
    with pytest.raises(InvalidValueError, match="between 2 and 5, got 1;"):
        read_scores(judged, human=f"{labels}::anna", human_scale=(2, 5))


def test_labels_of_claims_make_a_rating(judged: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    claims = '[{"claim": "a", "verdict": "fully"}, {"claim": "b", "verdict": "none"}]'
    strict = ScoringConfig(temperature=0.1)
    results = [Result(each, strict) for each in read_assessments(judged)]
    for line, source, scoring, at in (
        ("", judged, None, 0.5),
        ("", judged, strict, 0.1),
        ("", results, None, 0.1),  # that of the judgements
        (', "temperature": 0.9', results, None, 0.9),
    ):
        text = f'{{"id": "s1", "claims": {claims}{line}}}\n{{"id": "s2", "human": 4}}\n'
        labels.write_text(text, encoding="utf-8")
        table = read_scores(source, human=labels, human_scale=(1, 5), scoring=scoring)
        # What claims make lies on the scale of scores, whatever the scale of the ratings.
        assert table.rating[1:3].tolist() == [aggregate(["fully", "none"], at), 0.75]
        assert table.notes[0].endswith(
            f"1 rating computed from labels of claims at T={at}."
        )
        assert validate(table).records("agreement")[0]["n"] == 2
    # Sentences with the label null claim nothing, so are no part of the rating.
    greeting = '{"claim": "Hello!", "verdict": null}'
    labels.write_text(
        f'{{"id": "s1", "claims": {claims[:-1]}, {greeting}]}}\n'
        f'{{"id": "s2", "claims": [{greeting}]}}\n',
        encoding="utf-8",
    )
    table = read_scores(judged, human=labels)
    rating = aggregate(["fully", "none"], 0.5)
    assert table.rating[1:3].tolist() == pytest.approx([rating, np.nan], nan_ok=True)
    labels.write_text(
        '{"id": "s1", "claims": [{"verdict": "so-so"}]}', encoding="utf-8"
    )
    with pytest.raises(InvalidValueError, match=r"'s1'.*so-so"):
        read_scores(judged, human=labels)


@pytest.mark.parametrize(("human", "said"), [
    ("stars", "no sample has 'stars' in its metadata; its fields are 'ben'"),
    ("bot", "'A' is not a rating"),
    ({"else": 1}, "none of its 1 labels has the id of a sample"),
    ([0.5, 1.0], "2 human ratings for 6 samples"),
])  # fmt: skip
def test_ratings_that_are_none(judged: Path, human: object, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        read_scores(judged, human=human)  # type: ignore[arg-type]  # any of its kinds


def test_a_sample_with_a_score_instead_of_a_refusal_is_told_from_an_unscored_one() -> (
    None
):
    scorer = TCVA("faithfulness", judge="lexical", on_unscored=0.0)
    refusal = Sample(response="I cannot answer that.", contexts=(OPENS,))
    report = evaluation(read_scores(scorer.evaluate_many([*SAMPLES[:1], refusal])))
    (row,) = report.records("unscored")
    assert (report.records("methods")[0]["scored"], row["samples"]) == (2, 1)
    assert row["example"].endswith(", scored as 0 by on_unscored")


@pytest.mark.parametrize(
    ("certificate", "fault"),
    [
        ({}, "date is missing"),
        ({"date": "2026-01-01"}, "setting is missing"),
        ({"max_unsupported": 0.1, "date": "d", "setting": {}}, "n is missing"),
        ("none", "not a mapping"),
    ],
)
def test_an_incomplete_certificate_is_refused(
    results: list[Result], certificate: object, fault: str
) -> None:
    with pytest.raises(UnreadableInputError, match=fault):
        Result.from_dict(results[0].to_dict() | {"certified": certificate})


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet", "scores.jsonl"])
def test_a_folder_stands_for_its_table_of_scores(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"id": ["s0", "s1"], "m": [0.5, 1.0]})
    folder = tmp_path / "theirs"
    folder.mkdir()
    write = {
        "csv": partial(frame.to_csv, index=False),
        "parquet": frame.to_parquet,
        "jsonl": partial(frame.to_json, orient="records", lines=True),
    }[name.partition(".")[2]]
    write(folder / name)
    table = read_scores([folder, f"ours={folder}"])
    assert table.methods == ("m", "ours")
    assert table.scores.tolist() == [[0.5, 0.5], [1.0, 1.0]]


def test_samples_with_one_id_are_numbered_and_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("answer,m\nYes.,0.5\nNo.,1\n", encoding="utf-8")
    twins = [Sample(id="a", response="Yes."), Sample(id="a", response="No.")]
    table = read_scores(path, samples=twins)
    assert (table.samples, table.scores[:, 0].tolist()) == (("a", "a#2"), [0.5, 1.0])
    assert table.notes[0].startswith("several rows have the same id: 'a'")


def test_settings_name_the_kind_and_judge_of_every_method(
    judged: Path, tmp_path: Path
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("id,m\ns0,0.5\n", encoding="utf-8")
    methods = comparison(read_scores([judged, path])).settings["methods"]
    assert methods["m"] == {"kind": "scores"}
    assert methods["faithfulness"]["judge"] == "lexical/6"
    assert methods["faithfulness"]["scoring"]["temperature"] == 0.5


def test_what_cannot_be_looked_at_together(judged: Path, results: list[Result]) -> None:
    with pytest.raises(InvalidSampleError, match="'s0'"):
        read_scores(judged, group="chapter")
    other = TCVA("context_recall", judge="lexical").evaluate_many(SAMPLES[:1])
    with pytest.raises(InvalidSampleError):
        read_scores([*results, *other], hold="counts")
    fused = TCVA("faithfulness", judge="lexical", fuse=["lexical"]).evaluate_many(
        SAMPLES[:1]
    )
    with pytest.raises(InvalidSampleError):
        read_scores([*results, *fused])
    with pytest.raises(InvalidValueError, match="'x'"):
        read_scores([results[0], "x"])
    with pytest.raises(InvalidSampleError):
        read_scores([])


@pytest.mark.parametrize("column", ["m_error", "M Error", "error", "Error"])
def test_an_error_beside_a_score_leaves_none(tmp_path: Path, column: str) -> None:
    """A 0 that stands for a failure is no 0, and a sample without a row is no pass."""
    path = tmp_path / "scores.csv"
    path.write_text(f"id,m,{column}\ns1,0,it hung up\ns2,0.5,\n", encoding="utf-8")
    table = read_scores(f"theirs={path}", samples=SAMPLES)
    assert (table.methods, len(table)) == (("theirs",), 6)
    assert np.isfinite(table.scores[:, 0]).tolist() == [i == 2 for i in range(6)]
    assert (table.reason("s1", "theirs"), table.reason("s3", "theirs")) == (
        "it hung up",
        "no row",
    )
    assert "m on 2 of 6 samples" in table.notes[0]


def test_systems(judged: Path, tmp_path: Path) -> None:
    tables = read_systems(
        [f"a={judged}", f"b={judged}"], temperatures=(0.5,), group="document"
    )
    (table,) = tables.values()
    assert ([*tables], table.methods) == (["faithfulness T=0.5"], ("a", "b"))
    assert table.groups == (0, 0, 1, 1, 2, 2)
    (split,) = read_systems(judged, temperatures=(0.5,), system="bot").values()
    assert (split.methods, split.samples) == (
        ("A", "B"),
        ("s0", "s2", "s4", "s1", "s3", "s5"),
    )
    path = tmp_path / "scores.csv"
    rows = "q1,A,f,0.5\nq1,B,f,\nq2,A,f,1\nq2,B,g,1\n"
    path.write_text(f"query,system,metric,score\n{rows}", encoding="utf-8")
    tables = read_systems(path)
    assert (tables["f"].samples, tables["f"].methods) == (("q1", "q2"), ("A", "B"))
    assert tables["f"].scores[:, 0].tolist() == [0.5, 1.0]
    assert math.isnan(tables["f"].scores[0, 1])
    with pytest.raises(InvalidValueError, match=r"'a'.*'s0'"):
        read_systems([f"a={judged}", f"a={judged}"])


NAN = float("nan")
RESULTS = [
    Result(Assessment.from_verdicts(v)) for v in (["fully"], ["none"], ["minor"])
]


def table() -> ScoreTable:
    return ScoreTable(
        ("a", "b", "c"),
        ("tcva", "native"),
        np.array([[0.9, NAN], [0.1, 0.5], [0.3, 1.0]]),
        np.array([[1.0, NAN], [0.0, 0.5], [NAN, NAN]]),
        groups=("x", "x", "y"),
        counts=np.array(
            [[[2, 0, 0, 0, 1]], [[0, 0, 0, 0, 0]], [[1, 1, 1, 1, 0]]], dtype=float
        ),
        thresholds={"native": 0.8},
        reasons={("a", "native"): "timeout"},
        metadata=({"n": 1}, {"n": 2}, {"n": 3}),
        results={"tcva": RESULTS},
        notes=("one line is left out",),
    )


def test_a_rating_is_the_mean_of_those_who_rated() -> None:
    np.testing.assert_array_equal(table().rating, [1.0, 0.25, NAN])
    assert table().rated.samples == ("a", "b")
    assert ScoreTable(("a",), (), np.empty((1, 0))).human.shape == (1, 0)


def test_rows_and_methods_are_selected_with_all_that_belongs_to_them() -> None:
    found = table().select([2, 0], ["native"])
    assert (found.samples, found.methods, found.groups) == (
        ("c", "a"),
        ("native",),
        ("y", "x"),
    )
    np.testing.assert_array_equal(found.scores, [[1.0], [NAN]])
    assert [m["n"] for m in found.metadata] == [3, 1]
    assert found.results["tcva"] == (RESULTS[2], RESULTS[0])
    assert (found.reason("a", "native"), found.reason("c", "native")) == (
        "timeout",
        "no result",
    )
    assert (found.threshold("native"), found.threshold("tcva")) == (0.8, 0.5)
    assert table().select([-1, 0]).samples == ("c", "a")
    assert len(table().select([])) == 0
    assert table().common().samples == ("b", "c")
    assert table().common(["tcva"]).samples == ("a", "b", "c")


def test_a_row_that_is_missing_has_no_values_at_all() -> None:
    aligned = table().aligned(np.array([2, -1]), ("c", "z"))
    whole = table()
    assert aligned.counts is not None
    assert whole.counts is not None
    np.testing.assert_array_equal(aligned.counts[1], np.zeros((1, 5)))
    np.testing.assert_array_equal(aligned.counts[0], whole.counts[2])
    assert np.isnan(aligned.scores[1]).all()
    assert (aligned.groups[1], aligned.metadata[1]) == (None, {})


def test_scores_at_another_temperature_come_from_the_counts() -> None:
    # Two fully and one none, by the function for one sample; no verdicts, no score.
    verdicts = ["fully", "fully", "none"]
    for temperature in (0.1, 0.7):
        scores = table().at(temperature)
        assert scores[0] == pytest.approx(aggregate(verdicts, temperature), abs=1e-12)
        assert np.isnan(scores[1])
    linear = table().at(ScoringConfig(temperature=0.7, scheme="linear"))
    assert linear[0] == pytest.approx(
        aggregate(verdicts, 0.7, scheme="linear"), abs=1e-12
    )
    more = table().with_method("tcva T=0.7", table().at(0.7), 0.6)
    assert (more.methods[-1], more.threshold("tcva T=0.7")) == ("tcva T=0.7", 0.6)


def test_tables_are_joined_by_the_ids_of_samples() -> None:
    new = np.array([[0.7], [0.2], [0.1]])
    other = ScoreTable(("c", "a", "z"), ("ragas",), new, reasons={("z", "ragas"): "x"})
    found = table().join(other)
    np.testing.assert_array_equal(found.column("ragas"), [0.2, NAN, 0.7])
    assert found.groups == table().groups
    assert ("z", "ragas") not in found.reasons
    shown = [note.partition(" of ")[0] for note in found.notes[1:]]
    assert shown == ["1 sample came without a row", "1 sample"]
    rated = ScoreTable(("a", "c"), (), np.empty((2, 0)), np.array([0.5, 0.25]))
    bare = ScoreTable(("c", "a"), ("m",), np.zeros((2, 1))).join(rated)
    np.testing.assert_array_equal(bare.rating, [0.25, 0.5])
    with pytest.raises(InvalidValueError, match="'a'"):
        table().join(ScoreTable(("q",), ("m",), np.zeros((1, 1))))


@pytest.mark.parametrize(("change", "message"), [
    ({"samples": ("a", "a", "b")}, "the sample 'a' occurs twice"),
    ({"scores": np.zeros((3, 1))}, r"got \(3, 1\)"),
    ({"groups": ("x",)}, "1 groups for 3 samples"),
    ({"results": {"tcva": RESULTS[:2]}}, "2 tcva for 3 samples"),
    ({"counts": np.zeros((2, 1, 5))}, "2 level counts for 3 samples"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        ScoreTable(**{**vars(table()), **change})
    with pytest.raises(InvalidValueError, match=r"'other'.*tcva, native"):
        table().column("other")
    with pytest.raises(InvalidValueError):
        ScoreTable(("a",), ("m",), np.zeros((1, 1))).at(0.5)
