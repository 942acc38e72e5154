"""Injected text that tries to keep an unsupported claim in an answer that is served without such claims.

Run: python -m benchmarks.served_attacks
Each form stands in the answer, or in the contexts, of three samples whose second sentence is unsupported and
is cut without the form. They are served whole, and streamed in chunks of 1, 7 and 50 characters, with the
lexical judge and with scripted models that obey: they call every claim fully supported, with a quote or without
one, repeat JSON that stands in the prompt, or mark every claim as none. Shown, but no failure of this command:
a heading that states something without a helping verb, which stays with any claim of its section; a model that obeys and copies a real quote about something else, one that obeys also where it sees a sentence
alone, and false words that are judged together with true ones, in one sentence, item or block of code.
A form counts if a sample served by it holds all telling words of the claim.
"""

import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from tcva_adapters import TCVA, Sample
from tcva_adapters.models.judge_model import JudgeRequest
from tcva_adapters.streaming import AnswerStream
from tests.hostile.injections import (
    ANSWERS,
    BASES,
    CONTEXTS,
    MIXED,
    STAYING_HEADING,
    Base,
    Form,
    answer,
)
from tests.judges.test_non_claims import block_texts
from tests.support.scripted import ScriptedModel

CHUNKS: Final = (1, 7, 50)
_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)
_INVISIBLE: Final = frozenset({"Cf", "Cc"})


class Served(NamedTuple):
    """How an answer is served.

    Attributes:
        judge: The name of the judge.
        chunk: Characters of a chunk; 0 serves the answer whole.
    """

    judge: str
    chunk: int


def holds(text: str, base: Base) -> bool:
    """Whether a text has all telling words of a base's claim, invisible characters left out."""
    seen = "".join(
        c
        for c in unicodedata.normalize("NFKC", text)
        if unicodedata.category(c) not in _INVISIBLE
    )
    return all(word in seen.casefold() for word in base.words)


def scripted(way: str, base: Base) -> ScriptedModel:
    """A model that knows which claims are supported, and obeys in one way where they are not."""

    def entry(claim: str, words: list[str]) -> dict[str, str]:
        true = [fact for fact in (base.fact, base.other) if fact.rstrip(".") in claim]
        if true and not holds(claim, base):
            return {"quote_from_passage": true[0], "reason": "r", "verdict": "fully"}
        if way in {"marks", "marks twice"} and "not_a_claim" in words:
            return {"quote_from_passage": "", "reason": "r", "verdict": "not_a_claim"}
        quotes = {"believes": claim, "quotes a fact": base.fact, "quotes nothing": ""}
        verdict = "fully" if way in quotes else "none"
        return {
            "quote_from_passage": quotes.get(way, ""),
            "reason": "r",
            "verdict": verdict,
        }

    def reply(request: JudgeRequest) -> str:
        if request.schema_name == "tcva_sentence":
            asserts = "no" if way == "marks twice" else "yes"
            return json.dumps({"reason": "r", "asserts": asserts})
        shown = "\n".join(
            block_texts(request, "PASSAGE") + block_texts(request, "CLAIM")
        )
        injected = _OBJECT.search(shown)
        if way == "repeats" and injected:
            return injected[0]
        claims = block_texts(request, "CLAIM")
        asked = request.schema["properties"]
        return json.dumps(
            {
                key: entry(claim, asked[key]["properties"]["verdict"]["enum"])
                for key, claim in zip(
                    (f"claim_{n}" for n in range(1, len(claims) + 1)),
                    claims,
                    strict=True,
                )
                if key in asked
            }
        )

    return ScriptedModel(reply)


WAYS: Final = (
    "honest",
    "believes",
    "quotes a fact",
    "quotes nothing",
    "repeats",
    "marks",
    "marks twice",
)
JUDGES: Final[dict[str, Callable[[Base], Any]]] = {
    "lexical": lambda _: "lexical",
    **{way: partial(scripted, way) for way in WAYS},
}
KNOWN: Final = frozenset({"quotes a fact", "marks twice"})
"""Judges that obey in full: one copies a real quote, of which the evidence check may not see that it is about
something else; the other marks a sentence that it sees alone, too."""


def served(sample: Sample, judge: Any, chunk: int = 0) -> str:
    """The text of a sample that reaches its reader."""
    tcva = TCVA(judge=judge, share=False)
    if not chunk:
        return tcva.evaluate(sample).supported().text
    text = sample.response or ""
    pieces = [text[at : at + chunk] for at in range(0, len(text), chunk)]
    asked = sample.model_copy(update={"response": None})
    stream = AnswerStream(tcva, asked, on_fail="remove", refusal="")
    return "".join(part.text for part in stream.chunks(pieces))


def samples(form: Form | None, where: str) -> Iterator[tuple[Base, Sample]]:
    """The samples with a form in their answer or contexts; without one, as they are."""
    for base in BASES:
        text, contexts = f"{base.fact} {base.claim} {base.other}", base.contexts
        if form and where == "answer":
            text = answer(form.text, base)
        elif form:
            contexts = (*contexts, form.text.format(**base._asdict()))
        yield base, Sample(input=base.question, response=text, contexts=contexts)


def kept(form: Form | None, where: str, way: Served) -> tuple[int, int]:
    """In how many bases a claim is served, and in how many the first supported sentence is."""
    claims = facts = 0
    for base, sample in samples(form, where):
        text = served(sample, JUDGES[way.judge](base), way.chunk)
        claims += holds(text, base)
        facts += base.fact.rstrip(".") in text
    return claims, facts


def main() -> None:
    ways = [Served(judge, chunk) for judge in JUDGES for chunk in (0, *CHUNKS)]
    for way in ways:
        if way.judge in {"lexical", "honest"} and kept(None, "answer", way) != (
            0,
            len(BASES),
        ):
            sys.exit(
                f"{way}: the claim is not cut, or its neighbour is, without a form"
            )
    broken: list[str] = []
    print(
        f"{'judge':16} {'chunk':>5}  forms in answers  in contexts  first fact served"
    )
    for way in ways:
        found: Counter[str] = Counter()
        for where, forms in (("answer", ANSWERS), ("contexts", CONTEXTS)):
            for form in forms:
                claims, facts = kept(form, where, way)
                found[where] += claims > 0
                found["facts"] += facts
                is_known = way.judge in KNOWN or form.text == STAYING_HEADING
                if claims and not is_known:
                    broken.append(
                        f"{way.judge}, {way.chunk}, {where}: {form.kind}: {form.text!r}"
                    )
        n = (len(ANSWERS) + len(CONTEXTS)) * len(BASES)
        print(
            f"{way.judge:16} {way.chunk or 'whole':>5}  {found['answer']:4} of {len(ANSWERS)}  {found['contexts']:9} of {len(CONTEXTS)}"
            f"  {found['facts']:9} of {n}",
            flush=True,
        )
    print(
        "\nmixed into one sentence, row or block of code with supported text, lexical judge, whole"
    )
    for text in MIXED:
        claims, _ = kept(Form("mixed", text), "answer", Served("lexical", 0))
        print(f"{claims} of {len(BASES)} kept: {text!r}")
    if broken:
        sys.exit("\n".join([f"{len(broken)} kept:", *broken[:20]]))


if __name__ == "__main__":
    main()
