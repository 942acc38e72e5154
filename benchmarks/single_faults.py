"""One sample of 40 per fault: refused (403), an echoing 500, odd logprobs, a reset at the start.

Through TCVA and each framework, one call at a time and eight at once. 37 of 40 are to have their
score, since a good reply with odd logprobs counts, and the other three are to say why.

Run: python -m benchmarks.single_faults
"""

from __future__ import annotations

import math
import sys
import warnings

from benchmarks.soak import EXPECTED, WAYS, quietly, samples
from tcva_adapters import clear_shared
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.support.faults import FaultServer, for_prompts
from tests.support.server import auto_judge

SAMPLES = 40
FAULTS = {
    "Note 0 says": "reset",
    "Note 7 says": "status 403",
    "Note 19 says": "echo 500",
    "Note 31 says": "logprobs null token",
}
SCORED = 37


def main() -> None:
    warnings.simplefilter("ignore")
    is_bad = False
    for name, way in WAYS.items():
        for concurrency in (1, 8):
            clear_shared()
            with FaultServer(auto_judge, for_prompts(FAULTS)) as server, quietly():
                model = OpenAICompatibleModel("m", base_url=server.base_url, max_retries=1)
                results = way(samples(SAMPLES), model, concurrency)
            right = sum(
                result is not None
                and result.score is not None
                and math.isclose(result.score, EXPECTED)
                for result in results
            )
            is_bad |= right != SCORED or len(results) != SAMPLES
            print(
                f"{name}, {concurrency} at once: {right} of {len(results)} scored ({SCORED} must be)"
            )
    for number, result in enumerate(results):
        if result is not None and result.unscored is not None:
            print(f"  sample {number}: {result.unscored.detail}")
    sys.exit(is_bad)


if __name__ == "__main__":
    main()
