"""Results as JUnit XML, which Jenkins, GitLab and most other CI servers show as tests.

The file fails where the command does: a sample is a failure only under a method with a failed gate.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import (
    Iterable,
    Mapping,
    Sequence,
)

from tcva_adapters.compare.scores.table import ScoreTable
from tcva_adapters.console import visible
from tcva_adapters.report.failing_samples import SampleScore
from tcva_adapters.report.gates import (
    exit_code,
    failed_samples,
    gate_records,
)
from tcva_adapters.results.result import Result
from tcva_adapters.samples.reader import distinct_names
from tcva_adapters.tables import (
    Report,
    cell,
    shortened,
)

JUNIT_BEGINNING = re.compile(
    rb"""<\?xml version=['"]1.0['"] encoding=['"]utf-8['"]\?>\n<testsuites name="tcva" """
)
"""The pattern that these files begin with."""

_NONE = re.compile("[\ufffe\uffff]")
_LONGEST = 1000
_CLAIMS = 20
_COUNTS = {"tests": "testcase", "failures": "failure", "errors": "error"}


def to_junit(report: Report, table: ScoreTable) -> bytes:
    """Write one test suite per method, with a test case per sample, and one suite of the gates.

    A sample below the threshold is a failure, with its claims, if a gate of the method on a mean, a
    pass rate or a change failed. A sample without a score that claims something is a failure if a
    gate on coverage failed. If any gate failed, or nothing could be judged, a sample on which the
    judge failed, that is too long, or that claims something without contexts is an error.
    Otherwise samples with a score are tests that passed, with the score as a property, and those
    without are skipped.

    Args:
        report: The report of `evaluation`.
        table: The table that it is about; with results, claims are named.

    Returns:
        UTF-8, valid whatever the texts hold: characters that XML lacks are written out.
    """
    root = ET.Element("testsuites", name="tcva")
    records = gate_records(report)
    everything = {"mean", "failures"} if exit_code(table) == 2 else set()
    for figures in report.records("methods"):
        method = figures.pop("method")
        properties = {"sentence": report.sentence}
        properties |= {
            name: cell(value, "int" if isinstance(value, int) else "score")
            for name, value in figures.items()
        }
        failed = everything | {
            record["figure"]
            for record in records
            if record["method"] == method and not record["passed"]
        }
        root.append(_suite(method, _cases(table, method, failed), properties))
    if records:
        tests = []
        names, _ = distinct_names(
            f"{record['method']}: {record['figure']}" for record in records
        )
        for name, record in zip(names, records, strict=True):
            test = _test("gates", name, 0.0)
            if not record["passed"]:
                _outcome(test, "failure", "gate", [record["text"]])
            tests.append(test)
        root.append(_suite("gates", tests, {"sentence": report.sentence}))
    _count(root, _COUNTS)
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _cases(
    table: ScoreTable,
    method: str,
    failed: set[str],
) -> Iterable[ET.Element]:
    threshold = table.threshold(method)
    fails = failed_samples(table, method)
    is_silent = table.silent(method)
    for place, score in enumerate(table.column(method).tolist()):
        sample = SampleScore(table, method, place)
        result = sample.result
        test = _test(
            method,
            sample.name,
            result.usage.seconds if isinstance(result, Result) else 0.0,
        )
        is_lost = bool(failed and fails[place])
        if not (math.isnan(score) or is_lost):
            _add_properties(test, {"score": f"{score:.12g}"})
            if score < threshold and failed & {"mean", "pass_rate", "change"}:
                _outcome(
                    test,
                    "failure",
                    "below_threshold",
                    [sample.verdict, *sample.claim_lines(_CLAIMS)],
                )
        else:
            why = table.reason(sample.name, method)
            tag = "skipped"
            if is_lost:
                tag = "error"
            elif "coverage" in failed and not is_silent[place]:
                tag = "failure"
            _outcome(test, tag, why.partition(":")[0], [why])
        yield test


def _suite(
    name: str,
    tests: Iterable[ET.Element],
    properties: Mapping[str, str],
) -> ET.Element:
    suite = ET.Element("testsuite", name=_text(name))
    _add_properties(suite, properties)
    suite.extend(tests)
    _count(suite, {**_COUNTS, "skipped": "skipped"})
    return suite


def _add_properties(element: ET.Element, values: Mapping[str, str]) -> None:
    properties = ET.SubElement(element, "properties")
    for name, value in values.items():
        ET.SubElement(properties, "property", name=_text(name), value=_text(value))


def _count(element: ET.Element, counts: Mapping[str, str]) -> None:
    """Set the number of elements of each tag in an element, and the seconds of its tests."""
    for attribute, tag in counts.items():
        element.set(attribute, str(len([*element.iter(tag)])))
    seconds = (float(test.get("time", "0")) for test in element.iter("testcase"))
    element.set("time", f"{sum(seconds):.3f}")


def _test(
    suite: str,
    name: str,
    seconds: float,
) -> ET.Element:
    return ET.Element(
        "testcase",
        classname=_text(suite),
        name=_text(name) or "(empty)",
        time=f"{seconds:.3f}",
    )


def _outcome(
    test: ET.Element,
    tag: str,
    kind: str,
    lines: Sequence[str],
) -> None:
    texts = [_text(line) for line in lines]
    ET.SubElement(
        test,
        tag,
        type=_text(kind),
        message=texts[0],
    ).text = "\n".join(texts)


def _text(text: str) -> str:
    """Reduce a text to one line of characters that XML 1.0 allows."""
    return shortened(
        _NONE.sub(
            lambda code: f"\\u{ord(code[0]):04x}",
            visible(text),
        ),
        _LONGEST,
    )
