"""Many random inputs for each target of tests/fuzz; reports every error that is none of ours.

Run: python -m benchmarks.fuzz [--minutes 30] [--seed 0] [TARGET ...]
The time is split over the targets. A finding is shown once per place, with the input that is
smallest among those seen.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings

from hypothesis import HealthCheck, Phase, given, seed, settings

from tcva_adapters.errors import TCVAError
from tests.fuzz.targets import TARGETS, Target

_AT_ONCE = 500


def fuzz(target: Target, seconds: float, first_seed: int) -> tuple[int, dict[str, str]]:
    """How many inputs were tried, and the findings by place."""
    tried = 0
    found: dict[str, str] = {}
    end = time.monotonic() + seconds

    def attempt(value: object) -> None:
        nonlocal tried
        if time.monotonic() > end:
            return
        tried += 1
        shown = ascii(value)
        try:
            target.check(value)
        except TCVAError:
            return
        except Exception as error:  # noqa: BLE001  # this is what is looked for
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = (
                f"{type(error).__name__} at {frame.filename}:{frame.lineno}: {ascii(error)[:200]}"
            )
            place = place if type(error) is AssertionError else place.partition(": ")[0]
            if len(shown) < len(found.get(place, shown + " ")):
                found[place] = shown

    number = first_seed
    while time.monotonic() < end:
        run = settings(
            max_examples=_AT_ONCE,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(given(target.given)(attempt))
        seed(number)(run)()
        number += 1
    return tried, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    wanted = [name for name in TARGETS if not options.targets or name in options.targets]
    warnings.simplefilter("ignore")
    total = untyped = 0
    for name in wanted:
        tried, found = fuzz(TARGETS[name], options.minutes * 60 / len(wanted), options.seed)
        total += tried
        untyped += len(found)
        print(f"{name:24} {tried:8} inputs, {len(found)} untyped errors", flush=True)
        for place, value in found.items():
            print(f"   {place}\n      {value[:500]}", flush=True)
    print(f"{total} inputs in {options.minutes:g} minutes: {untyped} untyped errors")
    sys.exit(untyped > 0)


if __name__ == "__main__":
    main()
