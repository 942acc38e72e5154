"""What is installed, what cannot be imported and how to fix it; and whether a judge is fit."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any, Final

from tcva_adapters import __version__
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.data import sample_lines
from tcva_adapters.errors import (
    InvalidValueError,
    JudgeError,
    MissingDependencyError,
    install_hint,
)
from tcva_adapters.frameworks import NO_TELEMETRY, REQUIREMENTS, Requirement
from tcva_adapters.judges.base import VERDICT_FORMS, Judge
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.resolve import model_of_name, resolve_judge
from tcva_adapters.results.evidence import HIGH
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Record, Report, Table, named_columns

IMPORT_SECONDS: Final = 120

FIT: Final = 10
"""Right levels of the dozen from which on no other form of verdicts is tried. A judge that is right
in nine of ten cases gets so many or more in nine of ten runs."""

USABLE: Final = 8
"""Below, a judge is not advised: who calls everything ``fully``, or everything ``none``, gets half of
the dozen or less."""

_ENDED: Final = "the test ended early"
_UNUSABLE: Final = "not usable"
_NAMES: Final = {"answers": "replies", "logprobs": "token probabilities"}

_FEW: Final = 2
"""Calls that fail at the very beginning, after which nothing more is asked."""

_PACKAGES: Final = named_columns(
    package="text",
    version="text",
    state="prose",
)
_JUDGE: Final = named_columns(what="text", found="prose")
_FORMS: Final = named_columns(
    form="text",
    right="int",
    claims="int",
    unread="int",
    quotes_made_up="int",
    seconds="score",
    wrong="prose",
)


def diagnose(judge: Any = None, **settings: Any) -> tuple[Report, bool]:
    """Import every optional package, and try a judge on a dozen claims of known answer.

    Args:
        judge: A name, or a model; None tries none.
        settings: Of ``openai:MODEL``, see `ModelConfig`.

    Returns:
        The report, and whether nothing that is installed is broken and the judge is usable.

    Raises:
        InvalidValueError: There is no way to try such a judge.
    """
    asked = None if judge is None else _asked(judge, settings)
    # Importing a framework takes seconds, in a process of its own: two at a time.
    with ThreadPoolExecutor(2) as pool:
        packages = list(pool.map(inspect, REQUIREMENTS.values()))
    broken = [
        each["package"] for each in packages if each["state"].startswith("broken")
    ]
    faults = f": {', '.join(broken)} cannot be imported" if broken else ""
    sentence = (
        f"tcva-adapters {__version__} on Python {platform.python_version()}{faults}"
    )
    tables = [Table("packages", _PACKAGES, packages)]
    is_well = not broken
    if asked is not None:
        answer, forms, advice = asked
        is_well = (
            is_well and answer["answers"] and not advice.startswith((_ENDED, _UNUSABLE))
        )
        sentence = f"{answer['judge']}: {advice}. {sentence}"
        rows = [
            {"what": _NAMES.get(k, k), "found": _said(k, v)} for k, v in answer.items()
        ]
        tables = [
            Table("test claims", _FORMS, forms),
            Table("judge", _JUDGE, rows),
            *tables,
        ]
    return Report(sentence, tables), is_well


def inspect(requirement: Requirement) -> dict[str, Any]:
    """Import one package in a process of its own, so that nothing of it stays here."""
    name, fix = requirement.distribution, install_hint(requirement.extra)
    try:
        installed = version(name)
    except PackageNotFoundError:
        return {
            "package": name,
            "version": None,
            "state": f"not installed: {fix}",
        }
    fault = ""
    try:
        subprocess.run(  # noqa: S603  # our own interpreter, module names from above
            [sys.executable, "-c", f"import {requirement.module}"],
            capture_output=True,
            text=True,
            timeout=IMPORT_SECONDS,
            check=True,
            env={
                **os.environ,
                **NO_TELEMETRY,
                "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
            },
        )
    except subprocess.TimeoutExpired:
        fault = f"import took over {IMPORT_SECONDS} s"
    except subprocess.CalledProcessError as error:
        fault = (
            error.stderr.strip().splitlines() or [f"exit code {error.returncode}"]
        )[-1]
    state = f"broken: {fault}; {fix}" if fault else "works"
    return {
        "package": name,
        "version": installed,
        "state": state,
    }


def _asked(name: Any, settings: Mapping[str, Any]) -> tuple[Record, list[Record], str]:
    """What a judge's server takes, how each form of verdicts did, and what to do."""
    try:
        model = model_of_name(name, **settings) if isinstance(name, str) else None
        judge = resolve_judge(model or name)
    except (JudgeError, MissingDependencyError) as error:
        return (
            {
                "judge": str(name),
                "answers": False,
                "detail": str(error),
            },
            [],
            "no answer",
        )
    asked: Any = judge.model if isinstance(judge, LLMJudge) else judge
    if not hasattr(asked, "probe"):
        if asked is judge:
            return (
                {"judge": judge.name, "answers": True},
                [],
                "works, and needs no server",
            )
        msg = f"only judges of the form openai:MODEL or nli:FOLDER can be tested, got {name!r}"
        raise InvalidValueError(msg)
    answer = {"judge": judge.name, **asked.probe()}
    if not answer["answers"]:
        return answer, [], "no answer"
    samples = [
        Sample.model_validate_json(line) for line in sample_lines("doctor.jsonl")
    ]
    tried: list[Record] = []
    judges: dict[str, Judge] = {"nli": judge}
    if isinstance(judge, LLMJudge):
        forms = VERDICT_FORMS if answer["logprobs"] else VERDICT_FORMS[:1]
        judges = {form: LLMJudge(judge.model, verdicts=form) for form in forms}
    for form, each in judges.items():
        found, fault = _tried(each, samples)
        tried.append({"form": form, **found})
        if fault:
            return answer, tried, f"{_ENDED}: {fault}"
        if (
            found["right"] >= FIT
            and not found["unread"]
            and found["quotes_made_up"] <= 1
        ):
            break
    best = max(tried, key=lambda each: each["right"])
    if best["right"] < USABLE:
        few = f"fewer than {USABLE} of {len(samples)} levels are right"
        advice = f"{_UNUSABLE}: {few}; use another model or the lexical judge"
    else:
        care = (
            "" if best["right"] >= FIT else ", and check it on your own samples first"
        )
        how = f" with verdicts={best['form']}" if isinstance(judge, LLMJudge) else ""
        advice = f"use it{how}{care}"
    return answer, tried, advice


def _said(what: str, found: Any) -> str:
    if isinstance(found, dict):
        return (
            "; ".join(f"{name}: {why}" for name, why in found.items()) or "no parameter"
        )
    if found is False:
        return "no (needed for yes/no verdicts)" if what == "logprobs" else "no"
    return "yes" if found is True else str(found)


def _tried(judge: Judge, samples: Sequence[Sample]) -> tuple[dict[str, Any], str]:
    """How a form did; the fault where the first calls failed, or one that stays."""
    levels: list[str | None] = []
    wrong: list[str] = []
    seconds: list[float] = []
    made_up = 0
    fault = ""
    for sample in samples:
        found = judge.assess(sample, FAITHFULNESS)
        seconds.append(found.usage.seconds)
        claim = found.claims[0] if found.claims else None
        level = None if claim is None else claim.original_verdict or claim.verdict
        levels.append(level)
        if level not in sample.metadata["levels"]:
            wrong.append(f"{sample.metadata['tests']} ({level or 'no level'})")
        made_up += (
            claim is not None and level in HIGH and claim.original_verdict is not None
        )
        why = found.unscored
        if why is not None and not any(levels) and (why.fatal or len(levels) == _FEW):
            fault = why.text
            break
    record = {
        "right": len(levels) - len(wrong),
        "claims": len(levels),
        "unread": levels.count(None),
        "quotes_made_up": made_up,
        "seconds": median(seconds),
        "wrong": ", ".join(wrong),
    }
    return record, fault
