"""TCVA in LangChain: a Runnable, a gate, LangSmith and classic evaluators, middleware.

Every name is imported on first use. `TCVAStringEvaluator`, `LexicalLLM` and LangChain's own
evaluators need langchain-classic, `TCVAMiddleware` needs langchain; everything else needs only
langchain-core.
"""

from tcva_adapters.lazy import public_names

__getattr__, __dir__ = public_names(__name__)  # listed in the stub of this file
