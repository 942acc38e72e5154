"""TCVA in DeepEval: a metric, DeepEval's own metrics, and its LLMs as judges.

Every name is imported on first use; DeepEval itself takes seconds to import.
"""

from tcva_adapters.lazy import public_names

__getattr__, __dir__ = public_names(__name__)  # listed in the stub of this file
