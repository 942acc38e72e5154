"""Samples that come with the package, written for it; described in ``examples/data``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.samples.sample import Sample


@dataclass(frozen=True, slots=True)
class Label:
    """The level that a careful reader gives to one claim, and why; None where it claims nothing."""

    claim: str
    level: Verdict | None
    note: str = ""


def sample_lines(name: str = "samples.jsonl") -> Iterator[str]:
    """The samples as lines of JSON.

    Args:
        name: Those of ``doctor.jsonl`` have a single claim each, and ``levels`` that are right.
    """
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line)


def labels_of(sample: Sample) -> list[Label]:
    """The labels that one of these samples carries.

    >>> labels_of(Sample(metadata={"labels": [{"claim": "Hello!", "level": None}]}))
    [Label(claim='Hello!', level=None, note='')]
    """
    return [
        Label(
            item["claim"],
            item["level"] and Verdict(item["level"]),
            item.get("note", ""),
        )
        for item in sample.metadata["labels"]
    ]
