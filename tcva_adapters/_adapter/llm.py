"""Judge models made of frameworks' LLM objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tcva_adapters._adapter.llm_address import address_of
from tcva_adapters._adapter.llm_settings import (
    MODEL_NAMES,
    SETTINGS,
    further_arguments,
    further_digests,
    named_settings,
    recorded_names,
)
from tcva_adapters._adapter.lookup import Arguments
from tcva_adapters.models.judge_model import Identity, JudgeRequest

CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS"})
"""Names of providers for the reason that a reply was cut off."""


class LLMObject:
    """A judge model that asks an LLM object of a framework.

    Exceptions of the LLM pass through; `protocol.complete` makes a `JudgeError` of them.

    Args:
        llm: The LLM; its client, retries, callbacks and limits stay in force.

    Attributes:
        framework: Its name in `FRAMEWORKS`.
        settings: The names of settings that can change a reply.
        prompt: The form in which a prompt is sent: ``messages`` (instructions and sample as two of
            them), or a name for another one.
        llm: The same.
        name: The framework's name, and the model's, or that of its class where it has none.
    """

    framework: ClassVar[str]
    settings: ClassVar[Sequence[str]] = SETTINGS
    prompt = "messages"

    def __init__(self, llm: Any) -> None:
        self.llm = llm

    @property
    def name(self) -> str:
        """The framework and the model's name, as it is now."""
        return f"{self.framework}:{self._model_name()}"

    @property
    def parameters(self) -> Arguments:
        """The settings that can change a reply, as they are now; no secrets."""
        return named_settings(reversed(self._holders()), self.settings)

    def known(self, parameters: Arguments) -> Arguments:
        """Complete parameters with all else that identifies the LLM now; None is not sent.

        That is all that it sends, or that changes what it sends: settings unchanged, anything else
        as a digest, and ``unknown`` for values without one. Of the classes that wrap the model,
        only those of the user count.
        """
        core = self._core()
        arguments = further_arguments(core, reversed(self._holders()))
        settings = {**dict.fromkeys(recorded_names(core)), **parameters}
        settings |= {
            name: arguments[name] for name in self.settings if name in arguments
        }
        return {
            **settings,
            **further_digests(core, arguments, settings),
            "address": self._address(),
        }

    @property
    def identity(self) -> Identity:
        """The identity of the LLM: the same object is the same judge."""
        return Identity(self.llm)

    def _address(self) -> str:
        """Return host and path of its server, or ``unknown``."""
        return address_of(self._core())

    def _core(self) -> Any:
        """Return the LLM inside its wrappers."""
        return self.llm

    def _holders(self) -> Sequence[object]:
        """Return the objects or mappings with its settings; the first that has one wins."""
        return (self._core(),)

    def _model_name(self) -> str:
        core = self._core()
        names = (getattr(core, name, None) for name in MODEL_NAMES)
        texts = (name for name in names if isinstance(name, str) and name)
        return next(texts, type(core).__name__)


def takes_logprobs(llm: object) -> bool:
    """Whether an LLM of a pydantic class can be asked for token probabilities with a call."""
    fields = getattr(type(llm), "model_fields", {})
    return "logprobs" in fields and "top_logprobs" in fields


def one_text(request: JudgeRequest) -> str:
    """Join instructions and sample into one text, for LLMs that take no messages."""
    return f"{request.system}\n\n{request.user}"
