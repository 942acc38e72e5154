// What others said of the same sample: a panel's judges, repeats, additional judges, the framework metrics.
import { Decision, Level, Prose, REASONS, Words } from "./marks.js";
import { visible } from "./text.js";
import { counted, figure, html } from "./ui.js";

const KINDS = [
  ["panel", "The panel's judges", "The panel"],
  ["repeats", "Repeats", "All repeats"],
  ["members", "Additional judges", "This run"],
];

export function Others({ app, i, detail, said }) {
  const { look, looks, report } = app;
  const { levels } = report.figures;
  return html`
    ${KINDS.map(([kind, title, first]) => said?.[kind] && html`<section key=${kind}><h3>${title}</h3><${Judges} said=${said} others=${said[kind]} first=${first} levels=${levels} /></section>`)}
    ${looks.methods.length > 0 && html`<section>
      <h3>Framework metrics and other scores</h3>
      <ul class="methods">${looks.methods.map((method) => html`<${Method} key=${method.name} method=${method} i=${i} decided=${look && look.passed(i)} said=${detail.methods?.[method.name] ?? {}} levels=${levels} />`)}</ul>
    </section>`}`;
}

/** Several judges' verdicts, claim by claim. */
function Judges({ said, others, first, levels }) {
  const claims = [...new Set([said, ...others].flatMap((each) => each.claims.map(({ claim }) => claim)))];
  const verdict = (each, claim) => {
    const found = each.claims.find((entry) => entry.claim === claim);
    return found ? html`<${Level} name=${found.verdict} levels=${levels} />${each !== said && found.reason && html`<${Prose} text=${found.reason} class="aside" />`}` : "–";
  };
  return html`<div class="wide-table" tabindex="0" role="region" aria-label=${`${first} and others`}>
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

/** A method's score, and what it said itself. */
function Method({ method, i, decided, said, levels }) {
  const passed = method.passed(i);
  const own = said.verdicts ?? [];
  const why = Number.isNaN(method.scores[i]) && method.unscored(i);
  return html`<li>
    <div class="method-top">
      <strong><${Words} text=${method.name} /></strong> <span class="figure">${figure(method.scores[i])}</span> <${Decision} passed=${passed} />
      ${decided !== null && passed === !decided && html`<span class="otherwise">≠ TCVA decides otherwise</span>`}
    </div>
    ${why && html`<${Prose} text=${why} class="aside" />`}
    ${said.reason && html`<${Prose} text=${said.reason} class="aside" />`}
    ${own.length > 0 && html`<details open>
      <summary>${counted(own.length, "verdict")} of its own</summary>
      <ul class="own">${own.map((each, n) => html`<li key=${n}>
        ${each.verdict && html`<${Level} name=${each.verdict} levels=${levels} />`}
        ${each.word && each.word !== each.verdict && html`<span class="own-word">“<${Words} text=${each.word} />”</span>`}
        <${Prose} text=${each.claim ?? ""} />
        ${each.reason && html`<${Prose} text=${each.reason} class="aside" />`}
      </li>`)}</ul>
    </details>`}
  </li>`;
}
