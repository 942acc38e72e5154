// Every method in one table: TCVA at the dial, and the fixed scores beside it.
import { rankInterval, shareInterval, spearman } from "./agreement.js";
import { Spark } from "./histogram.js";
import { passes } from "./listing.js";
import { meanBetween, meanInterval } from "./stats.js";
import { visible } from "./text.js";
import { between, figure, html, percent, useMemo } from "./ui.js";

/** What a table says of fixed scores or of a run at the dial. */
function summary(report, scores, decisions, ends) {
  const { level, z } = report.figures.interval;
  const at = (values) => [...values.keys()].filter((i) => values[i] !== null);
  const there = scores.filter((score) => score !== null);
  const decided = decisions.filter((passed) => passed !== null);
  const passed = decided.filter(Boolean).length;
  const rated = scores.map((score, i) => [score, report.human?.[i] ?? null]).filter(([a, b]) => a !== null && b !== null);
  const agreement = report.human && rated.length > 2 ? spearman(rated.map(([a]) => a), rated.map(([, b]) => b)) : NaN;
  return {
    scores: there,
    mean: meanInterval(there, level, report.codes(at(scores)), ends),
    passRate: decided.length ? passed / decided.length : NaN,
    passRange: report.samples.clusters
      ? meanBetween(decided.map(Number), [0, 1], level, report.codes(at(decisions)))
      : shareInterval(passed, decided.length, level),
    agreement,
    agreementRange: rankInterval(agreement, rated.length, z),
  };
}

function ofRun(app, run) {
  const look = app.lookAt(run);
  const scores = Array.from(look.scores, (score) => (Number.isNaN(score) ? null : score));
  return { name: run.name, about: "TCVA at the dial", isRun: true, run, ends: [0, 1], ...summary(app.report, scores, scores.map((_, i) => look.passed(i)), [0, 1]) };
}

function ofMethod(report, method) {
  const decisions = method.scores.map((_, i) => passes(method, i));
  return { name: method.name, about: method.version ?? method.framework, isRun: false, ends: method.scale, ...summary(report, method.scores, decisions, method.scale) };
}

export function MethodTable({ app }) {
  const { report } = app;
  const fixed = useMemo(() => report.methods.map((method) => ofMethod(report, method)), [report]);
  const rows = [...report.runs.map((run) => ofRun(app, run)), ...fixed];
  return html`<section>
    <h3 id="methods">Methods</h3>
    <div class="wide-table" tabindex="0" role="region" aria-labelledby="methods">
      <table class="figures">
        <thead><tr>
          <th scope="col">Method</th><th scope="col" class="numeric">Scored</th><th scope="col">Distribution</th>
          <th scope="col" class="numeric">Mean</th><th scope="col" class="numeric">Pass rate</th>
          ${report.human && html`<th scope="col" class="numeric">Spearman with ${visible(report.samples.human_name ?? "the human rating")}</th>`}
        </tr></thead>
        <tbody>${rows.map((row) => html`<${Row} key=${`${row.isRun} ${row.name}`} app=${app} row=${row} />`)}</tbody>
      </table>
    </div>
  </section>`;
}

function Row({ app, row }) {
  const [low, high] = row.ends;
  const target = row.isRun ? { view: "samples", run: row.name } : { view: app.look ? "methods" : "samples", method: row.name };
  const scaled = low === 0 && high === 1 ? "" : `, ${low} to ${high}`;
  return html`<tr class=${row.isRun ? "own-row" : undefined} data-method=${row.name}>
    <th scope="row"><a href=${app.link(target)}><bdi>${visible(row.name)}</bdi></a> <span class="aside about">${visible(row.about)}${scaled}</span></th>
    <td class="numeric">${row.scores.length}</td>
    <td class="spark-cell"><${Spark} scores=${row.scores} ends=${row.ends} label=${`Scores of ${row.name}`} /></td>
    <${Cell} id="mean" value=${row.mean.mean} low=${row.mean.low} high=${row.mean.high} write=${figure} />
    <${Cell} id="pass-rate" value=${row.passRate} low=${row.passRange?.[0]} high=${row.passRange?.[1]} write=${percent} />
    ${app.report.human && html`<${Cell} id="agreement" value=${row.agreement} low=${row.agreementRange?.[0]} high=${row.agreementRange?.[1]} write=${figure} />`}
  </tr>`;
}

function Cell({ id, value, low = null, high = null, write }) {
  return html`<td class="numeric"><span data-figure=${id} data-value=${value}>${write(value)}</span>
    ${low !== null && html` <span class="range">${between([low, high], write)}</span>`}</td>`;
}
