"""Figures for papers and notebooks, as matplotlib figures; pyplot's state stays untouched.

Every name is imported on first use and needs matplotlib: ``pip install 'tcva-adapters[plots]'``.
"""

from tcva_adapters.lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__)  # listed in the stub beside this file
