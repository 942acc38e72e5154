// What the library found, as it is: a sentence, and tables of records, each cell by its column's kind.
import { Guarantee } from "./guarantee.js";
import { SampleLink } from "./marks.js";
import { visible } from "./text.js";
import { counted, figure, html, percent, signed, useState } from "./ui.js";

/** Rows of a table that are shown at first. */
const ROWS = 12;

/** The view of the library's own tables. */
export function Statistics({ app }) {
  return html`<h2>Statistics</h2><${Reports} app=${app} view="overview" />`;
}

/**
 * The reports of the library that belong to a view.
 * @param {object} given
 * @param {string} [given.shown] the title of a table that the view shows itself, as it does the sentence
 */
export function Reports({ app, view, shown }) {
  return app.report.figures.reports.filter((each) => each.view === view).map((each) => html`<${Report} key=${each.sentence} app=${app} report=${each} shown=${shown} />`);
}

function Report({ app, report, shown }) {
  const tables = report.tables.filter(({ title, records }) => records.length > 0 && title !== shown);
  return html`<section class="report">
    ${app.look && html`<p class="aside">These figures are at the settings of the run and do not follow the temperature.</p>`}
    ${!shown && html`<p class=${app.look ? "said" : "lead"}>${visible(report.sentence)}</p>`}
    <${Guarantee} report=${report} />
    ${tables.filter(({ detail }) => !detail).map((table) => html`<${Table} key=${table.title} app=${app} table=${table} />`)}
    ${tables.filter(({ detail }) => detail).map((table) => html`<details key=${table.title} class="card"><summary><h3>${headingOf(table.title)} <span class="aside">${counted(table.records.length, "row")}</span></h3></summary><${Table} app=${app} table=${table} isBare=${true} /></details>`)}
    <ul class="plain">${report.notes.map((note, i) => html`<li key=${i}>${visible(note)}</li>`)}</ul>
  </section>`;
}

function Table({ app, table: { title, columns, records, notes }, isBare }) {
  const heading = `table ${title}`.replaceAll(/\W+/g, "-");
  const [most, setMost] = useState(ROWS);
  const isOfMeasures = columns.some(({ name }) => name === "measure");
  const wordsOf = (name) => (isOfMeasures && name === "mean" ? "Mean" : (WORDS[name] ?? headingOf(name)));
  return html`<section class=${isBare ? "" : "card"}>
    ${!isBare && html`<h3>${headingOf(title)}</h3>`}
    <div class="wide-table" tabindex="0" role="region" aria-label=${title} id=${heading}>
      <table class="figures">
        <thead><tr>${columns.map(({ name, kind, help }) => html`<th key=${name} scope="col" class=${classOf(kind)} title=${visible(help)}>${wordsOf(name)}</th>`)}</tr></thead>
        <tbody>${records.slice(0, most).map((record, i) => html`<tr key=${i}>
          ${columns.map((column, place) => {
            const Cell = place ? "td" : "th";
            return html`<${Cell} key=${column.name} scope=${place ? undefined : "row"} class=${classOf(column.kind)}>${cell(app, record, column)}<//>`;
          })}
        </tr>`)}</tbody>
      </table>
    </div>
    ${records.length > most && html`<button type="button" class="quiet" onClick=${() => setMost(Infinity)}>Show all ${records.length} rows</button>`}
    ${notes.map((note, i) => html`<p key=${i} class="note">${named(visible(note), columns)}</p>`)}
  </section>`;
}

/** Names of columns as the tables of the command line have them, where a page has room for words. */
const WORDS = {
  n: "Samples", p: "p-value", p_corrected: "p-value (corrected)", rho: "Spearman's ρ", tau: "Kendall's τ", r: "Pearson's r", kappa: "Cohen's κ", sd: "Standard deviation",
  mean: "Mean score", tied: "Tied pairs", same: "Same decision", human: "Human ratings", tcva: "TCVA", both_pass: "Both pass", both_fail: "Both fail",
  only_tcva: "Only TCVA passes", only_method: "Only the other passes", at_0: "Scores of 0", at_1: "Scores of 1", mean_common: "Mean of common samples",
};

/** A note that begins its parts with names of columns, with the headings in their places. */
const named = (note, columns) =>
  columns.reduce((text, { name }) => text.replace(new RegExp(`(^|[;,] )${name.replaceAll("_", " ")}(?=[:,])`), `$1${WORDS[name] ?? headingOf(name)}`), note);

/** A name in words, with a capital. */
function headingOf(name) {
  const words = visible(name.replaceAll("_", " "));
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const classOf = (kind) => (kind === "prose" ? "words-cell prose-cell" : kind === "text" ? "words-cell" : "numeric");

/** A value by its column's kind; what is missing is a dash. A sample's id leads to it. */
function cell(app, record, { name, kind, digits }) {
  const value = record[name];
  if (value === null || value === undefined || value === "") return "–";
  const place = name === "sample" ? app.report.indexOf(value) : -1;
  if (place >= 0) {
    // A record of a citation has its claim's place, too.
    const cites = Number.isInteger(record.place) && app.report.runs.find(({ criterion }) => criterion === "faithfulness");
    return html`<${SampleLink} app=${app} i=${place} run=${cites ? cites.name : undefined} claim=${cites ? record.place + 1 : undefined} />`;
  }
  if (typeof value !== "number") return html`<bdi>${visible(String(value))}</bdi>`;
  const [low, high] = [record[`${name}_low`] ?? null, record[`${name}_high`] ?? null];
  const write = kind === "signed" ? signed : figure;
  return html`<span data-value=${value}>${(WRITTEN[kind] ?? String)(value, digits)}${low !== null && high !== null && ` [${write(low, 2)}, ${write(high, 2)}]`}</span>`;
}

/** As `cell` of tcva_adapters/tables.py writes a value of each kind. */
const WRITTEN = {
  int: String,
  score: (value, digits) => figure(value, digits),
  share: percent,
  p: (value) => (value < 0.0005 ? "<0.001" : figure(value)),
  interval: (value) => figure(value),
  signed: (value) => signed(value),
};
