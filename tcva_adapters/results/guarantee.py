"""Guarantees of gates and of claims, as the configuration file carries them, and whether they hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import BeforeValidator, ConfigDict, Field

from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.results.judge_spec import PROFILES, UNKNOWN
from tcva_adapters.results.scoring import SERVING, ScoringConfig
from tcva_adapters.results.setting_names import value_text
from tcva_adapters.results.settings_base import ClaimThreshold, Count
from tcva_adapters.samples.fields import Fields
from tcva_adapters.samples.sample import Checked
from tcva_adapters.tables import cell, p_text

_Inner = Annotated[float, Field(gt=0.0, lt=1.0)]
_Share = Annotated[float, Field(ge=0.0, le=1.0)]
Per = Literal["group", "answer"]
Of = Literal["all", "served"]


def percent(share: float) -> str:
    """Write a limit or a confidence with the digits that it was given with.

    >>> percent(0.1), percent(0.025), percent(0.999)
    ('10 %', '2.5 %', '99.9 %')
    """
    return f"{100 * share:.6g} %"


class Limits(Checked):
    """The limits that a gate must keep.

    Attributes:
        max_false_pass: The largest share of rejected answers that may pass; None sets no limit.
        min_true_pass: The smallest share of good answers that must pass, likewise.
        confidence: The confidence that both limits hold together.
        human_threshold: A rating below it rejects an answer.
        human_scale: Lowest and highest rating.
        per: What the limits hold for where answers are in groups: ``answer`` for the share of
            answers; ``group``, or None as in files of earlier versions, for the mean over groups of
            the share within each.
        largest_group: With ``answer`` the most rejected, or good, answers of any group.

    >>> Limits(max_false_pass=0.1).text
    'at most 10 % of the answers that people reject'
    """

    max_false_pass: _Inner | None = None
    min_true_pass: _Inner | None = None
    confidence: _Inner = 0.95
    human_threshold: float = 0.5
    human_scale: tuple[float, float] = (0.0, 1.0)
    per: Per | None = None
    largest_group: Count | None = None

    @property
    def text(self) -> str:
        """The limits in words."""
        limits = []
        if self.max_false_pass is not None:
            most = percent(self.max_false_pass)
            limits.append(f"at most {most} of the answers that people reject")
        if self.min_true_pass is not None:
            least = percent(self.min_true_pass)
            limits.append(f"at least {least} of the good answers")
        return " and ".join(limits)


class Certificate(Checked):
    """What was certified of settings, by whom it was judged, and a digest that shows later edits.

    Attributes:
        date: When it was certified, as YYYY-MM-DD.
        judged_by: The identity of criterion and judges, see `TCVA.judged_by`; empty where the
            labelled answers lack it, or differ in it.
        setting: The certified setting, as keyword arguments of `ScoringConfig`.
        digest: The digest of all other fields when it was certified, which shows later edits.
    """

    model_config = ConfigDict(extra="allow")  # files of earlier versions have more
    unrelated: ClassVar[frozenset[str]]
    """The settings that it does not depend on."""

    date: str
    judged_by: Fields = Field(default_factory=dict)
    setting: Fields
    digest: str | None = None

    @property
    def digest_now(self) -> str:
        """The digest of all other fields as they are now."""
        plain = self.model_dump(
            mode="json",
            exclude={"digest"},
            exclude_none=True,
        )
        return sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

    def with_digest(self) -> Self:
        """Return a copy that holds its digest."""
        return self.model_copy(update={"digest": self.digest_now})

    @cached_property
    def warned_of(self) -> set[str]:
        """The texts that a run has warned of already, to which callers add."""
        return set()


class Guarantee(Limits, Certificate):
    """A setting that keeps limits, with the figures of the ratings that it was certified by.

    Shares are shares of answers; with `groups` they are means over groups of the share within
    each, unless `per` is "answer". With `by` they are those of the field's value where they are worst.

    Attributes:
        rejected: The number of rated answers that people reject and that have a score.
        false_pass: The share of these that passes.
        bound: Its upper bound, for this threshold alone.
        good: The number of rated answers that people accept; those without a score do not pass.
        true_pass: The share of these that passes.
        true_bound: Its lower bound, for this threshold alone.
        passing: The number of good and rejected answers that pass together.
        precision: The share of good answers among those that pass; None where none passes.
        precision_low: The lower end of its 95 % interval; None where it has none.
        precision_high: The upper end.
        p: The one-sided p of "good answers pass no more often than rejected ones"; with `by` the largest
            of the values'.
        groups: The number of groups of the rejected answers; None where answers stand alone.
        by: The field for each of whose values the limits hold.
    """

    unrelated = frozenset(SERVING) - {"require_citations"}

    rejected: Count
    false_pass: _Share
    bound: _Share
    good: Count
    true_pass: _Share
    true_bound: _Share
    passing: int
    precision: _Share | None = None
    precision_low: _Share | None = None
    precision_high: _Share | None = None
    p: _Share
    groups: int | None = None
    by: str | None = None

    @property
    def sentence(self) -> str:
        """The guarantee in words, with the figures of the rated answers."""
        where = f" for each {self.by}" if self.by else ""
        counts_groups = self.groups and self.per != "answer"
        if counts_groups:
            where += " in the mean over groups"
        claim = f"{self.text} pass{where} ({percent(self.confidence)} confidence)"
        below = f"rejected answers (rated below {self.human_threshold:g})"
        if not (self.by or counts_groups):
            rejected = f"{self.false_pass * self.rejected:.0f} of {self.rejected}"
            good = f"{self.true_pass * self.good:.0f} of {self.good}"
            return f"{claim}. Of those rated, {rejected} {below} and {good} good ones pass{self._gain}."
        measured = (
            f"in the {self.by} where each share is worst"
            if self.by
            else f"in the mean over groups ({self.groups} of them with a rejected answer)"
        )
        shares = (
            f"{100 * self.false_pass:.1f} % of the rejected and "
            f"{100 * self.true_pass:.1f} % of the good ones"
        )
        return (
            f"{claim}. Of {self.rejected} {below} and {self.good} good ones, {shares} pass "
            f"{measured}{self._gain}."
        )

    @property
    def _gain(self) -> str:
        """What the gate gains, as the end of the sentence."""
        precision = cell(
            self.precision, "interval", self.precision_low, self.precision_high
        )
        share_of_all = self.good / (self.good + self.rejected)
        test = "Fisher's exact test"
        if self.groups:
            test += " corrected for groups"
        if self.by:
            test += f" in the {self.by} where p is largest"
        return (
            f". The share of good answers is {precision} among those that pass ({self.passing}), "
            f"{share_of_all:.3f} among all ({p_text(self.p)}, {test})"
        )


class ClaimLimit(Checked):
    """The limit on claims that people reject in what is served.

    Attributes:
        max_unsupported: The largest share of questions whose answer holds such a claim.
        of: Of which questions: ``all``, or those that are ``served`` an answer.
        confidence: The confidence that the limit holds.
        rejected_below: A label below this level, or weight, rejects a claim.

    >>> ClaimLimit(max_unsupported=0.1).text
    'at most 10 % of all questions get an answer that holds a claim people reject'
    """

    max_unsupported: _Inner
    of: Of = "all"
    confidence: _Inner = 0.95
    rejected_below: ClaimThreshold = Verdict.PARTIAL

    @property
    def text(self) -> str:
        """The limit in words."""
        most = percent(self.max_unsupported)
        answers = "the answers that are served hold"
        if self.of == "all":
            answers = "all questions get an answer that holds"
        return f"at most {most} of {answers} a claim people reject"


class ClaimGuarantee(ClaimLimit, Certificate):
    """A threshold of claims that keeps the limit, with the figures of the labels it was certified by.

    It is about answers out of which the claims below the threshold are removed (`Result.supported`), not
    about those that are only marked, or refused by their score. With `groups`, shares of answers are means
    over groups of the share within each.

    Attributes:
        n: The number of labelled answers.
        risk: The share that is limited, of these or of those that are served.
        bound: Its upper bound, for this rule alone.
        good_kept: The share of the claims people accept that stay.
        empty: The share of answers left without a claim.
        served: The number of answers that are served.
        served_risk: The share of these that hold a rejected claim.
        served_risk_low: The lower end of its 95 % interval.
        served_risk_high: The upper end.
        groups: The number of groups; None where answers stand alone.
    """

    unrelated = frozenset(
        {
            "temperature",
            "threshold",
            "penalty",
            "eps",
            "floor",
            "bounds",
            "on_unscored",
            "fuse_weights",
            "citations",
            PROFILES,
        }
    )

    n: Count
    risk: _Share
    bound: _Share
    good_kept: _Share
    empty: _Share
    served: Count
    served_risk: _Share
    served_risk_low: _Share | None = None
    served_risk_high: _Share | None = None
    groups: int | None = None

    @property
    def sentence(self) -> str:
        """The guarantee in words, with the figures of the labelled answers."""
        threshold = value_text(self.setting.get("claim_threshold", Verdict.PARTIAL))
        where = " in the mean over groups" if self.groups else ""
        risk = cell(
            self.served_risk, "interval", self.served_risk_low, self.served_risk_high
        )
        hold = f"{100 * self.risk:.1f} % hold one{where}, " if self.of == "all" else ""
        return (
            f"{self.text}{where} ({percent(self.confidence)} confidence), where claims below {threshold} are "
            f"removed; people reject what they label below {value_text(self.rejected_below)}. Of {self.n} labelled answers, {hold}{100 * self.empty:.1f} % are left empty, and "
            f"{100 * self.good_kept:.1f} % of the good claims stay. Of the {self.served} that are served, the "
            f"share that holds one is {risk}"
        )


def read_guarantee(value: Any) -> Any:
    """Read a certificate of either kind; only those of claims have ``max_unsupported``.

    Raises:
        InvalidValueError: A field is missing or does not fit.
    """
    if not isinstance(value, Mapping):
        return value
    return (ClaimGuarantee if "max_unsupported" in value else Guarantee)(**value)


AnyGuarantee = Annotated[Guarantee | ClaimGuarantee, BeforeValidator(read_guarantee)]

_WAY_OUT = (
    "pass the judge as 'openai:MODEL', or as an LLM object that has base_url, temperature, seed and "
    "max_tokens; judge and calibrate again what was certified without these"
)

_EDITED = "The guarantee is lost: its certificate was edited after it was made; calibrate again"


class GuaranteeCheck(NamedTuple):
    """Whether a guarantee holds for a score.

    Attributes:
        state: ``lost`` where the score differs from what was certified; ``cannot be checked`` where
            it does not, as far as is known; else ``holds``.
        text: What is guaranteed, what differs, or what is unknown, with the way out.
    """

    state: Literal["holds", "lost", "cannot be checked"]
    text: str


def check_guarantee(
    guarantee: AnyGuarantee,
    judged_by: Fields,
    scoring: ScoringConfig,
    failed: str = "",
) -> GuaranteeCheck:
    """Check whether a guarantee holds for a score.

    Args:
        guarantee: The guarantee. One that was edited, or has lost its digest, is lost.
        judged_by: The identity of the criterion and judges of the score.
        scoring: The setting of the score.
        failed: The judges that the score lacks, as a text; empty where it lacks none.
    """
    if isinstance(guarantee, ClaimGuarantee):
        holds_of_fewer = guarantee.of == "all"
    else:
        holds_of_fewer = guarantee.min_true_pass is None
    if guarantee.digest != guarantee.digest_now:
        return GuaranteeCheck("lost", _EDITED)
    certified = {**dict(ScoringConfig(**guarantee.setting)), **guarantee.judged_by}
    # No certificate counts what these cut besides; a limit on errors among all answers holds all the same.
    certified["require_citations"] = holds_of_fewer and scoring.require_citations
    used = {**dict(scoring), **judged_by}
    missing = None if guarantee.judged_by else UNKNOWN
    differs = [failed] if failed else []
    unknown = []
    for name in {**certified, **used}:
        if name in guarantee.unrelated:
            continue
        wanted = certified.get(name, missing)
        value = used.get(name)
        # An answer without contexts can pass only under "earlier".
        if name == "uncontexted" and "earlier" not in (wanted, value):
            continue
        if UNKNOWN in (wanted, value):
            unknown.append(name)
        elif value != wanted:
            # Numbers that are alike but for digits that are not shown get all of them.
            show = str if value_text(value) == value_text(wanted) else value_text
            differs.append(f"{name} {show(value)} instead of {show(wanted)}")
    if differs:
        return GuaranteeCheck("lost", f"The guarantee is lost: {'; '.join(differs)}")
    if unknown:
        return GuaranteeCheck(
            "cannot be checked",
            f"The guarantee cannot be checked: {', '.join(unknown)} unknown; {_WAY_OUT}",
        )
    return GuaranteeCheck(
        "holds", f"Guarantee of {guarantee.date}: {guarantee.sentence}"
    )
