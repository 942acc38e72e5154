/** Claims that two runs judged, and those whose verdict changed. */
import { firstShares, sameShare, weightedKappa } from "./agreement.js";
import { Ball, Level, Prose, Words } from "./marks.js";
import { claimPairs } from "./pairs.js";
import { inSlices } from "./slices.js";
import { brief } from "./text.js";
import { counted, figure, html, percent, useEffect, useState } from "./ui.js";

const SHOWN = 20;
const MORE = 200;

export function ChangedClaims({ app, found, before, after }) {
  const { report } = app;
  const { levels } = report.figures;
  const [claims, setClaims] = useState(null);
  const [most, setMost] = useState(SHOWN);
  useEffect(
    () => inSlices(claimPairs(report, found.both, before, after, levels), setClaims),
    [before, after],
  );
  if (!claims) return html`<p role="status">Comparing claims …</p>`;
  const { pairs, alone } = claims;
  if (!pairs.length)
    return html`<section>
      <h3>Claims</h3>
      <p>
        No claim stands in both runs with the same
        words${report.samples.drawn ? ", as far as texts are in this page" : ""}.
      </p>
    </section>`;
  const changed = pairs
    .filter(({ from, to }) => from !== to)
    .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from));
  const levelPairs = pairs.map(({ from, to }) => [from, to]);
  return html`<section>
    <h3>Claims that changed their verdict</h3>
    <p>
      ${changed.length} of ${counted(pairs.length, "claim")} that both runs judged. Same verdict: ${" "}
      ${percent(sameShare(levelPairs))}; weighted kappa ${" "}
      <span data-value=${weightedKappa(levelPairs)}>${figure(weightedKappa(levelPairs), 2)}</span> (${levels[0]}: ${firstShares(levelPairs)}).
      ${alone[0] + alone[1] > 0 && ` ${alone[0]} claims stand in the first run alone, ${alone[1]} in the second.`}
    </p>
    <${Moves} pairs=${levelPairs} levels=${levels} />
    <ul class="moved">
      ${changed.slice(0, most).map(
        ({ i, claim, from, to }) =>
          html`<li key=${`${i} ${claim}`}>
            <span class="move">
              <${Level} name=${levels[from]} levels=${levels} /> → ${" "}
              <${Level} name=${levels[to]} levels=${levels} />
            </span>
            <${Prose} text=${claim} /><a
              href=${app.link({ view: "sample", sample: report.samples.ids[i], run: after.name })}>
              <${Words} text=${brief(String(report.samples.ids[i]), 60)} />
            </a>
          </li>`,
      )}
    </ul>
    ${changed.length > most && html`<button type="button" class="quiet" onClick=${() => setMost(most + MORE)}>Show more of ${changed.length}</button>`}
  </section>`;
}

/** How many claims went from which level to which. */
function Moves({ pairs, levels }) {
  const count = (from, to) => pairs.filter(([one, two]) => one === from && two === to).length;
  return html`<div class="wide-table" tabindex="0" role="region" aria-label="Verdicts before and after">
    <table class="moves">
      <thead>
        <tr>
          <th scope="col">before ↓ after →</th>
          ${levels.map((name, level) => html`<th key=${name} scope="col" class=${`numeric level-${level}`}><${Ball} level=${level} /> ${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${levels.map(
          (name, from) =>
            html`<tr key=${name}>
              <th scope="row"><${Level} name=${name} levels=${levels} /></th>
              ${levels.map((_, to) => html`<td key=${to} class=${`numeric ${from === to ? "same" : ""}`}>${count(from, to) || "·"}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
