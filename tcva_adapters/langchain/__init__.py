"""TCVA in LangChain: a Runnable, a gate, LangSmith and classic evaluators, middleware.

Every name is imported on first use. Only `TCVAStringEvaluator`, LangChain's own evaluators and
`LexicalLLM` need langchain-classic, and only `TCVAMiddleware` needs langchain; everything else
needs langchain-core alone.
"""

from tcva_adapters.lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__)  # listed in the stub beside this file
