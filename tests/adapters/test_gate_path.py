"""From the results of a framework to a gate, as a user goes, and back into the framework."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("scipy", reason="the extra stats")

import pandas as pd  # type: ignore[import-untyped]  # no stubs among our requirements

import tests.deepeval.entry as deepeval_entry
import tests.langchain.entry as langchain_entry
import tests.ragas.entry as ragas_entry
from tcva_adapters import TCVA, llamaindex, ragas
from tcva_adapters.compare import calibrate
from tcva_adapters.compare.calibration.recommendation import recommended
from tcva_adapters.errors import GuaranteeWarning
from tcva_adapters.models.judge_model import JudgeRequest, ModelReply
from tcva_adapters.results.writer import write_results
from tests.adapters.table import ADAPTERS, Adapter, each_adapter
from tests.cli.conftest import Run, tcva  # noqa: F401  # a fixture
from tests.support.certified import (
    BAD,
    GOOD,
    HOLDS,
    LOST,
    OPEN,
    RATED,
    RATINGS,
    state_of,
)
from tests.support.office import ONE
from tests.support.scripted import verdict_json


def _ragas(evaluator: Any) -> str:
    lenient = evaluator.changed(temperature=0.9)  # the same verdicts in another column
    frame = ragas.results_to_pandas(ragas_entry.evaluated([evaluator, lenient], *RATED))
    frame["human"] = RATINGS
    frame.to_csv("scores.csv", index=False)
    return "scores.csv"


def _collections(evaluator: Any) -> str:
    rows = [ragas_entry.turn(each).to_dict() for each in RATED]
    scores = [evaluator.score(**row) for row in rows]
    columns = {"tcva": [score.value for score in scores], "human": RATINGS}
    columns["tcva_result"] = [score.result.to_json() for score in scores]
    pd.DataFrame(rows).assign(**columns).to_csv("scores.csv")
    return "scores.csv"


def _deepeval(evaluator: Any) -> str:
    found = deepeval_entry.evaluated(
        [deepeval_entry.case_of(each) for each in RATED], [evaluator]
    )
    Path("run.json").write_text(found.model_dump_json(), encoding="utf-8")
    return "run.json"


def _langchain(evaluator: Any) -> str:
    outputs = evaluator.batch(langchain_entry.records(RATED))
    Path("outputs.jsonl").write_text(
        "\n".join(map(json.dumps, outputs)), encoding="utf-8"
    )
    return "outputs.jsonl"


def _llamaindex(evaluator: Any) -> str:
    found = []
    for sample in RATED:
        fields = {
            "query": sample.input,
            "response": sample.response,
            "contexts": sample.contexts,
        }
        found.append(evaluator.evaluate(**fields, metadata=sample.metadata))
    write_results("judged.jsonl", map(llamaindex.result_of, found))
    return "judged.jsonl"


class Seeded:
    """A model of one name and of several seeds."""

    name = "m"

    def __init__(self, seed: int) -> None:
        self.parameters = {
            "server": "h/v1",
            "temperature": 0,
            "seed": seed,
            "max_tokens": 9,
        }

    def complete(self, request: JudgeRequest) -> ModelReply:
        word = "none" if "old ships" in request.user else "fully"
        return ModelReply(verdict_json((1, word, "The office opens at nine.")))

    async def acomplete(self, request: JudgeRequest) -> ModelReply:
        return self.complete(request)


JUDGES: Final = (Seeded(0), Seeded(1))

FILES: Final[dict[str, Callable[[Any], str]]] = {
    "ragas": _ragas,
    "ragas collections": _collections,
    "deepeval": _deepeval,
    "langchain": _langchain,
    "llamaindex": _llamaindex,
}
"""By adapter, what writes the results of rated answers as its page says."""


@each_adapter
def test_from_a_frameworks_results_to_a_gate(adapter: Adapter, tcva: Run) -> None:  # noqa: F811  # the fixture
    file = FILES[adapter.name](adapter.built("lexical"))
    limit = [
        "--human",
        "human",
        "--max-false-pass",
        "0.1",
        "--out",
        "gate.json",
        "--json",
    ]
    guarantee = tcva("calibrate", file, *limit).json["settings"]["guarantee"]
    assert (guarantee["rejected"], guarantee["good"]) == (40, 40)
    evaluator = adapter.drop_in.from_config("gate.json", **{adapter.judge: "lexical"})
    results = adapter.suite([evaluator], [GOOD, BAD], False)[0]
    assert [(state_of(each), each.passed) for each in results] == [
        (HOLDS, True),
        (HOLDS, False),
    ]
    other = adapter.llm(lambda _: ONE)
    evaluator = adapter.drop_in.from_config("gate.json", **{adapter.judge: other})
    with pytest.warns(
        GuaranteeWarning, match=r"lost: judge scripted instead of lexical/6"
    ):
        assert state_of(adapter.score(evaluator, GOOD)) == LOST


def test_a_gate_of_one_adapter_holds_in_the_others(tcva: Run) -> None:  # noqa: F811  # the fixture
    file = FILES["ragas"](ADAPTERS[0].built("lexical"))
    tcva(
        "calibrate",
        file,
        "--human",
        "human",
        "--max-false-pass",
        "0.1",
        "--out",
        "gate.json",
    )
    for adapter in ADAPTERS:
        evaluator = adapter.drop_in.from_config(
            "gate.json", **{adapter.judge: "lexical"}
        )
        assert state_of(adapter.score(evaluator, GOOD)) == HOLDS


def test_ragas_own_table_has_no_verdicts_and_the_message_says_what_has(
    tcva: Run,  # noqa: F811  # the fixture
) -> None:
    frame = ragas_entry.evaluated([ADAPTERS[0].built("lexical")], *RATED).to_pandas()
    frame.assign(human=RATINGS).to_csv("scores.csv", index=False)
    for limit in ([], ["--max-false-pass", "0.1"]):
        failed = tcva("calibrate", "scores.csv", "--human", "human", *limit, code=2)
        assert "results_to_pandas(evaluation).to_csv" in failed.text


def test_two_judgements_in_one_table_are_refused(tcva: Run) -> None:  # noqa: F811  # the fixture
    other = ragas.TCVAMetric(llm="lexical", criterion="answer_relevancy")
    evaluation = ragas_entry.evaluated([ADAPTERS[0].built("lexical"), other], *RATED)
    ragas.results_to_pandas(evaluation).assign(human=RATINGS).to_csv("scores.csv")
    failed = tcva("calibrate", "scores.csv", "--max-false-pass", "0.1", code=2)
    assert (
        "2 judgements: answer_relevancy by lexical/6, faithfulness by lexical/6"
        in failed.text
    )


def test_answers_that_were_judged_in_two_ways_certify_none_of_them() -> None:
    first, second = (
        TCVA(judge=one).evaluate_many(RATED[place::2])
        for place, one in enumerate(JUDGES)
    )
    report = calibrate(
        [*first, *second], [*RATINGS[::2], *RATINGS[1::2]], max_false_pass=0.1
    )
    config = recommended(report)
    for judge in JUDGES:
        with pytest.warns(GuaranteeWarning, match="seed"):
            assert (
                state_of(TCVA.from_config(config, judge=judge).evaluate(GOOD)) == OPEN
            )


def test_rows_without_a_result_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = ragas.results_to_pandas(
        ragas_entry.evaluated([ADAPTERS[0].built("lexical")], *RATED)
    )
    frame.loc[0, "tcva_faithfulness_result"] = None
    frame.assign(human=RATINGS).to_csv("scores.csv")
    guarantee = calibrate("scores.csv", max_false_pass=0.1).settings["guarantee"]
    assert (guarantee["rejected"], guarantee["good"]) == (40, 39)
