"""Judging by the batches of a provider: submit today, collect tomorrow, from any process.

A submission is a folder: the samples, and a ledger of what was asked and what came of it. No key
is in it. Judgements go into the scorer's store, under the keys that a live run has.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from tcva_adapters.batches.drafts import Drafts, Limits, path_of
from tcva_adapters.batches.ledger import ENDED, BusyError, Entry, Ledger
from tcva_adapters.batches.report import BatchReport
from tcva_adapters.batches.sending import Sending
from tcva_adapters.batches.work import Asked, Work, judging_of, models_of
from tcva_adapters.core.checks import as_number
from tcva_adapters.errors import (
    InvalidSampleError,
    InvalidValueError,
    JudgeError,
    UnreadableInputError,
)
from tcva_adapters.evaluator import Scorer
from tcva_adapters.models.openai_batches import BatchService
from tcva_adapters.progress import progress_of
from tcva_adapters.results.settings import Count, check
from tcva_adapters.samples.output import replacing, usable_path
from tcva_adapters.samples.sample import Sample

_SAMPLES: Final = "samples.jsonl"
_LONGEST_WAIT: Final = 86_400.0
_MOST_TRIES: Final = 100
_TRANSIENT: Final = frozenset(
    {"connection", "timeout", "server_error", "unreachable", "rate_limit"}
)


def submit(
    scorer: Scorer[Any],
    samples: Iterable[Sample],
    folder: str | Path,
    *,
    limits: Limits | None = None,
    tries: int = 3,
    window: str = "24h",
    trial: bool = True,
    recipe: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> BatchReport:
    """Ask a provider for all judgements that the scorer's store does not have, in batches.

    The same call again goes on where an earlier one was interrupted, and asks nothing twice.

    Args:
        scorer: A `TCVA` or `CCRS` with a store, whose judges are named ``openai:MODEL``; lexical
            judges beside them are asked at once.
        samples: What to judge; copied into the folder.
        folder: Of the submission.
        limits: What the provider takes; by default OpenAI's limits of a file.
        tries: How often a request is asked that expires or that the server fails on.
        window: Within what time a batch is to be answered.
        trial: Ask each model one live question first, without any sample. It finds out what the
            model refuses (a temperature, a seed), and a wrong key or name, before a day is lost.
        recipe: JSON values from which the caller builds the scorer again.
        progress: As for `Scorer.evaluate_many`.

    Returns:
        How far it is.

    Raises:
        InvalidValueError: The scorer has no store or asks no such model, a limit is out of range,
            or the folder holds another submission.
        InvalidSampleError: There are no samples.
        JudgeError: The server refuses, or cannot be reached.
        UnreadableInputError: The folder's ledger cannot be read.
    """
    check(Count, "tries", tries)
    if tries > _MOST_TRIES:
        msg = f"tries={tries}; a request is asked {_MOST_TRIES} times at most"
        raise InvalidValueError(msg)
    _check_store(scorer)
    limits = limits or Limits()
    with _opened(scorer, folder, is_new=True) as (ledger, place, asked):
        about = _begun(ledger, place, scorer, samples)
        with ledger.transaction():
            ledger.put(
                **about,
                window=window,
                tries=tries,
                limits=[limits.requests, limits.bytes, limits.tokens],
                recipe=dict(recipe or {}),
            )
        for each in asked.values():
            each.is_tried = each.is_tried or not trial
        return _advance(ledger, place, scorer, asked, progress=progress)


def status(scorer: Scorer[Any], folder: str | Path) -> BatchReport:
    """Ask the provider how far the batches of a submission are; nothing is collected or asked.

    Args:
        scorer: As it was submitted.
        folder: Of the submission.

    Raises:
        InvalidValueError: There is no submission, or one of another scorer.
        JudgeError: As for `submit`.
        UnreadableInputError: As for `submit`.
    """
    return _reported(scorer, folder, Sending.look)


def collect(
    scorer: Scorer[Any],
    folder: str | Path,
    *,
    again: bool = False,
    wait: float | None = None,
    progress: bool | None = None,
    told: Callable[[BatchReport], object] | None = None,
) -> BatchReport:
    """Put what was answered into the scorer's store, and ask for what is still lacking.

    A further round is submitted by itself when the batches of the one before it have ended: for
    verdicts that a reply lacks, for the verdicts on claims that the judge was asked for, and for
    requests that expired or that the server failed on. A live run would ask for them, too.

    Args:
        scorer: As it was submitted; settings of the dial may differ.
        folder: Of the submission.
        again: Also ask for what failed at its last try, what no other try was given to, and what
            is in batches that failed, were cancelled or are lost.
        wait: Look again after so many seconds, at most a day's, until nothing is under way; None
            looks once.
        progress: As for `Scorer.evaluate_many`.
        told: Told the report of each look that others follow.

    Raises:
        InvalidValueError: As for `status`.
        JudgeError: As for `submit`.
        UnreadableInputError: As for `submit`.
    """
    _check_store(scorer)
    seconds = None if wait is None else as_number(wait)
    if wait is not None and (seconds is None or not 0 < seconds <= _LONGEST_WAIT):
        msg = f"wait={wait!r}; it is a number of seconds above 0, a day at most, or None"
        raise InvalidValueError(msg)
    while True:
        try:
            with _opened(scorer, folder) as (ledger, place, asked):
                report = _advance(ledger, place, scorer, asked, again=again, progress=progress)
            again = False
        except BusyError:
            if seconds is None:
                raise
        except JudgeError as error:
            if seconds is None or error.reason not in _TRANSIENT:
                raise
        else:
            if seconds is None or all(each.is_lost for each in report.under_way):
                return report
            if told is not None:
                told(report)
        time.sleep(seconds)


def cancel(scorer: Scorer[Any], folder: str | Path) -> BatchReport:
    """Have the provider stop all batches under way; `collect` takes what was answered until then.

    Args:
        scorer: As it was submitted.
        folder: Of the submission.

    Raises:
        InvalidValueError: As for `status`.
        JudgeError: As for `submit`.
        UnreadableInputError: As for `submit`.
    """
    return _reported(scorer, folder, Sending.cancel)


def _reported(
    scorer: Scorer[Any], folder: str | Path, do: Callable[[Sending], object]
) -> BatchReport:
    """How far a submission is once that is done."""
    with (
        _opened(scorer, folder) as (ledger, place, asked),
        _sending(ledger, place, asked) as sending,
    ):
        do(sending)
        return _report(ledger, place, asked)


def recipe_of(folder: str | Path) -> Mapping[str, Any]:
    """What `submit` was given as ``recipe``.

    Raises:
        InvalidValueError: There is no submission.
        UnreadableInputError: As for `submit`.
    """
    with Ledger(usable_path(folder)) as ledger:
        found: Mapping[str, Any] = ledger.get("recipe", {})
        return found


def _check_store(scorer: Scorer[Any]) -> None:
    if scorer.store is None:
        msg = "answers of a batch go into a store; give the scorer store=... (--store)"
        raise InvalidValueError(msg)


@contextmanager
def _opened(
    scorer: Scorer[Any], folder: str | Path, *, is_new: bool = False
) -> Iterator[tuple[Ledger, Path, dict[str, Asked]]]:
    """The ledger of a submission of this scorer, its folder, and its models."""
    models = models_of(scorer)
    place = usable_path(folder)
    judging = judging_of(scorer)
    with Ledger(place, is_new=is_new) as ledger:
        if ledger.get("judging", judging) != judging:
            msg = (
                f"{place} was submitted with another judge, server, criterion or way of asking; "
                "give another folder, or the same settings and OPENAI_BASE_URL"
            )
            raise InvalidValueError(msg)
        known, tried = ledger.get("known", {}), ledger.get("tried", [])
        yield (
            ledger,
            place,
            {
                name: Asked(model, dict(known.get(name, {})), name in tried)
                for name, model in models.items()
            },
        )


def _begun(
    ledger: Ledger, place: Path, scorer: Scorer[Any], samples: Iterable[Sample]
) -> dict[str, Any]:
    """Copy the samples of a new submission, and say what to note; of one that is there, compare."""
    digest, number = hashlib.sha256(), 0

    def lines() -> Iterator[bytes]:
        nonlocal number
        for number, sample in enumerate(samples, start=1):  # noqa: B007  # the last one is the number
            line = sample.model_dump_json(exclude={"metadata"}).encode() + b"\n"
            digest.update(line)
            yield line

    held = ledger.get("samples")
    if held is None:
        with replacing(place / _SAMPLES) as stream:
            stream.writelines(lines())
            if not number:
                msg = "there are no samples to submit"
                raise InvalidSampleError(msg)
        return {
            "samples": [number, digest.hexdigest()],
            "judging": judging_of(scorer),
            "submission": uuid4().hex[:16],
        }
    for _ in lines():
        pass
    if held != [number, digest.hexdigest()]:
        msg = (
            f"{place} holds a submission of other samples; give another folder, or go on with it by "
            "'tcva collect'"
        )
        raise InvalidValueError(msg)
    return {}


@contextmanager
def _sending(ledger: Ledger, place: Path, asked: Mapping[str, Asked]) -> Iterator[Sending]:
    with ExitStack() as stack:
        services = {name: BatchService(each.model) for name, each in asked.items()}
        for service in services.values():
            stack.callback(service.close)
        yield Sending(ledger, services, place, _limits(ledger).tokens)


def _advance(
    ledger: Ledger,
    place: Path,
    scorer: Scorer[Any],
    asked: Mapping[str, Asked],
    *,
    again: bool = False,
    progress: bool | None,
) -> BatchReport:
    """Take a submission as far as it gets now."""
    with _sending(ledger, place, asked) as sending:
        for entry, found in sending.look():
            sending.collect(entry, found, ledger.get("tries"))
        with ledger.transaction():
            _split(ledger, place)
            if again:
                _reopen(ledger)
                ledger.put(again=True, is_passed=False)
        if not ledger.get("is_passed", default=False):
            _pass(ledger, place, scorer, asked, progress=progress)
        sending.send()
        for entry in ledger.batches():
            if entry.state in ENDED:
                path_of(place, entry.number).unlink(missing_ok=True)
    return _report(ledger, place, asked)


def _reopen(ledger: Ledger) -> None:
    for entry in ledger.batches():
        if entry.state == "stopped" or entry.is_lost:
            ledger.reopen(entry.number)
            ledger.update(entry.number, state="collected", said="")


def _split(ledger: Ledger, place: Path) -> None:
    """Write batches anew that are over limits which were lowered, or whose file is gone."""
    for entry in ledger.batches():
        if entry.state in {"ready", "uploading", "uploaded"} and _is_unfit(ledger, place, entry):
            ledger.take_back(entry.number)
            ledger.update(entry.number, state="split", requests=0)
            ledger.put(is_passed=False)


def _is_unfit(ledger: Ledger, place: Path, entry: Entry) -> bool:
    limits, path = _limits(ledger), path_of(place, entry.number)
    if not path.is_file():
        return entry.state != "uploaded"
    is_over = (
        entry.requests > limits.requests
        or path.stat().st_size > limits.bytes
        or (limits.tokens is not None and entry.tokens > limits.tokens)
    )
    return entry.requests > 1 and is_over


def _pass(
    ledger: Ledger,
    place: Path,
    scorer: Scorer[Any],
    asked: Mapping[str, Asked],
    *,
    progress: bool | None,
) -> None:
    """Take every sample as far as it gets; requests are written where a round has ended."""
    batches = ledger.batches()
    is_over = all(entry.state in ENDED for entry in batches)
    last = batches[-1] if batches else None
    drafts = Drafts(
        ledger,
        place,
        round=last.round + 1 if last else 1,
        limits=_limits(ledger),
        number=last.number if last else 0,
    )
    total = ledger.get("samples")[0]
    try:
        with ledger.transaction(), progress_of("asking", total, progress) as shown:
            again = ledger.get("again", default=False)
            work = Work(ledger, scorer, asked, drafts if is_over else None, again=again)
            counts = work.run(_samples(ledger, place), lambda _: shown.tick())
            drafts.close()
            ledger.put(
                counts=[counts.scored, counts.unscored, counts.waiting],
                failures=[[why, n, counts.first[why]] for why, n in counts.failed.items()],
                known={name: each.refused for name, each in asked.items()},
                tried=[name for name, each in asked.items() if each.is_tried],
                again=again and not is_over,
                is_passed=True,
            )
    finally:
        drafts.discard()


def _samples(ledger: Ledger, place: Path) -> Iterator[Sample]:
    path, digest = place / _SAMPLES, hashlib.sha256()
    try:
        with path.open("rb") as stream:
            for line in stream:
                digest.update(line)
                yield Sample.model_validate_json(line)
        is_ours = ledger.get("samples")[1] == digest.hexdigest()
    except (OSError, ValueError):
        is_ours = False
    if not is_ours:
        msg = (
            f"{path} is not as 'tcva submit' left it; bring it back, or submit into another folder: "
            "what is in the store is not asked again"
        )
        raise UnreadableInputError(msg)


def _limits(ledger: Ledger) -> Limits:
    return Limits(*ledger.get("limits"))


def _report(ledger: Ledger, place: Path, asked: Mapping[str, Asked]) -> BatchReport:
    samples = ledger.get("samples")[0]
    scored, unscored, waiting = ledger.get("counts", [0, 0, samples])
    return BatchReport(
        folder=str(place),
        samples=samples,
        scored=scored,
        unscored=unscored,
        waiting=waiting,
        failures=tuple((why, number, first) for why, number, first in ledger.get("failures", [])),
        batches=tuple(entry for entry in ledger.batches() if entry.state != "split"),
        refused={name: each.refused for name, each in asked.items()},
        prices={name: each.model.config.prices for name, each in asked.items()},
    )
