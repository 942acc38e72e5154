"""Whether marks that cite passages are read, and held against the right passage, in every form.

Run: python -m benchmarks.citations
330 answers, 30 in each of eleven forms of marks. Each answer has five passages (sources of wice_dev, in
TCVA_BEDS or ../shared/data/beds beside the repository, cut to 15 lines) and six claims, one of each passage
and one of none: two with the mark of their passage, one with that of another, one with a mark of no
passage, one without a mark. Claims are sentences of the passages, or, in the second table, claims that people
wrote and others called supported. Besides, text without marks stands in each: code, maths, years, links.

A class is recalled where the outcome is its own, of claims with a sound quote (without a mark: of those the
judge supports; with a mark of no passage: of all).
A false alarm is a true mark that is not confirmed. The last lines count marks read out of generated texts
that have code, maths, years and links, and none of a passage.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from benchmarks.lexical_sets import FOLDER
from tcva_adapters import TCVA, Sample
from tcva_adapters.results.citations import CitationOutcome
from tcva_adapters.results.passages import passages_with_quotes
from tcva_adapters.text.citations import read_marks
from tcva_adapters.text.sentences import split_claims

N_PASSAGES: Final = 5
N_EACH: Final = 30
N_LINES: Final = 15
RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

FORMS: Final = (
    "[{n}]",
    "[{n}, {n}]",
    "[{n}-{n}]",
    "[{n}][{n}]",
    "({n})",
    "[^{n}]",
    "{raised}",
    "【{n}†source】",
    "\uff3b{n}\uff3d",
    "[doc-{n}]",
    "[{name}]",
)
"""A mark of each form for a passage, from 1."""

NO_MARKS: Final = (
    "In 2019 the field `rows[2]` was not set.",
    "Where x[1] and f(2) meet, $a_1 [3]$ stays below \\(b [4]\\).",
    "The values lie in [0, 1] and the matrix is [[1, 2], [3, 4]].",
    "See [the page](https://a.example/b[1]) of (2021) or [2020].",
    "The area of 5 m² follows from equation (3).",
    "```\ncells[1] = cells[2]\n```",
    "- [x] done\n- [ ] not done",
    "The vector [1, 2] and y = [3, 4] have sin²(x) and 10³.",
    "The mean is 5 (95% CI [2, 8]), on a scale from [1-5].",
    "It follows from § 823 (1) and Article 6 (9) of the act.",
    "SO₄²⁻ and Fe³⁺ are ions; the first one is items[0] here.",
)


@dataclass(frozen=True)
class Source:
    """A passage with the claims that it supports."""

    passage: str
    sentences: list[str]
    claims: list[str]


def is_sentence(text: str) -> bool:
    """Whether a text is one whole sentence: pages have cut ones and headings, which join their neighbours."""
    is_whole = text[:1].isupper() and text.endswith(".") and not text.endswith("..")
    return is_whole and split_claims(text) == [text]


def sources() -> list[Source]:
    path = FOLDER / "wice_dev.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    claims: defaultdict[str, list[str]] = defaultdict(list)
    for row in map(json.loads, lines):
        known = claims["\n".join(row["contexts"][0].split("\n")[:N_LINES])]
        if row["level"] == "supported" and is_sentence(row["response"]):
            known.append(row["response"])
    return [
        Source(
            passage,
            [
                line
                for line in passage.split("\n")
                if 60 < len(line) < 240 and is_sentence(line)
            ],
            own,
        )
        for passage, own in claims.items()
    ]


def marked(claim: str, mark: str, rng: Random) -> str:
    """A claim with its mark before or behind its full stop, with a space or without."""
    body = claim.removesuffix(".")
    if mark.startswith("("):
        return f"{body} {mark}."
    if mark[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹":
        return f"{claim}{mark}"
    gap = rng.choice(("", " "))
    return rng.choice((f"{body}{gap}{mark}.", f"{claim}{gap}{mark}"))


def outcomes(
    chosen: Sequence[tuple[Source, str]], form: str, rng: Random
) -> Iterator[tuple[str, str, bool]]:
    """Yield the class, the outcome and whether the quote is sound, of the claims of one answer."""
    passages = [source.passage for source, _ in chosen]
    ids = [f"page-{rng.randrange(100, 900)}-{n}" for n in range(N_PASSAGES)]
    order = rng.sample(range(N_PASSAGES), N_PASSAGES)
    classes = dict(
        zip(order, ("true", "true", "moved", "broken", "missing"), strict=True)
    )
    texts: list[str] = []
    for place in order:
        claim = chosen[place][1]
        others = [
            n for n in range(N_PASSAGES) if claim not in passages[n] and n != place
        ]
        number = {
            "moved": rng.choice(others) + 1,
            "broken": rng.randrange(N_PASSAGES + 1, 99),
        }.get(classes[place], place + 1)
        name = ids[number - 1] if number <= N_PASSAGES else "page-999-9"
        raised = str(number).translate(RAISED)
        mark = form.format(n=number, raised=raised, name=name)
        is_marked = classes[place] != "missing"
        texts.append(marked(claim, mark, rng) if is_marked else claim)
    # A number in round brackets is a mark only where all are.
    plain = [text for text in NO_MARKS if form != "({n})" or "(" not in text]
    texts.insert(rng.randrange(1, len(texts)), f"\n\n{rng.choice(plain)}\n\n")
    sample = Sample(
        response=" ".join(texts),
        contexts=passages,
        context_ids=ids if form == "[{name}]" else (),
    )
    result = TCVA(judge="lexical").evaluate(sample)
    quoted = passages_with_quotes(result.seen, passages)
    parts = {part.place: part for part in result.citations().parts}
    for place, claim in zip(order, (chosen[n][1] for n in order), strict=True):
        begin = claim[:40]
        at = next((i for i, c in enumerate(result.claims) if begin in c.claim), None)
        if at is None:
            yield classes[place], "lost", True
            continue
        outcome = parts[at].outcome.value if at in parts else "nothing"
        support = result.claims[at].support() or 0.0
        is_low = classes[place] == "missing" and support < result.scoring.least_weight
        yield classes[place], outcome, bool(quoted[at]) and not is_low


EXPECTED: Final = {
    "true": CitationOutcome.CONFIRMED,
    "moved": CitationOutcome.ELSEWHERE,
    "broken": CitationOutcome.BROKEN,
    "missing": CitationOutcome.MISSING,
}


def print_table(title: str, known: Sequence[tuple[Source, list[str]]]) -> None:
    rng = Random(0)
    usable = [(source, claims) for source, claims in known if claims]
    print(
        f"\n{title:14}"
        + "".join(f"{name:>15}" for name in EXPECTED)
        + "   false alarms"
    )
    total: Counter[tuple[str, str]] = Counter()
    for form in FORMS:
        counts: Counter[tuple[str, str]] = Counter()
        for _ in range(N_EACH):
            drawn = rng.sample(usable, N_PASSAGES)
            chosen = [(source, rng.choice(claims)) for source, claims in drawn]
            for name, outcome, is_sound in outcomes(chosen, form, rng):
                if is_sound or name == "broken":
                    counts[name, outcome] += 1
        print(line_of(form, counts))
        total += counts
    print(line_of("all", total))
    wrong = {key: n for key, n in total.items() if key[1] != EXPECTED[key[0]]}
    print(f"otherwise: {wrong}")


def line_of(form: str, counts: Counter[tuple[str, str]]) -> str:
    cells = []
    sizes = Counter[str]()
    for (name, _), count in counts.items():
        sizes[name] += count
    for name, outcome in EXPECTED.items():
        right = counts[name, outcome.value]
        cells.append(f"{right / max(sizes[name], 1):.3f} of {sizes[name]:4}")
    alarms = 1 - counts["true", "confirmed"] / max(sizes["true"], 1)
    return f"{form:14}" + "".join(f"{cell:>15}" for cell in cells) + f"   {alarms:.3f}"


def print_marks_of_nothing() -> None:
    """Count what is read out of texts without marks, alone and in a row."""
    rng = Random(1)
    texts = [
        "\n\n".join(rng.sample(NO_MARKS, rng.randrange(1, len(NO_MARKS))))
        for _ in range(300)
    ]
    numbers = str.maketrans("1234", "5678")
    texts += [text.translate(numbers) for text in texts]
    read = [mark.text for text in texts for mark in read_marks(text)[0]]
    print(
        f"\nmarks read out of {len(texts)} texts that have none: {len(read)} {read[:5]}"
    )


def main() -> None:
    known = sources()
    if known:
        print_table("sentences", [(source, source.sentences) for source in known])
        print_table("claims", [(source, source.claims) for source in known])
    else:
        print(f"no wice_dev in {FOLDER}; set TCVA_BEDS")
    print_marks_of_nothing()


if __name__ == "__main__":
    main()
