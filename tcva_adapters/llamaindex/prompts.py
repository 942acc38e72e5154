"""A criterion's texts as LlamaIndex prompts: what ``get_prompts`` shows and ``update_prompts`` sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeVar

from llama_index.core.prompts import PromptTemplate
from llama_index.core.prompts.mixin import PromptDictType

from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.scorer import Scorer
from tcva_adapters.tcva import TCVA

AnyScorer = TypeVar("AnyScorer", bound=Scorer[Any])

_PROMPTS: Final = ("wording", *(level.value for level in LEVELS))


def prompts_of(scorer: Scorer[Any]) -> PromptDictType:
    """The wording and the meaning of each level; nothing where there is no criterion."""
    if not isinstance(scorer, TCVA):
        return {}
    texts = (scorer.criterion.wording, *scorer.criterion.levels)
    return {key: PromptTemplate(text) for key, text in zip(_PROMPTS, texts, strict=True)}


def with_prompts(scorer: AnyScorer, prompts: PromptDictType) -> AnyScorer:
    """A copy of a scorer whose criterion has other texts; they reach every judge under it.

    Raises:
        InvalidValueError: A prompt is unknown or no plain text, or the scorer has none to change.
    """
    now = prompts_of(scorer)
    for key in prompts:
        if not now:
            msg = f"the prompts of {type(scorer).__name__} are fixed, so {key!r} cannot be changed"
            raise InvalidValueError(msg)
        if key not in now:
            msg = f"no prompt {key!r}; the prompts are {', '.join(now)}"
            raise InvalidValueError(msg)
    if not isinstance(scorer, TCVA):
        return scorer
    texts: Any = {key: prompt.get_template() for key, prompt in now.items()}
    texts |= {key: _text(key, prompt, texts[key]) for key, prompt in prompts.items()}
    wording, *levels = texts.values()
    return scorer.changed(
        criterion=replace(scorer.criterion, wording=wording, levels=tuple(levels))
    )


def _text(key: str, prompt: Any, current: str) -> str:
    text: str = prompt.format()
    open_variables = [name for name in prompt.template_vars if name not in prompt.kwargs]
    if text != current and open_variables:
        msg = (
            f"prompt {key!r} has the variable {{{open_variables[0]}}}; it is a plain text: "
            "question, answer and contexts are added around it"
        )
        raise InvalidValueError(msg)
    return text
