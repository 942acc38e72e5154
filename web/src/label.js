/** Labelling by hand, keyboard first: claims by level or whole answers by a rating. */
import { sorted } from "./filters.js";
import { Agreement } from "./label_figures.js";
import { Files } from "./label_files.js";
import { Item } from "./label_item.js";
import { isDone, scaleOf, shuffled } from "./label_order.js";
import { labelsOf } from "./labels.js";
import { listedOf } from "./listing.js";
import { html, useEffect, useMemo, useState } from "./ui.js";

export function Label({ app }) {
  const { report, state } = app;
  const store = useMemo(() => labelsOf(report), [report]);
  const [, redraw] = useState(0);
  const given = {
    what: app.run ? "claims" : "answers",
    order: "random",
    seed: 1,
    blind: true,
    onward: true,
    ...state.labelling,
  };
  const change = (patch) => app.set({ labelling: { ...given, ...patch } });
  const order = useMemo(() => orderFor(app, given), [app.run, given.what, given.order, given.seed]);
  // Where to begin is said once: an answer that has just been labelled stays until the reader goes on.
  const start = useMemo(() => order.findIndex((i) => !isDone(app, store, given.what, i)), [order]);
  const at = Math.min(given.at ?? Math.max(0, start), order.length - 1);
  useLeaveWarning(store);
  const scale = scaleOf(report);
  return html`<div class="labelling">
    <h2>Label</h2>
    <${Settings} app=${app} given=${given} change=${change} />
    ${
      order.length === 0
        ? html`<p class="notice">
            No sample has ${given.what === "claims" ? "claims of this run" : "a response"} in this page to
            label.
          </p>`
        : html`<${Item}
            key=${`${order[at]} ${given.what} ${app.run?.name}`}
            app=${app}
            store=${store}
            given=${given}
            i=${order[at]}
            at=${at}
            order=${order}
            scale=${scale}
            goTo=${(to) => change({ at: Math.min(order.length - 1, Math.max(0, to)) })}
            change=${change}
            onLabel=${() => redraw((n) => n + 1)}
          />`
    }
    <${Agreement} app=${app} store=${store} what=${given.what} scale=${scale} />
    <${Files} report=${report} store=${store} scale=${scale} onChange=${() => redraw((n) => n + 1)} />
  </div>`;
}

/** The samples to label; by score as the dial stands now, so that they do not move under the reader's hands. */
function orderFor(app, { what, order, seed }) {
  const { report, run } = app;
  const there = report.samples.ids
    .map((_, i) => i)
    .filter((i) => report.line(i) && (what === "answers" || run?.row[i] >= 0));
  if (order === "random") return shuffled(there, seed);
  return order === "worst" ? sorted(there, listedOf(app).score) : there;
}

function Settings({ app, given, change }) {
  const select = (label, name, options) =>
    html`<label>
      ${label}
      <select
        value=${given[name]}
        onChange=${(event) => change({ [name]: event.target.value, at: undefined })}>
        ${options.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
      </select></label>
    `;
  const tick = (label, name) =>
    html`<label class="tick">
      <input type="checkbox" checked=${given[name]} onChange=${() => change({ [name]: !given[name] })} />
      ${label}</label>
    `;
  return html`<form class="filters" aria-label="How to label" onSubmit=${(event) => event.preventDefault()}>
    ${
      app.run &&
      select("Label", "what", [
        ["claims", "claims, by level"],
        ["answers", "whole answers"],
      ])
    }
    ${select("Order", "order", [
      ["random", "random"],
      ["worst", "lowest score first"],
      ["file", "as in the file"],
    ])}
    ${given.order === "random" && html`<${Seed} seed=${given.seed} onChange=${(seed) => change({ seed, at: undefined })} />`}
    ${tick("Blind: the judge's verdicts stay hidden until an answer is labelled", "blind")}
    ${tick("Go on by itself", "onward")}
  </form>`;
}

function Seed({ seed, onChange }) {
  const take = (text) => onChange(Math.max(0, Math.trunc(Number(text)) || 0));
  return html`<label>
    Seed
    <input class="number" type="number" min="0" step="1" value=${seed} onChange=${(event) => take(event.target.value)} />
  </label>`;
}

/** Asks before the page is left with labels that nothing else has. */
function useLeaveWarning(store) {
  useEffect(() => {
    const warn = (event) => {
      if (!store.isKept && store.unsaved && store.labels.size) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [store]);
}
