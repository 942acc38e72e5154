// One sample: what was asked and answered, what the judge said of each claim, and how the score comes about.
import { Answer } from "./answer.js";
import { Axes, frame, path, useWidth } from "./chart.js";
import { exponentAt } from "./kernel.js";
import { Decision, Level, Prose, REASONS, Words } from "./marks.js";
import { Others } from "./others.js";
import { orderOf } from "./samples.js";
import { prepared, stepsWithin } from "./scoring.js";
import { brief, visible } from "./text.js";
import { degree, figure, html, useEffect, useKeys, useMemo } from "./ui.js";

export function Sample({ app }) {
  const { report, state } = app;
  const { ids } = report.samples;
  // The list as it was when the reader came: a turn of the temperature must not move them elsewhere.
  const order = useMemo(() => orderOf(app), [report]);
  const found = state.sample === undefined ? (order[0] ?? -1) : report.indexOf(state.sample);
  const at = order.indexOf(found);
  const goTo = (i) => i !== undefined && app.go({ view: "sample", sample: ids[i] });
  useKeys({
    ArrowLeft: () => goTo(order[at - 1]),
    ArrowRight: () => goTo(order[at + 1]),
    Escape: () => app.go({ view: "samples" }),
  });
  useEffect(() => app.set({ current: found }), [found]);
  if (found < 0) return html`<h2>Sample</h2><p>No sample of this report has the id <${Words} text=${state.sample ?? ""} />.</p>`;
  const step = (to, text) => order[to] !== undefined && html`<a href=${app.link({ view: "sample", sample: ids[order[to]] })}>${text}</a>`;
  return html`<div class="sample" key=${found}>
    <nav class="steps" aria-label="Samples of the list">
      ${step(at - 1, "‹ previous")}
      <a href=${app.link({ view: "samples" })}>${at < 0 ? "all samples" : `${at + 1} of ${order.length}`}</a>
      ${step(at + 1, "next ›")}
      <span class="keys"><kbd>←</kbd> <kbd>→</kbd> samples, <kbd>j</kbd> <kbd>k</kbd> claims, <kbd>Esc</kbd> list</span>
    </nav>
    <h2 class="sample-title"><bdi>${brief(ids[found], 200)}</bdi></h2>
    <${Summary} app=${app} i=${found} />
    <${Content} app=${app} i=${found} />
  </div>`;
}

function Content({ app, i }) {
  const { look, report } = app;
  const detail = report.detail(i);
  const said = detail?.runs?.[look?.name];
  return html`
    ${detail === null && html`<p class="notice">The texts of this sample are not in this page. Its scores are.</p>`}
    ${said?.unscored && html`<div class="notice">
      <p><strong>There is no score.</strong> ${REASONS[said.unscored.reason] ?? visible(said.unscored.reason)}</p>
      ${said.unscored.detail && html`<${Prose} text=${said.unscored.detail} class="aside" />`}
    </div>`}
    ${said?.interval && html`<p class="aside">${visible(said.interval)}</p>`}
    ${detail && html`<${Answer} key=${look?.name} detail=${detail} claims=${said?.claims ?? []} levels=${report.figures.levels} weights=${look?.settings.weights} />`}
    ${look && html`<${Score} app=${app} i=${i} />`}
    <${Others} app=${app} i=${i} detail=${detail ?? {}} said=${said} />
    ${detail?.reference && html`<section><h3>Reference</h3><${Prose} text=${detail.reference} /></section>`}
    ${detail?.metadata && html`<section><h3>Metadata</h3><dl class="metadata">
      ${Object.entries(detail.metadata).map(([name, value]) => html`<dt key=${`n ${name}`}><${Words} text=${name} /></dt>
        <dd key=${`v ${name}`}><${Prose} text=${typeof value === "string" ? value : JSON.stringify(value)} /></dd>`)}
    </dl></section>`}`;
}

/** The score, and from which T on it passes, in a line. */
function Summary({ app, i }) {
  const { look, looks, report } = app;
  const rating = report.rating(i);
  const rated = rating !== null && html`<span>human rating ${Number(rating.toFixed(3))} (scale ${report.samples.human_scale.join(" to ")})</span>`;
  if (!look) return html`<p class="summary">${rated}</p>`;
  const score = look.scores[i];
  if (Number.isNaN(score)) return html`<p class="summary"><strong class="big">unscored</strong>${rated}</p>`;
  const { temperature, threshold, bounds } = look.settings;
  const from = looks.passesFrom(look, i);
  const passes = from === null ? "at no temperature" : from <= bounds.t_min ? "at every temperature" : `from T = ${degree(from)} on`;
  return html`<p class="summary">
    <strong class="big" data-value=${score}>${figure(score)}</strong> <${Decision} passed=${look.passed(i)} />
    <span>at T = ${temperature}</span>${look.scoreOf(i) && html`<span>passes ${figure(threshold, 2)} ${passes}</span>`}${rated}
  </p>`;
}

/** How the score comes about at the temperature: levels, exponent, mean, penalty; and how it moves over T. */
function Score({ app, i }) {
  const { look, report } = app;
  const row = look.run.rows[look.run.row[i]];
  if (!row) return null;
  const { levels } = report.figures;
  const { settings } = look;
  const { temperature, weights, penalty, bounds, fuse_weights: shares } = settings;
  const [counts] = row;
  const mean = prepared([counts], { ...settings, penalty: "off" })(temperature);
  const own = prepared([counts], settings)(temperature);
  return html`<section>
    <h3>The score</h3>
    <div class="score-parts">
      <table>
        <thead><tr><th scope="col">Level</th><th scope="col" class="numeric">Claims</th><th scope="col" class="numeric">Weight</th></tr></thead>
        <tbody>${counts.map((count, level) => html`<tr key=${level} class=${count > 0 ? "" : "absent"}>
          <th scope="row"><${Level} name=${levels[level]} levels=${levels} /></th>
          <td class="numeric">${Number(count.toPrecision(4))}</td><td class="numeric">${weights[level]}</td>
        </tr>`)}</tbody>
      </table>
      <dl class="working">
        <dt>Exponent at T = ${temperature}</dt><dd><output>${figure(exponentAt(temperature, bounds))}</output></dd>
        <dt>Power mean of the weights</dt><dd><output>${figure(mean)}</output></dd>
        <dt>Penalty for none (${penalty})</dt><dd>× <output>${figure(mean > 0 ? own / mean : 1)}</output></dd>
        <dt>Score</dt><dd><output class=${row.length > 1 ? "" : "result"}>${figure(own)}</output></dd>
        ${row.length > 1 && row.map((each, n) => n > 0 && html`<dt key=${n}><${Words} text=${look.run.judges[n] ?? `judge ${n + 1}`} />${shares && ` × ${shares[n]}`}</dt>
          <dd>${each ? figure(prepared([each], settings)(temperature)) : "no verdicts"}</dd>`)}
        ${row.length > 1 && html`<dt>Fused: geometric mean</dt><dd><output class="result">${figure(look.scores[i])}</output></dd>`}
      </dl>
      <${ScoreCurve} look=${look} i=${i} />
    </div>
  </section>`;
}

const HEIGHT = 170;

function ScoreCurve({ look, i }) {
  const [ref, width] = useWidth();
  const { temperature, threshold, bounds } = look.settings;
  const score = look.scoreOf(i);
  const box = frame(width, HEIGHT, [bounds.t_min, bounds.t_max], [0, 1]);
  return html`<div ref=${ref} class="drawing">
    <svg class="chart" width=${width} height=${HEIGHT} role="img" aria-label=${`Score over the temperature, ${figure(score(bounds.t_min))} to ${figure(score(bounds.t_max))}`}>
      <${Axes} box=${box} x="temperature" y="score" />
      <g class="threshold"><line x1=${box.left} x2=${box.right} y1=${box.y(threshold)} y2=${box.y(threshold)} /></g>
      <path class="line pass-line" d=${path(stepsWithin(bounds).map((t) => [box.x(t), box.y(score(t))]))} />
      <circle class="dot" cx=${box.x(temperature)} cy=${box.y(score(temperature))} r="4" />
    </svg>
  </div>`;
}
