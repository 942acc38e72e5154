// Two runs or methods side by side: decisions, the samples that differ most, claims that changed.
import { Decision, Level, Prose, SampleLink } from "./marks.js";
import { claimPairs, decisions, differ, meet, mostDifferent, paired } from "./pairs.js";
import { Reports } from "./records.js";
import { Scatter } from "./scatter.js";
import { brief, visible } from "./text.js";
import { counted, figure, html, inSlices, percent, Select, signed, useEffect, useState, whole } from "./ui.js";

const LISTED = 12;
const MORE = 200;
const ALONE = 50;

/** The runs of which another one judged the same criterion, so that the two can show a change. */
export const changeable = (runs) => runs.filter((run) => runs.some((other) => other !== run && other.criterion === run.criterion));

/** Changes are between two runs of a criterion; else a run is compared with a method that has scores on the same samples. */
export function SideBySide({ app, view }) {
  const isChange = view.name === "changes";
  const able = changeable(app.report.runs);
  const sides = app.all().filter(({ run }) => !isChange || able.some(({ name }) => name === run?.name));
  const main = sides.find(({ name }) => name === app.main.name) ?? sides[0];
  const others = sides.filter(({ name, run }) => name !== main.name && (!isChange || run.criterion === main.run.criterion));
  const meeting = (each) => meet(main, each);
  const other =
    others.find(({ name }) => name === app.state.method) ??
    others.filter(({ run }) => isChange || !run).find(meeting) ?? others.find(meeting) ?? others[0];
  const both = [main, other];
  const { both: pairs, alone } = paired(...both);
  const options = (list) => list.map(({ name }) => [name, brief(name)]);
  return html`<h2>${view.title}</h2>
    <form class="filters" aria-label="What to compare" onSubmit=${(event) => event.preventDefault()}>
      <${Select} label=${isChange ? "Before" : "First"} value=${main.name} options=${options(sides.filter(({ run }) => run || !app.look))}
        onChange=${(run) => app.set({ run, method: run === other.name ? main.name : other.name })} />
      <${Select} label=${isChange ? "After" : "Second"} value=${other.name} options=${options(others)} onChange=${(method) => app.set({ method })} />
    </form>
    ${pairs.length === 0
      ? html`<p class="notice">No sample has a score by both, so there is nothing to compare.</p>`
      : html`<${Sentence} pairs=${pairs} isChange=${isChange} />
          <div class="pair">
            <div class="stack"><figure class="card"><figcaption><h3>${counted(pairs.length, "sample")} with both scores</h3></figcaption><${Scatter} app=${app} pairs=${pairs} both=${both} /></figure>
            <${Decisions} both=${both} pairs=${pairs} /></div>
            <${Differing} app=${app} both=${both} pairs=${pairs} />
          </div>
          ${main.run && main.run.claims === other.run?.claims && html`<${ChangedClaims} key=${`${main.name} ${other.name}`} app=${app} both=${both} pairs=${pairs} isChange=${isChange} />`}`}
    ${isChange && html`<${Reports} app=${app} view="changes" />`}
    ${alone.map((samples, k) => samples.length > 0 && html`<${Alone} key=${k} app=${app} samples=${samples} has=${both[k]} lacks=${both[1 - k]} />`)}`;
}

function Sentence({ pairs, isChange }) {
  const unlike = pairs.filter(differ);
  const gained = unlike.filter(({ passed }) => passed[1]).length;
  const words = isChange ? ["newly pass", "newly fail"] : ["pass by the second only", "by the first only"];
  return html`<p class="lead" role="status">
    ${unlike.length === 0 ? `No decision differs on ${counted(pairs.length, "sample")}.` : `${whole(unlike.length)} of ${counted(pairs.length, "decision")} ${unlike.length === 1 ? "differs" : "differ"}: ${whole(gained)} ${words[0]}, ${whole(unlike.length - gained)} ${words[1]}.`}
  </p>`;
}

function Decisions({ both, pairs }) {
  const table = decisions(pairs);
  const names = both.map(({ name }) => visible(name));
  const decided = table.both + table.first + table.second + table.neither;
  const same = table.both + table.neither;
  const count = (id) => html`<td class="numeric" data-figure=${id} data-value=${table[id]}>${whole(table[id])}</td>`;
  const mean = (k) => pairs.reduce((sum, { scores }) => sum + scores[k], 0) / pairs.length;
  return html`<section class="card">
    <h3>Decisions</h3>
    <table class="figures decisions">
      <thead><tr><td></td><th scope="colgroup" colspan="2" class="numeric">${names[1]}</th></tr>
        <tr><td></td><th scope="col" class="numeric">passes</th><th scope="col" class="numeric">fails</th></tr></thead>
      <tbody>
        <tr><th scope="row" class="words-cell">${names[0]} passes</th>${count("both")}${count("first")}</tr>
        <tr><th scope="row" class="words-cell">${names[0]} fails</th>${count("second")}${count("neither")}</tr>
      </tbody>
    </table>
    <p>Same decision on <b data-figure="same" data-value=${same / decided}>${percent(same / decided)}</b> of ${decided} samples. Mean scores on these samples: ${figure(mean(0))} and ${figure(mean(1))}.</p>
  </section>`;
}

function Differing({ app, both, pairs }) {
  const [most, setMost] = useState(LISTED);
  const shown = mostDifferent(pairs, both, most);
  if (shown.length === 0) return html`<p>The two give each of these samples the same score.</p>`;
  const isRated = app.report.samples.human !== null;
  return html`<section class="card">
    <h3 id="differing">Where they differ most</h3>
    <div class="wide-table" tabindex="0" role="region" aria-labelledby="differing">
      <table class="figures differing">
        <thead><tr><th scope="col">Sample</th>${both.map(({ name }) => html`<th key=${name} scope="col" class="numeric">${visible(name)}</th>`)}
          <th scope="col" class="numeric roomy">Difference</th>${isRated && html`<th scope="col" class="numeric">Human rating</th>`}</tr></thead>
        <tbody>${shown.map(({ i, scores, passed }) => html`<tr key=${i}>
          <th scope="row" class="words-cell"><${SampleLink} app=${app} i=${i} run=${both[1].run && app.look ? both[1].name : undefined} withQuestion=${true} /></th>
          ${scores.map((score, k) => html`<td key=${k} class="numeric">${figure(score)}<br /><${Decision} passed=${passed[k]} /></td>`)}
          <td class="numeric roomy">${signed(scores[1] - scores[0])}</td>
          ${isRated && html`<td class="numeric">${figure(app.report.rating(i), 2)}</td>`}
        </tr>`)}</tbody>
      </table>
    </div>
    ${shown.length === most && html`<button type="button" class="quiet" onClick=${() => setMost(most + MORE)}>Show more</button>`}
    <p class="note">Samples with different decisions come first, then those with the largest difference on a common scale.</p>
  </section>`;
}

/** Claims that both runs judged, and those whose verdicts differ. */
function ChangedClaims({ app, both, pairs, isChange }) {
  const { levels } = app.report.figures;
  const [claims, setClaims] = useState(null);
  const [most, setMost] = useState(LISTED);
  useEffect(() => inSlices(claimPairs(app.report, pairs.map(({ i }) => i), ...both, levels), setClaims), []);
  if (!claims) return html`<p role="status">Comparing claims …</p>`;
  const size = ({ from, to }) => Math.abs(to - from);
  const changed = claims.pairs.filter((each) => size(each) > 0).sort((a, b) => size(b) - size(a));
  const alone = claims.alone[0] + claims.alone[1];
  return html`<section class="card">
    <h3>${isChange ? "Claims that changed their verdict" : "Claims with different verdicts"}</h3>
    <p>${changed.length} of ${counted(claims.pairs.length, "claim")} that both runs judged${app.report.samples.drawn && ", as far as texts are in this page"}.
      ${alone > 0 && ` ${claims.alone[0]} are in the first run only, ${claims.alone[1]} in the second only.`}</p>
    <ul class="moved">
      ${changed.slice(0, most).map(({ i, claim, from, to }) => html`<li key=${`${i} ${claim}`}>
        <span class="move"><${Level} name=${levels[from]} levels=${levels} /> → <${Level} name=${levels[to]} levels=${levels} /></span>
        <${Prose} text=${claim} /><${SampleLink} app=${app} i=${i} run=${both[1].name} />
      </li>`)}
    </ul>
    ${changed.length > most && html`<button type="button" class="quiet" onClick=${() => setMost(most + MORE)}>Show more of ${changed.length}</button>`}
  </section>`;
}

/** Samples with a score by one only, and why the other has none. */
function Alone({ app, samples, has, lacks }) {
  return html`<section>
    <h3>${counted(samples.length, "sample")} with a score by <bdi>${visible(has.name)}</bdi> only</h3>
    <ul class="alone">
      ${samples.slice(0, ALONE).map((i) => html`<li key=${i}><${SampleLink} app=${app} i=${i} /> <span class="aside">${brief(lacks.unscored(i))}</span></li>`)}
    </ul>
    ${samples.length > ALONE && html`<p>and ${samples.length - ALONE} more</p>`}
  </section>`;
}
