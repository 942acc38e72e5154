"""``tcva doctor``: what is installed, what is broken, and whether a judge answers, and how well."""

from __future__ import annotations

import typer

from tcva_adapters.cli import options
from tcva_adapters.cli.options import JUDGING, option
from tcva_adapters.cli.output import GATE_FAILED, print_report
from tcva_adapters.cli.settings import parse_settings
from tcva_adapters.diagnosis import diagnose
from tcva_adapters.results.settings import ModelConfig


def doctor(
    *,
    judge: str | None = option(JUDGING, "--judge -j", "Try openai:MODEL, too (15 to 55 calls)."),
    set_: list[str] | None = options.SET,
    as_json: bool = options.JSON,
) -> None:
    """Say what is installed, what cannot be imported and how to fix it; try a judge, if given.

    A judge is asked about a dozen claims of known answer, to find out whether it is fit and in which
    form to ask it. Exits with 1 when something installed is broken, or the judge does not answer.

    Example: tcva doctor --judge openai:gpt-4.1-mini
    """
    settings = parse_settings(set_, ModelConfig)
    found, is_well = diagnose(judge, **settings)
    print_report(found, as_json=as_json)
    if not is_well:
        raise typer.Exit(GATE_FAILED)
