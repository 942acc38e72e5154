// Labelling by hand, keyboard first: claims by level or whole answers by a rating.
import { sorted } from "./filters.js";
import { Item, isDone, scaleOf, sentencesOf } from "./label_item.js";
import { labelsOf, losesLabels } from "./labels.js";
import { isEmpty } from "./marks.js";
import { visible } from "./text.js";
import { counted, html, Select, useEffect, useMemo, useState } from "./ui.js";

const SAID = 12;

export function Label({ app }) {
  const { report, state, look } = app;
  const [, redraw] = useState(0);
  const given = { what: look ? "claims" : "answers", order: "random", seed: 1, blind: true, ...state.labelling };
  const hasSeveral = report.runs.some(({ criterion }) => criterion !== look.run.criterion);
  const criterion = hasSeveral && given.what === "claims" ? look.run.criterion : "";
  const store = labelsOf(report, criterion);
  const change = (patch) => app.set({ labelling: { ...given, ...patch } });
  const order = useMemo(() => orderFor(app, given), [look?.run, given.what, given.order, given.seed]);
  // Where to begin is said once: an answer that has just been labelled stays until the reader goes on.
  const start = useMemo(() => order.findIndex((i) => !isDone(app, store, given.what, i)), [order, store]);
  const at = Math.min(given.at ?? Math.max(0, start), order.length - 1);
  const onLabel = () => redraw((n) => n + 1);
  useLeaveWarning(report);
  const again = (patch) => change({ ...patch, at: undefined, claim: undefined });
  return html`<div class="labelling">
    <h2>Label</h2>
    <form class="filters" aria-label="How to label" onSubmit=${(event) => event.preventDefault()}>
      ${look && html`<${Select} label="Label" value=${given.what} options=${[["claims", "claims, by level"], ["answers", "whole answers"]]} onChange=${(what) => again({ what })} />`}
      <${Select} label="Order" value=${given.order} options=${[["random", "random"], ["worst", "lowest score first"], ["file", "as in the file"]]} onChange=${(name) => again({ order: name })} />
      ${given.order === "random" && html`<label>Seed<input class="number" type="number" min="0" step="1" value=${given.seed} onChange=${(event) => again({ seed: Math.trunc(Number(event.target.value)) || 0 })} /></label>`}
      ${report.runs.length > 1 && given.what === "claims" && html`<${Select} label="Run" value=${look.name} options=${report.runs.map(({ name }) => [name, visible(name)])} onChange=${(run) => app.set({ run, labelling: { ...given, at: undefined, claim: undefined } })} />`}
      <label class="tick"><input type="checkbox" checked=${given.blind} onChange=${() => change({ blind: !given.blind })} /> Blind: the judge's verdicts stay hidden until an answer is labelled</label>
    </form>
    ${order.length === 0
      ? html`<p class="notice">No sample has ${given.what === "claims" ? "claims of this run" : "an answer"} in this page to label.</p>`
      : html`<${Item} key=${`${order[at]} ${given.what} ${look?.name}`} app=${app} store=${store} given=${given} at=${at} order=${order} change=${change} />`}
    <${Files} key=${criterion} app=${app} store=${store} what=${given.what} part=${criterion && `.${criterion}`} onChange=${onLabel} />
  </div>`;
}

/** The samples to label; by score as it stands now, so that they do not move under the reader's hands. */
function orderFor(app, { what, order, seed }) {
  const { report, look, main } = app;
  const why = new Map(look?.run.unscored);
  const hasSentences = (i) => look.scoreOf(i) || (isEmpty(why.get(i) ?? "") && sentencesOf(app, i).length > 0);
  const there = [...report.samples.ids.keys()].filter((i) => report.line(i) && (what === "answers" || hasSentences(i)));
  if (order === "random") return shuffled(there, seed);
  return order === "worst" ? sorted(there, (i) => main.scores[i]) : there;
}

/** Samples in random order; the same seed gives the same order (mulberry32, Fisher and Yates). */
export function shuffled(samples, seed) {
  const found = [...samples];
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let i = found.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [found[i], found[j]] = [found[j], found[i]];
  }
  return found;
}

/** Labels out to a file and in again. */
function Files({ app, store, what, part, onChange }) {
  const { report, look } = app;
  const [said, setSaid] = useState([]);
  const [sure, setSure] = useState(false);
  const file = `labels${part}.jsonl`;
  const done = (id) => isDone(app, store, what, report.indexOf(id));
  const ready = [...store.labels.keys()].filter(done).length;
  const save = () => {
    const text = store.toJsonl(what, done, look?.settings.temperature);
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    Object.assign(document.createElement("a"), { href: address, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    store.unsaved = ready < store.labels.size;
    setSaid([`${file} holds ${counted(ready, "answer")}.`]);
  };
  const read = async (event) => {
    const [chosen] = event.target.files;
    event.target.value = "";
    if (!chosen) return;
    setSaid(store.read(await chosen.text(), scaleOf(report)));
    onChange();
  };
  const clear = () => {
    setSure(!sure);
    if (!sure) return;
    store.clear();
    setSaid(["All labels are deleted."]);
    onChange();
  };
  return html`<section class="card label-files">
    <h3>Export and import</h3>
    <p>${counted(ready, "answer")} labelled completely.${store.isKept ? " Labels stay in this browser, for this report." : " This browser stores nothing for this page: export your labels before you close it."}</p>
    <p class="buttons">
      <button type="button" disabled=${ready === 0} onClick=${save}>Export</button>
      <label class="file">Import an earlier export <input type="file" accept=".jsonl,.json,.txt" onChange=${read} /></label>
      <button type="button" class="quiet" disabled=${!store.labels.size} onClick=${clear} onBlur=${() => setSure(false)}>${sure ? "Press again to delete them all" : "Delete all labels"}</button>
    </p>
    <div role="status">${said.slice(0, SAID).map((line, n) => html`<p key=${n} class="aside">${visible(line)}</p>`)}${said.length > SAID && html`<p class="aside">and ${said.length - SAID} more lines</p>`}</div>
    <p class="aside">
      <code>tcva validate judged${part}.jsonl --human ${file}</code> compares the judge with your labels.
      ${what === "claims" && ` The rating of an answer is the score of your levels at T = ${look.settings.temperature}.`}
      ${what === "claims" && look.run.claims === "response" && html` <code>tcva calibrate judged${part}.jsonl --max-unsupported 0.1 --human ${file}</code> finds the claim threshold that keeps this limit.`}
    </p>
  </section>`;
}

/** Asks before the page is left with labels that nothing else has. */
function useLeaveWarning(report) {
  useEffect(() => {
    const warn = (event) => {
      if (losesLabels(report)) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [report]);
}
