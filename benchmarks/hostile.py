"""Every hostile text in every field, under every criterion and CCRS, judged by one that repeats it.

Run: python -m benchmarks.hostile
Harmless is an attack after which the prompt has the fences that we wrote and no others, each field
stands in its place, verdicts and score are those that the judge gave, and the result is read back.
"""

from __future__ import annotations

import sys

from tests.hostile.attack import attacks
from tests.hostile.corpus import TEXTS


def main() -> None:
    tried = harmless = 0
    for hostile in TEXTS:
        for name, attack in attacks(hostile.text):
            tried += 1
            try:
                attack()
            except Exception as error:  # noqa: BLE001  # whatever it raises is the finding
                print(f"HARM {hostile.id} ({hostile.tries}) in {name}: {ascii(error)[:300]}")
            else:
                harmless += 1
    print(f"{len(TEXTS)} texts, {tried} attacks: {harmless} of {tried} harmless")
    sys.exit(harmless < tried)


if __name__ == "__main__":
    main()
