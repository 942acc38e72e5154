"""The texts of a report: one line of JSON per sample, and which samples have one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tcva_adapters.report.content import Content, Said
from tcva_adapters.report.plain import inert_json, plain
from tcva_adapters.results.assessment import Assessment, ClaimVerdict
from tcva_adapters.results.result import Result, interval_text
from tcva_adapters.samples.sample import Sample

SEED: Final = 0
MOST: Final = 10_000
"""Samples whose texts are in a page, unless more are asked for."""

_MOST_BYTES: Final = 16_000_000
_MEASURED: Final = 100


@dataclass(frozen=True, slots=True)
class Draw:
    """Which samples have their texts in the page.

    Attributes:
        chosen: Their places among all samples, rising.
        total: How many samples there are.
    """

    chosen: tuple[int, ...]
    total: int

    @classmethod
    def of(cls, content: Content, most: int | None = None) -> Draw:
        """All samples, or of more than ``most`` a draw: the worst half, and others at random.

        The worst are those with the lowest score of the first run (of the first method without
        one), the unscored first; the others are drawn without replacement, with seed 0.

        Args:
            content: What is shown.
            most: How many; by default 10 000, and as many as have about 16 MB of text.
        """
        total = len(content.samples)
        if most is None:
            most = min(MOST, _MOST_BYTES // _usual_size(content))
        if total <= most:
            return cls(tuple(range(total)), total)
        ranked = _worst_first(content)
        worst = ranked[: most // 2]
        others = random.Random(SEED).sample(ranked[most // 2 :], most - most // 2)  # noqa: S311  # a draw, no secret
        return cls(tuple(sorted([*worst, *others])), total)

    @property
    def stated(self) -> dict[str, int] | None:
        """How it was drawn; None where all samples are in."""
        return None if len(self.chosen) == self.total else {"of": self.total, "seed": SEED}

    @property
    def notes(self) -> tuple[str, ...]:
        """The same in a sentence; none where all samples are in."""
        shown = len(self.chosen)
        if shown == self.total:
            return ()
        if not shown:
            return ("the texts of the samples are not in this page",)
        text = (
            f"the texts of {shown} of {self.total} samples are in this page: of the {shown // 2} "
            f"worst by the first run, unscored ones first, and of {shown - shown // 2} others drawn "
            f"with seed {SEED}; the figures are of all"
        )
        return (text,)

    @property
    def lines(self) -> list[int]:
        """By sample, the number of its line, from 0; -1 where it has none."""
        lines = [-1] * self.total
        for line, place in enumerate(self.chosen):
            lines[place] = line
        return lines


def _usual_size(content: Content) -> int:
    """Bytes of a sample's line, by a hundred of them that lie evenly apart."""
    total = len(content.samples)
    if not total:
        return 1
    some = tuple(range(0, total, max(1, total // _MEASURED)))
    lines = detail_lines(content, Draw(some, total))
    return sum(len(inert_json(line)) for line in lines) // len(some)


def _worst_first(content: Content) -> list[int]:
    """The places of all samples by score; what has none comes first."""
    scores: dict[str, float | None] = {}
    if content.runs:
        run = content.runs[0]
        scores = {n: Result(each, run.scoring).score for n, each in run.assessments.items()}
    elif content.methods:
        scores = dict(content.methods[0].scores)
    found = [scores.get(sample.id or "") for sample in content.samples]
    return sorted(range(len(found)), key=lambda n: -1.0 if (s := found[n]) is None else s)


def detail_lines(content: Content, draw: Draw) -> Iterator[dict[str, Any]]:
    """What the page shows of each drawn sample; what there is not is left out."""
    for place in draw.chosen:
        sample = content.samples[place]
        name = sample.id or ""
        runs = {
            run.name: {**_judged(run.seen(name)), **_sure(run.result(run.assessments[name]))}
            for run in content.runs
            if name in run.assessments
        }
        methods = {}
        for method in content.methods:
            said = method.said.get(name)
            found = {} if said is None else _said(said)
            if error := method.unscored.get(name):
                found["error"] = error
            if found:
                methods[method.name] = found
        yield _present({**_texts(sample), "runs": runs, "methods": methods})


def _texts(sample: Sample) -> dict[str, Any]:
    texts = {
        "id": sample.id,
        "input": sample.input,
        "response": sample.response,
        "reference": sample.reference,
        "metadata": plain(sample.metadata),
    }
    if sample.contexts is not None:
        texts["contexts"] = list(sample.contexts)
    return texts


def _present(found: dict[str, Any]) -> dict[str, Any]:
    """Without what is None or an empty object."""
    return {name: value for name, value in found.items() if value is not None and value != {}}


def _judged(assessment: Assessment) -> dict[str, Any]:
    why = assessment.unscored
    found: dict[str, Any] = {"claims": [_claim(claim) for claim in assessment.claims]}
    if why is not None:
        found["unscored"] = {"reason": why.reason.value, "detail": why.detail}
    for kind, others in (("members", assessment.members), ("panel", assessment.panel)):
        if others and not (kind == "panel" and assessment.repeats):
            found[kind] = [
                {"judge": each.judge, "criterion": each.criterion, **_judged(each)}
                for each in others
            ]
    if assessment.repeats:
        found["repeats"] = [
            {"judge": f"repeat {place}", "criterion": each.criterion, **_judged(each)}
            for place, each in enumerate(assessment.repeats, start=1)
        ]
    return found


def _sure(result: Result) -> dict[str, str]:
    """Where the score may lie, at the setting that the text names: the dial does not change it."""
    if result.interval is None:
        return {}
    return {"sure": f"At T = {result.scoring.temperature:g}: {interval_text(result.interval)}."}


def _claim(claim: ClaimVerdict) -> dict[str, Any]:
    found = claim.model_dump(mode="json", exclude_none=True, exclude={"original_probabilities"})
    always = {"claim": claim.claim, "verdict": found.get("verdict")}
    return {**{n: v for n, v in found.items() if v != ""}, **always}


def _said(said: Said) -> dict[str, Any]:
    found: dict[str, Any] = {"reason": said.reason} if said.reason else {}
    if said.verdicts:
        found["verdicts"] = [
            {**each._asdict(), "verdict": None if each.verdict is None else each.verdict.value}
            for each in said.verdicts
        ]
    return found
