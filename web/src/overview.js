// What came out, at a glance.
import { shareInterval } from "./agreement.js";
import { Curve } from "./curve.js";
import { Histogram } from "./histogram.js";
import { Unscored } from "./unscored.js";
import { MethodTable } from "./methods_table.js";
import { ABSENT } from "./scoring.js";
import { meanBetween, meanInterval } from "./stats.js";
import { counted, degree, figure, html, percent } from "./ui.js";
import { visible } from "./text.js";

export function Overview({ app }) {
  const { report, look } = app;
  return html`<h2 class="spoken">Overview</h2>
    ${look ? html`<${Judged} app=${app} />` : html`<p class="lead">${visible(report.figures.sentence)}</p>`}
    ${(report.methods.length > 0 || report.runs.length > 1 || (look && report.human)) && html`<${MethodTable} app=${app} />`}
    <div class="pair">
      <${Unscored} app=${app} />
      <${Notes} app=${app} />
    </div>`;
}

function Judged({ app }) {
  const { report, look, run } = app;
  const { settings } = look;
  const places = [...look.scores.keys()].filter((i) => !Number.isNaN(look.scores[i]));
  const scores = places.map((i) => look.scores[i]);
  const inRun = run.row.filter((row) => row !== ABSENT).length;
  const passed = scores.filter((score) => score >= settings.threshold).length;
  if (scores.length === 0) {
    return html`<p class="lead" role="status">None of ${counted(inRun, "sample")} has a score by <span class="words">${visible(run.criterion)} by ${visible(run.judge)}</span>.</p>`;
  }
  const { level } = report.figures.interval;
  const codes = report.codes(places);
  const mean = meanInterval(scores, level, codes);
  const rate = codes
    ? meanBetween(scores.map((score) => Number(score >= settings.threshold)), [0, 1], level, codes)
    : shareInterval(passed, scores.length, level);
  return html`
    <p class="lead" role="status" data-figure="sentence">
      At T = ${degree(settings.temperature)}${run.settings.evidence !== "lower" && `, evidence ${run.settings.evidence}`}, <b>${passed} of ${counted(scores.length, "scored sample")}</b>
      ${" "}${passed === 1 ? "passes" : "pass"} (${percent(passed / scores.length)}), with a mean of
      ${" "}<b>${figure(mean.mean)}</b>${inRun > scores.length && html`; ${inRun - scores.length} of ${inRun} have no score`}.
      <span class="lead-about"> ${visible(run.criterion)} by ${visible(run.judge)}${run.members.length > 0 && `, fused with ${visible(run.members.join(", "))}`}</span>
    </p>
    <dl class="tiles">
      <${Tile} name="Mean score" id="mean" value=${mean.mean} low=${mean.low} high=${mean.high} write=${figure} level=${level} kind=${codes ? "by group" : "t"} />
      <${Tile} name="Pass rate" id="pass-rate" value=${passed / scores.length} low=${rate?.[0]} high=${rate?.[1]} write=${(x) => percent(x, 1)} level=${level} kind=${codes ? "by group" : "exact"} />
      <${Tile} name="Scored" id="coverage" value=${scores.length / inRun} write=${(x) => percent(x, 1)} about=${`${scores.length} of ${inRun}`} />
      <${Tile} name="Verdicts lowered" id="lowered" value=${lowered(run)} write=${String} about=${`of ${run.evidence.verdicts}, as their quote does not hold`} />
    </dl>
    <div class="pair uneven">
      <${Curve} app=${app} />
      <${Histogram} title="TCVA at the dial" scores=${scores} ends=${[0, 1]} threshold=${settings.threshold}
        note=${`Full bars pass from ${settings.threshold} on, pale ones fail.`} />
    </div>`;
}

/** Claims whose quote was not found, or says something else. */
function lowered({ evidence }) {
  const { not_found: none, unrelated, negated, contradicts, too_short: short } = evidence;
  return none + unrelated + negated + contradicts + short;
}

function Tile({ name, id, value, low = null, high = null, write, about, level, kind }) {
  const hasRange = low !== null && high !== null;
  return html`<div class="tile">
    <dt>${name}</dt>
    <dd>
      <span class="tile-value" data-figure=${id} data-value=${value}>${write(value)}</span>
      ${hasRange && html`<span class="tile-about">
        <span data-figure=${`${id}-low`} data-value=${low}>${write(low)}</span> to ${" "}
        <span data-figure=${`${id}-high`} data-value=${high}>${write(high)}</span>
        <span title=${`interval by ${kind === "t" ? "Student's t" : kind}`}> (${percent(level)}, ${kind})</span>
      </span>`}
      ${about && html`<span class="tile-about">${about}</span>`}
      ${!hasRange && !about && html`<span class="tile-about">too few for an interval</span>`}
    </dd>
  </div>`;
}

function Notes({ app }) {
  const { figures } = app.report;
  const profiles = app.run?.profiles;
  const notes = [...figures.notes];
  if (app.run) notes.unshift(`At the settings of the run: ${figures.sentence}`);
  if (profiles) notes.push(`The run has settings by ${profiles.by}; one dial for all samples stands here instead.`);
  if (figures.samples.drawn) notes.push(`All figures are of ${figures.samples.total} samples; the texts of a draw are in the page.`);
  if (notes.length === 0) return null;
  return html`<section>
    <h3>To know</h3>
    <ul class="plain">${notes.map((note, i) => html`<li key=${i}>${visible(note)}</li>`)}</ul>
  </section>`;
}
