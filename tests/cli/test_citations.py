"""``tcva evaluate`` on answers that cite: shown where the samples are read again."""

from tests.cli.conftest import Run, write

CONTEXTS = ["We open at nine.", "Entry is free for children."]


def test_citations_are_shown(tcva: Run) -> None:
    write(
        "in.jsonl",
        {"id": "a", "response": "We open at nine [2].", "contexts": CONTEXTS},
        {
            "id": "b",
            "response": "Entry is free for children [2].",
            "contexts": CONTEXTS,
        },
    )
    evaluate = ("evaluate", "in.jsonl", "--judge", "lexical")
    shown = tcva(*evaluate, "--supported", "out.jsonl")
    assert "citation precision" in shown.out
    assert "elsewhere" in shown.out
    tables = tcva(*evaluate, "--all", "--json").json
    [wrong] = tables["tables"]["citations to check"]
    assert (wrong["sample"], wrong["outcome"]) == ("a", "elsewhere")
    assert (wrong["cited"], wrong["found"]) == ([2], [1])
    plain = tcva(*evaluate)
    assert "citation" not in plain.out
    pattern = ("--set", r"citations=\{(\d)\}")
    assert "citation precision" not in tcva(*evaluate, "--all", *pattern).out
