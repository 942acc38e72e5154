"""What must be in wheel and sdist, and what must not.

Run: python .ci/check_release.py dist
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

IN_THE_WHEEL = {
    "tcva_adapters/py.typed",
    "tcva_adapters/__init__.py",
    "tcva_adapters/__init__.pyi",
    "tcva_adapters/data/samples.jsonl",
    "tcva_adapters/report/page.html",
}
IN_THE_SDIST = {
    *IN_THE_WHEEL,
    *(
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
    ),
    *(
        "conftest.py",
        "tests/test_loading.py",
        "docs/concepts.md",
        "examples/data/samples.jsonl",
    ),
    *("web/build.mjs", "web/src/main.js", "docs/images/report_overview.png"),
}
METADATA = {
    "License-Expression": "Apache-2.0",
    "Requires-Python": ">=3.11",
    "Description-Content-Type": "text/markdown",
}


def files_of(package: Path) -> set[str]:
    """The files of the package's source, as both archives name them."""
    return {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def faults_of_wheel(wheel: Path) -> list[str]:
    """What is wrong with the wheel, a sentence each."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        about = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(about).decode("utf-8"))
    info = about.removesuffix("METADATA")
    wanted = IN_THE_WHEEL | files_of(Path("tcva_adapters"))
    faults = [f"the wheel lacks {name}" for name in sorted(wanted - names)]
    faults += [
        f"the wheel holds {name}"
        for name in sorted(names - wanted)
        if not name.startswith(info) or name.endswith(".py")
    ]
    faults += [
        f"the wheel lacks {name}"
        for name in (f"{info}licenses/LICENSE", f"{info}entry_points.txt")
        if name not in names
    ]
    return [*faults, *faults_of_metadata(metadata)]


def faults_of_metadata(metadata: Message) -> list[str]:
    """What is wrong with the metadata, a sentence each."""
    faults = [
        f"{key} is {metadata[key]!r}, not {value!r}"
        for key, value in METADATA.items()
        if metadata[key] != value
    ]
    if not metadata.get_all("Project-URL"):
        faults.append("the metadata names no project URL")
    if "](docs/" in metadata.get_payload():
        faults.append(
            "a link of the README leads nowhere on an index page: make it absolute"
        )
    return faults


def faults_of_sdist(sdist: Path) -> list[str]:
    """What is wrong with the sdist, a sentence each."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    faults = [f"the sdist lacks {name}" for name in sorted(IN_THE_SDIST - names)]
    return faults + [
        f"the sdist holds {name}"
        for name in sorted(names)
        if name.startswith(
            (".venv", "dist/", ".mypy_cache", ".hypothesis", "web/node_modules")
        )
        or ".sqlite" in name
    ]


def main() -> None:
    """Ends with the faults, or says that there are none."""
    folder = Path(sys.argv[1])
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    faults = [*faults_of_wheel(wheel), *faults_of_sdist(sdist)]
    if faults:
        sys.exit("\n".join(faults))
    for archive in (wheel, sdist):
        print(f"{archive.name}: {archive.stat().st_size / 1000:.0f} kB, all there")


if __name__ == "__main__":
    main()
