"""``tcva demo``: what the temperature does, on samples that come with the package."""

from __future__ import annotations

from pathlib import Path

from tcva_adapters.cli import options
from tcva_adapters.cli.output import check_targets, print_report
from tcva_adapters.cli.report import PAGE_BEGINNING, write_page
from tcva_adapters.cli.settings import silence_frameworks
from tcva_adapters.console import note
from tcva_adapters.demo import demo as looked_at
from tcva_adapters.demo import demo_samples, demo_table
from tcva_adapters.errors import InvalidValueError

_DEFAULT = Path("tcva-demo.html")


def demo(
    *,
    report: options.Page = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Judge 57 bundled samples offline and compare the verdicts with a reader's.

    Writes the report tcva-demo.html to the current folder, or to the file that --report names.
    With --json, a report is written only if --report names one.

    Example: tcva demo
    """
    check_targets({"--report": (report, PAGE_BEGINNING)}, overwrite=overwrite)
    silence_frameworks()
    samples = demo_samples()
    table = demo_table(samples)
    print_report(looked_at(table), as_json=as_json)
    path = report or (None if as_json else _DEFAULT)
    if path is None:
        return
    try:
        write_page(
            table,
            path,
            samples=samples,
            title="tcva demo",
            overwrite=overwrite,
        )
    except InvalidValueError as error:
        if report is not None:
            raise
        note(f"no report: {error}")  # not asked for, so this is no failure
