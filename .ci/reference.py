"""The reference in docs/reference, which a code host shows: Markdown made of docs/api and docstrings.

The entries and their order are those of docs/api, which Sphinx reads, too. Nothing of the package is
imported but the command line.

Run: python .ci/reference.py (`make reference`)
"""

from __future__ import annotations

import ast
import logging
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "docs" / "api"
TARGET = ROOT / "docs" / "reference"
MADE = (
    "<!-- Made by `make reference` from docs/api and the docstrings: change those. -->"
)

DIRECTIVE = re.compile(r"\.\. (?P<kind>[\w-]+)::(?: (?P<target>[\w.]+))?")
OPTION = re.compile(r"   :(?P<name>[\w-]+):(?: (?P<value>.+))?")
HEADING = re.compile(r"^(?P<title>\S.*)\n(?P<line>=+|-+)$", re.MULTILINE)
LISTED = ("parameters", "attributes", "raises", "warns", "returns", "yields")
Options = dict[str, str]

logging.getLogger("griffe").setLevel(
    "ERROR"
)  # it warns of types that stand in signatures


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    package = griffe.load(
        "tcva_adapters",
        search_paths=[str(ROOT)],
        docstring_parser="google",
        resolve_aliases=True,
        allow_inspection=False,
    )
    assert isinstance(package, griffe.Module)
    index = (SOURCES / "index.rst").read_text(encoding="utf-8")
    names = re.findall(r"^   (\w+)$", index, re.MULTILINE)
    made = {f"{name}.md": page(package, name) for name in names}
    lines = []
    for name, text in made.items():
        title = text.splitlines()[2].removeprefix("# ")
        entries = re.findall(r"^### `(?:\w+\.)*(\w+)`$", text, re.MULTILINE)
        shown = ", ".join(f"`{entry}`" for entry in entries) or "`tcva`"
        lines.append(f"| [{title}]({name}) | {shown} |\n")
    head = f"{MADE}\n\n# API reference\n\n| page | entries |\n|---|---|\n"
    return {"README.md": head + "".join(lines), **made}


def page(package: griffe.Module, name: str) -> str:
    """Make a page of a file of docs/api."""
    text = (SOURCES / f"{name}.rst").read_text(encoding="utf-8")
    text = HEADING.sub(
        lambda found: f"{'#' if '=' in found['line'] else '##'} {found['title']}", text
    )
    text = re.sub(r":doc:`/(\w+)`", lambda found: guide(found[1]), text)
    blocks = [MADE]
    for block in text.strip().split("\n\n"):
        first, *rest = block.splitlines()
        directive = DIRECTIVE.fullmatch(first)
        if directive is None:
            blocks.append(blocks_of(block))
        elif directive["kind"] == "command-help":
            helps = command_helps()
            blocks += [f"## {name}\n\n```text\n{text}\n```" for name, text in helps]
        else:
            found = [OPTION.fullmatch(line) for line in rest]
            options = {each["name"]: each["value"] or "" for each in found if each}
            blocks += entries(package, directive["kind"], directive["target"], options)
    return "\n\n".join(blocks) + "\n"


def guide(name: str) -> str:
    """A link to a page of prose, by its title."""
    first = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").splitlines()[0]
    return f"[{first.removeprefix('# ')}](../{name}.md)"


def entries(
    package: griffe.Module, kind: str, target: str, options: Options
) -> Iterator[str]:
    """What an autodoc directive shows."""
    described = resolved(package[target.removeprefix("tcva_adapters.")])
    if kind != "automodule":
        yield from entry(described, target, options)
        return
    yield from prose(described)
    wanted = options["members"].replace(",", " ").split() or public_names(described)
    left_out = options.get("exclude-members", "").split(",")
    for name in wanted:
        if name not in left_out:
            yield from entry(
                resolved(described[name]), f"{target}.{name}", {"members": ""}
            )


def public_names(module: griffe.Object | griffe.Alias) -> list[str]:
    """The names that a package's stub lists, or those that a module defines."""
    home = Path(str(module.filepath)).parent
    stub = home / "__init__.pyi"
    if module.is_init_module and stub.exists():
        return re.findall(r"\b(\w+) as \1\b", stub.read_text(encoding="utf-8"))
    return [
        name
        for name, member in module.members.items()
        if not name.startswith("_") and not member.is_alias and member.docstring
    ]


def resolved(member: griffe.Object | griffe.Alias) -> griffe.Object:
    """What a name stands for."""
    return member.final_target if isinstance(member, griffe.Alias) else member


def entry(described: griffe.Object, path: str, options: Options) -> Iterator[str]:
    """A class, function or value with its docstring, and the members that are asked for."""
    yield f"### `{path}`"
    yield from signature(described)
    yield from prose(described)
    if not isinstance(described, griffe.Class):
        return
    yield from settings(described)
    if "members" not in options:
        return
    wanted = options["members"].replace(",", " ").split()
    left_out = [name.strip() for name in options.get("exclude-members", "").split(",")]
    inherited = (
        described.all_members if "inherited-members" in options or wanted else {}
    )
    for name, member in {**described.members, **inherited}.items():
        is_public = not name.startswith("_") and name not in left_out
        has_text = member.docstring or "undoc-members" in options
        if name in wanted or (is_public and not wanted and has_text):
            yield f"#### `{path.rpartition('.')[2]}.{name}`"
            yield from signature(resolved(member))
            yield from prose(resolved(member))


def signature(described: griffe.Object) -> Iterator[str]:
    """How it is called, in a block; nothing for a value without a type."""
    lines: list[str] = []
    match described:
        case griffe.Function():
            kind = "async def" if "async" in described.labels else "def"
            returns = "" if described.returns is None else f" -> {described.returns}"
            lines += [call(f"{kind} {described.name}", described.parameters, returns)]
        case griffe.Class():
            bases = ", ".join(map(str, described.bases))
            lines += [f"class {described.name}" + (f"({bases})" if bases else "")]
            made = described.all_members.get("__init__")
            if made is not None and isinstance(resolved(made), griffe.Function):
                lines += [call(described.name, made.parameters)]
        case griffe.Attribute() if described.annotation is not None:
            lines += [f"{described.name}: {described.annotation}"]
        case griffe.Attribute() if described.docstring is None:
            lines += [f"{described.name} = {described.value}"]
    if lines:
        yield "\n".join(["```python", *lines, "```"])


def call(name: str, parameters: griffe.Parameters, returns: str = "") -> str:
    """A signature; one that is long has a parameter a line."""
    parts: list[str] = []
    for parameter in parameters:
        if parameter.name in {"self", "cls"}:
            continue
        is_keyword = parameter.kind is griffe.ParameterKind.keyword_only
        if is_keyword and not any(part.startswith("*") for part in parts):
            parts.append("*")
        parts.append(argument(parameter))
    line = f"{name}({', '.join(parts)}){returns}"
    if len(line) <= 88:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){returns}"])


def argument(parameter: griffe.Parameter) -> str:
    """A parameter as it stands in code."""
    stars = {
        griffe.ParameterKind.var_positional: "*",
        griffe.ParameterKind.var_keyword: "**",
    }.get(parameter.kind, "")
    text = f"{stars}{parameter.name}"
    if parameter.annotation is not None:
        text += f": {parameter.annotation}"
    if stars or parameter.default is None:
        return text
    return (
        f"{text} = {parameter.default}"
        if ":" in text
        else f"{text}={parameter.default}"
    )


def settings(described: griffe.Class) -> Iterator[str]:
    """The fields of a model of settings, which say what they mean."""
    lines = []
    for name, member in described.all_members.items():
        value = str(getattr(resolved(member), "value", ""))
        if value.startswith("Field(") and "description=" in value:
            keywords = ast.parse(value, mode="eval").body.keywords  # type: ignore[attr-defined]  # a call
            given = {each.arg: ast.unparse(each.value) for each in keywords}
            meaning = ast.literal_eval(given["description"])
            default = given.get("default", given.get("default_factory", "..."))
            lines.append(f"- `{name}`: {meaning} Default: `{default}`.")
    if lines:
        yield "\n".join(["Settings:\n", *lines])


def prose(described: griffe.Object) -> Iterator[str]:
    """The docstring, its sections as lists."""
    for section in described.docstring.parsed if described.docstring else ():
        name = section.kind.value
        if name == "text":
            yield blocks_of(section.value)
        elif name == "admonition":
            yield f"{section.title}: {blocks_of(section.value.description)}"
        elif name == "examples":
            yield from (blocks_of(text) for _, text in section.value)
        elif name in LISTED:
            title = "Arguments" if name == "parameters" else name.capitalize()
            lines = [item(name, each) for each in section.value]
            yield "\n".join([f"{title}:\n", *lines])
        else:
            sys.exit(f"{described.path} has a section {name!r}, which nothing writes")


def item(section: str, each: griffe.DocstringElement) -> str:
    """A line of a list: a name, or what is raised, with its meaning."""
    name = getattr(each, "name", "") or (
        str(each.annotation) if section in {"raises", "warns"} else ""
    )
    text = textwrap.indent(blocks_of(each.description), "  ").strip()
    return f"- `{name}`: {text}" if name else f"- {text}"


def blocks_of(text: str) -> str:
    """Markdown of what docstrings are written in: examples and tables stand in blocks."""
    made = []
    for block in re.split(r"\n\n(?! )", text.strip()):
        lines = block.splitlines()
        if lines[0].startswith(">>> "):
            made.append(f"```pycon\n{block}\n```")
        elif lines[0].startswith("=="):
            made.append(f"```text\n{block}\n```")
        else:
            made.append(re.sub(r"::$", ":", block, flags=re.MULTILINE))
    return re.sub(r"``(.+?)``", r"`\1`", "\n\n".join(made))


def command_helps() -> Iterator[tuple[str, str]]:
    """Each command with its ``--help``, as plain text of 80 columns."""
    sys.path.insert(0, str(ROOT))
    import click  # noqa: PLC0415  # only this page needs the command line
    import typer.main  # noqa: PLC0415  # see above

    from tcva_adapters.cli.app import app, imported_command  # noqa: PLC0415  # see above

    def helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
        command.rich_markup_mode = None  # else it is printed, in boxes
        with click.Context(command, info_name=name, terminal_width=80) as context:
            yield name, command.get_help(context)
        for sub, listed in getattr(command, "commands", {}).items():
            whole = imported_command(sub) if name == "tcva" else listed
            yield from helps(whole, f"{name} {sub}")

    yield from helps(typer.main.get_command(app), "tcva")


def main(arguments: Sequence[str]) -> None:
    """Write the pages; with ``--check``, say which of them are not what would be written."""
    made = pages()
    old = {path.name: path.read_text(encoding="utf-8") for path in TARGET.glob("*.md")}
    if "--check" in arguments:
        stale = sorted(
            name for name in made.keys() | old if made.get(name) != old.get(name)
        )
        sys.exit(
            f"docs/reference: {', '.join(stale)}; run make reference" if stale else 0
        )
    TARGET.mkdir(exist_ok=True)
    for name in old.keys() - made:
        (TARGET / name).unlink()
    for name, text in made.items():
        (TARGET / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
