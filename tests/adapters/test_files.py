"""What is alike in the adapters stands in files of the same names."""

from pathlib import Path

import pytest

import tcva_adapters
from tcva_adapters.frameworks import FRAMEWORKS

COMMON = {"evaluator", "llm", "own_metrics", "offline", "results", "samples"}
PACKAGE = Path(tcva_adapters.__file__).parent


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_files_have_the_same_names_in_each_adapter(framework: str) -> None:
    files = {path.stem for path in (PACKAGE / framework).glob("*.py")}
    assert files >= COMMON


def test_no_module_of_the_adapters_is_imported_by_a_string() -> None:
    folders = ("_adapter", "ccrs", *FRAMEWORKS)
    paths = [PACKAGE / "demo.py", PACKAGE / "diagnosis.py"]
    paths += [path for name in folders for path in (PACKAGE / name).glob("*.py")]
    sources = [path.read_text(encoding="utf-8") for path in paths]
    assert len(sources) > len(folders) * len(COMMON) / 2
    assert not [source for source in sources if "import_module" in source]
