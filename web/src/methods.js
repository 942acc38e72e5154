// TCVA beside one framework metric.
import { rankInterval, shareInterval, spearman } from "./agreement.js";
import { decisions, mostDifferent, pairs } from "./beside.js";
import { chosenMethod } from "./listing.js";
import { Decision } from "./marks.js";
import { SampleLink } from "./sample_link.js";
import { FORMS, Marks, Scatter, THIRDS } from "./scatter.js";
import { visible } from "./text.js";
import { between, counted, figure, html, percent } from "./ui.js";

const LISTED = 20;

export function Methods({ app }) {
  const { report, look } = app;
  const method = chosenMethod(app);
  const found = pairs(look, method);
  const open = (samples) => app.go({ view: "sample", sample: report.samples.ids[samples[0]] });
  return html`<div class="heading">
      <h2>Side by side</h2>
      <${MethodChooser} app=${app} method=${method} />
    </div>
    <div class="pair uneven">
      <figure class="card">
        <figcaption class="legend"><h3>${counted(found.length, "sample")} with both scores</h3>${report.human && html`<${Legend} name=${report.samples.human_name} />`}</figcaption>
        <${Scatter} found=${found} method=${method} look=${look} form=${formOf(report)} nameOf=${(i) => visible(String(report.samples.ids[i]))} onOpen=${open}
          label=${`TCVA at the dial against ${method.name}, ${counted(found.length, "sample")}; figures and the samples that differ most stand beside and below.`} />
      </figure>
      <${Agreement} app=${app} method=${method} found=${found} />
    </div>
    <${Differing} app=${app} method=${method} found=${found} />`;
}

export function MethodChooser({ app, method }) {
  return html`<label class="field">Method
    <select value=${method.name} onChange=${(event) => app.set({ method: event.target.value })}>
      ${app.report.methods.map(({ name }) => html`<option key=${name} value=${name}>${visible(name)}</option>`)}
    </select>
  </label>`;
}

/** The mark of a sample: by the third of its scale that its human rating lies in. */
function formOf({ human, samples }) {
  const [low, high] = samples.human_scale ?? [0, 1];
  return (i) => {
    const rating = human?.[i] ?? null;
    if (rating === null) return "unrated";
    return THIRDS[Math.min(2, Math.max(0, Math.floor((3 * (rating - low)) / (high - low))))];
  };
}

function Legend({ name }) {
  return html`<span class="legend-items">${visible(name ?? "human rating")}:
    ${FORMS.map((form) => html`<span key=${form}><svg width="16" height="16" aria-hidden="true"><${Marks} form=${form} places=${[[8, 8, 5]]} /></svg>${form}</span>`)}
  </span>`;
}

function Agreement({ app, method, found }) {
  const { report } = app;
  const { level, z } = report.figures.interval;
  const table = decisions(found);
  const rank = spearman(found.map(({ tcva }) => tcva), found.map(({ other }) => other));
  return html`<section class="card">
    <h3>Decisions</h3>
    <table class="figures decisions">
      <thead><tr><td></td><th scope="colgroup" colspan="2" class="numeric">${visible(method.name)}</th></tr>
        <tr><td></td><th scope="col" class="numeric">passes</th><th scope="col" class="numeric">fails</th></tr></thead>
      <tbody>
        <tr><th scope="row">TCVA passes</th><td class="numeric" data-figure="both" data-value=${table.both}>${table.both}</td><td class="numeric differing" data-figure="only-tcva" data-value=${table.onlyTcva}>${table.onlyTcva}</td></tr>
        <tr><th scope="row">TCVA fails</th><td class="numeric differing" data-figure="only-method" data-value=${table.onlyOther}>${table.onlyOther}</td><td class="numeric" data-figure="neither" data-value=${table.neither}>${table.neither}</td></tr>
      </tbody>
    </table>
    <dl class="facts">
      <${Fact} name="Same decision" id="same" value=${table.same / table.decided} range=${z && shareInterval(table.same, table.decided, level)} write=${percent} about=${`${table.same} of ${table.decided}`} />
      <${Fact} name="Spearman, TCVA with the method" id="spearman" value=${rank} range=${rankInterval(rank, found.length, z)} write=${figure} />
      ${report.human && html`<${HumanFacts} app=${app} method=${method} found=${found} />`}
    </dl>
  </section>`;
}

/** Both methods' agreement with the human rating, on the same samples. */
function HumanFacts({ app, method, found }) {
  const { report } = app;
  const rated = found.filter(({ i }) => (report.human[i] ?? null) !== null);
  const ratings = rated.map(({ i }) => report.human[i]);
  const name = visible(report.samples.human_name ?? "the human rating");
  const { z } = report.figures.interval;
  const fact = (who, id, scores) => {
    const rank = spearman(scores, ratings);
    return html`<${Fact} name=${`Spearman, ${who} with ${name}`} id=${id} value=${rank} range=${rankInterval(rank, rated.length, z)} write=${figure} about=${counted(rated.length, "sample")} />`;
  };
  return html`${fact("TCVA", "tcva-human", rated.map(({ tcva }) => tcva))}
    ${fact(visible(method.name), "method-human", rated.map(({ other }) => other))}`;
}

function Fact({ name, id, value, range, write, about }) {
  return html`<dt>${name}</dt>
    <dd><b data-figure=${id} data-value=${value}>${write(value)}</b>
      ${" "}<span class="aside">${[range && between(range, write), about].filter(Boolean).join(", ")}</span></dd>`;
}

function Differing({ app, method, found }) {
  const { report } = app;
  const shown = mostDifferent(found, method, LISTED);
  if (shown.length === 0) return html`<p>The two give every sample the same score.</p>`;
  const all = app.link({ view: "samples", method: method.name });
  return html`<section>
    <h3 id="differing">Where they differ most</h3>
    <div class="wide-table" tabindex="0" role="region" aria-labelledby="differing">
      <table class="figures">
        <thead><tr><th scope="col">Sample</th><th scope="col" class="numeric">TCVA</th><th scope="col"></th>
          <th scope="col" class="numeric">${visible(method.name)}</th><th scope="col"></th>${report.human && html`<th scope="col" class="numeric">${visible(report.samples.human_name ?? "Human rating")}</th>`}
        </tr></thead>
        <tbody>${shown.map(
          (pair) => html`<tr key=${pair.i}>
            <th scope="row" class="words-cell"><${SampleLink} app=${app} i=${pair.i} method=${method} withQuestion=${true} /></th>
            <td class="numeric">${figure(pair.tcva)}</td><td><${Decision} passed=${pair.passed} /></td>
            <td class="numeric">${figure(pair.other)}</td><td><${Decision} passed=${pair.otherPassed} /></td>
            ${report.human && html`<td class="numeric">${figure(report.human[pair.i], 2)}</td>`}
          </tr>`,
        )}</tbody>
      </table>
    </div>
    <p class="note">Different decisions first, then by the distance of the scores on a common scale. <a href=${all}>All samples</a></p>
  </section>`;
}
