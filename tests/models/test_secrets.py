"""Keys that an object holds, found by their names."""

from __future__ import annotations

from pydantic import SecretStr

from tcva_adapters.models.secrets import mask_of

KEY = "given-by-hand-0123456789"


def test_keys_are_found_in_what_is_wrapped_and_other_texts_are_left() -> None:
    class Llm:
        def __init__(self, **held: object) -> None:
            vars(self).update(held)

    inner = Llm(client=Llm(api_key=KEY), model_name="a-model-of-16-letters")
    wrapped = Llm(bound=inner, fallbacks=[Llm(credential=SecretStr("another-key-77"))])
    assert mask_of(wrapped)(f"{KEY} a-model-of-16-letters another-key-77") == (
        "*** a-model-of-16-letters ***"
    )
    inner.llm = inner  # type: ignore[attr-defined]  # in a circle
    assert mask_of(inner)(KEY) == "***"
