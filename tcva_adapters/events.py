"""Results as OpenTelemetry events, for the logger provider that your application has set up.

Nothing here opens a connection: without a provider, events go nowhere. A worker process (Ray, Spark)
needs a provider of its own; commands have one under ``opentelemetry-instrument``. Set one up where
your application starts, for example::

    from opentelemetry._logs import set_logger_provider
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    provider = LoggerProvider()
    provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    set_logger_provider(provider)

Then every result of an evaluator with ``events=True`` is an event, and `emit` makes one of a result
that you have already::

    tcva = TCVA("faithfulness", judge="openai:MODEL", events=True)
    result = tcva.evaluate(sample)  # an event on the current span
    emit(result.at("strict"), span)  # one more, on the span of the answer

The event is called ``gen_ai.evaluation.result``. Its names are those of OpenTelemetry's semantic
conventions 1.41.1 (`CONVENTION`, also the schema URL of the events), but for the sample's id. Those of
generative AI have moved to https://github.com/open-telemetry/semantic-conventions-genai, with the
same names for this event:

=================================  =================================================================
attribute                          content
=================================  =================================================================
``gen_ai.evaluation.name``         ``tcva_faithfulness``, with unusual settings: ``(T=0.2)``
``gen_ai.evaluation.score.value``  the score, in [0, 1]; absent without one
``gen_ai.evaluation.score.label``  ``pass`` or ``fail``; absent without a score
``gen_ai.evaluation.explanation``  a sentence; without texts of the sample by default
``error.type``                     why there is no score: ``refusal``, ``timeout``, ... (`Reason`)
``gen_ai.response.id``             of the sample's metadata, if it is there
``tcva.sample.id``                 the sample's or the conversation's id, if it has one
=================================  =================================================================
"""

from __future__ import annotations

import logging
from contextlib import suppress
from functools import cache
from importlib import import_module
from time import time_ns
from typing import Any

from tcva_adapters._version import __version__
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.frameworks import REQUIREMENTS
from tcva_adapters.lazy import check
from tcva_adapters.results.protocol import Scored, is_result
from tcva_adapters.results.setting_names import column_name, unusual
from tcva_adapters.results.settings import TCVASettings

CONVENTION = "https://opentelemetry.io/schemas/1.41.1"
"""The version of OpenTelemetry's semantic conventions that the names are of: the last one before those
of generative AI moved to open-telemetry/semantic-conventions-genai, which has kept the names of this
event."""

EVENT = "gen_ai.evaluation.result"
_RESPONSE_ID = "gen_ai.response.id"


def emit(
    result: Scored,
    span: Any = None,
    *,
    name: str | None = None,
    texts: bool = False,
) -> None:
    """Emit a result as the event ``gen_ai.evaluation.result``.

    It has the score, and ``pass`` or ``fail`` as label; without a score it has neither, and
    ``error.type`` is the reason (``refusal``, ``timeout``, see `Reason`). The response's id is
    ``gen_ai.response.id`` in the sample's metadata, if it is there. What a provider or an exporter
    raises is logged and not passed on.

    Args:
        result: The result.
        span: The span that the event belongs to, e.g. that of the answer; by default the current
            one.
        name: The name of the evaluation; by default that of the evaluator, as far as the result has
            its settings, e.g. ``tcva_faithfulness(T=0.2)``. It does not have profiles, or the way
            in which claims were found.
        texts: Make the result's ``reason`` the explanation, which quotes a claim and the judge, or
            an error. Without it the explanation is the ``summary``, which has no text of the
            sample.

    Raises:
        MissingDependencyError: OpenTelemetry is not installed.
        InvalidValueError: This is no result, or no span.
    """
    logs = _logs()
    trace = import_module("opentelemetry.trace")
    if not is_result(result) or not isinstance(span, trace.Span | None):
        raise InvalidValueError(
            f"emit takes a result and an OpenTelemetry span or None, got {type(result).__name__} and {type(span).__name__}"
        )
    evaluation = name or _name(result)
    judged: Any = getattr(result, "assessment", result)
    label = None if result.passed is None else "pass" if result.passed else "fail"
    why = result.unscored if result.score is None else None
    attributes = {
        "gen_ai.evaluation.name": evaluation,
        "gen_ai.evaluation.score.value": result.score,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": result.reason if texts else result.summary,
        "error.type": why and why.reason.value,
        _RESPONSE_ID: str(judged.metadata.get(_RESPONSE_ID) or "") or None,
        # Not in the convention: without a span for each answer, nothing else says which
        # answer was scored.
        "tcva.sample.id": result.sample_id,
    }
    try:
        within = span and trace.set_span_in_context(span)
        logger = logs.get_logger("tcva_adapters", __version__, schema_url=CONVENTION)
        record = logs.LogRecord(
            timestamp=time_ns(),
            context=within,
            severity_number=logs.SeverityNumber.INFO,
            event_name=EVENT,
            attributes={k: v for k, v in attributes.items() if v is not None},
        )
        logger.emit(record)
    except Exception as error:  # noqa: BLE001  # whatever a provider raises, the result is there
        with suppress(Exception):  # a handler of logs may lead to the same provider
            log = logging.getLogger(__name__)
            log.warning(
                "no event for %s: %s: %s", evaluation, type(error).__name__, error
            )


def _name(result: Any) -> str:
    """Return the name of a result's evaluator, by the settings that the result has."""
    judged = getattr(result, "assessment", result)
    members = getattr(judged, "members", ())
    settings = {
        **dict(getattr(result, "scoring", result)),
        "fuse": tuple(f"{member.judge} {member.criterion}" for member in members),
        "repeats": len(getattr(judged, "repeats", ())) or 1,
    }
    kind = result.kind.replace("conversation", "tcva")
    subject = f"{kind}_{judged.criterion.replace(',', '_')}"
    return column_name(subject, unusual(TCVASettings, settings))


@cache
def _logs() -> Any:
    """Import OpenTelemetry's API of logs.

    Its name begins with an underscore, as it may still change; up to 1.45 its records take the
    arguments that are used here.

    Raises:
        MissingDependencyError: It is not installed, too old, or has moved.
    """
    check(REQUIREMENTS["otel"])
    return import_module(REQUIREMENTS["otel"].module)
