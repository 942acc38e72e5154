// Which metric tells systems apart: the figures of `tcva systems` as tables.
import { visible } from "./text.js";
import { counted, figure, html, percent } from "./ui.js";

const MEASURE = "spearman";

export function Systems({ app }) {
  const found = app.report.figures.systems;
  const metrics = Object.entries(found.metrics);
  const power = metrics.find(([, each]) => each.power)?.[1].power;
  return html`<h2 class="spoken">Systems</h2>
    <p class="lead">${visible(found.sentence)}</p>
    <${Table} title="Mean scores" id="means" head=${["Metric", ...found.systems]}
      rows=${metrics.map(([name, { systems }]) => [name, ...found.systems.map((system) => mean(systems[system]))])} />
    <${Table} title="Which metric tells systems apart" id="power"
      head=${["Metric", "Pairs told apart", "Share of all pairs", ...(power ? [`Power for ${power.difference}`, "Queries needed"] : [])]}
      rows=${metrics.map(([name, each]) => [name, `${each.significant} of ${each.pairs.length}`, percent(each.discriminative_power), ...(power ? [percent(each.power?.power), each.power?.needed ?? "–"] : [])])} />
    <${Differences} metrics=${metrics} found=${found} />
    ${Object.keys(found.by_temperature ?? {}).length > 0 && html`<${ByTemperature} rows=${found.by_temperature} />`}
    ${found.averaged?.[MEASURE] && html`<${Table} title="Spearman between metrics, averaged over systems" id="between"
      head=${["", ...metrics.map(([name]) => name)]}
      rows=${found.averaged[MEASURE].values.map((row, i) => [metrics[i][0], ...row.map((value) => figure(value))])} />`}
    ${found.hypotheses?.length > 0 && html`<${Table} title="Hypotheses, corrected by Holm" id="hypotheses"
      head=${Object.keys(found.hypotheses[0]).map(plain)} rows=${found.hypotheses.map((each) => Object.values(each).map(said))} />`}
    <section><h3>How</h3><ul class="plain">
      <li>${counted(found.queries, "query", "queries")}, ${counted(found.permutations, "randomisation")} (seed ${found.seed}), significant below ${found.alpha}.</li>
      ${found.notes.map((note) => html`<li>${visible(note)}</li>`)}
    </ul></section>`;
}

function mean(described) {
  return described ? figure(described.mean) : "–";
}

function Differences({ metrics, found }) {
  const rows = metrics.flatMap(([name, { pairs }]) =>
    pairs.map((pair) => [name, pair.first, pair.second, figure(pair.difference), `${figure(pair.p)}${pair.p < found.alpha ? " *" : ""}`]),
  );
  return html`<${Table} title="Differences of means" id="differences" head=${["Metric", "First", "Second", "First − second", "p"]} rows=${rows} names=${3} note=${rows.some((row) => row[4].endsWith("*")) && `* below ${found.alpha}`} />`;
}

function ByTemperature({ rows }) {
  const temperatures = Object.keys(Object.values(rows)[0]);
  return html`<${Table} title="Share of pairs told apart, by temperature" id="by-temperature"
    head=${["Metric", ...temperatures.map((t) => `T = ${t}`)]}
    rows=${Object.entries(rows).map(([name, found]) => [name, ...temperatures.map((t) => percent(found[t]))])} />`;
}

/** A table whose first columns are names and whose others are figures. */
function Table({ title, id, head, rows, names = 1, note }) {
  const kind = (i) => (i < names ? "words-cell" : "numeric");
  return html`<section>
    <h3 id=${id}>${title}</h3>
    <div class="wide-table" tabindex="0" role="region" aria-labelledby=${id}>
      <table class="figures">
        <thead><tr>${head.map((text, i) => html`<th key=${i} scope="col" class=${i < names ? undefined : "numeric"}>${visible(text)}</th>`)}</tr></thead>
        <tbody>${rows.map((row, place) => html`<tr key=${place}>${row.map((cell, i) => (i === 0
          ? html`<th scope="row" class="words-cell"><bdi>${visible(String(cell))}</bdi></th>`
          : html`<td class=${kind(i)}>${visible(String(cell))}</td>`))}</tr>`)}</tbody>
      </table>
    </div>
    ${note && html`<p class="note">${note}</p>`}
  </section>`;
}

function plain(name) {
  return name.replaceAll("_", " ");
}

function said(value) {
  if (value === null) return "–";
  if (typeof value === "number") return Number.isInteger(value) ? value : figure(value);
  return typeof value === "object" ? JSON.stringify(value) : value;
}
