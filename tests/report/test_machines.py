"""Markdown, JUnit and annotations of any text: nothing of it links, runs or starts a command."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from tcva_adapters import Assessment, Result
from tcva_adapters.compare.changes import Changes
from tcva_adapters.compare.gates import Gated, Gates
from tcva_adapters.compare.graded import Case, Graded, grade
from tcva_adapters.core.verdicts import Verdict
from tcva_adapters.printing import text_of
from tcva_adapters.report import to_annotations, to_junit, to_markdown
from tcva_adapters.report.markdown import LONGEST
from tcva_adapters.results.assessment import ClaimVerdict, Reason, Unscored
from tests.hostile.corpus import TEXTS, Hostile

ON_GITHUB = (
    "@octocat #123 GH-1 https://192.0.2.1/x www.192.0.2.1 user@example.org a/b#3 :x: 0123456789abc",
    "a\\|b|c\\\\|d `x` ``y`` | @octocat |",
    "``` @octocat\n```\n@octocat",
    "`@octocat",
    "ends with a backslash\\",
    "</code></summary></details><b>@octocat</b>",
    "::error::x\n::stop-commands::y\n  ::add-mask::0\n##[error]z ##vso[task.x] ##teamcity[y]",
    "[[ATTACHMENT|/etc/passwd]]",
    "%0A::error::x",
    "=====\n- a\n1. b\n    code",
)
ALL = [*TEXTS, *(Hostile(f"github {n}", "GitHub", text) for n, text in enumerate(ON_GITHUB))]
OURS = {
    *("p", "strong", "ul", "li", "code", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def hostile(text: str) -> Gated:
    """One sample that fails and two without a score, with the text in every place."""
    claims = tuple(
        ClaimVerdict(claim=text, verdict=level, reason=text, evidence=text, passage=1)
        for level in (Verdict.NONE, Verdict.FULLY, None)
    )
    judged = Assessment(
        criterion=text, judge=text, prompt_version="1", claims=claims, sample_id=text
    )
    unscored = [
        Assessment(
            criterion=text,
            judge=text,
            prompt_version="1",
            sample_id=text,
            unscored=Unscored(reason=reason, detail=text),
        )
        for reason in (Reason.TIMEOUT, Reason.REFUSAL)
    ]
    results = [Result(each) for each in (judged, *unscored)]
    found = [grade(text, results, threshold=0.5, about={"judge": text})]
    return Gates.of(min_score=0.9, min_coverage=1).judge(found)


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
    return Rendered(
        markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").render(comment)
    )


@pytest.mark.parametrize("text", ALL, ids=lambda text: text.id)
def test_a_comment_has_our_tags_alone(text: Hostile) -> None:
    gated = hostile(text.text)
    changes = Changes(gated.graded[0], gated.graded[0])
    comment = to_markdown(f"{text.text} came out", gated, changes=changes)
    assert len(comment) <= LONGEST
    page = rendered(comment)
    assert set(page.tags) <= OURS
    assert set(page.attributes) <= {"style"}  # how columns are aligned
    assert not page.open
    assert not re.search(r"@|://|www\.|#\d|GH-|:x:|\[\[", page.outside)
    assert page.tags.count("table") == 1
    assert page.tags.count("td") == 5
    assert page.tags.count("details") == page.tags.count("summary")
    comment.encode()


@pytest.mark.parametrize("text", ALL, ids=lambda text: text.id)
def test_junit_is_xml_with_a_test_per_sample(text: Hostile) -> None:
    root = ET.fromstring(to_junit(text.text, hostile(text.text)))
    method, gates = root.findall("testsuite")
    cases = method.findall("testcase")
    assert [[child.tag for child in case] for case in cases] == [
        ["failure"],
        ["error"],
        ["skipped"],
    ]
    assert [case[0].get("type") for case in cases] == ["below_threshold", "timeout", "refusal"]
    assert [child.tag for child in method] == ["properties", *["testcase"] * 3]
    counts = {name: method.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1", "skipped": "1"}
    assert [case[0].tag for case in gates.findall("testcase")] == ["failure", "failure"]
    whole = {name: root.get(name) for name in ("tests", "failures", "errors")}
    assert whole == {"tests": "5", "failures": "3", "errors": "1"}
    # GitLab and a plug-in of Jenkins take files from what stands there.
    assert not root.findall(".//system-out")


@pytest.mark.parametrize("text", ALL, ids=lambda text: text.id)
def test_annotations_are_one_command_each(text: Hostile) -> None:
    lines = to_annotations(hostile(text.text))
    assert 3 <= len(lines) <= 10
    for line in lines:
        assert len(line.splitlines()) == 1
        title, found, message = line.removeprefix("::error title=").partition("::")
        assert found
        assert not re.search("[:,\r\n]", title)
        assert "##[" not in line
        assert re.fullmatch("(?:[^%]|%(?:25|0A|0D|3A|2C))*", title + message)


@pytest.mark.parametrize("text", ALL, ids=lambda text: text.id)
def test_no_printed_line_is_a_command(text: Hostile) -> None:
    gated = hostile(text.text)
    for width in (20, 80, 1000):
        for line in text_of(gated.parts(), width).splitlines():
            assert not line.lstrip().startswith("::")
            assert not re.search(r"##(vso|teamcity)?\[", line)


def many(samples: int, length: int) -> list[Graded]:
    claims = tuple(
        ClaimVerdict(claim=f"{n} {'word ' * length}", verdict=Verdict.NONE, reason="r " * length)
        for n in range(30)
    )
    cases = tuple(Case(f"s{n}", 0.0, passed=False, claims=claims) for n in range(samples))
    return [Graded(f"m{n}", cases, 0.5) for n in range(40)]


def test_a_comment_fits_and_says_what_was_cut() -> None:
    gated = Gates.of(0.5).judge(many(100, 500))
    assert "more failed gates" in to_markdown("x", gated)
    comment = to_markdown("x", gated, most=100)
    assert len(comment) <= LONGEST
    assert re.search(r"Cut here: \d+ of 100 folded parts did not fit\.", comment)
    assert not rendered(comment).open


def test_a_comment_says_what_changed() -> None:
    before = Graded("m", (Case("a", 0.9, passed=True), Case("b", 0.1, passed=False)), 0.5)
    now = Graded("m", (Case("a", 0.2, passed=False), Case("b", 0.8, passed=True)), 0.5)
    comment = to_markdown("x", Gates.of(0.1).judge([now]), changes=Changes(before, now))
    assert comment.startswith("**Gates passed**: x\n")
    assert "Since the baseline: mean score 0.500 before, 0.500 now" in comment
    assert "- `a`: 0.900 before, 0.200 now" in comment
    assert "- `b`: 0.100 before, 0.800 now" in comment


def test_without_gates_nothing_is_called_passed() -> None:
    gated = Gates().judge([Graded("m", (Case("a", 0.2, passed=False),), 0.5)])
    assert to_markdown("x", gated).startswith("**TCVA**: x\n")
    assert to_annotations(gated) == []
    assert [suite.get("name") for suite in ET.fromstring(to_junit("x", gated))] == ["m"]
