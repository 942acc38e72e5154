"""``compat.score_agg`` against the installed eval-ai-library on random inputs.

Run, in a scratch environment beside tcva-adapters:
    pip install --no-deps eval-ai-library==0.8.2
    python -m benchmarks.compat
The library's package pulls in providers on import, so its module is loaded by itself.
"""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Callable
from importlib.metadata import distribution
from types import ModuleType

from tcva_adapters.core.compat import score_agg
from tcva_adapters.core.verdicts import SCHEMES

INPUTS = 10_000


def reference_module() -> ModuleType:
    """``eval_lib.utils`` without the rest of its package."""
    path = distribution("eval-ai-library").locate_file("eval_lib/utils.py")
    spec = importlib.util.spec_from_file_location("reference_utils", str(path))
    if spec is None or spec.loader is None:
        sys.exit(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_scores(rng: random.Random) -> list[float]:
    """Weights of one published scheme, or any floats in [0, 1]."""
    length = rng.randrange(31)
    scheme = rng.choice([*SCHEMES.values(), None])
    if scheme is None:
        return [rng.choice((0.0, 1.0, rng.random(), rng.random() ** 20)) for _ in range(length)]
    return [rng.choice(scheme.weights) for _ in range(length)]


def outcome(function: Callable[..., float], *arguments: object) -> str:
    """The result with all its digits, or that there is none; ours has a kind of error of its own."""
    try:
        return repr(function(*arguments))
    except (ArithmeticError, ValueError):
        return "no number"


def main() -> None:
    reference = reference_module().score_agg
    rng = random.Random(0)
    equal = 0
    for _ in range(INPUTS):
        temperature = rng.choice(
            (0.5, rng.uniform(0.1, 1.0), rng.uniform(-1.0, 3.0), 0.1 + 8 / 22.5)
        )
        eps = rng.choice((1e-9, 10 ** rng.uniform(-15, -1)))
        arguments = (random_scores(rng), temperature, rng.random(), eps)
        equal += outcome(score_agg, *arguments) == outcome(reference, *arguments)
    print(f"{equal} of {INPUTS} equal to eval-ai-library {distribution('eval-ai-library').version}")


if __name__ == "__main__":
    main()
