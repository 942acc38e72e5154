// The answers with the lowest scores, each with the claims that are to blame: what the overview begins with.
import { Balls, claimsOf, guilty } from "./claims.js";
import { Decision, GuiltyClaim } from "./marks.js";
import { brief } from "./text.js";
import { counted, figure, html } from "./ui.js";

const SHOWN = 5;
const CLAIMS = 2;

/** The samples with the lowest scores: of equal ones first those with most claims of the lowest level, and with texts. */
export function worstOf({ report, main }, most = SHOWN) {
  const lowest = (i) => (main.run?.levels[i].match(/4/g) ?? []).length;
  const before = (a, b) => main.scores[a] - main.scores[b] || lowest(b) - lowest(a) || (report.samples.line[b] >= 0) - (report.samples.line[a] >= 0) || a - b;
  const found = [];
  main.scores.forEach((score, i) => {
    if (Number.isNaN(score) || (found.length === most && before(i, found.at(-1)) > 0)) return;
    found.splice(found.findLastIndex((other) => before(other, i) < 0) + 1, 0, i);
    found.length = Math.min(found.length, most);
  });
  return found;
}

export function Worst({ app }) {
  const { main } = app;
  const failed = main.scores.reduce((sum, _, i) => sum + (main.passed(i) === false), 0);
  const worst = worstOf(app).slice(0, failed || SHOWN);
  return html`<section>
    <div class="heading-line"><h3>${failed ? "Worst answers" : "Lowest scores"}</h3>
      ${failed > 0 && html`<a href=${app.link({ view: "samples", filters: { outcome: "failed" }, sorting: undefined })}>All ${counted(failed, "failure")}</a>`}</div>
    <ol class="worst card">${worst.map((i) => html`<${Answer} key=${i} app=${app} i=${i} />`)}</ol>
  </section>`;
}

function Answer({ app, i }) {
  const { report, main } = app;
  const { ids, questions } = report.samples;
  const claims = claimsOf(app, main, i);
  const blamed = guilty(app, main, claims);
  const to = (claim) => app.link({ view: "sample", sample: ids[i], claim });
  const detail = report.detail(i);
  const said = main.run ? null : detail?.methods?.[main.name]?.reason;
  return html`<li>
    <p class="worst-score"><b>${figure(main.scores[i])}</b> <${Decision} passed=${main.passed(i)} /></p>
    <div class="worst-said">
      <p class="worst-question"><a href=${to()}><bdi>${brief(questions[i] || ids[i], 110)}</bdi></a> <span class="aside"><bdi>${questions[i] && brief(ids[i], 40)}</bdi></span> <${Balls} report=${report} run=${main.run} i=${i} /></p>
      ${blamed.slice(0, CLAIMS).map((each) => html`<${GuiltyClaim} key=${each.n} href=${to(each.n + 1)} fault=${report.faultOf(main.run, i, each.n)} ...${each} />`)}
      ${!main.run && blamed.length > CLAIMS && html`<p class="aside">and ${counted(blamed.length - CLAIMS, "more claim")} that ${blamed.length - CLAIMS === 1 ? "is" : "are"} not fully supported</p>`}
      ${!blamed.length && html`<p class="aside"><bdi>${brief(said ?? detail?.response ?? "The texts of this sample are not in this page.", 220)}</bdi></p>`}
    </div>
  </li>`;
}
