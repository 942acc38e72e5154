"""A criterion's texts as RAGAS prompts, so that RAGAS' prompt tools work on them.

The judge's prompt is the same in every adapter, and only the texts of the criterion vary: its
wording and what the five levels mean. So these six are what `get_prompts` gives, what
`adapt_prompts` translates and what `save_prompts` writes. A changed text is another criterion, with
another store key.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel
from ragas.llms import BaseRagasLLM
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.prompt import PydanticPrompt
from ragas.prompt.pydantic_prompt import ToTranslate, translate_statements_prompt

from tcva_adapters.core.verdicts import LEVELS
from tcva_adapters.criteria import Criterion
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.scorer import R, Scorer


class JudgedTexts(BaseModel):
    """What is judged, as RAGAS names it."""

    user_input: str | None = None
    response: str | None = None
    retrieved_contexts: list[str] | None = None
    reference: str | None = None


class Verdicts(BaseModel):
    """What comes back: a level per claim."""

    levels: list[str]


class CriterionText(PydanticPrompt[JudgedTexts, Verdicts]):
    """One text of a criterion; ``instruction`` is the text.

    It is a part of the judge's prompt and is not sent by itself, so `generate` is refused, and
    there are no examples to add.
    """

    input_model = JudgedTexts
    output_model = Verdicts
    instruction = ""

    @classmethod
    def of(cls, name: str, text: str) -> CriterionText:
        """A prompt that holds this text."""
        prompt = cls()
        prompt.name, prompt.instruction, prompt.examples = name, text, []
        return prompt

    async def adapt(
        self,
        target_language: str,
        llm: BaseRagasLLM | InstructorBaseRagasLLM,
        adapt_instruction: bool = False,
    ) -> CriterionText:
        """The text in another language, by one call; without ``adapt_instruction`` as it is."""
        adapted = deepcopy(self)
        if adapt_instruction:
            wanted = ToTranslate(target_language=target_language, statements=[self.instruction])
            translated = await translate_statements_prompt.generate(llm=llm, data=wanted)
            adapted.instruction = translated.statements[0]
            adapted.language = target_language
        return adapted

    async def generate_multiple(self, *args: Any, **kwargs: Any) -> list[Verdicts]:
        """Refused.

        Raises:
            InvalidValueError: Always.
        """
        del args, kwargs
        msg = f"{self.name!r} is a text of a criterion, no prompt to send; score with the metric"
        raise InvalidValueError(msg)


Texts = dict[str, CriterionText]
"""The wording and the levels of a criterion, by what RAGAS calls them."""


def texts_of(scorer: Scorer[Any], known: Texts) -> Texts:
    """The six texts of a scorer's criterion; none where it has no criterion.

    Args:
        scorer: The scorer.
        known: Prompts that are taken where they hold the same text: they tell its language.
    """
    criterion: Criterion | None = getattr(scorer, "criterion", None)
    if criterion is None:
        return {}
    texts = zip(_NAMES, (criterion.wording, *criterion.levels), strict=True)
    return {
        name: known[name]
        if name in known and known[name].instruction == text
        else CriterionText.of(name, text)
        for name, text in texts
    }


_NAMES: Final = ("wording", *(level.value for level in LEVELS))


def with_texts(scorer: Scorer[R], texts: Texts) -> Scorer[R]:
    """The scorer with a criterion of these texts.

    Raises:
        InvalidValueError: The wording is empty.
    """
    if texts == texts_of(scorer, texts):
        return scorer
    wording, *levels = (text.instruction for text in texts.values())
    criterion = replace(scorer.criterion, wording=wording, levels=tuple(levels))  # type: ignore[attr-defined]  # it has texts
    return scorer.changed(criterion=criterion)


def replaced(texts: Texts, prompts: Mapping[str, object]) -> Texts:
    """The texts with some of them replaced.

    Raises:
        InvalidValueError: No text has this name; or not a text of a criterion, or with examples.
    """
    found = dict(texts)
    for name, prompt in prompts.items():
        if name not in texts:
            msg = f"there is no prompt {name!r}; there are: {', '.join(texts) or 'none'}"
            raise InvalidValueError(msg)
        if not isinstance(prompt, CriterionText):
            msg = (
                f"prompt {name!r} is a {type(prompt).__name__}; change the instruction of the one "
                "that get_prompts() gives, the judge's own frame stays around it"
            )
            raise InvalidValueError(msg)
        if prompt.examples:
            msg = f"prompt {name!r} has examples; a criterion is a text, change its instruction"
            raise InvalidValueError(msg)
        found[name] = deepcopy(prompt)
        found[name].name = name
    return found
