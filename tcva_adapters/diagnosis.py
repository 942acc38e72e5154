"""Find out what is installed, what cannot be imported and how to fix it, and whether a judge is fit."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from operator import itemgetter
from statistics import median
from typing import Any

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

IMPORT_SECONDS = 120

FIT = 10
"""With so many right levels of the dozen, no further form of verdicts is tried. A judge that is right in
nine of ten cases gets at least so many in nine of ten runs."""

USABLE = 8
"""With fewer right levels a judge counts as not usable. A judge that calls everything ``fully``, or
everything ``none``, gets half of the dozen or less."""

_LABELS = {"answers": "replies", "logprobs": "token probabilities"}

_FEW = 2
"""After so many failed calls at the very beginning, the test ends."""

_PACKAGES = named_columns("package", "version", state="prose")
_JUDGE = named_columns("what", found="prose")
_FORMS = named_columns(
    "form",
    right="int",
    claims="int",
    unread="int",
    quotes_made_up="int",
    seconds="score",
    wrong="prose",
)


@dataclass(frozen=True, slots=True)
class _Trial:
    """The outcome of testing a judge.

    Attributes:
        facts: Its name, whether it answers, and what its server takes.
        advice: What to do.
        forms: A record for each form of verdicts that was tried.
        is_usable: Whether it can be used.
    """

    facts: Record
    advice: str
    forms: Sequence[Record] = ()
    is_usable: bool = False


def diagnose(judge: Any = None, **settings: Any) -> tuple[Report, bool]:
    """Import every optional package, and test a judge on a dozen claims with known levels.

    Args:
        judge: A name, or a model; None tests none.
        settings: Settings of ``openai:MODEL``, see `ModelConfig`.

    Returns:
        The report, and whether nothing that is installed is broken and the judge is usable.

    Raises:
        InvalidValueError: Such a judge cannot be tested.
    """
    trial = None if judge is None else _trial_of(judge, settings)
    # Importing a framework takes seconds, in a process of its own: two at a time.
    with ThreadPoolExecutor(2) as pool:
        packages = list(pool.map(package_record, REQUIREMENTS.values()))
    broken = [row["package"] for row in packages if row["state"].startswith("broken")]
    faults = f": {', '.join(broken)} cannot be imported" if broken else ""
    sentence = (
        f"tcva-adapters {__version__} on Python {platform.python_version()}{faults}"
    )
    tables = [Table("packages", _PACKAGES, packages)]
    if trial is None:
        return Report(sentence, tables), not broken
    facts = [
        {
            "what": _LABELS.get(name, name),
            "found": _fact(name, value),
        }
        for name, value in trial.facts.items()
    ]
    sentence = f"{trial.facts['judge']}: {trial.advice}. {sentence}"
    tables[:0] = [
        Table("test claims", _FORMS, trial.forms),
        Table("judge", _JUDGE, facts),
    ]
    return Report(sentence, tables), trial.is_usable and not broken


def package_record(requirement: Requirement) -> Record:
    """Import one package in a process of its own, and return its version and state."""
    name = requirement.distribution
    fix = install_hint(requirement.extra)
    installed = None
    try:
        installed = version(name)
        subprocess.run(  # noqa: S603  # our own interpreter, module names from above
            [sys.executable, "-c", f"import {requirement.module}"],
            capture_output=True,
            text=True,
            timeout=IMPORT_SECONDS,
            check=True,
            env={**os.environ, **NO_TELEMETRY, "DEEPEVAL_FILE_SYSTEM": "READ_ONLY"},
        )
        state = "works"
    except PackageNotFoundError:
        state = f"not installed: {fix}"
    except subprocess.TimeoutExpired:
        state = f"broken: import took over {IMPORT_SECONDS} s; {fix}"
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or [f"exit code {error.returncode}"]
        state = f"broken: {lines[-1]}; {fix}"
    return {
        "package": name,
        "version": installed,
        "state": state,
    }


def _trial_of(name: object, settings: Mapping[str, Any]) -> _Trial:
    """Ask a judge's server what it takes, and test the judge if it answers."""
    try:
        judge = resolve_judge(
            (model_of_name(name, **settings) if isinstance(name, str) else None) or name
        )
    except (JudgeError, MissingDependencyError) as error:
        return _Trial(
            {
                "judge": str(name),
                "answers": False,
                "detail": str(error),
            },
            "no answer",
        )

    facts: Record = {"judge": judge.name, "answers": True}
    server: Any = judge.model if isinstance(judge, LLMJudge) else judge
    if not hasattr(server, "probe"):
        if server is judge:
            return _Trial(facts, "works, and needs no server", is_usable=True)
        raise InvalidValueError(
            f"only judges of the form openai:MODEL or nli:FOLDER can be tested, got {name!r}"
        )
    facts |= server.probe()
    if not facts["answers"]:
        return _Trial(facts, "no answer")
    return _trial_of_forms(judge, facts)


def _trial_of_forms(judge: Judge, facts: Record) -> _Trial:
    """Test the forms of verdicts of a judge that answers, until one is good enough."""
    judges: dict[str, Judge] = {"nli": judge}
    if isinstance(judge, LLMJudge):
        forms = VERDICT_FORMS if facts["logprobs"] else VERDICT_FORMS[:1]
        judges = {form: LLMJudge(judge.model, verdicts=form) for form in forms}
    records = []
    for form, judge_of_form in judges.items():
        record, fault = _form_record(form, judge_of_form)
        records.append(record)
        if fault:
            return _Trial(facts, f"the test ended early: {fault}", records)
        is_read = not record["unread"] and record["quotes_made_up"] <= 1
        if record["right"] >= FIT and is_read:
            break

    best = max(records, key=itemgetter("right"))
    if best["right"] < USABLE:
        advice = (
            f"not usable: fewer than {USABLE} of {best['claims']} levels are right; "
            "use another model or the lexical judge"
        )
        return _Trial(facts, advice, records)
    advice = "use it"
    if isinstance(judge, LLMJudge):
        advice += f" with verdicts={best['form']}"
    if best["right"] < FIT:
        advice += ", and check it on your own samples first"
    return _Trial(facts, advice, records, is_usable=True)


def _fact(name: str, value: object) -> str:
    if isinstance(value, dict):
        reasons = (f"{parameter}: {reason}" for parameter, reason in value.items())
        return "; ".join(reasons) or "no parameter"
    if value is False:
        return "no (needed for yes/no verdicts)" if name == "logprobs" else "no"
    return "yes" if value is True else str(value)


def _form_record(form: str, judge: Judge) -> tuple[Record, str]:
    """Test one form; return its record, and a fault if the first calls failed or one was fatal."""
    levels = []
    wrong = []
    seconds = []
    made_up = 0
    fault = ""
    for line in sample_lines("doctor.jsonl"):
        sample = Sample.model_validate_json(line)
        assessment = judge.assess(sample, FAITHFULNESS)
        seconds.append(assessment.usage.seconds)
        level = None
        for claim in assessment.claims[:1]:
            level = claim.original_verdict or claim.verdict
            if claim.original_verdict in HIGH:
                made_up += 1
        levels.append(level)
        if level not in sample.metadata["levels"]:
            wrong.append(f"{sample.metadata['tests']} ({level or 'no level'})")
        unscored = assessment.unscored
        if unscored is None or any(levels):
            continue
        if unscored.fatal or len(levels) == _FEW:
            fault = unscored.text
            break
    record = {
        "form": form,
        "right": len(levels) - len(wrong),
        "claims": len(levels),
        "unread": levels.count(None),
        "quotes_made_up": made_up,
        "seconds": median(seconds),
        "wrong": ", ".join(wrong),
    }
    return record, fault
