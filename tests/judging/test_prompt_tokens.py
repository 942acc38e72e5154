"""How long instructions are, counted by a common tokeniser, which one of the frameworks brings along."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import llama_index.core
import pytest
import tiktoken

from tcva_adapters import Sample
from tcva_adapters.criteria import CRITERIA
from tcva_adapters.judging.prompts import verdict_request

_TOKENISERS: Final = Path(llama_index.core.__file__).parent / "_static" / "tiktoken_cache"
SAMPLE: Final = Sample(input="When?", response="Daily.", contexts=("It runs.",), reference="Daily.")


def test_the_compact_form_has_at_most_350_tokens_of_instructions() -> None:
    with pytest.MonkeyPatch.context() as patch:  # so that nothing is loaded over a network
        patch.setenv("TIKTOKEN_CACHE_DIR", str(_TOKENISERS))
        tokens = tiktoken.get_encoding("cl100k_base").encode
    for criterion in CRITERIA.values():
        request = verdict_request(SAMPLE, criterion, ["It runs daily."] * 8, form="compact")
        ask = request.user.rpartition("\n\n")[2]
        assert ask.startswith("The data ends here.")
        assert len(tokens(f"{request.system}\n\n{ask}")) <= 350, criterion.name
