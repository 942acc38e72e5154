"""``tcva doctor``: show what is installed or broken, and test a judge."""

from __future__ import annotations

from typing import Annotated

import typer

from tcva_adapters.cli import options
from tcva_adapters.cli.options import JUDGING, Text, Texts, option
from tcva_adapters.cli.output import GATE_FAILED, print_report
from tcva_adapters.cli.settings import parse_settings
from tcva_adapters.diagnosis import diagnose
from tcva_adapters.results.settings import ModelConfig


def doctor(
    *,
    judge: Annotated[
        Text,
        option(
            JUDGING,
            "--judge -j",
            "Also test this judge, openai:MODEL (15 to 55 calls).",
        ),
    ] = None,
    set_: Annotated[
        Texts, options.setting("timeout=60, requests-per-minute=30")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show what is installed, what is broken and how to fix it; with --judge, test a judge.

    The test asks the judge about a dozen claims with known verdicts. It shows whether the judge is
    good enough and which form of reply suits it. Exits with 1 if an installed package is broken or
    the judge does not answer or is not usable.

    Example: tcva doctor --judge openai:gpt-4.1-mini
    """
    report, is_well = diagnose(judge, **parse_settings(set_, ModelConfig))
    print_report(report, as_json=as_json)
    if not is_well:
        raise typer.Exit(GATE_FAILED)
