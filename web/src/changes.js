/** Two runs side by side: what changed, by how much, and in which samples and claims. */
import { sameShare, spearman, weightedKappa } from "./agreement.js";
import { sorted } from "./filters.js";
import { Ball, Decision, Level, Prose, Words } from "./marks.js";
import { claimPairs, compared, shareDifference } from "./pairs.js";
import { inSlices } from "./slices.js";
import { meanInterval } from "./stats.js";
import { Grid } from "./table.js";
import { brief } from "./text.js";
import { counted, figure, html, percent, useEffect, useMemo, useState } from "./ui.js";

const SHOWN_CLAIMS = 20;

export function Changes({ app }) {
  const { report, state, lookAt } = app;
  const before = app.run;
  const after = [report.run(state.other), ...report.runs].find((run) => run && run !== before);
  const looks = [lookAt(before), lookAt(after)];
  const found = useMemo(() => compared(...looks), looks);
  return html`<div class="changes"><h2>Changes</h2>
    <${Chooser} app=${app} before=${before} after=${after} />
    ${found.both.length === 0 ? html`<p class="notice">These runs have no scored sample in common.</p>` : html`
      <${Sentence} found=${found} looks=${looks} />
      <${Figures} app=${app} found=${found} looks=${looks} />
      <${ChangedSamples} app=${app} found=${found} looks=${looks} />
      <${ChangedClaims} key=${`${before.name} ${after.name}`} app=${app} found=${found} before=${before} after=${after} />`}
    <${Alone} app=${app} samples=${found.onlyBefore} run=${before} other=${after} look=${looks[1]} />
    <${Alone} app=${app} samples=${found.onlyAfter} run=${after} other=${before} look=${looks[0]} />
  </div>`;
}

function Chooser({ app, before, after }) {
  const choose = (label, run, without, onChange) => html`<label>${label} <select value=${run.name} onChange=${(event) => onChange(event.target.value)}>
    ${app.report.runs.filter((each) => each !== without).map(({ name }) => html`<option key=${name} value=${name}>${brief(name)}</option>`)}</select></label>`;
  return html`<form class="filters" aria-label="Runs to compare" onSubmit=${(event) => event.preventDefault()}>
    ${choose("Before", before, null, (run) => app.set({ run, other: run === after.name ? before.name : after.name }))}
    ${choose("After", after, before, (other) => app.set({ other }))}
    <button type="button" onClick=${() => app.set({ run: after.name, other: before.name })}>Swap</button>
  </form>`;
}

function Sentence({ found, looks }) {
  const { gained, lost, both } = found;
  const changed = gained.length + lost.length;
  const parts = [gained.length && `${gained.length} now pass`, lost.length && `${lost.length} now fail`].filter(Boolean).join(", ");
  const [one, two] = looks.map(({ settings }) => settings.temperature);
  return html`<p class="lead">${changed === 0 ? `No decision changes` : `${changed} of ${counted(both.length, "decision")} ${changed === 1 ? "changes" : "change"}: ${parts}`}${one === two ? ` at T = ${one}` : `; before at T = ${one}, after at T = ${two}`}.</p>`;
}

function Figures({ app, found, looks }) {
  const { z, level } = app.report.figures.interval;
  const [before, after] = looks;
  const n = found.both.length;
  const [one, two] = looks.map(({ scores }) => found.both.map((i) => scores[i]));
  const { mean, low, high } = meanInterval(two.map((score, k) => score - one[k]), level);
  const share = shareDifference(found.gained.length, found.lost.length, n, z);
  const average = (scores) => scores.reduce((sum, score) => sum + score, 0) / n;
  const rate = (look) => found.both.filter((i) => look.passed(i)).length / n;
  const row = (label, values, difference, shown) => html`<tr><th scope="row">${label}</th>
    ${values.map((value, k) => html`<td key=${k} class="numeric" data-value=${value}>${shown(value)}</td>`)}
    <td class="numeric" data-value=${difference.value}>${signed(difference.value, shown)}</td>
    <td>${difference.interval ? difference.interval.map((end) => signed(end, shown)).join(" to ") : "–"}</td></tr>`;
  return html`<div class="wide-table" tabindex="0" role="region" aria-label="Differences"><table><thead><tr><th scope="col">${counted(n, "sample")} scored in both</th><th scope="col" class="numeric">Before</th><th scope="col" class="numeric">After</th><th scope="col" class="numeric">Difference</th><th scope="col">${percent(level)} interval, paired</th></tr></thead><tbody>
      ${row("Mean score", [average(one), average(two)], { value: mean, interval: low === null ? null : [low, high] }, (value) => figure(value))}
      ${row("Pass rate", [rate(before), rate(after)], share, (value) => percent(value, 1))}
    </tbody></table></div>
    <p>Same decision: ${found.same} of ${n} (${percent(found.same / n)}). Spearman of the scores: <span data-value=${spearman(one, two)}>${figure(spearman(one, two), 2)}</span>.
      <span class="aside"> Intervals: mean by Student's t on the differences, pass rate by Bonett and Price (2012).</span></p>`;
}

const signed = (value, shown) => (value > 0 ? `+${shown(value)}` : shown(value).replace("-", "−"));

function ChangedSamples({ app, found, looks }) {
  const { ids, questions } = app.report.samples;
  const [before, after] = looks;
  const [which, setWhich] = useState("score");
  const [sorting, setSorting] = useState({ column: "size", descending: true });
  const change = (i) => after.scores[i] - before.scores[i];
  const flipped = new Set([...found.gained, ...found.lost]);
  const values = { sample: (i) => String(ids[i]), before: (i) => before.scores[i], after: (i) => after.scores[i], change, size: (i) => Math.abs(change(i)), decision: (i) => (flipped.has(i) ? Number(after.passed(i)) : null) };
  const rows = useMemo(() => sorted(found.both.filter((i) => (which === "decision" ? flipped.has(i) : change(i) !== 0)), values[sorting.column], sorting.descending), [found, which, sorting]);
  const columns = [
    { key: "sample", label: "Sample", width: 11, grows: true, cell: (i) => html`<span class="sample-id"><bdi>${brief(String(ids[i]), 60)}</bdi></span><span class="sample-question"><bdi>${brief(questions?.[i] ?? "")}</bdi></span>` },
    { key: "before", label: "Before", width: 5, numeric: true, cell: (i) => figure(before.scores[i]) },
    { key: "after", label: "After", width: 5, numeric: true, cell: (i) => figure(after.scores[i]) },
    { key: "change", label: "Change", width: 5, numeric: true, cell: (i) => signed(change(i), (value) => figure(value)) },
    { key: "decision", label: "Decision", width: 9.5, cell: (i) => html`<${Decision} passed=${before.passed(i)} />${flipped.has(i) && html` → <${Decision} passed=${after.passed(i)} />`}` },
  ];
  return html`<section><h3>Samples that changed</h3>
    <form class="filters" aria-label="Which samples" onSubmit=${(event) => event.preventDefault()}><label>Show <select value=${which} onChange=${(event) => setWhich(event.target.value)}>
      <option value="score">all whose score changed</option><option value="decision">those whose decision changed</option></select></label></form>
    <p class="count" role="status">${counted(rows.length, "sample")}</p>
    ${rows.length > 0 && html`<${Grid} label="Samples that changed" short rows=${rows} columns=${columns} sorting=${sorting} onSort=${setSorting} current=${app.state.current ?? -1}
      onCurrent=${(current) => app.set({ current })} onOpen=${(i) => app.go({ view: "sample", sample: ids[i] })} />`}
  </section>`;
}

function ChangedClaims({ app, found, before, after }) {
  const { report } = app;
  const { levels } = report.figures;
  const [claims, setClaims] = useState(null);
  const [most, setMost] = useState(SHOWN_CLAIMS);
  useEffect(() => inSlices(claimPairs(report, found.both, before, after, levels), setClaims), [before, after]);
  if (!claims) return html`<p role="status">Comparing claims …</p>`;
  const { pairs, alone } = claims;
  if (!pairs.length) return html`<section><h3>Claims</h3><p>No claim stands in both runs with the same words${report.samples.drawn ? ", as far as texts are in this page" : ""}.</p></section>`;
  const changed = pairs.filter(({ from, to }) => from !== to).sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from));
  const levelPairs = pairs.map(({ from, to }) => [from, to]);
  return html`<section><h3>Claims that changed their verdict</h3>
    <p>${changed.length} of ${counted(pairs.length, "claim")} that both runs judged. Same verdict: ${percent(sameShare(levelPairs))}; weighted kappa <span data-value=${weightedKappa(levelPairs)}>${figure(weightedKappa(levelPairs), 2)}</span>.
      ${alone[0] + alone[1] > 0 && ` ${alone[0]} claims stand in the first run alone, ${alone[1]} in the second.`}</p>
    <${Moves} pairs=${levelPairs} levels=${levels} />
    <ul class="moved">${changed.slice(0, most).map(({ i, claim, from, to }) => html`<li key=${`${i} ${claim}`}>
      <span class="move"><${Level} name=${levels[from]} levels=${levels} /> → <${Level} name=${levels[to]} levels=${levels} /></span>
      <${Prose} text=${claim} /><a href=${app.link({ view: "sample", sample: report.samples.ids[i], run: after.name })}><${Words} text=${brief(String(report.samples.ids[i]), 60)} /></a></li>`)}</ul>
    ${changed.length > most && html`<button type="button" class="quiet" onClick=${() => setMost(most + 200)}>Show more of ${changed.length}</button>`}
  </section>`;
}

/** How many claims went from which level to which. */
function Moves({ pairs, levels }) {
  const count = (from, to) => pairs.filter(([one, two]) => one === from && two === to).length;
  return html`<div class="wide-table" tabindex="0" role="region" aria-label="Verdicts before and after"><table class="moves"><thead><tr><th scope="col">before ↓ after →</th>${levels.map((name, level) => html`<th key=${name} scope="col" class=${`numeric level-${level}`}><${Ball} level=${level} /> ${name}</th>`)}</tr></thead>
    <tbody>${levels.map((name, from) => html`<tr key=${name}><th scope="row"><${Level} name=${name} levels=${levels} /></th>${levels.map((_, to) => html`<td key=${to} class=${`numeric ${from === to ? "same" : ""}`}>${count(from, to) || "·"}</td>`)}</tr>`)}</tbody></table></div>`;
}

/** Samples with a score in one run only, and why the other has none. */
function Alone({ app, samples, run, other, look }) {
  if (!samples.length) return null;
  const reasons = new Map(other.unscored.map(([i, reason]) => [i, reason.replaceAll("_", " ")]));
  return html`<section><h3>Scored by <${Words} text=${brief(run.name)} /> alone</h3><p>${counted(samples.length, "sample")}:</p>
    <ul class="alone">${samples.slice(0, 100).map((i) => html`<li key=${i}><a href=${app.link({ view: "sample", sample: app.report.samples.ids[i], run: run.name })}><${Words} text=${brief(String(app.report.samples.ids[i]), 60)} /></a>
      <span class="aside"> ${look.run.row[i] === -2 ? "not in the other run" : brief(reasons.get(i) ?? "unscored there")}</span></li>`)}</ul>
    ${samples.length > 100 && html`<p>and ${samples.length - 100} more</p>`}</section>`;
}
