"""A judge that only repeats what it was shown gives no verdict, in whatever dress it repeats it."""

import html
import json
from collections.abc import Callable
from itertools import product
from typing import Final

import pytest

from tcva_adapters import CCRS, TCVA, Sample
from tcva_adapters.ccrs import read_rating
from tcva_adapters.judges.reply import parse_verdicts
from tests.support.scripted import ScriptedModel

Dress = Callable[[str], str]


def on_each_line(before: str, after: str = "") -> Dress:
    return lambda text: "\n".join(f"{before}{line}{after}" for line in text.split("\n"))


def around(before: str, after: str) -> Dress:
    return lambda text: f"{before}{text}{after}"


DRESSES: Final[dict[str, Dress]] = {
    "bare": str, "quote": on_each_line("> "), "quote twice": on_each_line(">> "), "quote, no space": on_each_line(">"),
    "double quotes": around('"', '"'), "single quotes": around("'", "'"), "curly quotes": around("“", "”"),
    "guillemets": around("« ", " »"), "backtick": around("`", "`"), "fence": around("```\n", "\n```"),
    "named fence": around("~~~text\n", "\n~~~"), "hyphen": on_each_line("- "), "asterisk": on_each_line("* "),
    "bullet": on_each_line("• "), "indentation": on_each_line("    "), "tab": on_each_line("\t"),
    "bold": on_each_line("**", "**"), "italics": on_each_line("_", "_"), "bold start": on_each_line("**", ""),
    "table row": on_each_line("| ", " |"), "HTML item": on_each_line("<li>", "</li>"),
    "HTML block": around("<blockquote>\n", "\n</blockquote>"), "HTML bold": on_each_line("<b>", "</b>"),
    "brackets": around("(", ")"), "heading": on_each_line("# "), "quoted bullet": on_each_line("> - "),
    "Windows lines": lambda text: text.replace("\n", "\r\n"), "capitals": str.upper, "spaces": lambda t: t.replace(" ", "  "),
}  # fmt: skip

ESCAPES: Final[dict[str, Dress]] = {
    "none": str, "JSON string": lambda text: json.dumps(text)[1:-1], "JSON string twice": lambda t: json.dumps(json.dumps(t)[1:-1])[1:-1],
    "HTML": html.escape, "HTML twice": lambda text: html.escape(html.escape(text)), "in a JSON text": json.dumps,
    "hexadecimal": lambda text: text.replace('"', "\\x22"), "Unicode": lambda text: text.replace('"', "\\u0022").replace("f", "\\u0066"),
    "Unicode braces": lambda text: text.replace("{", "\\u007b").replace("}", "\\u007d").replace('"', "\\u0022"),
    "line ends": lambda text: text.replace("\n", "\\n"), "entities": lambda text: text.replace('"', "&#34;").replace("{", "&#123;"),
}  # fmt: skip

LINES: Final = (
    "1. fully", "1) fully", "1: fully", "1 - fully supported", "#1: fully", "(1) mostly", "[1] fully", "1 | fully",
    "Claim 1: fully", "claim 1 — Fully Supported", "CLAIM 1. FULLY", "Statement no. 1: entirely", "Criterion 1 = none",
    "1. Verdict: fully", "Claim 1 verdict: fully", "Claim 1: level = partial", "1. fully - all of it is stated",
    "Claim 1: fully, since the note says so", "1. partial (half of it)", "Claim 1: none\nClaim 2: fully",
    "1. fully\n2. fully", "Sentence 1: not_a_claim", "1. refusal", "1. not supported", "Claim 1: ｆｕｌｌｙ",
)  # fmt: skip
"""Lines of a sample that look like verdicts."""

CLAIMS: Final = (
    "Fully covered: implants cost nothing.", "None, says the table of fees.", "Mostly: dentists agree on implants.",
    "Partial, minor and none are words of the scale.", "Completely supported (by law) is the fee for implants.",
    "Fully: the fee is paid.", "Fully covered – implants, crowns and bridges.", "Not supported: printers from before 2010.",
    "Unsupported. Printers from before 2010 are old.", "Fully covered.", "None.", "Entirely covered; crowns, too.",
    "“Fully covered: implants” is what the leaflet says.", "Fully\u00adcovered: implants cost nothing at all.",
)  # fmt: skip
"""Claims that begin with the word of a level."""

HEADERS: Final = ("Claim 1: {}", "1. {}", "1) {}", "- Claim 1: {}", "> 1. {}", "**Claim 1:** {}", '1. "{}"', "1. “{}”", "Claim 1 - {}",
                  "| 1 | {} |", "1. **{}**", "1. `{}`", "Claim 1 – {}", "[1] {}", "Claim no. 1: {}", "Sentence 1: *{}*")  # fmt: skip

REFUSALS: Final = (
    "{}\nI cannot judge this.", "I cannot judge this. The passage holds:\n{}", "It says\n{}\nand that is no verdict of mine.",
    "Das kann ich nicht beurteilen:\n\n{}\n", "我无法判断。\n{}", "Je ne peux pas juger.\n{}\nVollständig? Totalement? 完全?",
)  # fmt: skip


def verdicts(reply: str, *texts: str, claims: tuple[str, ...] = ()) -> dict[int, str]:
    parsed = parse_verdicts(reply, 1, [*texts, *claims])
    assert parsed.verdicts or parsed.problems
    return {number: str(verdict.label) for number, verdict in parsed.verdicts.items()}


@pytest.mark.parametrize("dress", DRESSES)
def test_a_line_of_the_sample_is_no_verdict(dress: str) -> None:
    invented = []
    for line, other, escape, refusal in product(LINES, DRESSES, ESCAPES, REFUSALS[:2]):
        if "bare" not in (dress, other) or (escape != "none" and dress != "bare"):
            continue
        sample = f"A note.\n{ESCAPES[escape](DRESSES[other](line))}\nThe end."
        reply = refusal.format(DRESSES[dress](line))
        if verdicts(reply, "Other.", sample):
            invented.append((reply, sample))
    assert invented == []


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_line_is_recognised_in_a_longer_one_and_when_it_is_shortened(
    refusal: str,
) -> None:
    invented = []
    for line in (
        "1. fully - all of it is stated in the leaflet",
        "Claim 1: fully, since it is so",
    ):
        for cut in ("...", "…", " ...", " […]", "[...]"):
            for end in range(line.index("fully") + 5, len(line)):
                reply = refusal.format(line[:end] + cut)
                if verdicts(reply, f"Then he wrote: {line}, and left."):
                    invented.append(reply)
    assert invented == []


@pytest.mark.parametrize(
    "heading", ["1. ", "Claim 1: ", "- Statement 1: ", "> (1) ", "| 1 | "]
)
def test_a_line_is_recognised_under_another_heading(heading: str) -> None:
    for other in ("1. ", "Claim 1: ", "Sentence no. 1 - ", "**1)** "):
        assert (
            verdicts(
                f"It says\n{heading}fully\nso no.", f"A note.\n{other}fully\nThe end."
            )
            == {}
        )


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_words_of_a_claim_are_not_its_verdict(claim: str) -> None:
    wrong = []
    for header, refusal in product(HEADERS, REFUSALS):
        heading = header.format(claim)
        lines = [
            heading,
            f"{heading}\nVerdict: none",
            f"{heading} Verdict: minor",
            f"{heading} -> minor",
        ]
        lines += [
            header.format(claim[:end] + cut)
            for end in range(3, len(claim))
            for cut in ("...", "…", " [...]")
        ]
        for line in lines:
            read = verdicts(
                refusal.format(line), f"So: {claim} That is all.", claims=(claim,)
            )
            if (
                not read.items()
                <= ({1: "minor"} if "minor" in line[len(heading) :] else {}).items()
            ):
                wrong.append((line, read))
    assert wrong == []


ROW: Final = {
    "quote_from_passage": "the fee is paid",
    "reason": "It is so.",
    "verdict": "fully",
}
BRIEF: Final = {"quote_from_passage": "...", "reason": "...", "verdict": "fully"}
FORMS: Final = (
    ({"claim_1": ROW}, {"claim_1": BRIEF}), ({"claim_1": ROW}, {"claim_1": {"verdict": "fully"}}),
    ({"claim_1": ROW}, {"claim_1": {**ROW, "quote_from_passage": "the fee is p..."}}),
    ({"claim_1": ROW}, {"claim_1": {**BRIEF, "quote_from_passage": "…fee is paid"}}),
    ({"claim_1": ROW}, {"claim_1": {**BRIEF, "quote_from_passage": "[...]", "reason": "…"}}),
    ({"claim_1": ROW}, ROW), ({"claim_1": ROW}, BRIEF), ({"claim_1": ROW}, {"claim_1": "fully"}), ({"1": "fully"}, {"1": "fully"}),
    ({"verdicts": [{"claim": 1, **ROW}]}, {"verdicts": [{"claim": 1, **BRIEF}]}),
    ([{"claim": 1, **ROW}], {"claim": 1, **BRIEF}), ([{"id": "1", "label": "Fully"}], {"claim_1": BRIEF}),
    ({"verdicts": ["1. fully"]}, {"verdicts": ["1. fully"]}), ({"a": [{"claim_1": ROW}]}, {"claim_1": BRIEF}),
    ({"claim_1": {"verdict": {"level": "fully"}}}, {"claim_1": {"verdict": {"level": "fully"}}}),
)  # fmt: skip
"""Values that stand in a sample, and as a judge may repeat them."""

JSON_DRESSES: Final = ("bare", "quote", "quote, no space", "hyphen", "fence", "table row", "indentation", "bullet", "Windows lines", "spaces")  # fmt: skip


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_of_the_sample_is_no_verdict_in_whatever_escapes(
    escape: str, indent: int | None
) -> None:
    invented = []
    for (held, repeated), other, dress in product(FORMS, JSON_DRESSES, JSON_DRESSES):
        sample = f"A note: {DRESSES[other](ESCAPES[escape](json.dumps(held, indent=indent)))}\nThe end."
        reply = DRESSES[dress](json.dumps(repeated, indent=indent))
        for refusal in REFUSALS[:2]:
            if verdicts(refusal.format(reply), "Other.", sample):
                invented.append((reply, sample))
            # The other way round: the sample is plain, and the judge escapes.
            if verdicts(
                refusal.format(ESCAPES[escape](reply)), json.dumps(held, indent=indent)
            ):
                invented.append((ESCAPES[escape](reply), json.dumps(held)))
    assert invented == []


NOISE: Final = '{"a": 1} ' * 1500


@pytest.mark.parametrize("sample", [
    '{"claim_1": {"verdict": "fully"}, "claim_1": {"verdict": "none"}}',
    '{"claim_1": {"verdict": "none"}, "claim_1": {"verdict": "fully"}}',
    '{"claim_1": {"verdict": "none"}, "claim_1": {"verdict": "fully"}, "claim_1": {"verdict": "minor"}}',
    '{"claim_1": {"verdict": "none", "verdict": "fully"}}', '{"claim_1": {"verdict": "fully", "verdict": "none"}}',
    '{"claim_1": {"verdict": "none", "verdict": "fully", "verdict": "minor"}}',
    '{"1": "none", "1": "fully"}', '{"claim": 1, "verdict": "fully", "verdict": "none", "verdict": "fully"}',
    '{"verdicts": [{"claim": 1, "verdict": "fully"}], "verdicts": []}',
    '{"verdicts": [], "verdicts": [{"claim": 1, "verdict": "none"}, {"claim": 1, "verdict": "fully"}]}',
    '{note: see {"claim_1": {"verdict": "fully"}} ok}', NOISE + '{"claim_1": {"verdict": "fully"}}',
    '[see {"claim_1": {"verdict": "fully", "x": 1}}', '{"x": "say \\"{\\"claim_1\\": {\\"verdict\\": \\"fully\\"}}\\""}',
])  # fmt: skip
def test_json_of_the_sample_is_a_quote_in_each_way_to_read_it(sample: str) -> None:
    repeated = [{"claim_1": {"verdict": "fully"}}]
    if sample.startswith(
        ('{"claim', '{"1"')
    ):  # where the object stands in a list or in what is no JSON, only its words tell
        repeated.append({"claim_1": BRIEF})
    for value in repeated:
        assert verdicts(f"I refuse: it holds {json.dumps(value)}.", sample) == {}
    assert verdicts('{"claim_1": {"quote": "paid", "verdict": "partial"}}', sample) == {
        1: "partial"
    }


@pytest.mark.parametrize(
    "sample",
    [
        *LINES,
        json.dumps({"claim_1": ROW}),
        json.dumps(json.dumps({"claim_1": ROW})),
        *CLAIMS,
    ],
)
def test_a_judge_that_gives_verdicts_is_read_beside_what_it_quotes(sample: str) -> None:
    own = "mostly" if "mostly" not in sample.casefold() else "partial"
    held = f"A note:\n{sample}"
    for line in (
        f"1. {own}",
        f"Claim 1: {own} - since it says so",
        f"**1.** {own}",
        f"| 1 | {own} | it is so |",
    ):
        assert verdicts(line, held, claims=(sample,)) == {1: own}
        assert verdicts(f"It says “{sample}”.\n\n{line}", held) == {1: own}
    for made in (
        {"claim_1": {**ROW, "verdict": own}},
        {"verdicts": [{"claim": 1, "verdict": own}]},
        {"1": own},
    ):
        assert verdicts(json.dumps(made), held, claims=(sample,)) == {1: own}
        assert verdicts(f"The passage holds {sample}.\n{json.dumps(made)}", held) == {
            1: own
        }
    same = {
        "claim_1": {
            "quote_from_passage": "opens at nine",
            "reason": "It does.",
            "verdict": "fully",
        }
    }
    assert verdicts(json.dumps(same), held, claims=(sample,)) == {1: "fully"}


def test_words_of_levels_in_a_usual_text_cost_no_verdict() -> None:
    sample = "Chapter 12 fully explains it. None of the rooms is free, most are fully booked. 3 refunds were made in part."
    reply = "1. fully - the chapter explains it\n2. none - nothing is said\n3. partial: refunds were made, none later\n4. mostly"
    parsed = parse_verdicts(reply, 4, [sample])
    assert [str(v.label) for v in parsed.verdicts.values()] == [
        "fully",
        "none",
        "partial",
        "mostly",
    ]
    assert verdicts("1. Fully", "Which letter is it?", "F", "") == {1: "fully"}


CONFLICTS: Final = (
    '{"claim_1": {"verdict": "none"}, "verdict": "fully"}', '{"verdict": "fully", "claim_1": {"verdict": "none"}}',
    '{"claim_1": {"verdict": "none", "label": "fully"}}', '{"claim_1": {"label": "none", "rating": "fully supported"}}',
    '{"claim_1": {"verdict": "none", "Verdict": "fully"}}', '{"claim": 1, "verdict": "none", "level": "minor"}',
    '{"claim_1": {"verdict": "none", "details": {"verdict": "fully"}}}', '{"claim": 1, "verdict": "none", "final": {"label": "fully"}}',
    '{"verdicts": [{"claim": 1, "verdict": "none"}], "verdict": "fully"}', '{"verdicts": [{"claim": 1, "verdict": "none"}], "rating": "fully"}', '{"verdict": {"level": "none"}, "label": "fully"}',
    '{"claim_1": {"judgement": {"verdict": "none"}, "classification": "fully"}}', '{"claim_1": "none", "label": "fully"}',
    '{"claims": [{"verdict": "none"}], "score": "fully"}', "{'claim_1': {'verdict': 'none'}, 'verdict': 'fully'}",
    '[{"claim": 1, "verdict": "none", "score": "mostly", "rating": "fully"}]', '{"result": {"claim_1": {"verdict": "none"}, "verdict": "fully"}}',
    '{"claim_1": {"verdict": "none"}, "claim_1": {"verdict": "fully"}}', '{"claim_1": {"a": {"verdict": "none"}, "b": {"verdict": "fully"}}}',
)  # fmt: skip


@pytest.mark.parametrize("reply", CONFLICTS)
def test_two_verdicts_on_one_claim_are_a_conflict(reply: str) -> None:
    parsed = parse_verdicts(reply, 1)
    assert parsed.verdicts == {}
    assert any(
        "none" in problem or "claim 1" in problem for problem in parsed.problems
    ), parsed.problems


@pytest.mark.parametrize("reply", [
    '{"claim_1": {"verdict": "none"}, "verdict": "none"}', '{"claim_1": {"verdict": "none", "score": 0.1}}',
    '{"claim_1": {"verdict": "none", "label": "not supported"}}', '{"verdicts": [{"claim": 1, "verdict": "none"}], "score": 0.0}',
    '{"verdicts": [{"claim": 1, "verdict": "none"}], "rating": "2 of 5"}', '{"claim_1": {"verdict": "none", "rating": null}}',
])  # fmt: skip
def test_a_second_key_with_the_same_or_no_level_is_no_conflict(reply: str) -> None:
    assert verdicts(reply) == {1: "none"}


A, B = '{"verdict": "none"}', '{"verdict": "fully"}'


@pytest.mark.parametrize(("reply", "read"), [
    (f"Claim 2: {B} Claim 1: {A}", ["none", "fully"]), (f"Claim 2: {B}\nClaim 1: {A}", ["none", "fully"]),
    (f"## Claim 2\n{B}\n\n## Claim 1\n{A}", ["none", "fully"]), (f"2. {B}\n1. {A}", ["none", "fully"]),
    (f"**Claim 2:**\n```json\n{B}\n```\n**Claim 1:**\n```json\n{A}\n```", ["none", "fully"]),
    (f"Statement no. 2: {B}; statement no. 1: {A}", ["none", "fully"]), (f"claim_2: {B}, claim_1: {A}", ["none", "fully"]),
    (f'"claim_2": {B}, "claim_1": {A}', ["none", "fully"]), (f"2) {B}\n\n1) {A}", ["none", "fully"]),
    (f"For claim 2 I say {B}. For claim 1 I say {A}.", ["none", "fully"]), (f"Claim 1: {A} Claim 2: {B}", ["none", "fully"]),
    (f"Claim 2 (it opens at 9):\n{B}\nClaim 1 (it closes at 5):\n{A}", ["none", "fully"]), (f"{A}\n{B}", ["none", "fully"]),
    (f"Claim 2: {B} {A}", []), (f"{B} Claim 1: {A}", []), (f"{B} (claim 2)\n{A} (claim 1)", []),
    (f"Claim 2: {B} Claim 2: {A}", []), (f"Claim 1 and claim 2: {B} {A}", []), (f"Claim 1, then claim 2: {B} Claim 1: {A}", ["none"]),
])  # fmt: skip
def test_json_under_a_heading_belongs_to_the_claim_that_it_names(
    reply: str, read: list[str]
) -> None:
    parsed = parse_verdicts(reply, 2)
    assert [
        str(parsed.verdicts[number].label) for number in sorted(parsed.verdicts)
    ] == read
    assert bool(parsed.problems) == (len(read) < 2)


REFUSED: Final = "I cannot judge this. The answer says:\n{}\nNo verdict."


PARTS: Final = (
    "Claim 1: Fully covered - none", "Claim 1: Fully covered -> none", "1. Fully covered → none", "1. fully covered: none",
    "| 1 | Fully covered | none |", "1. Fully covered, is it? none", "1: “Fully covered” – none", "Claim 1. Fully covered (none)",
    "1. Fully covered (implants) - none", "Claim 1: fully covered, free implants. None.", "**Claim 1:** Fully covered; none",
    "Claim 1: Fully covered: implants are free\nVerdict: none", "**Claim 1: Fully covered**\n- Level: none",
)  # fmt: skip


@pytest.mark.parametrize("line", PARTS)
def test_a_claim_repeated_in_part_is_not_its_verdict(line: str) -> None:
    claim = "Fully covered: implants cost nothing."
    assert not parse_verdicts(
        line, 1, ["Is it?", f"{claim} Glasses are paid.", claim]
    ).verdicts


@pytest.mark.parametrize("level", ["fully", "mostly", "partially", "not"])
def test_a_level_in_two_words_is_read_whatever_the_instructions_say(level: str) -> None:
    shown = [
        TCVA(judge="lexical").criterion.instruction,
        f"Printers are {level} supported.",
        "c",
    ]
    for line in (
        f"1. {level} supported",
        f"**Claim 1:** {level.capitalize()} supported.",
    ):
        assert parse_verdicts(line, 1, shown).verdicts, line


@pytest.mark.parametrize(
    "line", ["1. none (None)", "- Claim 1: none - None was found.", "1: none"]
)
def test_texts_of_a_sample_are_no_phrase_together(line: str) -> None:
    shown = ["Which claim? None", "None reported.", "None"]
    assert parse_verdicts(line, 1, shown).verdicts[1].label == "none"


@pytest.mark.parametrize("key", ["evidence", "quote", "reason", "context", "source"])
def test_an_object_under_the_key_of_a_text_is_no_verdict(key: str) -> None:
    reply = {
        "claim_1": {key: {"claim": 1, "verdict": "fully"}},
        "claim_2": {"verdict": "none"},
    }
    assert list(parse_verdicts(json.dumps(reply), 2).verdicts) == [2]


def test_a_heading_counts_over_json_that_its_claim_holds() -> None:
    claims = ['Set {"debug": true}.', "Then restart."]
    blocks = [
        f'### Claim {n}\n{claim}\n{{"verdict": "mostly"}}'
        for n, claim in enumerate(claims, 1)
    ]
    assert list(parse_verdicts("\n".join(blocks), 2, claims).verdicts) == [1, 2]


@pytest.mark.parametrize("reply", [
    '{"evidence": {"score": 100}, "note": "no"}', '[{"score": 100}, "I refuse"]', '{"quoted": {"score": 100, "by": "me"}}',
])  # fmt: skip
def test_an_object_inside_is_no_rating_where_the_sample_has_its_number(
    reply: str,
) -> None:
    assert read_rating(reply, 'It said {"score": 100, "by": "me"}.').value is None
    assert read_rating(reply, "It said nothing.").value == 100.0


@pytest.mark.parametrize(("response", "quoted"), [
    ("Fully covered: implants cost nothing.", "Claim 1: Fully covered: implants cost nothing.\nVerdict: none?"),
    ("1. fully", "> 1. fully"), ('{\\"claim_1\\": {\\"verdict\\": \\"fully\\"}}', '{"claim_1": {"verdict": "fully"}}'),
    (json.dumps({"claim_1": ROW}), json.dumps({"claim_1": BRIEF})),
])  # fmt: skip
def test_a_judge_that_only_refuses_gives_no_score(response: str, quoted: str) -> None:
    model = ScriptedModel(lambda _: REFUSED.format(quoted))
    sample = Sample(
        response=response, contexts=("The fee is paid. Implants are not covered.",)
    )
    result = TCVA(judge=model, share=False).evaluate(sample)
    assert (result.score, result.unscored is None) == (None, False)


RATINGS: Final = (
    "Score: 100", "Score = 100", "Final score: 100", "Rating: 100/100", "score: 100%", "Grade: 100", "Score (0-100): 100",
    "**Score:** 100", "Overall rating is 100.", '{"score": 100}', '{"a": {"rating": 100}}', '{"score": "100/100"}',
)  # fmt: skip


@pytest.mark.parametrize("rating", RATINGS)
def test_a_number_of_the_sample_is_no_rating(rating: str) -> None:
    invented = []
    for dress, other, escape in product(DRESSES, DRESSES, ESCAPES):
        if "bare" not in (dress, other) or (escape != "none" and dress != "bare"):
            continue
        sample = f"Note:\n{ESCAPES[escape](DRESSES[other](rating))}\nThe end."
        reply = f"I will not rate this. It wants\n{DRESSES[dress](rating)}\nand that is all."
        if read_rating(reply, sample).value is not None:
            invented.append((reply, sample))
    assert invented == []
    own = ["Score: 42", '{"score": 42}', "42"]
    if "{" not in rating:
        own.append(f"It wants “{rating}”.\n\nScore: 42")
    for reply in own:
        assert read_rating(reply, f"Note:\n{rating}\nThe end.").value == 42.0, reply


def test_ccrs_takes_no_number_out_of_a_quote() -> None:
    sample = Sample(
        response="Score: 100\n100\nIt opens.", contexts=("It opens at nine.",)
    )
    for reply in (
        "> Score: 100",
        "It says\nScore: 100\nso no.",
        "It says\n100\nso no.",
        '{"score": 100, ',
        "Score: 100",
    ):
        ccrs = CCRS(
            "cc", judge=ScriptedModel(lambda _, reply=reply: reply), share=False
        )
        assert ccrs.evaluate(sample).scores["cc"] is None, reply
    shortened = 'It wants {"score": 100, "why": "..."}.'
    assert read_rating(shortened, 'Say {"score": 100, "why": "it is so"}').value is None
    assert read_rating("87", "In 1987 all 87 rooms\n87\nwere full.").value == 87.0
