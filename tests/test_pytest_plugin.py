"""The pytest plugin: in a run of its own, as users have it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import CCRS, TCVA, Conversation, Sample
from tcva_adapters.errors import GuaranteeWarning, InvalidValueError
from tcva_adapters.report.suite import Suite, run_lines
from tests.support.certified import HOLDS, LOST, certified, state_of
from tests.support.lexical_server import LexicalServer

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = "tcva_adapters.pytest_plugin"
PASSAGE = "The office opens at nine. Parking is free for visitors."
GOOD = Sample(id="good", response="The office opens at nine.", contexts=[PASSAGE])
BAD = {"id": "bad", "answer": "Zebras invented the telephone.", "contexts": [PASSAGE]}
SUITE = f"""
import pytest

GOOD = {{"id": "good", "answer": "The office opens at nine.", "contexts": [{PASSAGE!r}]}}
BAD = {BAD!r}
pytestmark = pytest.mark.tcva(judge="lexical", threshold=0.4)


def test_good(tcva):
    assert tcva.check(GOOD).passed


def test_bad(tcva):
    tcva.check(BAD)


@pytest.mark.tcva(gates="mean>=0.3", temperature=0.9)
def test_many(tcva):
    assert len(tcva.check([GOOD, BAD])) == 2


@pytest.mark.parametrize("number", range(3))
def test_looks_only(tcva, number):
    tcva.evaluate(BAD)
"""


def ran(folder: Path, suite: str, *arguments: str, code: int) -> str:
    """What pytest prints of a suite in a process of its own, without other plugins."""
    (folder / "test_it.py").write_text(suite, encoding="utf-8")
    return printed_in(folder, *arguments, "test_it.py", code=code)


def printed_in(folder: Path, *arguments: str, code: int, **variables: str) -> str:
    """What pytest prints in a folder where nothing but pytest and this package is installed."""
    options = ["-p", "no:cacheprovider", "-p", PLUGIN]
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PWD": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=-1, text=True, check=False
    )
    assert done.returncode == code, done.stdout
    return done.stdout


@pytest.mark.slow
def test_a_run_over_two_workers(tmp_path: Path) -> None:
    printed = ran(tmp_path, SUITE, "-p", "xdist", "-n", "2", code=1)
    assert "1 failed, 5 passed" in printed
    assert (
        "E       AssertionError: 1 of 1 sample does not pass: faithfulness by"
        in printed
    )
    assert "none: Zebras invented the telephone. (words not found:" in printed
    assert "in check" not in printed  # the traceback ends in the test
    lines = re.split(r"\n=+ TCVA =+\n", printed)[1].partition("\n=")[0]
    assert re.search(r"criterion +scored +mean +pass rate +worst", lines)
    assert re.search(r"faithfulness by .* 5/5 +0\.\d+ +20 % +bad 0\.0", lines)
    assert re.search(r"faithfulness by .* 2/2 +0\.\d+ +50 % +bad 0\.\d+", lines)


def test_the_example_runs_as_it_says_with_pytest_alone(tmp_path: Path) -> None:
    for absent in ("xdist", "hypothesis"):
        (tmp_path / f"{absent}.py").write_text("raise ImportError", encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    printed = printed_in(ROOT, "examples/pytest_suite.py", code=0, PYTHONPATH=path)
    assert "4 passed" in printed
    assert "answer_relevancy" in printed


@pytest.mark.slow
def test_the_example_asks_a_model_that_the_environment_names(tmp_path: Path) -> None:
    with LexicalServer() as server:
        asked = {
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": server.base_url,
            "PYTHONPATH": str(ROOT),
        }
        suite = str(ROOT / "examples" / "pytest_suite.py")
        # The store of the example is made in the current folder.
        chosen = ("-k", "grounded or together", suite)
        for _ in range(2):
            printed = printed_in(
                tmp_path, *chosen, code=0, TCVA_JUDGE="openai:m", **asked
            )
            assert "faithfulness by openai:m, T=0.5, 2/2 1.000" in " ".join(
                printed.split()
            )
            assert (
                server.count == 2
            )  # one for each sample, and the second run makes none


@pytest.mark.slow
def test_it_is_silent_where_nobody_asks(tmp_path: Path) -> None:
    suite = """import pytest, sys

@pytest.fixture
def tcva():  # of the same name: the user's
    return 1

def test_it(tcva):
    assert tcva == 1
    open('loaded', 'w').write(' '.join(sys.modules))
"""
    assert "TCVA" not in ran(tmp_path, suite, code=0)
    loaded = set((tmp_path / "loaded").read_text(encoding="utf-8").split())
    ours = {name for name in loaded if name.startswith("tcva_adapters.")}
    # The package itself, with the names of the adapters that read LLM objects.
    names = [
        "_version",
        "lazy",
        "errors",
        "llm_adapters",
        "judges",
        "judges.llm_objects",
    ]
    assert ours <= {PLUGIN, *(f"tcva_adapters.{name}" for name in names)}
    assert not {"numpy", "pydantic", "rich", "typer"} & loaded


@pytest.mark.slow
def test_wrong_settings_are_one_sentence(tmp_path: Path) -> None:
    wrong = {
        "criterion='beauty'": "unknown criterion 'beauty'; use faithfulness",
        "gates='mean>=2'": "'mean>=2': the number",
        "'lexical'": "takes settings by name, not",
        "judge='lexical', strictness=1": "strictness",
    }
    suite = "import pytest\n" + "".join(
        f"@pytest.mark.tcva({marker})\ndef test_{i}(tcva):\n    pass\n"
        for i, marker in enumerate(wrong)
    )
    printed = ran(tmp_path, suite, code=1)
    for i, said in enumerate(wrong.values()):
        _, _, shown = printed.partition(f"_ ERROR at setup of test_{i} _")
        assert said in shown.partition("_ ERROR")[0]
    assert "Traceback" not in printed


def test_check_asks_that_every_sample_passes() -> None:
    suite = Suite(judge="lexical")
    assert suite.check(GOOD).passed
    assert [result.sample_id for result in suite.check([GOOD, GOOD])] == [
        "good",
        "good",
    ]
    with pytest.raises(AssertionError, match="1 of 2") as failed:
        suite.check([GOOD, BAD])
    assert "bad: 0.0" in str(failed.value)
    assert "good" not in str(failed.value)
    with pytest.raises(AssertionError, match="no score: empty_context"):
        suite.check(Sample(response="It is.", contexts=[]))
    assert (len(suite.taken()), suite.taken()) == (6, [])
    suite.evaluate([{"answer": "Zebras.", "contexts": ["It is."]}])
    lines = run_lines(suite.taken("test_answer[tea]"))
    assert any(line.endswith("test_answer[tea] row-1 0.027") for line in lines)


def test_gates_decide_instead() -> None:
    suite = Suite(judge="lexical", gates="mean>=0.4")
    assert len(suite.check([GOOD, BAD])) == 2
    with pytest.raises(AssertionError, match=r"mean 0\.5"):
        suite.check([GOOD, BAD], gates=["mean>=0.9"])
    with pytest.raises(AssertionError, match=r"0\.500 <\s+0\.6"):
        suite.check([GOOD, BAD], gates="pass_rate>=0.6")
    with pytest.raises(InvalidValueError, match="got 7"):
        suite.check(GOOD, gates="mean>=7")
    with pytest.raises(InvalidValueError):
        suite.check([])
    with pytest.raises(InvalidValueError, match="a int"):
        suite.check([3])  # type: ignore[list-item]  # the mistake


@pytest.mark.parametrize("gates", [(), "coverage>=1"])
def test_a_conversation_is_one_sample(gates: Any) -> None:
    asked = [("user", "When?"), ("tool", "At nine."), ("assistant", "At nine.")]
    thanks = [*asked, ("user", "Thanks!"), ("assistant", "You are welcome!")]
    wrong = [*asked[:2], ("assistant", "Zebras."), *asked]
    suite = Suite(judge="lexical", threshold=0.9)
    talk = Conversation.from_messages(thanks)
    whole: Any = suite.check([talk, {"messages": thanks}, GOOD], gates)
    assert [result.kind for result in whole] == ["conversation", "conversation", "tcva"]
    assert suite.check(whole[0], gates) is whole[0]
    with pytest.raises(AssertionError, match=r"row-1: 0\.\d+ < 0\.9\n.*Zebras"):
        suite.check({"messages": wrong}, gates and "pass_rate>=1")


def test_results_from_elsewhere_are_taken() -> None:
    suite = Suite(judge="lexical")
    rated = CCRS("qr", judge="lexical").evaluate(
        Sample(input="Which car?", response="The car.")
    )
    judged = TCVA("completeness", judge="lexical", threshold=0.1)
    result = judged.evaluate(
        Sample(input="When?", response="At nine.", reference="At nine.")
    )
    assert suite.check(rated) is rated
    assert suite.evaluate([result, GOOD])[0] is result
    text = "\n".join(run_lines(suite.taken()))
    found = re.findall("^(qr|completeness|faithfulness) by", text, re.MULTILINE)
    assert found == ["qr", "completeness", "faithfulness"]


def test_a_file_of_settings_is_taken_with_its_guarantee(tmp_path: Path) -> None:
    certified().dump(tmp_path / "gate.json")
    suite = Suite(config=tmp_path / "gate.json", judge="lexical")
    assert suite.scorer.threshold == certified().settings["threshold"]
    assert state_of(suite.check(GOOD)) == HOLDS
    given = Suite(config=tmp_path / "gate.json", judge="lexical", threshold=0.4)
    with pytest.warns(GuaranteeWarning, match=r"threshold 0\.4 instead of"):
        assert state_of(given.check(GOOD)) == LOST
    with pytest.warns(GuaranteeWarning, match="scored a conversation"):
        talk = Suite(config=certified(), judge="lexical").check(
            Conversation(turns=(GOOD,))
        )
    assert state_of(talk) == LOST


@pytest.mark.slow
def test_the_marker_takes_a_file_of_settings(tmp_path: Path) -> None:
    certified().dump(tmp_path / "gate.json")
    marked = f"""
import pytest


@pytest.mark.tcva(config="gate.json", judge="lexical")
def test_it(tcva):
    result = tcva.check({{"answer": "The office opens at nine.", "contexts": [{PASSAGE!r}]}})
    assert result.guarantee.state == "holds"
    assert tcva.scorer.threshold == {certified().settings["threshold"]!r}
"""
    ran(tmp_path, marked, code=0)
