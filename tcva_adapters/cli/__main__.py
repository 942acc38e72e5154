"""``python -m tcva_adapters.cli``: the same as ``tcva``."""

from tcva_adapters.cli.app import main

main()
