"""Every code block of the README and the docs runs, and prints what the page says."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tcva_adapters.cli.app import run

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
# The README is shown on index pages, too, where a relative link leads nowhere.
REPOSITORY = "https://github.com/tcva-adapters/tcva-adapters"
FENCE = re.compile(r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_a_copy_of_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


# Pages about a framework use it as its users do, its deprecations of its own parts included.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks(page: Path) -> None:
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    text = page.read_text(encoding="utf-8")
    for block in FENCE.finditer(text):
        if block["kind"] != "python":
            continue
        line = text.count("\n", 0, block.start())
        if ">>>" in block["body"]:
            test = doctest.DocTestParser().get_doctest(block["body"], names, page.name, None, line)
            runner.run(test, clear_globs=False)
            names.update(test.globs)
        else:
            exec(compile(block["body"], page.name, "exec"), names)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in FENCE.finditer(page.read_text(encoding="utf-8")):
        if block["kind"] != "console":
            continue
        for command in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
            line, _, expected = command.partition("\n")
            program, *arguments = shlex.split(line, comments=True)
            if program != "tcva":
                continue
            # The page says where a command is there to fail.
            assert run(arguments) == (1 if "# exits with 1" in line else 0), line
            printed = capsys.readouterr().out
            if expected.strip():
                assert _plain(printed) == _plain(expected), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "@@" not in text
    for target in re.findall(r"\]\(([^)#]+)", text):
        if target.startswith(f"{REPOSITORY}/"):
            here = re.match(r"(?:blob|tree)/main/(.+)", target.removeprefix(f"{REPOSITORY}/"))
            assert here is None or (ROOT / here[1]).exists(), target
        elif not target.startswith(("http://", "https://")):
            assert page.name != "README.md", f"{target}: an index page needs the whole address"
            assert (page.parent / target).exists(), target


def test_the_readme_shows_what_the_demo_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # its report is written there
    run(["demo"])
    shown = FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert _plain(capsys.readouterr().out) in [
        _plain(body) for kind, body in shown if kind == "text"
    ]


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
