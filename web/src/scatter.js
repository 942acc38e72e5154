// TCVA at the dial against another method: where points lie, how many, and what people said of them.
import { Axes, frame, useWidth } from "./chart.js";
import { html } from "./ui.js";

/** More points than this are drawn together where they lie close. */
const MANY = 600;
const CELLS = 40;
const [SMALLEST, LARGEST] = [4.6, 16];
/** Human ratings in thirds of their scale, each with a form of its own. */
export const THIRDS = ["low", "middle", "high"];

/**
 * @param {import("./beside.js").Pair[]} found
 * @param {(i: number) => number|null} third which third of the scale a sample's rating is in
 */
export function Scatter({ found, method, look, third, onOpen, label }) {
  const [ref, width] = useWidth();
  const height = Math.min(480, Math.max(300, Math.round(width * 0.72)));
  const box = frame(width, height, padded(method.scale), padded([0, 1]), { left: 46 });
  const points = grouped(found, method.scale, third);
  const largest = Math.max(1, ...points.map(({ samples }) => samples.length));
  const { threshold } = look.settings;
  const size = (number) => SMALLEST + (LARGEST - SMALLEST) * Math.sqrt((number - 1) / Math.max(11, largest - 1));
  return html`<div ref=${ref} class="drawing">
    <svg class="chart" width=${width} height=${height} role="img" aria-label=${label}>
      <${Axes} box=${{ ...box, xs: method.scale, ys: [0, 1] }} x=${method.name} y="TCVA at the dial" />
      <g class="threshold">
        <line x1=${box.left} x2=${box.right} y1=${box.y(threshold)} y2=${box.y(threshold)} />
        ${method.threshold !== null && html`<line x1=${box.x(method.threshold)} x2=${box.x(method.threshold)} y1=${box.top} y2=${box.bottom} />`}
      </g>
      ${points.map(
        (point) => html`<${Mark} key=${point.key} x=${box.x(point.other)} y=${box.y(point.tcva)} size=${size(point.samples.length)}
          third=${point.third} number=${point.samples.length} onOpen=${() => onOpen(point.samples)} />`,
      )}
    </svg>
  </div>`;
}

/** A round for samples without a rating; down, square and up for its low, middle and high third. */
export function Mark({ x, y, size, third, number, onOpen }) {
  const s = size * 1.12;
  const forms = {
    low: `M${x - s} ${y - s * 0.7}H${x + s}L${x} ${y + s}Z`,
    middle: `M${x - s * 0.8} ${y - s * 0.8}h${s * 1.6}v${s * 1.6}h${-s * 1.6}Z`,
    high: `M${x - s} ${y + s * 0.7}H${x + s}L${x} ${y - s}Z`,
  };
  const title = number > 1 ? `${number} samples` : undefined;
  const name = `mark-of mark-${third ?? "unrated"}`;
  return third === null
    ? html`<circle class=${name} cx=${x} cy=${y} r=${size} onClick=${onOpen}>${title && html`<title>${title}</title>`}</circle>`
    : html`<path class=${name} d=${forms[third]} onClick=${onOpen}>${title && html`<title>${title}</title>`}</path>`;
}

/** Points at the same place and with the same form are one, larger point. */
function grouped(found, [low, high], third) {
  const cells = found.length > MANY ? CELLS : 1000;
  const places = new Map();
  for (const { i, tcva, other } of found) {
    const [column, row] = [Math.round((cells * (other - low)) / (high - low)), Math.round(cells * tcva)];
    const form = third(i);
    const key = `${column} ${row} ${form}`;
    const point = places.get(key) ?? { key, third: form, samples: [], other: low + ((high - low) * column) / cells, tcva: row / cells };
    point.samples.push(i);
    places.set(key, point);
  }
  // The largest first, so that no point hides under another.
  return [...places.values()].sort((a, b) => b.samples.length - a.samples.length);
}

function padded([low, high]) {
  const edge = (high - low) * 0.035;
  return [low - edge, high + edge];
}
