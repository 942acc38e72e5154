"""What a comparison knows of single samples beside scores: texts, human ratings, others' verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tcva_adapters.compare.jsonable import jsonable
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.errors import UnreadableInputError
from tcva_adapters.results.assessment import written_out
from tcva_adapters.results.framework_score import FrameworkVerdict
from tcva_adapters.samples.output import replacing
from tcva_adapters.samples.records import RowStream
from tcva_adapters.samples.sample import Sample

KIND: Final = "compared"
DETAILS_BEGIN: Final = re.compile(rb'{"kind": "' + KIND.encode() + rb'"')
"""How a file of them begins."""


@dataclass(frozen=True, slots=True)
class SampleDetails:
    """One sample.

    Attributes:
        sample: Its texts.
        human: Its human rating; None where nobody rated it.
        verdicts: The framework metrics' own, by method.
        reasons: What imported methods said of their scores, by method.
    """

    sample: Sample
    human: float | None = None
    verdicts: Mapping[str, tuple[FrameworkVerdict, ...]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line that `from_record` reads back; metadata that JSON cannot hold is text."""
        record = {
            "kind": KIND,
            "sample": dict(self.sample),
            "human": self.human,
            "verdicts": {name: list(said) for name, said in self.verdicts.items()},
            "reasons": dict(self.reasons),
        }
        return json.dumps(jsonable(written_out(record)))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SampleDetails:
        """What `to_json` wrote.

        Raises:
            UnreadableInputError: It is something else.
        """
        try:
            verdicts = {
                name: tuple(
                    FrameworkVerdict(claim, word, None if level is None else Verdict(level), reason)
                    for claim, word, level, reason in said
                )
                for name, said in record["verdicts"].items()
            }
            return cls(Sample(**record["sample"]), record["human"], verdicts, record["reasons"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            msg = f"no sample of a comparison: {type(error).__name__}: {error}"
            raise UnreadableInputError(msg) from None


def write_details(path: Path, details: Iterable[SampleDetails]) -> None:
    """Write them, one per line.

    Raises:
        InvalidValueError: The file cannot be written.
    """
    with replacing(path) as stream:
        for each in details:
            stream.write(f"{each.to_json()}\n".encode())


def stream_details(path: Path) -> RowStream[SampleDetails]:
    """What `write_details` wrote, one after the other.

    Raises:
        UnreadableInputError: The file cannot be read, or is none of these; while they are read.
    """
    return RowStream(path, "jsonl", skip_bad=False, read=SampleDetails.from_record)
