"""TCVA in LlamaIndex: an evaluator, LlamaIndex's own evaluators, and its LLMs as judges.

Every name is imported on first use; LlamaIndex itself takes two seconds to import.
"""

from tcva_adapters.lazy import public_names

__getattr__, __dir__ = public_names(__name__)  # listed in the stub of this file
