// What came out, beginning with what is wrong.
import { Curve, Histogram } from "./chart.js";
import { kindOf } from "./filters.js";
import { Guarantee } from "./guarantee.js";
import { averages } from "./look.js";
import { isEmpty, missingText, SampleLink } from "./marks.js";
import { Reports } from "./records.js";
import { ABSENT } from "./scoring.js";
import { visible } from "./text.js";
import { counted, degree, figure, html, percent, whole } from "./ui.js";
import { Worst } from "./worst.js";

const NAMED = 5;

export function Overview({ app }) {
  const { report, look, main } = app;
  const all = app.all();
  const { notes, reports } = report.figures;
  const isScored = main && averages(main).n > 0;
  const [found] = reports.filter(({ view }) => view === "overview");
  const diagnosis = reports.find(({ view }) => view === "diagnosis");
  return html`<h2 class="spoken">Overview</h2>
    ${main && html`<${Sentence} app=${app} />${comparesWords(main) && html`<p class="said" data-figure="lexical">The lexical judge only compares words, so many of these verdicts may be its own errors.</p>`}${look?.run.served && html`<p class="said" data-figure="served">${visible(look.run.served)}</p>`}
      <${Tiles} app=${app} all=${all} />`}
    ${diagnosis && html`<section class="card found"><h3>Why answers are wrong</h3><p>${visible(diagnosis.sentence)}</p><a href=${app.link({ view: "diagnosis" })}>Causes and their claims</a></section>`}
    ${isScored && html`<${Worst} app=${app} />
      <div class="pair uneven">${look && html`<${Curve} app=${app} />`}<${Histogram} app=${app} of=${main} /></div>`}
    ${all.length > 1 && html`<${Methods} app=${app} all=${all} />`}
    ${main && found && html`<section class="card found"><h3>Statistics${look && " at the settings of the run"}</h3>
      <p>${visible(found.sentence)}</p>${found.tables.length > 0 && html`<a href=${app.link({ view: "statistics" })}>All tables</a>`}</section><${Guarantee} report=${found} />`}
    ${!main && html`<${Reports} app=${app} view="overview" />`}
    <div class="pair">
      ${all.some(({ run, scores }) => (run?.unscored.length ?? 0) > 0 || (!run && scores.some(Number.isNaN))) && html`<${Unscored} app=${app} all=${all} />`}
      ${notes.length > 0 && html`<section class="card">
        <h3>Notes</h3>
        <ul class="plain">${notes.map((note, i) => html`<li key=${i}>${visible(note)}</li>`)}</ul>
      </section>`}
    </div>`;
}

/** How many claims of a run have each level. */
function levelsOf(run) {
  const found = [0, 0, 0, 0, 0];
  for (const levels of run.levels) for (const level of levels) found[level] += 1;
  return found;
}

const inRun = ({ run, scores }) => (run ? run.row.filter((row) => row !== ABSENT).length : scores.length);

const comparesWords = ({ run }) => run?.judges.every((judge) => judge.includes(" by lexical/"));

function Sentence({ app: { look, main, report } }) {
  const { n, passed } = averages(main);
  const about = html` <span class="aside">${visible([main.run ? "" : main.name, main.about].filter(Boolean).join(", "))}</span>`;
  if (n === 0) return html`<p class="lead" role="status">None of ${counted(inRun(main), "sample")} has a score.${about}</p>`;
  const failed = n - passed;
  const at = look ? `At T = ${degree(look.settings.temperature)}, ` : "";
  const none = main.run && levelsOf(main.run);
  const decided = main.threshold === null
    ? html`${counted(n, "sample")} ${n === 1 ? "has" : "have"} a score`
    : html`${at}<b>${failed === 0 ? "none" : failed === n ? "all" : whole(failed)}</b> of ${counted(n, "scored sample")} ${failed === 1 ? "fails" : "fail"}`;
  return html`<p class="lead" role="status" data-figure="sentence">
    ${decided}.${none && none[4] > 0 && html` <b>${whole(none[4])}</b> of ${counted(none.reduce((sum, count) => sum + count, 0), "claim")} ${none[4] === 1 ? "has" : "have"} the lowest level, ${report.figures.levels[4]}.`}${about}
  </p>`;
}

/** The figures of the chosen run or method; each leads to its samples. */
function Tiles({ app, all }) {
  const { main, report, look } = app;
  const { n, passed, passRate, mean } = averages(main);
  const unscored = inRun(main) - n;
  const empty = main.scores.reduce((sum, _, i) => sum + isEmpty(main.unscored(i) ?? ""), 0);
  const talks = look ? report.conversations.length : 0;
  const scored = look && averages(look.whole);
  const list = (filters, sorting) => app.link({ view: "samples", filters, sorting });
  const none = main.run && levelsOf(main.run);
  const claims = none && none.reduce((sum, count) => sum + count, 0);
  const others = all.filter(({ run, name }) => !run && name !== main.name);
  const unlike = main.scores.reduce((sum, _, i) => sum + (main.passed(i) !== null && others.some((other) => other.passed(i) === !main.passed(i))), 0);
  const tile = (id, label, value, about, href, title, number = value) =>
    html`<a key=${id} class="tile" href=${href} title=${title}><span>${label}</span><b data-figure=${id} data-value=${number}>${value}</b><small>${about}</small></a>`;
  return html`<div class="tiles">
    ${tile("mean", "Mean score", figure(mean), `of ${counted(n, "scored sample")}`, list({}), "All samples, lowest score first", mean)}
    ${main.threshold !== null && [
      tile("pass-rate", "Pass rate", percent(passRate), html`<span data-figure="passed" data-value=${passed}>${whole(passed)}</span> of ${whole(n)} at ${main.threshold} or more`, list({ outcome: "passed" }), "Samples that pass", passRate),
      tile("failed", "Fail", whole(n - passed), look ? `at T = ${degree(look.settings.temperature)}` : "", list({ outcome: "failed" }), "Samples that fail"),
    ]}
    ${claims > 0 && tile("none", `Claims at ${report.figures.levels[4]}`, whole(none[4]), `${percent(none[4] / claims)} of ${counted(claims, "claim")}`, list({ level: report.figures.levels[4] }), "Samples with such a claim", none[4])}
    ${talks > 0 && tile("conversations", "Conversations", `${whole(scored.passed)} of ${whole(scored.n)}`, `pass over all their turns${scored.n < talks ? `, ${whole(talks - scored.n)} unscored` : ""}`, app.link({ view: "conversations" }), "Conversations, each scored over the claims of all its turns", scored.passed)}
    ${tile("unscored", "Unscored", whole(unscored), `of ${counted(inRun(main), "sample")}${empty > 0 ? `, ${whole(empty)} with nothing to check` : ""}`, list({ outcome: "unscored" }), "Samples without a score, with the reason")}
    ${others.length > 0 && main.threshold !== null && tile("unlike", "Decided differently", whole(unlike), others.length === 1 ? `by ${visible(others[0].name)}` : `by ${others.length} other methods`, list({ different: "*" }), others.length === 1 ? "Samples that the other method decides differently" : "Samples that at least one other method decides differently")}
  </div>`;
}

function Methods({ app, all }) {
  return html`<section>
    <h3 id="methods">Methods${app.look && ` at T = ${degree(app.look.settings.temperature)}`}</h3>
    <div class="wide-table card" tabindex="0" role="region" aria-labelledby="methods">
      <table class="figures">
        <thead><tr><th scope="col">Method</th><th scope="col" class="numeric">Scored</th><th scope="col" class="numeric">Mean score</th><th scope="col" class="numeric roomy">Passes at</th><th scope="col" class="numeric">Pass rate</th></tr></thead>
        <tbody>${all.map((each) => {
          const { n, mean, passRate } = averages(each);
          const target = each.run ? { view: "samples", run: each.name } : { view: "methods", method: each.name };
          const [low, high] = each.scale;
          return html`<tr key=${each.name} data-method=${each.name}>
            <th scope="row" class="words-cell"><a href=${app.link(target)}><bdi>${visible(each.name)}</bdi></a> <span class="aside">${each.about !== each.name && visible(each.about)}${(low !== 0 || high !== 1) && `, ${low} to ${high}`}</span></th>
            <td class="numeric">${whole(n)}</td>
            <td class="numeric" data-figure="mean" data-value=${mean}>${figure(mean)}</td>
            <td class="numeric roomy">${each.threshold === null ? "–" : `${each.threshold} or more`}</td>
            <td class="numeric" data-figure="pass-rate" data-value=${passRate}>${each.threshold === null ? "–" : html`<span class="meter" aria-hidden="true"><span style=${{ width: `${100 * passRate}%` }}></span></span>${percent(passRate)}`}</td>
          </tr>`;
        })}</tbody>
      </table>
    </div>
  </section>`;
}

/** Why samples have no score: those of the same kind of reason together, with what the first of them says. */
function Unscored({ app, all }) {
  return html`<section class="card">
    <h3>Without a score</h3>
    ${all.map((each) => {
      const kinds = new Map();
      each.scores.forEach((_, i) => {
        const reason = each.unscored(i);
        if (reason === null || each.run?.row[i] === ABSENT) return;
        const kind = kindOf(reason);
        kinds.set(kind, { reason, samples: [], ...kinds.get(kind) });
        kinds.get(kind).samples.push(i);
      });
      return kinds.size > 0 && html`<details key=${each.name} open=${each === app.main}>
        <summary><bdi>${visible(each.name)}</bdi></summary>
        <ul class="plain">
          ${[...kinds.values()].map(({ reason, samples }) => html`<li key=${reason}>${samples.length} ${visible(missingText(reason).replace("unscored: ", "") + reason.slice(kindOf(reason).length))}
            <span class="aside"> ${samples.slice(0, NAMED).map((i, place) => html`${place > 0 && ", "}<${SampleLink} app=${app} i=${i} />`)}${samples.length > NAMED && ` and ${samples.length - NAMED} more`}</span>
          </li>`)}
        </ul>
      </details>`;
    })}
  </section>`;
}
