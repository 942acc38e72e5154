// TCVA at the dial against another method: where points lie, how many, and what people said of them.
import { Axes, frame, useWidth } from "./chart.js";
import { counted, figure, html, useState } from "./ui.js";

/** More points than this are drawn together where they lie close. */
const MANY = 600;
const [FEW_CELLS, MANY_CELLS] = [40, 1000];
const [SMALLEST, LARGEST] = [4.6, 16];
const REACH = 18;
/** Human ratings in thirds of their scale, each with a form of its own; samples without one have another. */
export const THIRDS = ["low", "middle", "high"];
export const FORMS = [...THIRDS, "unrated"];

/**
 * @param {import("./beside.js").Pair[]} found
 * @param {(i: number) => string} form one of `FORMS`
 * @param {(i: number) => string} nameOf a sample's name
 */
export function Scatter({ found, method, look, form, nameOf, onOpen, label }) {
  const [ref, width] = useWidth();
  const [near, setNear] = useState(null);
  const height = Math.min(480, Math.max(300, Math.round(width * 0.72)));
  const box = frame(width, height, padded(method.scale), padded([0, 1]), { left: 46 });
  const points = grouped(found, method.scale, form).map((point) => ({ ...point, x: box.x(point.other), y: box.y(point.tcva) }));
  const largest = Math.max(12, ...points.map(({ samples }) => samples.length));
  const size = ({ samples }) => SMALLEST + (LARGEST - SMALLEST) * Math.sqrt((samples.length - 1) / (largest - 1));
  const at = (event) => {
    const edge = event.currentTarget.getBoundingClientRect();
    return closest(points, event.clientX - edge.left, event.clientY - edge.top);
  };
  const { threshold } = look.settings;
  return html`<div ref=${ref} class="drawing">
    <svg class=${near ? "chart pointed" : "chart"} width=${width} height=${height} role="img" aria-label=${label}
      onPointerMove=${(event) => setNear(at(event)?.samples ?? null)} onPointerLeave=${() => setNear(null)}
      onClick=${(event) => at(event) && onOpen(at(event).samples)}>
      <${Axes} box=${{ ...box, xs: method.scale, ys: [0, 1] }} x=${method.name} y="TCVA at the dial" />
      <g class="threshold">
        <line x1=${box.left} x2=${box.right} y1=${box.y(threshold)} y2=${box.y(threshold)} />
        ${(method.threshold ?? null) !== null && html`<line x1=${box.x(method.threshold)} x2=${box.x(method.threshold)} y1=${box.top} y2=${box.bottom} />`}
      </g>
      ${FORMS.map((each) => html`<${Marks} key=${each} form=${each}
        places=${points.filter((point) => point.form === each).map((point) => [point.x, point.y, size(point)])} />`)}
    </svg>
    <p class="note pointed-at">${near ? said(near, found, nameOf) : "Dashed: the thresholds. Larger marks stand for several samples; a click opens one."}</p>
  </div>`;
}

/** All marks of one form in one path, as thousands of elements would make the dial heavy. */
export function Marks({ form, places }) {
  return html`<path class=${`marks marks-${form}`} d=${places.map((place) => OUTLINES[form](...place)).join("")} />`;
}

/** A triangle down, a square, a triangle up, a round. */
const OUTLINES = {
  low: (x, y, s) => `M${round(x - 1.1 * s)} ${round(y - 0.8 * s)}h${round(2.2 * s)}L${round(x)} ${round(y + 1.1 * s)}Z`,
  middle: (x, y, s) => `M${round(x - 0.9 * s)} ${round(y - 0.9 * s)}h${round(1.8 * s)}v${round(1.8 * s)}h${round(-1.8 * s)}Z`,
  high: (x, y, s) => `M${round(x - 1.1 * s)} ${round(y + 0.8 * s)}h${round(2.2 * s)}L${round(x)} ${round(y - 1.1 * s)}Z`,
  unrated: (x, y, s) => `M${round(x - s)} ${round(y)}a${round(s)} ${round(s)} 0 1 0 ${round(2 * s)} 0a${round(s)} ${round(s)} 0 1 0 ${round(-2 * s)} 0Z`,
};

const round = (value) => Math.round(10 * value) / 10;

/** Points at the same place and with the same form are one, larger point. */
function grouped(found, [low, high], form) {
  const cells = found.length > MANY ? FEW_CELLS : MANY_CELLS;
  const places = new Map();
  for (const { i, tcva, other } of found) {
    const [column, row] = [Math.round((cells * (other - low)) / (high - low)), Math.round(cells * tcva)];
    const its = form(i);
    const key = (row * (MANY_CELLS + 1) + column) * FORMS.length + FORMS.indexOf(its);
    const point = places.get(key);
    if (point) point.samples.push(i);
    else places.set(key, { form: its, samples: [i], other: low + ((high - low) * column) / cells, tcva: row / cells });
  }
  // The largest first, so that they hide no other.
  return [...places.values()].sort((a, b) => b.samples.length - a.samples.length);
}

function closest(points, x, y) {
  let [best, reach] = [null, REACH ** 2];
  for (const point of points) {
    const apart = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (apart < reach) [best, reach] = [point, apart];
  }
  return best;
}

function said(samples, found, nameOf) {
  const { tcva, other } = found.find(({ i }) => i === samples[0]) ?? {};
  const more = samples.length > 1 ? ` and ${counted(samples.length - 1, "sample")} more` : "";
  return `${nameOf(samples[0])}${more}: TCVA ${figure(tcva)}, the method ${figure(other)}`;
}

function padded([low, high]) {
  const edge = (high - low) * 0.035;
  return [low - edge, high + edge];
}
