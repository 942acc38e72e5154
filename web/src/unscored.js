// Why samples have no score, by the run and by each method.
import { SampleLink } from "./sample_link.js";
import { visible } from "./text.js";
import { counted, html } from "./ui.js";

const NAMED = 5;

export function Unscored({ app }) {
  const { report, run } = app;
  const methods = report.methods.filter(({ unscored }) => unscored.length > 0);
  if (!(run?.unscored.length > 0) && methods.length === 0) return null;
  return html`<section>
    <h3>Without a score${run && `: ${counted(run.unscored.length, "sample")}`}</h3>
    ${run && html`<${Reasons} app=${app} unscored=${run.unscored} />`}
    ${methods.length > 0 && html`<details open=${!run}>
      <summary>By ${run ? "other methods" : "method"}</summary>
      ${methods.map((method) => html`<div key=${method.name}>
        <h4><bdi>${visible(method.name)}</bdi></h4>
        <${Reasons} app=${app} unscored=${method.unscored} />
      </div>`)}
    </details>`}
  </section>`;
}

/** Samples of the same kind of reason together, with what the first of them says. */
function Reasons({ app, unscored }) {
  const kinds = new Map();
  for (const [sample, reason] of unscored) {
    const kind = reason.split(":")[0];
    const found = kinds.get(kind) ?? { reason, samples: [] };
    found.samples.push(sample);
    kinds.set(kind, found);
  }
  return html`<ul class="plain">
    ${[...kinds.values()].map(({ reason, samples }) => html`<li key=${reason}>${samples.length} ${visible(reason)}
      <span class="aside"> ${samples.slice(0, NAMED).map((i, place) => html`${place > 0 && ", "}<${SampleLink} app=${app} i=${i} />`)}${samples.length > NAMED && ` and ${samples.length - NAMED} more`}</span>
    </li>`)}
  </ul>`;
}
