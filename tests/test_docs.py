"""Every code block of the README and the docs runs, and prints what the page says."""

import ast
import doctest
import re
import runpy
import shlex
import textwrap
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.paper.__main__ import main
from tcva_adapters.cli.app import imported_command, run
from tests.support.paper import FOLDER, needs_paper_data

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
# What bootstraps takes more than a second.
SLOW = {"comparing.md"}
HARNESSES = ("pydantic_evals", "inspect_ai", "haystack", "mlflow")
ELSEWHERE = pytest.mark.skipif(
    not all(map(find_spec, HARNESSES)),
    reason="make test-harness installs what this page shows",
)
MARKS = {"harnesses.md": [ELSEWHERE], **{page: [pytest.mark.slow] for page in SLOW}}
EACH_PAGE = [
    pytest.param(page, marks=MARKS.get(page.name, []), id=page.name) for page in PAGES
]
# The README is shown on index pages, too, where a relative link leads nowhere.
# What a suite of each framework has before the page adds three lines to it.
BEFORE = {
    "langchain": """
        from operator import itemgetter
        from langchain_core.runnables import RunnableLambda, RunnablePassthrough
        retriever = RunnableLambda(lambda question: ["It opens. " + question])
        llm, answer, questions = "lexical", lambda x: "It opens.", ["When?"]
    """,
    "llamaindex": """
        from llama_index.core.evaluation import BatchEvalRunner, FaithfulnessEvaluator
        from tcva_adapters.llamaindex import LexicalLLM
        llm, queries, answers, contexts = LexicalLLM(), ["When?"], ["It opens."], [["It opens."]]
    """,
    "ragas": """
        import warnings
        warnings.simplefilter("ignore")  # RAGAS leaves a file of its own open
        from ragas import EvaluationDataset, evaluate
        from ragas.metrics import Faithfulness
        from tcva_adapters.ragas import LexicalLLM
        row = {"user_input": "When?", "response": "It opens.", "retrieved_contexts": ["It opens."]}
        llm, data = LexicalLLM(), EvaluationDataset.from_list([row])
    """,
    "deepeval": """
        from deepeval import evaluate
        from deepeval.metrics import FaithfulnessMetric
        from deepeval.test_case import LLMTestCase
        from tcva_adapters.deepeval import LexicalLLM
        case = LLMTestCase(input="?", actual_output="It opens.", retrieval_context=["It opens."])
        llm, cases = LexicalLLM(), [case]
    """,
}
REPOSITORY = "https://github.com/tcva-adapters/tcva-adapters"
FENCE = re.compile(r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_a_copy_of_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


# Pages about a framework use it as its users do, its deprecations of its own parts included.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("page", EACH_PAGE)
def test_code_blocks(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    text = page.read_text(encoding="utf-8")
    for block in FENCE.finditer(text):
        if block["kind"] == "console":
            _run_commands(block["body"], capsys)
        elif block["kind"] == "python" and ">>>" in block["body"]:
            line = text.count("\n", 0, block.start())
            test = doctest.DocTestParser().get_doctest(
                block["body"], names, page.name, None, line
            )
            runner.run(test, clear_globs=False)
            names.update(test.globs)
        elif block["kind"] == "python":
            exec(compile(block["body"], page.name, "exec"), names)
    assert runner.summarize(verbose=False).failed == 0
    for picture in re.findall(r"\]\((images/[\w/.-]+\.png)\)", text):
        if (drawn := Path(picture).name) in {
            path.name for path in Path().glob("*.png")
        }:
            _is_drawn_like(page.parent / picture, Path(drawn))


def _is_drawn_like(shown: Path, drawn: Path) -> None:
    """Fails where the picture beside the page is not the one that the page draws."""
    pinned = re.search(
        r"^matplotlib==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE
    )
    if pinned is None or version("matplotlib") != pinned[1]:
        return  # another version places texts elsewhere
    image = pytest.importorskip("matplotlib.image")  # the extra plots
    first, second = (image.imread(path)[..., :3] for path in (shown, drawn))
    assert first.shape == second.shape, shown.name
    # The stored ones have fewer colours. Other data move curves, and this to .02 and more.
    assert abs(first - second).mean() < 0.005, (
        f"{shown.name} is not what the page draws"
    )


def _run_commands(body: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, rest = command.partition("\n")
        if written := re.fullmatch(r"cat > (?P<name>\S+) << 'END'", line):
            Path(written["name"]).write_text(
                rest.partition("END\n")[0], encoding="utf-8"
            )
        program, *patterns = shlex.split(line, comments=True)
        arguments = []
        for pattern in patterns:
            files = sorted(map(str, Path().glob(pattern))) if "*" in pattern else []
            arguments += files or [pattern]
        if program == "python":
            runpy.run_path(arguments[0], run_name="__main__")
        if program != "tcva":
            continue
        capsys.readouterr()
        # The page says where a command is there to fail.
        assert run(arguments) == (1 if "# exits with 1" in line else 0), line
        if rest.strip():
            printed = _plain(capsys.readouterr().out)
            assert _is_shown(printed, _plain(rest)), "\n".join([line, *printed])


def _is_shown(printed: list[str], page: list[str]) -> bool:
    """Whether the page has what was printed; a line of three dots stands for any lines."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in page
    ]
    return (
        re.fullmatch("".join(lines), "".join(f"{line}\n" for line in printed))
        is not None
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_need_a_model_or_data_are_there(page: Path) -> None:
    for block in FENCE.finditer(page.read_text(encoding="utf-8")):
        if block["kind"] not in {"sh", "yaml", "text"}:
            continue
        for command, rest in re.findall(
            r"\btcva ([a-z]+)(.*(?:\n +-.*)*)", block["body"]
        ):
            found = imported_command(command)
            found = (
                found.commands[rest.split()[0]] if hasattr(found, "commands") else found
            )
            options = {name for each in found.params for name in each.opts}
            assert set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) <= options, rest


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "@@" not in text
    for target in re.findall(r"\]\(([^)#]+)", text):
        if target.startswith(f"{REPOSITORY}/"):
            here = re.match(
                r"(?:blob|tree|raw)/main/(.+)", target.removeprefix(f"{REPOSITORY}/")
            )
            assert here is None or (ROOT / here[1]).exists(), target
        elif not target.startswith(("http://", "https://")):
            assert page.name != "README.md", (
                f"{target}: an index page needs the whole address"
            )
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_what_a_code_host_shows(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)", page.read_text(encoding="utf-8")):
        place, _, anchor = re.sub(
            f"^{REPOSITORY}/(blob|raw)/main/", f"{ROOT}/", target
        ).partition("#")
        path = page.parent / place if place else page
        if not place.startswith(f"{ROOT}/") and "://" in place:
            continue
        # A page, a source file, an example or a picture; not a stub that only Sphinx fills.
        assert path.suffix in {".md", ".py", ".png", ".svg"}, target
        if path.suffix == ".py":
            assert (
                len((ast.get_docstring(ast.parse(path.read_bytes())) or "").split())
                > 10
            ), target
        if path.suffix == ".md":
            text = FENCE.sub("", path.read_text(encoding="utf-8"))
            words = re.sub(r"<[^>]+>|\[[^]]*\]\([^)]*\)", "", text).split()
            assert len(words) > 50, target
            headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            slugs = {
                re.sub(r"[^\w -]", "", each).lower().replace(" ", "-")
                for each in headings
            }
            assert not anchor or anchor in slugs, target


def test_the_readme_shows_what_the_demo_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # its report is written there
    run(["demo"])
    assert Path("tcva-demo.html").exists()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [shown] = [body for kind, body in FENCE.findall(readme) if kind == "text"]
    assert _is_shown(_plain(capsys.readouterr().out), _plain(shown))


@pytest.mark.slow
@needs_paper_data
def test_the_page_of_the_paper_shows_what_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main([str(FOLDER), "--all"])
    printed = _plain(capsys.readouterr().out)
    page = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")
    shown = next(_plain(body) for kind, body in FENCE.findall(page) if kind == "text")
    assert len(shown) > 15
    assert _is_shown(printed, shown)


# As above: suites of a framework use what it deprecates.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("framework", BEFORE)
def test_a_suite_runs_before_and_after(framework: str) -> None:
    pages = [ROOT / "docs" / f"{framework}.md", ROOT / "README.md"]
    of_page, of_readme = ([*_diffs(page, framework)] for page in pages)
    assert of_page
    for lines in of_page + of_readme:
        assert sum(line.startswith("+") for line in lines) == 3
        for kept in (" ", " +"):
            suite = "\n".join(line[2:] for line in lines if line[0] in kept)
            names: dict[str, object] = {}
            exec(textwrap.dedent(BEFORE[framework]) + suite, names)
            assert "results" in names


def _diffs(page: Path, framework: str) -> Iterator[list[str]]:
    for kind, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if kind == "diff" and f"tcva_adapters.{framework} " in body:
            yield body.splitlines()


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
