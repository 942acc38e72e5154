/** Two runs side by side: what changed, by how much, and in which samples and claims. */
import { spearman } from "./agreement.js";
import { ChangedClaims } from "./changed_claims.js";
import { sorted } from "./filters.js";
import { Decision, Words } from "./marks.js";
import { compared } from "./pairs.js";
import { meanBetween } from "./stats.js";
import { Grid } from "./table.js";
import { brief } from "./text.js";
import { counted, figure, html, percent, useMemo, useState } from "./ui.js";

export function Changes({ app }) {
  const { report, state, lookAt } = app;
  const before = app.run;
  const after = [report.run(state.other), ...report.runs].find((run) => run && run !== before);
  const looks = [lookAt(before), lookAt(after)];
  const found = useMemo(() => compared(...looks), looks);
  return html`<div class="changes">
    <h2>Changes</h2>
    <${Chooser} app=${app} before=${before} after=${after} />
    ${
      found.both.length === 0
        ? html`<p class="notice">These runs have no scored sample in common.</p>`
        : html` <${Sentence} found=${found} looks=${looks} />
            <${Figures} app=${app} found=${found} looks=${looks} />
            <${ChangedSamples} app=${app} found=${found} looks=${looks} />
            <${ChangedClaims}
              key=${`${before.name} ${after.name}`}
              app=${app}
              found=${found}
              before=${before}
              after=${after}
            />`
    }
    <${Alone} app=${app} samples=${found.onlyBefore} run=${before} other=${after} look=${looks[1]} />
    <${Alone} app=${app} samples=${found.onlyAfter} run=${after} other=${before} look=${looks[0]} />
  </div>`;
}

function Chooser({ app, before, after }) {
  const choose = (label, run, without, onChange) =>
    html`<label>
      ${label}
      <select value=${run.name} onChange=${(event) => onChange(event.target.value)}>
        ${app.report.runs.filter((each) => each !== without).map(({ name }) => html`<option key=${name} value=${name}>${brief(name)}</option>`)}
      </select></label>
    `;
  return html`<form
    class="filters"
    aria-label="Runs to compare"
    onSubmit=${(event) => event.preventDefault()}>
    ${choose("Before", before, null, (run) => app.set({ run, other: run === after.name ? before.name : after.name }))}
    ${choose("After", after, before, (other) => app.set({ other }))}
    <button type="button" onClick=${() => app.set({ run: after.name, other: before.name })}>Swap</button>
  </form>`;
}

function Sentence({ found, looks }) {
  const { gained, lost, both } = found;
  const changed = gained.length + lost.length;
  const parts = [gained.length && `${gained.length} now pass`, lost.length && `${lost.length} now fail`]
    .filter(Boolean)
    .join(", ");
  const [one, two] = looks.map(({ settings }) => settings.temperature);
  return html`<p class="lead">
    ${changed === 0 ? `No decision changes` : `${changed} of ${counted(both.length, "decision")} ${changed === 1 ? "changes" : "change"}: ${parts}`}${one === two ? ` at T = ${one}` : `; before at T = ${one}, after at T = ${two}`}.
  </p>`;
}

function Figures({ app, found, looks }) {
  const { level } = app.report.figures.interval;
  const [before, after] = looks;
  const n = found.both.length;
  const [one, two] = looks.map(({ scores }) => found.both.map((i) => scores[i]));
  const average = (scores) => scores.reduce((sum, score) => sum + score, 0) / n;
  const codes = app.report.codes(found.both);
  const changed = (differences) => ({
    value: average(differences),
    interval: meanBetween(differences, [-1, 1], level, codes),
  });
  const [mean, share] = useMemo(
    () => [
      changed(two.map((score, k) => score - one[k])),
      changed(found.both.map((i) => after.passed(i) - before.passed(i))),
    ],
    [found],
  );
  const rate = (look) => found.both.filter((i) => look.passed(i)).length / n;
  const row = (label, values, difference, shown) =>
    html`<tr>
      <th scope="row">${label}</th>
      ${values.map((value, k) => html`<td key=${k} class="numeric" data-value=${value}>${shown(value)}</td>`)}
      <td class="numeric" data-value=${difference.value}>${signed(difference.value, shown)}</td>
      <td>
        ${difference.interval.map((end) => signed(end, shown)).join(" to ")}
      </td>
    </tr>`;
  return html`<div class="wide-table" tabindex="0" role="region" aria-label="Differences">
      <table>
        <thead>
          <tr>
            <th scope="col">${counted(n, "sample")} scored in both</th>
            <th scope="col" class="numeric">Before</th>
            <th scope="col" class="numeric">After</th>
            <th scope="col" class="numeric">Difference</th>
            <th scope="col">${percent(level)} interval, paired</th>
          </tr>
        </thead>
        <tbody>
          ${row("Mean score", [average(one), average(two)], mean, (value) => figure(value))}
          ${row("Pass rate", [rate(before), rate(after)], share, (value) => percent(value, 1))}
        </tbody>
      </table>
    </div>
    <p>
      Same decision: ${found.same} of ${n} (${percent(found.same / n)}). Spearman of the scores: ${" "}
      <span data-value=${spearman(one, two)}>${figure(spearman(one, two), 2)}</span>. ${" "}
      <span class="aside">
        Intervals by Gaffke (2005), as tcva evaluate --baseline has them${codes && `, over ${new Set(codes).size} groups`}.</span>
    </p>`;
}

const signed = (value, shown) => (value > 0 ? `+${shown(value)}` : shown(value).replace("-", "−"));

function ChangedSamples({ app, found, looks }) {
  const { ids, questions } = app.report.samples;
  const [before, after] = looks;
  const [which, setWhich] = useState("score");
  const [sorting, setSorting] = useState({ column: "size", descending: true });
  const change = (i) => after.scores[i] - before.scores[i];
  const flipped = new Set([...found.gained, ...found.lost]);
  const values = {
    sample: (i) => String(ids[i]),
    before: (i) => before.scores[i],
    after: (i) => after.scores[i],
    change,
    size: (i) => Math.abs(change(i)),
    decision: (i) => (flipped.has(i) ? Number(after.passed(i)) : null),
  };
  const rows = useMemo(
    () =>
      sorted(
        found.both.filter((i) => (which === "decision" ? flipped.has(i) : change(i) !== 0)),
        values[sorting.column],
        sorting.descending,
      ),
    [found, which, sorting],
  );
  const columns = [
    {
      key: "sample",
      label: "Sample",
      width: 11,
      grows: true,
      cell: (i) =>
        html`<span class="sample-id"><bdi>${brief(String(ids[i]), 60)}</bdi></span>
          <span class="sample-question"><bdi>${brief(questions?.[i] ?? "")}</bdi></span>`,
    },
    { key: "before", label: "Before", width: 5, numeric: true, cell: (i) => figure(before.scores[i]) },
    { key: "after", label: "After", width: 5, numeric: true, cell: (i) => figure(after.scores[i]) },
    {
      key: "change",
      label: "Change",
      width: 5,
      numeric: true,
      cell: (i) => signed(change(i), (value) => figure(value)),
    },
    {
      key: "decision",
      label: "Decision",
      width: 9.5,
      cell: (i) =>
        html`<${Decision}
            passed=${before.passed(i)} />
          ${flipped.has(i) && html` → <${Decision} passed=${after.passed(i)} />`}`,
    },
  ];
  return html`<section>
    <h3>Samples that changed</h3>
    <form class="filters" aria-label="Which samples" onSubmit=${(event) => event.preventDefault()}>
      <label>
        Show
        <select value=${which} onChange=${(event) => setWhich(event.target.value)}>
          <option value="score">all whose score changed</option>
          <option value="decision">those whose decision changed</option>
        </select></label>
    </form>
    <p class="count" role="status">${counted(rows.length, "sample")}</p>
    ${
      rows.length > 0 &&
      html`<${Grid}
        label="Samples that changed"
        short
        rows=${rows}
        columns=${columns}
        sorting=${sorting}
        onSort=${setSorting}
        current=${app.state.current ?? -1}
        onCurrent=${(current) => app.set({ current })}
        onOpen=${(i) => app.go({ view: "sample", sample: ids[i] })}
      />`
    }
  </section>`;
}

/** Samples with a score in one run only, and why the other has none. */
function Alone({ app, samples, run, other, look }) {
  if (!samples.length) return null;
  const reasons = new Map(other.unscored);
  return html`<section>
    <h3>Scored by <${Words} text=${brief(run.name)} /> alone</h3>
    <p>${counted(samples.length, "sample")}:</p>
    <ul class="alone">
      ${samples.slice(0, 100).map(
        (i) =>
          html`<li key=${i}>
            <a href=${app.link({ view: "sample", sample: app.report.samples.ids[i], run: run.name })}>
              <${Words} text=${brief(String(app.report.samples.ids[i]), 60)} />
            </a> ${" "}
            <span class="aside">
              ${look.run.row[i] === -2 ? "not in the other run" : brief(reasons.get(i) ?? "unscored there")}</span>
          </li>`,
      )}
    </ul>
    ${samples.length > 100 && html`<p>and ${samples.length - 100} more</p>`}
  </section>`;
}
