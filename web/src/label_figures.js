/** How a person's labels agree with the judge, as they come. */
import {
  LEAST,
  firstShares,
  jackknife,
  rankInterval,
  sameShare,
  shareInterval,
  spearman,
  weightedKappa,
} from "./agreement.js";
import { claimsOf } from "./label_order.js";
import { listedOf } from "./listing.js";
import { prepared } from "./scoring.js";
import { figure, html, percent } from "./ui.js";

export function Agreement({ app, store, what, scale }) {
  const { z, level } = app.report.figures.interval;
  const rows = what === "claims" ? claimFigures(app, store, z) : answerFigures(app, store, scale, z);
  return html`<section class="agreement">
    <h3>Agreement with the judge</h3>
    <div class="wide-table" tabindex="0" role="region" aria-label="Agreement with the judge">
      <table aria-live="polite">
        <thead>
          <tr>
            <th scope="col">Measure</th>
            <th scope="col" class="numeric">Labels</th>
            <th scope="col" class="numeric">Value</th>
            <th scope="col">${percent(level)} interval</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ name, n, value, interval, shown, why }) =>
              html`<tr key=${name}>
                <th scope="row">${name}</th>
                <td class="numeric">${n}</td>
                <td class="numeric" data-value=${value}>${shown(value)}</td>
                <td>
                  ${interval ? html`<span data-low=${interval[0]} data-high=${interval[1]}>${interval.map(shown).join(" to ")}</span>` : html`<span class="aside">${why}</span>`}
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="aside">
      With fewer than ${LEAST} labels an interval would be nearly as wide as the
      scale.${what === "claims" && " Those of the claims leave out one answer at a time, as claims of one answer resemble each other."}
    </p>
  </section>`;
}

const number = (value) => figure(value, 2).replace("-", "−");
const ALONE = "not by group";
const few = (what) => `from ${LEAST} ${what} on`;

/** Kappa and exact share of the claims; decisions of the answers that are labelled whole. */
function claimFigures(app, store, z) {
  const { report, look } = app;
  const { levels, interval } = report.figures;
  const answers = [];
  const decided = { n: 0, same: 0 };
  for (const [id, { claims: labelled }] of store.labels) {
    const i = report.indexOf(id);
    if (!labelled || i < 0) continue;
    const claims = claimsOf(app, i);
    const found = claims.map(({ claim, verdict }) => [
      levels.indexOf(store.level(id, claim)),
      levels.indexOf(verdict),
    ]);
    const pairs = found.filter(([mine]) => mine >= 0);
    if (pairs.length) answers.push(pairs);
    if (!pairs.length || pairs.length < claims.length || look.passed(i) === null) continue;
    const counts = levels.map((_, k) => pairs.filter(([mine]) => mine === k).length);
    const passed = prepared([counts], look.settings)(look.settings.temperature) >= look.settings.threshold;
    decided.n += 1;
    decided.same += passed === look.passed(i);
  }
  const pairs = answers.flat();
  const ofClaims = (name, measure, range, shown) => ({
    name,
    n: pairs.length,
    value: pairs.length ? measure(pairs) : NaN,
    shown,
    interval: pairs.length >= LEAST && jackknife(answers, measure, interval.z, range),
    why: !interval.z ? ALONE : answers.length < LEAST ? few("answers with labels") : "not defined: the labels are all alike",
  });
  return [
    ofClaims(`Weighted kappa of the claims${pairs.length ? ` (${levels[0]}: ${firstShares(pairs)})` : ""}`, weightedKappa, [-1, 1], number),
    ofClaims("Same level", sameShare, [0, 1], (value) => percent(value)),
    decisions(decided, interval, "Same decision at the dial, from your levels"),
  ];
}

/** Rank correlation of the ratings with the scores, and decisions. */
function answerFigures(app, store, [low, high], z) {
  const { report, look } = app;
  const listed = listedOf(app);
  const threshold = look?.settings.threshold ?? 0.5;
  const rated = [...store.labels]
    .map(([id, { human }]) => ({ i: report.indexOf(id), human }))
    .filter(({ i, human }) => i >= 0 && human !== undefined && !Number.isNaN(listed.score(i)));
  const r = spearman(
    rated.map(({ i }) => listed.score(i)),
    rated.map(({ human }) => human),
  );
  const same = rated.filter(
    ({ i, human }) => (human - low) / (high - low) >= threshold === listed.passed(i),
  ).length;
  return [
    {
      name: "Spearman of rating and score",
      n: rated.length,
      value: r,
      shown: number,
      interval: rankInterval(r, rated.length, z),
      why: !z
        ? ALONE
        : rated.length < LEAST
          ? few("ratings")
          : "not defined: one side is constant, or the ranks are the same",
    },
    decisions(
      { n: rated.length, same },
      report.figures.interval,
      `Same decision (a rating passes from ${Number((low + threshold * (high - low)).toFixed(3))} on)`,
    ),
  ];
}

const decisions = ({ n, same }, { level, z }, name) => ({
  name,
  n,
  value: n ? same / n : NaN,
  shown: (value) => percent(value),
  interval: z && shareInterval(same, n, level),
  why: z ? few("answers") : ALONE,
});
