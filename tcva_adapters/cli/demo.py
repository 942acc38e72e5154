"""``tcva demo``: what five levels and the dial do, on samples that come with the package."""

from __future__ import annotations

import typer

from tcva_adapters.cli import options
from tcva_adapters.compare.demo import demo as run_demo
from tcva_adapters.printing import json_line


def demo(*, as_json: options.AsJson = False) -> None:
    """Judge the package's own samples with the lexical judge and turn the dial. Offline.

    Example: tcva demo
    """
    options.silence_frameworks()
    found = run_demo()
    if as_json:
        typer.echo(json_line(found.to_dict()))
    else:
        found.show()
