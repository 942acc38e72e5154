"""What is loaded when, and what is said when a framework cannot be loaded."""

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import tcva_adapters
import tcva_adapters.core
from tcva_adapters.diagnosis import package_record
from tcva_adapters.errors import MissingDependencyError, install_hint
from tcva_adapters.frameworks import REQUIREMENTS, Requirement
from tcva_adapters.lazy import check

FRAMEWORKS = {"llama_index", "langchain_core", "langchain", "langchain_classic"}
FRAMEWORKS |= {"ragas", "deepeval", "openai"}
HEAVY = FRAMEWORKS | {
    "pydantic",
    "scipy",
    "typer",
    "rich",
    "json_repair",
    "pandas",
    "pyarrow",
}
ADAPTERS = ("langchain", "llamaindex", "deepeval", "ragas")


def printed(code: str) -> list[str]:
    """The lines that a Python process of its own prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def loaded(line: str) -> set[str]:
    """The packages in a line of modules."""
    return {name.partition(".")[0] for name in line.split()}


@pytest.mark.slow
def test_what_is_not_needed_is_not_loaded(tmp_path: Path) -> None:
    samples = tmp_path / "samples.jsonl"
    samples.write_text('{"response": "It is open.", "contexts": ["It is open."]}\n')
    evaluate = ["evaluate", str(samples), "-o", str(tmp_path / "judged.jsonl")]
    steps = {
        "import tcva_adapters": HEAVY | {"numpy"},
        "from tcva_adapters.cli.app import run; run(['--help'])": (
            HEAVY - {"typer", "rich"} | {"numpy", "asyncio"}
        ),
        "tcva_adapters.aggregate(['fully'], temperature=0.9)": HEAVY
        - {"typer", "rich"},
        "from tcva_adapters import TCVA, Sample\n"
        "TCVA(judge='lexical').evaluate(Sample(response='Open.', contexts=['Open.']))": (
            HEAVY - {"typer", "rich", "pydantic"}
        ),
        f"run({evaluate!r})": HEAVY - {"typer", "rich", "pydantic"},
    }
    code = "".join(f"{step}\nprint('#', *sys.modules)\n" for step in steps)
    lines = printed(f"import sys\n{code}")
    found = [line for line in lines if line.startswith("# ")]
    for line, absent in zip(found, steps.values(), strict=True):
        assert loaded(line).isdisjoint(absent)
    modules = set(found[-1].split())
    rooms = {
        name.split(".")[1] for name in modules if name.startswith("tcva_adapters.")
    }
    assert rooms.isdisjoint(ADAPTERS)
    parts = ("calibration.calibrate", "calibration.sweep", "system_comparison")
    assert modules.isdisjoint(f"tcva_adapters.compare.{part}" for part in parts)


def test_the_demo_takes_the_base_package_alone(tmp_path: Path) -> None:
    missing = HEAVY - {"pydantic", "typer", "rich", "json_repair"}
    code = (
        f"import os, sys; os.chdir({str(tmp_path)!r})\n"
        f"sys.modules.update(dict.fromkeys({sorted(missing)!r}))\n"
        "from tcva_adapters.cli.app import run; print('#', run(['demo']))"
    )
    assert printed(code)[-1] == "# 0"
    assert (tmp_path / "tcva-demo.html").exists()


@pytest.mark.slow
def test_the_module_is_the_command() -> None:
    code = "import runpy, sys; sys.argv[1:] = ['--version']; runpy.run_module('tcva_adapters')"
    assert printed(code) == [tcva_adapters.__version__]


# Of each adapter: names whose use loads the framework, and what is loaded then that was not before.
# DeepEval itself loads openai; RAGAS itself loads all that it can find: nothing may be added to it.
USED = {
    "": "",
    "langchain": "TCVAEvaluator TCVARunEvaluator gate as_judge_model",
    "llamaindex": "TCVAEvaluator LexicalLLM score_framework_metric",
    "deepeval": "TCVAMetric LexicalLLM score_framework_metric",
    "ragas itself": "",
    "ragas": "TCVAMetric LexicalLLM score_framework_metric",
}
LOADS = [
    set(),
    {"langchain_core"},
    {"llama_index"},
    {"deepeval", "openai"},
    {"ragas"},
    set(),
]


@pytest.mark.slow
def test_importing_an_adapter_loads_nothing_until_a_name_is_used() -> None:
    code = f"import sys\nfrom tcva_adapters import {', '.join(ADAPTERS)}\n"
    for folder, names in USED.items():
        code += "import ragas as theirs\n" if folder == "ragas itself" else ""
        code += "".join(f"{folder}.{name}\n" for name in names.split())
        code += "print('#', *sys.modules)\n"
    found = [
        loaded(line) & FRAMEWORKS for line in printed(code) if line.startswith("# ")
    ]
    before: set[str] = set()
    for after, loads in zip(found, LOADS, strict=True):
        assert (
            loads <= after - before <= (loads if "ragas" not in loads else FRAMEWORKS)
        )
        before = after


CANNOT = "cannot be imported (ModuleNotFoundError"
# The class, the module that is missing or the version that is there, and what is said.
UNUSABLE = [
    ("langchain.TCVAEvaluator", "langchain_core", f"langchain-core {CANNOT}"),
    (
        "langchain.TCVAStringEvaluator",
        "langchain_classic",
        f"langchain-classic {CANNOT}",
    ),
    ("langchain.TCVAMiddleware", "langchain", f"langchain {CANNOT}"),
    ("llamaindex.TCVAEvaluator", "wrapt", f"llama-index-core {CANNOT}"),
    ("deepeval.TCVAMetric", "jinja2", f"deepeval {CANNOT}"),
    ("deepeval.TCVAMetric", "3.9.9", "deepeval 3.9.9 is too old, 4.3 is needed"),
    ("ragas.TCVAMetric", "0.3.9", "ragas 0.3.9 is too old, 0.4.3 is needed"),
    ("ragas.TCVAMetric", "langchain_community.chat_models.vertexai", f"ragas {CANNOT}"),
]
SPOILT = """
import importlib.metadata, json, sys, types
from importlib import import_module

right = importlib.metadata.version
for imported, spoilt, _ in json.loads(sys.argv[1]):
    folder, _, name = imported.partition(".")
    if spoilt[0].isdigit():
        importlib.metadata.version = lambda _: spoilt
        sys.modules.setdefault(folder, types.ModuleType(folder))
    else:
        sys.modules[spoilt] = None
    try:
        getattr(import_module(f'tcva_adapters.{folder}'), name)
    except ImportError as error:
        print("#", type(error).__name__, error)
    importlib.metadata.version = right
    sys.modules.pop(folder if spoilt[0].isdigit() else spoilt)
"""


@pytest.mark.slow
def test_an_unusable_framework_is_an_import_error_with_the_way_out() -> None:
    command = [sys.executable, "-c", SPOILT, json.dumps(UNUSABLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line[2:] for line in done.stdout.splitlines() if line.startswith("# ")]
    for line, (imported, _, said) in zip(lines, UNUSABLE, strict=True):
        assert line.startswith(f"MissingDependencyError {said}")
        assert f"pip install '.[{imported.partition('.')[0]}" in line
    assert issubclass(MissingDependencyError, ImportError)


@pytest.mark.parametrize(
    "package", ["tcva_adapters", *(f"tcva_adapters.{a}" for a in ADAPTERS)]
)
def test_public_names_are_described(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module(package)
    monkeypatch.setattr(
        "tcva_adapters.lazy.find_spec", lambda name: name != "langchain"
    )
    assert {*module.__all__} == {*dir(module)} - {"TCVAMiddleware"}
    for name in dir(module):
        assert (getattr(module, name).__doc__ or "").strip(), name
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = module.nonesuch


ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
EXTRAS = PROJECT["optional-dependencies"]
BOUND = re.compile(
    r"(?P<name>[\w.-]+)(?:\[\w+\])?>=(?P<oldest>[\d.]+)(?:,<(?P<below>[\d.]+))?"
)


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def test_the_registry_states_the_bounds_of_the_extras_and_constraints_are_within() -> (
    None
):
    assert REQUIREMENTS.keys() == EXTRAS.keys() - {"all", "dev", "docs"}
    every = [
        *PROJECT["dependencies"],
        *(need for extra in EXTRAS.values() for need in extra),
    ]
    stated = {found["name"]: found for found in map(BOUND.fullmatch, every) if found}
    assert len(stated) > 20
    for need in REQUIREMENTS.values():
        assert numbers(stated[need.distribution]["oldest"]) == need.oldest
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    constraints = dict(line.lower().replace("_", "-").split("==") for line in lines)
    for name, bound in stated.items():
        tested = numbers(constraints[name])
        assert numbers(bound["oldest"]) <= tested, name
        assert bound["below"] is None or tested < numbers(bound["below"]), name


@pytest.mark.slow
def test_what_is_missing_or_broken_names_its_extra() -> None:
    fix = install_hint("ragas")
    missing = package_record(Requirement("no-such", "no_such", (1,), "ragas"))
    assert missing == {
        "package": "no-such",
        "version": None,
        "state": f"not installed: {fix}",
    }
    broken = package_record(Requirement("numpy", "numpy.no_such_part", (1,), "ragas"))
    assert broken["state"].startswith("broken: ")
    assert "no_such_part" in broken["state"]
    assert broken["state"].endswith(fix)


def test_a_version_is_compared_by_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = Requirement("some-package", "json", (1, 8), "some")
    for installed in ("1.8", "1.8rc1", "1.10.0", "1.8.0+cpu"):
        monkeypatch.setattr(
            importlib.metadata, "version", lambda _, found=installed: found
        )
        check(needed)
    for installed in ("1.7.9", "1.7rc1", "1", "unknown"):
        monkeypatch.setattr(
            importlib.metadata, "version", lambda _, found=installed: found
        )
        with pytest.raises(MissingDependencyError, match=r"1\.8.*pip install"):
            check(needed)


def test_the_workflow_tries_every_python_of_the_classifiers_and_may_write_nothing() -> (
    None
):
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    [matrix] = re.findall(r"^ +python: (\[.+\])$", workflow, re.MULTILINE)
    versions = [line.rpartition(" :: ")[2] for line in PROJECT["classifiers"]]
    assert json.loads(matrix) == [v for v in versions if v.startswith("3.")]
    assert re.findall(r"^permissions:\n((?:  .+\n)+)", workflow, re.MULTILINE) == [
        "  contents: read\n"
    ]
    assert ": write" not in workflow
    assert re.findall(r"uses: \S+@(\S+)", workflow) == ["v7.0.1", "v7.0.0"]
