"""Run framework metrics and TCVA on the same samples, and compare them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

from tcva_adapters.compare.runs.folder import save
from tcva_adapters.compare.runs.run import Run
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.loops import blocking
from tcva_adapters.progress import progress_of
from tcva_adapters.results.argument_names import with_checked_names
from tcva_adapters.tables import Report

P = ParamSpec("P")


def _reporting(make: Callable[P, Run]) -> Callable[P, Coroutine[Any, Any, Report]]:
    """Make the function that takes the arguments of a run, and reports on it."""

    @wraps(make, assigned=(), updated=())
    async def acompare(*args: P.args, **arguments: P.kwargs) -> Report:
        """Run framework metrics and TCVA on the same samples, each judged once, and compare them.

        The arguments are those of `Run`, which also makes the run in steps where the scores are
        needed, too::

            run = Run("samples.jsonl", {"judge": "openai:MODEL"})
            table = run.table()
            report = run.comparison(table)

        ``run.cost()`` reports the calls that this would take, without making one.

        Raises:
            InvalidValueError: A setting is out of range or unknown; raised before the first call.
            UnreadableInputError: A file cannot be read.
            MissingDependencyError: Something that was asked for is not installed.
        """
        run = make(*args, **arguments)
        return await asyncio.to_thread(_saved, run, await run.atable())

    return acompare


acompare = with_checked_names(_reporting(Run))
"""Run framework metrics and TCVA on the same samples, each judged once, and compare them.

It takes the arguments of `Run`, and saves the comparison in the folder, where there is one.
"""

compare = with_checked_names(blocking(acompare))
"""`acompare` for synchronous callers.

>>> from tcva_adapters import Sample
>>> samples = [Sample(response="It opens at nine.", contexts=["It opens at nine."])]
>>> compare(samples, {"judge": "lexical"}, frameworks="none").records("methods")[0]["mean"]
1.0
"""


def _saved(run: Run, table: ScoreTable) -> Report:
    """Compare the table of a run, and save both where there is a folder."""
    with progress_of("statistics", None, run.progress):
        report = run.comparison(table)
    if run.folder is not None:
        save(run.folder, table, report, overwrite=run.overwrite)
    return report
