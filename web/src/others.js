// What others said of the same sample: a panel's judges, repeats, additional judges, the framework metrics.
import { claimsOf, guilty } from "./claims.js";
import { Decision, isKind, Level, Prose, REASONS, Words } from "./marks.js";
import { brief, visible } from "./text.js";
import { counted, figure, html } from "./ui.js";

const KINDS = [
  ["panel", "The panel's judges", "The panel"],
  ["repeats", "Repeats", "All repeats"],
  ["members", "Additional judges", "This run"],
];

export function Others({ levels, said }) {
  return KINDS.map(([kind, title, first]) => said?.[kind] && html`<section key=${kind}><h3>${title}</h3><${Judges} said=${said} others=${said[kind]} first=${first} levels=${levels} /></section>`);
}

/** What every run and method says of the sample, a row each. */
export function Metrics({ app, i, detail }) {
  const all = app.all();
  if (all.length < 2) return null;
  return html`<section>
    <h3 id="metrics">All metrics on this sample</h3>
    <div class="wide-table card" tabindex="0" role="region" aria-labelledby="metrics">
      <table class="figures metrics">
        <thead><tr><th scope="col">Metric</th><th scope="col" class="numeric">Score</th><th scope="col">Decision</th><th scope="col">Reason</th></tr></thead>
        <tbody>${all.map((each) => html`<${Metric} key=${each.name} app=${app} of=${each} i=${i} said=${detail.methods?.[each.name] ?? {}} />`)}</tbody>
      </table>
    </div>
  </section>`;
}

function Metric({ app, of, i, said }) {
  const { levels } = app.report.figures;
  const passed = of.passed(i);
  const isOther = app.look && of !== app.look && app.look.passed(i) !== null && passed === !app.look.passed(i);
  const why = Number.isNaN(of.scores[i]) && of.unscored(i);
  const claims = claimsOf(app, of, i);
  const [worst] = guilty(app, of, claims);
  return html`<tr data-metric=${of.name}>
    <th scope="row"><${Words} text=${of.name} /></th>
    <td class="numeric">${figure(of.scores[i])}</td>
    <td><${Decision} passed=${passed} />${isOther && html`<span class="otherwise" title="TCVA decides differently">≠</span>`}</td>
    <td class="words-cell">
      ${why && html`<${Prose} text=${why} />`}
      ${said.reason && html`<${Prose} text=${said.reason} />`}
      ${!why && worst && html`<p><${Level} name=${worst.claim.verdict} levels=${levels} /> <${Words} text=${brief(worst.claim.claim, 160)} /> <span class="aside">${brief(worst.claim.reason ?? "", 160)}</span></p>`}
      ${!of.run && claims.length > 0 && html`<details><summary>${counted(claims.length, "verdict")}</summary>
        <ul class="own">${claims.map((each, n) => html`<li key=${n}>
          ${each.verdict && html`<${Level} name=${each.verdict} levels=${levels} />`} ${each.word && each.word !== each.verdict && html`“<${Words} text=${each.word} />” `}
          <${Words} text=${each.claim ?? ""} /> ${each.reason && html`<span class="aside"><${Words} text=${each.reason} /></span>`}
        </li>`)}</ul>
      </details>`}
    </td>
  </tr>`;
}

/** Several judges' verdicts, claim by claim. */
function Judges({ said, others, first, levels }) {
  const claims = [...new Set([said, ...others].flatMap((each) => each.claims.map(({ claim }) => claim)))];
  const verdict = (each, claim) => {
    const found = each.claims.find((entry) => entry.claim === claim);
    return found ? html`<${Level} name=${found.verdict} levels=${levels} of=${found} />${each !== said && found.reason && !isKind(found) && html`<${Prose} text=${found.reason} class="aside" />`}` : "–";
  };
  return html`<div class="wide-table card" tabindex="0" role="region" aria-label=${`${first} and others`}>
    <table class="judges">
      <thead><tr><th scope="col">Claim</th><th scope="col">${first}</th>
        ${others.map((each, n) => html`<th key=${n} scope="col"><${Words} text=${each.judge} /><br /><span class="aside"><${Words} text=${each.criterion} /></span></th>`)}</tr></thead>
      <tbody>
        ${claims.map((claim) => html`<tr key=${claim}><th scope="row"><${Prose} text=${claim} /></th>
          ${[said, ...others].map((each, n) => html`<td key=${n}>${verdict(each, claim)}</td>`)}</tr>`)}
        ${others.some(({ unscored }) => unscored) && html`<tr><th scope="row">Why there is no score</th><td></td>
          ${others.map(({ unscored }, n) => html`<td key=${n}>${unscored && (REASONS[unscored.reason] ?? visible(unscored.reason))}</td>`)}</tr>`}
      </tbody>
    </table>
  </div>`;
}
