// How the scores of a method are spread, as bars.
import { Axes, frame, useWidth } from "./chart.js";
import { counted, html } from "./ui.js";

const BINS = 20;
const SMALL_BINS = 10;

/** How many scores lie in each of equal parts of a scale; the last one holds its upper end. */
export function counts(scores, [low, high], bins = BINS) {
  const found = new Array(bins).fill(0);
  for (const score of scores) {
    const place = Math.floor(((score - low) / (high - low)) * bins + 1e-9);
    found[Math.min(bins - 1, Math.max(0, place))] += 1;
  }
  return found;
}

export function Histogram({ title, scores, ends, threshold, note }) {
  const [ref, width] = useWidth();
  const bars = counts(scores, ends);
  const most = Math.max(1, ...bars);
  const box = frame(width, 250, ends, [0, most], { left: 34 });
  const size = (box.right - box.left) / BINS;
  const whole = most < 4 ? Array.from({ length: most + 1 }, (_, i) => i) : undefined;
  return html`<figure class="card">
    <figcaption><h3>${title}</h3></figcaption>
    <div ref=${ref} class="drawing">
      <svg class="chart" width=${width} height="250" role="img"
        aria-label=${`${title}: ${counted(scores.length, "score")}; ${said(bars, ends)}`}>
        <${Axes} box=${box} x="score" y="samples" yTicks=${whole} />
        ${bars.map((count, i) => {
          const from = ends[0] + ((ends[1] - ends[0]) * i) / BINS;
          const isBelow = threshold !== null && from + 1e-9 < threshold;
          return html`<rect key=${i} class=${isBelow ? "bar-below" : "bar-above"} data-count=${count}
            x=${box.left + i * size + 0.5} width=${size - 1} y=${box.y(count)} height=${box.bottom - box.y(count)} />`;
        })}
        ${threshold !== null && html`<g class="threshold">
          <line x1=${box.x(threshold)} x2=${box.x(threshold)} y1=${box.top} y2=${box.bottom} />
        </g>`}
      </svg>
    </div>
    ${note && html`<p class="note">${note}</p>`}
  </figure>`;
}

/** The same in the height of a table's row. */
export function Spark({ scores, ends, label }) {
  const bars = counts(scores, ends, SMALL_BINS);
  const most = Math.max(1, ...bars);
  return html`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label=${`${label}: ${said(bars, ends)}`}>
    ${bars.map((count, i) => html`<rect key=${i} x=${10 * i + 0.7} width="8.6" data-count=${count} y=${23 - (22 * count) / most} height=${(22 * count) / most} />`)}
    <line x1="0" x2="100" y1="23.5" y2="23.5" />
  </svg>`;
}

function said(bars, [low, high]) {
  const step = (high - low) / bars.length;
  const text = (value) => String(Number(value.toFixed(2)));
  const parts = bars.flatMap((count, i) => (count ? [`${count} from ${text(low + i * step)} to ${text(low + (i + 1) * step)}`] : []));
  return parts.join(", ") || "none";
}
