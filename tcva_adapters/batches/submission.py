"""Judging by the batches of a provider: submit today, collect tomorrow, from any process.

A submission is a folder: the samples, and a ledger of what was asked and what came of it. No key
is in it. Judgements go into the scorer's store, under the keys that a live run has.

What the server is asked to do is noted before and after, so that a command which is killed in
between finds what it did, and does nothing twice that costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

from tcva_adapters.batches.ledger import ENDED, LOST, SENT, STOPPED, WAITING, Ledger, opened
from tcva_adapters.batches.lines import read_line
from tcva_adapters.batches.work import Work, judging_of, models_of
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.models.openai_batches import Batch, BatchService
from tcva_adapters.progress import progress_of
from tcva_adapters.results.settings import Count, Positive, check
from tcva_adapters.samples.output import usable_path
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Column, Report, Table, counted

_FULL: Final = "token_limit_exceeded"
_BATCH: Final = [
    *(Column("number", "int"), Column("model"), Column("state"), Column("status")),
    *(Column("requests", "int"), Column("completed", "int"), Column("failed", "int"), Column("id")),
]
_FAILURE: Final = [Column("reason"), Column("samples", "int"), Column("first", "prose")]
_DAY: Final = 86_400.0
_TRANSIENT: Final = frozenset(
    {"connection", "timeout", "server_error", "unreachable", "rate_limit"}
)


def submit(
    scorer: Scorer[Any],
    samples: Iterable[Sample],
    folder: str | Path,
    *,
    batch_size: int = 50_000,
    tries: int = 3,
    recipe: Mapping[str, Any] | None = None,
) -> Report:
    """Ask a provider for all judgements that the scorer's store does not have, in batches.

    Each model is asked one live question first, without any sample: it finds out what the model
    refuses (a temperature, a seed), and a wrong key or name, before a day is lost. The same call
    again goes on where an earlier one was interrupted, and asks nothing twice.

    Args:
        scorer: A `TCVA` or `CCRS` with a store, whose judges are named ``openai:MODEL``; lexical
            judges among them are asked at once.
        samples: What to judge; copied into the folder.
        folder: Of the submission.
        batch_size: Requests in a batch at most. A smaller number in a second call makes batches
            that wait smaller.
        tries: How often a request is asked that expires or that the server fails on.
        recipe: JSON values from which the caller builds the scorer again.

    Returns:
        How far it is: the tables ``samples``, ``batches`` and ``failures``.

    Raises:
        InvalidValueError: The scorer has no store or asks no such model, or the folder holds
            another submission.
        JudgeError: The server refuses, or cannot be reached.
        UnreadableInputError: The folder's ledger cannot be read.
    """
    check(Count, "tries", tries)
    check(Count, "batch_size", batch_size)
    with _Submission.opened(scorer, folder, is_new=True) as submission:
        submission.begin(samples)
        submission.ledger.put(tries=tries, batch_size=batch_size, recipe=dict(recipe or {}))
        return submission.advanced()


def status(scorer: Scorer[Any], folder: str | Path) -> Report:
    """Ask the provider how far the batches of a submission are; nothing is collected or asked.

    Args:
        scorer: As it was submitted.
        folder: Of the submission.

    Raises:
        InvalidValueError: There is no submission, or one of another scorer.
        JudgeError: As for `submit`.
        UnreadableInputError: As for `submit`.
    """
    with _Submission.opened(scorer, folder) as submission:
        submission.look(take=False)
        return submission.report()


def collect(
    scorer: Scorer[Any],
    folder: str | Path,
    *,
    again: bool = False,
    wait: float | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Report:
    """Put what was answered into the scorer's store, and ask for what is still lacking.

    A further round is submitted by itself when the batches of the one before it have ended: for
    verdicts that a reply lacks, for the verdicts on claims that the judge was asked for, and for
    requests that expired, were answered twice in different ways, or that the server failed on.

    Args:
        scorer: As it was submitted; settings that only look at verdicts may differ.
        folder: Of the submission.
        again: Also ask for what failed at its last try, and what is in batches that failed, were
            cancelled or are not found.
        wait: Look again after so many seconds, at most a day's, until nothing is under way; None
            looks once.
        say: Takes the sentence of each look that others follow.

    Raises:
        InvalidValueError: As for `status`.
        JudgeError: As for `submit`.
        UnreadableInputError: As for `submit`.
    """
    seconds = None if wait is None else check(Positive, "wait", wait)
    while True:
        try:
            with _Submission.opened(scorer, folder) as submission:
                report = submission.advanced(again=again)
            again = False
            if seconds is None or not report.records("samples")[0]["requests_under_way"]:
                return report
            say(report.sentence)
        except JudgeError as error:
            if seconds is None or error.reason not in _TRANSIENT:
                raise
        time.sleep(min(seconds, _DAY))


def cancel(scorer: Scorer[Any], folder: str | Path) -> Report:
    """Have the provider stop all batches under way; `collect` takes what was answered until then.

    Args:
        scorer: As it was submitted.
        folder: Of the submission.

    Raises:
        InvalidValueError: As for `status`.
        JudgeError: As for `submit`.
        UnreadableInputError: As for `submit`.
    """
    with _Submission.opened(scorer, folder) as submission:
        return submission.cancel()


def recipe_of(folder: str | Path) -> Mapping[str, Any]:
    """What `submit` was given as ``recipe``.

    Raises:
        InvalidValueError: There is no submission.
        UnreadableInputError: As for `submit`.
    """
    with opened(usable_path(folder)) as ledger:
        found: Mapping[str, Any] = ledger.get("recipe", {})
        return found


@dataclass(frozen=True, slots=True)
class _Submission:
    """An open submission: its ledger, its folder, its scorer, and the servers of its models."""

    ledger: Ledger
    folder: Path
    scorer: Scorer[Any]
    services: Mapping[str, BatchService]

    @classmethod
    @contextmanager
    def opened(
        cls, scorer: Scorer[Any], folder: str | Path, *, is_new: bool = False
    ) -> Iterator[_Submission]:
        """The submission of this scorer in a folder, for this command alone."""
        models, place, judging = models_of(scorer), usable_path(folder), judging_of(scorer)
        if scorer.store is None:
            msg = "answers of a batch go into a store; give the scorer store=... (--store)"
            raise InvalidValueError(msg)
        with opened(place, is_new=is_new) as ledger, ExitStack() as stack:
            if not is_new and ledger.get("samples") is None:
                msg = f"'tcva batch submit' was stopped before {place} was whole; give it once more"
                raise InvalidValueError(msg)
            if ledger.get("judging", judging) != judging:
                msg = (
                    f"{place} was submitted with another judge, server, criterion or way of asking; "
                    "give another folder, or the same settings and OPENAI_BASE_URL"
                )
                raise InvalidValueError(msg)
            services = {
                name: stack.enter_context(closing(BatchService(model)))
                for name, model in models.items()
            }
            yield cls(ledger, place, scorer, services)

    def begin(self, samples: Iterable[Sample]) -> None:
        """Note the samples of a new submission; those of an old one are to be the same."""
        lines = (each.model_dump_json(exclude={"metadata"}).encode() for each in samples)
        if self.ledger.get("judging") is None:
            with self.ledger.transaction():
                number = self.ledger.hold(lines)
                self.ledger.put(samples=number, judging=judging_of(self.scorer))
        elif any(one != other for one, other in zip_longest(self.ledger.samples(), lines)):
            msg = (
                f"{self.folder} holds a submission of other samples; give another folder, or go on "
                "with it by 'tcva batch collect'"
            )
            raise InvalidValueError(msg)

    def advanced(self, *, again: bool = False) -> Report:
        """Take the submission as far as it gets now."""
        self.look(take=True)
        if again or self.ledger.get("found") is None:
            with (
                self.ledger.transaction(),
                progress_of("asking", self.ledger.get("samples"), None) as shown,
            ):
                if again:
                    for each in self.ledger.batches(STOPPED, LOST):
                        self.ledger.take_back(each["number"])
                        self.ledger.update(each["number"], state=ENDED, detail="")
                models = {name: each.model for name, each in self.services.items()}
                work = Work(self.ledger, self.scorer, models, again, self.ledger.get("refused", {}))
                samples = map(Sample.model_validate_json, self.ledger.samples())
                self.ledger.put(found=work.run(samples, shown), refused=work.refused)
        with self.ledger.transaction():
            for each in self.ledger.batches(WAITING):
                # Where its file is noted, and it was not turned away, the server may have it.
                is_free = each["detail"] or not each["file"]
                if is_free and each["requests"] > self.ledger.get("batch_size"):
                    self.ledger.take_back(each["number"])
                    self.ledger.update(each["number"], state=ENDED, requests=0, detail="")
            if not self.ledger.batches(WAITING, SENT, LOST):
                self.ledger.cut(self.ledger.get("batch_size"))
        for each in self.ledger.batches(WAITING):
            self._send(each)
        return self.report()

    def look(self, *, take: bool) -> None:
        """Ask the servers how far the batches are, and take what came of those that ended."""
        for each in self.ledger.batches(SENT, LOST):
            service, number = self.services[each["model"]], each["number"]
            try:
                found = service.batch(each["id"])
                known = {name: getattr(found, name) for name in ("status", "completed", "failed")}
                self.ledger.update(number, state=SENT, detail="", **known)
                if take and found.has_ended:
                    self._take(number, found, service)
            except JudgeError as error:
                if error.reason != "no_batches":
                    raise
                detail = (
                    "is the key that of its submission? If it is gone for good, --again asks for what "
                    f"was in it, at its price ({error})"
                )
                self.ledger.update(number, state=LOST, detail=detail)

    def _take(self, number: int, found: Batch, service: BatchService) -> None:
        if found.status == "failed" and set(found.codes) == {_FULL}:
            # Turned away, not looked at: it goes up again when there is room.
            self.ledger.update(number, state=WAITING, detail=found.said)
            return
        # One that failed as a whole fails again, and one that was cancelled was so on purpose.
        has_stopped = found.status in {"failed", "cancelled"}
        why = f"not answered in its batch, which {found.status}, nor in those before it"
        with self.ledger.transaction():
            for file in found.files:
                for line in filter(
                    None, (read_line(each, service.mask) for each in service.lines(file))
                ):
                    self.ledger.answer(number, line)
            tries = self.ledger.get("tries")
            is_left = self.ledger.settle(number, None if has_stopped else why, tries)
            state, detail = (STOPPED, found.said or found.status) if is_left else (ENDED, "")
            self.ledger.update(number, state=state, detail=detail)
            self.ledger.put(found=None)

    def _send(self, batch: Mapping[str, Any]) -> None:
        """Bring a batch on its way, unless it was turned away and others are still there."""
        number, model, file = batch["number"], batch["model"], batch["file"]
        if batch["detail"] and any(each["model"] == model for each in self.ledger.batches(SENT)):
            return
        service, found = self.services[model], None
        if file:  # a command that was stopped may have made the batch
            found = service.find(file)
        else:
            with TemporaryFile(dir=self.folder) as stream:
                stream.writelines(self.ledger.requests(number))
                stream.seek(0)
                file = service.upload(stream, f"tcva-{number:04d}.jsonl")
        self.ledger.update(number, file=file, detail="")
        found = found or service.create(file)
        self.ledger.update(number, state=SENT, id=found.id, status=found.status)

    def cancel(self) -> Report:
        """Have all batches stopped that are under way, and send no other."""
        for each in self.ledger.batches(WAITING):
            if each["file"] and not each["detail"]:
                self._send(each)  # it may be there already
            else:
                said = "cancelled before it was sent"
                self.ledger.update(each["number"], state=STOPPED, detail=said)
        self.look(take=False)
        for each in self.ledger.batches(SENT):
            if not Batch(each["id"], each["status"]).has_ended:
                found = self.services[each["model"]].cancel(each["id"])
                self.ledger.update(each["number"], status=found.status)
        return self.report()

    def report(self) -> Report:
        """How far it is."""
        batches, number = self.ledger.batches(), self.ledger.get("samples")
        counts, first = self.ledger.get("found") or [{"waiting": number}, {}]
        failures = [{"reason": w, "samples": counts[w], "first": text} for w, text in first.items()]
        found = {"samples": number}
        found |= {name: counts.get(name, 0) for name in ("scored", "unscored", "waiting")}
        found["failed"] = sum(each["samples"] for each in failures)
        found["requests_under_way"] = sum(
            each["requests"] for each in self.ledger.batches(WAITING, SENT)
        )
        notes = [f"batch {each['number']}: {each['detail']}" for each in batches if each["detail"]]
        for name, refused in self.ledger.get("refused", {}).items():
            notes += [f"{name} is asked without {what}: {why}" for what, why in refused.items()]
        sentence = (
            f"{found['scored']} of {counted(number, 'sample')} scored, {found['failed']} failed"
        )
        open_ = found["requests_under_way"]
        if not open_ and (found["failed"] or found["waiting"]):
            notes.append("'tcva batch collect --again' asks once more for what is lacking")
        tables = [
            Table("samples", [Column(name, "int") for name in found], [found]),
            Table("batches", _BATCH, batches),
            Table("failures", _FAILURE, failures),
        ]
        sentence += (
            f"; {counted(open_, 'request')} under way" if open_ else "; nothing is under way"
        )
        return Report(sentence, tables, notes, {"folder": str(self.folder)})
