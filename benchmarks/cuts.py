"""Claims cut from answers: whether all else is unchanged, and still the Markdown that it was.

Run: python -m benchmarks.cuts [--show]
From each answer every single claim is cut, and five random sets of claims. What is left has to be a
row of spans of the answer with all letters of the claims that stay and none of the others (the mark of
an item stays with what is nested in it); a Markdown parser (markdown-it-py) has to
find each kept claim in the blocks that it stood in (item, quote, table, code, heading), paragraphs
apart, and no mark without its pair that had one. Answers: the sets in TCVA_BEDS or ../shared/data/beds and
TCVA_PAPER_DATA or ../shared/data/tcva_paper where they are there, the bundled samples, and 1 000 texts made
of Markdown as models write it. ``--show`` prints what is wrong.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

from benchmarks.lexical_sets import BEDS, FOLDER, PAPER, paper_file
from tcva_adapters.data import sample_lines
from tcva_adapters.text.stretches import kept_spans, stretches
from tests.support.markdown import faults

N_GENERATED: Final = 1000
N_RANDOM: Final = 5
BLOCKS: Final = (
    "The fee is 5 EUR. It was 4 EUR before. Ask us!",
    "**Note:** The fee is *5 EUR*. It was 4 EUR [1].",
    "**The fee is 5 EUR. It was 4 EUR.**",
    "Prices:",
    "Here are the fees at a glance:",
    "# Fees",
    "## Opening hours",
    "**Contact**",
    "- Basic costs 5.\n- Plus costs 9.\n  - Plus has cake.\n  - Plus has tea.\n- Free costs 0.",
    "1. **Basic plan**: It costs 5.\n    - It has tea.\n    - It has cake.\n2. **Plus plan**: It costs 9.",
    "1. Stir it.\n2. Heat it.\r\n3. Serve it.",
    "- Basic costs 5.\n\n- Plus costs 9.\n\n  It has cake.",
    "1. Run this:\n\n    ```\n    x = 1\n    ```\n2. Then stop.",
    "* Opening hours:\n  * We open at 9.\n  * We close at 5.\n* Prices:\n  * Entry is 5.",
    "| Plan | Price |\n|---|---|\n| Basic | 5 |\n| Plus | 9 |",
    "Plan | Price\n--- | ---\nBasic | 5\nPlus | 9",
    "```python\nprint('a. b.')\n\nx = 1\n```",
    "> It is free. Come by.\n> We open at 9.",
    "المكتب مفتوح من التاسعة. الدخول مجاني. هل لديك سؤال؟",
    "オフィスは九時に開く。入場は無料です。",
    "It is free. 👍 Come by! 🎉",
    "The area is `a.b`. See <b>the map</b>.\nIt is large.",
    "---",
    "Hello!",
)


def answers() -> Iterator[tuple[str, list[str]]]:
    """Yield the sets of answers, each with its name."""
    for name in BEDS:
        path = FOLDER / f"{name}.jsonl"
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            yield name, [json.loads(line)["response"] for line in lines]
    for name in PAPER:
        if rows := paper_file(f"{name}_prepared"):
            yield name, [row["answer"] for row in rows]
    yield "bundled samples", [json.loads(line)["response"] for line in sample_lines()]
    draw = random.Random(0)  # no secret
    generated = []
    for _ in range(N_GENERATED):
        blocks = draw.choices(BLOCKS, k=draw.randint(1, 6))
        gaps = draw.choices(("\n\n", "\n", "\r\n\r\n"), (6, 2, 1), k=len(blocks))
        generated.append("".join(b + g for b, g in zip(blocks, gaps, strict=True)))
    yield "generated Markdown", generated


def removals(n: int, draw: random.Random) -> Iterator[list[bool]]:
    """Yield whether each of so many claims stays: without each one, and without random sets."""
    for cut in range(n):
        yield [place != cut for place in range(n)]
    for _ in range(N_RANDOM if n > 2 else 0):
        yield [draw.random() < 0.5 for _ in range(n)]


def main() -> None:
    """Print how often what is left is unchanged and valid, by set."""
    print(f"{'answers':<20}{'number':>8}{'claims':>8}{'cuts':>8}{'changed':>9}{'invalid':>9}")  # fmt: skip
    kinds = Counter[str]()
    shown = 0
    for name, texts in answers():
        draw = random.Random(1)  # no secret
        n_claims = n_cuts = n_changed = n_invalid = 0
        for text in texts:
            parts = stretches(text)
            claims = [part for part in parts if part.kind == "claim"]
            n_claims += len(claims)
            for stays in removals(len(claims), draw):
                n_cuts += 1
                spans = kept_spans(text, parts, stays)
                ends = [0, *(end for _, end in spans)]
                whole = all(a <= b for a, (b, _) in zip(ends, spans, strict=False))
                for claim, stay in zip(claims, stays, strict=True):
                    fates = {
                        any(a <= place < b for a, b in spans)
                        for place in range(claim.mark, claim.end)
                        if text[place].isalnum()
                    }
                    whole = whole and fates <= {stay}
                n_changed += not whole
                wrong = faults(text, stays) if any(stays) else []
                n_invalid += bool(wrong)
                kinds.update(set(wrong))
                if wrong and "--show" in sys.argv and shown < 40:
                    shown += 1
                    left = "".join(text[a:b] for a, b in spans)
                    print(f"{wrong}\n{text!r}\n{left!r}\n")
        print(f"{name:<20}{len(texts):>8}{n_claims:>8}{n_cuts:>8}{n_changed:>9}{n_invalid:>9}")  # fmt: skip
    for kind, number in kinds.most_common(20):
        print(f"{number:>6}  {kind}")


if __name__ == "__main__":
    main()
