"""What the claim threshold removes from answers: marked, in a file, and for the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import fmean

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.console import json_line
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.results.assessment import ClaimVerdict
from tcva_adapters.results.result import Result
from tcva_adapters.results.setting_names import value_text
from tcva_adapters.samples.json_values import Json
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import cell
from tcva_adapters.text.stretches import kept_spans, stretches

SUPPORTED_BEGINNING = re.compile(rb'{"id": "([^"\\]|\\.)*", "answer": "')
"""How files of supported answers begin."""


def is_removed(result: Result, claim: ClaimVerdict) -> bool:
    """Whether the claim threshold removes a claim; never one that stands in no answer.

    The claims of given assessments, of judges that list claims in their own words, and of criteria that
    judge other texts than the response stand in none.

    >>> from tcva_adapters import TCVA, Sample
    >>> sample = Sample(response="We open at 9. Entry is 90 EUR.", contexts=["We open at 9."])
    >>> result = TCVA(judge="lexical").evaluate(sample)
    >>> [is_removed(result, claim) for claim in result.claims]
    [False, True]
    """
    judged_by = result.assessment.judged_by
    criterion = CRITERIA.get(result.criterion)
    if not judged_by or judged_by.get("claims") == "llm" or criterion is None:
        return False
    weight = claim.support(result.scoring.scheme)
    is_below = weight is not None and weight < result.scoring.least_weight
    return is_below and criterion.claims == "response"


def level_or_removed(result: Result, claim: ClaimVerdict) -> str:
    """A claim's level as shown to a reader, and whether it is removed or its whole answer refused.

    >>> from tcva_adapters import TCVA, Sample
    >>> sample = Sample(response="We open at 9. Entry is 90 EUR.", contexts=["We open at 9."])
    >>> result = TCVA(judge="lexical", max_removed=0.0).evaluate(sample)
    >>> level_or_removed(result, result.claims[0])
    'fully, answer refused'
    """
    level = claim.level_text(result.scoring.scheme)
    cut = [is_removed(result, each) for each in result.claims if each.verdict]
    if any(cut) and fmean(cut) > result.scoring.max_removed:
        return f"{level}, answer refused"
    return f"{level}, removed" if is_removed(result, claim) else level


def as_served(result: Result, sample: Sample | None = None) -> Result:
    """Return a result with the wrong citations that ``require_citations`` removes, where the texts are known."""
    try:
        return result.as_cited(sample)
    except InvalidValueError:
        return result


def removal_text(results: Sequence[Result]) -> str:
    """Say which share of claims is below the claim threshold, and how many answers that leaves empty.

    Args:
        results: Results under one setting; those without a score do not count.

    Returns:
        The sentence; empty if no claim is below the threshold.

    >>> from tcva_adapters import TCVA, Sample
    >>> sample = Sample(response="We open at 9. Entry is 90 EUR.", contexts=["We open at 9."])
    >>> removal_text([TCVA(judge="lexical").evaluate(sample)])
    'Removing the claims below the threshold partial, 1 of 2 (50 %), leaves 0 of 1 answers empty.'
    """
    answers = [
        [is_removed(result, claim) for claim in result.claims if claim.verdict]
        for result in results
        if result.unscored is None
    ]
    below = [*chain(*answers)]
    if not any(below):
        return ""
    scoring = results[0].scoring
    n_empty = sum(all(cut) or fmean(cut) > scoring.max_removed for cut in answers)
    share = cell(fmean(below), "share")
    return (
        f"Removing the claims below the threshold {value_text(scoring.claim_threshold)}, {sum(below)} of "
        f"{len(below)} ({share}), leaves {n_empty} of {len(answers)} answers empty."
    )


def supported_lines(table: ScoreTable, samples: Iterable[Sample]) -> str:
    """Write answers without their unsupported claims as lines of JSON.

    Args:
        table: A table with results of TCVA; of several criteria the first one of responses counts.
        samples: The samples that were judged, in the order of the table.

    Raises:
        InvalidValueError: See `Result.supported`.
    """
    of_responses = [name for name in CRITERIA if CRITERIA[name].claims == "response"]
    method = next(filter(table.results.get, (*of_responses, *table.methods)))
    results = table.results[method]
    lines = []
    for name, result, sample in zip(table.samples, results, samples, strict=True):
        if isinstance(result, Result):
            answer = result.supported(sample=sample).to_dict()
            row = {"id": name, "answer": answer.pop("text"), **answer}
            lines.append(f"{json_line(row)}\n")
    return "".join(lines)


def served_json(result: Result, sample: Sample) -> Json | None:
    """Return what the page shows of an answer as it is served; None where nothing can be cut.

    ``left`` are the spans of the answer that are served; each of ``parts`` is a sentence: where it begins
    and ends, whether it stays, whether it may refer to a removed one.
    """
    text = sample.response or ""
    try:
        answer = result.supported(sample=sample)
    except InvalidValueError:
        return None
    stays = [part.stays for part in answer.parts]
    return {
        "left": kept_spans(text, stretches(text), stays),
        "parts": [(p.start, p.end, p.stays, p.orphan) for p in answer.parts],
    }
