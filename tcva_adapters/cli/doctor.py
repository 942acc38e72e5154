"""``tcva doctor``: what is installed, what is broken, and whether a judge answers, and how well."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from statistics import median
from typing import Any, Final

import typer

from tcva_adapters import __version__, diagnosis
from tcva_adapters.cli import options
from tcva_adapters.cli.judges import asked_judges
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.data import sample_lines
from tcva_adapters.errors import InvalidValueError, TCVAError
from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.judges.base import VERDICT_FORMS
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.resolve import resolve_judge
from tcva_adapters.models.protocol import JudgeModel
from tcva_adapters.printing import Part, Table, json_line, notes, show
from tcva_adapters.results.evidence import HIGH
from tcva_adapters.samples.sample import Sample

FIT: Final = 10
"""Right levels of the dozen from which on no other form of verdicts is tried. A judge that is right
in nine of ten cases gets so many or more in nine of ten trials."""

USABLE: Final = 8
"""Below, a judge is not advised: who calls everything ``fully``, or everything ``none``, gets half of
the dozen or less."""

_FEW: Final = 2
"""Calls that fail at the very beginning, after which nothing more is asked."""


@options.takes_model_settings
def doctor(
    *,
    judge: options.ProbedJudge = None,
    as_json: options.AsJson = False,
    model_settings: Mapping[str, Any],
) -> None:
    """Say what is installed, what cannot be imported and how to fix it; try a judge, if given.

    A judge is asked about a dozen claims of known answer, to find out whether it is fit and in which
    form to ask it. Exits with 1 when something installed is broken, or the judge does not answer.

    Example: tcva doctor --judge openai:gpt-4.1-mini
    """
    # Importing a framework takes seconds, in a process of its own: two at a time.
    with ThreadPoolExecutor(2) as pool:
        findings = list(pool.map(diagnosis.inspect, REQUIREMENTS.values()))
    answer, trial = (None, None) if judge is None else _ask(judge, model_settings)
    is_silent = (answer is not None and not answer["answers"]) or (
        trial is not None and trial["fault"]
    )
    failed = any(f.fault for f in findings) or is_silent
    if as_json:
        packages = [asdict(finding) for finding in findings]
        report = {"tcva_adapters": __version__, "packages": packages, "judge": answer}
        typer.echo(json_line({**report, "trial": trial}))
    else:
        show([*([] if trial is None else _trial_parts(trial)), *_parts(findings, answer)])
    if failed:
        raise typer.Exit(1)


def _parts(
    findings: Sequence[diagnosis.Finding], answer: Mapping[str, Any] | None
) -> Iterator[Part]:
    yield f"tcva-adapters {__version__} on Python {platform.python_version()}"
    rows = []
    for finding in findings:
        if finding.version is None:
            state = f"not installed: {finding.fix}"
        else:
            state = f"broken: {finding.fault} -> {finding.fix}" if finding.fault else "works"
        rows.append((finding.name, finding.version or "-", state))
    yield Table(("package", "version", "state"), rows, "llp")
    yield from (f"judge {key}: {value}" for key, value in (answer or {}).items())


def _ask(name: str, settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Whether a judge answers and what its server takes, and how it does on claims of known answer."""
    try:
        judge = resolve_judge(*asked_judges([name], settings, max_concurrency=1))
    except TCVAError as error:
        return {"name": name, "answers": False, "detail": str(error)}, None
    if not isinstance(judge, LLMJudge):
        return {"name": judge.name, "answers": True, "detail": "local, nothing to reach"}, None
    model = judge.model
    if not hasattr(model, "probe"):
        msg = f"the doctor cannot probe {name!r}; give openai:MODEL"
        raise InvalidValueError(msg)
    answer = {"name": judge.name, **model.probe()}
    if not answer["answers"]:
        return answer, None
    forms = VERDICT_FORMS if answer["logprobs"] else ("written",)
    return answer, try_model(model, forms)


def try_model(model: JudgeModel, forms: Sequence[str]) -> dict[str, Any]:
    """Ask a model about a dozen claims of known answer, in one form after the other until one is fit.

    ``form`` is the one to use, None where none is good enough; ``fault`` says why the trial ended
    early.
    """
    samples = [Sample.model_validate_json(line) for line in sample_lines("trial.jsonl")]
    tried: list[dict[str, Any]] = []
    fault = ""
    for form in forms:
        notes().print(f"{len(samples)} claims of known answer, {form}")
        found, fault = _tried(LLMJudge(model, verdicts=form), samples)  # type: ignore[arg-type]  # checked when built
        tried.append({"form": form, **found})
        fits = found["right"] >= FIT and not found["unread"] and found["quotes_made_up"] <= 1
        if fault or fits:
            break
    best = max(tried, key=lambda each: each["right"])
    is_usable = best["right"] >= USABLE and not fault
    if fault:
        advice = f"the trial ended early: {fault}"
    elif is_usable:
        advice = f"use --verdicts {best['form']}"
        advice += "" if best["right"] >= FIT else ", with care: try it on samples of yours first"
    else:
        advice = (
            f"not fit: no form had {USABLE} levels right; take another model, or --judge lexical"
        )
    return {
        "judge": model.name,
        "advice": advice,
        "form": best["form"] if is_usable else None,
        "forms": tried,
        "fault": fault,
    }


def _tried(judge: LLMJudge, samples: Sequence[Sample]) -> tuple[dict[str, Any], str]:
    """How a form did; the fault where the first calls failed, or one that stays."""
    levels: list[str | None] = []
    wrong: list[str] = []
    seconds: list[float] = []
    made_up = 0
    for sample in samples:
        judged = judge.assess(sample, FAITHFULNESS)
        seconds.append(judged.usage.seconds)
        claim = judged.claims[0] if judged.claims else None
        level = None if claim is None else claim.original_verdict or claim.verdict
        levels.append(level)
        if level not in sample.metadata["levels"]:
            wrong.append(f"{sample.metadata['tests']} ({level or 'no level'})")
        made_up += claim is not None and level in HIGH and claim.original_verdict is not None
        why = judged.unscored
        if why is not None and not any(levels) and (why.fatal or len(levels) == _FEW):
            return _figures(levels, wrong, made_up, seconds), why.text
    return _figures(levels, wrong, made_up, seconds), ""


def _figures(
    levels: Sequence[str | None], wrong: Sequence[str], made_up: int, seconds: Sequence[float]
) -> dict[str, Any]:
    return {
        "right": len(levels) - len(wrong),
        "claims": len(levels),
        "unread": levels.count(None),
        "quotes_made_up": made_up,
        "seconds": median(seconds),
        "wrong": list(wrong),
    }


def _trial_parts(trial: Mapping[str, Any]) -> Iterator[Part]:
    yield f"{trial['judge']}: {trial['advice']}"
    rows = [
        (
            each["form"],
            f"{each['right']} of {each['claims']}",
            str(each["quotes_made_up"]),
            str(each["unread"]),
            f"{each['seconds']:.1f}",
        )
        for each in trial["forms"]
    ]
    yield Table(("form", "levels right", "quotes made up", "no level", "seconds"), rows, "lnnnn")
    for each in trial["forms"]:
        if each["wrong"]:
            yield f"wrong in form {each['form']}: {', '.join(each['wrong'])}"
