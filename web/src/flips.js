// From which temperature on each sample passes, and where TCVA and another method part.
import { Axes, frame, useWidth } from "./chart.js";
import { chosenMethod, passes } from "./listing.js";
import { Decision } from "./marks.js";
import { MethodChooser } from "./methods.js";
import { least } from "./nearest.js";
import { SampleLink } from "./sample_link.js";
import { inSlices } from "./slices.js";
import { visible } from "./text.js";
import { counted, degree, figure, html, useEffect, useState } from "./ui.js";

const HEIGHT = 230;
const BINS = 45;
const LISTED = 50;
const NEAREST = 12;
const SLICE = 50;

export function Flips({ app }) {
  const { look } = app;
  const flips = useFlips(app);
  const { temperature, threshold, bounds } = look.settings;
  if (flips?.length === 0) return html`<p class="lead">No sample has verdicts, so none can flip.</p>`;
  const scored = flips ? flips.filter(({ score }) => !Number.isNaN(score)) : [];
  const always = scored.filter(({ flip }) => flip === bounds.t_min).length;
  const never = scored.filter(({ flip }) => flip === null).length;
  return html`<h2 class="spoken">Flips</h2>
    <p class="lead" role="status">${flips === null
      ? "Looking for the temperatures at which samples flip …"
      : html`From ${threshold} on, <b data-figure="always" data-value=${always}>${always}</b> of ${counted(scored.length, "sample")}
          ${" "}pass at every temperature and <b data-figure="never" data-value=${never}>${never}</b> never do;
          ${" "}the other <b>${scored.length - always - never}</b> depend on the dial, now at T = ${degree(temperature)}.`}</p>
    ${flips && html`<${Distribution} app=${app} flips=${scored} />
      ${app.report.methods.length > 0 && html`<${Parting} app=${app} flips=${scored} />`}
      <${Nearest} app=${app} flips=${scored} />`}`;
}

/** A flip temperature for each sample with verdicts, found a few at a time so that the page stays awake. */
function useFlips({ look, looks }) {
  const [done, setDone] = useState({ key: null, flips: null });
  useEffect(() => {
    function* all() {
      const flips = new Map();
      for (let i = 0; i < look.scores.length; i += 1) {
        if (look.scoreOf(i)) flips.set(i, looks.flipOf(look, i));
        if (i % SLICE === 0) yield i;
      }
      return flips;
    }
    return inSlices(all(), (flips) => setDone({ key: look.rowKey, flips }));
  }, [look.rowKey]);
  if (done.key !== look.rowKey) return null;
  return [...done.flips].map(([i, flip]) => ({ i, flip, score: look.scores[i], passed: look.passed(i) }));
}

function Distribution({ app, flips }) {
  const { bounds, temperature } = app.look.settings;
  const [ref, width] = useWidth();
  const range = bounds.t_max - bounds.t_min;
  const bars = new Array(BINS).fill(0);
  for (const { flip } of flips) {
    if (flip === null || flip === bounds.t_min) continue;
    bars[Math.min(BINS - 1, Math.floor(((flip - bounds.t_min) / range) * BINS))] += 1;
  }
  const most = Math.max(1, ...bars);
  const box = frame(width, HEIGHT, [bounds.t_min, bounds.t_max], [0, most], { left: 34 });
  const size = (box.right - box.left) / BINS;
  const whole = most < 4 ? Array.from({ length: most + 1 }, (_, i) => i) : undefined;
  return html`<figure class="card">
    <figcaption><h3>Samples that begin to pass at a temperature</h3></figcaption>
    <div ref=${ref} class="drawing"><svg class="chart" width=${width} height=${HEIGHT} role="img"
      aria-label="How many samples begin to pass at which temperature; the tables below name them.">
      <${Axes} box=${box} x="temperature" y="samples" yTicks=${whole} />
      ${bars.map((count, i) => {
        const isPast = bounds.t_min + (range * (i + 0.5)) / BINS <= temperature;
        return html`<rect key=${i} class=${isPast ? "bar-above" : "bar-below"} data-count=${count} x=${box.left + i * size + 0.5}
          width=${size - 1} y=${box.y(count)} height=${box.bottom - box.y(count)} />`;
      })}
      <line class="dial-line" x1=${box.x(temperature)} x2=${box.x(temperature)} y1=${box.top} y2=${box.bottom} />
    </svg></div>
    <p class="note">Full: passes at the dial. Pale: would pass at a more lenient one.</p>
  </figure>`;
}

/** Samples that another method decides otherwise, and where the dial would have to stand. */
function Parting({ app, flips }) {
  const method = chosenMethod(app);
  const parting = flips
    .map((each) => ({ ...each, other: passes(method, each.i) }))
    .filter(({ passed, other }) => other !== null && other !== passed);
  const rows = least(parting, (each) => distance(app, each), LISTED);
  return html`<section>
    <div class="heading"><h3 id="parting">Decided otherwise: ${counted(parting.length, "sample")}</h3><${MethodChooser} app=${app} method=${method} /></div>
    ${parting.length === 0
      ? html`<p>At this dial both decide every sample alike.</p>`
      : html`<${Table} app=${app} rows=${rows} labelledBy="parting" method=${method} />
          ${parting.length > LISTED && html`<p class="note">The ${LISTED} nearest to the dial of ${parting.length}.</p>`}`}
  </section>`;
}

function Nearest({ app, flips }) {
  const turning = flips.filter(({ flip }) => flip !== null && flip !== app.look.settings.bounds.t_min);
  const rows = least(turning, (each) => distance(app, each), NEAREST);
  if (rows.length === 0) return null;
  return html`<section><h3 id="nearest">Next to flip when the dial moves</h3>
    <${Table} app=${app} rows=${rows} labelledBy="nearest" method=${null} /></section>`;
}

function distance({ look }, { flip }) {
  return flip === null ? Infinity : Math.abs(flip - look.settings.temperature);
}

function Table({ app, rows, labelledBy, method }) {
  return html`<div class="wide-table" tabindex="0" role="region" aria-labelledby=${labelledBy}>
    <table class="figures">
      <thead><tr><th scope="col">Sample</th><th scope="col" class="numeric">TCVA</th><th scope="col">Decision</th>
        ${method && html`<th scope="col" class="numeric">${visible(method.name)}</th>`}<th scope="col">TCVA changes</th></tr></thead>
      <tbody>${rows.map(
        (row) => html`<tr key=${row.i}>
          <th scope="row" class="words-cell"><${SampleLink} app=${app} i=${row.i} withQuestion=${true} /></th>
          <td class="numeric">${figure(row.score)}</td><td><${Decision} passed=${row.passed} /></td>
          ${method && html`<td class="numeric">${figure(method.scores[row.i])}</td>`}
          <td data-figure="flip" data-value=${row.flip}>${changes(row, app.look.settings)}</td>
        </tr>`,
      )}</tbody>
    </table>
  </div>`;
}

/** Where the decision of TCVA turns. */
function changes({ passed, flip }, { temperature, bounds }) {
  if (!passed) return flip === null ? "passes at no temperature" : `passes from T = ${figure(flip)} on`;
  if (flip === bounds.t_min) return "passes at every temperature";
  if (flip !== null && flip <= temperature) return `fails below T = ${figure(flip)}`;
  // It passes below the cliff, and fails above it again.
  return flip === null ? "fails above the cliff" : `fails above the cliff, passes from T = ${figure(flip)} on`;
}
