"""The files and batches of an OpenAI-compatible server. Imported only where they are used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from io import SEEK_END
from typing import IO, Any

import openai

from tcva_adapters.errors import JudgeError
from tcva_adapters.loops import wait_for
from tcva_adapters.models.call_errors import as_judge_error
from tcva_adapters.models.judge_model import as_count
from tcva_adapters.models.openai_exchange import Answer
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.openai_retries_and_limits import (
    LARGEST_REPLY,
    answer_of_error,
)
from tcva_adapters.models.secrets import mask
from tcva_adapters.samples.json_values import Json

ENDPOINT = "/v1/chat/completions"

_MAX_PAGES = 10
"""Pages of 100 batches that `find` searches; the newest come first."""

_PIECE = 1_000_000
"""Bytes of a file that are sent, or arrive, within the timeout."""

_NO_INTERFACE = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class Batch:
    """The state of a batch, as its server reports it.

    Attributes:
        id: The server's name for it.
        status: ``validating``, ``in_progress``, ``finalizing``, ``completed``, ``failed``,
            ``expired``, ``cancelling`` or ``cancelled``.
        completed: Requests that were answered so far.
        failed: Requests that were refused so far.
        files: The ids of its result files: answers, then errors.
        codes: The server's codes for a failure of the whole batch.
        message: The messages of that failure, without secrets.
    """

    id: str
    status: str
    completed: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    message: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in {"completed", "failed", "expired", "cancelled"}


class BatchService:
    """Uploads, batches and result files of the server of a model; close it after use.

    Every method raises a `JudgeError` where the server refuses, cannot be reached, or does not answer
    within the model's timeout.

    Args:
        model: The model whose server and key are used.
    """

    def __init__(self, model: OpenAICompatibleModel) -> None:
        self._client: Any = model.connection.for_files()
        self._is_ours = self._client is not model.connection.users_client
        self.model = model
        self._server = model.server
        self._timeout = model.config.timeout

    def mask(self, text: str) -> str:
        """Take the keys of the model and of the environment out of a text."""
        return mask(text, *self._server.secrets)

    def close(self) -> None:
        """Close the connections; a client of the user's stays open."""
        if self._is_ours:
            self._answer(self._client.close)

    def upload(self, stream: IO[bytes], name: str) -> str:
        """Upload a file of requests, within a timeout per megabyte, and return its id."""
        create = partial(
            self._client.files.create, file=(name, stream), purpose="batch"
        )
        return str(self._answer(create, 1 + stream.seek(0, SEEK_END) // _PIECE).id)

    def create(self, file: str) -> Batch:
        """Make a batch of an uploaded file.

        It is sent once: after a failure without an answer, `find` tells whether there is one.
        """
        # A request that is repeated after a lost answer would make, and cost, a second batch.
        create = partial(
            self._client.with_options(max_retries=0).batches.create,
            input_file_id=file,
            endpoint=ENDPOINT,
            completion_window="24h",
        )
        return self._read(self._answer(create))

    def find(self, file: str) -> Batch | None:
        """Search the server for a batch of this file that did not fail; None where there is none."""
        turn = partial(self._client.batches.list, limit=100)
        for _ in range(_MAX_PAGES):
            page = self._answer(turn)
            for batch in page.data:
                if batch.input_file_id == file and batch.status != "failed":
                    return self._read(batch)
            if not page.has_next_page():
                break
            turn = page.get_next_page
        return None

    def batch(self, id: str) -> Batch:  # noqa: A002  # what it is called
        """Ask the server for the state of a batch."""
        return self._read(self._answer(partial(self._client.batches.retrieve, id)))

    def cancel(self, id: str) -> Batch:  # noqa: A002  # what it is called
        """Cancel a batch; the answers given until then are in its files."""
        return self._read(self._answer(partial(self._client.batches.cancel, id)))

    def lines(self, file: str) -> Iterator[bytes]:
        """Download the lines of a result file, each megabyte within the model's timeout."""
        # A client made here is asynchronous, one of the user's is synchronous.
        stream = self._client.files.with_streaming_response.content(file)
        enter = stream.__aenter__ if self._is_ours else stream.__enter__
        response = self._answer(enter)
        step: Any = anext if self._is_ours else next
        read = partial(step, response.iter_bytes(_PIECE), b"")
        yield from split(iter(partial(self._answer, read), b""))
        self._answer(response.close)

    def _answer(self, ask: Callable[[], Any], timeouts: int = 1) -> Any:
        """Make a request; a client made here has to finish it, with all retries, within the timeout.

        The timeout of a connection would begin anew with each byte. Whatever the package raises becomes
        the `JudgeError` that it means.

        Args:
            ask: Makes the request.
            timeouts: How many it may take.
        """

        async def answer() -> Any:
            return await asyncio.wait_for(ask(), self._timeout * timeouts)

        try:
            return wait_for(answer(), "tcva-files") if self._is_ours else ask()
        except TimeoutError:
            raise JudgeError(
                f"no answer from {self._server.url} within {self._timeout:g} s; raise timeout",
                reason="timeout",
            ) from None
        except openai.OpenAIError as error:
            raise self._meaning(answer_of_error(error)) from None
        except Exception as error:  # the transport's own, where a file breaks off
            raise as_judge_error(error) from error

    def _read(self, batch: Any) -> Batch:
        """A batch from what the package made of it; servers leave fields out."""
        fields: Json = batch.to_dict()
        counts = fields.get("request_counts") or {}
        errors = (fields.get("errors") or {}).get("data") or []
        return Batch(
            id=str(fields.get("id")),
            status=str(fields.get("status")),
            completed=as_count(counts.get("completed")),
            failed=as_count(counts.get("failed")),
            files=tuple(
                filter(
                    None, (fields.get("output_file_id"), fields.get("error_file_id"))
                )
            ),
            codes=tuple(str(error.get("code") or "") for error in errors),
            message=self._server.clean(
                "; ".join(str(error.get("message") or "") for error in errors)
            ),
        )

    def _meaning(self, answer: Answer) -> JudgeError:
        url = self._server.url
        detail = f"({answer.status}: {self._server.refusal(answer).message})"
        if answer.status in _NO_INTERFACE:
            msg = f"{url} has no batches, or not this one; use 'tcva evaluate' with this server {detail}"
            return JudgeError(msg, reason="no_batches")
        if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            msg = f"{url} refuses a file of this size; submit again with a smaller --batch-size {detail}"
            return JudgeError(msg)
        return self._server.error(answer)


def split(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Split a stream of bytes into lines at line feeds alone, as texts may hold U+2028.

    A line that is longer than any reply is cut off.

    >>> list(split([b"a\nb", b"c\r\n", b"d"]))
    [b'a', b'bc\r', b'd']
    """
    line = bytearray()
    for piece in pieces:
        for number, part in enumerate(piece.split(b"\n")):
            if number:
                yield bytes(line)
                line.clear()
            if len(line) <= LARGEST_REPLY:
                line += part
    if line:
        yield bytes(line)
