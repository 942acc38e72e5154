"""Markdown, JUnit and annotations of any text: nothing of it links, runs or starts a command."""

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from tcva_adapters import Assessment, ClaimVerdict, Verdict
from tcva_adapters.compare import ScoreTable, read_scores
from tcva_adapters.console import write
from tcva_adapters.report import (
    Gates,
    evaluation,
    to_annotations,
    to_junit,
    to_markdown,
)
from tcva_adapters.report.failing_samples import gate_lines
from tcva_adapters.report.markdown import LONGEST
from tcva_adapters.results.judgement import Reason, Unscored
from tcva_adapters.tables import Report
from tests.hostile.corpus import TEXTS, Hostile

ON_GITHUB = (
    "@octocat #123 GH-1 https://192.0.2.1/x www.192.0.2.1 user@example.org a/b#3 :x: 0123456789abc",
    "a\\|b|c\\\\|d `x` ``y`` | @octocat |", "``` @octocat\n```\n@octocat", "`@octocat",
    "ends with a backslash\\", "</code></summary></details><b>@octocat</b>",
    "::error::x\n::stop-commands::y\n  ::add-mask::0\n##[error]z ##vso[task.x] ##teamcity[y]",
    "[[ATTACHMENT|/etc/passwd]]", "%0A::error::x", "=====\n- a\n1. b\n    code",
)  # fmt: skip
ALL = [
    *TEXTS,
    *(Hostile(f"github {n}", "GitHub", text) for n, text in enumerate(ON_GITHUB)),
]
OURS = {"p", "strong", "ul", "li", "code", "details", "summary"}
OURS |= {"table", "thead", "tbody", "tr", "th", "td"}


def judged(sample: str, verdict: str = "none", **more: Any) -> Assessment:
    claims = (ClaimVerdict(claim=f"claim of {sample}", verdict=Verdict(verdict)),)
    about = {"criterion": "m", "judge": "j", "prompt_version": "1", "claims": claims}
    return Assessment(**{**about, "sample_id": sample, **more})


def failed(sample: str, reason: Reason, detail: str = "") -> Assessment:
    return judged(sample, claims=(), unscored=Unscored(reason=reason, detail=detail))


def reported(
    results: list[Assessment], *gates: str, before: list[Assessment] | None = None
) -> tuple[Report, ScoreTable]:
    table = read_scores(results)
    baseline = None if before is None else read_scores(before)
    return evaluation(table, Gates.of(gates), baseline), table


def hostile(text: str) -> tuple[Report, ScoreTable]:
    """One sample that fails and two without a score, with the text in every place."""
    claims = tuple(
        ClaimVerdict(claim=text, verdict=level, reason=text, evidence=text, context=1)
        for level in (Verdict.NONE, Verdict.FULLY, None)
    )
    about = {"criterion": text or "(empty)", "judge": text, "sample_id": text}
    whys = [
        Unscored(reason=reason, detail=text)
        for reason in (Reason.TIMEOUT, Reason.REFUSAL)
    ]
    unscored = [judged(text, claims=(), unscored=why, **about) for why in whys]
    whole = judged(text, claims=claims, **about)
    before = [judged(text, "fully", **about)]
    return reported([whole, *unscored], "mean>=0.9", "coverage>=1", before=before)


class Rendered(HTMLParser):
    """What a comment becomes: its tags, and the text outside of code."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.open: list[str] = []
        self.outside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} closes something else"

    def handle_data(self, data: str) -> None:
        if "code" not in self.open:
            self.outside += data

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        pytest.fail(f"a declaration: {decl}")


def rendered(comment: str) -> Rendered:
    markdown_it = pytest.importorskip("markdown_it", reason="rich brings it")
    reader = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table")
    return Rendered(reader.render(comment))


@pytest.mark.parametrize("text", ALL, ids=lambda text: text.id)
def test_texts_are_inert_wherever_they_are_shown(text: Hostile) -> None:
    report, table = hostile(text.text)
    comment = to_markdown(replace(report, sentence=f"{text.text} came out"), table)
    assert len(comment.encode()) <= 4 * LONGEST
    page = rendered(comment)
    assert set(page.tags) <= OURS
    assert set(page.attributes) <= {"style"}  # how columns are aligned
    assert not page.open
    assert not re.search(r"@|://|www\.|#\d|GH-|:x:|\[\[", page.outside)
    assert [page.tags.count(tag) for tag in ("table", "td")] == [1, 5]

    root = ET.fromstring(to_junit(report, table))
    cases = root.findall("testsuite")[0].findall("testcase")
    outcomes = [(case[-1].tag, case[-1].get("type")) for case in cases]
    kinds = ["below_threshold", "timeout", "refusal"]
    assert outcomes == [*zip(("failure", "error", "skipped"), kinds, strict=True)]
    # GitLab and a plug-in of Jenkins take files from what stands there.
    assert not root.findall(".//system-out")

    lines = to_annotations(report, table)
    assert 3 <= len(lines) <= 10
    for line in lines:
        title, found, message = line.removeprefix("::error title=").partition("::")
        assert found
        assert not re.search("[:,\r\n]", title)
        assert len(line.splitlines()) == 1
        assert "##[" not in line
        assert re.fullmatch("(?:[^%]|%(?:25|0A|0D|3A|2C))*", title + message)
    printed = io.StringIO()
    write("\n".join(gate_lines(report, table)), printed)
    assert not re.search(
        r"^\s*::|##(vso|teamcity)?\[", printed.getvalue(), re.MULTILINE
    )


def test_junit_fails_where_the_command_does() -> None:
    """Samples below the threshold are no failures where no gate failed."""
    results = [
        judged("a", "none"),
        judged("b", "fully"),
        failed("c", Reason.TIMEOUT, "late"),
    ]
    for gates, failures in (
        ((), 0),
        (("coverage>=0.5", "mean>=0.1"), 0),
        (("coverage>=1", "mean>=0.1"), 1),
        (("coverage>=0.5", "mean>=0.9"), 2),
    ):
        root = ET.fromstring(to_junit(*reported(results, *gates)))
        assert root.get("failures") == str(failures)
        assert root.get("errors") == ("1" if failures else "0")
        scores = [
            p.get("value") for p in root.iter("property") if p.get("name") == "score"
        ]
        assert scores == ["0", "1"]
    nothing = ET.fromstring(to_junit(*reported([failed("c", Reason.TIMEOUT)])))
    assert nothing.get("errors") == "1"  # the command exits with 2


def test_a_comment_names_what_newly_fails_first() -> None:
    """Of 25 samples that got worse, all that are shown are among those; 721 fail in all."""
    names = [f"s{n}" for n in range(730)]
    before = [judged(n, "fully" if n in names[700:725] else "none") for n in names]
    now = [judged(name, "none" if name in names[:725] else "fully") for name in names]
    report, table = reported(now, "mean>=0.8", before=before)
    comment = to_markdown(report, table)
    assert "10 of 725 samples shown:" in comment
    shown = re.findall(r"<summary><code>(s\d+)</code>: 0.000 &lt; 0.5", comment)
    assert shown == names[700:710]
    assert "Newly fail: 25, newly pass: 5." in comment
    assert "<summary>Newly fail: 25</summary>" in comment
    assert "- `s700`: 1.000 before, 0.000 now" in comment
    assert "- and 5 more samples" in comment
    assert "- **none**: `claim of s700`" in comment


def test_a_comment_fits_and_says_what_was_cut() -> None:
    about: Any = {"verdict": Verdict.NONE, "reason": "r " * 500}
    claims = tuple(
        ClaimVerdict(claim=f"{n} {'word ' * 500}", **about) for n in range(30)
    )
    results = [judged(f"s{n}", claims=claims) for n in range(100)]
    comment = to_markdown(*reported(results, "mean>=0.5"), most=100)
    assert len(comment) <= LONGEST
    assert re.search(r"Cut here: \d+ of 1\d\d parts are left out\.", comment)
    assert not rendered(comment).open
    methods = ScoreTable(
        ("a",), tuple(f"m{n}" for n in range(2000)), np.zeros((1, 2000))
    )
    comment = to_markdown(evaluation(methods, Gates.of("mean>=0.5")), methods)
    assert len(comment) <= LONGEST


def test_without_gates_nothing_is_called_passed() -> None:
    report, table = reported([judged("a")])
    assert to_markdown(report, table).startswith(
        "**TCVA**: 0 % of 1 scored sample passes"
    )
    assert to_annotations(report, table) == []
    assert [suite.get("name") for suite in ET.fromstring(to_junit(report, table))] == [
        "m"
    ]
