"""Where scores are wrong: figures by hand, planted dependences, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcva_adapters.cli.app import run
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.files import write_assessments
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig

pytest.importorskip("scipy", reason="the extra stats")

from tcva_adapters.compare import ErrorReport, analyse_errors

LEVELS = ("fully", "mostly", "partial", "minor", "none")


def assessment(number: int, words: list[str], length: int = 10, **metadata: Any) -> Assessment:
    claims = tuple(
        ClaimVerdict(claim="x" * length, verdict=word, reason=f"why {place}")  # type: ignore[arg-type]  # pydantic reads it
        for place, word in enumerate(words)
    )
    return Assessment(
        criterion="faithfulness",
        judge="given",
        prompt_version="1",
        claims=claims,
        sample_id=f"s{number}",
        metadata=metadata,
    )


def suite(n: int = 90, seed: int = 0, **effects: float) -> list[Assessment]:
    """Ratings near the score, with errors that depend on what is named."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(n):
        words = rng.choice(
            LEVELS, size=int(rng.integers(2, 6)), p=[0.4, 0.2, 0.2, 0.1, 0.1]
        ).tolist()
        length, system = int(rng.integers(5, 200)), ["a", "b", "c"][number % 3]
        judged = assessment(number, words, length, system=system, document=f"d{number // 3}")
        score = Result(judged).score or 0.0
        human = score + rng.normal(0.0, 0.08)
        human -= effects.get("length", 0.0) * (length * len(words) / 400 - 1)
        human -= effects.get("system", 0.0) * (system == "b")
        rating = float(np.clip(human, 0.0, 1.0))
        found.append(judged.model_copy(update={"metadata": {**judged.metadata, "human": rating}}))
    return found


def factor(found: ErrorReport, name: str) -> Any:
    return next(each for each in found.factors if each.name == name)


def test_errors_are_score_less_rating_and_their_figures_follow() -> None:
    judged = suite()
    found = analyse_errors(judged, "human", draws=199)
    scores = np.array([Result(each).score for each in judged], dtype=float)
    human = np.array([each.metadata["human"] for each in judged])
    assert found.error.value == pytest.approx(float((scores - human).mean()), abs=1e-12)
    assert found.size.value == pytest.approx(float(np.abs(scores - human).mean()), abs=1e-12)
    worst = np.argsort(-np.abs(scores - human), kind="stable")[:10]
    assert [each.sample for each in found.largest] == [f"s{i}" for i in worst]
    assert found.largest[0].claims == judged[worst[0]].claims
    assert sum(each.human.n for each in found.curve) == found.n == 90
    gate = found.gate
    both = int(((scores >= 0.5) & (human >= 0.5)).sum())
    assert gate.pass_precision.value == both / int((scores >= 0.5).sum())
    assert gate.pass_recall.value == both / int((human >= 0.5).sum())
    assert gate.base_rate.value == float((human >= 0.5).mean())


@pytest.mark.parametrize(
    ("length", "system", "name"), [(0.25, 0.0, "length of the claims"), (0.0, 0.25, "system")]
)
def test_a_planted_dependence_is_found(length: float, system: float, name: str) -> None:
    found = analyse_errors(suite(length=length, system=system), "human", draws=1999)
    assert name in found.found
    assert factor(found, name).error.p_holm <= 0.05
    assert name in found.sentence
    without = analyse_errors(suite(seed=1), "human", draws=1999)
    assert name not in without.found


def test_parts_have_their_means_and_small_ones_no_interval() -> None:
    judged = suite(60, system=0.2)
    judged[0] = judged[0].model_copy(update={"metadata": {**judged[0].metadata, "system": "rare"}})
    found = factor(analyse_errors(judged, "human", draws=199), "system")
    by_part = {each.part: each for each in found.parts}
    assert by_part["b"].error.low > 0.0
    assert by_part["rare"].error.reason == "1 sample: an interval needs 10"
    assert [each.error.n for each in found.parts] == [20, 20, 19, 1]


def test_groups_are_flipped_together_and_few_of_them_are_refused() -> None:
    judged = suite(length=0.3)
    found = analyse_errors(judged, "human", group="document", draws=999)
    assert found.clusters == 30
    assert found.error.clusters == 30
    assert factor(found, "length of the claims").error.rho.clusters == 30
    assert "length of the claims" in found.found
    few = analyse_errors(judged, "human", group=[f"g{i // 12}" for i in range(90)])
    assert few.error.reason == "8 groups: an interval needs 10"
    assert few.n_tests == 0
    assert few.sentence.endswith("nothing could be tested")


def test_levels_are_worth_what_the_ratings_say() -> None:
    rng = np.random.default_rng(4)
    counts = rng.multinomial(4, [0.3, 0.2, 0.2, 0.2, 0.1], 300).astype(float)
    truth = np.array([0.95, 0.6, 0.5, 0.3, 0.1])
    human = np.clip(counts / 4 @ truth + rng.normal(0, 0.05, 300), 0, 1)
    found = analyse_errors(counts, human, draws=99)
    for level, wanted in zip(found.levels, truth, strict=True):
        assert level.worth.low <= wanted <= level.worth.high
        assert level.falling == pytest.approx(wanted, abs=0.05)
    assert [each.differs for each in found.levels][1] is True


def test_ratings_on_another_scale_are_brought_to_that_of_scores() -> None:
    judged = suite()
    human = np.array([each.metadata["human"] for each in judged])
    plain = analyse_errors(judged, human, draws=99)
    found = analyse_errors(judged, 1 + 4 * human, human_scale=(1, 5), draws=99)
    assert found.error.value == pytest.approx(plain.error.value, abs=1e-12)
    assert found.gate.counts == plain.gate.counts
    assert found.gate.human_threshold == 3.0
    with pytest.raises(InvalidValueError, match="outside the human scale"):
        analyse_errors(judged, 1 + 4 * human)


def test_a_passing_rating_lies_on_the_scale() -> None:
    with pytest.raises(InvalidValueError, match="--human-threshold 9 lies outside the scale"):
        analyse_errors(suite(12), "human", human_threshold=9, draws=99)


def test_few_ratings_have_reasons_in_place_of_figures() -> None:
    found = analyse_errors(suite(6), "human")
    assert found.error.reason == "6 samples: an interval needs 10"
    assert factor(found, "number of claims").reason == "6 samples: an interval needs 10"
    assert factor(found, "system").reason == "fewer than two parts with 10 samples"
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["error"]["low"] is None


def test_a_missing_interval_has_its_reason_and_few_ratings_no_table() -> None:
    few = analyse_errors(suite(6), "human").text(full=True)
    assert "no test of length of the claims, number of claims" in few
    assert "precision" not in few
    assert "what a verdict level is worth" not in few
    assert "same decision" in few
    same = [one.model_copy(update={"claims": one.claims[:1]}) for one in suite(20)]
    same[0] = suite(20)[0]
    found = analyse_errors(same, "human", draws=99)
    rho = factor(found, "number of claims").error.rho
    assert rho is not None
    said = f"no interval for number of claims: {rho.reason}"
    assert rho.reason.startswith("36 % of the resamples have no value")
    assert said in " ".join(found.text(full=True).split())


def test_the_settings_of_the_dial_decide() -> None:
    judged = suite()
    strict = analyse_errors(judged, "human", scoring=ScoringConfig(temperature=0.1), draws=99)
    lenient = analyse_errors(judged, "human", scoring=ScoringConfig(temperature=0.9), draws=99)
    assert strict.error.value < lenient.error.value


def test_the_command_prints_writes_and_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_assessments("judged.jsonl", suite(system=0.3))
    options = "--human human --draws 999"
    assert run(f"errors judged.jsonl {options}".split()) == 0
    said = capsys.readouterr().out
    assert "errors depend on" in said.replace("\n", " ")
    assert max(map(len, said.splitlines())) <= 80
    assert len(said.splitlines()) <= 40
    assert run(f"errors judged.jsonl {options} --json --by document".split()) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["n"] == 90
    document = next(each for each in figures["factors"] if each["name"] == "document")
    assert document["reason"] == "fewer than two parts with 10 samples"
    assert run(f"errors judged.jsonl {options} --json --level 0.5".split()) == 0
    halved = json.loads(capsys.readouterr().out)["error"]
    assert figures["error"]["low"] < halved["low"] < halved["high"] < figures["error"]["high"]
    assert run(f"errors judged.jsonl {options} --markdown - --report page.html".split()) == 0
    out = capsys.readouterr().out
    assert out.startswith("**TCVA**: Scores are")
    assert "| `s" in out
    assert b"largest error" in Path("page.html").read_bytes()
    assert run(["errors", "judged.jsonl"]) == 2
    assert run(f"errors judged.jsonl {options} --level 2".split()) == 2
    assert run(["errors", "judged.jsonl", "--human", "nowhere"]) == 2


def test_a_file_of_samples_gives_the_length_of_the_responses(tmp_path: Path) -> None:
    judged = suite(40)
    file = tmp_path / "samples.jsonl"
    lines = [{"id": f"s{i}", "input": "q", "response": "y" * (i + 1)} for i in range(40)]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    found = analyse_errors(judged, "human", samples=file, draws=99)
    length, place = (factor(found, n) for n in ("length of the response", "place in the file"))
    assert length.error.rho.value == pytest.approx(place.error.rho.value, abs=1e-12)
    with pytest.raises(InvalidValueError, match="their ids differ"):
        analyse_errors([assessment(99, ["fully"], human=1.0)], "human", samples=file)
