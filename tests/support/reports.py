"""Reports of known content, for a browser to open."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from tcva_adapters import (
    CCRS,
    TCVA,
    Assessment,
    CCRSResult,
    ClaimVerdict,
    Result,
    Sample,
    Verdict,
)
from tcva_adapters.compare import ScoreTable, read_scores
from tcva_adapters.compare.scores.judged_by import RunInfo
from tcva_adapters.core.verdicts import LEVELS, count_levels
from tcva_adapters.data import labels_of, sample_lines
from tcva_adapters.report.page import content_of, diagnosed, pieces
from tcva_adapters.report.page_data import Content, page_figures, texts_of
from tcva_adapters.results.framework_score import FrameworkScore, FrameworkVerdict
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.samples.conversation import Conversation
from tcva_adapters.tables import Column, Report, Table
from tests.hostile.corpus import TEXTS

RAGAS: Final = "ragas faithfulness"
DEEPEVAL: Final = "deepeval faithfulness"
RUN: Final = "faithfulness"
_COLUMNS: Final = [
    *(
        Column("method"),
        Column("n", "int"),
        Column("rho", "interval", "rank correlation"),
    ),
    *(Column("p", "p"), Column("same", "share"), Column("difference", "signed")),
]
_ROWS: Final[list[dict[str, Any]]] = [
    {"method": RUN, "n": 54, "p": 0.0001, "same": 0.997, "difference": 0.25}
    | {"rho": 0.8125, "rho_low": 0.71, "rho_high": 0.9},
    {"method": RAGAS, "n": 52, "rho": 0.5, "p": 0.25, "same": 0.5, "difference": None},
]
_AGREEMENT: Final = Table(
    "agreement", _COLUMNS, _ROWS, notes=["Holm's correction over both."]
)
FOUND: Final = Report(
    "TCVA and the ratings agree.", [_AGREEMENT], ["Ratings are of one person."]
)
"""What the library says of the examples; the page shows it as it is."""


def table_of(
    samples: Sequence[Sample],
    runs: Mapping[str, Sequence[Result | None]],
    fixed: Mapping[str, Sequence[float | None]] | None = None,
    **more: Any,
) -> ScoreTable:
    """Runs and fixed scores on the same samples."""
    scores: dict[str, Sequence[float | None]] = {
        name: [each.score if each else None for each in results]
        for name, results in runs.items()
    }
    scores |= fixed or {}
    ids = tuple(sample.id or "" for sample in samples)
    reasons = {
        (sample, name): result.unscored.text
        for name, results in runs.items()
        for sample, result in zip(ids, results, strict=True)
        if result and result.unscored
    }
    values = (
        np.array([*scores.values()], dtype=np.float64).reshape(len(scores), len(ids)).T
    )
    results = {**runs, **more.pop("results", {})}
    reasons |= more.pop("reasons", {})
    return ScoreTable(
        ids, tuple(scores), values, reasons=reasons, results=results, **more
    )


def write_page(content: Content, file: Path, most: int = 5000) -> Path:
    """The report of this content as a file."""
    texts = texts_of(content, most)
    figures = page_figures(content, texts.line_of, texts.notes)
    page = "".join(pieces(figures, texts.lines, len(texts.lines)))
    file.write_text(page, encoding="utf-8", newline="")
    return file


def small_report(folder: Path) -> Path:
    """A report on two samples, as a file."""
    return write_page(small(), folder / "small.html")


def _small(results: Sequence[Result], title: str) -> Content:
    samples = [
        Sample(id=name, input="When?", response="At nine.") for name in ("one", "two")
    ]
    samples = samples[: len(results)]
    return Content(title, table_of(samples, {"run": results}), samples)


def small() -> Content:
    """Two samples."""
    return _small(
        [Result(_judged("one", "fully", "none")), Result(_judged("two", "mostly"))], "2"
    )


def _judged(name: str, *words: str) -> Assessment:
    return Assessment.from_verdicts(words, sample_id=name)


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
    return sum(level in {Verdict.FULLY, Verdict.MOSTLY} for level in levels) / len(
        levels
    )


@cache
def example_content() -> Content:
    """Judgements, two framework metrics of which one fails twice, and human ratings."""
    counts = [count_levels(result.assessment.verdicts) for result in example_results()]
    lenient, strict = (
        [sum(row[:levels]) / sum(row) if any(row) else None for row in counts]
        for levels in (3, 1)
    )
    said: list[Result | None] = []
    for result, score in zip(example_results(), lenient, strict=True):
        judged = ((each.claim, each.verdict) for each in result.claims if each.verdict)
        verdicts = tuple(
            FrameworkVerdict(claim, "1", v, "Inferred.") for claim, v in judged
        )
        own = FrameworkScore("faithfulness", score, verdicts).assessment()
        said.append(Result(own) if verdicts else None)
    lenient[:2] = [None, None]
    samples = example_samples()
    late = "timeout: no answer within 60 s"
    why = {(sample.id or "", RAGAS): late for sample in samples[:2]}
    ratings = [human_rating(sample) for sample in samples]
    table = table_of(
        samples,
        {RUN: example_results()},
        {RAGAS: lenient, DEEPEVAL: strict},
        results={RAGAS: said},
        reasons=why,
        human=np.array(ratings, dtype=np.float64),
        raters=("human",),
        thresholds={DEEPEVAL: 0.7},
        notes=("The lexical judge compares words; it is no language model.",),
        run=RunInfo(metrics={RAGAS: "ragas 0.4.3", DEEPEVAL: "deepeval 4.3.1"}),
    )
    return Content("examples", table, samples, [("overview", FOUND)])


def gate(limit: float = 0.2) -> Report:
    """Thresholds of which the strictest three keep a limit of 0.2, and none one of 0.02.

    A limit of a half or more certifies a threshold that is not recommended.
    """
    rows = zip(range(10, -1, -1), np.linspace(0.05, 1, 11) ** 2, strict=True)
    names = ("threshold", "up_to", "false_pass", "bound", "true_pass", "certified")
    found = [
        (step / 10, step / 10, k, min(1, k + 0.04), k**0.3, k + 0.04 < limit)
        for step, k in rows
    ]
    records = [dict(zip(names, each, strict=True)) for each in found]
    kept = [each["threshold"] for each in records if each["certified"]]
    guarantee = {"setting": {"threshold": kept[-1]}} if kept else None
    table = Table("thresholds", [Column(name) for name in names], records, detail=True)
    limits = {"max_false_pass": limit, "min_true_pass": None if kept else 0.5}
    recommended = guarantee["setting"] if guarantee and limit < 0.5 else None
    found_settings = {"guarantee": guarantee, "recommended": recommended, **limits}
    return Report("A gate.", [table], settings=found_settings)


def gated() -> Content:
    """A limit that some thresholds keep, two that none keeps, and one whose threshold is not recommended."""
    reports = [("overview", gate(limit)) for limit in (0.2, 0.02, 0.5)]
    return replace(example_content(), title="gate", reports=reports)


def two_runs() -> Content:
    """The examples judged twice; the second time other verdicts, one sample less and one more."""
    rng = np.random.default_rng(5)
    first, changed = list(example_results()), []

    def moved(claim: ClaimVerdict) -> ClaimVerdict:
        if not claim.verdict or rng.random() >= 0.3:
            return claim
        return claim.model_copy(
            update={"verdict": LEVELS[rng.integers(5)], "probabilities": None}
        )

    for result in first:
        update = {"claims": tuple(map(moved, result.claims)), "judge": "another"}
        changed.append(Result(result.assessment.model_copy(update=update)))
    runs = {"before": [*first[:-1], None], "after": [None, *changed[1:]]}
    content = example_content()
    reports = [("changes", Report("3 of 55 decisions change."))]
    return Content(
        "before and after", table_of(content.samples, runs), content.samples, reports
    )


def apart() -> Content:
    """A run, a method without a score, one on other samples, and one on the same."""
    samples = example_samples()
    results: list[Result | None] = [
        *example_results()[:20],
        *[None] * (len(samples) - 20),
    ]
    fixed: dict[str, list[float | None]] = {
        "empty": [None] * len(samples),
        "others": [None] * 20 + [0.5] * (len(samples) - 20),
        "same": [0.25] * len(samples),
    }
    return Content("apart", table_of(samples, {RUN: results}, fixed), samples)


@cache
def example_ratings() -> tuple[CCRSResult, ...]:
    """The package's samples by direct metrics, some of which they lack the texts for."""
    return tuple(CCRS(judge="lexical").evaluate_many(example_samples(), progress=False))


def ccrs_content() -> Content:
    """CCRS alone: nothing follows the temperature."""
    table = read_scores(example_ratings())
    return Content(
        "ccrs", table, example_samples(), [("overview", Report("Five metrics."))]
    )


def random_content(
    size: int, seed: int = 0, *, questions: str = "Question {}?"
) -> Content:
    """As many samples as asked for, with random verdicts, ratings and a method; a few unscored."""
    rng = np.random.default_rng(seed)
    samples, results, scores = [], [], []
    for number in range(size):
        name = f"sample-{number:05d}"
        verdicts = rng.choice(5, rng.integers(1, 9), p=[0.45, 0.2, 0.15, 0.1, 0.1])
        shown: dict[str, Any] = {"reason": "The passage says so.", "context": 1}
        text = f"Claim {{}} of sample {number} is that the office opens at {{}}."
        texts = [text.format(i, v) for i, v in enumerate(verdicts)]
        claims = tuple(
            ClaimVerdict(
                claim=text, verdict=LEVELS[v], evidence=f"opens at {v}", **shown
            )
            for text, v in zip(texts, verdicts, strict=True)
        )
        contexts = ("The office opens at 0. " * 10 + "It opens at 1, or opens at 4.",)
        metadata = {"domain": ("medical", "support", "travel")[number % 3]}
        question = questions.format(number)
        about: Any = {"contexts": contexts, "metadata": metadata}
        samples.append(
            Sample(id=name, input=question, response=" ".join(texts), **about)
        )
        outcome: dict[str, Any] = {"claims": claims}
        if number % 97 == 5:
            outcome = {
                "unscored": Unscored(reason=Reason.REFUSAL, detail="I cannot say.")
            }
        update = {"claims": (), "judge": "random"} | outcome
        judged = _judged(name, "fully").model_copy(update=update)
        results.append(Result(judged))
        scores.append(float(np.round((verdicts < 3).mean(), 3)))
    table = table_of(
        samples, {"random": results}, {RAGAS: scores}, human=rng.random(size).round(2)
    )
    return Content(f"{size} samples", table, samples)


def hostile_content(texts: Sequence[str]) -> Content:
    """A sample for each text, which stands in each field that holds a text, names included."""
    samples, results, said = [], [], []
    for number, text in enumerate(texts):
        lowered: dict[str, Any] = {
            "original_verdict": "fully",
            "evidence_check": "not_found",
        }
        lowered |= {"verdict": LEVELS[number % 5], "context": 1}
        claims = (
            ClaimVerdict(claim=text, evidence=text, reason=text, **lowered),
            ClaimVerdict(
                claim=f"It says {text}",
                verdict="fully",  # type: ignore[arg-type]  # a level's word
                probabilities=(1, 0, 0, 0, 0),
            ),
        )
        fields: dict[str, Any] = {
            "input": text,
            "reference": text,
            "contexts": (text, text),
            "context_ids": (text, f"{text}2"),
        }
        fields["metadata"] = {text: text, "group": text[:20], "number": number}
        fields["metadata"] |= {"conversation": f"{number} {text}", "turn": 1}
        name = f"{number} {text}/1"
        samples.append(Sample(id=name, response=f"{text} It says {text}", **fields))
        why = (
            Unscored(reason=Reason.JUDGE_ERROR, detail=text)
            if number % 7 == 3
            else None
        )
        about = {
            "criterion": text,
            "judge": text,
            "prompt_version": text,
            "sample_id": name,
        }
        judged = Assessment(**about, claims=() if why else claims, unscored=why)  # type: ignore[arg-type]  # texts
        results.append(Result(judged))
        own = FrameworkVerdict(text, text, Verdict.MINOR, text)
        said.append(Result(FrameworkScore(text, 0.5, (own,)).assessment()))
    long = max(texts, key=len)
    script = next(text for text in texts if "</script>" in text)
    size = len(samples)
    copies = [Result(each.assessment.model_copy(), each.scoring) for each in results]
    table = table_of(
        samples,
        {script: results, f"{long[:300]} {script}": copies},
        {f"{script}.": [0.5] * size, texts[0]: [None] * size},
        results={f"{script}.": said},
        reasons={
            (s.id or "", texts[0]): text for s, text in zip(samples, texts, strict=True)
        },
        human=np.full(size, 0.5),
        raters=(script,),
        notes=tuple(texts),
        metadata=[sample.metadata for sample in samples],
    )
    columns = [Column(texts[0]), Column(script, "prose", script)]
    records = [{texts[0]: text, script: text} for text in texts]
    report = Report(script, [Table(script, columns, records, notes=texts)], texts)
    return Content(script, table, samples, [("overview", report)])


def fixed_only() -> Content:
    """Scores that no temperature changes."""
    content = example_content()
    return replace(
        content, title="scores", table=content.table.select(methods=[RAGAS, DEEPEVAL])
    )


def all_unscored() -> Content:
    """Two samples, none with a score."""
    why = (
        Unscored(reason=Reason.TIMEOUT, detail="60 s"),
        Unscored(reason=Reason.NO_CLAIMS),
    )
    judged = [_judged(name) for name in ("one", "two")]
    updates = [{"claims": (), "unscored": each} for each in why]
    results = [
        each.model_copy(update=u) for each, u in zip(judged, updates, strict=True)
    ]
    return _small([*map(Result, results)], "nothing scored")


def fused_and_panel() -> Content:
    """An additional judge, probabilities, and a verdict that was lowered for its quote."""
    member = _judged("one", "mostly", "partial").model_copy(
        update={"judge": "additional"}
    )
    chances = (0.25, 0.5, 0.125, 0.0, 0.125)
    shares = ClaimVerdict(
        claim="At nine.", verdict=Verdict.MOSTLY, probabilities=chances
    )
    lowered: Any = {"original_verdict": "fully", "evidence_check": "not_found"}
    lowered |= {"verdict": "partial"}
    lowered = ClaimVerdict(
        claim="At nine sharp.", evidence="at nine sharp", context=1, **lowered
    )
    fused = _judged("one", "fully", "none")
    fused = fused.model_copy(update={"members": (member,), "panel": (member,)})
    two = _judged("two", "mostly").model_copy(update={"claims": (shares, lowered)})
    return _small([Result(fused), Result(two)], "judges")


CHATS: Final = {
    "lease": """\
user: Hi!
assistant: Hello! How can I help?
user: How long does a lease run?
tool: Leases run for 36 months. The deposit is 300 euros.
assistant: Good question! Leases run for 36 months.
user: And the deposit?
tool: Leases run for 36 months. The deposit is 300 euros.
assistant: The deposit is 500 euros. The helmet is free.
user: Who owns the shop?
assistant: The owner is called Olav Berg.""",
    "hours": """\
user: When do you open?
tool: The shop opens at nine.
assistant: The shop opens at nine.
user: And then?
tool: The shop opens at nine.
assistant: The shop opens at nine. Servus, dein Team.""",
    "outage": """\
user: When?
tool: The shop opens at nine.
assistant: The shop opens at nine.
user: Sure?
tool: The shop opens at nine.
assistant: The shop opens at nine.""",
}


def talks() -> Content:
    """Conversations: one with small talk and a claim without contexts, one that passes, one with a failure."""
    conversations = [
        Conversation.from_messages(
            [line.split(": ", 1) for line in chat.splitlines()], id=name
        )
        for name, chat in CHATS.items()
    ]
    samples = [turn for conversation in conversations for turn in conversation.turns]
    judged = {
        each.sample_id: each for each in TCVA(judge="lexical").evaluate_many(samples)
    }
    opens, farewell = judged["hours/2"].assessment.claims
    marked = ClaimVerdict(
        claim=farewell.claim, verdict=None, reason="greeting", marked_by_judge=True
    )
    late = Unscored(reason=Reason.TIMEOUT, detail="60 s")
    changes: dict[str, dict[str, Any]] = {
        "hours/2": {"claims": (opens, marked)},
        "outage/2": {"claims": (), "unscored": late},
    }
    for name, update in changes.items():
        judged[name] = Result(judged[name].assessment.model_copy(update=update))
    table = read_scores([*judged.values()])
    return Content(
        "conversations", table, samples, [("overview", Report("Three chats."))]
    )


CRITERIA_JUDGED: Final = (
    "faithfulness",
    "correctness",
    "context_recall",
    "completeness",
)
PASSAGES: Final = (
    "The shop opens at nine. It closes at six.",
    "A city bike costs 20 euros a day.",
    "The shop in Lund closed in 2019.",
    "A helmet costs 3 euros a day.",
)
ASKED: Final = {
    "hours": (
        "When is the shop open?",
        "The shop opens at nine [1]. It closes at six [2].",
        "The shop opens at nine. It closes at six.",
    ),
    "prices": (
        "What does a city bike cost with a helmet?",
        "A city bike costs 20 euros a day [2]. The shop in Lund closed in 2019 [3]. Insurance is free [9].",
        "A city bike costs 20 euros a day. A helmet costs 3 euros a day. A deposit of 50 euros is due.",
    ),
    "thanks": ("Thank you!", "You're welcome!", "You're welcome!"),
    "plain": (
        "Since when is the shop in Lund closed?",
        "The shop in Lund closed in 2019.",
        "The shop in Lund closed in 2019.",
    ),
}
"""Question, answer with citations, reference: what goes wrong with each claim is known."""
CHAT: Final = (
    ("The shop opens at nine.", "The shop opens at nine."),
    ("A helmet costs 3 euros a day [1].", "A helmet costs 3 euros a day."),
    ("Tandems cost 90 euros [4].", "The weather decides."),
)
"""The turns of a conversation, likewise."""


@cache
def criteria_samples() -> tuple[Sample, ...]:
    """Those of `ASKED`, and a conversation whose last turns cite."""
    shared: dict[str, Any] = {
        "contexts": PASSAGES,
        "context_ids": [f"doc-{letter}" for letter in "abcd"],
    }
    samples = [
        Sample(id=name, input=question, response=said, reference=reference, **shared)
        for name, (question, said, reference) in ASKED.items()
    ]
    turns = [
        Sample(
            id=f"chat/{turn}",
            input="When, and how much?",
            response=said,
            reference=reference,
            metadata={"conversation": "chat", "turn": turn},
            **shared,
        )
        for turn, (said, reference) in enumerate(CHAT, start=1)
    ]
    return (*samples, *turns)


def criteria_judged() -> dict[str, list[Result]]:
    """Those samples, judged by all criteria of a diagnosis without a model."""
    return {
        name: TCVA(name, judge="lexical").evaluate_many(
            criteria_samples(), progress=False
        )
        for name in CRITERIA_JUDGED
    }


def several_criteria() -> Content:
    """Several criteria of the same samples, with citations and passages."""
    content = content_of(criteria_judged(), "criteria", {})
    return diagnosed(replace(content, samples=criteria_samples()))


def nothing() -> Content:
    """A report of the library alone."""
    return Content("alone", table_of([], {}), [], [("overview", FOUND)])


CONTENTS: Final[dict[str, Callable[[], Content]]] = {
    "example": example_content, "two runs": two_runs, "apart": apart, "gate": gated,
    "fixed only": fixed_only,
    "one sample": lambda: _small([Result(_judged("one", "fully"))], "one sample"),
    "all unscored": all_unscored, "report alone": nothing, "judges": fused_and_panel, "conversations": talks, "criteria": several_criteria,
    "ccrs": ccrs_content, "drawn": lambda: random_content(400, seed=3),
    "hostile": lambda: hostile_content([each.text for each in TEXTS]),
}  # fmt: skip
"""Reports by name."""

MOST: Final = {"drawn": 100}
"""How many samples have their texts in a report, where not all do."""


@dataclass(frozen=True)
class Expected:
    """What the library makes of a run at some settings.

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
        scores = {
            name: score
            for name, each in zip(content.table.samples, shown.results, strict=True)
            if each and (score := Result(each.assessment, scoring).score) is not None
        }
        return cls(scores, scoring.threshold)

    @property
    def values(self) -> list[float]:
        return list(self.scores.values())

    @property
    def passed(self) -> int:
        return sum(score >= self.threshold for score in self.values)

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)
