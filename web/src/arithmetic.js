/** How a sample's score comes about at the dial, step by step, and how it moves over T. */
import { exponentAt } from "./kernel.js";
import { stepsWithin } from "./look.js";
import { Level } from "./marks.js";
import { prepared } from "./scoring.js";
import { visible } from "./text.js";
import { figure, html } from "./ui.js";

export function Arithmetic({ app, i }) {
  const { look, run, report } = app;
  const row = run.rows[run.row[i]];
  if (!row) return null;
  const { settings } = look;
  const judges = [`${run.criterion} by ${run.judge}`, ...run.members];
  return html`<section class="arithmetic">
    <h3>The score</h3>
    <div class="arithmetic-parts">
      <${Counts} counts=${row[0]} weights=${settings.weights} levels=${report.figures.levels} />
      <div>
        <${Steps} counts=${row[0]} settings=${settings} />
        ${row.length > 1 && html`<${Fused} row=${row} judges=${judges} settings=${settings} score=${look.scores[i]} />`}
      </div>
      <${Curve} app=${app} i=${i} />
    </div>
  </section>`;
}

function Counts({ counts, weights, levels }) {
  return html`<table class="counts">
    <thead>
      <tr>
        <th scope="col">Level</th>
        <th scope="col" class="numeric">Claims</th>
        <th scope="col" class="numeric">Weight</th>
      </tr>
    </thead>
    <tbody>
      ${counts.map(
        (count, level) =>
          html`<tr key=${level} class=${count > 0 ? "" : "absent"}>
            <th scope="row"><${Level} name=${levels[level]} levels=${levels} /></th>
            <td class="numeric">${Number(count.toPrecision(4))}</td>
            <td class="numeric">${weights[level]}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** The exponent, the mean, the penalty and their product, each with what it is made of. */
function Steps({ counts, settings }) {
  const { temperature, bounds, penalty, eps } = settings;
  const p = exponentAt(temperature, bounds);
  const mean = prepared([counts], { ...settings, penalty: "off" })(temperature);
  const [base, power, factor] = penaltyOf(counts, settings);
  const score = prepared([counts], settings)(temperature);
  const floored = p < 1e-12 && settings.weights.some((weight, level) => weight < eps && counts[level] > 0);
  return html`<dl class="working">
    <dt>Exponent</dt>
    <dd>
      ${minus(bounds.p_min)} + (${temperature} − ${bounds.t_min}) / ${round(bounds.t_max - bounds.t_min)} × ${" "}
      ${round(bounds.p_max - bounds.p_min)} = <output>${minus(figure(p))}</output>
    </dd>
    <dt>Mean</dt>
    <dd>
      power mean of the weights = ${" "}
      <output>${figure(mean)}</output>
      ${floored && html`<span class="aside"> A weight of 0 counts as ${eps} at exponents up to 0.</span>`}
    </dd>
    <dt>Penalty</dt>
    <dd>
      ${penalty === "off" ? "none" : html`${base}<sup>${round(power)}</sup> = <output>${figure(factor)}</output> <span class="aside">(${penalty})</span>`}
    </dd>
    <dt>Score</dt>
    <dd>${figure(mean)} × ${figure(factor)} = <output class="result">${figure(score)}</output></dd>
  </dl>`;
}

/** What the `none` verdicts cost: base, power and factor. */
function penaltyOf(counts, { penalty, temperature }) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const kept = total - counts[4];
  if (penalty === "off") return ["", 0, 1];
  if (penalty === "absolute") {
    const left = Math.max(10 - counts[4], 0);
    return [`(${round(left)} / 10)`, 1, left / 10];
  }
  const ramp = penalty === "ramped" ? Math.min(1, Math.max(0, (total - 1) / 4)) : 1;
  const power = (1.5 - temperature) * ramp;
  return [`(${round(kept)} / ${round(total)})`, power, (kept / total) ** power];
}

function Fused({ row, judges, settings, score }) {
  const weights = settings.fuse_weights;
  return html`<table class="fused">
    <caption>
      Fused: geometric mean${weights ? ", weighted" : ""}
    </caption>
    <tbody>
      ${row.map(
        (counts, n) =>
          html`<tr key=${n}>
            <th scope="row"><bdi>${visible(judges[n] ?? `judge ${n + 1}`)}</bdi></th>
            ${weights && html`<td class="numeric">× ${weights[n]}</td>`}
            <td class="numeric">
              ${counts ? figure(prepared([counts], settings)(settings.temperature)) : "no verdicts"}
            </td>
          </tr>`,
      )}
      <tr>
        <th scope="row">Fused score</th>
        ${weights && html`<td></td>`}
        <td class="numeric"><output class="result">${figure(score)}</output></td>
      </tr>
    </tbody>
  </table>`;
}

const [WIDTH, HEIGHT, LEFT, TOP] = [300, 150, 28, 8];

/** This sample's score over T, with the threshold and where it is met. */
function Curve({ app, i }) {
  const { look, looks } = app;
  const { temperature, threshold, bounds } = look.settings;
  const score = look.scoreOf(i);
  const x = (t) => LEFT + ((t - bounds.t_min) / (bounds.t_max - bounds.t_min)) * (WIDTH - LEFT - 6);
  const y = (s) => TOP + (1 - s) * (HEIGHT - TOP - 20);
  const path = stepsWithin(bounds).map((t, n) => `${n ? "L" : "M"}${x(t).toFixed(1)} ${y(score(t)).toFixed(1)}`).join("");
  const from = looks.flipOf(look, i);
  const label = `Score over temperature, ${figure(score(bounds.t_min))} to ${figure(score(bounds.t_max))}; ${from === null ? "it never passes" : `it passes from T = ${figure(from, 2)} on`}.`;
  return html`<svg class="curve" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${label}>
    ${[0, 0.5, 1].map((s) => html`<g key=${s}><line class="rule" x1=${LEFT} x2=${WIDTH - 6} y1=${y(s)} y2=${y(s)} /><text x=${LEFT - 5} y=${y(s) + 3} text-anchor="end">${s}</text></g>`)}
    ${[bounds.t_min, (bounds.t_min + bounds.t_max) / 2, bounds.t_max].map((t, n) => html`<text key=${t} x=${x(t)} y=${HEIGHT - 6} text-anchor=${["start", "middle", "end"][n]}>${n ? round(t) : `T ${round(t)}`}</text>`)}
    <line class="threshold" x1=${LEFT} x2=${WIDTH - 6} y1=${y(threshold)} y2=${y(threshold)} />
    <line class="now" x1=${x(temperature)} x2=${x(temperature)} y1=${TOP} y2=${y(0)} />
    <path class="line" d=${path} />
    ${from !== null && from > bounds.t_min && html`<path class="flip" d=${`M${x(from)} ${y(threshold) + 5}l-4 7h8z`} />`}
    <circle class="dot" cx=${x(temperature)} cy=${y(score(temperature))} r="4" />
  </svg>`;
}

const minus = (value) => String(value).replace("-", "−");
const round = (value) => Number(value.toFixed(4));
