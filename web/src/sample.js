// One sample: what was asked and answered, what the judge said of each claim, and how the score comes about.
import { Answer } from "./answer.js";
import { lightOf, withoutEach } from "./claims.js";
import { exponentAt } from "./kernel.js";
import { isEmpty, Level, Prose, REASONS, Words } from "./marks.js";
import { Metrics, Others } from "./others.js";
import { orderOf } from "./samples.js";
import { prepared } from "./scoring.js";
import { brief, visible } from "./text.js";
import { Earlier, Place } from "./turns.js";
import { figure, html, useEffect, useKeys, useMemo } from "./ui.js";
import { Verdict } from "./verdict.js";

export function Sample({ app }) {
  const { report, state } = app;
  const { ids } = report.samples;
  // The list as it was when the reader came: a turn of the temperature must not move them elsewhere.
  const order = useMemo(() => orderOf(app), [report]);
  const found = state.sample === undefined ? (order[0] ?? -1) : report.indexOf(state.sample);
  const at = order.indexOf(found);
  const turn = report.turn(found);
  const goTo = (i) => i !== undefined && app.go({ view: "sample", sample: ids[i] });
  useKeys({
    ArrowLeft: () => goTo(order[at - 1]),
    ArrowRight: () => goTo(order[at + 1]),
    Escape: () => app.go({ view: "samples" }),
    ...(turn && { h: () => goTo(turn.turns[turn.n - 1]), l: () => goTo(turn.turns[turn.n + 1]), c: () => app.go({ view: "conversation", conversation: report.conversations[turn.k].id }) }),
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
    <${Place} app=${app} i=${found} />
    <${Verdict} app=${app} of=${app.main} i=${found} rating=${report.rating(found)} />
    <${Content} app=${app} i=${found} />
  </div>`;
}

function Content({ app, i }) {
  const { look, report } = app;
  const detail = report.detail(i);
  const said = detail?.runs?.[look?.name];
  const claims = said?.claims ?? [];
  const { levels } = report.figures;
  const without = useMemo(() => look && withoutEach(look, i, claims, levels), [look?.rowKey, i]);
  return html`
    ${detail === null && html`<p class="notice">The texts of this sample are not in this page. Its scores are.</p>`}
    ${said?.unscored && html`<div class="notice">
      <p>${!isEmpty(said.unscored.reason) && html`<strong>There is no score.</strong> `}${REASONS[said.unscored.reason] ?? visible(said.unscored.reason)}</p>
      ${said.unscored.detail && html`<${Prose} text=${said.unscored.detail} class="aside" />`}
    </div>`}
    ${said?.interval && html`<p class="aside">${visible(said.interval)}</p>`}
    <${Earlier} app=${app} i=${i} />
    ${detail && html`<${Answer} key=${look?.name} app=${app} i=${i} detail=${detail} claims=${claims} said=${said} lights=${look && lightOf(look, claims, levels)} without=${without?.(look.settings.temperature)} />`}
    <${Metrics} app=${app} i=${i} detail=${detail ?? {}} />
    <${Others} levels=${levels} said=${said} />
    <div class="pair">
    ${look && html`<${Score} app=${app} look=${look} i=${i} />`}
    <div>${detail?.reference && ![look?.run.claims, look?.run.against].includes("reference") && html`<section><h3>Reference</h3><${Prose} text=${detail.reference} /></section>`}
    ${detail?.metadata && html`<section><h3>Metadata</h3><dl class="metadata">
      ${Object.entries(detail.metadata).map(([name, value]) => html`<dt key=${`n ${name}`}><${Words} text=${name} /></dt>
        <dd key=${`v ${name}`}><${Prose} text=${typeof value === "string" ? value : JSON.stringify(value)} /></dd>`)}
    </dl></section>`}</div></div>`;
}

/** How the score comes about at the temperature: levels, exponent, mean, penalty; and how it moves over T. */
export function Score({ app: { report }, look, i }) {
  const row = look.run.rows[look.row[i]];
  if (!row) return null;
  const { levels } = report.figures;
  const { settings } = look;
  const { temperature, weights, penalty, bounds, fuse_weights: shares } = settings;
  const [counts] = row;
  const mean = prepared([counts], { ...settings, penalty: "off" })(temperature);
  const own = prepared([counts], settings)(temperature);
  return html`<section>
    <h3>How the score is made</h3>
    <div class="card score-parts">
      <table>
        <thead><tr><th scope="col">Level</th><th scope="col" class="numeric">Claims</th><th scope="col" class="numeric">Weight</th></tr></thead>
        <tbody>${counts.map((count, level) => html`<tr key=${level} class=${count > 0 ? "" : "absent"}>
          <th scope="row"><${Level} name=${levels[level]} levels=${levels} /></th>
          <td class="numeric">${Number.isInteger(count) ? count : figure(count)}</td><td class="numeric">${weights[level]}</td>
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
    </div>
  </section>`;
}
