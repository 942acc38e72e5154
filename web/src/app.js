// The page: title, temperature, navigation, and the view that the address names.
import { Conversation, Conversations } from "./conversations.js";
import { Diagnosis } from "./diagnosis.js";
import { Label } from "./label.js";
import { Looks } from "./look.js";
import { Ball } from "./marks.js";
import { Overview } from "./overview.js";
import { Statistics } from "./records.js";
import { Sample } from "./sample.js";
import { Samples } from "./samples.js";
import { Settings } from "./settings.js";
import { changeable, SideBySide } from "./side_by_side.js";
import { changedSettings } from "./state.js";
import { visible } from "./text.js";
import { html, useEffect, useLayoutEffect, useMedia, useMemo, useRef, useState } from "./ui.js";

/**
 * Every view by its name in the address, in the order of the menu.
 * @typedef {object} View
 * @property {string} name
 * @property {string} title
 * @property {Function} component gets `app`
 * @property {(report: object) => boolean} applies whether the report has something to show in it
 * @property {boolean} [isFixed] whether no setting changes what it shows
 * @property {string} [under] the menu's entry that it belongs to, where it has none of its own
 */
const VIEWS = [
  { name: "overview", title: "Overview", component: Overview, applies: () => true },
  { name: "samples", title: "Samples", component: Samples, applies: ({ size }) => size > 0 },
  { name: "conversations", title: "Conversations", component: Conversations, applies: ({ conversations }) => conversations.length > 0 },
  { name: "diagnosis", title: "Diagnosis", component: Diagnosis, isFixed: true, applies: ({ figures }) => figures.reports.some(({ view }) => view === "diagnosis") },
  { name: "methods", title: "Side by side", component: SideBySide, applies: ({ runs, methods }) => runs.length + methods.length > 1 && (methods.length > 0 || changeable(runs).length < runs.length) },
  { name: "changes", title: "Changes", component: SideBySide, applies: ({ runs }) => changeable(runs).length > 0 },
  { name: "statistics", title: "Statistics", component: Statistics, isFixed: true, applies: ({ size, figures }) => size > 0 && figures.reports.some(({ view, tables }) => view === "overview" && tables.length) },
  { name: "label", title: "Label", component: Label, isFixed: true, applies: ({ size }) => size > 0 },
  { name: "sample", title: "Sample", component: Sample, under: "samples", applies: ({ size }) => size > 0 },
  { name: "conversation", title: "Conversation", component: Conversation, under: "conversations", applies: ({ conversations }) => conversations.length > 0 },
];

/**
 * What every view gets as `app`.
 * @typedef {object} AppContext
 * @property {import("./data.js").ReportData} report
 * @property {object} state view, run, method, sample, the settings, and whatever views put there
 * @property {(patch: object) => void} set changes the state in place
 * @property {(patch: object) => void} go changes view; the back button comes back
 * @property {(patch: object) => string} link the address of a changed state, for links
 * @property {Looks} looks curves, and from which temperature on a sample passes
 * @property {import("./look.js").Scored|null} look the chosen run; null where nothing was judged by TCVA
 * @property {import("./look.js").Scored|null} main the same, or else the chosen method
 * @property {() => import("./look.js").Scored[]} all every run and method
 */
export function App({ report, store }) {
  const [state, setState] = useState(store.state);
  useEffect(() => store.listen(setState), [store]);
  const looks = useMemo(() => new Looks(report), [report]);
  const shown = VIEWS.filter((view) => view.applies(report));
  const view = shown.find((each) => each.name === state.view) ?? shown[0];
  const changed = changedSettings(state);
  const run = report.runs.find(({ name }) => name === state.run) ?? report.runs[0];
  const look = run ? looks.at(run, changed) : null;
  const { methods } = looks;
  const app = {
    report,
    state,
    looks,
    look,
    main: look ?? methods.find(({ name }) => name === state.run) ?? methods.find(hasScores) ?? methods[0] ?? null,
    all: () => [...report.runs.map((each) => looks.at(each, changed)), ...methods],
    set: (patch) => store.set(patch),
    go: (patch) => store.go(patch),
    link: (patch) => store.link(patch),
  };
  const main = useRef(null);
  const system = useMedia("(prefers-color-scheme: dark)") ? "dark" : "light";
  const theme = ["dark", "light"].includes(state.theme) ? state.theme : system;
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const shownBefore = useRef(null);
  useLayoutEffect(() => {
    if (shownBefore.current) scrollTo(0, 0);
    shownBefore.current = view;
    document.querySelector("nav [aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
  }, [view.name, state.sample, state.conversation]);
  const other = theme === "dark" ? "light" : "dark";
  useEffect(() => {
    document.title = `${view.title} – ${report.figures.title}`;
  }, [view, report]);
  // The address holds the state, so a jump inside the page must not change it.
  const skip = (event) => {
    event.preventDefault();
    main.current.focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the figures</a>
    <header class="top">
      <h1><bdi>${visible(report.figures.title)}</bdi></h1>
      <nav aria-label="Views">
        ${shown.filter(({ under }) => !under).map(
          ({ name, title }) => html`<a key=${name} href=${app.link({ view: name })} aria-current=${name === (view.under ?? view.name) ? "page" : undefined}>${title}</a>`,
        )}
      </nav>
      <button type="button" class="theme" aria-label=${`Use ${other} colours`} title=${`Use ${other} colours`}
        onClick=${() => app.set({ theme: other === system ? undefined : other })}><${Ball} level=${2} /></button>
    </header>
    ${look && !view.isFixed && html`<${Settings} app=${app} hasRun=${view.component !== SideBySide} />`}
    <main id="main" ref=${main} tabindex="-1" class=${`view view-${view.name}`}>
      <${view.component} key=${view.name} view=${view} app=${app} />
    </main>
    <footer>
      <p>Made by ${report.figures.made_by}. ${look && "The page computes the scores from the judge's verdicts. "}It uses no network.</p>
    </footer>
  `;
}

const hasScores = ({ scores }) => scores.some((score) => !Number.isNaN(score));
