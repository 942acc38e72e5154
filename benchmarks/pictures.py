"""The pictures of the report in docs/images, taken by a browser: `make pictures`.

Run: python -m benchmarks.pictures
The package's samples are judged by the lexical judge and by the frameworks' own metrics; the second
run has the whole contexts, of which the first one has a part. Each picture is of a few colours,
so that it stays small; look at them before you commit them.
"""

import json
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from importlib import import_module
from io import BytesIO, StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from PIL import Image
from playwright.sync_api import Browser

from examples.whose_fault import CRITERIA, answers
from tcva_adapters import TCVA, Sample, report
from tcva_adapters.cli.settings import silence_frameworks
from tcva_adapters.compare import Run
from tcva_adapters.data import sample_lines
from tcva_adapters.frameworks import FRAMEWORKS
from tests.support.browser import launched, opened

ROOT: Final = Path(__file__).resolve().parents[1]
SAMPLES: Final = ROOT / "tcva_adapters/data/samples.jsonl"
FOLDER: Final = ROOT / "docs/images"
COLOURS: Final = 64
LARGEST: Final = 150_000
SAMPLE: Final = "medical-004"
METRICS: Final = ("ragas", "deepeval")
DIFFERENT: Final = ("45 mg", "60 mg")
STYLE: Final = """
body { font: 17px/1.45 "DejaVu Sans", sans-serif; color: #1b1f24; background: #fff; margin: 0 }
main { width: 940px; padding: 24px 28px } h1 { font-size: 23px; margin: 0 0 16px } p { margin: 0 0 6px }
.small { color: #57606a; font-size: 15px } mark { background: #ffd8d3; font-weight: bold }
table { border-collapse: collapse; width: 100% } td { padding: 6px 10px; border-top: 1px solid #d0d7de }
.both { display: grid; grid-template-columns: 590px 320px; gap: 30px; margin-top: 18px }
td.level { font-weight: bold; width: 60px; color: #1a7f37 } .none td { background: #ffebe9 }
.none td.level { color: #c1121f } .score { font-weight: bold; text-align: right }
"""


class Picture(NamedTuple):
    """One picture.

    Attributes:
        name: Of the file.
        report: Of ``compared``, ``changed`` and ``diagnosed``.
        link: The place in it.
        height: Of the window.
        key: Pressed before it is taken.
    """

    name: str
    report: str
    link: str
    height: int = 860
    key: str = ""


PICTURES: Final = (
    Picture("report_overview", "compared", "#view=overview"),
    Picture("report_methods", "compared", "#view=methods&method=ragas%20faithfulness"),
    Picture(
        "report_sample", "compared", "#view=sample&sample=medical-004", height=1180
    ),
    Picture("report_changes", "changed", "#view=changes"),
    Picture("report_diagnosis", "diagnosed", "#view=diagnosis", height=560),
    Picture("report_label", "compared", "#view=label", height=900, key="ArrowRight"),
)


def reports(folder: Path) -> dict[str, Path]:
    """The reports that the pictures show, by name."""
    silence_frameworks()
    samples = [Sample.from_record(json.loads(line)) for line in sample_lines()]
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        table = Run(samples, {"judge": "lexical"}).table()
    # A retriever that found only the first part of each context, and one that finds all of it.
    for name, given in {
        "before": [halved(sample) for sample in samples],
        "after": samples,
    }.items():
        lines = [
            result.to_json() for result in TCVA(judge="lexical").evaluate_many(given)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    compared, changed = folder / "compared.html", folder / "changed.html"
    report.write(table, compared, title="Three assistants")
    two = [str(folder / f"{name}.jsonl") for name in ("before", "after")]
    report.write(two, changed, title="Two runs", samples=SAMPLES)
    diagnosed = folder / "diagnosed.html"
    answered = answers()
    judged = {
        name: TCVA(name, judge="lexical").evaluate_many(answered, progress=False)
        for name in CRITERIA
    }
    report.write(judged, diagnosed, title="A library's bot", samples=answered)
    return {"compared": compared, "changed": changed, "diagnosed": diagnosed}


def halved(sample: Sample) -> Sample:
    """The sample with the first two thirds of each context."""
    contexts = tuple(text[: len(text) * 2 // 3] for text in sample.contexts or ())
    return sample.model_copy(update={"contexts": contexts})


def take(browser: Browser, picture: Picture, file: Path) -> bytes:
    """The picture as PNG, of few colours."""
    size: Any = {"width": 1280, "height": picture.height}
    context = browser.new_context(viewport=size, reduced_motion="reduce")
    page = opened(context, file, picture.link)
    if picture.key:
        page.page.keyboard.press(picture.key)
    page.page.wait_for_timeout(500)
    whole = Image.open(BytesIO(page.page.screenshot()))
    context.close()
    stream = BytesIO()
    few = whole.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def hidden_claim() -> str:
    """The picture of one invented claim that a framework's score hides, as HTML.

    Every figure in it is computed here: the verdicts by the lexical judge, the scores of the frameworks'
    own metrics with LexicalLLM as their model. No model is asked.
    """
    samples = {
        each.id: each
        for each in map(Sample.from_record, map(json.loads, sample_lines()))
    }
    sample = samples[SAMPLE]
    result = TCVA("faithfulness", judge="lexical").evaluate(sample)
    row = '<tr class="{0}"><td class="level">{0}<td>{1}'
    claims = "".join(
        row.format(claim.verdict, escape(claim.claim)) for claim in result.claims
    )
    scores = {}
    for name in METRICS:
        adapter, framework = import_module(f"tcva_adapters.{name}"), FRAMEWORKS[name]
        score = adapter.score_framework_metric(
            framework.grounding, sample, adapter.LexicalLLM()
        )
        scores[f"{framework.title} {framework.grounding}"] = score.score
    for t in ("strict", "balanced", "lenient"):
        seen = result.at(t)
        scores[f"TCVA, T = {seen.scoring.temperature} ({t})"] = seen.score
    rows = "".join(
        f'<tr><td>{name}<td class="score">{score:.2f}' for name, score in scores.items()
    )
    name, first = next(iter(scores.items()))
    [context] = sample.contexts or ()
    html = (
        f"<h1>{name} is {first:.2f}, and one of the {len(result.claims)} claims is invented</h1>"
        f"<p>{escape(sample.input or '')}<p class=small>Context: {escape(context)}"
        f"<div class=both><table>{claims}</table><table>{rows}</table></div>"
    )
    for words in DIFFERENT:
        html = html.replace(words, f"<mark>{words}</mark>")
    return f"<style>{STYLE}</style><main>{html}"


def draw_hidden_claim(browser: Browser) -> bytes:
    """That picture as PNG."""
    with browser.new_context(viewport={"width": 980, "height": 100}) as context:
        tab = context.new_page()
        tab.set_content(hidden_claim())
        return tab.locator("main").screenshot()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as name, launched() as browser:
        found = reports(Path(name))
        for picture in PICTURES:
            taken = take(browser, picture, found[picture.report])
            (FOLDER / f"{picture.name}.png").write_bytes(taken)
            large = " (too large)" if len(taken) > LARGEST else ""
            print(f"{picture.name}.png: {len(taken) / 1000:.0f} kB{large}")
        (FOLDER / "hidden_claim.png").write_bytes(draw_hidden_claim(browser))


if __name__ == "__main__":
    main()
