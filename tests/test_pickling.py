"""Scorers and evaluators in other processes: their settings go there, without keys."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Sample
from tcva_adapters.ccrs import CCRS
from tcva_adapters.errors import InvalidValueError
from tcva_adapters.judges.panel import Panel
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.runner import SHARED
from tests.support.scripted import ScriptedModel
from tests.support.server import ScriptedServer, auto_judge

OPENS = "The office opens at nine."
SAMPLE = Sample(
    input="When does the office open?", response=OPENS, contexts=(OPENS,), reference=OPENS, id="s"
)


class Locked(ScriptedModel):
    """A judge model of a user's that holds what cannot be pickled, and a key."""

    def __init__(self) -> None:
        super().__init__([])

    def __repr__(self) -> str:
        return "Locked(key='sk-secret')"


BUILT: dict[str, Callable[..., Any]] = {
    "tcva": lambda judge, **how: TCVA(judge=judge, **how),
    "ccrs": lambda judge, **how: CCRS("qr", judge=judge, **how),
}

every_kind = pytest.mark.parametrize("make", BUILT.values(), ids=BUILT)


@every_kind
def test_every_evaluator_comes_back_with_its_store(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    made = make("lexical", store=tmp_path / "v.sqlite", threshold=0.7)
    again = pickle.loads(pickle.dumps(made))
    assert again.evaluate(SAMPLE) == made.evaluate(SAMPLE)
    assert (again.store.path, again.threshold) == (str(tmp_path / "v.sqlite"), 0.7)
    assert len(SHARED) == 0


@every_kind
def test_what_cannot_be_pickled_is_named_without_its_text(make: Callable[..., Any]) -> None:
    with pytest.raises(InvalidValueError, match=r"\(Locked\).*'openai:MODEL'") as refused:
        pickle.dumps(make(Locked()))
    assert "sk-secret" not in str(refused.value)
    with pytest.raises(InvalidValueError):
        pickle.dumps(make("lexical", store=":memory:"))


def test_a_panel_needs_judges_that_can_be_pickled_and_copies_are_itself() -> None:
    tcva = TCVA(judge=Panel(["lexical", Locked()]), store=":memory:")
    with pytest.raises(InvalidValueError, match=r"judge \(Panel\)"):
        pickle.dumps(tcva)
    assert copy.copy(tcva) is copy.deepcopy(tcva) is tcva
    # A function is left to those who pickle functions, such as cloudpickle.
    model = Locked()
    model._lock = lambda: None  # type: ignore[assignment]  # see above
    assert TCVA(judge=model).__reduce__()[0].keywords["judge"] is model


@pytest.mark.slow
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
# Python warns of forks beside threads, which is one of the ways tried here.
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_share_the_store_and_read_the_key_from_their_environment(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-environment")
    with ScriptedServer(auto_judge) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        tcva = TCVA(judge="openai:m", store=tmp_path / "v.sqlite")
        assert b"sk-secret" not in pickle.dumps(tcva)
        context: Any = multiprocessing.get_context(method)
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            score = pool.submit(tcva.evaluate, SAMPLE).result(timeout=120).score
        again = tcva.evaluate(SAMPLE)
        assert (again.score, again.assessment.from_store) == (score, True)
        assert server.count == 1
        for make in BUILT.values():
            assert b"sk-secret" not in pickle.dumps(make("openai:m"))
    given = OpenAICompatibleModel("m", base_url="http://127.0.0.1:1/v1", api_key="sk-by-hand")
    with pytest.raises(InvalidValueError) as refused:
        pickle.dumps(TCVA(judge=given))
    assert "sk-by-hand" not in str(refused.value)
