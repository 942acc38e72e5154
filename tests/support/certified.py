"""Settings with a guarantee for the lexical judge, and the answers that they were certified by."""

from functools import cache
from typing import Any, Final

from tcva_adapters import TCVA, Config, Sample
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.recommendation import recommended

PASSAGE: Final = "The office opens at nine. Parking is free for visitors."
GOOD: Final = Sample(
    input="When?", response="The office opens at nine.", contexts=(PASSAGE,)
)
BAD: Final = GOOD.model_copy(
    update={"response": "The museum shows paintings of old ships."}
)
MIXED: Final = GOOD.model_copy(update={"response": f"{GOOD.response} {BAD.response}"})
"""Sets the threshold: the middle between its score and that of `GOOD`, which is not the default."""
RATED: Final = [
    sample.model_copy(update={"id": f"{name}{number}", "metadata": {"human": rating}})
    for number in range(40)
    for name, sample, rating in (
        ("good", GOOD, 1),
        ("bad", BAD if number else MIXED, 0),
    )
]
RATINGS: Final = [sample.metadata["human"] for sample in RATED]
HOLDS: Final = "holds"
LOST: Final = "lost"
OPEN: Final = "cannot be checked"


@cache
def certified() -> Config:
    """As `tcva calibrate --max-false-pass 0.1` writes them."""
    results = TCVA(judge="lexical").evaluate_many(RATED)
    return recommended(calibrate(results, "human", max_false_pass=0.1))


def certified_by(judge: Any) -> Config:
    """The same for another judge, as its results would tell it."""
    config = certified()
    assert config.guarantee is not None
    known = TCVA(judge=judge).judged_by()
    judged_by = {name: value for name, value in known.items() if name != "profiles"}
    guarantee = config.guarantee.model_copy(
        update={"judged_by": judged_by}
    ).with_digest()
    return config.model_copy(update={"guarantee": guarantee})


def state_of(result: Any) -> str | None:
    """What becomes of the guarantee; None where there is none."""
    return None if result.guarantee is None else str(result.guarantee.state)
