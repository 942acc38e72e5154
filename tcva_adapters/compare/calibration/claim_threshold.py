"""Find the threshold below which claims are cut, so that few answers hold a claim people reject."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from tcva_adapters.compare.calibration.certify_setting import (
    grouped_by_sample,
    judge_of_table,
)
from tcva_adapters.compare.scores.claim_labels import claim_labels, label_weight
from tcva_adapters.compare.scores.ratings import Ratings
from tcva_adapters.compare.scores.score_reader import Human
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.config import settings_of
from tcva_adapters.results.guarantee import ClaimGuarantee, ClaimLimit, percent
from tcva_adapters.results.judgement import SILENT
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.stats.claim_risk import (
    AnswerClaims,
    ClaimCertificate,
    ClaimStep,
    certify_claims,
    served_claims,
)
from tcva_adapters.stats.guarantee import binomial_p
from tcva_adapters.tables import Record, Report, Table, counted, named_columns
from tcva_adapters.text.stretches import begins_with_pronoun

_COLUMNS = named_columns(
    max_removed="share",
    threshold="score",
    risk="score",
    bound="score",
    good_kept="share",
    empty="share",
    served="int",
    served_risk="interval",
    better_p="p",
    recommended="text",
)
_NOTES = (
    "max removed: an answer is refused whole if a larger share of its claims would go",
    "threshold: a claim stays with at least this weight; without one, the figures are those of the strictest",
    "risk: the share that is limited; bound: of the true share (one-sided, for one rule alone)",
    "better p: of good claims staying no more often than rejected ones (one-sided, Bonferroni)",
)
_PROMISE = (
    "A guarantee is about answers that are drawn, judged and labelled like these {n}: at most {wrong} of such "
    "sets of labels result in a threshold that breaks the limit. It promises nothing about other data, nor "
    "that an answer makes sense after a cut."
)


def certify_claim_threshold(
    table: ScoreTable,
    human: Human | None,
    limit: ClaimLimit,
    scoring: ScoringConfig,
) -> Report:
    """Choose the rule and the threshold of claims that keep the limit and the most good claims.

    Args:
        table: Judgements, with their results.
        human: Where the labels of claims are, see `claim_labels`.
        limit: The limit to keep.
        scoring: The setting in use: weights and the evidence check.

    Returns:
        The table ``rules``, a row for each. Its settings hold ``guarantee``, a `ClaimGuarantee` as
        plain values, or None, and ``recommended``, which is None also where the answers that are
        served are no better than without the rule.

    Raises:
        InvalidValueError: There are no labels or no results, or a value is no label.
        MissingDependencyError: scipy is not installed.
    """
    table = grouped_by_sample(table)
    judge = judge_of_table(table)
    if "llm" in judge.values():
        raise InvalidValueError(
            "claims='llm' are the judge's own words, so nothing can be cut; judge with claims='split'"
        )
    claims, texts, notes = _labelled_claims(table, human, limit, scoring)
    rules = certify_claims(
        claims,
        limit.max_unsupported,
        error=1.0 - limit.confidence,
        of=limit.of,
    )
    groups = len({*claims.groups}) if claims.groups else None
    records = [_record(rule, claims.n) for rule in rules]
    best = max(rules, key=_merit)
    guarantee = None
    sentence = (
        f"No threshold is certified under which {limit.text}: nothing would be left."
    )
    if best.threshold is not None:
        record = records[rules.index(best)]
        chosen = scoring.changed(
            claim_threshold=best.threshold, max_removed=best.max_removed
        )
        guarantee = ClaimGuarantee(
            **dict(limit),
            **{k: record[k] for k in ClaimGuarantee.model_fields.keys() & record},
            groups=groups,
            date=datetime.now(tz=UTC).date().isoformat(),
            judged_by=judge,
            setting=settings_of(chosen),
        ).with_digest()
        sentence = f"Use claim_threshold {best.threshold:g}, max_removed {best.max_removed:g}: "
        if not best.recommended:
            sentence = (
                f"{sentence[4:-2]} is certified but not recommended, as the answers that are served are "
                "not shown to be better than without it: "
            )
        sentence += f"{guarantee.sentence}."
    whole = percent(round(best.path[-1].served_risk, 3))
    return Report(
        sentence,
        [Table("rules", _COLUMNS, records, notes=_NOTES)],
        [
            _more_labels(best, groups or claims.n, limit),
            f"Sentences that begin with a pronoun right behind one that goes: {_orphans(best, claims, texts)}.",
            f"Before anything is cut, {whole} of the answers hold a claim labelled below {limit.rejected_below}.",
            *table.notes,
            *notes,
            _PROMISE.format(n=claims.n, wrong=percent(1.0 - limit.confidence)),
        ],
        {
            **limit.model_dump(mode="json"),
            "criterion": table.judged.criterion or None,
            "recommended": guarantee.setting
            if guarantee and best.recommended
            else None,
            "profiles": None,
            "guarantee": guarantee and guarantee.model_dump(mode="json"),
        },
    )


def _merit(rule: ClaimCertificate) -> tuple[bool, bool, float]:
    return rule.recommended, rule.threshold is not None, rule.step.good_kept


def _record(rule: ClaimCertificate, n: int) -> Record:
    return {
        "max_removed": rule.max_removed,
        "n": n,
        "error": rule.error,
        **rule.step._asdict(),
        "threshold": rule.threshold,
        "served": rule.served_risk.n,
        **rule.served_risk.record("served_risk"),
        "better_p": rule.better_p,
        "recommended": rule.recommended,
    }


def _orphans(rule: ClaimCertificate, claims: AnswerClaims, texts: list[str]) -> int:
    stays, _, _ = served_claims(claims, rule.step.up_to, rule.max_removed)
    has_one_before = np.diff(claims.answer, prepend=-1) == 0
    behind = stays[1:] & ~stays[:-1] & has_one_before[1:]
    return sum(begins_with_pronoun(text) for text in compress(texts[1:], behind))


def _more_labels(rule: ClaimCertificate, n: int, limit: ClaimLimit) -> str:
    """Say what more labels would bring, if the shares remained as they are."""
    path: Any = ClaimStep(*np.transpose(rule.path))
    left_out = path.empty * (limit.of == "served")
    sizes = np.rint(n * (1.0 - left_out)).astype(np.intp)
    for times in (2, 4, 8):
        hits = np.ceil((times * sizes * path.risk).round(9))
        p = binomial_p(hits, times * sizes, limit.max_unsupported)
        kept = path.good_kept[p <= rule.error].max(initial=0.0)
        if kept > (rule.threshold is not None and rule.step.good_kept):
            return (
                f"At the same shares, {times} times as many labels would let {percent(round(kept, 3))} of the "
                "good claims stay."
            )
    return "More labels would let no more claims stay; another judge may do better."


def _labelled_claims(
    table: ScoreTable,
    human: Human | None,
    limit: ClaimLimit,
    scoring: ScoringConfig,
) -> tuple[AnswerClaims, list[str], list[str]]:
    """Join the claims of judgements with their labels, and note what is left out."""
    if not isinstance(human, str | Path | Mapping):
        human = dict(zip(table.samples, human, strict=True))  # type: ignore[arg-type]  # a list
    ratings = Ratings.find(human)
    rows: list[int] = []
    weights: list[float | None] = []
    labels: list[float | None] = []
    answer: list[int] = []
    texts: list[str] = []
    for row, judged in enumerate(next(iter(table.results.values()), ())):
        if not isinstance(judged, Result):
            continue
        result = Result(judged.assessment, scoring)
        sentences = [claim.claim for claim in result.claims]
        name = result.sample_id or table.samples[row]
        labelled = claim_labels(ratings, name, table.metadata[row], sentences)
        if result.unscored is not None and result.unscored.reason not in SILENT:
            rows += [row] if labelled else []  # nothing of it is served
        elif None not in labelled and len(labelled) == len(sentences) > 0:
            weights += [claim.support(scoring.scheme) for claim in result.claims]
            labels += labelled
            texts += sentences
            answer += [len(rows)] * len(labelled)
            rows.append(row)
    notes = ratings.notes(len(table))
    if not rows:
        raise InvalidValueError(
            "no answer has a label for each of its sentences; name their field or file with --human, "
            "e.g. what the page of 'tcva report' exports under Label"
        )
    if left := len(table) - len(rows):
        notes.append(
            f"Left out: {counted(left, 'answer')} without a label for each sentence."
        )
    return (
        AnswerClaims(
            weights=np.array(weights, dtype=np.float64),  # nan for None
            rejected=np.array(labels, dtype=np.float64)
            < label_weight(limit.rejected_below),
            answer=np.array(answer, dtype=np.intp),
            n=len(rows),
            groups=table.select(rows).known_groups,
        ),
        texts,
        notes,
    )
