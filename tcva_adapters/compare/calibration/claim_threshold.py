"""Find the threshold below which claims are cut, so that few answers hold a claim people reject."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import compress
from pathlib import Path

import numpy as np

from tcva_adapters.compare.calibration.certify_setting import (
    grouped_by_sample,
    judge_of_table,
)
from tcva_adapters.compare.scores.claim_labels import claim_labels, label_weight
from tcva_adapters.compare.scores.ratings import Ratings
from tcva_adapters.compare.scores.score_reader import Human
from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.criteria import CRITERIA, FAITHFULNESS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.config import settings_of
from tcva_adapters.results.guarantee import ClaimGuarantee, ClaimLimit, percent
from tcva_adapters.results.judgement import SILENT
from tcva_adapters.results.result import Result
from tcva_adapters.results.scoring import ScoringConfig
from tcva_adapters.samples.fields import Fields
from tcva_adapters.stats.claim_risk import (
    AnswerClaims,
    ClaimCertificate,
    certify_claims,
)
from tcva_adapters.stats.guarantee import needed
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
_MOST_TIMES = 8
"""More labels than this many times those at hand are not proposed."""

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
        InvalidValueError: There are no labels or no results, a value is no label, or the claims do not
            stand in the responses.
        MissingDependencyError: scipy is not installed.
    """
    table = grouped_by_sample(table)
    judge = judge_of_table(table)
    _check_claims(table, judge, limit)
    sentences, claims, notes = _labelled_claims(table, human, limit, scoring)
    rules = certify_claims(
        claims,
        limit.max_unsupported,
        error=1.0 - limit.confidence,
        of=limit.of,
    )
    groups = len({*claims.groups}) if claims.groups else None
    records = [*map(_record, rules)]
    best = max(rules, key=lambda rule: rule.merit)
    guarantee = None
    sentence = (
        f"No threshold is certified under which {limit.text}: nothing would be left."
    )
    if best.threshold is not None:
        record = records[rules.index(best)]
        guarantee = ClaimGuarantee(
            **dict(limit),
            **{k: record[k] for k in ClaimGuarantee.model_fields.keys() & record},
            n=claims.n,
            groups=groups,
            date=datetime.now(tz=UTC).date().isoformat(),
            judged_by=judge,
            setting=settings_of(
                scoring.changed(
                    claim_threshold=best.threshold, max_removed=best.max_removed
                )
            ),
        ).with_digest()
        setting = (
            f"claim_threshold {best.threshold:g}, max_removed {best.max_removed:g}"
        )
        sentence = f"Use {setting}: {guarantee.sentence}."
        if not best.recommended:
            sentence = (
                f"{setting} is certified but not recommended, as the answers that are served are not shown "
                f"to be better than without it: {guarantee.sentence}."
            )
    whole = percent(round(best.path[-1].served_risk, 3))
    return Report(
        sentence,
        [Table("rules", _COLUMNS, records, notes=_NOTES)],
        [
            _more_labels(best, groups or claims.n, limit),
            f"Sentences that begin with a pronoun right behind one that goes: {_orphans(best, claims, sentences)}.",
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


def _check_claims(table: ScoreTable, judge: Fields, limit: ClaimLimit) -> None:
    """Refuse judgements of several judges, claims that cannot be cut, and a limit that rejects none.

    Raises:
        InvalidValueError: They are such.
    """
    results = next(iter(table.results.values()), ())
    if not judge and any(
        isinstance(r, Result) and r.assessment.judged_by for r in results
    ):
        raise InvalidValueError(
            "the judgements differ in their judge (judged_by); calibrate a file for each"
        )
    if not label_weight(limit.rejected_below):
        raise InvalidValueError(
            f"rejected_below {limit.rejected_below} rejects no claim; give a higher level, e.g. partial"
        )
    criterion = CRITERIA.get(table.judged.criterion, FAITHFULNESS)
    if criterion.claims != "response" or judge.get("claims") == "llm":
        raise InvalidValueError(
            "the claims of these judgements do not stand in the responses, so nothing can be cut; judge "
            "with claims='split', by a criterion of the response"
        )


def _record(rule: ClaimCertificate) -> Record:
    return {
        "max_removed": rule.max_removed,
        "error": rule.error,
        **rule.step._asdict(),
        "threshold": rule.threshold,
        "served": rule.served_risk.n,
        **rule.served_risk.record("served_risk"),
        "better_p": rule.better_p,
        "recommended": rule.recommended,
    }


def _orphans(
    rule: ClaimCertificate, claims: AnswerClaims, sentences: Sequence[ClaimVerdict]
) -> int:
    stays = rule.stays
    is_behind = np.diff(claims.answer) == 0
    behind = compress(sentences[1:], stays[1:] & ~stays[:-1] & is_behind)
    return sum(begins_with_pronoun(sentence.claim) for sentence in behind)


def _more_labels(rule: ClaimCertificate, n: int, limit: ClaimLimit) -> str:
    """Say what more labels would bring, if the shares remained as they are."""
    kept = 0.0 if rule.threshold is None else rule.step.good_kept
    for step in reversed(rule.path):
        tested = n * (1.0 - step.empty) if limit.of == "served" else n
        enough = needed(limit.max_unsupported, rule.error, step.risk) or math.inf
        if step.good_kept > kept and enough <= _MOST_TIMES * tested:
            return (
                f"At the same shares, {math.ceil(enough / tested)} times as many labels would let "
                f"{percent(round(step.good_kept, 3))} of the good claims stay."
            )
    return "More labels would let no more claims stay; another judge may do better."


def _labelled_claims(
    table: ScoreTable,
    human: Human | None,
    limit: ClaimLimit,
    scoring: ScoringConfig,
) -> tuple[list[ClaimVerdict], AnswerClaims, list[str]]:
    """Join the claims of judgements with their labels, and note what is left out."""
    if not isinstance(human, str | Path | Mapping):
        lists = [*human]  # type: ignore[misc]  # not None, see `calibrate`
        if len(lists) != len(table):
            raise InvalidValueError(
                f"{len(lists)} lists of labels for {len(table)} samples; give one for each sample or turn"
            )
        human = dict(zip(table.samples, lists, strict=True))
    ratings = Ratings.find(human)
    failed = 0
    rows: list[int] = []
    answer = []
    sentences: list[ClaimVerdict] = []
    labels = []
    for row, judged in enumerate(next(iter(table.results.values()), ())):
        if not isinstance(judged, Result):
            continue
        result = Result(judged.assessment, scoring)
        claims = result.claims
        name = table.samples[row]
        metadata = table.metadata[row]
        if result.unscored is not None and result.unscored.reason not in SILENT:
            ratings.record(name, metadata)
            failed += 1  # judged again, it could hold a claim people reject
            continue
        labelled = claim_labels(
            ratings, name, metadata, [claim.claim for claim in claims]
        )
        if claims and None not in labelled and len(labelled) == len(claims):
            answer += [len(rows)] * len(claims)
            sentences += claims
            labels += labelled
            rows.append(row)
    notes = ratings.notes(len(table))
    if not rows:
        raise InvalidValueError(
            "no answer has a label for each of its sentences; name their field or file with --human, "
            "e.g. what the page of 'tcva report' exports under Label"
        )
    if failed:
        notes.append(
            f"Left out: {counted(failed, 'answer')} that could not be judged; nothing of these is served."
        )
    if left := len(table) - len(rows) - failed:
        notes.append(
            f"Left out: {counted(left, 'answer')} without a label for each sentence."
        )
    weights = [sentence.support(scoring.scheme) for sentence in sentences]
    rejected_below = label_weight(limit.rejected_below)
    return (
        sentences,
        AnswerClaims(
            weights=np.array(weights, dtype=np.float64),  # nan for None
            rejected=np.array(labels, dtype=np.float64) < rejected_below,
            answer=np.array(answer, dtype=np.intp),
            n=len(rows),
            groups=table.select(rows).known_groups,
        ),
        notes,
    )
