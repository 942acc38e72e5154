import { App } from "./app.js";
import { readReport } from "./data.js";
import { preparedRows } from "./scoring.js";
import { Store } from "./state.js";
import { html, render } from "./ui.js";

const report = readReport(document);
const store = new Store(window);
const place = document.getElementById("page");
place.textContent = "";
render(html`<${App} report=${report} store=${store} />`, place);

// For who wants a figure from the page's console, and for the tests that compare it with the library.
globalThis.tcvaReport = {
  figures: report.figures,
  store,
  /** Scores of distinct rows (of `figures.runs[i].rows`) under settings of the form of a run's. */
  score: (rows, settings) => Float64Array.from(preparedRows(rows, settings), (score) => score(settings.temperature)),
};
