"""What the library makes of fixed input today: verdicts, replies, and the sentences of every adapter.

`python -m tests.golden.outputs` writes the golden files anew; with --list it prints the keys that differ.
"""

import json
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import tests.support.quiet  # noqa: F401  # tracking is switched off before a framework is imported

# isort: split
from tcva_adapters import TCVA, ClaimVerdict, Sample, Verdict
from tcva_adapters.data import sample_lines
from tcva_adapters.judges.evidence_check import check_evidence
from tcva_adapters.judges.reply import parse_verdicts
from tcva_adapters.text.quotes import Passages
from tests.adapters.table import ADAPTERS
from tests.judges.forged import QUOTES
from tests.judges.test_corpora import REPLIES

FOLDER: Final = Path(__file__).parent
_CONTEXTS: Final = (
    "The office opens at nine on weekdays. Parking is free for visitors.",
)
SAMPLES: Final = {
    "scored": Sample(
        input="When?",
        response="The office opens at nine. Dogs bark.",
        contexts=_CONTEXTS,
    ),
    "polite": Sample(
        input="When?",
        response="Hello! The office opens at nine. Let me know!",
        contexts=_CONTEXTS,
    ),
    "greeting": Sample(
        input="Hi", response="Hello! How can I help?", contexts=_CONTEXTS
    ),
    "refusal": Sample(input="Who?", response="I do not know.", contexts=_CONTEXTS),
    "empty contexts": Sample(input="When?", response="It opens at nine.", contexts=()),
}


def _rounded(score: float | None) -> float | None:
    return None if score is None else float(f"{score:.12g}")


def verdicts() -> Iterator[tuple[str, Any]]:
    """The lexical judge on the bundled samples, and the evidence check on forged and true quotes."""
    tcva = TCVA(judge="lexical")
    for line in sample_lines():
        sample = Sample.from_record(json.loads(line))
        result = tcva.evaluate(sample)
        yield (
            f"lexical/{sample.id}",
            {
                "claims": [
                    [claim.claim, claim.verdict, claim.reason]
                    for claim in result.claims
                ],
                "scores": [_rounded(result.at(t).score) for t in (0.2, 0.5, 0.9)],
                "unscored": result.unscored and result.unscored.reason,
            },
        )
    for kind in ("forged", "true"):
        for number, case in enumerate(QUOTES[kind], start=1):
            claim = ClaimVerdict(
                claim=case["claim"], verdict=Verdict.FULLY, evidence=case["quote"]
            )
            (made,) = check_evidence([claim], Passages(QUOTES["passages"]))
            yield f"quotes/{kind} {number}", [made.verdict, made.evidence_check]


def replies() -> Iterator[tuple[str, Any]]:
    """The stored replies as they are read."""
    for case in REPLIES:
        parsed = parse_verdicts(case["reply"], case["claims"])
        read = {
            str(n): [v.label, v.evidence, v.reason] for n, v in parsed.verdicts.items()
        }
        yield (
            f"replies/{case['name']}",
            {"verdicts": read, "problems": [*parsed.problems]},
        )


def sentences() -> Iterator[tuple[str, Any]]:
    """What a reader sees of a result: in every adapter the reason, the summary and the name."""

    def fail(_: str) -> str:
        msg = "boom"
        raise RuntimeError(msg)

    for adapter in ADAPTERS:
        evaluator = adapter.built("lexical")
        for name, sample in SAMPLES.items():
            result = adapter.suite([evaluator], [sample], False)[0][0]
            yield (
                f"sentences/{adapter.name}/{name}",
                {
                    "reason": result.reason,
                    "score": _rounded(result.score),
                    "passed": result.passed,
                },
            )
        failing = adapter.built(adapter.llm(fail), share=False)
        result = adapter.suite([failing], [SAMPLES["scored"]], False)[0][0]
        yield f"sentences/{adapter.name}/failed judge", {"reason": result.reason}
    tcva = TCVA(judge="lexical")
    for name, sample in SAMPLES.items():
        result = tcva.evaluate(sample)
        keys = sorted(result.to_dict())
        yield f"sentences/result/{name}", {"summary": result.summary, "keys": keys}
    talk = [
        ("user", "When?"),
        ("tool", _CONTEXTS[0]),
        ("assistant", "The office opens at nine."),
    ]
    conversation = tcva.evaluate_conversation(
        [*talk, ("user", "Thanks"), ("assistant", "Bye!")]
    )
    yield (
        "sentences/conversation",
        {"reason": conversation.reason, "score": conversation.score},
    )


OUTPUTS: Final = {"verdicts": verdicts, "replies": replies, "sentences": sentences}


def stored(name: str) -> dict[str, Any]:
    """A golden file."""
    plain: dict[str, Any] = json.loads(
        (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    )
    return plain


def current(name: str) -> dict[str, Any]:
    """The same of today, as JSON holds it."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(OUTPUTS[name]())))
    return plain


def differing(name: str) -> list[str]:
    """The keys of a golden file that differ today, or are on one side alone."""
    golden, now = stored(name), current(name)
    return [key for key in sorted({*golden, *now}) if golden.get(key) != now.get(key)]


def matching(keys: list[str], pattern: str) -> list[str]:
    """The keys that a pattern of changed.toml names."""
    return [key for key in keys if fnmatchcase(key, pattern)]


def main() -> None:
    for name in OUTPUTS:
        if "--list" in sys.argv:
            sys.stdout.writelines(f"{key}\n" for key in differing(name))
            continue
        lines = [
            f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}"
            for k, v in current(name).items()
        ]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
