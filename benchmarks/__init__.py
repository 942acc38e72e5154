"""Measurements, run from a checkout: ``python -m benchmarks.NAME``."""

import ast
import sys
from pathlib import Path

if sys.argv[0] == "-m" and {"-h", "--help"} & {
    *sys.argv[1:]
}:  # in the command's own process
    _name = sys.orig_argv[sys.orig_argv.index("-m") + 1].rpartition(".")[2]
    _path = Path(__file__).with_name(_name)
    _path = _path / "__main__.py" if _path.is_dir() else _path.with_suffix(".py")
    _source = _path.read_text(encoding="utf-8")
    if "argparse" not in _source:  # which prints its own help
        sys.exit(print(ast.get_docstring(ast.parse(_source))))
