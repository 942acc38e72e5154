// What a gate lets pass over its threshold, and the threshold that keeps the limit.
import { Axes, frame, HEIGHT, path, useWidth } from "./chart.js";
import { figure, html, percent, useState } from "./ui.js";

const LINES = [["true_pass", "good answers that pass", "pass-line"], ["false_pass", "false passes", "false-line"], ["bound", "their upper bound", "false-line dashed"]];

/** The curves of a report that has them; the pointer and the slider below read them. */
export function Guarantee({ report: { tables, gate } }) {
  const found = tables.find(({ title }) => title === "thresholds");
  return found && html`<${Thresholds} records=${[...found.records].reverse()} gate=${gate} />`;
}

function Thresholds({ records, gate: { threshold, isRecommended, limits } }) {
  const [ref, width] = useWidth();
  const nearest = (wanted) => records.reduce((best, each, i) => (Math.abs(each.threshold - wanted) < Math.abs(records[best].threshold - wanted) ? i : best), 0);
  const [at, setAt] = useState(() => nearest(threshold ?? 1));
  const chosen = threshold !== null && records[nearest(threshold)];
  // A step reaches from above the end of the one below it up to its own end.
  const above = (i) => (i > 0 ? records[i - 1].up_to : 0);
  const first = records.findIndex(({ certified }) => certified);
  const last = records.findLastIndex(({ certified }) => certified);
  const box = frame(width, HEIGHT, [0, 1], [0, 1]);
  const here = box.x(records[at].threshold);
  const said = (record) => `Threshold ${figure(record.threshold)}: ${LINES.map(([name, title]) => `${title} ${percent(record[name])}`).join(", ")}.`;
  const point = (event) => setAt(nearest((event.clientX - ref.current.getBoundingClientRect().left - box.left) / (box.right - box.left)));
  const word = isRecommended ? "Chosen" : "Certified, but not recommended";
  const none = "No threshold is certified.";
  return html`<figure class="card">
    <figcaption><h3>What passes at each threshold</h3><span>${LINES.map(([name, title, line]) => html`<span key=${name} class="legend"><i class=${`key-line ${line}`}></i>${title}</span> `)}</span></figcaption>
    <div ref=${ref} class="drawing">
      <svg class="chart" width=${width} height=${HEIGHT} role="img" aria-label=${chosen ? `${word}: ${said(chosen)}` : none} onPointerMove=${point} onPointerDown=${point}>
        ${chosen && html`<rect class="passing" x=${box.x(above(first))} width=${box.x(records[last].up_to) - box.x(above(first))} y=${box.top} height=${box.bottom - box.top} />`}
        <${Axes} box=${box} x="threshold" yText=${(tick) => percent(tick)} />
        ${limits.map(([name, limit]) => html`<g key=${name} class="threshold"><line x1=${box.left} x2=${box.right} y1=${box.y(limit)} y2=${box.y(limit)} /><text x=${box.left + 4} y=${box.y(limit) - 5}>${name} ${percent(limit)}</text></g>`)}
        ${LINES.map(([name, , line]) => html`<path key=${name} class=${`line ${line}`} d=${path(records.flatMap((each, i) => (each[name] === null ? [] : [above(i), each.up_to].map((x) => [box.x(x), box.y(each[name])]))))} />`)}
        <line class="now-line" x1=${here} x2=${here} y1=${box.top} y2=${box.bottom} />
        ${chosen && html`<circle class="dot" cx=${box.x(threshold)} cy=${box.y(chosen.true_pass)} r="4" />`}
      </svg>
      <input class="reading" type="range" min="0" max=${records.length - 1} value=${at} aria-label="Threshold to read" aria-valuetext=${said(records[at])} onInput=${(event) => setAt(Number(event.target.value))} />
    </div>
    <p class="note" aria-hidden="true">${said(records[at])}</p>
    <p class="note">${chosen ? `${word}: ${figure(threshold)}. The shaded thresholds keep the limit${limits.length > 1 ? "s" : ""}.` : none}</p>
  </figure>`;
}
