"""The picture of one invented claim that a framework's score hides; `make pictures` draws it.

Every figure in it is computed here: the verdicts by the lexical judge, the scores of the frameworks'
own metrics with LexicalLLM as their model. No model is asked.
"""

import json
from html import escape
from importlib import import_module
from typing import Final

from playwright.sync_api import Browser

from tcva_adapters import TCVA, Sample
from tcva_adapters.data import sample_lines
from tcva_adapters.frameworks import FRAMEWORKS

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


def page() -> str:
    """The picture as HTML."""
    samples = {each.id: each for each in map(Sample.from_record, map(json.loads, sample_lines()))}
    sample = samples[SAMPLE]
    result = TCVA("faithfulness", judge="lexical").evaluate(sample)
    row = '<tr class="{0}"><td class="level">{0}<td>{1}'
    claims = "".join(row.format(claim.verdict, escape(claim.claim)) for claim in result.claims)
    scores = {}
    for name in METRICS:
        adapter, framework = import_module(f"tcva_adapters.{name}"), FRAMEWORKS[name]
        score = adapter.score_framework_metric(framework.grounding, sample, adapter.LexicalLLM())
        scores[f"{framework.title} {framework.grounding}"] = score.score
    for t in ("strict", "balanced", "lenient"):
        seen = result.at(t)
        scores[f"TCVA, T = {seen.scoring.temperature} ({t})"] = seen.score
    rows = "".join(f'<tr><td>{name}<td class="score">{score:.2f}' for name, score in scores.items())
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


def draw(browser: Browser) -> bytes:
    """The picture as PNG."""
    with browser.new_context(viewport={"width": 980, "height": 100}) as context:
        tab = context.new_page()
        tab.set_content(page())
        return tab.locator("main").screenshot()
