"""A criterion's texts as RAGAS prompts, so that RAGAS' prompt tools work on them.

The judge's prompt is the same in every adapter, and only the texts of the criterion vary: its
wording and what the five levels mean. So these six are what `get_prompts` gives, what
`adapt_prompts` translates and what `save_prompts` writes. A changed text is another criterion, with
another store key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel
from ragas.llms import BaseRagasLLM
from ragas.llms.base import InstructorBaseRagasLLM
from ragas.prompt import PydanticPrompt
from ragas.prompt.pydantic_prompt import ToTranslate, translate_statements_prompt

from tcva_adapters.claims.criteria import Criterion
from tcva_adapters.errors import InvalidValueError


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
    def of(cls, text: str) -> CriterionText:
        """A prompt that holds this text."""
        prompt = cls()
        prompt.instruction = text
        prompt.examples = []
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


class Wording(CriterionText):
    """What the judge is to decide."""


class Fully(CriterionText):
    """What the level means."""


class Mostly(CriterionText):
    """What the level means."""


class Partial(CriterionText):
    """What the level means."""


class Minor(CriterionText):
    """What the level means."""


class NoSupport(CriterionText):
    """What the level ``none`` means."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "none"  # which no class can be called, after which RAGAS names a prompt


_KINDS: Final[tuple[type[CriterionText], ...]] = (Wording, Fully, Mostly, Partial, Minor, NoSupport)


def texts_of(criterion: Criterion) -> list[CriterionText]:
    """The six texts of a criterion: the wording, then the levels, fully first."""
    texts = (criterion.wording, *criterion.levels)
    return [kind.of(text) for kind, text in zip(_KINDS, texts, strict=True)]


def with_texts(criterion: Criterion, prompts: Iterable[CriterionText]) -> Criterion:
    """The criterion with the texts that the prompts hold now.

    Raises:
        InvalidValueError: The wording is empty, or a prompt was given examples.
    """
    wording, *levels = (_text(prompt) for prompt in prompts)
    if (wording, *levels) == (criterion.wording, *criterion.levels):
        return criterion
    return replace(criterion, wording=wording, levels=tuple(levels))  # type: ignore[arg-type]  # five


def _text(prompt: CriterionText) -> str:
    if prompt.examples:
        msg = f"prompt {prompt.name!r} has examples; a criterion is a text, change its instruction"
        raise InvalidValueError(msg)
    return prompt.instruction


def check_prompts(prompts: Mapping[str, object]) -> None:
    """Check what is to replace texts of a criterion.

    Raises:
        InvalidValueError: Not a text of a criterion, or one with examples.
    """
    for key, prompt in prompts.items():
        if not isinstance(prompt, CriterionText):
            msg = (
                f"prompt {key!r} is a {type(prompt).__name__}; change the instruction of the one "
                "that get_prompts() gives, the judge's own frame stays around it"
            )
            raise InvalidValueError(msg)
        _text(prompt)
