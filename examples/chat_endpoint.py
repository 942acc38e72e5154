"""A chat endpoint with FastAPI and LangChain that streams answers without what no document supports.

    python examples/chat_endpoint.py
    uvicorn --app-dir examples chat_endpoint:app

The first command needs no network: it asks the endpoint three questions and prints what a client
receives and what is logged. The model is scripted, and the lexical judge decides which sentences the
documents support. In an application, the chat model takes the place of `scripted_model`, and a model
that of "lexical". The client chooses whether unsupported sentences are flagged or removed.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator, Iterable
from operator import itemgetter
from typing import Any, Literal

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    ConfigurableField,
    Runnable,
    RunnableLambda,
    RunnablePassthrough,
)
from pydantic import BaseModel

from tcva_adapters.langchain import TCVAEvaluator, gate

log = logging.getLogger("chat")

DOCUMENTS = [
    "The library is open from nine to six on weekdays. It is closed on Sundays.",
    "A reader's card is free for residents. Visitors pay five pounds a year for it.",
    "Members may borrow up to twelve books at once. A loan lasts three weeks.",
]

ANSWERS = {
    "When is the library open?": "The library is open from nine to six on weekdays. It is closed on Sundays.",
    "What does a reader's card cost?": (
        "Good question!\n\n- A reader's card is free for residents.\n- Jugglers receive it with a biscuit.\n"
        "- Visitors pay five pounds a year for it."
    ),
    "May I bring my dog?": "Dogs of every size sleep in the cellar.",
}


class WordRetriever(BaseRetriever):
    """Finds the documents that share most words with the question."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        found = sorted(DOCUMENTS, key=lambda text: -len(_words(query) & _words(text)))
        return [Document(text) for text in found[:2]]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def scripted_model(inputs: dict[str, Any]) -> GenericFakeChatModel:
    """A chat model that streams a fixed answer word by word."""
    return GenericFakeChatModel(messages=iter([ANSWERS[inputs["question"]]]))


def chat_chain() -> Runnable[dict[str, Any], dict[str, Any]]:
    """Retrieve, answer, and serve of the answer what the documents support."""
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    write = RunnableLambda(lambda x: prompt | scripted_model(x) | StrOutputParser())
    served = gate(TCVAEvaluator("lexical"), on_fail="remove").configurable_fields(
        on_fail=ConfigurableField(id="on_fail")
    )
    return (
        RunnablePassthrough.assign(context=itemgetter("question") | WordRetriever())
        | RunnablePassthrough.assign(answer=write)
        | served
    )


class Question(BaseModel):
    """What a client sends."""

    question: str
    on_fail: Literal["flag", "remove"] = "remove"


app = FastAPI()
chain = chat_chain()


@app.post("/chat")
async def chat(asked: Question) -> StreamingResponse:
    """Answer in lines of JSON: texts as they are served, and the marks of their sentences.

    An error is a line, too, since the status was sent before it. The last line says that this is all.
    """
    return StreamingResponse(_lines(asked), media_type="application/x-ndjson")


async def _lines(asked: Question) -> AsyncIterator[str]:
    marks: list[dict[str, Any]] = []
    why: Any = None
    stream = chain.astream(
        {"question": asked.question}, {"configurable": {"on_fail": asked.on_fail}}
    )
    try:
        async for chunk in stream:
            if text := chunk.get("answer"):
                yield _line({"text": text})
            served = chunk.get("tcva", {})
            marks += served.get("marks", [])
            why = served.get("why", why)
            if asked.on_fail == "flag" and served.get("marks"):
                yield _line({"marks": served["marks"]})
    except Exception:
        log.exception("no answer to %r", asked.question)
        yield _line({"error": "This question could not be answered."})
    unsupported = [mark for mark in marks if not mark["supported"]]
    log.info("%s %d of %d sentences unsupported: %s", asked.on_fail, len(unsupported), len(marks), why)  # fmt: skip
    yield _line({"done": True, "unsupported": len(unsupported)})


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _shown(lines: Iterable[str]) -> str:
    """What a reader sees: the text, with brackets around sentences that are flagged."""
    text = ""
    marks: list[dict[str, Any]] = []
    for line in lines:
        record = json.loads(line)
        text += record.get("text", "")
        marks += record.get("marks", [])
    for mark in reversed(marks):
        if not mark["supported"]:
            begin, end = mark["start"], mark["end"]
            text = f"{text[:begin]}[unsupported: {text[begin:end]}]{text[end:]}"
    return text


def main() -> None:
    """Ask the endpoint, with flags and without unsupported sentences."""
    logging.basicConfig(format="log: %(message)s")
    log.setLevel(logging.INFO)
    client = TestClient(app)
    for question in ANSWERS:
        for on_fail in ("flag", "remove"):
            body = {"question": question, "on_fail": on_fail}
            with client.stream("POST", "/chat", json=body) as response:
                text = _shown(response.iter_lines())
            print(f"--- {question} ({on_fail})\n{text}\n")


if __name__ == "__main__":
    main()
