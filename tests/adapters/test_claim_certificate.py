"""A certificate of claims in a settings file: what it depends on, and that all adapters check it.

``pytest tests/adapters/test_claim_certificate.py -v`` lists the settings with what becomes of it.
"""

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("scipy", reason="the extra stats")

from tcva_adapters import TCVA, Config, Result
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.recommendation import recommended
from tcva_adapters.errors import GuaranteeWarning, InvalidValueError
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tcva_adapters.results.guarantee import ClaimGuarantee, Guarantee
from tcva_adapters.streaming import AnswerStream
from tests.adapters.table import Adapter, each_adapter
from tests.support.certified import (
    GOOD,
    HOLDS,
    LOST,
    MIXED,
    RATED,
    certified,
    state_of,
)


@cache
def certified_for_claims() -> Config:
    """As `tcva calibrate --max-unsupported 0.1` writes them, with each answer mixed with a bad claim."""
    samples = [
        sample.model_copy(update={"response": MIXED.response}) for sample in RATED
    ]
    results = TCVA(judge="lexical").evaluate_many(samples)
    labels = {str(sample.id): ["fully", "none"] for sample in samples}
    return recommended(calibrate(results, labels, max_unsupported=0.1))


def test_a_settings_file_carries_it(tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    certified_for_claims().dump(path)
    read = Config.load(path)
    assert read == certified_for_claims()
    assert isinstance(read.guarantee, ClaimGuarantee)
    scorer = TCVA.from_config(path, judge="lexical")
    result = scorer.evaluate(MIXED)
    assert state_of(result) == HOLDS
    assert result.supported().text == GOOD.response
    assert result.guarantee is not None
    assert "at most 10 % of all questions get an answer" in result.guarantee.text
    again = Result.from_json(result.to_json())
    assert (again, again.certified, state_of(again)) == (result, read.guarantee, HOLDS)
    certified().dump(tmp_path / "gate.json")
    gate = Config.load(tmp_path / "gate.json").guarantee
    assert isinstance(gate, Guarantee)
    assert gate == certified().guarantee


RUNS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "claim_threshold": ({"claim_threshold": "partial"}, LOST),
    "max_removed": ({"max_removed": 0.5}, LOST),
    "scheme": ({"scheme": "linear"}, LOST),
    "evidence": ({"evidence": "off"}, LOST),
    "earlier contexts": ({"uncontexted": "earlier"}, LOST),
    "another judge": ({"judge": "openai:m"}, LOST),
    "repeats": ({"fuse": "lexical"}, LOST),
    "criterion": ({"criterion": "correctness"}, LOST),
    "temperature": ({"temperature": 0.2}, HOLDS),
    "threshold": ({"threshold": 0.9}, HOLDS),
    "penalty": ({"penalty": "off"}, HOLDS),
    "bounds": ({"bounds": (-4, 12)}, HOLDS),
    "profiles": ({"profiles": {"domain": {"a": 0.2}}}, HOLDS),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.filterwarnings("ignore::tcva_adapters.errors.GuaranteeWarning")
def test_what_it_depends_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    settings, state = RUNS[name]
    unjudged = TCVA(judge="lexical").evaluate(MIXED).assessment
    unjudged = unjudged.model_copy(update={"judged_by": {}})
    config = certified_for_claims()
    options = {"judge": "lexical", **settings}
    assert state_of(TCVA.from_config(config, **options).result(unjudged)) == state


@pytest.mark.filterwarnings("ignore::tcva_adapters.errors.GuaranteeWarning")
def test_more_cuts_keep_a_limit_on_errors_alone() -> None:
    """With wrong citations cut besides, fewer answers are served, and fewer good ones pass."""

    def state(config: Config, used: bool, made: bool = False, **of: Any) -> str | None:
        """What becomes of a certificate of other limits."""
        assert config.guarantee is not None
        setting = {**config.guarantee.setting, "require_citations": made}
        update = {"setting": setting, **of}
        guarantee = config.guarantee.model_copy(update=update).with_digest()
        changed = config.model_copy(update={"guarantee": guarantee})
        scorer = TCVA.from_config(changed, judge="lexical", require_citations=used)
        return state_of(scorer.evaluate(MIXED))

    for made in (False, True):
        claims, gate = certified_for_claims(), certified()
        assert state(claims, True, made) == state(claims, False, made) == HOLDS
        assert state(gate, True, made) == state(gate, False, made) == HOLDS
        for of in ({"of": "served"}, {"of": "all"}):
            expected = HOLDS if of["of"] == "all" else LOST
            assert state(claims, True, made, **of) == expected
            assert state(claims, False, made, **of) == HOLDS
        limit = {"min_true_pass": 0.5}
        assert state(gate, True, made, **limit) == LOST
        assert state(gate, False, made, **limit) == HOLDS


@pytest.mark.filterwarnings("ignore::tcva_adapters.errors.GuaranteeWarning")
def test_one_of_another_split_is_lost_and_says_so() -> None:
    config = certified_for_claims()
    assert config.guarantee is not None
    judged_by = {**config.guarantee.judged_by}
    del judged_by["split of claims"]
    old = config.guarantee.model_copy(update={"judged_by": judged_by}).with_digest()
    scorer = TCVA.from_config(
        config.model_copy(update={"guarantee": old}), judge="lexical"
    )
    check = scorer.evaluate(GOOD).guarantee
    assert check is not None
    assert check.state == "lost"
    assert "split of claims 2 instead of" in check.text


@pytest.mark.parametrize("setting", [{"claim_threshold": 0.9}, {"max_removed": 0.0}])
def test_a_gate_does_not_depend_on_what_is_cut(setting: dict[str, Any]) -> None:
    scorer = TCVA.from_config(certified(), judge="lexical", **setting)
    assert state_of(scorer.evaluate(GOOD)) == HOLDS


EDITS: Final = (
    ("max_unsupported", 0.01),
    ("risk", 0.0),
    ("of", "served"),
    ("rejected_below", "none"),
    ("n", 1000),
    ("digest", None),
)


@pytest.mark.parametrize(("field", "value"), EDITS)
def test_an_edited_one_is_lost(field: str, value: object, tmp_path: Path) -> None:
    plain = json.loads(certified_for_claims().model_dump_json(exclude_none=True))
    plain["guarantee"][field] = value
    if value == certified_for_claims().guarantee.model_dump()[field]:  # type: ignore[union-attr]  # it has one
        plain["guarantee"][field] = 0.5
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.warns(GuaranteeWarning, match="edited after it was made"):
        assert state_of(TCVA.from_config(path, judge="lexical").evaluate(GOOD)) == LOST


def test_one_that_does_not_fit_names_the_field() -> None:
    plain = json.loads(certified_for_claims().model_dump_json(exclude_none=True))
    plain["guarantee"]["bound"] = 2
    with pytest.raises(InvalidValueError, match="guarantee: bound must be at most 1"):
        Config(**plain)
    result = TCVA.from_config(certified_for_claims(), judge="lexical").evaluate(GOOD)
    written = result.to_dict()
    written["certified"]["bound"] = 2
    with pytest.raises(Exception, match="bound must be at most 1"):
        Result.from_dict(written)


@each_adapter
def test_every_adapter_carries_and_checks_it(adapter: Adapter, tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    certified_for_claims().dump(path)
    evaluator = adapter.drop_in.from_config(path, **{adapter.judge: "lexical"})
    (result,) = adapter.suite([evaluator], [MIXED], False)[0]
    assert isinstance(result, Result)
    assert state_of(result) == HOLDS
    assert result.supported(sample=MIXED).text == GOOD.response
    other = adapter.changed(evaluator, claim_threshold=0.1)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        (result,) = adapter.suite([other], [MIXED], False)[0]
    assert state_of(result) == LOST
    assert "claim_threshold 0.1 instead of" in result.reason
    assert [each for each in warned if "claim_threshold 0.1" in str(each.message)]


def test_a_stream_of_a_local_judge_keeps_it() -> None:
    scorer = TCVA.from_config(certified_for_claims(), judge="lexical")
    stream = AnswerStream(scorer, MIXED.model_copy(update={"response": None}))
    assert (
        "".join(part.text for part in stream.chunks(MIXED.response or ""))
        == GOOD.response
    )
    assert stream.served is not None
    assert state_of(stream.served.result) == HOLDS


@pytest.mark.filterwarnings("ignore::tcva_adapters.errors.GuaranteeWarning")
@pytest.mark.parametrize(("certified", "used"), [(True, False), (False, True)])
def test_it_names_how_a_model_was_asked(certified: bool, used: bool) -> None:
    """What was certified of whole answers does not hold for streamed ones, nor the other way round."""
    judge = OpenAICompatibleModel(
        "m", base_url="http://127.0.0.1:9/v1", api_key="sk-none"
    )
    scorers = [TCVA(judge=judge, streamed=streamed) for streamed in (certified, used)]
    guarantee = certified_for_claims().guarantee
    assert guarantee is not None
    known = scorers[0].judged_by()
    own = guarantee.model_copy(update={"judged_by": known}).with_digest()
    unjudged = TCVA(judge="lexical").evaluate(MIXED).assessment
    unjudged = unjudged.model_copy(update={"judged_by": {}})
    threshold = own.setting["claim_threshold"]
    same, other = (
        scorer.changed(guarantee=own, claim_threshold=threshold).result(unjudged)
        for scorer in scorers
    )
    assert (state_of(same), state_of(other)) == (HOLDS, LOST)
    assert "streamed " in str(other.guarantee)
