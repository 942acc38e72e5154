"""What comes out of gates: each mode, called in each way, for each kind of answer.

Run: python -m benchmarks.modes [--framework langchain] [--framework llamaindex]

The frameworks are the real ones. The judge is lexical, or a model that fails. A cell has the text that
comes out, and behind it the marks, in order: + for a sentence that is supported or claims nothing, - for
one that is not. Streams arrive in pieces of seven characters (LangChain) or in words (LlamaIndex). Where all ways give the same, they share a
row.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableGenerator, RunnablePassthrough

import tests.support.quiet  # noqa: F401  # tracking is switched off before frameworks are imported
from tcva_adapters import llamaindex
from tcva_adapters.langchain import TCVAEvaluator, gate
from tcva_adapters.llamaindex import TCVAQueryEngine
from tests.llamaindex.serving import Answer, broken_llm, engine_for, serve

NINE: Final = "The office opens at nine."
MADE_UP: Final = "The captain is called Olav Berg."
FREE: Final = "Parking is free for visitors."


class Case(NamedTuple):
    """An answer and what it is checked against.

    Attributes:
        answer: The answer.
        contexts: The passages.
        fails: Whether the judge fails.
        is_object: Whether the engine gives an object, which only LlamaIndex' do, and never stream.
        needs_citations: Whether the evaluator has ``require_citations``.
    """

    answer: str
    contexts: tuple[str, ...] = (NINE,)
    fails: bool = False
    is_object: bool = False
    needs_citations: bool = False


CASES: Final = {
    "supported": Case(NINE),
    "one claim unsupported": Case(f"{NINE} {MADE_UP}"),
    "unsupported": Case(MADE_UP),
    "failed judge": Case(f"Hello! {NINE}", fails=True),
    "greeting": Case("Hello! How can I help?"),
    "refusal": Case("I do not know."),
    "claim without contexts": Case(NINE, ()),
    "cited": Case(
        "The office opens at nine [1]. Parking is free for visitors.[2]",
        (NINE, FREE),
        needs_citations=True,
    ),
    "cited elsewhere": Case(
        "Parking is free for visitors [1]. The office opens at nine [1].",
        (NINE, FREE),
        needs_citations=True,
    ),
    "no such passage": Case("The office opens at nine [1, 9].", needs_citations=True),
    "object, supported": Case(Answer(text=NINE).model_dump_json(), is_object=True),
    "object, unsupported": Case(Answer(text=MADE_UP).model_dump_json(), is_object=True),
}
MODES: Final = ("flag", "remove", "refuse", "raise")
WAYS: Final = ("sync", "async", "streamed", "async streamed")


class BrokenModel(FakeListChatModel):
    """A chat model of LangChain that raises an error."""

    responses: list[str] = []  # noqa: RUF012  # a field of pydantic

    def _call(self, *_: Any, **__: Any) -> str:
        raise RuntimeError("the server is down")


class Row(NamedTuple):
    """What comes out for an answer in a mode, called in these ways."""

    answer: str
    on_fail: str
    ways: str
    outcome: str


def pieces(text: str, length: int = 7) -> list[str]:
    """Cut a text into pieces, as a model streams it."""
    return [text[at : at + length] for at in range(0, len(text), length)]


def cell(text: str, marks: Iterable[Mapping[str, Any]]) -> str:
    """Write a text, with its marks behind it."""
    signs = "".join("+" if mark["supported"] else "-" for mark in marks)
    return f"{text} {signs}".strip()


def langchain_cell(mode: str, way: str, case: Case) -> str:
    """Serve an answer by LangChain's gate at the end of a chain."""

    def answer(_: Any) -> Iterator[str]:
        yield from pieces(case.answer)

    async def aanswer(_: Any) -> AsyncIterator[str]:
        for piece in pieces(case.answer):
            yield piece

    chain = RunnablePassthrough.assign(context=lambda _: [*case.contexts]).assign(
        answer=RunnableGenerator(answer, aanswer)
    )
    judge: Any = BrokenModel() if case.fails else "lexical"
    evaluator = TCVAEvaluator(
        judge, share=False, require_citations=case.needs_citations
    )
    step: Any = chain | gate(evaluator, on_fail=mode)  # type: ignore[arg-type]  # a mode
    question = {"question": "When does it open?"}

    async def whole() -> Any:
        total: Any = None
        async for chunk in step.astream(question):
            total = chunk if total is None else total + chunk
        return total

    ways: dict[str, Callable[[], Any]] = {
        "sync": lambda: step.invoke(question),
        "async": lambda: asyncio.run(step.ainvoke(question)),
        "streamed": lambda: _total(step.stream(question)),
        "async streamed": lambda: asyncio.run(whole()),
    }
    try:
        row = ways[way]()
    except ValueError as error:
        return type(error).__name__
    return cell(row["answer"], row.get("tcva", {}).get("marks", ()))


def _total(chunks: Iterable[Any]) -> Any:
    total: Any = None
    for chunk in chunks:
        total = chunk if total is None else total + chunk
    return total


def llamaindex_cell(mode: str, way: str, case: Case) -> str:
    """Serve an answer by a query engine of LlamaIndex in a `TCVAQueryEngine`."""
    engine = TCVAQueryEngine(
        engine_for(case.answer, case.contexts, way, is_object=case.is_object),
        llamaindex.TCVAEvaluator(
            broken_llm() if case.fails else "lexical",
            share=False,
            require_citations=case.needs_citations,
        ),
        on_fail=mode,  # type: ignore[arg-type]  # a mode
    )
    served = serve(engine, way)
    if served.error is not None:
        return f"{served.text} {type(served.error).__name__}".strip()
    return cell(served.text, served.marks["marks"])


FRAMEWORKS: Final[dict[str, Callable[[str, str, Case], str]]] = {
    "langchain": langchain_cell,
    "llamaindex": llamaindex_cell,
}


def rows(framework: str) -> Iterator[Row]:
    """Make the rows of the table: ways that give the same share one."""
    serve = FRAMEWORKS[framework]
    for name, case in CASES.items():
        for mode in MODES:
            ways: dict[str, list[str]] = {}
            if case.is_object and framework != "llamaindex":
                continue
            for way in WAYS[:2] if case.is_object else WAYS:
                ways.setdefault(serve(mode, way, case), []).append(way)
            for outcome, same in ways.items():
                yield Row(
                    name, mode, "all" if len(ways) == 1 else ", ".join(same), outcome
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--framework", choices=[*FRAMEWORKS], action="append")
    chosen = parser.parse_args().framework or [*FRAMEWORKS]
    for framework in chosen:
        print(
            f"\n{framework}: {len(CASES)} answers, {len(MODES)} modes, {len(WAYS)} ways"
        )
        for row in rows(framework):
            print(f"{row.answer:22}  {row.on_fail:6}  {row.ways:8}  {row.outcome}")


if __name__ == "__main__":
    main()
