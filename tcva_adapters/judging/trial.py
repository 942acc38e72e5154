"""Trying a judge on claims of known answer: what it is fit for, and in which form to ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any, Final
from uuid import uuid4

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.errors import JudgeError
from tcva_adapters.judging.model_judge import ModelJudge
from tcva_adapters.judging.trial_cases import CASES, Case
from tcva_adapters.judging.wording import verdict_system
from tcva_adapters.models.metered import Metered
from tcva_adapters.models.proof import complete
from tcva_adapters.models.protocol import JudgeModel
from tcva_adapters.models.request import JudgeRequest, Sampling
from tcva_adapters.printing import Part, Report, Table
from tcva_adapters.results.assessment import Assessment

FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "full": {},
    "compact": {"prompt": "compact"},
    "yes_no": {"verdicts": "yes_no"},
    "labels": {"verdicts": "labels"},
}
"""The settings of each form, in the order in which they are preferred: written verdicts come with a
quote and a reason; one short question a claim has neither."""

_BY_TOKENS: Final = ("yes_no", "labels")
"""Forms that read probabilities of tokens; without these they draw several answers a claim."""

FIT: Final = 10
"""Right levels of the dozen from which on a form is good enough that no further one is tried. A judge
that is right in nine of ten cases gets so many or more in nine of ten trials."""

USABLE: Final = 8
"""Below, a judge is not advised: who calls everything ``fully``, or everything ``none``, gets half of
the dozen or less, and who guesses gets four."""

_FEW: Final = 2
"""Calls that fail at the very beginning, after which nothing more is asked."""

_SPEEDUP: Final = 2.0
"""How much sooner the second of two calls with one beginning is answered where that is cached."""

_LONG: Final = 2.0
"""Seconds; of a first call that is shorter, the way to the server may take most."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of one case in one form.

    Attributes:
        tests: See `Case`.
        level: The level that was given, before the evidence check; None without one.
        quote_found: Whether the quote stood the evidence check; None where the level needs none.
        is_right: Whether the level is one of the right ones.
        fault: Why there is no level; empty where there is one.
    """

    tests: str
    level: Verdict | None
    quote_found: bool | None
    is_right: bool = False
    fault: str = ""


@dataclass(frozen=True, slots=True)
class FormTrial:
    """How a judge did in one form.

    Attributes:
        form: See `FORMS`.
        cases: One for each claim that was asked about.
        seconds: Median time of a claim.
    """

    form: str
    cases: tuple[CaseResult, ...]
    seconds: float

    @property
    def right(self) -> int:
        """How many levels were right."""
        return sum(case.is_right for case in self.cases)

    @property
    def unread(self) -> int:
        """How many claims got no level."""
        return sum(case.level is None for case in self.cases)

    @property
    def quotes(self) -> tuple[int, int]:
        """How many quotes the passages hold, of how many that high levels need."""
        given = [case.quote_found for case in self.cases if case.quote_found is not None]
        return sum(given), len(given)

    @property
    def is_fit(self) -> bool:
        """Good enough that no further form is tried."""
        found, given = self.quotes
        return self.right >= FIT and not self.unread and given - found <= 1


@dataclass(frozen=True)
class Trial(Report):
    """What a judge is fit for.

    Attributes:
        judge: Its name.
        forms: Those that were tried, in their order.
        logprobs: Whether it gives probabilities of tokens.
        reads: Prompt tokens read a second; None where the server does not count tokens.
        writes: Tokens written a second, reading included; None likewise.
        cached_tokens: Prompt tokens that came from the server's cache, as far as it says.
        has_prefix_cache: Whether a prompt that begins like the one before is read sooner; None where
            it could not be told.
        fault: Why the trial ended early; empty where it did not.
    """

    judge: str
    forms: tuple[FormTrial, ...]
    logprobs: bool
    reads: float | None = None
    writes: float | None = None
    cached_tokens: int = 0
    has_prefix_cache: bool | None = None
    fault: str = ""

    @property
    def best(self) -> FormTrial | None:
        """The form to use: the first one that is fit, else that with most right levels.

        None where even that one has fewer than `USABLE`.
        """
        fit = next((each for each in self.forms if each.is_fit), None)
        best = fit or max(self.forms, key=lambda each: each.right, default=None)
        return best if best is not None and best.right >= USABLE else None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings to use that are not the usual ones; empty where none can be advised."""
        return {} if self.best is None else FORMS[self.best.form]

    @property
    def advice(self) -> str:
        """What to do, in a few words."""
        if self.fault:
            return f"the trial ended early: {self.fault}"
        if self.best is None:
            return (
                f"not fit: no form had {USABLE} levels right. Take another model, or --judge lexical, "
                "which asks none"
            )
        options = " ".join(f"--{name} {value}" for name, value in self.settings.items())
        limited = "" if self.best.is_fit else ", with care: try it on samples of yours first"
        return f"use {options or 'the usual settings'}{limited}"

    @property
    def sentence(self) -> str:
        """How the form to use did, and what to do."""
        shown = self.best or max(self.forms, key=lambda each: each.right, default=None)
        said = "" if shown is None else f" levels right {shown.right} of {len(shown.cases)},"
        found, given = (0, 0) if shown is None else shown.quotes
        quotes = f" evidence found {found} of {given};" if given else ""
        return f"{self.judge}:{said}{quotes} {self.advice}"

    def parts(self) -> Iterable[Part]:
        """The forms, the cases that went wrong, and the speed."""
        rows = []
        for each in self.forms:
            found, given = each.quotes
            evidence = f"{found} of {given}" if given else "-"
            right = f"{each.right} of {len(each.cases)}"
            rows.append((each.form, right, evidence, str(each.unread), f"{each.seconds:.1f}"))
        yield Table(
            ("form", "levels right", "evidence found", "no level", "seconds"), rows, "lnnnn"
        )
        for each in self.forms:
            wrong = [
                f"{case.tests} ({case.fault or case.level})"
                for case in each.cases
                if not case.is_right
            ]
            if wrong:
                yield f"wrong in form {each.form}: {', '.join(wrong)}"
        yield (
            "token probabilities: given; --logprobs turns written verdicts into shares of the levels"
            if self.logprobs
            else "token probabilities: not given"
        )
        speeds = {"reads": self.reads, "writes, reading included": self.writes}
        for name, speed in speeds.items():
            if speed is not None:
                yield f"{name}: {speed:.0f} tokens a second"
        words = {True: "yes", False: "no", None: "cannot be told"}
        yield f"prefix cache: {words[self.has_prefix_cache]} ({self.cached_tokens} tokens cached)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            "judge": self.judge,
            "advice": self.advice,
            "fit": self.best is not None,
            "form": None if self.best is None else self.best.form,
            "settings": dict(self.settings),
            "forms": [
                {**asdict(each), "right": each.right, "quotes": list(each.quotes)}
                for each in self.forms
            ],
            "logprobs": self.logprobs,
            "reads_tokens_per_second": self.reads,
            "writes_tokens_per_second": self.writes,
            "cached_tokens": self.cached_tokens,
            "prefix_cache": self.has_prefix_cache,
            "fault": self.fault,
        }


def try_model(
    model: JudgeModel, *, logprobs: bool, say: Callable[[str], None] = lambda _: None
) -> Trial:
    """Ask a model about a dozen claims of known answer, form by form until one is fit.

    Args:
        model: Who judges; twelve calls for each form, and two for the cache.
        logprobs: Whether it gives probabilities of tokens; without them only written verdicts are
            tried, since the other forms would take five calls a claim.
        say: Told what is asked next.
    """
    metered = Metered(model)
    tried: list[FormTrial] = []
    fault = ""  # that of the first form: what a later one lacks is a matter of that form
    for form, settings in FORMS.items():
        if form in _BY_TOKENS and not logprobs:
            continue
        say(f"{len(CASES)} claims of known answer, form {form}")
        found, why = _tried(ModelJudge(metered, **settings), form)
        fault = fault if tried else why
        tried.append(found)
        if fault or found.is_fit:
            break
    output = sum(call.reply.output_tokens for call in metered.calls)
    seconds = sum(call.seconds for call in metered.calls)
    trial = Trial(
        model.name,
        tuple(tried),
        logprobs,
        writes=output / seconds if output else None,
        cached_tokens=sum(call.reply.cached_tokens for call in metered.calls),
        fault=fault,
    )
    return trial if fault else _with_cache(trial, metered)


def _tried(judge: ModelJudge, form: str) -> tuple[FormTrial, str]:
    """A form tried on all cases; the fault where the first calls failed, or one that stays."""
    results: list[CaseResult] = []
    seconds: list[float] = []
    fault = ""
    for case in CASES:
        judged = judge.assess(case.sample, FAITHFULNESS)
        seconds.append(judged.usage.seconds)
        results.append(_result(case, judged))
        why = judged.unscored
        has_none = all(each.level is None for each in results)
        if has_none and why is not None and (why.fatal or len(results) == _FEW):
            fault = why.text
            break
    return FormTrial(form, tuple(results), median(seconds)), fault


def _result(case: Case, judged: Assessment) -> CaseResult:
    if judged.unscored is not None:
        return CaseResult(case.tests, level=None, quote_found=None, fault=judged.unscored.text)
    claim = judged.claims[0]
    level = claim.original_verdict or claim.verdict
    is_high = level in (Verdict.FULLY, Verdict.MOSTLY) and judged.form in ("written", "compact")
    found = claim.original_verdict is None if is_high else None
    return CaseResult(case.tests, level, is_right=level in case.levels, quote_found=found)


def _with_cache(trial: Trial, metered: Metered) -> Trial:
    """The same with what two calls tell that differ in their last word alone."""
    # Nobody has asked this before, so nothing of it can be in a cache.
    system = f"{uuid4()}\n{verdict_system(FAITHFULNESS, 'full', allow_non_claims=True)}"
    asked = JudgeRequest(system, "Reply with one word: ", {}, "", Sampling(max_tokens=1))
    begun = len(metered.calls)
    try:
        for word in ("yes", "no"):
            complete(metered, replace(asked, user=asked.user + word))
    except JudgeError:
        return trial
    first, second = metered.calls[begun:]
    has_cache: bool | None = None
    if second.reply.cached_tokens or first.seconds > _SPEEDUP * second.seconds:
        has_cache = True
    elif first.seconds > _LONG:
        has_cache = False
    reads = first.reply.input_tokens / first.seconds if first.reply.input_tokens else None
    cached = trial.cached_tokens + second.reply.cached_tokens
    return replace(trial, has_prefix_cache=has_cache, reads=reads, cached_tokens=cached)
