"""``tcva doctor``: what is installed, what is broken, and whether a judge answers."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import typer

from tcva_adapters import __version__, diagnosis
from tcva_adapters.cli import options
from tcva_adapters.cli.judges import asked_judges
from tcva_adapters.errors import InvalidValueError, TCVAError
from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.judging.model_judge import ModelJudge
from tcva_adapters.judging.resolve import resolve_judge
from tcva_adapters.judging.trial import Trial, try_model
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.printing import Part, Table, json_line, notes, show


@options.takes_model_settings
def doctor(
    *,
    judge: options.ProbedJudge = None,
    as_json: options.AsJson = False,
    model_settings: Mapping[str, Any],
) -> None:
    """Say what is installed, what cannot be imported and how to fix it; try a judge, if given.

    A judge is asked about a dozen claims of known answer, to find out what it is fit for and in which
    form to ask it. Exits with 1 when something installed is broken, or the judge does not answer.

    Example: tcva doctor --judge openai:gpt-4.1-mini
    """
    # Importing a framework takes seconds, in a process of its own: two at a time.
    with ThreadPoolExecutor(2) as pool:
        findings = list(pool.map(diagnosis.inspect, REQUIREMENTS))
    answer, trial = (None, None) if judge is None else _ask(judge, model_settings)
    is_silent = (answer is not None and not answer["answers"]) or (
        trial is not None and trial.fault
    )
    failed = any(f.is_broken for f in findings) or is_silent
    if as_json:
        packages = [asdict(finding) for finding in findings]
        tried = None if trial is None else trial.to_dict()
        report = {"tcva_adapters": __version__, "packages": packages, "judge": answer}
        typer.echo(json_line({**report, "trial": tried}))
    else:
        show(
            [
                *([] if trial is None else [trial.sentence, *trial.parts()]),
                *_parts(findings, answer),
            ]
        )
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


def _ask(name: str, settings: Mapping[str, Any]) -> tuple[dict[str, Any], Trial | None]:
    """Whether a judge answers and what its server takes, and how it does on claims of known answer."""
    try:
        judge = resolve_judge(*asked_judges([name], settings, max_concurrency=1))
    except TCVAError as error:
        return {"name": name, "answers": False, "detail": str(error)}, None
    if not isinstance(judge, ModelJudge):
        return {"name": judge.name, "answers": True, "detail": "local, nothing to reach"}, None
    model = judge.model
    if not isinstance(model, OpenAICompatibleModel):
        msg = f"the doctor cannot probe {name!r}; give openai:MODEL"
        raise InvalidValueError(msg)
    answer = {"name": judge.name, **model.probe()}
    if not answer["answers"]:
        return answer, None
    return answer, try_model(model, logprobs=answer["logprobs"], say=notes().print)
