// What came out, at a glance.
import { Curve, Histogram } from "./chart.js";
import { averages } from "./look.js";
import { SampleLink } from "./marks.js";
import { Reports } from "./records.js";
import { ABSENT } from "./scoring.js";
import { visible } from "./text.js";
import { counted, degree, figure, html, percent } from "./ui.js";

const NAMED = 5;

export function Overview({ app }) {
  const { report, look, main } = app;
  const all = app.all();
  const { notes } = report.figures;
  return html`<h2 class="spoken">Overview</h2>
    ${look && html`<${Live} app=${app} />`}
    ${main && averages(main).n > 0 && html`<div class="pair uneven">${look && html`<${Curve} app=${app} />`}<${Histogram} of=${main} /></div>`}
    ${all.length > 1 && html`<${Methods} app=${app} all=${all} />`}
    <${Reports} app=${app} view="overview" />
    <div class="pair">
      ${all.some(({ run, scores }) => (run?.unscored.length ?? 0) > 0 || (!run && scores.some(Number.isNaN))) && html`<${Unscored} app=${app} all=${all} />`}
      ${notes.length > 0 && html`<section>
        <h3>To know</h3>
        <ul class="plain">${notes.map((note, i) => html`<li key=${i}>${visible(note)}</li>`)}</ul>
      </section>`}
    </div>`;
}

/** The chosen run at the temperature: counts and a plain mean. */
function Live({ app: { look } }) {
  const { run, settings } = look;
  const inRun = run.row.filter((row) => row !== ABSENT).length;
  const { n, passed, passRate, mean } = averages(look);
  const about = html`<span class="aside"> ${visible(look.about)}</span>`;
  if (n === 0) return html`<p class="lead" role="status">None of ${counted(inRun, "sample")} has a score.${about}</p>`;
  return html`<p class="lead" role="status" data-figure="sentence">
    At T = ${degree(settings.temperature)}, <b data-figure="passed" data-value=${passed}>${passed}</b> of ${counted(n, "scored sample")}
    ${" "}${passed === 1 ? "passes" : "pass"} (${percent(passRate)}), with a mean of
    ${" "}<b data-figure="mean" data-value=${mean}>${figure(mean)}</b>${inRun > n && `; ${inRun - n} of ${inRun} have no score`}.${about}
  </p>`;
}

function Methods({ app, all }) {
  return html`<section>
    <h3 id="methods">Methods${app.look && " at this temperature"}</h3>
    <div class="wide-table" tabindex="0" role="region" aria-labelledby="methods">
      <table class="figures">
        <thead><tr><th scope="col">Method</th><th scope="col" class="numeric">Scored</th><th scope="col" class="numeric">Mean</th><th scope="col" class="numeric">Pass rate</th></tr></thead>
        <tbody>${all.map((each) => {
          const { n, mean, passRate } = averages(each);
          const target = each.run ? { view: "samples", run: each.name } : { view: "methods", method: each.name };
          const [low, high] = each.scale;
          return html`<tr key=${each.name} data-method=${each.name}>
            <th scope="row" class="words-cell"><a href=${app.link(target)}><bdi>${visible(each.name)}</bdi></a> <span class="aside">${visible(each.about)}${(low !== 0 || high !== 1) && `, ${low} to ${high}`}</span></th>
            <td class="numeric">${n}</td>
            <td class="numeric" data-figure="mean" data-value=${mean}>${figure(mean)}</td>
            <td class="numeric" data-figure="pass-rate" data-value=${passRate}>${each.threshold === null ? "–" : percent(passRate, 1)}</td>
          </tr>`;
        })}</tbody>
      </table>
    </div>
  </section>`;
}

/** Why samples have no score: those of the same kind of reason together, with what the first of them says. */
function Unscored({ app, all }) {
  return html`<section>
    <h3>Without a score</h3>
    ${all.map((each) => {
      const kinds = new Map();
      each.scores.forEach((_, i) => {
        const reason = each.unscored(i);
        if (reason === null || each.run?.row[i] === ABSENT) return;
        const kind = reason.split(":")[0];
        kinds.set(kind, { reason, samples: [], ...kinds.get(kind) });
        kinds.get(kind).samples.push(i);
      });
      return kinds.size > 0 && html`<details key=${each.name} open=${each === app.main}>
        <summary><bdi>${visible(each.name)}</bdi></summary>
        <ul class="plain">
          ${[...kinds.values()].map(({ reason, samples }) => html`<li key=${reason}>${samples.length} ${visible(reason)}
            <span class="aside"> ${samples.slice(0, NAMED).map((i, place) => html`${place > 0 && ", "}<${SampleLink} app=${app} i=${i} />`)}${samples.length > NAMED && ` and ${samples.length - NAMED} more`}</span>
          </li>`)}
        </ul>
      </details>`;
    })}
  </section>`;
}
