"""What judging will cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tcva_adapters.runner.questions import Evaluation, stored_answers
from tcva_adapters.samples.sample import Sample
from tcva_adapters.tables import Record, Report, Table, counted, named_columns

_BYTES_A_TOKEN: Final = 4
_REPLY: Final = 60
"""Tokens of a reply for each claim: a quote, a reason of a sentence, a verdict."""


def cost(
    askings: Mapping[str, Evaluation[Any]],
    samples: Sequence[Sample],
    *,
    calls: Mapping[str, int] | None = None,
    prices: tuple[float, float] | None = None,
) -> Report:
    """The calls and tokens that judging takes; nothing is asked.

    Args:
        askings: Who would judge, by name; its store is looked at, and equal questions count once.
        samples: What would be judged.
        calls: For each question of those that make their calls by themselves.
        prices: Per million prompt tokens and per million reply tokens.

    >>> from tcva_adapters import TCVA
    >>> sample = Sample(response="It opens at nine.", contexts=["It opens at nine."])
    >>> cost({"tcva": TCVA(judge="lexical")}, [sample] * 3).sentence
    'About 0 calls on 3 samples.'
    """
    records = []
    for name, asking in askings.items():
        each = (calls or {}).get(name)
        questions = {q.key: q for sample in samples for q in asking.questions(sample)}
        left = list(questions.values())
        if asking.store is not None and left:
            found = stored_answers(asking.store, left)
            left = [q for q, answer in zip(left, found, strict=True) if answer is None]
        record: Record = {"method": name, "cached": len(questions) - len(left)}
        if each is None:
            # What computes here makes no calls; what depends on a reply is not among the first.
            asked = [q for q in left if not q.judge.is_local]
            texts = [
                f"{request.system}{request.user}"
                for question in asked
                for request in next(question.rounds(), ())
            ]
            prompts = sum(len(text.encode()) for text in texts) // _BYTES_A_TOKEN
            replies = _REPLY * sum(max(1, text.count("<<<CLAIM")) for text in texts)
            record |= {
                "calls": len(texts),
                "prompt_tokens": prompts,
                "reply_tokens": replies,
            }
            if prices is not None:
                record["cost"] = (prompts * prices[0] + replies * prices[1]) / 1e6
        else:
            record["calls"] = each * len(left)
        records.append(record)
    columns = named_columns(
        method="text",
        cached="int",
        calls="int",
        prompt_tokens="int",
        reply_tokens="int",
    )
    money = sum(record.get("cost", 0.0) for record in records)
    said = "" if prices is None else f", {money:,.2f} at these prices"
    if said and calls:
        said += " without the framework metrics"
    total = counted(sum(record["calls"] for record in records), "call")
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
    if prices is None and any(record["calls"] for record in records):
        notes.append("For the cost, add --set prices=IN,OUT (of a million tokens).")
    return Report(
        f"About {total} on {counted(len(samples), 'sample')}{said}.",
        [
            Table(
                "calls",
                columns + named_columns(cost="score") if prices else columns,
                records,
            )
        ],
        notes,
    )
