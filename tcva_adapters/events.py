"""Results as OpenTelemetry events, for the logger provider that an application has set up.

Nothing here opens a connection: without a provider, events go nowhere. A worker process (Ray, Spark)
has a provider of its own, and commands have one under ``opentelemetry-instrument``.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cache
from importlib import import_module
from time import time_ns
from typing import Any, Final

from tcva_adapters._version import __version__
from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.lazy import check
from tcva_adapters.results.protocol import Scored

CONVENTION: Final = "https://opentelemetry.io/schemas/1.41.1"
"""The version of OpenTelemetry's semantic conventions that the names are of: the last one before those
of generative AI moved to a repository of their own, which has kept the names of this event."""

NAMES: Final = {
    "event": "gen_ai.evaluation.result",
    "name": "gen_ai.evaluation.name",
    "score": "gen_ai.evaluation.score.value",
    "label": "gen_ai.evaluation.score.label",
    "explanation": "gen_ai.evaluation.explanation",
    "error": "error.type",
    "response": "gen_ai.response.id",
    "sample": "tcva.sample.id",
}
"""What the convention calls the parts of an event. The sample's id is not in it: without a span for
each answer, nothing else says which answer was scored."""


def emit(result: Scored, span: Any = None, *, name: str | None = None, texts: bool = False) -> None:
    """Emit a result as the event ``gen_ai.evaluation.result``.

    It has the score, and ``pass`` or ``fail`` as label; without a score it has neither, and
    ``error.type`` is the reason (``refusal``, ``timeout``, see `Reason`). The response's id is
    ``gen_ai.response.id`` in the sample's metadata, if it is there. What a provider or an exporter
    raises is logged, and does not reach the caller.

    Args:
        result: The result.
        span: The span that the event belongs to, e.g. that of the answer; by default the current
            one.
        name: Of the evaluation; by default the kind of the result and the criterion, e.g.
            ``tcva_faithfulness``. An evaluator with ``events=True`` gives its own, which also names
            unusual settings.
        texts: Make the result's ``reason`` the explanation, which quotes a claim and the judge, or
            an error. Without it the explanation is the ``summary``, which has no text of the
            sample.

    Raises:
        MissingDependencyError: OpenTelemetry is not installed.
    """
    logs, why = _logs(), result.unscored
    judged: Any = getattr(result, "assessment", result)
    parts = {
        "name": name or f"{result.kind}_{judged.criterion.replace(',', '_')}",
        "score": result.score,
        "label": None if result.passed is None else "pass" if result.passed else "fail",
        "explanation": result.reason if texts else result.summary,
        "error": why.reason.value if why is not None and result.score is None else None,
        "response": judged.metadata.get(NAMES["response"]),
        "sample": result.sample_id,
    }
    try:
        within = span and import_module("opentelemetry.trace").set_span_in_context(span)
        logger = logs.get_logger("tcva_adapters", __version__, schema_url=CONVENTION)
        record = logs.LogRecord(
            timestamp=time_ns(),
            context=within,
            severity_number=logs.SeverityNumber.INFO,
            event_name=NAMES["event"],
            attributes={NAMES[part]: value for part, value in parts.items() if value is not None},
        )
        logger.emit(record)
    except Exception as error:  # noqa: BLE001  # whatever a provider raises, the result is there
        with suppress(Exception):  # a handler of logs may lead to the same provider
            log = logging.getLogger(__name__)
            log.warning("no event for %s: %s: %s", parts["name"], type(error).__name__, error)


@cache
def _logs() -> Any:
    """OpenTelemetry's API of logs.

    The underscore says that it may still change: up to 1.45 its records take what is given here.

    Raises:
        MissingDependencyError: It is not installed, too old, or has moved.
    """
    check(REQUIREMENTS["otel"])
    return import_module(REQUIREMENTS["otel"].module)
