"""``tcva evaluate``: what it reads, writes and prints, its settings, gates and reviews."""

import csv
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters.results.writer import write_results
from tests.cli.conftest import PASSAGE, Run, record, write
from tests.support.results import read_assessments
from tests.support.server import WRONG_KEY, Body, ScriptedServer, auto_judge, error

ZEBRAS = "Zebras invented the telephone in 1850."
EVALUATE = ("evaluate", "in.jsonl", "-j", "lexical")
MODEL = ("evaluate", "in.jsonl", "-j", "openai:m", "--store", "none")


@pytest.fixture(autouse=True)
def _samples(tcva: Run) -> None:  # noqa: ARG001  # in its folder
    write("in.jsonl", record(1), record(2, ZEBRAS), record(3, contexts=[]))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    def script(body: Body, number: int) -> str:
        return (
            auto_judge(body, number)
            if "verdict" in json.dumps(body)
            else '{"score": 80}'
        )

    with ScriptedServer(script, models=("m", "other")) as local:
        monkeypatch.setenv("OPENAI_BASE_URL", local.base_url)
        yield local


def test_figures_file_and_pipe_say_the_same(tcva: Run) -> None:
    found = tcva(*EVALUATE, "-o", "out.jsonl", "--json")
    (row,) = found.json["tables"]["methods"]
    assert (row["mean"], row["scored"], row["samples"]) == (0.501215, 2, 3)
    assert found.json["tables"]["unscored"][0]["reason"] == "empty_context"
    assert "written: out.jsonl: results" in found.err
    results = Path("out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["sample_id"] for line in results] == ["s1", "s2", "s3"]
    piped = tcva(*EVALUATE, "-o", "-")
    assert len(piped.out.splitlines()) == len(results)
    assert "50 % of 2 scored samples pass at T=0.5" in piped.err
    assert "lexical judge" in tcva("evaluate", "in.jsonl").text
    (swept,) = tcva("sweep", "out.jsonl", "-T", "0.5", "--json").json["tables"][
        "temperatures"
    ]
    assert swept["mean"] == 0.501215
    assert "no sample 's9'" in tcva(*EVALUATE, "--show", "s9").text


def test_other_formats_and_field_names_are_read(tcva: Run) -> None:
    row = {
        "user_input": "When?",
        "response": record(1)["answer"],
        "retrieved_contexts": PASSAGE,
    }
    with Path("ragas.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, row)
        rows.writeheader()
        rows.writerow(row | {"retrieved_contexts": str([PASSAGE])})
    Path("list.txt").write_text(json.dumps([record(1), record(2)]), encoding="utf-8")
    write(
        "mine.jsonl",
        {"id": "s1", "text": {"said": row["response"]}, "contexts": [PASSAGE]},
    )
    for source, more, number in (
        ("ragas.csv", (), 1),
        ("list.txt", (), 2),  # by what is in it
        ("mine.jsonl", ("--map", "text.said=response"), 1),
    ):
        (methods,) = tcva("evaluate", source, *more, "--json").json["tables"]["methods"]
        assert (methods["mean"], methods["samples"]) == (1.0, number)


def test_settings_come_from_the_line_a_file_and_the_defaults(tcva: Run) -> None:
    config = {"version": 2, "settings": {"temperature": 0.3, "penalty": "off"}}
    Path("tcva.json").write_text(json.dumps(config), encoding="utf-8")
    profiles = {"version": 2, "profiles": {"domain": {"med": 0.2}}}
    Path("by.json").write_text(json.dumps(profiles), encoding="utf-8")
    cases: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        ((), {"temperature": 0.5, "penalty": "paper", "threshold": 0.5}),
        (("--config", "tcva.json"), {"temperature": 0.3, "penalty": "off"}),
        (
            ("--config", "tcva.json", "-T", "0.5"),
            {"temperature": 0.5, "penalty": "off"},
        ),
        (
            ("-T", "strict", "--threshold", "0.7"),
            {"temperature": 0.2, "threshold": 0.7},
        ),
        (
            ("--set", "on-unscored=0", "--set", "eps=1e-6", "--set", "floor=always"),
            {"eps": 1e-6},
        ),
        (("--set", "scheme=1,.8,.6,.4,0"), {"scheme": {"name": "custom"}}),
        (("--set", "bounds=-4,12"), {"bounds": {"p_min": -4.0, "p_max": 12.0}}),
    ]
    for typed, expected in cases:
        found = tcva(*EVALUATE, *typed, "--json").json["settings"]
        for name, value in expected.items():
            if isinstance(value, dict) and name == "bounds":
                assert found[name] | value == found[name]
            elif name != "scheme":
                assert found[name] == value
    assert tcva(*EVALUATE, "--set", "scheme=linear", "--json").json["settings"][
        "scheme"
    ]["name"]
    write("in.jsonl", record(1, domain="med"), record(2))
    tcva(*EVALUATE, "--config", "by.json", "-o", "out.jsonl")
    lines = Path("out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["scoring"]["temperature"] for line in lines] == [0.2, 0.5]


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["--set", "penalti=off"], "unknown setting 'penalti' of --set; did you mean 'penalty'?"),
    (["--set", "penalty"], "--set must be NAME=VALUE"),
    (["--set", "timeout=3"], "--set timeout needs --judge openai:MODEL"),
    (["-T", "7"], "temperature"), (["--gate", "mean>0.9"], "mean>0.9"),
    (["--gate", "beauty:mean>=0.9"], "gate on 'beauty'"),
    (["--gate", "change>=0"], "needs a baseline"), (["--no-such-option"], "No such option"),
    (["-o", "out.csv"], "name a .jsonl file"),
    (["-o", "in.jsonl"], "--out in.jsonl is also what is read"),
    (["-o", "/proc/nowhere/out.jsonl"], "cannot be written"),
    (["-o", "-", "--json"], "both write to standard output"),
    (["--junit", "x", "--markdown", "x"], "is also --junit"),
    (["--junit", "precious"], "precious exists and was not written"),
    (["--map", "answer"], "--map must be YOURS=FIELD"),
    (["--set", "bounds=1"], "bounds must be two numbers"),
    (["--map", "nope=response"], "'nope'; the fields are"),
    (["--human", "nope"], "nope"),
    (["--ccrs", "cc", "--set", "weights=qr=1"], "no metric 'qr'"),
    (["--ccrs", "cc", "-T", "0.2"], "--temperature is for claims"),
    (["--ccrs", "cc", "--set", "weights=cc=.5"], "sum to 1"),
    (["--ccrs", "cc", "--supported", "s.jsonl"], "criterion that judges these"),
    (["-c", "context_recall", "--supported", "s.jsonl"], "criterion that judges these"),
    (["--set", "claims=llm", "--supported", "s.jsonl"], "criterion that judges these"),
    (["--ray", "local", "-o", "out", "--supported", "s.jsonl"], "--supported does not"),
    (["--ccrs", "zz"], "zz"), (["--ray", "local"], "name it with --out"),
    (["--human-scale", "1,5"], "human_scale=(1, 5) needs human ratings"),
    (["--human", "stars", "--human-scale", "5,1"], "human_scale (--human-scale) must be"),
    (["--human-scale", "5"], "two numbers with a comma"),
    (["--human-scale", "true,5"], "two numbers with a comma"),
    (["--set", "human_scale=1,5"], "did you mean '--human-scale'?"),
    *(
        (["--ray", "local", *option.split()], f"{option.split()[0]} does not work with --ray")
        for option in (
            *("--gate mean>=0.5", "--junit j", "--markdown m", "--show all", "--group id"),
            *("--skip-bad", "--overwrite", "--store none", "--human-scale 1,5"),
        )
    ),
], ids=" ".join)  # fmt: skip
def test_wrong_use_is_one_sentence(
    arguments: list[str], sentence: str, tcva: Run
) -> None:
    Path("precious").write_text("my notes\n", encoding="utf-8")
    before = sorted(path.name for path in Path().iterdir())
    done = tcva(*EVALUATE, *arguments, code=2)
    assert sentence in done.text
    assert "Traceback" not in done.text
    assert sorted(path.name for path in Path().iterdir()) == before
    assert Path("precious").read_text(encoding="utf-8") == "my notes\n"


@pytest.mark.parametrize(("line", "sentence"), [
    ('{"question": "When?"}', "a sample has no response and no contexts"),
    ('{"answer": ', "not JSON"),
    ('{"id": "x", "other": 1}', "no known field among 'id', 'other'"),
    ('{"answer": null, "contexts": ["One."]}', "a sample has no response, which"),
    ('{"answer": "1.", "contexts": null, "n": 1}', "a sample has no contexts, which"),
    ('{"answer": 1}', "field 'answer' must be a string, got int"),
    ("""{"answer": "1.", "contexts": "['a' ... 'b']"}""", "field 'contexts' looks like a printed list"),
])  # fmt: skip
def test_a_bad_line_is_named_and_may_be_skipped(
    line: str, sentence: str, tcva: Run
) -> None:
    with Path("in.jsonl").open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    refused = tcva(*EVALUATE, code=2).text.strip()
    assert f"in.jsonl, line 4: {sentence}" in refused
    assert refused.endswith("; --skip-bad leaves such rows out")
    done = tcva(*EVALUATE, "--skip-bad", "--json")
    assert f"skipped line 4: {sentence}" in " ".join(done.err.split())
    (row,) = done.json["tables"]["methods"]
    assert (row["samples"], row["coverage"]) == (4, 0.5)  # what was handed in counts
    assert tcva(*EVALUATE, "--skip-bad", "--gate", "mean>=0", code=1).text.count(
        "unreadable"
    )


@pytest.mark.parametrize(("gates", "code", "sentence"), [
    (["mean>=0.4"], 1, "1 of 3 samples cannot pass:"),  # it has no contexts
    (["mean>=0.9"], 1, "gate failed: faithfulness: mean 0.501 < 0.9"),
    (["faithfulness:pass_rate>=0.4", "coverage>=0.6"], 0, "coverage 0.667 >= 0.6"),
    (["coverage>=0.9"], 1, "gate failed: faithfulness: coverage"),
    (["mean>=0.4@95%"], 1, "with 95 % confidence"),
    (["mean>=0.4", "mean>=0.4@95%"], 1, "gate passed: faithfulness: mean 0.501 >= 0.4"),
])  # fmt: skip
def test_gates(gates: list[str], code: int, sentence: str, tcva: Run) -> None:
    asked = [part for gate in gates for part in ("--gate", gate)]
    done = tcva(*EVALUATE, *asked, "--json", code=code)
    assert sentence in done.text
    records = done.json["tables"]["gates"]
    assert all(each["passed"] for each in records) is (code == 0)
    if gates == ["mean>=0.4"]:
        left_out = tcva(*EVALUATE, *asked, "--set", "uncontexted=skip", "--json")
        assert len(left_out.json["tables"]["gates"]) == 1


def test_a_gate_counts_failed_calls(server: ScriptedServer, tcva: Run) -> None:
    server.script = lambda body, n: (
        "?" if "Zebras" in str(body) else auto_judge(body, n)
    )
    write("before.jsonl")
    assert "failed" in tcva(*MODEL, "--gate", "mean>=0", code=1).text
    tcva(*MODEL, "--gate", "mean>=0", "--gate", "coverage>=0.3")
    tcva(*EVALUATE, "-o", "base.jsonl")
    done = tcva(*MODEL, "--baseline", "base.jsonl", "--gate", "change>=-1", code=1)
    assert "the judge, the metric or the reading failed" in done.text


@pytest.mark.parametrize(
    "script", [lambda *_: WRONG_KEY, lambda *_: "?"], ids=["key", "reply"]
)
def test_nothing_judged_is_no_gate(
    script: Any, server: ScriptedServer, tcva: Run
) -> None:
    server.script = script
    done = tcva(
        *MODEL, "--gate", "mean>=0", "--junit", "j.xml", "-o", "out.jsonl", code=2
    )
    assert "None of 3 samples has a score" in done.text
    assert (
        int(ET.parse("j.xml").getroot()[0].get("errors", "0")) >= 1
    )  # the file says it, too


def test_one_run_writes_all_reviews(tcva: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("summary.md").write_text("# Build\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    asked = ["--gate", "mean>=0.9", "--junit", "j.xml", "--report", "page.html"]
    done = tcva(*EVALUATE, *asked, "--markdown", "summary.md", code=1)
    assert "::error title=TCVA gate failed::faithfulness: mean 0.501 < 0.9" in done.err
    assert (
        "::error title=TCVA faithfulness%3A s2::0.002 < 0.5%0Anone: Zebras" in done.err
    )
    assert "::" not in done.out
    assert (
        Path("summary.md")
        .read_text(encoding="utf-8")
        .startswith("# Build\n**Gates failed**")
    )
    cases = ET.parse("j.xml").getroot().findall("testsuite/testcase")
    assert {"s1", "s2", "s3"} <= {case.get("name") for case in cases}
    assert ZEBRAS in Path("page.html").read_text(encoding="utf-8")
    monkeypatch.delenv("GITHUB_ACTIONS")
    done = tcva(*EVALUATE, "--gate", "mean>=0.9", "--markdown", "-", code=1)
    assert "::error" not in done.err
    assert done.out.startswith("**Gates failed**")


def test_a_baseline_says_what_changed(tcva: Run) -> None:
    tcva(*EVALUATE, "-o", "before.jsonl")
    write("in.jsonl", record(1, ZEBRAS), record(2), record(4))
    done = tcva(*EVALUATE, "--baseline", "before.jsonl", "--json", "--markdown", "c.md")
    (row,) = done.json["tables"]["changes"]
    assert (row["newly_fail"], row["newly_pass"], row["samples"]) == (1, 1, 2)
    assert [each["sample"] for each in done.json["tables"]["newly fail"]] == ["s1"]
    assert "s1" in Path("c.md").read_text(encoding="utf-8")
    relevancy = (*EVALUATE, "-c", "answer_relevancy", "--baseline", "before.jsonl")
    assert "baseline" in tcva(*relevancy, code=2).text


@pytest.mark.parametrize(("options", "sentence"), [
    (["--human", "nope"], "no sample has 'nope' in its metadata"),
    (["--human", "labels.jsonl"], "none of its 1 labels"),
    (["--human", "stars"], "--human-scale 1,5"),
    (["--group", "nope"], "has no 'nope'"),
    (["--baseline", "other.jsonl"], "the baseline has no sample"),
], ids=" ".join)  # fmt: skip
def test_what_no_sample_has_is_refused_without_a_call(
    options: list[str],
    sentence: str,
    server: ScriptedServer,
    tcva: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write("labels.jsonl", {"id": "x", "human": 1})
    write("others.jsonl", record(99))
    tcva("evaluate", "others.jsonl", "-j", "lexical", "-o", "other.jsonl")
    write("in.jsonl", *(record(n, stars=n % 5 + 1) for n in range(30)))
    assert sentence in tcva(*MODEL, *options, code=2).text
    with Path("in.jsonl").open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert sentence in tcva("evaluate", "-", *MODEL[2:], *options, code=2).text
    assert server.count == 0


def test_errors_against_ratings_off_the_scale_are_refused_without_a_call(
    server: ScriptedServer, tcva: Run
) -> None:
    write("in.jsonl", *(record(n, stars=n % 5 + 1) for n in range(30)))
    arguments = ("--with", "none", "--human", "stars", "--set", "objective=mae")
    done = tcva("compare", *MODEL[1:], *arguments, code=2)
    assert "human ratings must be between 0 and 1" in done.text
    assert server.count == 0


def test_supported_answers_are_written_with_their_cuts(tcva: Run) -> None:
    write("in.jsonl", record(1), record(2, f"{PASSAGE} {ZEBRAS}"), record(3, ZEBRAS))
    done = tcva(*EVALUATE, "--supported", "served.jsonl")
    assert "written: served.jsonl: answers without unsupported claims" in done.err
    lines = Path("served.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["id"] for row in rows] == ["s1", "s2", "s3"]
    assert [row["answer"] for row in rows[1:]] == [PASSAGE, ""]
    assert [row["is_empty"] for row in rows[1:]] == [False, True]
    (cut,) = rows[1]["removed"]
    assert (cut["claim"], cut["level"], cut["start"]) == (
        ZEBRAS,
        "none",
        len(PASSAGE) + 1,
    )
    # A threshold of the settings, a pipe, and no file of something else in its place.
    settings = ("--set", "claim_threshold=0", "--overwrite")
    tcva(*EVALUATE, *settings, "--supported", "served.jsonl")
    text = Path("served.jsonl").read_text(encoding="utf-8")
    assert json.loads(text.splitlines()[1])["answer"] == f"{PASSAGE} {ZEBRAS}"
    piped = tcva(*EVALUATE, *settings, "--supported", "-")
    assert piped.out == text
    assert "s1" not in piped.err
    refused = tcva(*EVALUATE, "--supported", "in.jsonl", code=2)
    assert "also what is read" in refused.text


def test_answers_with_wrong_citations_are_cut_where_citations_are_required(
    tcva: Run,
) -> None:
    nine, free = "The office opens at nine.", "Parking is free for visitors."
    row = record(1, "Parking is free for visitors [1]. The office opens at nine [1].")
    write("in.jsonl", {**row, "contexts": [nine, free]})
    command = (*EVALUATE, "--supported", "served.jsonl", "--json")
    usual = tcva(*command).json["tables"]["methods"]
    first = json.loads(Path("served.jsonl").read_text(encoding="utf-8"))
    assert (first["answer"], first["removed"]) == (row["answer"], [])
    required = tcva(*command, "--set", "require_citations=true")
    assert required.json["tables"]["methods"] == usual
    served = json.loads(Path("served.jsonl").read_text(encoding="utf-8"))
    assert served["answer"] == "The office opens at nine [1]."
    (cut,) = served["removed"]
    assert cut["reason"] == "wrong citation [1] (elsewhere)"
    shown = tcva(*command, "--set", "require_citations=true", "--show", "all")
    first, second = shown.json["tables"]["claims of s1"]
    assert (first["verdict"], first["reason"]) == ("none, removed", cut["reason"])
    assert second["verdict"] == "fully"


def test_claims_are_shown(tcva: Run) -> None:
    tables = tcva(*EVALUATE, "--show", "s3", "--show", "worst", "--json").json["tables"]
    shown = [name for name in tables if name.startswith("claims")]
    assert shown == ["claims of s3", "claims of s2", "claims of s1"]
    assert tables["claims of s2"][0]["verdict"] == "none, weight 0.027, removed"


def test_people_may_stand_beside_any_judge(tcva: Run) -> None:
    rows = [
        record(n, ZEBRAS if n % 3 else PASSAGE, human=int(not n % 3)) for n in range(40)
    ]
    write("in.jsonl", *rows)
    write("labels.jsonl", *({"id": row["id"], "mine": row["human"]} for row in rows))
    for human in ("human", "labels.jsonl::mine"):
        (row,) = tcva(*EVALUATE, "--human", human, "--json").json["tables"]["agreement"]
        assert (row["n"], row["spearman"]) == (40, pytest.approx(1.0))
    rated = tcva(*EVALUATE, "--ccrs", "cc,id", "--human", "human", "--json").json[
        "tables"
    ]
    assert [row["method"] for row in rated["agreement"]] == ["cc", "id"]


def test_whole_answers_are_rated_by_ccrs(tcva: Run) -> None:
    rate = (*EVALUATE, "--ccrs", "cc,qr", "--set", "weights=cc=0.5,qr=0.5")
    done = tcva(
        *rate, "--gate", "composite:mean>=0.99", "-o", "rated.jsonl", "--json", code=1
    )
    methods = {row["method"]: row["mean"] for row in done.json["tables"]["methods"]}
    assert methods.keys() == {"cc", "qr", "composite"}
    lacking = {row["method"]: row for row in done.json["tables"]["unscored"]}
    assert lacking["cc"]["reason"] == lacking["composite"]["reason"] == "empty_context"
    assert lacking["composite"]["example"] == "no score for cc"
    assert "gate failed: composite: mean" in done.text
    assert json.loads(Path("rated.jsonl").read_text(encoding="utf-8").splitlines()[0])[
        "answers"
    ]
    tcva(*EVALUATE, "--ccrs", "cc", "--set", "em=normalised", "--set", "lambda=0.3")


def test_a_model_is_asked_once_and_as_it_is_told(
    server: ScriptedServer, tcva: Run
) -> None:
    stored = ("evaluate", "in.jsonl", "-j", "openai:m", "--set", "prices=2,8")
    first = tcva(*stored, "--set", "requests-per-minute=60000", "--json")
    assert "judgements are cached in .tcva/verdicts.sqlite" in first.text
    assert server.count == 2  # the empty context needs none
    tcva(*stored, "-T", "strict")
    assert server.count == 2
    cost = tcva(*MODEL, "--dry-run", "--json").json
    assert server.count == 2
    assert "2 calls" in json.dumps(cost) or cost["calls"] == 2
    assert cost["tables"]["calls"][0]["method"] == "faithfulness"
    server.script = lambda *_: error(503, "Busy.")
    tcva(*MODEL, "--set", "max-retries=0", code=2)
    assert server.count <= 5


@pytest.mark.usefixtures("server")
def test_panels_repeats_and_fused_judges_are_reported(tcva: Run) -> None:
    write("in.jsonl", *(record(n) for n in range(12)))
    panel = tcva(
        *MODEL, "--panel", "openai:other", "--set", "combine=fused", "--json"
    ).json
    assert panel["tables"]["agreement"][0]["judges"] == 2
    repeats = tcva(*MODEL, "--set", "repeats=3", "--json").json["tables"]["repeats"]
    assert (repeats[0]["repeats"], repeats[0]["samples"]) == (3, 12)
    fused = tcva(*MODEL, "--fuse", "lexical")
    assert "fused with faithfulness by lexical" in fused.text


HOSTILE = "\x1b[31m\x1b]0;t\x07\x9b2J\u202e"


@pytest.mark.parametrize("arguments", [
    "evaluate in.jsonl -o out.jsonl --show worst", "evaluate in.jsonl -o -",
    "evaluate in.jsonl --gate mean>=1 --markdown -",
    "evaluate bad.jsonl --skip-bad", f"evaluate missing{HOSTILE}.jsonl",
    f"evaluate in.jsonl --option{HOSTILE}", f"--debug sweep missing{HOSTILE}",
    "compare in.jsonl --with none --human human --set resamples=50",
])  # fmt: skip
def test_inert_output(
    arguments: str, tcva: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    texts = {"question": f"When{HOSTILE}?", "contexts": [PASSAGE]}
    answer = f"::error::x {HOSTILE} {ZEBRAS}\n##[error]y"
    hostile = {"id": f"id{HOSTILE}", "answer": answer, "human": 0.5, **texts}
    write("in.jsonl", hostile, record(2, human=1))
    write("bad.jsonl", hostile | {"answer": [HOSTILE]}, record(2))
    done = tcva(*arguments.split(" "), code=None)
    printed = done.out + done.err
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", printed)
    own = ("::error title=TCVA gate failed", "::error title=TCVA faithfulness")
    for line in printed.splitlines():
        assert not line.lstrip().startswith("::") or line.startswith(own)
        assert "##[" not in line


def test_an_outage_is_no_success_and_the_same_command_asks_for_the_rest(
    server: ScriptedServer, tcva: Run
) -> None:
    def dying(body: Body, number: int) -> Any:
        return auto_judge(body, number) if number <= 24 else error(400, "out of order")

    write("many.jsonl", *(record(n, f"Room {n} opens at nine.") for n in range(180)))
    command = (
        "evaluate",
        "many.jsonl",
        "-j",
        "openai:m",
        "--store",
        "s.db",
        "-o",
        "out.jsonl",
    )
    server.script = dying
    done = tcva(*command, "--set", "max_concurrency=1", code=3)
    first, _, _ = " ".join(done.out.split()).partition(". ")
    assert first == (
        "24 of 180 samples judged, 156 failed (judge_error); "
        "the same command asks only for the rest"
    )
    asked = server.count
    # A gate decides where there is one, and a failed one comes first.
    assert tcva(*command, "--gate", "coverage>=0.1").code == 0
    assert tcva(*command, "--gate", "coverage>=0.9", code=1).code == 1
    server.script = auto_judge
    asked = server.count
    done = tcva(*command, "--set", "max_concurrency=1")
    assert server.count - asked == 156
    assert "failed" not in done.out
    # Without a store nothing is said of the rest.
    server.script = lambda body, n: (
        error(400, "no") if "Room 7 " in str(body) else auto_judge(body, n)
    )
    done = tcva(*command[:4], "--store", "none", code=3)
    assert "179 of 180 samples judged, 1 failed (judge_error). " in done.text


def test_an_outage_of_an_additional_judge_is_no_success(
    server: ScriptedServer, tcva: Run
) -> None:
    server.script = lambda body, n: (
        auto_judge(body, n) if n <= 2 else error(400, "out of order")
    )
    write("in.jsonl", *(record(n, f"Room {n} opens at nine.") for n in range(6)))
    settings = ("--set", "max_concurrency=1", "--store", "none")
    for judges in (
        ("lexical", "--fuse", "openai:m"),
        ("openai:m", "--panel", "lexical"),
    ):
        server.received.clear()
        done = tcva("evaluate", "in.jsonl", "-j", *judges, *settings, code=3)
        assert "4 of 6 samples judged without a judge that failed." in done.text
        server.received.clear()
        tcva(
            "evaluate", "in.jsonl", "-j", *judges, *settings, "--gate", "coverage>=0.1"
        )


def test_empty_answers_fail_gates(tcva: Run) -> None:
    write("in.jsonl", record(1), record(2, ""), record(3, ""))
    for figure in ("mean>=0.5", "pass_rate>=1"):
        done = tcva(*EVALUATE, "--gate", figure, code=1)
        assert "2 of 3 samples cannot pass" in done.text


def test_what_only_the_judge_takes_for_no_claim_is_shown_and_passes_no_gate(
    server: ScriptedServer, tcva: Run
) -> None:
    def script(body: Body, number: int) -> str:
        if "Does SENTENCE assert something?" in body["messages"][-1]["content"]:
            return '{"reason": "a wish", "asserts": "no"}'
        return auto_judge(body, number).replace('"none"', '"not_a_claim"')

    server.script = script
    closing = "Bis die Tage, deine Velohelden."
    opens = "The office opens at nine."
    write("in.jsonl", record(1, f"Hello! {opens}"), record(2, f"{opens} {closing}"))
    done = tcva(*MODEL, "--show", "s2", "--gate", "pass_rate>=0.9", code=1)
    assert "3 sentences claim nothing" not in done.text
    assert "2 sentences claim nothing, 1 of them by the judge alone" in done.text
    assert f"no claim, by the judge alone {closing} not_a_claim" in done.text
    assert "1 of 2 samples cannot pass:" in done.text
    assert (
        "passes no gate, as most of the text is no claim by the judge alone"
        in done.text
    )
    # It has its score, and without gates nothing failed.
    done = tcva(*MODEL, "--junit", "j.xml", "--markdown", "m.md", "-o", "out.jsonl")
    assert "50 % of 2 scored samples pass at T=0.5 (mean 1.000)" in done.text
    lines = Path("out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["score"] for line in lines] == [1, 1]
    tcva(*MODEL, "--gate", "coverage>=0.5")


OTHERS = ("evaluate", "others.jsonl", "-j", "openai:m", "-o", "out.jsonl")


def test_results_of_other_samples_are_never_replaced_unasked(
    server: ScriptedServer, tcva: Run
) -> None:
    evaluate = ("evaluate", "in.jsonl", "-j", "openai:m", "-o", "out.jsonl")
    tcva(*evaluate)
    before, asked = Path("out.jsonl").read_bytes(), server.count
    # The same ids, and the answers of another system.
    write("others.jsonl", record(1, ZEBRAS), record(2))
    refused = "out.jsonl exists and holds results of other samples than others.jsonl; give another"
    done = tcva(*OTHERS, code=2)
    assert refused in done.text
    assert "--overwrite" in done.text
    assert (Path("out.jsonl").read_bytes(), server.count) == (before, asked)
    # Nor where they were moved, or are read from a pipe.
    Path("moved").mkdir()
    Path("out.jsonl").rename("moved/out.jsonl")
    assert "other samples" in tcva(*OTHERS[:4], "-o", "moved/out.jsonl", code=2).text
    Path("moved/out.jsonl").rename("out.jsonl")
    assert "other samples than -" in tcva("evaluate", "-", *OTHERS[2:], code=2).text
    # Of the same file they are, whatever it holds by now, and however it is named.
    write("in.jsonl", record(1), record(2, ZEBRAS), record(3), record(4))
    tcva(*evaluate, "-T", "strict")
    assert len(Path("out.jsonl").read_text(encoding="utf-8").splitlines()) == 4
    tcva(
        "evaluate",
        Path("in.jsonl").absolute(),
        *evaluate[2:-1],
        Path("out.jsonl").absolute(),
    )
    tcva(*OTHERS, "--overwrite")
    assert len(Path("out.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    tcva(*OTHERS)


def test_results_that_name_no_samples_are_not_replaced_unasked(tcva: Run) -> None:
    tcva(*EVALUATE, "-o", "out.jsonl")
    write_results("mine.jsonl", read_assessments("out.jsonl"))
    assert (
        "holds results of other samples than in.jsonl"
        in tcva(*EVALUATE, "-o", "mine.jsonl", code=2).text
    )
    tcva(*EVALUATE, "-o", "mine.jsonl", "--overwrite")
    tcva(*EVALUATE, "-o", "mine.jsonl")


@pytest.mark.parametrize("stored", [("--store", "s.db"), ()])
@pytest.mark.parametrize("more", [("--out", "side"), ()])
def test_what_was_evaluated_costs_a_comparison_nothing(
    server: ScriptedServer, tcva: Run, stored: tuple[str, ...], more: tuple[str, ...]
) -> None:
    rows = [
        {k: v for k, v in record(n, f"Room {n} opens.").items() if k != "id"}
        for n in range(5)
    ]
    write("in.jsonl", *({"mine": row.pop("answer"), **row} for row in rows))
    common = ("in.jsonl", "-j", "openai:m", "--map", "mine=response", *stored)
    tcva("evaluate", *common, "-T", "0.3")
    assert server.count == 5
    done = tcva("compare", *common, "--with", "none", "--json", *more)
    assert server.count == 5
    (used,) = done.json["tables"]["usage"]
    assert (used["judged"], used["cached"]) == (0, 5)
    # And the other way round; without a store both are asked.
    write(
        "in.jsonl",
        *({"mine": f"Hall {n} opens.", "contexts": [PASSAGE]} for n in range(3)),
    )
    tcva("compare", *common, "--with", "none", *more, "--overwrite")
    tcva("evaluate", *common)
    assert server.count == 8
    tcva("compare", *common[:5], "--store", "none", "--with", "none")
    assert server.count == 11


def test_all_shows_how_passages_were_used_of_files_and_pipes(
    tcva: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [ZEBRAS, PASSAGE, "Bats sleep all day in the old mill."]
    write("in.jsonl", *(record(n, parts[n], contexts=parts) for n in range(3)))
    report = tcva(*EVALUATE, "--all", "-o", "out.jsonl", "--json").json
    shown = {row["measure"]: row["mean"] for row in report["tables"]["passages"]}
    expected = {
        "passages used": 1 / 3,
        "precision at 1": 1 / 3,
        "precision at 3": 1 / 3,
        "reciprocal rank": (1 + 1 / 2 + 1 / 3) / 3,
        "characters not used": 2 / 3,
    }
    assert shown == pytest.approx(expected, abs=1e-12)
    with Path("in.jsonl").open(encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        piped = tcva("evaluate", "-", "-j", "lexical", "--all")
    assert "may still have served" in " ".join(piped.out.split())
    assert re.search(r"faithfulness +reciprocal rank +0\.611 +3", piped.out)
    assert "passages" not in tcva(*EVALUATE).out
