// The page: title, dial, navigation, and the view that the address names.
import { Dial } from "./dial.js";
import { Looks } from "./look.js";
import { changedDial } from "./state.js";
import { visible } from "./text.js";
import { ThemeButton } from "./theme.js";
import { html, useEffect, useMemo, useRef, useState } from "./ui.js";
import { VIEWS } from "./views.js";

/**
 * What every view gets as `app`.
 * @typedef {object} AppContext
 * @property {import("./data.js").ReportData} report
 * @property {object} state view, run, method, sample, dial, and whatever views put there
 * @property {(patch: object) => void} set changes the state in place
 * @property {(patch: object) => void} go changes view; the back button comes back
 * @property {(patch: object) => string} link the address of a changed state, for links
 * @property {object|null} run the chosen run; null where nothing was judged by TCVA
 * @property {import("./look.js").Look|null} look the chosen run at the dial
 * @property {(run: object) => import("./look.js").Look} lookAt any run at the dial
 * @property {Looks} looks curves and flip temperatures
 */

export function App({ report, store }) {
  const [state, setState] = useState(store.state);
  useEffect(() => store.listen(setState), [store]);
  const looks = useMemo(() => new Looks(report), [report]);
  const shown = VIEWS.filter((view) => view.applies(report));
  const view = shown.find((each) => each.name === state.view) ?? shown[0];
  const run = report.run(state.run) ?? report.runs[0] ?? null;
  const lookAt = (each) => looks.at(each, changedDial(state));
  const app = {
    report,
    state,
    looks,
    run,
    lookAt,
    look: run && lookAt(run),
    set: (patch) => store.set(patch),
    go: (patch) => store.go(patch),
    link: (patch) => store.link(patch),
  };
  const main = useRef(null);
  useEffect(() => {
    document.title = `${view.title} – ${report.figures.title}`;
  }, [view, report]);
  return html`
    <a class="skip" href="#main" onClick=${(event) => skipTo(event, main)}>Skip to the figures</a>
    <header class="top">
      <div class="bar">
        <h1><bdi>${visible(report.figures.title)}</bdi></h1>
        <${Navigation} app=${app} views=${shown} current=${view} />
        <${ThemeButton} />
      </div>
    </header>
    ${run && html`<${Dial} app=${app} />`}
    <main id="main" ref=${main} tabindex="-1" class=${`view view-${view.name}`}>
      <${view.component} key=${view.name} name=${view.name} app=${app} />
    </main>
    <footer>
      <p>Made by ${report.figures.made_by}. ${run && "Scores are computed in this page from the judge's verdicts. "}It asks nothing of a network.</p>
    </footer>
  `;
}

function Navigation({ app, views, current }) {
  return html`<nav aria-label="Views">
    ${views
      .filter((view) => view.inMenu)
      .map(
        (view) => html`<a
          key=${view.name}
          href=${app.link({ view: view.name })}
          aria-current=${view.name === (current.under ?? current.name) ? "page" : undefined}
          >${view.title}</a
        >`,
      )}
  </nav>`;
}

/** The address holds the state, so a jump inside the page must not change it. */
function skipTo(event, main) {
  event.preventDefault();
  main.current.focus();
}
