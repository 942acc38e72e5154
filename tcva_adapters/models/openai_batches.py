"""The files and batches of an OpenAI-compatible server. Imported only where they are used."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice
from typing import IO, Any, Final

import openai

from tcva_adapters.errors import JudgeError
from tcva_adapters.models.call_errors import as_judge_error
from tcva_adapters.models.openai_exchange import Answer
from tcva_adapters.models.openai_model import OpenAICompatibleModel, answer_of_error
from tcva_adapters.models.protocol import as_count
from tcva_adapters.models.secrets import mask

ENDPOINT: Final = "/v1/chat/completions"

_MOST_LISTED: Final = 1000
"""Batches that are looked through for one of ours: the newest come first."""

_PIECE: Final = 1_000_000
"""Bytes of a result file that arrive within the timeout."""

_NO_INTERFACE: Final = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch, as its server tells of it.

    Attributes:
        id: The server's name for it.
        status: ``validating``, ``in_progress``, ``finalizing``, ``completed``, ``failed``,
            ``expired``, ``cancelling`` or ``cancelled``.
        completed: Requests that were answered so far.
        failed: Requests that were refused so far.
        files: The ids of its result files: answers, then errors.
        codes: Why the whole of it failed, in the server's words for it.
        said: The same in sentences, without secrets.
    """

    id: str
    status: str
    completed: int = 0
    failed: int = 0
    files: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    said: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in {"completed", "failed", "expired", "cancelled"}


class BatchService:
    """Uploads, batches and result files of the server of a model; close it after use.

    Every method raises a `JudgeError` where the server refuses or cannot be reached.

    Args:
        model: Whose server, with whose key.
    """

    def __init__(self, model: OpenAICompatibleModel) -> None:
        self._client = model.connection.for_files()
        self._is_ours = self._client is not model.connection.given
        self.model = model
        self._server = model.server
        self._timeout = model.config.timeout

    def mask(self, text: str) -> str:
        """A text without the keys of the model and of the environment."""
        return mask(text, *self._server.secrets)

    def close(self) -> None:
        """Close the connections; a client of the user's stays open."""
        if self._is_ours:
            self._client.close()

    def upload(self, stream: IO[bytes], name: str) -> str:
        """Upload a file of requests, and return its id."""
        with self._errors():
            return self._client.files.create(file=(name, stream), purpose="batch").id

    def create(self, file: str) -> Batch:
        """Make a batch of an uploaded file.

        It is sent once: after a failure without an answer, `find` tells whether there is one.
        """
        with self._errors():
            # A request that is repeated after a lost answer would make, and cost, a second batch.
            batches: Any = self._client.with_options(max_retries=0).batches
            batch = batches.create(input_file_id=file, endpoint=ENDPOINT, completion_window="24h")
            return self._read(batch)

    def find(self, file: str) -> Batch | None:
        """The batch that `create` made of this file, if there is one that did not fail."""
        with self._errors():
            for each in islice(self._client.batches.list(limit=100), _MOST_LISTED):
                if each.input_file_id == file and each.status != "failed":
                    return self._read(each)
        return None

    def batch(self, id: str) -> Batch:  # noqa: A002  # what it is called
        """How far a batch is."""
        with self._errors():
            return self._read(self._client.batches.retrieve(id))

    def cancel(self, id: str) -> Batch:  # noqa: A002  # what it is called
        """Have a batch stopped; what was answered until then comes in its files."""
        with self._errors():
            return self._read(self._client.batches.cancel(id))

    def lines(self, file: str) -> Iterator[bytes]:
        """The lines of a result file, as they arrive: each megabyte within the model's timeout."""
        streamed = self._client.files.with_streaming_response
        with self._errors(), streamed.content(file, timeout=self._timeout) as response:
            yield from split(self._in_time(response.iter_bytes()))

    def _in_time(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Pieces as they arrive; a connection's own timeout begins anew with each byte."""
        size, until = 0, time.monotonic() + self._timeout
        for piece in pieces:
            yield piece
            size += len(piece)
            if size > _PIECE:
                size, until = 0, time.monotonic() + self._timeout
            elif time.monotonic() > until:
                msg = f"{self._server.url} sends a file too slowly; raise timeout and collect again"
                raise JudgeError(msg, reason="timeout")

    def _read(self, found: Any) -> Batch:
        """A batch from what the package made of it; servers leave fields out."""
        fields: dict[str, Any] = found.to_dict()
        counts = fields.get("request_counts") or {}
        errors = (fields.get("errors") or {}).get("data") or []
        files = (fields.get("output_file_id"), fields.get("error_file_id"))
        return Batch(
            id=str(fields.get("id")),
            status=str(fields.get("status")),
            completed=as_count(counts.get("completed")),
            failed=as_count(counts.get("failed")),
            files=tuple(filter(None, files)),
            codes=tuple(str(each.get("code") or "") for each in errors),
            said=self._server.clean("; ".join(str(each.get("message") or "") for each in errors)),
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Whatever the package raises comes out as the `JudgeError` that it means."""
        try:
            yield
        except JudgeError:
            raise
        except openai.OpenAIError as error:
            raise self._meaning(answer_of_error(error)) from None
        except Exception as error:  # the transport's own, where a file breaks off
            raise as_judge_error(error) from error

    def _meaning(self, answer: Answer) -> JudgeError:
        url, said = self._server.url, f"({answer.status}: {self._server.said(answer)[0]})"
        if answer.status in _NO_INTERFACE:
            msg = f"{url} has no batches, or not this one; use 'tcva evaluate' with this server"
            return JudgeError(f"{msg} {said}", reason="no_batches")
        if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            msg = f"{url} refuses a file of this size; submit again with a smaller --batch-size {said}"
            return JudgeError(msg)
        return self._server.error(answer)


def split(pieces: Iterator[bytes]) -> Iterator[bytes]:
    r"""Lines of a stream of bytes, ended by line feeds alone: texts may hold U+2028.

    >>> list(split(iter([b"a\nb", b"c\r\n", b"d"])))
    [b'a', b'bc\r', b'd']
    """
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    if rest:
        yield rest
