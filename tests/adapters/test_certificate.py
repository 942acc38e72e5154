"""A certificate that was edited does not hold, nor does one for another run; and each says why.

``pytest tests/adapters/test_certificate.py -v`` lists the edits of the file and the differences of the run.
"""

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("scipy", reason="the extra stats")

from tcva_adapters import TCVA, Panel, Result
from tcva_adapters.criteria import FAITHFULNESS
from tcva_adapters.errors import GuaranteeWarning
from tcva_adapters.models.openai_model import OpenAICompatibleModel
from tests.adapters.table import Adapter, each_adapter
from tests.cli.conftest import Run, tcva, write  # noqa: F401  # a fixture
from tests.support.certified import (
    GOOD,
    HOLDS,
    LOST,
    certified,
    certified_by,
    state_of,
)

EDITED: Final = "was edited after it was made; calibrate again"
Plain = dict[str, Any]


def _set(name: str, value: Any) -> Callable[[Plain], Any]:
    return lambda plain: plain["guarantee"].__setitem__(name, value)


def _inner(part: str, name: str, value: Any) -> Callable[[Plain], Any]:
    return lambda plain: plain["guarantee"][part].__setitem__(name, value)


def _without(part: str, name: str) -> Callable[[Plain], Any]:
    return lambda plain: plain["guarantee"][part].pop(name)


def _everywhere(name: str, value: Any) -> Callable[[Plain], Any]:
    def edit(plain: Plain) -> None:
        plain["settings"][name] = plain["guarantee"]["setting"][name] = value

    return edit


def _criterion(plain: Plain) -> None:
    plain["criterion"] = plain["guarantee"]["judged_by"]["criterion"] = (
        "answer_relevancy"
    )


EDITS: Final[dict[str, Callable[[Plain], Any]]] = {
    **{
        name: _set(name, value)
        for name, value in {
            "max_false_pass": 0.01, "min_true_pass": 0.9, "confidence": 0.99,
            "human_threshold": 0.9, "human_scale": [0, 5], "rejected": 4000, "false_pass": 0.001,
            "bound": 0.01, "good": 4000, "true_pass": 0.5, "true_bound": 0.999, "groups": 7,
            "by": "domain", "date": "2030-01-01", "judged_by": {}, "a key added": 1,
        }.items()
    },
    "a limit removed": lambda plain: plain["guarantee"].pop("max_false_pass"),
    "judged_by removed": lambda plain: plain["guarantee"].pop("judged_by"),
    "the setting emptied": _set("setting", {}),
    "threshold in the certificate": _inner("setting", "threshold", 0.9),
    "threshold everywhere": _everywhere("threshold", 0.9),
    "temperature everywhere": _everywhere("temperature", 0.9),
    "scheme everywhere": _everywhere("scheme", "linear"),
    "evidence everywhere": _everywhere("evidence", "off"),
    "an unknown setting": _inner("setting", "thresholdd", 0.9),
    "judge": _inner("judged_by", "judge", "gpt-4.1-mini"),
    "judge removed": _without("judged_by", "judge"),
    "prompt version": _inner("judged_by", "prompt_version", "9"),
    "prompt version removed": _without("judged_by", "prompt_version"),
    "the criterion's text": _inner("judged_by", "texts of the criterion", "0" * 16),
    "the criterion's text removed": _without("judged_by", "texts of the criterion"),
    "the criterion everywhere": _criterion,
    "address": _inner("judged_by", "address", "host/v1"),
    "an unknown address": _inner("judged_by", "address", "unknown"),
    "a panel's rule": _inner("judged_by", "combine", "fused"),
    "a sampling temperature": _inner("judged_by", "sampling temperature", 0.7),
    "a key in judged_by": _inner("judged_by", "top_p", 0.5),
    "another digest": _set("digest", "0" * 64),
    "an empty digest": _set("digest", ""),
    "no digest": lambda plain: plain["guarantee"].pop("digest"),
}  # fmt: skip
OUTSIDE: Final[dict[str, Callable[[Plain], Any]]] = {
    "threshold in the settings": lambda plain: plain["settings"].__setitem__(
        "threshold", 0.9
    ),
    "threshold removed": lambda plain: plain["settings"].pop("threshold"),
    "temperature in the settings": lambda plain: plain["settings"].__setitem__(
        "temperature", 0.9
    ),
    "a setting more": lambda plain: plain["settings"].__setitem__("on_unscored", 1.0),
    "profiles": lambda plain: plain.__setitem__("profiles", {"domain": {"a": 0.2}}),
    "the criterion in the settings": lambda plain: plain.__setitem__(
        "criterion", "correctness"
    ),
}


def edited(edit: Callable[[Plain], Any], path: Path) -> Path:
    plain = json.loads(certified().model_dump_json(exclude_none=True))
    edit(plain)
    path.write_text(json.dumps(plain), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_certificate_loses_the_guarantee(name: str, tmp_path: Path) -> None:
    path = edited(EDITS[name], tmp_path / "gate.json")
    scorer = TCVA.from_config(path, judge="lexical")
    with pytest.warns(GuaranteeWarning, match=EDITED):
        result = scorer.evaluate(GOOD.model_copy(update={"reference": "At nine."}))
    assert state_of(result) == LOST
    assert EDITED in result.reason
    again = Result.from_json(result.to_json())
    assert (state_of(again), state_of(again.at(0.2))) == (LOST, LOST)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_setting_edited_outside_the_certificate_loses_the_guarantee(
    name: str, tmp_path: Path
) -> None:
    path = edited(OUTSIDE[name], tmp_path / "gate.json")
    scorer = TCVA.from_config(path, judge="lexical")
    with pytest.warns(GuaranteeWarning, match="lost: "):
        assert (
            state_of(scorer.evaluate(GOOD.model_copy(update={"reference": "At nine."})))
            == LOST
        )


def test_a_certificate_holds_however_its_json_is_written(tmp_path: Path) -> None:
    plain = json.loads(certified().model_dump_json(exclude_none=True))
    plain["guarantee"] = dict(reversed(plain["guarantee"].items()))
    plain["guarantee"]["human_scale"] = [0, 1]  # as JavaScript writes 0.0 and 1.0
    plain["guarantee"]["true_pass"] = 1
    plain["guarantee"]["groups"] = None
    del plain["guarantee"]["confidence"]  # which is the usual one
    path = tmp_path / "renamed.json"
    path.write_text(json.dumps(plain, indent=7), encoding="utf-8-sig")
    scorer = TCVA.from_config(path, judge="lexical")
    assert [state_of(scorer.evaluate(GOOD)) for _ in range(2)] == [HOLDS, HOLDS]
    assert state_of(scorer.changed(share=False).evaluate(GOOD)) == HOLDS


@each_adapter
def test_evaluators_tell_of_an_edited_certificate(
    adapter: Adapter, tmp_path: Path
) -> None:
    path = edited(EDITS["threshold everywhere"], tmp_path / "gate.json")
    evaluator = adapter.drop_in.from_config(path, **{adapter.judge: "lexical"})
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        (result,) = adapter.suite([evaluator], [GOOD], False)[0]
    assert state_of(result) == LOST
    assert EDITED in result.reason
    assert [each for each in warned if EDITED in str(each.message)]


def test_commands_tell_of_an_edited_certificate(tcva: Run, tmp_path: Path) -> None:  # noqa: F811  # the fixture
    write(
        "samples.jsonl",
        {"answer": GOOD.response, "contexts": list(GOOD.contexts or ())},
    )
    for name, edit in EDITS.items():
        if name == "the criterion everywhere":
            continue  # which lacks its question
        run = [
            "evaluate",
            "samples.jsonl",
            "--judge",
            "lexical",
            "--out",
            "x.jsonl",
            "--overwrite",
        ]
        done = tcva(
            *run, "--config", edited(edit, tmp_path / "gate.json"), "--markdown", "x.md"
        )
        assert EDITED in " ".join(done.out.split()), name
        assert EDITED in " ".join(done.err.split()), name
        assert EDITED in Path("x.md").read_text(encoding="utf-8")


def _model(name: str = "m", **settings: Any) -> OpenAICompatibleModel:
    how: Any = {
        "base_url": "http://127.0.0.1:9/v1",
        "api_key": "sk-never-shown-1234567890",
    }
    return OpenAICompatibleModel(name, **{**how, **settings})


def _other(**fields: Any) -> Any:
    return replace(FAITHFULNESS, **fields)


RUNS: Final[dict[str, Plain]] = {
    "the instruction of a criterion": {"criterion": _other(instruction="Be strict.")},
    "the levels of a criterion": {"criterion": _other(levels=tuple("abcde"))},
    "what a criterion shows": {"criterion": _other(shows=())},
    "what a criterion holds claims against": {"criterion": _other(against="reference")},
    "the statements of a criterion": {"criterion": _other(statements=("It is polite.",))},
    "the evidence of a criterion": {"criterion": _other(checks_evidence=False)},
    "sampling temperature": {"judge": _model(temperature=0.7)},
    "server": {"judge": _model(base_url="http://127.0.0.1:8/v1")},
    "max_tokens": {"judge": _model(max_tokens=50)},
    "seed": {"judge": _model(seed=7)},
    "no seed": {"judge": _model(seed=None)},
    "claims": {"claims": "llm"},
    "max_claims": {"max_claims": 3},
    "verdicts": {"verdicts": "yes_no"},
    "repeats": {"repeats": 2},
    "an additional judge": {"fuse": "lexical"},
    "a panel of the judge and another": {"judge": Panel([_model(), "lexical"])},
    "threshold": {"threshold": 0.9},
    "temperature": {"temperature": 0.1},
    "weights": {"scheme": (1, 0.9, 0.5, 0.1, 0)},
    "penalty": {"penalty": "off"},
    "exponents": {"bounds": (-4, 12)},
    "evidence": {"evidence": "off"},
    "profiles": {"profiles": {"domain": {"a": 0.2}}},
    "uncontexted": {"uncontexted": "earlier"},
    "on_unscored": {"on_unscored": 1.0},
}  # fmt: skip


def _unjudged() -> Any:
    return (
        TCVA(judge="lexical")
        .evaluate(GOOD)
        .assessment.model_copy(update={"judged_by": {}})
    )


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.filterwarnings("ignore::tcva_adapters.errors.GuaranteeWarning")
def test_a_run_that_differs_from_the_certified_one_loses_the_guarantee(
    name: str,
) -> None:
    config = certified_by(_model())
    same = TCVA.from_config(config, judge=_model()).result(_unjudged())
    assert state_of(same) == HOLDS
    other = TCVA.from_config(config, **{"judge": _model(), **RUNS[name]}).result(
        _unjudged()
    )
    assert state_of(other) == LOST, other.guarantee


PANEL: Final = Panel([_model(), "lexical"])
PANELS: Final[dict[str, Plain]] = {
    "the rule": {"judge": Panel([_model(), "lexical"], combine="fused")},
    "how many must answer": {"judge": Panel([_model(), "lexical"], least=2)},
    "a member": {"judge": Panel([_model(max_tokens=50), "lexical"])},
    "a member more": {"judge": Panel([_model(), "lexical", _model("n")])},
    "a member less": {"judge": _model()},
    "the order": {"judge": Panel(["lexical", _model()])},
    "a member's sampling temperature": {
        "judge": Panel([_model(temperature=0.7), "lexical"])
    },
    "a member's server": {"judge": Panel([_model(base_url="http://h/v1"), "lexical"])},
}


@pytest.mark.parametrize("name", PANELS)
@pytest.mark.filterwarnings("ignore::tcva_adapters.errors.GuaranteeWarning")
def test_a_panel_that_differs_from_the_certified_one_loses_the_guarantee(
    name: str,
) -> None:
    config = certified_by(PANEL)
    assert state_of(TCVA.from_config(config, judge=PANEL).result(_unjudged())) == HOLDS
    assert (
        state_of(TCVA.from_config(config, **PANELS[name]).result(_unjudged())) == LOST
    )


def test_looking_gives_no_guarantee_to_results_of_another_judge() -> None:
    other = TCVA(judge="lexical", fuse="lexical").evaluate(GOOD)
    scorer = TCVA.from_config(certified(), judge="lexical")
    with pytest.warns(GuaranteeWarning, match="lost: fused faithfulness by"):
        result = scorer.result(Result.from_json(other.to_json()).assessment)
    assert state_of(result) == LOST
    read_back = Result.from_json(scorer.evaluate(GOOD).to_json()).assessment
    assert state_of(scorer.result(read_back)) == HOLDS
