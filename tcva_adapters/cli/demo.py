"""``tcva demo``: what five levels and the dial do, on samples that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tcva_adapters.cli import options
from tcva_adapters.cli.judged import print_figures
from tcva_adapters.cli.report import Report, check_report, report_written
from tcva_adapters.cli.written import say_written
from tcva_adapters.compare.demo import demo as run_demo
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.printing import notes

_DEFAULT: Final = Path("tcva-demo.html")


def demo(
    *,
    report: Report = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Judge the package's own samples with the lexical judge and turn the dial. Offline.

    The report is tcva-demo.html in the current folder unless --report names another; with --json
    only where it is named.

    Example: tcva demo
    """
    check_report(report, "-", overwrite=overwrite)
    options.silence_frameworks()
    found = run_demo()
    print_figures(found, as_json=as_json)
    if report is None and not as_json:
        try:
            say_written(report_written(found, _DEFAULT))
        except InvalidValueError as error:  # nobody asked for it, so that this is no failure
            notes().print(f"no report: {error}")
    say_written(report_written(found, report, overwrite=overwrite))
