// What a command prints, as a view: sentences, and tables of names and figures.
import { SampleLink } from "./sample_link.js";
import { visible } from "./text.js";
import { html } from "./ui.js";

export function Parts({ app, name }) {
  const [sentence, ...parts] = app.report.figures.sections[name];
  return html`<h2 class="spoken">${name}</h2>
    <p class="lead">${visible(sentence)}</p>
    ${parts.map((part, i) => (part.rows ? html`<${Table} app=${app} label=${parts[i - 1]} ...${part} />` : html`<p class="said">${visible(part)}</p>`))}`;
}

/** A table whose names are links where they are those of samples. */
function Table({ app, label, head, rows, kinds }) {
  const kind = (i) => (kinds[i] === "r" ? "numeric" : "words-cell");
  const isOfSamples = head[0] === "sample";
  const cell = (text, i) => {
    const place = isOfSamples && !i ? app.report.indexOf(text) : -1;
    return place < 0 ? html`<bdi>${visible(text)}</bdi>` : html`<${SampleLink} app=${app} i=${place} />`;
  };
  return html`<div class="wide-table" tabindex="0" role="region" aria-label=${visible(label ?? head[0])}>
      <table class="figures">
        <thead><tr>${head.map((text, i) => html`<th scope="col" class=${kind(i)}>${visible(text)}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr>${row.map((text, i) => (i ? html`<td class=${kind(i)}>${cell(text, i)}</td>` : html`<th scope="row" class="words-cell">${cell(text, i)}</th>`))}</tr>`)}</tbody>
      </table>
    </div>`;
}
