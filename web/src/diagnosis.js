// Why answers are wrong: the causes of wrong and of missing claims, and one click away the claims of each.
import { CAUSES } from "./causes.js";
import { weightOf } from "./claims.js";
import { SampleLink } from "./marks.js";
import { Reports } from "./records.js";
import { brief, visible } from "./text.js";
import { counted, figure, html, percent, useState, whole } from "./ui.js";

const SHOWN = 10;
const MORE = 50;
/** By the text that claims are of: what is wrong with them, and the criteria that were judged, the one against the contexts first, and those of which one must have been to say so. */
const SIDES = {
  response: { title: "Wrong claims of the answers", none: "No claim of an answer is wrong.", word: "wrong", criteria: ["faithfulness", "correctness"], needs: ["correctness"] },
  reference: { title: "Claims of the references that are missing", none: "No claim of a reference is missing.", word: "missing", criteria: ["context_recall", "completeness"], needs: ["context_recall", "completeness"] },
};

/** The view of what `tcva diagnose` finds. */
export function Diagnosis({ app }) {
  const { report, state } = app;
  const [found] = report.figures.reports.filter(({ view }) => view === "diagnosis");
  const records = found.tables.find(({ title }) => title === "causes")?.records ?? [];
  const all = Object.keys(SIDES).flatMap((of) => causesIn(report, of).map(([cause, faults]) => ({ of, cause, faults, key: `${of} ${cause}` })));
  const most = all.reduce((best, each) => (best && best.faults.length >= each.faults.length ? best : each), null);
  const chosen = all.find(({ key }) => key === state.cause) ?? most;
  return html`<h2 class="spoken">Diagnosis</h2>
    <p class="lead" role="status">${visible(found.sentence)}</p>
    <div class="pair">
      ${Object.entries(SIDES).map(([of, { title, none, word }]) => html`<section key=${of} class="card causes" aria-label=${title}>
        <h3>${title}</h3>
        ${all.every((each) => each.of !== of) && html`<p class="aside">${report.runs.some(({ claims, criterion }) => claims === of && SIDES[of].needs.includes(criterion)) ? none : `Not judged by ${SIDES[of].needs.join(" or ")}.`}</p>`}
        ${all.filter((each) => each.of === of).map((each) => html`<${Cause} key=${each.key} app=${app} of=${each} isChosen=${each === chosen}
          total=${all.reduce((sum, { of: other, faults }) => sum + (other === of ? faults.length : 0), 0)} record=${records.find(({ claims, cause }) => claims === word && cause === each.cause)} />`)}
      </section>`)}
    </div>
    <p class="aside">A claim counts as supported if its weight is at least ${lineOf(report)}.</p>
    ${chosen && html`<${Claims} key=${chosen.key} app=${app} chosen=${chosen} />`}
    <${Reports} app=${app} view="diagnosis" shown="causes" />`;
}

/** The weight from which on a claim counts as supported: that of the run's claim threshold. */
function lineOf({ figures, runs: [{ settings }] }) {
  const { claim_threshold: threshold = "partial", weights } = settings;
  return typeof threshold === "number" ? Number(threshold.toPrecision(6)) : `${weights[figures.levels.indexOf(threshold)]}, that of ${threshold}`;
}

/** The causes of one side with their faults, in the order of the words for them. */
function causesIn(report, of) {
  const faults = report.faults.filter((fault) => fault.of === of);
  return Object.keys(CAUSES).map((cause) => [cause, faults.filter((fault) => fault.cause === cause)]).filter(([, list]) => list.length > 0);
}

function Cause({ app, of: { cause, faults, key }, isChosen, total, record }) {
  const share = faults.length / total;
  const interval = record && (record.share_low ?? null) !== null ? ` [${percent(record.share_low)}, ${percent(record.share_high)}]` : "";
  return html`<button type="button" class="cause" aria-pressed=${isChosen} onClick=${() => app.set({ cause: key })}>
    <b data-figure=${key} data-value=${faults.length}>${whole(faults.length)}</b>
    <span>${CAUSES[cause].many}</span>
    <span class="meter" aria-hidden="true"><span style=${{ width: `${100 * share}%` }}></span></span>
    <span class="aside">${percent(share)}${interval}</span>
  </button>`;
}

/** The claims of one cause by sample, those of the samples with most of them first. */
function Claims({ app, chosen: { of, cause, faults } }) {
  const { report } = app;
  const [most, setMost] = useState(SHOWN);
  const bySample = new Map();
  for (const fault of faults) bySample.set(fault.i, [...(bySample.get(fault.i) ?? []), fault]);
  const samples = [...bySample].sort(([, a], [, b]) => b.length - a.length);
  return html`<section aria-labelledby="claims-of-cause">
    <h3 id="claims-of-cause">${SIDES[of].word === "wrong" ? "Wrong" : "Missing"} claims that ${CAUSES[cause].many}</h3>
    <ol class="worst card">${samples.slice(0, most).map(([i, list]) => html`<li key=${i}>
      <p class="worst-score"><b>${whole(list.length)}</b></p>
      <div class="worst-said">
        <p class="worst-question"><${SampleLink} app=${app} i=${i} text=${brief(report.samples.questions[i] || report.samples.ids[i], 110)} /> <span class="aside"><bdi>${report.samples.questions[i] && brief(report.samples.ids[i], 40)}</bdi></span><${TurnOf} app=${app} i=${i} /></p>
        ${list.map((fault) => html`<${Fault} key=${fault.n} app=${app} fault=${fault} criteria=${SIDES[of].criteria} />`)}
      </div>
    </li>`)}</ol>
    ${samples.length > most && html`<button type="button" class="quiet" onClick=${() => setMost(most + MORE)}>Show more of ${counted(samples.length, "sample")}</button>`}
  </section>`;
}

function TurnOf({ app: { report, link }, i }) {
  const turn = report.turn(i);
  if (!turn) return null;
  const { id } = report.conversations[turn.k];
  return html` <a href=${link({ view: "conversation", conversation: id })}>turn ${turn.n + 1} of <bdi>${brief(id, 40)}</bdi></a>`;
}

/** A claim's level; with its weight, where that does not follow from the level. */
const weighed = (claim, levels, { weights }) => `${claim.verdict}${claim.probabilities ? ` (${figure(weightOf(claim, levels, weights), 2)})` : ""}`;

/** A claim with its level by each criterion; a click leads to it in its sample. */
function Fault({ app: { report, link }, fault: { i, n, passages }, criteria }) {
  const runs = criteria.map((name) => report.runs.find(({ criterion }) => criterion === name)).filter(Boolean);
  const judged = runs.map((run) => ({ run, criterion: run.criterion, claim: report.detail(i)?.runs?.[run.name]?.claims[n] }));
  // A text that was empty has no claims of its own: they are those of the other criterion.
  const { claim, run } = judged.find((each) => each.claim) ?? judged[0];
  const decisive = judged.at(-1).claim;
  const level = report.figures.levels.indexOf(decisive?.verdict);
  const href = link({ view: "sample", sample: report.samples.ids[i], run: run.name, claim: n + 1 });
  return html`<p class="fault"><a href=${href} class=${level < 0 ? "" : `mark mark-${level}`}><bdi>${claim ? brief(claim.claim, 240) : `Claim ${n + 1}`}</bdi></a>
    <span class="aside"> ${judged.filter((each) => each.claim?.verdict).map((each) => `${each.criterion.replaceAll("_", " ")} ${weighed(each.claim, report.figures.levels, each.run.settings)}`).join(", ")}${passages && `, passage ${passages}`}</span></p>`;
}
