"""The way from `evaluate` to the score: calls, functions and files of the package, and how deep it is.

Run: python -m benchmarks.path [WAY], e.g. TCVA or RAGAS: lists what is called on that way, by file
One sample, a scripted model and each framework's own call for one sample: once as the first sample
of the process, in brackets, and once after another one. A function that is resumed counts as called
again. Frames are those of the package on the stack when the model is asked. Python 3.11 calls each
comprehension as a function; those with a name of their own are counted apart.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import tcva_adapters
from tcva_adapters import TCVA, Sample
from tests.support.scripted import ScriptedModel, verdict_json

PACKAGE: Final = str(Path(tcva_adapters.__file__).parent)
OPENS: Final = "The office opens at nine."
PARKING: Final = "Parking is free."
REPLY: Final = verdict_json((1, "fully", OPENS), (2, "minor", PARKING))

Reply = Callable[[str], str]
Score = Callable[[Sample], float | None]


class Way:
    """What runs of the package while it is entered.

    Attributes:
        calls: How often each function was called or resumed.
        depth: The package's frames on the stack when the model was asked.
    """

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.depth = 0

    def __enter__(self) -> None:
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _seen(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and _is_of_the_package(frame):
            self.calls[frame.f_code] += 1

    def reply(self, _: str) -> str:
        """The model's answer."""
        frame: FrameType | None = sys._getframe()  # noqa: SLF001  # the stack is what is asked for
        self.depth = 0
        while frame is not None:
            self.depth += _is_of_the_package(frame)
            frame = frame.f_back
        return REPLY

    def figures(self) -> tuple[int, ...]:
        """Functions, those of them that are no comprehensions, calls, files and frames."""
        files = {code.co_filename for code in self.calls}
        named = sum(
            not code.co_name.endswith(("comp>", "genexpr>")) for code in self.calls
        )
        return len(self.calls), named, self.calls.total(), len(files), self.depth


def _is_of_the_package(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)


def by_tcva(reply: Reply) -> Score:
    model = ScriptedModel([lambda request: reply(request.user)] * 2)
    tcva = TCVA(judge=model)
    return lambda sample: tcva.evaluate(sample).score


def by_ragas(reply: Reply) -> Score:
    entry, module = _of("ragas")
    metric = module.TCVAMetric(llm=entry.ScriptedLLM(reply))
    return lambda sample: float(
        metric.single_turn_score(entry.dataset_of([sample]).samples[0])
    )


def by_deepeval(reply: Reply) -> Score:
    entry, module = _of("deepeval")
    metric = module.TCVAMetric(model=entry.ScriptedLLM(reply), async_mode=False)

    def score(sample: Sample) -> float | None:
        metric.measure(entry.case_of(sample))
        return float(metric.score)

    return score


def by_llamaindex(reply: Reply) -> Score:
    entry, module = _of("llamaindex")
    evaluator = module.TCVAEvaluator(entry.ScriptedLLM(reply=reply))
    return lambda sample: float(
        evaluator.evaluate(
            sample.input, sample.response, list(sample.contexts or ())
        ).score
    )


def by_langchain(reply: Reply) -> Score:
    entry, module = _of("langchain")
    evaluator = module.TCVAEvaluator(entry.ScriptedChatModel(reply=reply))
    return lambda sample: float(evaluator.invoke(entry.records([sample])[0])["score"])


def _of(framework: str) -> tuple[Any, Any]:
    return import_module(f"tests.{framework}.entry"), import_module(
        f"tcva_adapters.{framework}"
    )


WAYS: Final[dict[str, Callable[[Reply], Score]]] = {
    "TCVA.evaluate": by_tcva,
    "RAGAS single_turn_score": by_ragas,
    "DeepEval measure": by_deepeval,
    "LlamaIndex evaluate": by_llamaindex,
    "LangChain invoke": by_langchain,
}


def walked(make: Callable[[Reply], Score]) -> tuple[Way, Way]:
    """The ways of the first sample and of the second one."""
    ways = Way(), Way()
    asked = iter(ways)
    score = make(lambda prompt: next(asked).reply(prompt))
    for way, question in zip(
        ways, ("When does it open?", "What does it cost?"), strict=True
    ):
        text = f"{OPENS} {PARKING}"
        sample = Sample(input=question, response=text, contexts=(text,))
        with way:
            found = score(sample)
        if found is None or not way.depth:
            msg = f"{make.__name__}: no score, or no model was asked"
            raise RuntimeError(msg)
    return ways


def list_functions(name: str) -> None:
    """Print what the second sample calls, by file, with the number of calls where it is not one."""
    way = walked(next(make for known, make in WAYS.items() if known.startswith(name)))[
        1
    ]
    files: dict[str, list[str]] = {}
    for code, calls in way.calls.items():
        times = f" x{calls}" if calls > 1 else ""
        file = code.co_filename.removeprefix(PACKAGE).lstrip("/")
        files.setdefault(file, []).append(f"{code.co_qualname}{times}")
    for file, functions in sorted(files.items()):
        print(f"{file} ({len(functions)})\n    " + "\n    ".join(functions))


def main() -> None:
    import_module("tests.support.quiet")
    python = ".".join(map(str, sys.version_info[:2]))
    if sys.argv[1:]:
        list_functions(sys.argv[1])
        return
    headings = ("functions", "named", "calls", "files", "frames")
    print(
        f"{f'Python {python}':24}" + "".join(f"{heading:>14}" for heading in headings)
    )
    for name, make in WAYS.items():
        first, second = walked(make)
        cells = zip(second.figures(), first.figures(), strict=True)
        print(
            f"{name:24}" + "".join(f"{f'{one} ({other})':>14}" for one, other in cells)
        )


if __name__ == "__main__":
    main()
