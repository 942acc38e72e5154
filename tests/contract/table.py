"""The table scenario x adapter: ``python -m tests.contract.table`` runs it all and writes it."""

from __future__ import annotations

import logging
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Final

from tests.adapters.table import ADAPTERS
from tests.contract.adapters import Results, reference, run
from tests.contract.scenarios import SCENARIOS, THROUGH, Scenario

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "contract.md"

_HEAD: Final = """\
# One contract, all adapters

This page is written by `python -m tests.contract.table`, which runs every scenario.

{scenarios} scenarios run through `TCVA`; the {through} of them in which an adapter has a part (fields, errors, retries, loops,
threads, order, settings) also run over {adapters} faces of adapters, each through its framework's own entry point. Nothing is replaced but the LLM,
which answers from a script. For every sample the score (also at T = 0.1, 0.2, 0.5, 0.9 and 1.0, without a further call), the
reason of a missing score, and all claims with verdicts, quotes and reasons are **equal to those of `TCVA`, the scores to
the last bit**, and the judge is asked the same.

| adapter | entry point |
| --- | --- |
| ragas | `evaluate` and `aevaluate` |
| ragas collections | `batch_score` and `abatch_score` |
| deepeval | `evaluate`, with `run_async` and without |
| langchain | `batch` and `abatch` of parallel steps |
| llamaindex | `BatchEvalRunner`, sync and awaited |

A number is a score at the scenario's temperature (0.5 where it does not say otherwise), a word the reason why there is
none. Of more than three samples, the mean is shown. `tests/contract/test_contract.py` compares the page
with such a run, so it is never out of date.

"""

_NOTES: Final = """
A judgement does not repeat a call that failed, since that is left to the LLM object: after a 429, LangChain's
`with_retry` and RAGAS' `RunConfig(max_retries=...)` ask again with any LLM, DeepEval's and LlamaIndex' classes for
providers by themselves. A class of your own has the retries that you give it; without any the sample is unscored,
`rate_limit`, and the rest of the run is not affected.

Inside a running loop the evaluator's own awaited face is called for each sample; samples of LlamaIndex and RAGAS have
no ids, so results are told apart by their order alone.
"""


def page() -> str:
    """The page, from a run of everything; it takes a few seconds."""
    head = _HEAD.format(scenarios=len(SCENARIOS), through=len(THROUGH), adapters=len(ADAPTERS))
    titles = ("scenario", "what happens", "`TCVA`", *(adapter.name for adapter in ADAPTERS))
    rows = [titles, ("---",) * len(titles), *map(_row, SCENARIOS)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{head}{table}\n{_NOTES}"


def _row(scenario: Scenario) -> tuple[str, ...]:
    own, _ = reference(scenario)
    measured = [
        _cell(run(adapter, scenario, asynchronous=False)[-1].results) if scenario in THROUGH else ""
        for adapter in ADAPTERS
    ]
    return (scenario.name, scenario.about, _cell(own), *measured)


def _cell(results: Results) -> str:
    if len(results) > 3:
        scores = [result.score for result in results if result.score is not None]
        return f"{sum(scores) / len(scores):.4f} (mean of {len(scores)})"
    shown = []
    for result in results:
        reason = "" if result.unscored is None else result.unscored.reason.value
        score = "" if result.score is None else f"{result.score:.4f}"
        shown.append(f"{score} ({reason})" if score and reason else score or reason)
    return ", ".join(shown)


def main() -> None:
    """Write the page."""
    # What the tests set before any framework is imported: no telemetry, no keys.
    import_module("tests.support.quiet")
    logging.disable()  # failures are part of the contract, and RAGAS logs each
    with redirect_stdout(StringIO()):  # DeepEval prints a report of every run
        text = page()
    PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}: {len(SCENARIOS)} scenarios x {len(ADAPTERS)} adapters\n")


if __name__ == "__main__":
    main()
