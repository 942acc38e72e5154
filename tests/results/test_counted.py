"""Level counts of files of assessments: they show what the assessments say, and the same is refused."""

import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tcva_adapters import Assessment, ClaimVerdict, Result
from tcva_adapters.compare import read_scores
from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.assessment import EvidenceCheck
from tcva_adapters.results.evidence import Evidence, lower_unsupported, under
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.results.summary import judged_counts
from tcva_adapters.results.writer import write_results
from tests.support.results import read_assessments

GOOD = Assessment.from_verdicts(["fully", "none"]).to_json()

shares = (
    st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5)
    .filter(lambda p: sum(p) > 0.1)
    .map(lambda p: tuple(each / sum(p) for each in p))
)
claims = st.builds(
    ClaimVerdict,
    claim=st.text(max_size=5),
    verdict=st.sampled_from(LEVELS),
    evidence_check=st.none() | st.sampled_from(EvidenceCheck),
    probabilities=st.none() | shares,
).map(lower_unsupported)


def judgement(given: list[ClaimVerdict], judge: str, **more: Any) -> Assessment:
    more |= {
        "unscored": None if given else Unscored(reason=Reason.NO_CLAIMS),
        "judge": judge,
    }
    return Assessment(claims=tuple(given), criterion="c", prompt_version="v", **more)


@st.composite
def files(draw: st.DrawFn) -> list[Assessment]:
    """Assessments of one kind: alone, with an additional judge, or by a panel."""
    fused, panel = draw(st.booleans()), draw(st.booleans())
    found = []
    for n in range(draw(st.integers(1, 6))):
        given = draw(st.lists(claims, max_size=3))
        more: dict[str, Any] = {
            "sample_id": draw(st.sampled_from([None, "a", f"s{n}"]))
        }
        more["metadata"] = draw(
            st.dictionaries(st.sampled_from("xy"), st.integers(0, 9))
        )
        if panel:
            more["panel"] = tuple(judgement(given, name) for name in ("p", "q"))
        if fused and given:
            more["members"] = (judgement(draw(st.lists(claims, max_size=3)), "second"),)
        found.append(judgement(given, "first", **more))
    return found


@given(made=files())
def test_a_file_of_any(
    tmp_path_factory: pytest.TempPathFactory, made: list[Assessment]
) -> None:
    path = tmp_path_factory.mktemp("counted") / "judged.jsonl"
    write_results(path, [Result(each) if each.sample_id else each for each in made])
    assert read_assessments(path) == made
    for view in get_args(Evidence):
        seen = judged_counts([under(each, view) for each in made])
        for source in (path, made):
            for hold in ("all", "counts"):
                scoring = ScoringConfig(evidence=view)
                table = read_scores(source, scoring=scoring, hold=hold)
                np.testing.assert_array_equal(table.counts, seen)
                assert len(table) == len(made)
    if any("x" in each.metadata for each in made):
        rated, listed = (
            read_scores(source, human="x").rating for source in (path, made)
        )
        np.testing.assert_array_equal(rated, listed)


def changed(**fields: Any) -> str:
    return json.dumps({**json.loads(GOOD), **fields})


def of_claim(**fields: Any) -> str:
    return changed(claims=[{"claim": "c", "verdict": "fully", **fields}])


UNREADABLE = [
    *(
        changed(criterion=None),
        changed(claims=3),
        changed(claims=[]),
        changed(unscored={}),
    ),
    *(
        changed(claims=[{"claim": "c", "verdict": None}]),
        changed(claims=[{"verdict": "fully"}]),
    ),
    changed(members=[json.loads(GOOD) | {"claims": []}]),
    changed(panel=[json.loads(GOOD) | {"judge": None}]),
    *(
        of_claim(verdict="Fully"),
        of_claim(evidence_check="lost"),
        of_claim(original_verdict="x"),
    ),
    *(
        of_claim(probabilities=shares)
        for shares in ([0.5, 0, 0, 0, 0], [1.5, -0.5, 0, 0, 0])
    ),
    *(
        GOOD.replace('"fully"', "NaN"),
        '{"kind": "ccrs", "answers": {}}',
        "[1]",
        GOOD[:-9],
    ),
]


def test_what_no_assessment_is_is_refused_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    for line in UNREADABLE:
        path.write_text(f"{GOOD}\n{line}\n{GOOD}\n", encoding="utf-8")
        for read in (read_assessments, read_scores):
            with pytest.raises(UnreadableInputError, match=r"judged\.jsonl.*line 2"):
                read(path)
        for hold in ("all", "counts"):
            table = read_scores(path, skip_bad=True, hold=hold)
            assert (len(table), table.skipped) == (2, 1)
    old = json.dumps(
        {**Result(Assessment.from_json(GOOD)).to_dict(), "schema_version": 3}
    )
    for parse in (Assessment.from_json, Result.from_json):
        with pytest.raises(UnreadableInputError, match=r"4.*3"):
            parse(old)


def test_bad_lines_of_several_files_are_counted(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(f"{GOOD}\n" + "no\n" * 50, encoding="utf-8")
    second.write_text(f"no\n{GOOD}\n", encoding="utf-8")
    table = read_scores({"a": first, "b": second}, skip_bad=True)
    assert table.skipped == 51
    assert "skipped 30 more of a.jsonl" in table.notes
    assert read_assessments(second, skip_bad=True) == [Assessment.from_json(GOOD)]
