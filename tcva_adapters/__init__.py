"""Five-level verdicts and a temperature of strictness for existing LLM evaluation suites.

Every public name is imported on first use, so that importing the package loads nothing else.
"""

import logging

import tcva_adapters.llm_adapters  # noqa: F401  # registers the adapters' LLMs, and loads none
from tcva_adapters._version import __version__ as __version__
from tcva_adapters.lazy import public_names

__getattr__, __dir__ = public_names(__name__)  # listed in the stub of this file

logging.getLogger(__name__).addHandler(
    logging.NullHandler()
)  # applications choose what they see
