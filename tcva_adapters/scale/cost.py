"""What judging will cost, before anything is asked: calls, tokens, money and time."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from tcva_adapters.errors import InvalidValueError
from tcva_adapters.evaluator import Scorer
from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.judges.yes_no import SCHEMA_NAME
from tcva_adapters.models.protocol import (
    Identity,
    JudgeModel,
    JudgeRequest,
    ModelReply,
    TokenLogprob,
)
from tcva_adapters.printing import Part, Tabular, counted
from tcva_adapters.runner import Question, stored
from tcva_adapters.samples.sample import Sample
from tcva_adapters.text.sentences import split_claims

LOOKED_AT: Final = 500
"""Samples whose prompts are made; of more of them so many are drawn."""

_BYTES_A_TOKEN: Final = 4.0
"""UTF-8. Measured with o200k_base: 4.3 for our instructions, 3.6 for English texts between fences, 3.2
for Chinese, 3.7 for Japanese, 6.2 for Russian and 3.7 for replies."""

_PER_MILLION: Final = 1_000_000
_REASON: Final = "The passage says the same of the office, with the hour and the day."
_QUOTED: Final = re.compile(
    r"^<<<CLAIM (\d+ \w+)>>>\n(.*?)\n<<<END CLAIM \1>>>$", re.DOTALL | re.MULTILINE
)
_TEXT: Final = re.compile(r"^<<<TEXT (\w+)>>>\n(.*?)\n<<<END TEXT \1>>>$", re.DOTALL | re.MULTILINE)
_QUOTE: Final = 60
"""Characters of a quote: prompts ask for 25 words at most, and most are shorter."""


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Tabular):
    """What judging so many samples will take.

    Attributes:
        samples: How many there are.
        looked_at: On how many of them it rests; the rest is in proportion.
        calls: Of models, where each answers as it should; a bad reply costs one more.
        cached: Judgements that the store has.
        prompt_tokens: Of all prompts, by their length: a token for four bytes of UTF-8.
        completion_tokens: Of all replies in the form that the prompts ask for, without a model's
            separate reasoning.
        cost: In the currency of the prices; None without prices.
        seconds: The time that the calls take; None where neither rate nor latency is known.
        limited_by: What that time rests on, in words.
    """

    samples: int
    looked_at: int
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float | None
    limited_by: str

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        money = "" if self.cost is None else f", {self.cost:,.2f} by these prices"
        time = "" if self.seconds is None else f", {_duration(self.seconds)} {self.limited_by}"
        return (
            f"{counted(self.samples, 'sample')}: {counted(self.calls, 'call')}, "
            f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens{money}{time}"
        )

    def records(self) -> list[dict[str, Any]]:
        """The figures as one row."""
        return [asdict(self)]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"sentence": self.sentence, **asdict(self)}

    def parts(self) -> Iterator[Part]:
        """What the sentence rests on."""
        if self.cached:
            yield f"{counted(self.cached, 'judgement')} of these are in the store and cost nothing"
        if self.calls:
            yield (
                "tokens are counted as bytes / 4, and replies as short as the prompts ask for; a model "
                "that reasons writes more"
            )
        if self.looked_at < self.samples:
            yield f"from {self.looked_at} samples drawn at random, in proportion"


def estimate(
    scorer: Scorer[Any],
    samples: Iterable[Sample],
    *,
    prices: tuple[float, float] | None = None,
    requests_per_minute: float | None = None,
    latency: float | None = None,
) -> Estimate:
    """What judging will cost. Nothing is asked: prompts are made and their replies made up.

    Args:
        scorer: Who would judge; its store is looked at.
        samples: What would be judged; may be an iterator, of which few are held.
        prices: Per million prompt tokens and per million completion tokens.
        requests_per_minute: The rate that calls are spaced to.
        latency: Seconds that a call takes; calls are under way ``max_concurrency`` at a time.

    Raises:
        InvalidValueError: A judge is none of ours, so nobody knows what it asks.

    >>> from tcva_adapters import TCVA
    >>> sample = Sample(response="It opens at nine.", contexts=["It opens at nine."])
    >>> estimate(TCVA(judge="lexical"), [sample] * 3).sentence
    '3 samples: 0 calls, 0 + 0 tokens'
    """
    number, drawn = _drawn(samples)
    ledger = _Ledger()
    for sample in drawn:
        _rehearse(scorer, sample, ledger)
    share = number / len(drawn) if drawn else 0.0
    calls = round(ledger.calls * share)
    prompt, completion = (
        round(size * share / _BYTES_A_TOKEN) for size in (ledger.prompts, ledger.replies)
    )
    cost = None
    if prices is not None:
        cost = (prompt * prices[0] + completion * prices[1]) / _PER_MILLION
    seconds, limited_by = _time(calls, scorer.max_concurrency, requests_per_minute, latency)
    cached = round(ledger.cached * share)
    return Estimate(
        number, len(drawn), calls, cached, prompt, completion, cost, seconds, limited_by
    )


@dataclass(slots=True, weakref_slot=True, eq=False)
class _Ledger:
    calls: int = 0
    cached: int = 0
    prompts: int = 0
    replies: int = 0


@dataclass(frozen=True, slots=True)
class _Rehearsed:
    """A model that writes down what it is asked, and answers in the form that is asked for."""

    model: JudgeModel
    ledger: _Ledger

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.model.parameters

    @property
    def identity(self) -> Identity:
        """What is learnt in a rehearsal is of no model."""
        return Identity(self.ledger)

    def complete(self, request: JudgeRequest) -> ModelReply:
        is_one_word = request.schema_name == SCHEMA_NAME
        text = "yes" if is_one_word else _reply(request)
        self.ledger.calls += 1
        self.ledger.prompts += len(request.system.encode()) + len(request.user.encode())
        self.ledger.replies += len(text.encode())
        if not is_one_word:
            return ModelReply(text)
        return ModelReply(text, token_logprobs=(TokenLogprob(text, 0.0, ((text, 0.0),)),))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


def _reply(request: JudgeRequest) -> str:
    if request.schema_name == "tcva_verdicts":
        # No higher level: with a quote that is no place of a passage, the judge would be asked again.
        found: dict[str, Any] = {
            f"claim_{mark.partition(' ')[0]}": {
                "quote_from_passage": text[:_QUOTE],
                "reason": _REASON,
                "verdict": "partial",
            }
            for mark, text in _QUOTED.findall(request.user)
        }
    elif request.schema_name == "tcva_claims":
        found = {"claims": split_claims("".join(text for _, text in _TEXT.findall(request.user)))}
    else:
        found = {
            name: _REASON if of.get("type") == "string" else 50
            for name, of in request.schema["properties"].items()
        }
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def _rehearse(scorer: Scorer[Any], sample: Sample, ledger: _Ledger) -> None:
    """Take a sample to its result, with models that only write down what they are asked."""
    for question in scorer.questions(sample):
        _answer(scorer, question, ledger)


def _answer(scorer: Scorer[Any], question: Question[Any], ledger: _Ledger) -> Any:
    found = None if scorer.store is None else stored(scorer.store, [question])[0]
    if found is not None:
        ledger.cached += 1
        return found
    judge = question.judge
    if isinstance(judge, LLMJudge):
        question.judge = replace(judge, model=_Rehearsed(judge.model, ledger))
    elif not getattr(judge, "is_local", False):
        msg = f"what {judge!r} asks is not known, so it cannot be estimated; name 'openai:MODEL'"
        raise InvalidValueError(msg)
    return question.ask()


def _drawn(samples: Iterable[Sample]) -> tuple[int, Sequence[Sample]]:
    """How many there are, and at most `LOOKED_AT` of them, each as likely as any other."""
    draw = random.Random(0)  # noqa: S311  # a sample of samples
    drawn: list[Sample] = []
    number = 0
    for number, sample in enumerate(samples, start=1):
        if len(drawn) < LOOKED_AT:
            drawn.append(sample)
        elif (place := draw.randrange(number)) < LOOKED_AT:
            drawn[place] = sample
    return number, drawn


def _time(
    calls: int, concurrency: int, rate: float | None, latency: float | None
) -> tuple[float | None, str]:
    """How long so many calls take, and what that rests on.

    >>> _time(1200, 8, 60, 2.0)
    (1200.0, 'at 60 requests per minute')
    >>> _time(1200, 8, None, 2.0)
    (300.0, 'at 2 s a call, 8 at once')
    """
    ways = []
    if rate is not None:
        ways.append((calls * 60.0 / rate, f"at {rate:g} requests per minute"))
    if latency is not None:
        ways.append(
            (calls * latency / concurrency, f"at {latency:g} s a call, {concurrency} at once")
        )
    return max(ways) if ways else (None, "")


def _duration(seconds: float) -> str:
    """Seconds as a reader takes them in.

    >>> _duration(42.4), _duration(300), _duration(90_000)
    ('42 s', '5 min', '25.0 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
