"""Estimate what judging will cost, before any call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tcva_adapters.judges.llm import LLMJudge
from tcva_adapters.runner.questions import Evaluation, Question, stored_answers
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Record, Report, Table, counted, named_columns

_BYTES_A_TOKEN = 4
_REPLY = 60
"""Tokens of a reply for each claim: a quote, a reason of a sentence, a verdict."""


def estimate_cost(
    evaluations: Mapping[str, Evaluation[Any]],
    samples: Sequence[Sample],
    *,
    calls: Mapping[str, int] | None = None,
    prices: tuple[float, float] | None = None,
) -> Report:
    """Estimate the calls and tokens that judging takes; makes no call.

    Args:
        evaluations: The scorers by name. Stored answers are not counted, and equal questions count
            once. The calls of a judge of the user's own are not known, and count as none.
        samples: The samples to judge.
        calls: The calls per question of scorers that make their calls by themselves.
        prices: Per million prompt tokens and per million reply tokens.

    >>> from tcva_adapters import TCVA
    >>> sample = Sample(response="It opens at nine.", contexts=["It opens at nine."])
    >>> estimate_cost({"tcva": TCVA(judge="lexical")}, [sample] * 3).sentence
    'About 0 calls on 3 samples.'
    """
    calls = calls or {}
    records = []
    for name, evaluation in evaluations.items():
        unique = {q.key: q for sample in samples for q in evaluation.questions(sample)}
        questions = [*unique.values()]
        if evaluation.store is not None:
            questions = [
                question
                for question, answer in zip(
                    questions, stored_answers(evaluation.store, questions), strict=True
                )
                if answer is None
            ]
        record: Record = {"method": name, "cached": len(unique) - len(questions)}
        if name in calls:
            record["calls"] = calls[name] * len(questions)
        else:
            record |= _requests(questions, prices)
        records.append(record)

    columns = named_columns(
        method="text",
        cached="int",
        calls="int",
        prompt_tokens="int",
        reply_tokens="int",
    )
    n_calls = sum(record["calls"] for record in records)
    sentence = f"About {counted(n_calls, 'call')} on {counted(len(samples), 'sample')}"
    notes = [
        (
            "Tokens are estimated as bytes / 4. An unreadable reply costs another call, and so does "
            "a sentence that only the judge takes for no claim."
        )
    ]
    if calls:
        notes.append(
            "Calls of framework metrics are those for an answer of one or two sentences."
        )
    if prices is not None:
        columns += named_columns(cost="score")
        money = sum(record.get("cost", 0.0) for record in records)
        sentence += f", {money:,.2f} at these prices"
        if calls:
            sentence += " without the framework metrics"
    elif n_calls:
        notes.append("For the cost, add --set prices=IN,OUT (of a million tokens).")
    return Report(f"{sentence}.", [Table("calls", columns, records)], notes)


def _requests(
    questions: Iterable[Question], prices: tuple[float, float] | None
) -> Record:
    """Estimate calls, tokens and cost by the first requests, which depend on no reply."""
    texts = [
        f"{request.system}{request.user}"
        for question in questions
        if isinstance(question.judge, LLMJudge)  # of others no calls are known
        for request in next(question.rounds(), ())
    ]
    prompts = sum(len(text.encode()) for text in texts) // _BYTES_A_TOKEN
    replies = _REPLY * sum(max(1, text.count("<<<CLAIM")) for text in texts)
    estimate: Record = {
        "calls": len(texts),
        "prompt_tokens": prompts,
        "reply_tokens": replies,
    }
    if prices is not None:
        estimate["cost"] = (prompts * prices[0] + replies * prices[1]) / 1e6
    return estimate
