"""Calls of a model per sample: further temperatures, a second run, and suites of every adapter.

Run: python -m benchmarks.judge_calls
The first lines count the requests at a scripted server on 127.0.0.1. The table counts the calls of a judge
that says something else each time it is asked, for three evaluators at three temperatures in one suite:
those that do not share a judgement show it by more calls than samples, as the control without sharing
does.
"""

import io
import json
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Final

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported

# isort: split
from tcva_adapters import TCVA, Sample, clear_shared
from tcva_adapters.data import sample_lines
from tcva_adapters.models.framework_prompts import PromptedModel
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.results.settings import ClaimsMode
from tests.adapters.table import ADAPTERS, Adapter
from tests.support.server import ScriptedServer, auto_judge
from tests.test_sharing import STRICTNESS, VaryingModel, sample

SUITE: Final = [sample(number) for number in range(6)]
TEMPERATURES: Final = [t / 100 for t in range(10, 101)]
MODES: Final[tuple[ClaimsMode, ...]] = ("split", "llm")


def print_one_evaluator(folder: Path) -> None:
    """Of the package's own samples that have claims and contexts."""
    found = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    lexical = TCVA(judge="lexical")
    judged = [each for each in found if lexical.evaluate(each).unscored is None]
    for claims in MODES:
        with ScriptedServer(auto_judge) as server:
            model = OpenAICompatibleModel("m", base_url=server.base_url)
            tcva = TCVA(judge=model, claims=claims, store=folder / f"{claims}.sqlite")
            results = tcva.evaluate_many(judged, progress=False)
            calls = server.count
            views = [result.at(t).score for result in results for t in TEMPERATURES]
            tcva.changed(share=False).evaluate_many(judged, progress=False)
            each = f"{calls / len(judged):.3f} calls for each of {len(judged)} samples"
            more = f"{len(views)} scores at further temperatures and a second run"
            print(f"claims={claims!r}: {each}; {server.count - calls} for {more}")


def calls_of_suite(
    adapter: Adapter, asynchronous: bool, settings: dict[str, Any]
) -> int:
    """How often the judge was asked; an error where strict is above lenient for a sample."""
    clear_shared()
    model = VaryingModel(seconds=0.01)
    package = adapter.name.partition(" ")[0]
    llm = import_module(f"tcva_adapters.{package}.llm").BridgedLLM(PromptedModel(model))
    suite = [adapter.built(llm, temperature=t, **settings) for t in STRICTNESS]
    said = (
        io.StringIO()
    )  # what the frameworks print and deprecate is not the point here
    with (
        warnings.catch_warnings(action="ignore"),
        redirect_stdout(said),
        redirect_stderr(said),
    ):
        columns = adapter.suite(suite, SUITE, asynchronous)
    for scores in zip(
        *([each.score for each in column] for column in columns), strict=True
    ):
        if "share" not in settings and sorted(scores, key=float) != list(scores):
            sys.exit(f"{adapter.name}: not views of one judgement: {scores}")
    return model.calls


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print_one_evaluator(folder)
        print(f"\n{'3 evaluators, 6 samples':27} calls with a store share=False")
        for adapter, asynchronous in product(ADAPTERS, (False, True)):
            how = f"{adapter.name}, {'async' if asynchronous else 'sync'}"
            settings: list[dict[str, Any]] = [
                {},
                {"store": folder / how},
                {"share": False},
            ]
            found = [calls_of_suite(adapter, asynchronous, each) for each in settings]
            print(f"{how:27}{found[0]:6}{found[1]:13}{found[2]:12}")


if __name__ == "__main__":
    main()
