"""A submission: samples, requests to servers, and their outcomes, in a folder.

They are in a ledger, which contains no API key. Judgements go into the scorer's store, under the keys
of a live run.

Each step at the server is noted before and after it, so that the next command after a kill finds what
was done, and does nothing twice that costs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from pathlib import Path
from tempfile import TemporaryFile

from tcva_adapters.batches.ledger import (
    ENDED,
    LOST,
    SENT,
    STOPPED,
    WAITING,
    BatchRow,
    Ledger,
    open_ledger,
)
from tcva_adapters.batches.replay import Replay
from tcva_adapters.batches.request_lines import read_lines
from tcva_adapters.errors import InvalidValueError, JudgeError
from tcva_adapters.evaluator import AnyScorer, checked_samples
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.models.openai_batches import Batch, BatchService
from tcva_adapters.models.openai_model import NEUTRAL, OpenAICompatibleModel
from tcva_adapters.progress import progress_of
from tcva_adapters.results.judgement import Judgement
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.runner.questions import Question, stored_answers
from tcva_adapters.samples.file_writing import usable_path
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Column, Report, Table, counted, named_columns

_BATCH = named_columns(
    number="int",
    model="text",
    state="text",
    status="text",
    requests="int",
    completed="int",
    failed="int",
    id="text",
)
_FAILURE = named_columns(
    reason="text",
    samples="int",
    example="prose",
)
_EXAMPLE = Sample(
    input="i",
    response="r",
    contexts=["c"],
    reference="f",
)

Refused = dict[str, dict[str, str]]
"""The features that servers refuse, each with its reason, by the model's name."""


@dataclass(frozen=True, slots=True)
class Submission:
    """An open submission.

    Attributes:
        ledger: The samples, the requests and their outcomes.
        folder: Its folder.
        scorer: The scorer that asks the questions.
        store: The store for the judgements.
        services: The batch services of the models, by the model's name.
    """

    ledger: Ledger
    folder: Path
    scorer: AnyScorer
    store: VerdictStore
    services: Mapping[str, BatchService]

    @classmethod
    @contextmanager
    def open(
        cls, scorer: AnyScorer, folder: str | Path, *, is_new: bool = False
    ) -> Iterator[Submission]:
        """Open the submission of this scorer in a folder, for this command alone."""
        models = _models_of(scorer)
        path = usable_path(folder)
        if scorer.store is None:
            raise InvalidValueError(
                "a batch needs a store for its replies; set store=... (--store FILE)"
            )
        with open_ledger(path, is_new=is_new) as ledger, ExitStack() as stack:
            if not is_new and ledger.get("samples") is None:
                raise InvalidValueError(
                    f"'tcva batch submit' was stopped before {path} was complete; run it again"
                )
            judging = _judging_of(scorer)
            if ledger.get("judging", judging) != judging:
                raise InvalidValueError(
                    f"{path} was submitted with another judge, server (OPENAI_BASE_URL) or criterion; "
                    "use the same settings, or another folder"
                )
            services = {
                name: stack.enter_context(closing(BatchService(model)))
                for name, model in models.items()
            }
            yield cls(
                ledger,
                path,
                scorer,
                scorer.store,
                services,
            )

    def begin(self, samples: Iterable[Sample]) -> None:
        """Store the samples of a new submission; refuse other samples than those of an old one."""
        lines = (
            sample.model_dump_json(exclude={"metadata", "context_ids"}).encode()
            for sample in checked_samples(samples)
        )
        if self.ledger.get("judging") is None:
            with self.ledger.transaction():
                self.ledger.put(
                    samples=self.ledger.put_samples(lines),
                    judging=_judging_of(self.scorer),
                )
            return
        if any(
            line != other
            for line, other in zip_longest(
                chain.from_iterable(self.ledger.samples()), lines
            )
        ):
            raise InvalidValueError(
                f"{self.folder} contains a submission of other samples; use another folder"
            )

    def advance(self, *, again: bool = False) -> Report:
        """Collect outcomes, submit what can be submitted, and report the progress."""
        self.look(take=True)
        if again or self.ledger.get("found") is None:
            with self.ledger.transaction():
                for batch in self.ledger.batches(STOPPED, LOST) if again else ():
                    self.ledger.take_back(batch.number)
                self._judge(again=again)
        with self.ledger.transaction():
            if not self.ledger.batches(WAITING, SENT, LOST):
                self.ledger.cut(self.ledger.get("batch_size"))
        for batch in self.ledger.batches(WAITING):
            self._send(batch)
        return self.report()

    def look(self, *, take: bool = False) -> None:
        """Ask the servers how far the batches are; with ``take``, store the outcomes of ended ones."""
        for batch in self.ledger.batches(SENT, LOST):
            service = self.services[batch.model]
            try:
                answer = service.batch(batch.id)
                self.ledger.update(
                    batch.number,
                    state=SENT,
                    detail="",
                    status=answer.status,
                    completed=answer.completed,
                    failed=answer.failed,
                )
                if take and answer.has_ended:
                    self._take(batch.number, answer, service)
            except JudgeError as error:
                if error.reason != "no_batches":
                    raise
                self.ledger.update(
                    batch.number,
                    state=LOST,
                    detail=f"the server does not know it; check the API key, or use --again ({error})",
                )

    def cancel(self) -> Report:
        """Cancel all batches under way, send no other, and report the progress."""
        self.look(take=True)
        for batch in self.ledger.batches(WAITING):
            if batch.file and not batch.detail:
                self._send(batch)  # the server may have it already
            else:
                self.ledger.update(
                    batch.number, state=STOPPED, detail="cancelled before it was sent"
                )
        for batch in self.ledger.batches(SENT):
            answer = self.services[batch.model].cancel(batch.id)
            self.ledger.update(batch.number, status=answer.status)
        return self.report()

    def report(self) -> Report:
        """Report the progress."""
        batches = self.ledger.batches()
        number = self.ledger.get("samples")
        counts, examples = self.ledger.get("found") or [{"waiting": number}, {}]
        failures = [
            {"reason": reason, "samples": counts[reason], "example": example}
            for reason, example in examples.items()
        ]
        failed = sum(row["samples"] for row in failures)
        under_way = sum(
            batch.requests for batch in batches if batch.state in (WAITING, SENT)
        )
        figures = {
            "samples": number,
            "failed": failed,
            **{name: counts.get(name, 0) for name in ("scored", "unscored", "waiting")},
            "requests_under_way": under_way,
        }

        notes = [f"batch {b.number}: {b.detail}" for b in batches if b.detail]
        notes += [
            f"{model} gets requests without {feature}: {why}"
            for model, refused in self.ledger.get("refused", {}).items()
            for feature, why in refused.items()
        ]
        if not under_way and (failed or figures["waiting"]):
            notes.append("'tcva batch collect --again' sends the failed requests again")

        requests = counted(under_way, "request") if under_way else "no request"
        return Report(
            f"{figures['scored']} of {counted(number, 'sample')} scored, {failed} failed; {requests} under way",
            [
                Table("samples", [Column(name, "int") for name in figures], [figures]),
                Table("batches", _BATCH, [asdict(batch) for batch in batches]),
                Table("failures", _FAILURE, failures),
            ],
            notes,
            {"folder": str(self.folder)},
        )

    def _judge(self, *, again: bool) -> None:
        """Replay every sample and store new judgements; missing requests go into the next batches."""
        counts: Counter[str] = Counter()
        examples: dict[str, str] = {}
        refused: Refused = self.ledger.get("refused", {})
        with progress_of("asking", self.ledger.get("samples"), None) as progress:
            for page in self.ledger.samples():
                new = {}
                for sample in map(Sample.model_validate_json, page):
                    questions = self.scorer.questions(sample)
                    answers = stored_answers(self.store, questions)
                    for place, question in enumerate(questions):
                        if answers[place] is None:
                            answer = self._answer(question, refused, again=again)
                            answers[place] = answer
                            if answer is not None:
                                new[question.key] = answer
                    counts[self._outcome(sample, answers, examples)] += 1
                    progress.tick()
                self.store.put_many(new.items())
        self.ledger.put(found=[counts, examples], refused=refused)

    def _answer(
        self, question: Question, refused: Refused, *, again: bool
    ) -> Judgement | None:
        """Return the answer to a question; None if it is incomplete. Asks each model once, live."""
        judge = question.judge
        if not isinstance(judge, LLMJudge):
            return question.ask()
        model = self.services[judge.model.name].model
        if model.name not in refused:
            # One live request without any sample shows what the server refuses.
            model.complete(NEUTRAL)
            refused[model.name] = dict(model.refused)
        replay = Replay(
            question,
            model,
            self.ledger,
            refused[model.name],
        )
        answer = replay.answer()
        if again and answer is not None and answer.failure is not None:
            replay.forget()
            answer = replay.answer()
        return answer

    def _outcome(
        self,
        sample: Sample,
        answers: Sequence[Judgement | None],
        examples: dict[str, str],
    ) -> str:
        """Return what a sample counts as, and note the first failure of each reason."""
        if None in answers:
            return "waiting"
        why = self.scorer.result_of(sample, answers).unscored
        if why is None:
            return "scored"
        if not why.reason.is_failure:
            return "unscored"
        examples.setdefault(why.reason.value, why.detail)
        return why.reason.value

    def _take(self, number: int, answer: Batch, service: BatchService) -> None:
        """Store the outcomes of a batch that ended."""
        if answer.status == "failed" and set(answer.codes) == {"token_limit_exceeded"}:
            # The provider had no room for it, so it is sent again when there is room.
            self.ledger.update(number, state=WAITING, detail=answer.message)
            return
        # A batch that failed as a whole would fail again, and one that was cancelled was
        # so on purpose.
        why = None
        if answer.status not in {"failed", "cancelled"}:
            why = f"no reply; the batch is {answer.status}"
        with self.ledger.transaction():
            for file in answer.files:
                for line in read_lines(service.lines(file), service.mask):
                    self.ledger.answer(number, line)
            state = ENDED
            detail = ""
            if self.ledger.settle(
                number, unanswered=why, tries=self.ledger.get("tries")
            ):
                state = STOPPED
                detail = answer.message or answer.status
            self.ledger.update(number, state=state, detail=detail)
            self.ledger.put(found=None)

    def _send(self, batch: BatchRow) -> None:
        """Send a batch, unless it was turned away and others of its model are still at the server."""
        if batch.detail and any(
            sent.model == batch.model for sent in self.ledger.batches(SENT)
        ):
            return
        service = self.services[batch.model]
        file = batch.file
        answer = None
        if file:  # a command that was stopped may have made the batch
            answer = service.find(file)
        else:
            with TemporaryFile(dir=self.folder) as stream:
                for page in self.ledger.requests(batch.number):
                    stream.writelines(page)
                stream.seek(0)
                file = service.upload(stream, f"tcva-{batch.number:04d}.jsonl")
        self.ledger.update(batch.number, file=file, detail="")
        answer = answer or service.create(file)
        self.ledger.update(
            batch.number,
            state=SENT,
            id=answer.id,
            status=answer.status,
        )


def _models_of(scorer: AnyScorer) -> dict[str, OpenAICompatibleModel]:
    """Find the models that a batch asks, by name.

    Raises:
        InvalidValueError: There is none; a judge is not of the form ``openai:MODEL``; or two
            models have the same name and different settings.
    """
    models: dict[str, OpenAICompatibleModel] = {}
    for question in scorer.questions(_EXAMPLE):
        judge = question.judge
        if getattr(judge, "is_local", False):
            continue
        model = judge.model if type(judge) is LLMJudge else None
        if not isinstance(model, OpenAICompatibleModel):
            raise InvalidValueError(
                f"batches need a judge of the form openai:MODEL, got {getattr(judge, 'name', judge)}"
            )
        if models.setdefault(model.name, model).parameters != model.parameters:
            raise InvalidValueError(
                f"two judges use {model.name} with different settings; make a submission for each"
            )
    if not models:
        raise InvalidValueError(
            f"{scorer!r} uses no model and needs no batch; use 'tcva evaluate'"
        )
    return models


def _judging_of(scorer: AnyScorer) -> str:
    """Return a digest of everything that can change the requests, unlike the settings of a score."""
    keys = [question.key for question in scorer.questions(_EXAMPLE)]
    return hashlib.sha256(" ".join(keys).encode()).hexdigest()
