"""``tcva doctor``: what is installed, what is broken, and whether a judge answers."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Annotated, Any, Optional

import typer
from rich.console import Console
from rich.table import Table

from tcva_adapters import __version__, diagnosis
from tcva_adapters.cli import options
from tcva_adapters.errors import InvalidValueError, TCVAError
from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.judging.judge import ModelJudge
from tcva_adapters.judging.resolve import resolve_judge
from tcva_adapters.models.openai_model import OpenAICompatibleModel


def doctor(
    *,
    judge: Annotated[
        Optional[str],  # typer reads it at run time
        typer.Option("--judge", "-j", help="Also ask this judge, e.g. openai:MODEL (one call)."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say what is installed, what cannot be imported and how to mend it; ask a judge if given.

    Exits with 1 when something installed is broken, or the judge does not answer.

    Example: tcva doctor --judge openai:gpt-4.1-mini
    """
    # Importing a framework takes seconds, in a process of its own: two at a time.
    with ThreadPoolExecutor(2) as pool:
        findings = list(pool.map(diagnosis.inspect, REQUIREMENTS))
    answer = None if judge is None else _ask(judge)
    failed = any(f.is_broken for f in findings) or (answer is not None and not answer["answers"])
    if as_json:
        packages = [asdict(finding) for finding in findings]
        report = {"tcva_adapters": __version__, "packages": packages, "judge": answer}
        typer.echo(json.dumps(report))
    else:
        _print_findings(findings, answer)
    if failed:
        raise typer.Exit(1)


def _print_findings(
    findings: Sequence[diagnosis.Finding], answer: Mapping[str, Any] | None
) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(f"tcva-adapters {__version__} on Python {platform.python_version()}")
    table = Table(box=None, pad_edge=False)
    for heading in ("package", "version", "state"):
        table.add_column(heading)
    for finding in findings:
        if finding.version is None:
            state = f"not installed: {finding.fix}"
        else:
            state = f"broken: {finding.fault} -> {finding.fix}" if finding.fault else "works"
        table.add_row(finding.name, finding.version or "-", state)
    console.print(table)
    if answer is not None:
        for key, value in answer.items():
            console.print(f"judge {key}: {value}")


def _ask(name: str) -> dict[str, Any]:
    try:
        judge = resolve_judge(name)
    except TCVAError as error:
        return {"name": name, "answers": False, "detail": str(error)}
    if not isinstance(judge, ModelJudge):
        return {"name": judge.name, "answers": True, "detail": "local, nothing to reach"}
    if not isinstance(judge.model, OpenAICompatibleModel):
        msg = f"the doctor cannot probe {name!r}; give openai:MODEL"
        raise InvalidValueError(msg)
    return {"name": judge.name, **judge.model.probe()}
