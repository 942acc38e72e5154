"""Secrets that a server repeats, encoded in many ways, are in nothing that comes out."""

import base64
import html
import json
import logging
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from tcva_adapters import TCVA, Result, Sample
from tcva_adapters.batches.request_lines import read_lines
from tcva_adapters.cli.app import run
from tcva_adapters.errors import JudgeError
from tcva_adapters.models.judge_model import JudgeRequest
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.models.secrets import mask, quotable
from tcva_adapters.results.store import VerdictStore
from tests.support.scripted import verdict_json
from tests.support.server import Answer, Body, ScriptedServer, error, reply

KEY = "given-by+hand/0123456789"
"""It looks like none of the keys that are known by their looks."""

PASSWORD = 'hunter"2/x<é>77'

TEXT = "The office opens at nine."


def each(form: str) -> Callable[[str], str]:
    """Every character written by its number."""
    return lambda secret: "".join(form.format(ord(character)) for character in secret)


def wrapped(text: str, end: str) -> str:
    return end.join(re.findall(".{1,7}", text))


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda s: json.dumps(s)[1:-1],
    "JSON, not in ASCII": lambda s: json.dumps(s, ensure_ascii=False)[1:-1],
    "JSON, slashes": lambda s: json.dumps(s)[1:-1].replace("/", r"\/"),
    "JSON in JSON": lambda s: json.dumps(json.dumps(s))[1:-1],
    "JSON, three times": lambda s: json.dumps(json.dumps(json.dumps(s)))[1:-1],
    "JSON for HTML": lambda s: (
        json.dumps(s)[1:-1].replace("<", r"\u003c").replace(">", r"\u003E")
    ),
    "numbers of JSON": each(r"\u{:04x}"),
    "numbers of JSON, capitals": each(r"\u{:04X}"),
    "numbers of JSON in JSON": each(r"\\u{:04x}"),
    "one number of JSON": lambda s: rf"\u{ord(s[0]):04x}{json.dumps(s[1:])[1:-1]}",
    "numbers in braces": each(r"\u{{{:x}}}"),
    "numbers of Python": each(r"\x{:02x}"),
    "address": lambda s: quote(s, safe=""),
    "address, small letters": lambda s: re.sub(
        "%..", lambda m: m[0].lower(), quote(s, safe="")
    ),
    "address in an address": lambda s: quote(quote(s, safe=""), safe=""),
    "query": lambda s: f"https://host/v1?a=1&api_key={quote(s, safe='')}&b=2",
    "all of an address": lambda s: "".join(f"%{byte:02x}" for byte in s.encode()),
    "numbers of old addresses": each("%u{:04x}"),
    "address in JSON for HTML": lambda s: quote(s, safe="").replace("%", r"\u0025"),
    "HTML": html.escape,
    "HTML in HTML": lambda s: html.escape(html.escape(s)),
    "HTML in JSON": lambda s: json.dumps(html.escape(s))[1:-1].replace("&", r"\u0026"),
    "numbers of HTML": each("&#{};"),
    "hexadecimal numbers of HTML": each("&#x{:X};"),
    "names of HTML": lambda s: (
        html.escape(s).replace("/", "&sol;").replace("+", "&plus;")
    ),
    "base 64": base64_of,
    "base 64 of a user": lambda s: f"Basic {base64_of(f'me:{s}')}",
    "base 64 of JSON": lambda s: base64_of(
        json.dumps({"key": s}, ensure_ascii=False).replace('\\"', '"')
    ),
    "base 64 in an address": lambda s: quote(base64_of(s), safe=""),
    "base 64 in lines": lambda s: wrapped(base64_of(s), "\r\n"),
    "base 64 in lines of JSON": lambda s: wrapped(base64_of(s), r"\r\n"),
    "lines": lambda s: wrapped(s, "\n  "),
    "lines of a mail": lambda s: wrapped(s, "=\r\n"),
    "places to break": lambda s: wrapped(s, "\u200b"),
}


def readable(text: str) -> str:
    """What a reader gets out of a text, who takes off whatever there is."""
    for _ in range(6):
        text = re.sub(
            r"\\+u\{?([0-9a-fA-F]{2,4})\}?|\\+x([0-9a-fA-F]{2})", decoded, text
        )
        text = html.unescape(unquote(re.sub("%u(....)", r"&#x\1;", text)))
    text = re.sub(r"=?(?:\\+[rn]|[\r\n])\s*|\\|\u200b", "", text)
    codes = re.findall(r"[\w+/-]{8,}", text, re.ASCII)
    for code in codes:
        digits = code.replace("-", "+").replace("_", "/")
        text += base64.b64decode(digits + "A" * (-len(digits) % 4)).decode(
            errors="ignore"
        )
        text += (
            bytes.fromhex(code).decode(errors="ignore")
            if re.fullmatch("(?:[0-9a-f]{2})+", code)
            else ""
        )
    return text


def decoded(match: re.Match[str]) -> str:
    return chr(int(match[1] or match[2], 16))


def held(text: str) -> list[str]:
    """The secrets that are in a text."""
    return [
        secret
        for secret in (KEY, PASSWORD)
        if secret in text or secret in readable(text)
    ]


@pytest.mark.parametrize("secret", [KEY, PASSWORD], ids=["key", "password"])
@pytest.mark.parametrize("encoded", ENCODINGS.values(), ids=ENCODINGS)
def test_a_secret_is_masked_however_it_is_encoded(
    encoded: Callable[[str], str], secret: str
) -> None:
    text = f"It was {encoded(secret)} here."
    assert held(text)
    for found in (mask(text, secret), quotable(text, secret)):
        assert "***" in found
        assert not held(found)
    for word in ("It was", "here."):
        assert word in mask(text, secret)
    harmless = text.replace(encoded(secret), encoded("another-thing-4711"))
    assert mask(harmless, secret) == harmless


def test_what_stands_around_an_escaped_secret_stays_json() -> None:
    for secret in (KEY, PASSWORD):
        for name, encoded in ENCODINGS.items():
            told = json.dumps(
                {"a": f"say \\ {encoded(secret)} {encoded(secret)}", "b": [1, "x\n"]}
            )
            found = mask(told, secret)
            assert not held(found), name
            if found != "***":
                assert json.loads(found)["b"] == [1, "x\n"], name


# Where it may come out


def repeating(body: Body, _: int) -> Answer:
    """Replies that hold both secrets, in the encoding of the sample's number and in each way in turn."""
    numbers = re.findall(r"number (\d+)", body["messages"][-1]["content"])
    encoded = (
        [*ENCODINGS.values()][int(numbers[0]) % len(ENCODINGS)] if numbers else str
    )
    said = f"{encoded(KEY)} and {encoded(PASSWORD)}"
    model = f"m-{encoded(KEY)}"
    ways = (
        reply(verdict_json((1, "fully", said)), model=model),
        reply(
            f'{{"claim_1": {{"quote_from_passage": "number", "reason": "{said}", "verdict": "fully"}}}}'
        ),
        reply(said),
        error(401, f"Incorrect API key: {said}", code=said),
        error(400, f"no seed with {said}", param="seed"),
        Answer(f"<html>{said}</html>"),
        reply(None, refusal=said),
        Answer({"choices": [], "debug": said}),
        Answer(said.encode(), status=500, headers={"x-request": "1"}),
    )
    return ways[(int(numbers[0]) // len(ENCODINGS)) % len(ways)] if numbers else ways[0]


def files_hold(folder: Path) -> dict[str, list[str]]:
    """The secrets that the files of a folder hold, by name."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode(errors="replace")
            if path.suffix == ".sqlite":
                with closing(sqlite3.connect(path)) as store:
                    text += "\n".join(store.iterdump())
            found[path.name] = held(text)
    return {name: secrets for name, secrets in found.items() if secrets}


def records(size: int) -> list[Sample]:
    texts = [f"The office of number {n} opens at nine." for n in range(size)]
    return [
        Sample(id=str(n), input="?", response=t, contexts=[t])
        for n, t in enumerate(texts)
    ]


def test_a_secret_is_in_no_result_store_log_or_repr(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.DEBUG, "tcva_adapters"),
        ScriptedServer(repeating) as server,
    ):
        url = server.base_url.replace("//", f"//me:{quote(PASSWORD, safe='')}@")
        model = OpenAICompatibleModel(
            "m", base_url=url, api_key=KEY, max_retries=0, seed=3
        )
        with VerdictStore(tmp_path / "verdicts.sqlite") as store:
            tcva = TCVA(judge=model, store=store, share=False)
            results = [tcva.evaluate(sample) for sample in records(9 * len(ENCODINGS))]
        assert server.count >= len(results)
    lines = [
        text
        for result in results
        for text in (result.to_json(), repr(result), result.reason)
    ]
    lines += [
        *caplog.text.splitlines(),
        repr(model),
        repr(model.refused),
        *model.refused.values(),
    ]
    assert [line for line in lines if held(line)] == []
    assert sum("***" in line for line in lines) > len(ENCODINGS)
    assert sum(result.score is not None for result in results) > len(ENCODINGS)
    assert files_hold(tmp_path) == {}


def test_a_secret_is_in_no_file_of_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        sample.model_dump_json(include={"id", "input", "response", "contexts"})
        for sample in records(9 * len(ENCODINGS))
    ]
    Path("in.jsonl").write_text("\n".join(rows), encoding="utf-8")
    with ScriptedServer(repeating) as server:
        url = server.base_url.replace("//", f"//me:{quote(PASSWORD, safe='')}@")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        command = "evaluate in.jsonl -j openai:m -o out.jsonl --junit j.xml --markdown m.md --report r.html"
        assert (
            run(
                [
                    *command.split(),
                    "--show",
                    "all",
                    "--gate",
                    "mean>=0",
                    "--set",
                    "max-retries=0",
                ]
            )
            == 1
        )
    assert {path.name for path in tmp_path.iterdir()} >= {
        "out.jsonl",
        "j.xml",
        "m.md",
        "r.html",
    }
    assert files_hold(tmp_path) == {}
    assert held("".join(capsys.readouterr())) == []


@pytest.mark.parametrize("encoded", ENCODINGS.values(), ids=ENCODINGS)
def test_a_secret_is_in_no_reply_of_a_batch(encoded: Callable[[str], str]) -> None:
    said = f"{encoded(KEY)} and {encoded(PASSWORD)}"
    bodies = (
        reply(said).payload,
        {"error": {"message": said}},
        [said],
        said,
        reply(verdict_json((1, "none", said))).payload,
    )
    for body in bodies:
        for ascii_only in (True, False):
            response = {"status_code": 200, "body": body}
            line = json.dumps(
                {"custom_id": "5f-0", "response": response}, ensure_ascii=ascii_only
            )
            escaped = line.replace("hunter", r"\u0068unter").replace(
                "given", r"\u0067iven"
            )
            for raw in (line, escaped):
                (found,) = read_lines(
                    [raw.encode()], lambda text: mask(text, KEY, PASSWORD)
                )
                assert not held(found.body)


def test_half_a_secret_at_the_end_of_what_is_looked_at_is_not_quoted() -> None:
    for blanks in range(9_960, 10_001):
        assert "given" not in quotable(f"{' ' * blanks}{KEY}", KEY)


def test_a_call_raises_no_secret() -> None:
    request = JudgeRequest(system="", user="number 1", schema={}, schema_name="")
    for encoded in ENCODINGS.values():
        said = encoded(KEY)
        for answer in (error(403, said), error(302, "moved"), Answer(said)):
            with ScriptedServer(lambda *_, answer=answer: answer) as server:
                model = OpenAICompatibleModel(
                    "m", base_url=server.base_url, api_key=KEY, max_retries=0
                )
                with pytest.raises(JudgeError) as caught:
                    model.complete(request)
            assert not held(f"{caught.value!r}{caught.value.__cause__!r}")


@pytest.mark.parametrize("unit", [
    "\\", '\\"', r"\u0041", "%41", "%25", "&amp;", "&nosuch;", "\n ", " ", "a", "h", "h\\", "h\n", "=", "%",
    KEY, KEY[:-1], "\\u0041 ", "\u200b", "g\\n",
])  # fmt: skip  # a table
def test_masking_takes_time_in_proportion_to_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text, started = unit * (size // len(unit)), time.process_time()
        mask(text, KEY, PASSWORD)
        return time.process_time() - started

    seconds(1000)
    small = min(seconds(40_000) for _ in range(3))
    assert seconds(320_000) < 8 * 4 * max(small, 0.004)


def test_results_without_secrets_are_as_they_were() -> None:
    told = r'{"path": "C:\\new\\u0041", "url": "a%20b?x=1&y=2", "html": "&lt;b&gt;"}'
    assert mask(told, KEY, PASSWORD) == told
    with ScriptedServer(lambda *_: reply(verdict_json((1, "fully", TEXT)))) as server:
        model = OpenAICompatibleModel("m", base_url=server.base_url, api_key=KEY)
        result = TCVA(judge=model).evaluate(Sample(response=TEXT, contexts=[TEXT]))
    assert isinstance(result, Result)
    assert result.score == 1.0


@pytest.mark.parametrize(
    "secret", ["a\\b-c'd9", "50%off%20now", "x\\u0041y9zz", "q&amp;r7!k"]
)
def test_base_64_of_a_secret_that_looks_encoded_is_masked(secret: str) -> None:
    for user in ("", "m:", "me:"):
        coded = base64.b64encode(f"{user}{secret}".encode()).decode().rstrip("=")
        assert coded[len(user) * 4 // 3 + 2 : -3] not in mask(
            f"it was {coded}.", secret
        )
