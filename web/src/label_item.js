// One answer to label, and its keys.
import { Ball, Level, NAMES, Prose, SampleLink } from "./marks.js";
import { visible } from "./text.js";
import { Earlier } from "./turns.js";
import { counted, figure, html, useKeys } from "./ui.js";

const MOST_STEPS = 11;
const STEPS = 5;

/**
 * The ratings to choose from, each with its key, the worst first: whole numbers where the scale has at
 * most eleven, else five steps from end to end.
 */
export function ratingSteps([low, high]) {
  const isWhole = Number.isInteger(low) && Number.isInteger(high) && high - low >= 2 && high - low < MOST_STEPS;
  if (!isWhole) return Array.from({ length: STEPS }, (_, i) => ({ value: low + ((high - low) * i) / (STEPS - 1), key: String(i + 1) }));
  return Array.from({ length: high - low + 1 }, (_, i) => ({ value: low + i, key: low + i >= 0 && low + i <= 9 ? String(low + i) : "x" }));
}

/** The levels to choose from, each with its key, the worst first as among ratings. */
export const levelSteps = (levels) => [...levels].reverse().map((value, i) => ({ value, key: String(i + 1) }));

/** The label of a sentence that claims nothing, as in results; its key stands beside those of the levels. */
const NO_CLAIM = { value: null, key: "0" };

/** The scale of human ratings: the report's, else 0 to 1. */
export const scaleOf = (report) => report.samples.human_scale ?? [0, 1];

/** The sentences of a sample: those that the judge marks as no claim are labelled, too, as readers get them as well. */
export const sentencesOf = ({ report, look }, i) => report.detail(i)?.runs?.[look?.name]?.claims ?? [];

/** Whether a sample has all its labels. */
export function isDone(app, store, what, i) {
  const id = app.report.samples.ids[i];
  if (what === "answers") return store.rating(id) !== undefined;
  const claims = sentencesOf(app, i);
  return claims.length > 0 && claims.every(({ claim }) => store.level(id, claim) !== undefined);
}

export function Item({ app, store, given, at, order, change }) {
  const { report } = app;
  const i = order[at];
  const { levels } = report.figures;
  const id = report.samples.ids[i];
  const detail = report.detail(i);
  const isOfClaims = given.what === "claims";
  const { claims: claimed, against } = app.look?.run ?? {};
  const hasReference = detail.reference && (!isOfClaims || [claimed, against].includes("reference"));
  const claims = isOfClaims ? sentencesOf(app, i) : [];
  const unlabelled = (after) => claims.findIndex((each, n) => n > after && store.level(id, each.claim) === undefined);
  const claim = Math.min(given.claim ?? Math.max(0, unlabelled(-1)), claims.length - 1);
  const done = isDone(app, store, given.what, i);
  const shown = done || !given.blind;
  const goTo = (to) => change({ at: Math.min(order.length - 1, Math.max(0, to)), claim: undefined });
  // Behind the last answer the search goes on with the first: none is left out.
  const nextPlace = () => [...order.keys()].map((k) => (k + at + 1) % order.length).find((k) => k !== at && !isDone(app, store, given.what, order[k]));
  const next = () => goTo(nextPlace() ?? at);
  const label = (value) => {
    if (isOfClaims) store.mark(id, claims[claim].claim, value);
    else store.rate(id, value);
    const left = [unlabelled(claim), unlabelled(-1)].find((n) => n >= 0);
    change({ claim: value === undefined ? claim : (left ?? claim) });
  };
  const placeOf = ({ id: labelled, claim: text }) => {
    const to = order.indexOf(report.indexOf(labelled));
    const n = isOfClaims ? sentencesOf(app, order[to]).findIndex((each) => each.claim === text) : Number(text === undefined) - 1;
    return to >= 0 && n >= 0 ? { at: to, claim: n } : null;
  };
  const undo = () => {
    const place = store.undo(placeOf);
    if (place) change(place);
  };
  const rated = isOfClaims ? levelSteps(levels) : ratingSteps(scaleOf(report));
  const steps = isOfClaims ? [...rated, NO_CLAIM] : rated;
  const move = (to) => change({ claim: Math.min(claims.length - 1, Math.max(0, to)) });
  useKeys({
    ...Object.fromEntries(steps.map(({ value, key }) => [key, () => label(value)])),
    Backspace: () => label(undefined),
    u: undo,
    n: next,
    b: () => change({ blind: !given.blind }),
    ArrowLeft: () => goTo(at - 1),
    ArrowRight: () => goTo(at + 1),
    ArrowUp: () => move(claim - 1),
    ArrowDown: () => move(claim + 1),
  });
  const choices = (chosen, word) => html`<div class="label-choices" role="group" aria-label="Labels">
    ${steps.map(({ value, key }) => html`<button key=${key} type="button" aria-pressed=${value === chosen} aria-keyshortcuts=${key}
      onClick=${(event) => {
        event.stopPropagation();
        label(value === chosen ? undefined : value);
      }}><kbd>${key}</kbd> ${word(value)}</button>`)}
  </div>`;
  const level = (name) => (name === null ? "claims nothing" : html`<${Ball} level=${levels.indexOf(name)} /> ${name}`);
  return html`<section class="card item" aria-label="What to label">
    <p class="steps">
      <button type="button" class="quiet" disabled=${at === 0} onClick=${() => goTo(at - 1)}>‹ previous</button>
      <span>${at + 1} of ${counted(order.length, "answer")}: <${SampleLink} app=${app} i=${i} /></span>
      <button type="button" class="quiet" disabled=${at === order.length - 1} onClick=${() => goTo(at + 1)}>next ›</button>
      <button type="button" class="quiet" onClick=${next}>next unlabelled</button>
    </p>
    <div class="answer">
      <div class="answer-said">
        <${Earlier} app=${app} i=${i} />
        ${detail.input && html`<h3>Question</h3><${Prose} text=${detail.input} />`}
        <h3>Answer</h3>
        <${Prose} text=${detail.response ?? ""} />
        <h3 id="to-label">${isOfClaims ? `Claims${claimed === "response" ? "" : ` of the ${NAMES[claimed]}`}` : "Rating"}</h3>
        ${isOfClaims && against !== "contexts" && html`<p class="aside">Label them by the ${NAMES[against]}, as the criterion ${visible(app.look.run.criterion)} does.</p>`}
        ${isOfClaims && html`<ol class="claims" aria-labelledby="to-label">
          ${claims.map((each, n) => {
            const own = store.level(id, each.claim);
            return html`<li key=${n} class=${`claim ${n === claim ? "chosen" : ""}`} aria-current=${n === claim ? "true" : undefined} onClick=${() => change({ claim: n })}>
              <div class="claim-top">
                <span class="claim-number">${n + 1}</span>
                ${own === undefined ? html`<span class="aside">not labelled</span>` : html`<${Level} name=${own} levels=${levels} />`}
                ${shown && html`<span class="aside judge">judge: <${Level} name=${each.verdict} levels=${levels} of=${each} /></span>`}
              </div>
              <${Prose} text=${each.claim} class="claim-text" />
              ${n === claim && choices(own, level)}
            </li>`;
          })}
        </ol>`}
        ${!isOfClaims && choices(store.rating(id), (value) => Number(value.toFixed(2)))}
        ${!isOfClaims && shown && html`<p class="aside judge">${app.look ? `TCVA at T = ${app.look.settings.temperature}` : app.main.name}: ${app.main.unscored(i) ? "unscored" : figure(app.main.scores[i])}</p>`}
        <p role="status" class="labelled">${done && html`<b>Labelled.</b>${given.blind && " The judge's verdict is shown."} ${nextPlace() === undefined ? "No answer is left without a label." : html`<button type="button" class="quiet" onClick=${next}><kbd>n</kbd> goes to the next unlabelled answer</button>`}`}</p>
      </div>
      ${(hasReference || detail.contexts?.length > 0) && html`<div class="answer-contexts">
        ${hasReference && html`<h3>Reference</h3><${Prose} text=${detail.reference} />`}
        ${detail.contexts?.length > 0 && html`<h3>Contexts</h3>`}
        ${detail.contexts?.map((text, p) => html`<section key=${p} class="passage" aria-label=${`Context ${p + 1}`}><h4>${p + 1}</h4><${Prose} text=${text} /></section>`)}
      </div>`}
    </div>
    <p class="label-keys aside">
      <kbd>${rated[0].key}</kbd> worst to <kbd>${rated.at(-1).key}</kbd> best,${isOfClaims && html` <kbd>${NO_CLAIM.key}</kbd> claims nothing,`} <kbd>Backspace</kbd> clear, <kbd>u</kbd> undo,
      ${isOfClaims && html` <kbd>↑</kbd> <kbd>↓</kbd> claims,`} <kbd>←</kbd> <kbd>→</kbd> answers, <kbd>n</kbd> next unlabelled answer, <kbd>b</kbd> blind
    </p>
  </section>`;
}
