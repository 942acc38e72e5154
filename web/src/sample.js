/** One sample: what was asked and answered, what the judge said of each claim, and how the score comes about. */
import { Answer } from "./answer.js";
import { orderOf } from "./listing.js";
import { Decision, Prose, REASONS, Words } from "./marks.js";
import { Others } from "./others.js";
import { Arithmetic } from "./arithmetic.js";
import { usePrinting } from "./table.js";
import { brief, visible } from "./text.js";
import { figure, html, useEffect, useMemo } from "./ui.js";

export function Sample({ app }) {
  const { report, state } = app;
  // The list as it was when the reader came: a turn of the dial must not move them elsewhere.
  const order = useMemo(() => orderOf(app), [report]);
  const found = state.sample === undefined ? (order[0] ?? -1) : report.indexOf(state.sample);
  const at = order.indexOf(found);
  const goTo = (i) => i !== undefined && app.go({ view: "sample", sample: report.samples.ids[i] });
  useArrows(
    () => goTo(order[at - 1]),
    () => goTo(order[at + 1]),
    () => app.go({ view: "samples" }),
  );
  useEffect(() => app.set({ current: found }), [found]);
  if (found < 0)
    return html`<h2>Sample</h2>
      <p>No sample of this report has the id <${Words} text=${state.sample ?? ""} />.</p>`;
  return html`<div class="sample" key=${found}>
    <${Steps} app=${app} order=${order} at=${at} />
    <h2 class="sample-title"><bdi>${brief(String(report.samples.ids[found]), 200)}</bdi></h2>
    <${Summary} app=${app} i=${found} />
    <${Content} app=${app} i=${found} />
  </div>`;
}

function Content({ app, i }) {
  const { look, report, run } = app;
  const printing = usePrinting();
  const detail = report.detail(i);
  if (detail === null) {
    return html`<p class="notice">
        The texts of this sample are not in this
        page${report.samples.drawn ? ": it holds those of a draw of the samples" : ""}. Its scores are.
      </p>
      ${run && html`<${Arithmetic} app=${app} i=${i} />`}<${Others}
        app=${app}
        i=${i}
        detail=${{}}
        printing=${printing}
      />`;
  }
  const said = run && detail.runs?.[run.name];
  return html` ${said?.unscored && html`<${Unscored} unscored=${said.unscored} />`}
    ${said?.sure && html`<p class="aside">${visible(said.sure)}</p>`}
    <${Answer}
      key=${run?.name}
      detail=${detail}
      claims=${said?.claims ?? []}
      levels=${report.figures.levels}
      weights=${look?.settings.weights}
      printing=${printing}
    />
    ${run && html`<${Arithmetic} app=${app} i=${i} />`}
    <${Others} app=${app} i=${i} detail=${detail} printing=${printing} />
    <${Rest} detail=${detail} printing=${printing} />`;
}

function Steps({ app, order, at }) {
  const { report } = app;
  const step = (to, text, label) =>
    order[to] === undefined
      ? html`<span class="step" aria-hidden="true">${text}</span>`
      : html`<a
          class="step"
          href=${app.link({ view: "sample", sample: report.samples.ids[order[to]] })}
          aria-label=${label}>
          ${text}</a>
        `;
  return html`<nav class="steps" aria-label="Samples of the list">
    ${step(at - 1, "‹ previous", "Previous sample")}
    <a href=${app.link({ view: "samples" })}>${at < 0 ? "all samples" : `${at + 1} of ${order.length}`}</a>
    ${step(at + 1, "next ›", "Next sample")}
    <span class="keys">
      <kbd>←</kbd> <kbd>→</kbd> samples, <kbd>j</kbd> <kbd>k</kbd> claims, <kbd>Esc</kbd> list</span>
  </nav>`;
}

/** The score, and from which T on it passes, in a line. */
function Summary({ app, i }) {
  const { look, looks, report } = app;
  const human = report.human?.[i] ?? null;
  const rated =
    human !== null &&
    html`<span>
      human rating ${" "}
      ${Number(human.toFixed(3))}${report.samples.human_scale && html` (scale ${report.samples.human_scale.join(" to ")})`}</span>
    `;
  if (!look) return html`<p class="summary">${rated}</p>`;
  const score = look.scores[i];
  if (Number.isNaN(score)) return html`<p class="summary"><strong class="big">unscored</strong>${rated}</p>`;
  const from = looks.flipOf(look, i);
  const { threshold, bounds } = look.settings;
  const flips =
    from === null
      ? `passes ${figure(threshold, 2)} at no temperature`
      : from <= bounds.t_min
        ? `passes ${figure(threshold, 2)} at every temperature`
        : `passes ${figure(threshold, 2)} from T = ${figure(from, 3)} on`;
  return html`<p class="summary">
    <strong class="big" data-value=${score}>${figure(score)}</strong> <${Decision} passed=${look.passed(i)} />
    <span>at T = ${look.settings.temperature}</span>
    ${look.run.row[i] >= 0 && html`<span>${flips}</span>`}${rated}
  </p>`;
}

function Unscored({ unscored }) {
  const { reason, detail } = unscored;
  return html`<div class="notice">
    <p><strong>There is no score.</strong> ${REASONS[reason] ?? visible(String(reason))}</p>
    ${detail && html`<${Prose} text=${detail} class="aside" />`}
  </div>`;
}

/** What else came with the sample. */
function Rest({ detail, printing }) {
  const metadata = Object.entries(detail.metadata ?? {});
  return html`${
    detail.reference &&
    html`<section>
      <h3>Reference</h3>
      <${Prose} text=${detail.reference} />
    </section>`
  }
  ${
    metadata.length > 0 &&
    html`<details class="rest" open=${printing}>
      <summary>Metadata</summary>
      <dl class="metadata">
        ${metadata.map(
          ([name, value]) =>
            html`<dt key=${`n ${name}`}><${Words} text=${name} /></dt>
              <dd key=${`v ${name}`}>
                <${Prose} text=${typeof value === "string" ? value : JSON.stringify(value)} />
              </dd>`,
        )}
      </dl>
    </details>`
  }`;
}

/** The arrows and Escape, wherever the reader is not typing. */
function useArrows(previous, next, back) {
  useEffect(() => {
    const turn = (event) => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.shiftKey ||
        event.target.closest?.("input, select, textarea")
      )
        return;
      const action = { ArrowLeft: previous, ArrowRight: next, Escape: back }[event.key];
      if (action) action();
    };
    addEventListener("keydown", turn);
    return () => removeEventListener("keydown", turn);
  });
}
