"""Judging by the batches of a provider: submit today, collect tomorrow, from any process.

A submission is a folder: the samples, and a ledger of what was asked and what came of it. No key
is in it. Judgements go into the scorer's store, under the keys that a live run has.

What the server is asked to do is noted before and after, so that a command which is killed in
between finds what it did, and does nothing twice that costs.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, cast

from tcva_adapters.batches.ledger import (
    ENDED,
    LOST,
    SENT,
    STOPPED,
    WAITING,
    Ledger,
    opened,
)
from tcva_adapters.batches.lines import read_lines
from tcva_adapters.batches.work import judging_of, models_of, replayed
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import Scorer, checked_samples
from tcva_adapters.models.openai_batches import Batch, BatchService
from tcva_adapters.models.openai_model import NEUTRAL
from tcva_adapters.progress import progress_of
from tcva_adapters.results.setting_checks import Count, Positive, check
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.questions import Question, stored_answers
from tcva_adapters.samples.sample import Sample
from tcva_adapters.samples.whole_files import usable_path
from tcva_adapters.tables import Column, Report, Table, counted, named_columns

_BATCH: Final = named_columns(
    number="int",
    model="text",
    state="text",
    status="text",
    requests="int",
    completed="int",
    failed="int",
    id="text",
)
_FAILURE: Final = named_columns(
    reason="text",
    samples="int",
    example="prose",
)
_PASSING: Final = ("connection", "timeout", "server_error", "unreachable", "rate_limit")


def submit(
    scorer: Scorer[Any],
    samples: Iterable[Sample],
    folder: str | Path,
    *,
    batch_size: int = 50_000,
    tries: int = 3,
    recipe: Mapping[str, Any] | None = None,
) -> Report:
    """Send requests for all judgements that the scorer's store does not have, in batches.

    First each model gets one live request without any sample. It shows what the model refuses (a
    temperature, a seed), and a wrong key or name. The same call again continues an interrupted one
    and sends nothing twice.

    Args:
        scorer: A `TCVA` or `CCRS` with a store, whose judges are named ``openai:MODEL``; lexical
            judges among them are asked at once.
        samples: What to judge; copied into the folder.
        folder: Of the submission.
        batch_size: Requests in a batch at most; a second call changes it for later batches.
        tries: How often a request is asked that expires or that the server fails on.
        recipe: JSON values from which the caller builds the scorer again.

    Returns:
        How far it is: the tables ``samples``, ``batches`` and ``failures``.

    Raises:
        InvalidValueError: The scorer has no store or asks no such model, the folder holds another
            submission, or another command is at work on it.
        JudgeError: The server refuses, or cannot be reached.
    """
    check(Count, "tries", tries)
    check(Count, "batch_size", batch_size)
    with _Submission.opened(scorer, folder, is_new=True) as submission:
        submission.begin(samples)
        submission.ledger.put(
            tries=tries,
            batch_size=batch_size,
            recipe=dict(recipe or {}),
        )
        return submission.advanced()


def status(scorer: Scorer[Any], folder: str | Path) -> Report:
    """Ask the provider how far the batches of a submission are; nothing is collected or asked.

    Args:
        scorer: As it was submitted.
        folder: Of the submission.

    Raises:
        InvalidValueError: There is no submission, or one of another scorer.
        JudgeError: As for `submit`.
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
        wait: Look again after so many seconds, until nothing is under way; None
            looks once.
        say: Takes the sentence of each look that others follow.

    Raises:
        InvalidValueError: As for `status`.
        JudgeError: As for `submit`.
    """
    seconds = None if wait is None else check(Positive, "wait", wait)
    while True:
        try:
            with _Submission.opened(scorer, folder) as submission:
                report = submission.advanced(again=again)
            again = False
            if (
                seconds is None
                or not report.records("samples")[0]["requests_under_way"]
            ):
                return report
            say(report.sentence)
        except JudgeError as error:
            if seconds is None or error.reason not in _PASSING:
                raise
        time.sleep(seconds)


def cancel(scorer: Scorer[Any], folder: str | Path) -> Report:
    """Have the provider stop all batches under way; `collect` takes what was answered until then.

    Args:
        scorer: As it was submitted.
        folder: Of the submission.

    Raises:
        InvalidValueError: As for `status`.
        JudgeError: As for `submit`.
    """
    with _Submission.opened(scorer, folder) as submission:
        return submission.cancel()


def recipe_of(folder: str | Path) -> Mapping[str, Any]:
    """What `submit` was given as ``recipe``.

    Raises:
        InvalidValueError: There is no submission.
    """
    with opened(usable_path(folder)) as ledger:
        return dict(ledger.get("recipe", {}))


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
        cls,
        scorer: Scorer[Any],
        folder: str | Path,
        *,
        is_new: bool = False,
    ) -> Iterator[_Submission]:
        """The submission of this scorer in a folder, for this command alone."""
        models, place, judging = (
            models_of(scorer),
            usable_path(folder),
            judging_of(scorer),
        )
        if scorer.store is None:
            msg = "a batch needs a store for its replies; set store=... (--store FILE)"
            raise InvalidValueError(msg)
        with opened(place, is_new=is_new) as ledger, ExitStack() as stack:
            if not is_new and ledger.get("samples") is None:
                msg = f"'tcva batch submit' was stopped before {place} was complete; run it again"
                raise InvalidValueError(msg)
            if ledger.get("judging", judging) != judging:
                how = "was submitted with another judge, server (OPENAI_BASE_URL) or criterion"
                msg = f"{place} {how}; use the same settings, or another folder"
                raise InvalidValueError(msg)
            services = {
                name: stack.enter_context(closing(BatchService(model)))
                for name, model in models.items()
            }
            yield cls(ledger, place, scorer, services)

    def begin(self, samples: Iterable[Sample]) -> None:
        """Note the samples of a new submission; those of an old one are to be the same."""
        checked = checked_samples(samples)
        lines = (
            each.model_dump_json(exclude={"metadata"}).encode() for each in checked
        )
        if self.ledger.get("judging") is None:
            with self.ledger.transaction():
                number = self.ledger.hold(lines)
                self.ledger.put(samples=number, judging=judging_of(self.scorer))
        elif any(
            one != other
            for one, other in zip_longest(
                chain.from_iterable(self.ledger.samples()), lines
            )
        ):
            msg = f"{self.folder} contains a submission of other samples; use another folder"
            raise InvalidValueError(msg)

    def advanced(self, *, again: bool = False) -> Report:
        """Take the submission as far as it gets now."""
        self.look(take=True)
        if again or self.ledger.get("found") is None:
            with self.ledger.transaction():
                for each in self.ledger.batches(STOPPED, LOST) if again else ():
                    self.ledger.take_back(each["number"])
                self._pass(again=again)
        with self.ledger.transaction():
            if not self.ledger.batches(WAITING, SENT, LOST):
                self.ledger.cut(self.ledger.get("batch_size"))
        for each in self.ledger.batches(WAITING):
            self._send(each)
        return self.report()

    def _pass(self, *, again: bool) -> None:
        """Take every sample as far as it gets; requests go into the next batches."""
        store = cast("VerdictStore", self.scorer.store)
        counts: Counter[str] = Counter()
        first: dict[str, str] = {}
        refused = self.ledger.get("refused", {})
        with progress_of("asking", self.ledger.get("samples"), None) as shown:
            for page in self.ledger.samples():
                new: dict[str, Any] = {}
                for sample in map(Sample.model_validate_json, page):
                    questions = self.scorer.questions(sample)
                    answers = stored_answers(store, questions) if questions else []
                    for i, question in enumerate(questions):
                        if answers[i] is None:
                            answers[i] = self._answer(question, refused, again=again)
                            if answers[i] is not None:
                                new[question.key] = answers[i]
                    counts[self._outcome(sample, answers, first)] += 1
                    shown.tick()
                store.put_many(list(new.items()))
        self.ledger.put(found=[counts, first], refused=refused)

    def _answer(
        self,
        question: Question,
        refused: dict[str, Any],
        *,
        again: bool,
    ) -> Any:
        """The answer to a question; None where it is not there yet."""
        if question.judge.is_local:
            return question.ask()
        model = self.services[question.judge.model.name].model
        if (
            model.name not in refused
        ):  # one live question without any sample finds it out
            model.complete(NEUTRAL)
            refused[model.name] = dict(model.refused)
        names: set[str] = set()
        answer = replayed(question, model, self.ledger, refused[model.name], names)
        if again and answer is not None and answer.failure is not None:
            for name in names:
                self.ledger.forget(name)
            return replayed(question, model, self.ledger, refused[model.name], names)
        return answer

    def _outcome(
        self,
        sample: Sample,
        answers: list[Any],
        first: dict[str, str],
    ) -> str:
        """What a sample counts as; of failures the first of each reason is noted."""
        if None in answers:
            return "waiting"
        why = self.scorer.result_of(sample, answers).unscored
        if why is None or not why.reason.is_failure:
            return "scored" if why is None else "unscored"
        first.setdefault(why.reason.value, why.detail)
        return str(why.reason.value)

    def look(self, *, take: bool) -> None:
        """Ask the servers how far the batches are, and take what came of those that ended."""
        for each in self.ledger.batches(SENT, LOST):
            service, number = self.services[each["model"]], each["number"]
            try:
                found = service.batch(each["id"])
                known = {
                    name: getattr(found, name)
                    for name in ("status", "completed", "failed")
                }
                self.ledger.update(
                    number,
                    state=SENT,
                    detail="",
                    **known,
                )
                if take and found.has_ended:
                    self._take(number, found, service)
            except JudgeError as error:
                if error.reason != "no_batches":
                    raise
                detail = f"the server does not know it; check the API key, or use --again ({error})"
                self.ledger.update(number, state=LOST, detail=detail)

    def _take(
        self,
        number: int,
        found: Batch,
        service: BatchService,
    ) -> None:
        if found.status == "failed" and set(found.codes) == {"token_limit_exceeded"}:
            # Turned away, not looked at: it goes up again when there is room.
            self.ledger.update(number, state=WAITING, detail=found.said)
            return
        # One that failed as a whole fails again, and one that was cancelled was so on purpose.
        has_stopped = found.status in {"failed", "cancelled"}
        why = None if has_stopped else f"no reply; the batch is {found.status}"
        with self.ledger.transaction():
            for file in found.files:
                for line in read_lines(service.lines(file), service.mask):
                    self.ledger.answer(number, line)
            is_left = self.ledger.settle(number, why, self.ledger.get("tries"))
            state, detail = (
                (STOPPED, found.said or found.status) if is_left else (ENDED, "")
            )
            self.ledger.update(number, state=state, detail=detail)
            self.ledger.put(found=None)

    def _send(self, batch: Mapping[str, Any]) -> None:
        """Bring a batch on its way, unless it was turned away and others are still there."""
        number, model, file = batch["number"], batch["model"], batch["file"]
        if batch["detail"] and any(
            each["model"] == model for each in self.ledger.batches(SENT)
        ):
            return
        service, found = self.services[model], None
        if file:  # a command that was stopped may have made the batch
            found = service.find(file)
        else:
            with TemporaryFile(dir=self.folder) as stream:
                stream.writelines(chain.from_iterable(self.ledger.requests(number)))
                stream.seek(0)
                file = service.upload(stream, f"tcva-{number:04d}.jsonl")
        self.ledger.update(number, file=file, detail="")
        found = found or service.create(file)
        self.ledger.update(
            number,
            state=SENT,
            id=found.id,
            status=found.status,
        )

    def cancel(self) -> Report:
        """Have all batches stopped that are under way, and send no other."""
        self.look(take=True)
        for each in self.ledger.batches(WAITING):
            if each["file"] and not each["detail"]:
                self._send(each)  # it may be there already
            else:
                self.ledger.update(
                    each["number"], state=STOPPED, detail="cancelled before it was sent"
                )
        for each in self.ledger.batches(SENT):
            found = self.services[each["model"]].cancel(each["id"])
            self.ledger.update(each["number"], status=found.status)
        return self.report()

    def report(self) -> Report:
        """How far it is."""
        batches, number = self.ledger.batches(), self.ledger.get("samples")
        counts, first = self.ledger.get("found") or [{"waiting": number}, {}]
        failures = [
            {
                "reason": w,
                "samples": counts[w],
                "example": t,
            }
            for w, t in first.items()
        ]
        under_way = self.ledger.batches(WAITING, SENT)
        found = {
            "samples": number,
            "failed": sum(each["samples"] for each in failures),
            **{name: counts.get(name, 0) for name in ("scored", "unscored", "waiting")},
            "requests_under_way": sum(each["requests"] for each in under_way),
        }
        notes = [
            f"batch {each['number']}: {each['detail']}"
            for each in batches
            if each["detail"]
        ]
        for who, refused in self.ledger.get("refused", {}).items():
            notes += [
                f"{who} gets requests without {what}: {why}"
                for what, why in refused.items()
            ]
        open_ = found["requests_under_way"]
        if not open_ and (found["failed"] or found["waiting"]):
            notes.append("'tcva batch collect --again' sends the failed requests again")
        scored, failed = found["scored"], found["failed"]
        coming = (
            f"{counted(open_, 'request')} under way"
            if open_
            else "no request under way"
        )
        sentence = (
            f"{scored} of {counted(number, 'sample')} scored, {failed} failed; {coming}"
        )
        samples = Table("samples", [Column(name, "int") for name in found], [found])
        tables = [
            samples,
            Table("batches", _BATCH, batches),
            Table("failures", _FAILURE, failures),
        ]
        return Report(sentence, tables, notes, {"folder": str(self.folder)})
