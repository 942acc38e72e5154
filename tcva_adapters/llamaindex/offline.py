"""The lexical judge as a LlamaIndex LLM: LlamaIndex's faithfulness, unmodified, offline.

The same judge as behind ``TCVAEvaluator("lexical")``, seen through LlamaIndex's yes and no.
"""

from __future__ import annotations

from typing import Any, NoReturn

from llama_index.core.evaluation import faithfulness
from llama_index.core.llms import CustomLLM, LLMMetadata
from llama_index.core.prompts import BasePromptTemplate

from tcva_adapters._adapter.offline import NAME, is_supported, unknown_prompt

_KNOWN = "LlamaIndex's faithfulness evaluator"
_TEMPLATE = faithfulness.DEFAULT_EVAL_TEMPLATE.get_template()
_WINDOW = 1_000_000
"""Tokens; large enough for all contexts of a sample to reach the judge at once."""


class LexicalLLM(CustomLLM):
    """Answers LlamaIndex's faithfulness evaluator with the lexical judge's verdicts.

    It answers ``YES`` if the context fully or mostly supports every claim of the answer. It is not
    a language model: any other prompt raises `JudgeError`.

    >>> from llama_index.core.evaluation import FaithfulnessEvaluator
    >>> evaluator = FaithfulnessEvaluator(llm=LexicalLLM())
    >>> evaluator.evaluate(response="It opens at nine.", contexts=["It opens at nine."]).score
    1.0
    """

    @property
    def metadata(self) -> LLMMetadata:
        """The metadata that LlamaIndex needs, with the lexical judge's name."""
        return LLMMetadata(model_name=NAME, context_window=_WINDOW)

    def predict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """Answer the prompt of LlamaIndex's faithfulness evaluator.

        Raises:
            JudgeError: It is another prompt.
        """
        if prompt.get_template() != _TEMPLATE:
            # Not a ValueError: LlamaIndex's query engines log those and go on with an empty
            # answer, which an evaluator would take for a NO.
            raise unknown_prompt(_KNOWN, prompt.get_template())
        values = {**prompt.kwargs, **prompt_args}
        return (
            "YES"
            if is_supported(values["query_str"], [values["context_str"]])
            else "NO"
        )

    async def apredict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """The same, awaited; it does not wait for anything.

        Raises:
            JudgeError: See `predict`.
        """
        return self.predict(prompt, **prompt_args)

    def complete(
        self,
        prompt: str,
        *_: object,
        **__: object,
    ) -> NoReturn:
        """Refuse a prompt that is not that of the faithfulness evaluator.

        Raises:
            JudgeError: Always.
        """
        raise unknown_prompt(_KNOWN, prompt)

    stream_complete = complete
