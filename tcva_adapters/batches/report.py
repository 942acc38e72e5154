"""How far a submission is: what ``tcva submit``, ``status`` and ``collect`` print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from tcva_adapters.batches.ledger import ENDED, UNDER_WAY, Entry
from tcva_adapters.printing import Part, Table, Tabular, Wrapped, counted

_PRICE_UNIT: Final = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class BatchReport(Tabular):
    """How far a submission is.

    Attributes:
        folder: Where it is.
        samples: How many it has.
        scored: Samples with a score, in the store now.
        unscored: Samples that have none for good (an empty answer, a refusal).
        waiting: Samples that wait for answers.
        failures: Of samples whose judging failed: the reason, how many, and what was said of the
            first.
        batches: The batches, in the order in which they were made.
        refused: By model what its server refused, with its reason; it is left out from then on.
        prices: By model the price per million input and output tokens; None where none was given.
    """

    folder: str
    samples: int
    scored: int
    unscored: int
    waiting: int
    failures: tuple[tuple[str, int, str], ...]
    batches: tuple[Entry, ...]
    refused: Mapping[str, Mapping[str, str]]
    prices: Mapping[str, tuple[float, float] | None]

    @property
    def failed(self) -> int:
        """Samples whose judging failed."""
        return sum(number for _, number, _ in self.failures)

    @property
    def under_way(self) -> tuple[Entry, ...]:
        """The batches of which something is still to come, also those that wait to be sent."""
        return tuple(each for each in self.batches if each.state not in ENDED)

    @property
    def stopped(self) -> tuple[Entry, ...]:
        """The batches that failed or were cancelled as a whole."""
        return tuple(each for each in self.batches if each.state == "stopped")

    @property
    def is_done(self) -> bool:
        """Whether every sample has a score, a reason for none, or a failure."""
        return not self.under_way and not self.waiting

    @property
    def requests(self) -> int:
        """Requests of all batches."""
        return sum(each.requests for each in self.batches)

    @property
    def tokens(self) -> tuple[int, int]:
        """Input and output tokens of all answers that were collected."""
        return (
            sum(each.input_tokens for each in self.batches),
            sum(each.output_tokens for each in self.batches),
        )

    @property
    def cost(self) -> float | None:
        """What the collected answers cost at the prices that were given; None without."""
        if any(self.prices.get(each.model) is None for each in self.batches):
            return None
        return sum(
            (each.input_tokens * price[0] + each.output_tokens * price[1]) / _PRICE_UNIT
            for each in self.batches
            if (price := self.prices[each.model]) is not None
        )

    @property
    def sentence(self) -> str:
        """How many samples are judged, and what is still to come."""
        judged = f"{self.scored + self.unscored} of {counted(self.samples, 'sample')} judged"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{judged}{failed}; {self._coming}"

    @property
    def _coming(self) -> str:
        open_ = self.under_way
        if open_:
            answered = sum(each.completed + each.failed for each in open_)
            return f"round {open_[-1].round}: {_amount(open_)}, {answered} of them answered"
        if self.stopped:
            return f"{_amount(self.stopped)} stopped before the end"
        return "nothing is under way"

    @property
    def advice(self) -> str:
        """What to do next, in a sentence."""
        if self.under_way or (self.waiting and not self.stopped):
            return f"'tcva collect {self.folder}' takes what is answered, and asks for what lacks"
        if self.stopped or self.failed:
            return (
                f"'tcva collect {self.folder} --again' asks once more; 'tcva evaluate' with the same "
                "store judges the rest live"
            )
        return "'tcva evaluate' with the same store makes no further call"

    def parts(self) -> Iterator[Part]:
        """The batches, the failures, what the servers refused, what it cost, what to do next."""
        if self.batches:
            header = ("batch", "round", "model", "state", "requests", "answered", "failed", "id")
            yield Table(header, [_row(each) for each in self.batches], "rrllrrrl", spare=(7, 2))
        for each in self.batches:
            if each.said:
                why = {"stopped": "", UNDER_WAY: "not found: "}.get(each.state, "waits for room: ")
                yield Wrapped(f"batch {each.number}: {why}{each.said}", 2)
        for why, number, first in self.failures:
            yield Wrapped(f"{why}: {counted(number, 'sample')}, the first: {first}", 2)
        for model, dropped in self.refused.items():
            for feature, why in dropped.items():
                yield Wrapped(f"{model} is asked without {feature}: {why}", 2)
        if any(self.tokens):
            tokens = "{:,} input and {:,} output tokens".format(*self.tokens)
            cost = "" if self.cost is None else f", cost {self.cost:.4g}"
            yield f"collected: {tokens}{cost}"
        yield Wrapped(self.advice, 2)

    def records(self) -> list[dict[str, Any]]:
        """The batches as plain values."""
        return [asdict(each) for each in self.batches]

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values."""
        return {
            "sentence": self.sentence,
            "done": self.is_done,
            "folder": self.folder,
            "samples": self.samples,
            "scored": self.scored,
            "unscored": self.unscored,
            "waiting": self.waiting,
            "failed": {
                why: {"samples": number, "first": first} for why, number, first in self.failures
            },
            "requests": self.requests,
            "input_tokens": self.tokens[0],
            "output_tokens": self.tokens[1],
            "cost": self.cost,
            "refused": {model: dict(dropped) for model, dropped in self.refused.items()},
            "batches": self.records(),
        }


def _amount(batches: Sequence[Entry]) -> str:
    requests = counted(sum(each.requests for each in batches), "request")
    return f"{requests} in {counted(len(batches), 'batch', 'batches')}"


def _state(batch: Entry) -> str:
    if batch.state == UNDER_WAY:
        return batch.status.replace("_", " ")
    return batch.state if batch.state in ENDED else "waits"


def _row(batch: Entry) -> tuple[str, ...]:
    figures = (batch.requests, batch.completed, batch.failed)
    return (
        str(batch.number),
        str(batch.round),
        batch.model,
        _state(batch),
        *map(str, figures),
        batch.id or "-",
    )
