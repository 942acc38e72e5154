"""Answers that are served while they arrive: whether the same is served of the whole, and what it costs.

Run: python -m benchmarks.streaming [--seconds 150] [--show]
The lexical judge cuts each answer whole and as a stream, in chunks of 1, 7 and 50 characters, of words and of
lines. Answers: the bundled samples, 300 texts made of Markdown (half of whose blocks the contexts hold), and
the sets in TCVA_BEDS or ../shared/data/beds and TCVA_PAPER_DATA or ../shared/data/tcva_paper where they are
there, also six of their answers as the paragraphs of one. Of each set, answers are drawn until its
share of the seconds is over. ``--show`` prints the answers that differ.

Then the latency that a stream of four sentences over 2 kB of contexts adds: the time from the chunk that
completes a sentence's successors to its text, and from the last chunk to the end; and the longest time for
which 20 such streams at once hold up an event loop; and the CPU time of answers of 20 000 characters that
arrive one by one. Ends with 1 if less than 99 % are equal, a stall is above 50 ms of CPU, or such an answer
takes 2 seconds.
"""

import asyncio
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from benchmarks.lexical_sets import load
from benchmarks.stalls import LIMIT
from tcva_adapters import TCVA, Sample
from tcva_adapters.data import sample_lines
from tcva_adapters.serving import serve
from tcva_adapters.streaming import AnswerStream

CHUNKED: Final[dict[str, Callable[[str], list[str]]]] = {
    "1 character": list,
    "7 characters": lambda text: [text[i : i + 7] for i in range(0, len(text), 7)],
    "50 characters": lambda text: [text[i : i + 50] for i in range(0, len(text), 50)],
    "words": lambda text: re.findall(r"\s*\S+|\s+", text),
    "lines": lambda text: text.splitlines(keepends=True),
}
BLOCKS: Final = (
    "The fee is 5 EUR. It was 4 EUR before. Ask us!",
    "**Note:** The fee is *5 EUR*. It was 4 EUR [1].",
    "Prices:",
    "Here are the fees at a glance:",
    "# Fees",
    "## Opening hours",
    "- Basic costs 5.\n- Plus costs 9.\n  - Plus has cake.\n- Free costs 0.",
    "1. Stir it.\n2. Heat it.\r\n3. Serve it.",
    "| Plan | Price |\n|---|---|\n| Basic | 5 |\n| Plus | 9 |",
    "```python\nprint('a. b.')\n\nx = 1\n```",
    "> It is free. Come by.\n> We open at 9.",
    "オフィスは九時に開く。入場は無料です。",
    "المكتب مفتوح من التاسعة. الدخول مجاني.",
    "it is free. no need to pay. the end.",
    "Hello!",
)
JUDGE: Final = TCVA(judge="lexical")
SLOW: Final = 2.0


def sets() -> Iterator[tuple[str, list[Sample]]]:
    """Yield the sets of samples, each with its name."""
    yield "bundled", [Sample.from_record(json.loads(row)) for row in sample_lines()]
    draw = random.Random(0)  # no secret
    made = []
    for _ in range(300):
        blocks = draw.choices(BLOCKS, k=draw.randint(1, 6))
        gaps = draw.choices(("\n\n", "\n", "\r\n\r\n"), (6, 2, 1), k=len(blocks))
        text = "".join(b + g for b, g in zip(blocks, gaps, strict=True))
        made.append(Sample(response=text, contexts=draw.sample(BLOCKS, 8)))
    yield "generated Markdown", made
    for name, rows in load().items():
        samples = [
            Sample(response=row["answer"], contexts=row["contexts"]) for row in rows
        ]
        yield name, samples
        yield (
            f"{name}, by six",
            [
                Sample(
                    response="\n\n".join(sample.response or "" for sample in six),
                    contexts=[text for sample in six for text in sample.contexts or ()],
                )
                for six in (samples[at : at + 6] for at in range(0, len(samples), 6))
            ],
        )


class Comparison(NamedTuple):
    """A stream beside the whole: why they differ (empty where they do not), and when text began.

    ``began`` is the number of characters that had arrived; None where the refusal is served.
    """

    why: str
    began: int | None


def compared(sample: Sample, chunks: Sequence[str]) -> Comparison:
    """Serve an answer whole and as a stream."""
    whole = serve(JUDGE.evaluate(sample), "remove")
    stream = AnswerStream(JUDGE, sample, on_fail="remove")
    arrived: list[int] = [0]

    def source() -> Iterator[str]:
        for chunk in chunks:
            arrived.append(arrived[-1] + len(chunk))
            yield chunk

    began = [arrived[-1] for part in stream.chunks(source()) if part.text.strip()]
    served = stream.served
    assert served is not None
    why = ""
    if served.split_moved:
        why = "split"
    elif served.marks != whole.marks:
        why = "verdict"
    elif served.text != whole.text:
        why = "text"
    if why and "--show" in sys.argv:
        print(f"{why}\n{sample.response!r}\n{served.text!r}\n{whole.text!r}")
    return Comparison(why, None if served.is_refused or not began else began[0])


def compare(seconds: float) -> bool:
    """Print how often a stream serves what is served of the whole; returns whether it is 99 %."""
    everything = [*sets()]
    by_way: dict[str, list[Comparison]] = {name: [] for name in CHUNKED}
    print(f"{'answers':<28}{'streams':>8}{'equal':>8}")
    for name, samples in everything:
        until = time.monotonic() + seconds / len(everything)
        here: list[Comparison] = []
        for place in np.random.default_rng(0).permutation(len(samples)):
            if time.monotonic() > until:
                break
            sample = samples[place]
            for way, chunked in CHUNKED.items():
                here.append(compared(sample, chunked(sample.response or "")))
                by_way[way].append(here[-1])
        print(f"{name:<28}{len(here):>8}{np.mean([not c.why for c in here]):>8.4f}")

    print(f"\n{'chunks':<28}{'streams':>8}{'equal':>8}{'first text at character':>26}")
    for way, all_here in by_way.items():
        began = [c.began for c in all_here if c.began is not None]
        median, most = np.percentile(began, [50, 90])
        equal = np.mean([not c.why for c in all_here])
        print(
            f"{way:<28}{len(all_here):>8}{equal:>8.4f}{median:>12.0f} (90 %: {most:.0f})"
        )
    reasons = Counter(c.why for each in by_way.values() for c in each)
    total = reasons.total()
    n_equal = reasons.pop("", 0)
    print(f"{total - n_equal} of {total} differ: {dict(reasons)}")
    return n_equal >= 0.99 * total


def four_sentences(seed: int) -> Sample:
    """An answer of four sentences over 2 kB of contexts, like no other."""
    facts = [
        f"Room {seed}-{n} of the museum opens at {n + 8} and shows {n + 30} paintings of the harbour."
        for n in range(24)
    ]
    return Sample(response=" ".join(facts[3:7]), contexts=[" ".join(facts)])


def latency(number: int = 300) -> None:
    """Print the time that a stream adds, per sentence and at its end, in milliseconds."""
    sentence: list[float] = []
    end: list[float] = []
    for seed in range(number):
        sample = four_sentences(seed)
        stream = AnswerStream(JUDGE, sample, on_fail="remove")
        asked = 0.0

        def chunks() -> Iterator[str]:
            nonlocal asked
            for chunk in CHUNKED["words"](sample.response or ""):  # noqa: B023  # used at once
                asked = time.perf_counter()
                yield chunk
            asked = time.perf_counter()

        sentence += [
            time.perf_counter() - asked for part in stream.chunks(chunks()) if part.text
        ]
        end.append(time.perf_counter() - asked)
    for name, times in (("to a sentence's text", sentence), ("at the end", end)):
        median, p99 = np.percentile(times, [50, 99]) * 1e3
        print(f"latency {name}: median {median:.1f} ms, p99 {p99:.1f} ms")


async def stalls(number: int = 20) -> float:
    """The longest CPU time of this process between two turns of a loop, in milliseconds."""
    longest = 0.0
    is_over = False

    async def watch() -> None:
        nonlocal longest
        before = time.process_time()
        while not is_over:
            await asyncio.sleep(0.001)
            now = time.process_time()
            longest = max(longest, now - before)
            before = now

    async def words(text: str) -> AsyncIterator[str]:
        for word in CHUNKED["words"](text):
            await asyncio.sleep(0.002)
            yield word

    async def serve_one(sample: Sample) -> None:
        stream = AnswerStream(JUDGE, sample, on_fail="remove")
        async for _ in stream.achunks(words(sample.response or "")):
            pass

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0.01)
    await asyncio.gather(
        *(serve_one(four_sentences(1000 + seed)) for seed in range(number))
    )
    is_over = True
    await watching
    return longest * 1e3


def long_answers(size: int = 20_000) -> float:
    """Print what streams of long answers take, one character at a time; returns the most seconds."""
    facts = [text for seed in range(80) for text in four_sentences(seed).contexts or ()]
    plain = " ".join(facts)
    lines = plain.replace(". ", ".\n").split("\n")
    rows = (f"| {n} | {line} |" for n, line in enumerate(lines))
    texts = {
        "sentences": plain,
        "without capitals": plain.lower(),
        "numbered items": "\n".join(f"{n}. {x}" for n, x in enumerate(lines, 1)),
        "a table": "\n".join(["| n | fact |", "|---|---|", *rows]),
        "Japanese": "オフィスは九時に開く。入場は無料です。" * (size // 20),
        "no sentence": "word " * (size // 5),
    }
    times = []
    judge = JUDGE.changed(max_claims=size)
    for name, text in texts.items():
        began = time.process_time()
        stream = AnswerStream(judge, Sample(contexts=facts[:1]), on_fail="remove")
        for _ in stream.chunks(text[:size]):
            pass
        times.append(time.process_time() - began)
        print(f"{size} characters, {name}: {times[-1]:.2f} s of CPU")
    return max(times)


def main(arguments: Sequence[str]) -> int:
    """Print all four."""
    seconds = 150.0
    if "--seconds" in arguments:
        seconds = float(arguments[arguments.index("--seconds") + 1])
    is_equal = compare(seconds)
    latency()
    longest = asyncio.run(stalls())
    print(f"longest stall of a loop with 20 streams: {longest:.1f} ms of CPU")
    slowest = long_answers()
    return int(not is_equal or longest > LIMIT or slowest >= SLOW)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
