"""Files that appear under their names once they are complete."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from tcva_adapters.errors import InvalidValueError


@contextmanager
def replacing(target: str | Path) -> Iterator[BinaryIO]:
    """A stream whose bytes take the place of a file when the block ends without an error.

    An interrupted or failed block leaves the former file as it was. Missing folders are made; a
    device or a pipe is written to and not replaced.

    Raises:
        InvalidValueError: The file cannot be written.
    """
    path = Path(target).expanduser().resolve()
    draft = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if path.exists():
                shutil.copymode(path, draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}; give another path"
        raise InvalidValueError(msg) from error
