"""``python -m tcva_adapters``: the same as ``tcva``."""

from tcva_adapters.cli.app import main

main()
