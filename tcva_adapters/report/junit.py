"""Results as JUnit XML, which Jenkins, GitLab and most other CI servers show as tests."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import Final

from tcva_adapters.compare.gates import Gate, Gated, claim_lines, clipped, verdict_of
from tcva_adapters.compare.graded import Case, Graded
from tcva_adapters.printing import figure, visible

BEGINS: Final = re.compile(
    rb"""<\?xml version=['"]1.0['"] encoding=['"]utf-8['"]\?>\n<testsuites name="tcva" """
)
"""How these files begin."""

GATES: Final = "gates"
"""The suite of the gates."""

_NONE: Final = re.compile("[\ufffe\uffff]")
_LONGEST: Final = 1000
_CLAIMS: Final = 20


def to_junit(sentence: str, gated: Gated) -> bytes:
    """One test suite per method with a test case per sample, and one of the gates.

    A sample below the threshold is a failure, with its claims; one on which the judge failed an
    error; one that has no score otherwise (a refusal, nothing retrieved) is skipped. Without a
    threshold nothing fails.

    Args:
        sentence: What came out, a property of every suite.
        gated: The methods and their gates.

    Returns:
        UTF-8, valid whatever the texts hold: what XML has no place for is written out.
    """
    root = ET.Element("testsuites", name="tcva")
    for method in gated.graded:
        if not method.is_part:
            root.append(_suite_of(method, sentence))
    if gated.gates:
        cases = (_gate(gate) for gate in gated.gates)
        root.append(_suite(GATES, cases, {"sentence": sentence}))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _suite_of(method: Graded, sentence: str) -> ET.Element:
    properties = {
        "sentence": sentence,
        **method.about,
        "mean": figure(method.mean, 6),
        "pass_rate": figure(method.pass_rate, 6),
        "coverage": figure(method.coverage, 6),
    }
    cases = (_case(case, method) for case in method.cases)
    suite = _suite(method.name, cases, properties)
    suite.set("time", f"{sum(case.seconds for case in method.cases):.3f}")
    return suite


def _suite(name: str, cases: Iterable[ET.Element], properties: dict[str, str]) -> ET.Element:
    suite = ET.Element("testsuite", name=_text(name))
    known = ET.SubElement(suite, "properties")
    for key, value in properties.items():
        ET.SubElement(known, "property", name=_text(key), value=_text(value))
    suite.extend(cases)
    suite.set("tests", str(len(suite) - 1))
    for counted, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(counted, str(len(suite.findall(f"testcase/{tag}"))))
    return suite


def _case(case: Case, method: Graded) -> ET.Element:
    found = _test(method.name, case.sample, case.seconds)
    if case.passed is False:
        said = [verdict_of(case, method), *claim_lines(case, _CLAIMS)]
        _outcome(found, "failure", "below_threshold", said)
    elif case.score is None:
        kind = case.why.partition(":")[0]
        _outcome(found, "error" if case.is_failure else "skipped", kind, [case.why])
    return found


def _gate(gate: Gate) -> ET.Element:
    found = _test(GATES, f"{gate.method}: {gate.figure}", 0.0)
    if gate.failed:
        _outcome(found, "failure", "gate", [gate.text])
    return found


def _test(suite: str, name: str, seconds: float) -> ET.Element:
    return ET.Element(
        "testcase", classname=_text(suite), name=_text(name) or "(empty)", time=f"{seconds:.3f}"
    )


def _outcome(found: ET.Element, tag: str, kind: str, lines: list[str]) -> None:
    texts = [_text(line) for line in lines]
    ET.SubElement(found, tag, type=_text(kind), message=texts[0]).text = "\n".join(texts)


def _text(text: str) -> str:
    """One line of characters that XML 1.0 has."""
    shown = _NONE.sub(lambda code: f"\\u{ord(code[0]):04x}", visible(text))
    return clipped(shown, _LONGEST)
