"""Judge with a provider's batches: submit today, collect tomorrow, from any process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tcva_adapters.batches.ledger import open_ledger
from tcva_adapters.batches.submission import Submission
from tcva_adapters.errors import JudgeError
from tcva_adapters.evaluator import AnyScorer
from tcva_adapters.results.settings_base import Count, Positive, check
from tcva_adapters.samples.file_writing import usable_path
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Report

_PASSING = ("connection", "timeout", "server_error", "unreachable", "rate_limit")


def submit(
    scorer: AnyScorer,
    samples: Iterable[Sample],
    folder: str | Path,
    *,
    batch_size: int = 50_000,
    tries: int = 3,
    recipe: Json | None = None,
) -> Report:
    """Send requests for all judgements that the scorer's store does not have, in batches.

    First each model gets one live request without any sample. It shows what the model refuses (a
    temperature, a seed), and a wrong key or name. Repeating the call continues an interrupted one
    and sends nothing twice.

    Args:
        scorer: A `TCVA` or `CCRS` with a store, whose judges are named ``openai:MODEL``; lexical
            judges among them are asked at once.
        samples: What to judge; copied into the folder.
        folder: The folder of the submission.
        batch_size: The most requests in a batch; a second call changes it for later batches.
        tries: How often a request is sent at most if it expires or the server fails on it.
        recipe: JSON values from which the caller builds the scorer again.

    Returns:
        The progress: the tables ``samples``, ``batches`` and ``failures``.

    Raises:
        InvalidValueError: The scorer has no store or asks no such model, the folder holds another
            submission, or another command is at work on it.
        JudgeError: The server refuses, or cannot be reached.
    """
    check(Count, "tries", tries)
    check(Count, "batch_size", batch_size)
    with Submission.open(scorer, folder, is_new=True) as submission:
        submission.begin(samples)
        submission.ledger.put(
            tries=tries,
            batch_size=batch_size,
            recipe=recipe or {},
        )
        return submission.advance()


def status(scorer: AnyScorer, folder: str | Path) -> Report:
    """Ask the provider how far the batches of a submission are; submits and collects nothing.

    Args:
        scorer: The scorer of the submission.
        folder: The folder of the submission.

    Raises:
        InvalidValueError: There is no submission, or one of another scorer.
        JudgeError: As for `submit`.
    """
    with Submission.open(scorer, folder) as submission:
        submission.look()
        return submission.report()


def collect(
    scorer: AnyScorer,
    folder: str | Path,
    *,
    again: bool = False,
    wait: float | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Report:
    """Store the replies that have arrived, and submit requests for what is still missing.

    A further round is submitted when the batches of the round before it have ended: for verdicts
    that a reply lacks, for the verdicts on claims that the judge was asked for, and again for
    requests that expired or that the server failed on.

    Args:
        scorer: The scorer of the submission; settings that only score verdicts may differ.
        folder: The folder of the submission.
        again: Also repeat requests that failed at their last try, and those of batches that
            failed, were cancelled or are not found.
        wait: Seconds between two looks, until nothing is under way; None looks once.
        say: Is called with the sentence of every look but the last.

    Raises:
        InvalidValueError: As for `status`.
        JudgeError: As for `submit`.
    """
    seconds = None if wait is None else check(Positive, "wait", wait)
    while True:
        try:
            with Submission.open(scorer, folder) as submission:
                report = submission.advance(again=again)
            again = False
            (figures,) = report.records("samples")
            if seconds is None or not figures["requests_under_way"]:
                return report
            say(report.sentence)
        except JudgeError as error:
            if seconds is None or error.reason not in _PASSING:
                raise
        time.sleep(seconds)


def cancel(scorer: AnyScorer, folder: str | Path) -> Report:
    """Cancel all batches under way; `collect` still stores the replies given until then.

    Args:
        scorer: The scorer of the submission.
        folder: The folder of the submission.

    Raises:
        InvalidValueError: As for `status`.
        JudgeError: As for `submit`.
    """
    with Submission.open(scorer, folder) as submission:
        return submission.cancel()


def recipe_of(folder: str | Path) -> Json:
    """Return the ``recipe`` that `submit` was given.

    Raises:
        InvalidValueError: There is no submission.
    """
    with open_ledger(usable_path(folder)) as ledger:
        return dict(ledger.get("recipe", {}))
