"""A small question-answering bot with known mistakes, and which of its two parts made each of them.

    python examples/whose_fault.py

It needs no network: a keyword retriever looks up two documents for a question, a scripted generator
answers, and the lexical judge decides by words. In an application, your retriever and model take their
place, and a model that of "lexical". Each comment below says what goes wrong.
"""

from __future__ import annotations

import re

from tcva_adapters import TCVA, Sample
from tcva_adapters.compare import diagnose

CRITERIA = ("faithfulness", "correctness", "context_recall", "completeness")

DOCUMENTS = {
    "hours": "The library is open from nine to six on weekdays. It is closed on Sundays.",
    "card": "A reader's card is free for residents. Visitors pay five pounds a year for a card.",
    "loans": "Members may borrow up to twelve books at once. A loan lasts three weeks.",
    "rooms": "The reading room on the second floor has forty desks and no lift.",
    "fines": "A late return costs ten pence a day. Children pay no fine.",
    "pets": "Guide animals are let in. All other pets stay outside.",
}

QUESTIONS = [
    # Right: both sentences of the reference, from the right document.
    (
        "When is the library open?",
        "The library is open from nine to six on weekdays. It is closed on Sundays.",
        "The library is open from nine to six on weekdays. It is closed on Sundays.",
    ),
    # The retriever found the document; the generator repeats the other sentence of it.
    (
        "What do visitors pay for a reader's card?",
        "Visitors pay five pounds a year for a card.",
        "A reader's card is free for residents.",
    ),
    # The generator leaves out the second fact, and makes up another one.
    (
        "How many books may members borrow, and for how long?",
        "Members may borrow up to twelve books at once. A loan lasts three weeks.",
        "Members may borrow up to twelve books at once. Jugglers receive biscuits.",
    ),
    # "Dog" is in no document, so the retriever misses "pets"; the generator repeats what it got.
    (
        "Is my dog welcome in the reading room?",
        "All other pets stay outside.",
        "The reading room on the second floor has forty desks and no lift.",
    ),
    # The same, but the generator repeats nothing.
    (
        "Is there a penalty if I am overdue?",
        "A late return costs ten pence a day.",
        "Everyone receives twenty warnings first.",
    ),
]


def retrieve(question: str, most: int = 2) -> list[str]:
    """The ids of the documents that share most words with the question."""
    asked = _words(question)
    return sorted(DOCUMENTS, key=lambda name: -len(asked & _words(DOCUMENTS[name])))[
        :most
    ]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower())) - {"the", "for", "and", "there"}


def answers() -> list[Sample]:
    """Ask the bot all questions."""
    samples = []
    for number, (question, reference, answer) in enumerate(QUESTIONS, start=1):
        names = retrieve(question)
        sample = Sample(
            id=f"q{number}",
            input=question,
            response=answer,
            contexts=[DOCUMENTS[name] for name in names],
            context_ids=names,
            reference=reference,
        )
        samples.append(sample)
    return samples


def main() -> None:
    """Judge the answers by four criteria, and print whose fault each wrong or missing claim is."""
    samples = answers()
    results = {
        name: TCVA(name, judge="lexical").evaluate_many(samples) for name in CRITERIA
    }
    diagnose(results, samples=samples).show(full=True)
    print()
    for sample, result in zip(samples, results["faithfulness"], strict=True):
        used = [use.id for use in result.passages() if use.is_used]
        print(f"{sample.id} rests on {', '.join(map(str, used)) or 'no document'}")


if __name__ == "__main__":
    main()
