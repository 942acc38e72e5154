"""One question about an office, an answer of two claims, and what a scripted judge says of them."""

from typing import Final

from tcva_adapters import Sample
from tests.support.scripted import verdict_json

QUERY: Final = "When does the office open, and what does parking cost?"
RESPONSE: Final = "The office opens at nine. Parking costs money."
PASSAGE: Final = "The office opens at nine on weekdays."
NINE: Final = "It opens at nine."
SAMPLE: Final = Sample(
    input=QUERY, response=RESPONSE, contexts=(PASSAGE,), reference=NINE
)
TWO: Final = verdict_json((1, "fully", "opens at nine"), (2, "minor", ""))
SCORE: Final = (
    0.65  # weights 1 and .3, T=.5: p=1, the plain mean; no `none`, so no penalty
)
ONE: Final = verdict_json((1, "fully", "opens at nine"))

FREE: Final = "The office opens at nine. Parking is free for visitors."
VISITED: Final = Sample(id="a", input=QUERY, response=RESPONSE, contexts=(FREE,))
"""The same answer over a passage that its second claim contradicts."""
REPLY: Final = verdict_json(
    (1, "fully", "opens at nine"), (2, "partial", "Parking is free")
)
