"""What the commands that judge a file share: reading it, and what is said where a run ends early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tcva_adapters.cli.old_options import interruptible
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.printing import Notes
from tcva_adapters.results.files import STDOUT
from tcva_adapters.samples.files import SampleStream
from tcva_adapters.samples.records import is_read_again
from tcva_adapters.samples.sample import Sample

_STOPPED: Final = (
    "calls under way may still end and reach the store{draft}; Ctrl-C again to leave at once"
)
_GOES_ON: Final = "; what was judged waits beside the file, and the same command goes on with it"


class Reading:
    """The samples of a file: read once for judging, and again for who shows them.

    Attributes:
        samples: Those to judge.
        stream: What they are read by.
    """

    def __init__(self, stream: SampleStream, *, is_shown: bool) -> None:
        """Nothing is read of a file; a pipe cannot be read again, and is held where it is shown."""
        self._is_held = is_shown and not is_read_again(stream.source)
        self.stream = stream
        self.samples: SampleStream | Sequence[Sample] = [*stream] if self._is_held else stream

    def again(self) -> SampleStream | Sequence[Sample]:
        """The samples from the first one on."""
        return self.samples if self._is_held else self.stream.again()


@contextmanager
def judging(notes: Notes, out: str | None, reading: Reading) -> Iterator[None]:
    """Say what is left out of a file: of its first rows before, of the others once they are read.

    And how to go on after an early end.
    """
    stream = reading.stream
    told = stream.notes
    for note in told:
        notes.print(note)
    has_draft = out not in (None, STDOUT) and is_read_again(stream.source)
    try:
        with interruptible(notes, _STOPPED.format(draft=_GOES_ON if has_draft else "")):
            yield
    except UnreadableInputError:
        if has_draft and stream.number:
            notes.print(
                "the samples before that line are judged, and wait beside the file: the same "
                "command with --skip-bad goes on behind them"
            )
        raise
    finally:
        for note in stream.notes:
            if note not in told:
                notes.print(note)
