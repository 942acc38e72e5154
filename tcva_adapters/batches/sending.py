"""Batches on their way: up to the server, and what came of them down into the ledger.

Each step is noted before it is taken and after it, so that a command which is killed in between
finds what it did, and does nothing twice that costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

from tcva_adapters.batches.drafts import path_of
from tcva_adapters.batches.ledger import ENDED, LOST, UNDER_WAY, Entry, Ledger
from tcva_adapters.batches.lines import Line, read_line
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.openai_batches import Batch, BatchService

_FULL: Final = "token_limit_exceeded"
_UNKNOWN: Final = frozenset({"connection", "timeout", "server_error", "unreachable"})
"""Failures after which a request may have been carried out all the same."""


class Sending:
    """The batches of a submission, and their servers.

    Args:
        ledger: Of the submission.
        services: The servers, by the models that are asked there.
        folder: Where files of requests are.
        tokens: See `Limits`.
    """

    def __init__(
        self,
        ledger: Ledger,
        services: Mapping[str, BatchService],
        folder: Path,
        tokens: int | None,
    ) -> None:
        self._ledger = ledger
        self._services = services
        self._folder = folder
        self._tokens = tokens

    def look(self) -> list[tuple[Entry, Batch]]:
        """Ask the servers how far the batches are, and return those that ended."""
        ended = []
        for entry in self._ledger.batches():
            if entry.state == UNDER_WAY:
                with self._noting_loss(entry):
                    found = self._services[entry.model].batch(entry.id)
                    self._ledger.update(
                        entry.number,
                        status=found.status,
                        said="",
                        completed=found.completed,
                        failed=found.failed,
                    )
                    if found.has_ended:
                        ended.append((entry, found))
        return ended

    @contextmanager
    def _noting_loss(self, entry: Entry) -> Iterator[None]:
        """Note where a server does not have a batch or its results, so that others go on."""
        try:
            yield
        except JudgeError as error:
            if error.reason != "no_batches":
                raise
            said = (
                "is the key that of its submission? If it is gone for good, --again asks for what "
                f"was in it, at its price ({error})"
            )
            self._ledger.update(entry.number, status=LOST, said=said)

    def collect(self, entry: Entry, found: Batch, tries: int) -> None:
        """Note everything that came of a batch that ended.

        Args:
            entry: The batch.
            found: What its server tells of it.
            tries: How often a request is asked at most.
        """
        if found.status == "failed" and found.codes and set(found.codes) == {_FULL}:
            # Turned away, not looked at: it goes up again when there is room.
            self._ledger.update(entry.number, state="uploaded", id="", said=found.said)
            return
        with self._noting_loss(entry), self._ledger.transaction():
            spent = self._ledger.answer(entry.number, self._lines(entry, found), tries)
            # One that failed as a whole fails again, and one that was cancelled was so on purpose.
            has_stopped = found.status in {"failed", "cancelled"}
            if not has_stopped:
                said = f"not answered in its batch, which {found.status}, nor in those before it"
                body = f'{{"error": {{"message": "{said}"}}}}'
                self._ledger.give_up(entry.number, HTTPStatus.REQUEST_TIMEOUT, body, tries)
            has_stopped = has_stopped and self._ledger.left(entry.number) > 0
            self._ledger.update(
                entry.number,
                state="stopped" if has_stopped else "collected",
                said=(found.said or found.status) if has_stopped else "",
                input_tokens=spent[0],
                output_tokens=spent[1],
            )
            self._ledger.put(is_passed=False)

    def _lines(self, entry: Entry, found: Batch) -> Iterator[Line]:
        service = self._services[entry.model]
        for file in found.files:
            for raw in service.lines(file):
                line = read_line(raw, service.mask)
                if line is not None:
                    yield line

    def send(self) -> None:
        """Bring all batches on their way that the server has room for."""
        for entry in self._ledger.batches():
            if entry.state not in {UNDER_WAY, *ENDED} and self._has_room(entry):
                self._upload(entry)
                self._create(entry)

    def cancel(self) -> None:
        """Have all batches stopped that are under way, and send no other that is written."""
        for entry in self._ledger.batches():
            if entry.state == "creating" and (found := self._made(entry)):
                self._ledger.update(entry.number, state=UNDER_WAY, id=found.id)
            elif entry.state not in {UNDER_WAY, *ENDED}:
                said = "cancelled before it was sent"
                self._ledger.update(entry.number, state="stopped", said=said)
        ended = {entry.number for entry, _ in self.look()}
        for entry in self._ledger.batches():
            if entry.state == UNDER_WAY and not entry.is_lost and entry.number not in ended:
                found = self._services[entry.model].cancel(entry.id)
                self._ledger.update(entry.number, status=found.status)

    def _has_room(self, entry: Entry) -> bool:
        tokens = [
            each.tokens
            for each in self._ledger.batches()
            if each.model == entry.model and each.state == UNDER_WAY
        ]
        was_turned_away = entry.state == "uploaded" and bool(entry.said)
        is_over = self._tokens is not None and sum(tokens) + entry.tokens > self._tokens
        return not tokens or not (is_over or was_turned_away)

    def _upload(self, entry: Entry) -> None:
        if entry.file or entry.state not in {"ready", "uploading"}:
            return
        service = self._services[entry.model]
        name = f"tcva-{self._ledger.get('submission')}-{entry.number:04d}.jsonl"
        file = service.uploaded(name) if entry.state == "uploading" else None
        if file is None:
            self._ledger.update(entry.number, state="uploading")
            file = service.upload(path_of(self._folder, entry.number), name)
        self._ledger.update(entry.number, state="uploaded", file=file)

    def _create(self, entry: Entry) -> None:
        (entry,) = (each for each in self._ledger.batches() if each.number == entry.number)
        service = self._services[entry.model]
        tries = entry.tries if entry.state == "creating" else entry.tries + 1
        found = self._made(entry) if entry.state == "creating" else None
        if found is None:
            self._ledger.update(entry.number, state="creating", tries=tries)
            metadata = self._metadata(entry.number, tries)
            try:
                found = service.create(entry.file, metadata, self._ledger.get("window"))
            except JudgeError as error:
                if error.reason not in _UNKNOWN:
                    self._ledger.update(entry.number, state="uploaded")
                    raise
                found = service.find(entry.file, metadata)
                if found is None:
                    raise
        self._ledger.update(
            entry.number, state=UNDER_WAY, id=found.id, status=found.status, said=""
        )

    def _made(self, entry: Entry) -> Batch | None:
        """The batch of a command that was stopped before it knew whether it had made one."""
        metadata = self._metadata(entry.number, entry.tries)
        return self._services[entry.model].find(entry.file, metadata)

    def _metadata(self, number: int, tries: int) -> dict[str, str]:
        return {
            "tcva_submission": str(self._ledger.get("submission")),
            "tcva_batch": str(number),
            "tcva_try": str(tries),
        }
