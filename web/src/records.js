// What the library found, as it is: a sentence, and tables of records, each cell by its column's kind.
import { SampleLink } from "./marks.js";
import { visible } from "./text.js";
import { figure, html, percent, signed } from "./ui.js";

/** The view of the library's own tables. */
export function Statistics({ app }) {
  return html`<h2>Statistics</h2><${Reports} app=${app} view="overview" />`;
}

/** The reports of the library that belong to a view. */
export function Reports({ app, view }) {
  return app.report.figures.reports.filter((each) => each.view === view).map((each) => html`<${Report} key=${each.sentence} app=${app} report=${each} />`);
}

function Report({ app, report }) {
  return html`<section class="report">
    <p class=${app.look ? "said" : "lead"}>${app.look && "At the settings of the run: "}${visible(report.sentence)}</p>
    ${report.tables.filter(({ records }) => records.length > 0).map((table) => html`<${Table} key=${table.title} app=${app} table=${table} />`)}
    <ul class="plain">${report.notes.map((note, i) => html`<li key=${i}>${visible(note)}</li>`)}</ul>
  </section>`;
}

function Table({ app, table: { title, columns, records, notes } }) {
  const heading = `table ${title}`.replaceAll(/\W+/g, "-");
  return html`<section>
    <h3 id=${heading}>${visible(title)}</h3>
    <div class="wide-table" tabindex="0" role="region" aria-labelledby=${heading}>
      <table class="figures">
        <thead><tr>${columns.map(({ name, kind, help }) => html`<th key=${name} scope="col" class=${classOf(kind)} title=${visible(help)}>${visible(name.replaceAll("_", " "))}</th>`)}</tr></thead>
        <tbody>${records.map((record, i) => html`<tr key=${i}>
          ${columns.map((column, place) => {
            const Cell = place ? "td" : "th";
            return html`<${Cell} key=${column.name} class=${classOf(column.kind)}>${cell(app, record, column)}<//>`;
          })}
        </tr>`)}</tbody>
      </table>
    </div>
    ${notes.map((note, i) => html`<p key=${i} class="note">${visible(note)}</p>`)}
  </section>`;
}

const classOf = (kind) => (kind === "text" || kind === "prose" ? "words-cell" : "numeric");

/** A value by its column's kind; what is missing is a dash. A sample's id leads to it. */
function cell(app, record, { name, kind }) {
  const value = record[name];
  if (value === null || value === undefined || value === "") return "–";
  const place = name === "sample" ? app.report.indexOf(value) : -1;
  if (place >= 0) return html`<${SampleLink} app=${app} i=${place} />`;
  if (typeof value !== "number") return html`<bdi>${visible(String(value))}</bdi>`;
  const [low, high] = [record[`${name}_low`] ?? null, record[`${name}_high`] ?? null];
  const write = kind === "signed" ? signed : figure;
  return html`<span data-value=${value}>${(WRITTEN[kind] ?? String)(value)}${low !== null && high !== null && ` [${write(low, 2)}, ${write(high, 2)}]`}</span>`;
}

/** As `cell` of tcva_adapters/tables.py writes a value of each kind. */
const WRITTEN = {
  int: String,
  score: (value) => figure(value),
  share: percent,
  p: (value) => (value < 0.0005 ? "<0.001" : figure(value)),
  interval: (value) => figure(value),
  signed: (value) => signed(value),
};
