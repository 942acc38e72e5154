/** One answer to label, and its keys. */
import { claimsOf, isDone, ratingSteps } from "./label_order.js";
import { listedOf } from "./listing.js";
import { Ball, Level, Prose } from "./marks.js";
import { brief } from "./text.js";
import { counted, figure, html, useEffect, useState } from "./ui.js";

export function Item({ app, store, given, i, at, order, scale, goTo, change, onLabel }) {
  const { report } = app;
  const { levels } = report.figures;
  const id = String(report.samples.ids[i]);
  const detail = report.detail(i);
  const claims = given.what === "claims" ? claimsOf(app, i) : [];
  const first = claims.findIndex(({ claim }) => store.level(id, claim) === undefined);
  const [claim, setClaim] = useState(Math.max(0, first));
  const done = isDone(app, store, given.what, i);
  const next = () => {
    const open = [...order.keys()].find((k) => k > at && !isDone(app, store, given.what, order[k]));
    goTo(open ?? at + 1);
  };
  const label = (value) => {
    if (given.what === "answers") store.rate(id, value);
    else store.mark(id, claims[claim].claim, value);
    onLabel();
    if (value === undefined) return;
    const left = claims.findIndex((each, n) => n > claim && store.level(id, each.claim) === undefined);
    if (left >= 0) setClaim(left);
    else if (given.onward && isDone(app, store, given.what, i)) next();
  };
  const steps =
    given.what === "claims" ? levels.map((value, n) => ({ value, key: String(n + 1) })) : ratingSteps(scale);
  useLabelKeys({
    steps,
    label,
    goTo,
    at,
    next,
    change,
    given,
    claim,
    count: claims.length,
    setClaim,
    undo: () => {
      if (store.undo()) onLabel();
    },
  });
  return html`<section class="item" aria-label="What to label">
    <p class="steps">
      <button type="button" class="quiet" disabled=${at === 0} onClick=${() => goTo(at - 1)}>
        ‹ previous
      </button>
      <span>
        ${at + 1} of ${counted(order.length, "answer")}: ${" "}
        <a href=${app.link({ view: "sample", sample: id })}><bdi>${brief(id, 60)}</bdi></a></span>
      <button type="button" class="quiet" disabled=${at === order.length - 1} onClick=${() => goTo(at + 1)}>
        next ›
      </button>
      <button type="button" class="quiet" onClick=${next}>next without label</button>
    </p>
    <div class="answer">
      <div class="answer-said">
        ${
          detail.input &&
          html`<h3>Question</h3>
            <${Prose} text=${detail.input} />`
        }
        <h3>Response</h3>
        <${Prose} text=${detail.response ?? ""} />
        ${
          given.what === "claims"
            ? html`<h3 id="to-label">Claims</h3>
                <ol class="claims" aria-labelledby="to-label">
                  ${claims.map(
                    (each, n) =>
                      html`<${LabelledClaim}
                        key=${n}
                        n=${n}
                        claim=${each}
                        levels=${levels}
                        steps=${steps}
                        label=${store.level(id, each.claim)}
                        current=${n === claim}
                        shown=${!given.blind || done}
                        choose=${() => setClaim(n)}
                        onLabel=${label}
                      />`,
                  )}
                </ol>`
            : html`<h3 id="to-label">Rating</h3>
                <${Choices}
                  steps=${steps}
                  chosen=${store.rating(id)}
                  onLabel=${label}
                  shown=${(value) => Number(value.toFixed(2))}
                />
                ${(done || !given.blind) && html`<${JudgeScore} app=${app} i=${i} />`}`
        }
      </div>
      ${
        detail.contexts?.length > 0 &&
        html`<div class="answer-passages">
          <h3>Passages</h3>
          ${detail.contexts.map(
            (text, p) =>
              html`<section key=${p} class="passage" aria-label=${`Passage ${p + 1}`}>
                <h4>${p + 1}</h4>
                <${Prose} text=${text} />
              </section>`,
          )}
          ${
            given.what === "answers" &&
            detail.reference &&
            html`<h3>Reference</h3>
              <${Prose} text=${detail.reference} />`
          }
        </div>`
      }
    </div>
    <${Keys} what=${given.what} />
  </section>`;
}

function JudgeScore({ app, i }) {
  const score = listedOf(app).score(i);
  return html`<p class="aside">
    ${app.look ? `TCVA at T = ${app.look.settings.temperature}` : "The metric"}: ${" "}
    ${Number.isNaN(score) ? "unscored" : figure(score)}
  </p>`;
}

function LabelledClaim({ n, claim, levels, steps, label, current, shown, choose, onLabel }) {
  return html`<li
    class=${`claim ${current ? "chosen" : ""}`}
    aria-current=${current ? "true" : undefined}
    onClick=${choose}>
    <div class="claim-top">
      <span class="claim-number">${n + 1}</span>
      ${label ? html`<${Level} name=${label} levels=${levels} />` : html`<span class="aside">not labelled</span>`}
      ${shown && label && html`<span class="aside judge">judge: <${Level} name=${claim.verdict} levels=${levels} />${label === claim.verdict ? " same" : ""}</span>`}
      ${shown && !label && html`<span class="aside judge">judge: <${Level} name=${claim.verdict} levels=${levels} /></span>`}
    </div>
    <${Prose} text=${claim.claim} class="claim-text" />
    ${current && html`<${Choices} steps=${steps} chosen=${label} onLabel=${onLabel} shown=${(value) => html`<${Ball} level=${levels.indexOf(value)} /> ${value}`} />`}
  </li>`;
}

function Choices({ steps, chosen, onLabel, shown }) {
  return html`<div class="label-choices" role="group" aria-label="Labels">
    ${steps.map(
      ({ value, key }) =>
        html`<button
          key=${key}
          type="button"
          aria-pressed=${value === chosen}
          aria-keyshortcuts=${key}
          onClick=${(event) => {
            event.stopPropagation();
            onLabel(value === chosen ? undefined : value);
          }}>
          <kbd>${key}</kbd> ${shown(value)}
        </button>`,
    )}
  </div>`;
}

function Keys({ what }) {
  return html`<p class="label-keys aside">
    <kbd>${what === "claims" ? "1" : "digit"}</kbd>${what === "claims" && html`–<kbd>5</kbd>`} label, ${" "}
    <kbd>Backspace</kbd> clear, <kbd>u</kbd> undo,
    ${what === "claims" && html` <kbd>↑</kbd> <kbd>↓</kbd> claims,`} <kbd>←</kbd> <kbd>→</kbd> answers, ${" "}
    <kbd>n</kbd> next without label, <kbd>b</kbd> blind
  </p>`;
}

function useLabelKeys({ steps, label, goTo, at, next, change, given, claim, count, setClaim, undo }) {
  useEffect(() => {
    const act = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea"))
        return;
      const step = steps.find(({ key }) => key === event.key);
      const move = (to) => count && setClaim(Math.min(count - 1, Math.max(0, to)));
      const action = step
        ? () => label(step.value)
        : {
            Backspace: () => label(undefined),
            u: undo,
            n: next,
            b: () => change({ blind: !given.blind }),
            ArrowLeft: () => goTo(at - 1),
            ArrowRight: () => goTo(at + 1),
            ArrowUp: () => move(claim - 1),
            k: () => move(claim - 1),
            ArrowDown: () => move(claim + 1),
            j: () => move(claim + 1),
          }[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", act);
    return () => removeEventListener("keydown", act);
  });
}
