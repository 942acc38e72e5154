"""Sphinx settings for `make docs`: the pages of this folder, and the reference from docstrings.

Sphinx reads the names of this module (https://www.sphinx-doc.org/en/master/usage/configuration.html).
"""

from __future__ import annotations

import ast
import os
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

# The frameworks are imported for the adapters' docstrings: their telemetry is off.
os.environ |= {
    "RAGAS_DO_NOT_TRACK": "true",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "COLUMNS": "80",
}

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.autodoc.mock import mock
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(Path(__file__).parents[1] / ".ci"))
from reference import command_helps

from tcva_adapters import __version__
from tcva_adapters.results.settings_base import SettingsModel

# Autodoc imports a module as type checkers read it, unless it is loaded; pydantic's models fail then.
for package in ("", ".langchain", ".llamaindex", ".ragas", ".deepeval", ".scale"):
    module = import_module(f"tcva_adapters{package}")
    for name in module.__all__:
        getattr(module, name)

# Inspect is no package for development: its names stand in for it.
with mock(["inspect_ai"]), patch("tcva_adapters.lazy.check"):
    import_module("tcva_adapters.inspect_ai")

project = "tcva-adapters"
release = version = __version__
author = "The tcva-adapters developers"
copyright = author  # noqa: A001  # Sphinx' name

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["reference"]  # the same, for code hosts
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # pages are included below other headings

html_theme = "furo"
html_title = f"tcva-adapters {version}"
html_show_copyright = html_show_sphinx = html_copy_source = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_here_doc_delimiter = "END"

# A name in single backticks of a docstring is a reference: one that leads nowhere fails the build.
default_role = "py:obj"
FOREIGN = {
    *(
        "numpy",
        "collections",
        "openai",
        "langchain_core",
        "llama_index",
        "ragas",
        "deepeval",
    ),
    *("scipy", "DeepEvalError"),
}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {
    "exclude-members": "model_config,model_post_init"
}  # pydantic's own
napoleon_numpy_docstring = False
napoleon_use_ivar = True


class CommandHelp(SphinxDirective):
    """The ``--help`` of every command."""

    def run(self) -> list[nodes.Node]:
        """A section for each command."""
        return [self._section(name, text) for name, text in command_helps()]

    @staticmethod
    def _section(name: str, text: str) -> nodes.section:
        section = nodes.section(ids=[name.replace(" ", "-")], names=[name])
        section += [
            nodes.title(text=name),
            nodes.literal_block(text, text, language="text"),
        ]
        return section


def resolve(
    sphinx: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> nodes.Node | None:
    """A reference by a name's end (`Result.at`), or plain text for a name that needs no entry."""
    if node["refdomain"] != "py":
        return None
    domain, target = env.domains.python_domain, node["reftarget"].lstrip(".")
    found = sorted(
        (name for name in domain.objects if name.endswith(f".{target}")), key=len
    )
    if found:
        at = node["refdoc"]
        return domain.resolve_xref(
            env, at, sphinx.builder, "obj", found[0], node, shown
        )
    is_foreign = target.partition(".")[0] in FOREIGN
    last = target.rpartition(".")[2]
    is_name = last.isidentifier()  # else it is code in an annotation
    is_known = is_foreign or not is_name or last in names_in_the_code()
    return shown if is_known else None


@cache
def names_in_the_code() -> set[str]:
    """Every name that a module of the package defines or imports, parameters included."""
    found = set()
    for path in Path(__file__).parents[1].glob("tcva_adapters/**/*.py"):
        for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match part:
                case (
                    ast.FunctionDef()
                    | ast.AsyncFunctionDef()
                    | ast.ClassDef()
                    | ast.alias()
                ):
                    found.add(part.name)
                case ast.arg():
                    found.add(part.arg)
                case ast.Name():
                    found.add(part.id)
    return found


def describe_settings(
    _: Sphinx, __: str, ___: str, model: object, ____: object, lines: list[str]
) -> None:
    """Give a model of settings its meanings, which stand in its fields."""
    if isinstance(model, type) and issubclass(model, SettingsModel):
        lines += ["", "Attributes:"]
        lines += [
            f"    {name}: {field.description} Default: ``{field.default!r}``."
            for name, field in model.model_fields.items()
        ]


def keep_sentences(
    _: Sphinx, what: str, __: str, ___: object, ____: object, lines: list[str]
) -> None:
    """Keep napoleon from taking a sentence with a colon for a type and its description."""
    for number, line in enumerate(lines):
        begins = number == 0 and what in {"property", "attribute"}
        if (begins or lines[number - 1].strip() == "Returns:") and ": " in line:
            lines[number] = re.sub(r"(?=\S)", ": ", line, count=1)


def setup(sphinx: Sphinx) -> None:
    """Adds what Sphinx itself does not have."""
    sphinx.add_directive("command-help", CommandHelp)
    sphinx.connect("missing-reference", resolve)
    sphinx.connect("autodoc-process-docstring", describe_settings, priority=300)
    sphinx.connect(
        "autodoc-process-docstring", keep_sentences, priority=400
    )  # napoleon's is 500
