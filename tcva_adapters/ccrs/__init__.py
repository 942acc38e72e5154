"""CCRS: five direct metrics. A judge rates a whole answer with one number from 0 to 100.

Source: A. Muhamed, CCRS (LLM4Eval at SIGIR 2025), section 2.3 and appendix B.
"""

from tcva_adapters.lazy import public_names

__getattr__, __dir__ = public_names(__name__)  # listed in the stub of this file
