"""Reports of known content, for a browser to open."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from tcva_adapters.ccrs.result import CCRSResult
from tcva_adapters.ccrs.scorer import CCRS
from tcva_adapters.ccrs.summary import summarise_ccrs
from tcva_adapters.core.verdicts import LEVELS, Verdict, count_levels
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.report.content import Content, FixedMethod, Human, Run, Said
from tcva_adapters.report.details import Draw, detail_lines
from tcva_adapters.report.figures import figures_of
from tcva_adapters.report.page import page_of
from tcva_adapters.report.sections import rated_sections
from tcva_adapters.report.sources import Reading, content_of
from tcva_adapters.results.assessment import (
    Assessment,
    ClaimVerdict,
    EvidenceCheck,
    Reason,
    Unscored,
)
from tcva_adapters.results.framework_score import FrameworkVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.results.settings import ScoringConfig
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tcva import TCVA
from tests.hostile.corpus import TEXTS

RAGAS: Final = "ragas faithfulness"
DEEPEVAL: Final = "deepeval faithfulness"
RUN: Final = "faithfulness by lexical/3"


def write_page(content: Content, file: Path, most: int = 5000) -> Path:
    """The report of this content as a file."""
    draw = Draw.of(content, most)
    file.write_bytes(b"".join(page_of(figures_of(content, draw), detail_lines(content, draw))))
    return file


def small_report(folder: Path) -> Path:
    """A report on two samples, as a file."""
    return write_page(small(), folder / "small.html")


def small() -> Content:
    """Two samples."""
    samples = [Sample(id=name, input="When?", response="At nine.") for name in ("one", "two")]
    judged = {"one": ["fully", "none"], "two": ["mostly"]}
    assessments = {
        name: Assessment.from_verdicts(words).model_copy(update={"sample_id": name})
        for name, words in judged.items()
    }
    run = Run("run", assessments, ScoringConfig())
    return Content("two samples", samples=samples, runs=(run,))


@cache
def example_samples() -> tuple[Sample, ...]:
    """Those of the package."""
    return tuple(Sample.from_record(json.loads(line)) for line in sample_lines())


@cache
def example_results() -> tuple[Result, ...]:
    """The package's samples, judged without a model."""
    return tuple(TCVA(judge="lexical").evaluate_many(example_samples()))


def human_rating(sample: Sample) -> float | None:
    """The share of supported claims, as a careful reader labelled them; None without claims."""
    levels = [label.level for label in labels_of(sample) if label.level is not None]
    if not levels:
        return None
    return sum(level in {Verdict.FULLY, Verdict.MOSTLY} for level in levels) / len(levels)


def run_of(name: str, results: Sequence[Result], scoring: ScoringConfig | None = None) -> Run:
    """Results as a run."""
    assessments = {each.sample_id or "": each.assessment for each in results}
    return Run(name, assessments, scoring or ScoringConfig(), (0.1, 0.5, 0.9))


def example_methods() -> tuple[FixedMethod, ...]:
    """Two methods with binary verdicts, as framework metrics have; one of them fails twice."""
    every: dict[str, float | None] = {}
    strict: dict[str, float | None] = {}
    said = {}
    for sample, result in zip(example_samples(), example_results(), strict=True):
        name = sample.id or ""
        counts = count_levels(result.assessment.verdicts)
        total = counts.sum()
        every[name] = float(counts[:3].sum() / total) if total else None
        strict[name] = float(counts[:1].sum() / total) if total else None
        verdicts = [
            FrameworkVerdict(
                c.claim, "1" if c.verdict in LEVELS[:3] else "0", c.verdict, "Inferred."
            )
            for c in result.claims
            if c.verdict
        ]
        said[name] = Said(tuple(verdicts), "Some of it can be inferred.")
    failed = sorted(every)[:2]
    every.update(dict.fromkeys(failed, None))
    why = dict.fromkeys(failed, "timeout: no answer within 60 s")
    return (
        FixedMethod(RAGAS, every, "ragas", "ragas 0.4.3", unscored=why, said=said),
        FixedMethod(DEEPEVAL, strict, "deepeval", "deepeval 4.3.1", threshold=0.7),
    )


def example_content() -> Content:
    """All of it together, with human ratings."""
    rated = {s.id or "": human_rating(s) for s in example_samples()}
    human = Human({name: rating for name, rating in rated.items() if rating is not None}, "human")
    content = Content(
        "examples",
        sentence="TCVA at T = 0.5 passes more of the samples than the framework metrics.",
        samples=example_samples(),
        runs=(run_of(RUN, example_results()),),
        methods=example_methods(),
        human=human,
        notes=("The lexical judge compares words; it is no language model.",),
    )
    return replace(content, sections=rated_sections(content))


def two_runs() -> Content:
    """The examples judged twice; the second time other verdicts, one sample less and one more."""
    rng = np.random.default_rng(5)
    first, changed = list(example_results()), []
    for result in first[1:]:
        claims = tuple(
            claim.model_copy(update={"verdict": LEVELS[rng.integers(5)], "probabilities": None})
            if claim.verdict and rng.random() < 0.3
            else claim
            for claim in result.claims
        )
        moved = result.assessment.model_copy(update={"claims": claims, "judge": "another"})
        changed.append(Result(moved))
    runs = (run_of("before", first[:-1]), run_of("after", changed))
    return replace(example_content(), title="before and after", runs=runs)


def two_runs_by_group() -> Content:
    """The same with groups of three samples, one after the other."""
    content = two_runs()
    samples = [
        sample.model_copy(update={"metadata": {**sample.metadata, "document": place // 3}})
        for place, sample in enumerate(content.samples)
    ]
    return replace(content, samples=samples).by_group("document")


@cache
def example_ratings() -> tuple[CCRSResult, ...]:
    """The package's samples by direct metrics, some of which they lack the texts for."""
    rated = [
        sample.model_copy(update={"metadata": {"human": human_rating(sample)}})
        for sample in example_samples()
    ]
    return tuple(CCRS(judge="lexical").evaluate_many(rated, progress=False))


def random_content(size: int, seed: int = 0, *, questions: str = "Question {}?") -> Content:
    """As many samples as asked for, with random verdicts, ratings and a method; a few unscored."""
    rng = np.random.default_rng(seed)
    samples, assessments, scores, ratings = [], {}, {}, {}
    for number in range(size):
        name = f"sample-{number:05d}"
        verdicts = rng.choice(5, rng.integers(1, 9), p=[0.45, 0.2, 0.15, 0.1, 0.1])
        claims = tuple(
            ClaimVerdict(
                claim=f"Claim {i} of sample {number} is that the office opens at {v}.",
                verdict=LEVELS[v],
                evidence=f"opens at {v}",
                reason="The passage says so.",
                passage=1,
            )
            for i, v in enumerate(verdicts)
        )
        samples.append(
            Sample(
                id=name,
                input=questions.format(number),
                response=" ".join(claim.claim for claim in claims),
                contexts=("The office opens at 0. " * 10 + "It opens at 1, or opens at 4.",),
                metadata={"domain": ("medical", "support", "travel")[number % 3]},
            )
        )
        unscored = Unscored(reason=Reason.REFUSAL, detail="I cannot say.")
        is_refusal = number % 97 == 5
        assessments[name] = Assessment(
            criterion="faithfulness",
            judge="random",
            prompt_version="1",
            sample_id=name,
            claims=() if is_refusal else claims,
            unscored=unscored if is_refusal else None,
        )
        scores[name] = float(np.round((verdicts < 3).mean(), 3))
        ratings[name] = float(np.round(rng.random(), 2))
    method = FixedMethod(RAGAS, scores, "ragas")
    run = Run("random", assessments, ScoringConfig(), (0.1, 0.5, 0.9))
    return Content(
        f"{size} samples", samples=samples, runs=(run,), methods=(method,), human=Human(ratings)
    )


def hostile_content(texts: Sequence[str]) -> Content:
    """A sample for each text, which stands in each field that holds a text, names included."""
    samples, assessments, said, unscored = [], {}, {}, {}
    for number, text in enumerate(texts):
        claims = (
            ClaimVerdict(
                claim=text,
                verdict=LEVELS[number % 5],
                evidence=text,
                reason=text,
                passage=1,
                original_verdict=Verdict.FULLY,
                evidence_check=EvidenceCheck.NOT_FOUND,
            ),
            ClaimVerdict(
                claim=f"It says {text}", verdict=Verdict.FULLY, probabilities=(1, 0, 0, 0, 0)
            ),
        )
        samples.append(
            Sample(
                id=f"{number} {text}",
                input=text,
                response=f"{text} It says {text}",
                reference=text,
                contexts=(text, text),
                metadata={text: text, "group": text[:20], "number": number},
            )
        )
        name = samples[-1].id or ""
        why = Unscored(reason=Reason.JUDGE_ERROR, detail=text) if number % 7 == 3 else None
        judged = Assessment(
            criterion=text,
            judge=text,
            prompt_version=text,
            sample_id=name,
            claims=() if why else claims,
            unscored=why,
        )
        assessments[name] = judged
        said[name] = Said((FrameworkVerdict(text, text, Verdict.MINOR, text),), text)
        unscored[name] = text
    long = max(texts, key=len)
    script = next(text for text in texts if "</script>" in text)
    return Content(
        script,
        sentence=script,
        samples=samples,
        runs=(
            Run(script, assessments, ScoringConfig()),
            Run(f"{long[:300]} {script}", assessments, ScoringConfig(temperature=0.2)),
        ),
        methods=(
            FixedMethod(script, dict.fromkeys(assessments, 0.5), script, script, said=said),
            FixedMethod(texts[0], dict.fromkeys(assessments), texts[0], unscored=unscored),
        ),
        human=Human(dict.fromkeys(assessments, 0.5), script),
        notes=tuple(texts),
        sections={
            "errors": [script, *texts, {"head": texts[:2], "rows": [texts[:2]], "kinds": "ll"}]
        },
    )


def fixed_only() -> Content:
    """Scores that no dial changes."""
    return replace(example_content(), title="scores", runs=())


def one_sample() -> Content:
    """The least that there may be."""
    content = small()
    name = content.samples[0].id or ""
    run = replace(content.runs[0], assessments={name: content.runs[0].assessments[name]})
    return replace(content, title="one sample", samples=content.samples[:1], runs=(run,))


def all_unscored() -> Content:
    """Two samples, none with a score."""
    content = small()
    why = [Unscored(reason=Reason.TIMEOUT, detail="60 s"), Unscored(reason=Reason.NO_CLAIMS)]
    assessments = {
        name: each.model_copy(update={"claims": (), "unscored": unscored})
        for (name, each), unscored in zip(content.runs[0].assessments.items(), why, strict=True)
    }
    run = replace(content.runs[0], assessments=assessments)
    return replace(content, title="nothing scored", runs=(run,))


def fused_and_panel() -> Content:
    """An additional judge, probabilities, and a verdict that was lowered for its quote."""
    content = small()
    one = content.runs[0].assessments["one"]
    member = Assessment.from_verdicts(["mostly", "partial"]).model_copy(
        update={"judge": "additional", "sample_id": "one"}
    )
    shares = ClaimVerdict(
        claim="At nine.", verdict=Verdict.MOSTLY, probabilities=(0.25, 0.5, 0.125, 0.0, 0.125)
    )
    lowered = ClaimVerdict(
        claim="At nine sharp.",
        verdict=Verdict.PARTIAL,
        evidence="at nine sharp",
        passage=1,
        original_verdict=Verdict.FULLY,
        evidence_check=EvidenceCheck.NOT_FOUND,
    )
    two = content.runs[0].assessments["two"].model_copy(update={"claims": (shares, lowered)})
    fused = one.model_copy(update={"members": (member,), "panel": (member,)})
    run = replace(content.runs[0], assessments={"one": fused, "two": two})
    return replace(content, title="judges", runs=(run,))


CONTENTS: Final[dict[str, Callable[[], Content]]] = {
    "example": example_content,
    "two runs": two_runs,
    "two runs by group": two_runs_by_group,
    "fixed only": fixed_only,
    "small": small,
    "one sample": one_sample,
    "all unscored": all_unscored,
    "no samples": lambda: Content("nothing"),
    "judges": fused_and_panel,
    "ccrs": lambda: content_of(summarise_ccrs(example_ratings()), Reading(human="human")),
    "drawn": lambda: random_content(400, seed=3),
    "hostile": lambda: hostile_content([each.text for each in TEXTS]),
}
"""Reports by name."""

MOST: Final = {"drawn": 100}
"""How many samples have their texts in a report, where not all do."""


@dataclass(frozen=True)
class Expected:
    """What the library makes of a run at one setting of the dial.

    Attributes:
        scores: Of the scored samples, in order, by sample id.
        threshold: From here on a score passes.
    """

    scores: dict[str, float]
    threshold: float

    @classmethod
    def of(cls, content: Content, run: int = 0, **changes: Any) -> Expected:
        """With some settings other than the run's."""
        shown = content.runs[run]
        scoring = shown.scoring.changed(**changes)
        results = {name: Result(each, scoring) for name, each in shown.assessments.items()}
        order = [sample.id or "" for sample in content.samples]
        scores = {n: s for n in order if n in results and (s := results[n].score) is not None}
        return cls(scores, scoring.threshold)

    @property
    def values(self) -> list[float]:
        return list(self.scores.values())

    @property
    def passed(self) -> int:
        return sum(score >= self.threshold for score in self.values)
