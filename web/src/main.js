import { App } from "./app.js";
import { readReport } from "./data.js";
import { flipTemperature, preparedRows } from "./scoring.js";
import { Store } from "./state.js";
import { html, render } from "./ui.js";

const report = readReport(document);
const store = new Store(window);
const place = document.getElementById("page");
place.textContent = "";
render(html`<${App} report=${report} store=${store} />`, place);
// For the console, and for tests that compare the page's arithmetic with the library's.
globalThis.tcvaReport = { report, store, preparedRows, flipTemperature };
