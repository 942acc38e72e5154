from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tcva_adapters import TCVA, Panel, Sample, rubric
from tcva_adapters.compare.runs.metric_judgement import _model_of
from tcva_adapters.core.verdicts import level_shares
from tcva_adapters.cost_estimate import estimate_cost
from tcva_adapters.data import sample_lines
from tcva_adapters.diagnosis import diagnose
from tcva_adapters.errors import InvalidValueError, MissingDependencyError
from tcva_adapters.results.result import Result
from tcva_adapters.results.store import VerdictStore
from tcva_adapters.scale import judge_batch

pytest.importorskip("onnxruntime", reason="the extra nli")
pytest.importorskip("onnx", reason="writes the models")

from tokenizers import Tokenizer, models, normalizers

from tcva_adapters.judges import cross_encoder
from tcva_adapters.judges.cross_encoder import CrossEncoder
from tcva_adapters.judges.nli import NLIJudge
from tests.support.cross_encoder import SPECIAL, THREE, save

CONTEXTS = (
    "The office opens at nine. It closes at five on weekdays. Parking is free for guests.",
    "Dogs are allowed in the garden. Cats stay at home.",
)
ANSWER = "The office opens at nine. Dogs are not allowed in the garden. Rents rise. Shall we?"
SAMPLE = Sample(response=ANSWER, contexts=CONTEXTS)
ONE = Sample(response="The office opens at nine.", contexts=CONTEXTS[:1])
Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return lambda name="tiny", **how: save(tmp_path / name, [ANSWER, *CONTEXTS], **how)


def judged(
    folder: Path, sample: Sample = SAMPLE, **settings: Any
) -> list[tuple[Any, ...]]:
    result = TCVA(judge=f"nli:{folder}", **settings).evaluate(sample)
    assert result.unscored is None
    return [
        (claim.verdict, claim.evidence, claim.context, claim.reason)
        for claim in result.claims
    ]


EXPECTED = [
    ("fully", "The office opens at nine.", 1, "P(entailment) 1.00"),
    ("none", "Dogs are allowed in the garden.", 2, "P(entailment) 0.00, contradicted"),
    ("none", "", None, "P(entailment) 0.00"),
    (None, "", None, "offer"),
]


@pytest.mark.parametrize(
    "classes", [THREE, THREE[::-1], ("neutral", "contradiction", "entailment")]
)
def test_the_order_of_three_classes_is_the_config_s(
    folder: Folder, classes: Any
) -> None:
    assert judged(folder(classes=classes)) == EXPECTED


@pytest.mark.parametrize("labels", [
    "not_entailment entailment", "SUPPORTED Not-supported", "consistent inconsistent",
    "unsupported supported", "supported",
])  # fmt: skip
def test_two_classes_and_a_single_logit(folder: Folder, labels: str) -> None:
    supported = ("SUPPORTED", "consistent", "entailment", "supported")
    kinds = [
        "entailment" if each in supported else "neutral" for each in labels.split()
    ]
    path = folder(classes=labels.split(), weights_like=kinds)
    assert [each[0] for each in judged(path)] == ["fully", "none", "none", None]


def test_chances_become_shares_and_levels(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tcva = TCVA(judge=f"nli:{folder()}", share=False)
    expected = (False, level_shares(0.6), "partial"), (True, (0, 0, 0, 1, 0), "minor")
    for is_contradicted, shares, level in expected:
        chance = cross_encoder.Chance(0.6, is_contradicted)
        monkeypatch.setattr(
            CrossEncoder, "chances", lambda _, p, c=chance: [c] * len(p)
        )
        [found] = tcva.evaluate(ONE).claims
        assert found.probabilities == pytest.approx(shares)
        assert found.verdict == level


@pytest.mark.parametrize("how", [
    {"inputs": ("input_ids", "attention_mask")}, {"graph": "onnx/model.onnx"},
    {"external": "weights.bin"}, {"graph": "onnx/model.onnx", "external": "model.onnx_data"},
    {"config": {"nli_template": "{premise} [SEP] {hypothesis}"}}, {"config": {"pad_token_id": 1}},
])  # fmt: skip
def test_other_exports_say_the_same(folder: Folder, how: Any) -> None:
    assert judged(folder(**how)) == EXPECTED


@pytest.mark.parametrize("template", [None, "{premise} [SEP] {hypothesis}"])
@pytest.mark.parametrize("at", [0, 20, 38])
def test_long_contexts_are_read_in_parts(
    folder: Folder, at: int, template: str | None
) -> None:
    """The graph fails with more tokens than it has positions for."""
    text = [
        f"It closes at five on weekdays and parking is free number {i}."
        for i in range(40)
    ]
    text[at] = "The office opens at nine."
    path = folder(config={"nli_template": template} if template else {})
    whole = " ".join(text)
    one = Sample(response=ONE.response, contexts=[whole])
    assert judged(path, one)[0][:2] == ("fully", text[at])
    # Two sentences, far from each other, are read together.
    far = Sample(
        response="The office opens at nine, cats stay.", contexts=[whole, "Cats stay."]
    )
    assert judged(path, far)[0][:2] == ("fully", text[at])
    alone = Sample(response=text[at], contexts=[f"{text[at]} Cats do not stay."])
    assert judged(path, alone)[0][0] == "fully"  # not with its neighbour
    long = Sample(response="The office " * 90 + "opens.", contexts=["词" * 900, whole])
    assert judged(path, long)[0][3].endswith("; only its beginning was read")


def test_quotes_occur_in_their_contexts_and_two_runs_are_equal(folder: Folder) -> None:
    samples = [
        Sample.model_validate_json(line) for line in sample_lines("doctor.jsonl")
    ]
    path = save(
        folder("other"), [f"{each.response} {each.contexts}" for each in samples]
    )
    tcva = TCVA(judge=f"nli:{path}", share=False)
    results = tcva.evaluate_many(samples)
    claims = [
        (c, s)
        for r, s in zip(results, samples, strict=True)
        for c in r.claims
        if c.evidence
    ]
    assert len(claims) > 6
    for claim, sample in claims:
        assert claim.evidence in (sample.contexts or ())[(claim.context or 0) - 1]
    again = asyncio.run(tcva.aevaluate_many(samples))
    assert [r.claims for r in again] == [r.claims for r in results]


@pytest.mark.parametrize(("name", "content", "said"), [
    ("model.onnx", None, "has no model.onnx; write it with optimum-cli"),
    ("tokenizer.json", None, "has no tokenizer.json; write it with optimum-cli"),
    ("config.json", None, "has no config.json; write it with optimum-cli"),
    ("weights.bin", None, "; write the folder with optimum-cli"),
    ("config.json", "{", "config.json cannot be used: Expecting"),
    ("config.json", "[5]", "config.json cannot be used: 'list' object"),
    ("tokenizer.json", "{}", "tokenizer.json cannot be used"),
    ("model.onnx", "no", "model.onnx cannot be used"), ("model.onnx", "", "model.onnx cannot be used"),
])  # fmt: skip
def test_folders_that_lack_files(
    folder: Folder, name: str, content: str | None, said: str
) -> None:
    path = folder(external="weights.bin")
    (path / name).unlink()
    if content is not None:
        (path / name).write_text(content)
    with pytest.raises(InvalidValueError) as error:
        NLIJudge(path)
    assert said in str(error.value)
    assert name in str(error.value)


NAMES = "names the classes"


@pytest.mark.parametrize(("how", "said"), [
    ({"config": {"id2label": None}}, 'has no id2label; set its "id2label" to what the'),
    ({"config": {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}}, f"{NAMES} LABEL_0, LABEL_1; set"),
    ({"config": {"id2label": {"1": "entailment", "2": "neutral"}}}, NAMES),
    ({"classes": ("LABEL_0",)}, 'or {"0": "supported"} for one'),
    ({"classes": ("entailment", "supported")}, f"{NAMES} entailment, supported; set its"),
    ({"config": {"max_position_embeddings": float("nan")}, "shape": "1,128"}, "model.onnx cannot"),
    ({"classes": THREE[:2], "weights_like": THREE}, "(1, 3) for 1 pairs and 2 classes in config"),
    ({"inputs": ("input_ids", "attention_mask", "decoder_input_ids")}, "decoder_input_ids"),
    ({"shape": "1,128"}, "model.onnx cannot be used: "),
    ({"length": 8}, "the model reads 8 tokens by config.json"),
    ({"config": {"nli_template": "so " * 40 + "{premise} {hypothesis}"}}, "48 tokens by config.json or tokenizer_config.json, and special"),
    ({"config": {"nli_template": 5}}, "must have {premise} and {hypothesis} once"),
    ({"config": {"model_max_length": 4}}, "the model reads 4 tokens"),
    ({"config": {"nli_template": "{premise}"}}, "must have {premise} and {hypothesis} once"),
])  # fmt: skip
def test_an_export_that_cannot_be_used_is_an_error(
    folder: Folder, how: Any, said: str
) -> None:
    with pytest.raises(InvalidValueError) as error:
        TCVA(judge=f"nli:{folder(**how)}")
    assert said in str(error.value)


def test_settings_and_criteria_that_it_cannot_follow_are_refused(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"nli:{folder()}"
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"judge": "nli:"}, "names no folder"),
        ({"judge": "nli:/nowhere"}, "there is no folder /nowhere"),
        ({"criterion": "answer_relevancy"}, "judges support only"),
        ({"criterion": rubric("tone", ["Is polite."])}, "judges support only"),
        ({"verdicts": "yes_no"}, r"verdicts='yes_no' needs a language model"),
        ({"repeats": 2}, "always gives the same verdicts"),
    )
    for settings, said in wrong:
        with pytest.raises(InvalidValueError, match=said):
            TCVA(**{"judge": name, **settings})
    for criterion in ("correctness", "completeness", "context_recall"):
        assert TCVA(criterion, judge=name).is_local
    judge = NLIJudge(name.removeprefix("nli:"))
    judge.name = "lexical-bert:x"
    with pytest.raises(InvalidValueError, match=r"framework metrics.*\(--with none\)"):
        _model_of(judge)
    monkeypatch.delitem(sys.modules, "tcva_adapters.judges.nli")
    monkeypatch.delitem(sys.modules, "tcva_adapters.judges.cross_encoder")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingDependencyError, match=r"pip install '\.\[nli\]'"):
        TCVA(judge=name)


def test_evaluators_share_what_was_judged(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, chances = f"nli:{folder()}", CrossEncoder.chances
    first, second = TCVA(judge=name), TCVA(judge=name, temperature="strict")
    asked: list[CrossEncoder] = []

    def counted(model: CrossEncoder, pairs: Any) -> Any:
        asked.append(model)
        return chances(model, pairs)

    monkeypatch.setattr(CrossEncoder, "chances", counted)
    with ThreadPoolExecutor(2) as pool:
        assert all(
            pool.map(
                lambda each: each.evaluate(SAMPLE).score is not None, (first, second)
            )
        )
    assert (
        first.changed(max_claims=9).evaluate(SAMPLE).claims
        == second.evaluate(SAMPLE).claims
    )
    assert estimate_cost({"tcva": first}, [SAMPLE]).records("calls")[0]["calls"] == 0
    assert (
        TCVA(judge=Panel([name, "lexical"]), fuse=name).evaluate(SAMPLE).score
        is not None
    )
    assert len(asked) == 1
    TCVA(judge=name, share=False).evaluate(SAMPLE)
    assert asked[0] is asked[1]


def test_a_store_serves_it_until_the_weights_change(
    folder: Folder, tmp_path: Path
) -> None:
    store = VerdictStore(tmp_path / "verdicts.sqlite")
    tcva = TCVA(judge=f"nli:{folder()}", store=store, share=False)
    assert not tcva.evaluate(SAMPLE).assessment.from_store
    copied = TCVA(judge=f"nli:{folder('copy')}", store=store, share=False)
    assert copied.evaluate(SAMPLE).assessment.from_store
    unnamed = NLIJudge(folder("unnamed", config={"_name_or_path": ""}))
    assert unnamed.name.startswith("nli:model@")
    path = folder(
        classes=("neutral", "entailment", "contradiction"), weights_like=THREE
    )
    other = tcva.changed()
    assert other.judge_name != tcva.judge_name
    assert not other.evaluate(SAMPLE).assessment.from_store
    spoiled = tcva.evaluate(SAMPLE.model_copy(update={"response": "Parking is free."}))
    assert spoiled.unscored is not None
    assert f"the files of {path} have changed" in spoiled.unscored.text


def _elsewhere(pickled: bytes, found: Any) -> None:
    found.put(pickle.loads(pickled).evaluate(SAMPLE).to_json())


@pytest.mark.parametrize("how", ["spawn", "fork"])
def test_another_process_loads_the_model(
    folder: Folder, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.chdir(folder().parent)
    tcva = TCVA(judge="nli:tiny")
    here = tcva.evaluate(SAMPLE)
    monkeypatch.chdir("/")
    context: Any = multiprocessing.get_context(how)
    found = context.Queue()
    # Another session that nothing else holds: in the child it must not wait for its threads.
    cross_encoder.load(folder("second").resolve())
    job = {"target": _elsewhere, "args": [pickle.dumps(tcva), found]}
    process = context.Process(**job, daemon=True)
    process.start()
    assert Result.from_json(found.get(timeout=20)).claims == here.claims
    process.join()
    batch = {"response": [ANSWER], "contexts": [list(CONTEXTS)]}
    settings = {"criterion": "faithfulness", "judge": tcva.arguments["judge"]}
    assert judge_batch(batch, settings=settings)["tcva_score"][0] == here.score


def test_doctor_tries_it_on_known_claims(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tcva_adapters.diagnosis.REQUIREMENTS", {})
    report, is_well = diagnose(f"nli:{folder()}")
    assert not is_well
    assert "not usable: fewer than 8 of 12 levels are right" in report.sentence
    assert report.records("test claims")[0]["claims"] == 12
    assert report.records("judge")[2] == {"what": "classes", "found": ", ".join(THREE)}


def test_threads_are_those_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert cross_encoder._threads() == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert cross_encoder._threads() == 4


SEPARATED = {
    "contexts": (
        "From Monday on {} the office opens at nine.",
        "The office opens at nine.",
    ),
    "claim": (
        "The office opens at nine, cats stay.",
        "The office {} opens at nine, cats stay.",
    ),
}
MARKS = [
    *SPECIAL,
    "</s>",
    "<s>",
    "[MASK]",
    "［SEP］",
    "[SEP][SEP]",
    "[[SEP]SEP]",
    "[SEP] " * 9,
]


@pytest.mark.parametrize("kind", ["words", "pieces"])
@pytest.mark.parametrize("template", [None, "{premise} [SEP] {hypothesis}"])
@pytest.mark.parametrize("mark", MARKS)
def test_special_tokens_in_a_text_are_words_of_it(
    folder: Folder, mark: str, template: str | None, kind: str
) -> None:
    """Behind the model's own separator the graph sees the claim."""
    path = folder(config={"nli_template": template} if template else {})
    if kind == "pieces":
        as_pieces(path)
    model = CrossEncoder(cross_encoder._files(path), None)
    held = [*SPECIAL, "</s>", "<s>", "[MASK]"]
    special = {model._tokenizer.token_to_id(name) for name in held} - {
        None,
        1,
    }  # 1 is [UNK]
    for premise, hypothesis in SEPARATED.values():
        texts = premise.format(mark), hypothesis.format(mark)
        own = [at for at in model._encoded(premise, hypothesis).ids if at in special]
        assert [at for at in model._encoded(*texts).ids if at in special] == own
        assert model.cut(texts[0], 40)[0] == texts[0]
    contexts = [SEPARATED["contexts"][0].format(mark)]
    if kind == "words":
        assert (
            judged(path, Sample(response=ONE.response, contexts=contexts))[0][0]
            == "fully"
        )


def as_pieces(path: Path) -> None:
    """A tokenizer whose vocabulary holds the special tokens as pieces, as those of DeBERTa and XLM-R."""
    words = Tokenizer.from_file(str(path / "tokenizer.json"))
    vocabulary = sorted(words.get_vocab().items(), key=lambda one: one[1])
    pieces = [(word, 0.0 if word in SPECIAL else -9.0) for word, _ in vocabulary]
    tokenizer = Tokenizer(models.Unigram(pieces, 1))
    tokenizer.add_special_tokens([*SPECIAL])
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.post_processor = words.post_processor
    tokenizer.save(str(path / "tokenizer.json"))


NAMES_OF_FILES = {
    "model.onnx": {}, "tokenizer.json": {}, "config.json": {}, "tokenizer_config.json": {},
    "w.bin": {"external": "w.bin"}, "w" * 126: {"external": "w" * 126}, "w" * 127: {"external": "w" * 127},
    "w" * 128: {"external": "w" * 128}, "w" * 200 + ".data": {"external": "w" * 200 + ".data"},
    "w" * 255: {"external": "w" * 255}, "重" * 80: {"external": "重" * 80},
    f"{'a' * 120}/{'b' * 120}": {"external": f"{'a' * 120}/{'b' * 120}"}, "sub/w.bin": {"external": "sub/w.bin"},
    "onnx/model.onnx": {"graph": "onnx/model.onnx"},
    "onnx/w.bin": {"graph": "onnx/model.onnx", "external": "w.bin"},
}  # fmt: skip


@pytest.mark.parametrize("linked", [False, True], ids=["file", "link"])
@pytest.mark.parametrize(
    "name", NAMES_OF_FILES, ids=lambda name: f"{len(name)}-{name[:20]}"
)
def test_whatever_can_change_an_answer_is_in_the_digest(
    folder: Folder, tmp_path: Path, name: str, linked: bool
) -> None:
    outer = Path(name).parent
    (tmp_path / "tiny" / outer).mkdir(parents=True)
    path = folder(**NAMES_OF_FILES[name])
    file = path / name
    if not file.exists():
        file.write_text("{}")
    if linked:
        file.rename(file.parent / "elsewhere")
        file.symlink_to("elsewhere")
    assert is_another(path, file)


def test_a_graph_may_be_a_link_to_one_with_weights_of_its_own(folder: Folder) -> None:
    path, other = folder("link", external="w.bin"), folder("other", external="w.bin")
    (path / "model.onnx").unlink()
    (path / "model.onnx").symlink_to(other / "model.onnx")
    assert is_another(path, other / "w.bin")


def is_another(path: Path, file: Path) -> bool:
    """Whether the judge of a folder has another name when a file has other content."""
    name, content = NLIJudge(path).name, file.read_bytes()
    other = content + b" "
    if file.name == "tokenizer.json":
        other = content.replace(b'"[UNK]"', b'"[CLS]"', 1)
    elif file.name == "model.onnx":
        other = content.replace(b"agraph", b"bgraph")
    assert other != content
    file.write_bytes(other)
    cross_encoder._loaded.clear()  # as in another process
    return NLIJudge(path).name != name
