// One run or method against another: where points lie, and how many.
import { Axes, frame, Tip, useWidth } from "./chart.js";
import { brief, visible } from "./text.js";
import { counted, figure, html, useState } from "./ui.js";

/** More points than this are drawn together where they lie close. */
const MANY = 600;
const [FEW_CELLS, MANY_CELLS] = [40, 1000];
const [SMALLEST, LARGEST] = [4.6, 16];
const REACH = 18;
/** Methods with so few scores have their points spread, by this share of the scale. */
const FEW_SCORES = 3;
const SPREAD = 0.1;

/**
 * @param {import("./pairs.js").Pair[]} pairs
 * @param {[import("./look.js").Scored, import("./look.js").Scored]} both the first one upwards
 */
export function Scatter({ app, pairs, both }) {
  const [first, second] = both;
  const { ids, questions } = app.report.samples;
  const [ref, width] = useWidth();
  const [near, setNear] = useState(null);
  const height = Math.min(480, Math.max(300, Math.round(width * 0.72)));
  const spread = [0, 1].map((k) => hasFewScores(pairs, k));
  const box = frame(width, height, padded(second.scale, spread[1]), padded(first.scale, spread[0]), { left: 46 });
  const points = grouped(pairs, both, spread).map((point) => ({ ...point, x: box.x(point.at[1]), y: box.y(point.at[0]) }));
  const largest = Math.max(12, ...points.map(({ samples }) => samples.length));
  const size = ({ samples }) => SMALLEST + (LARGEST - SMALLEST) * Math.sqrt((samples.length - 1) / (largest - 1));
  const at = (event) => {
    const edge = event.currentTarget.getBoundingClientRect();
    return closest(points, event.clientX - edge.left, event.clientY - edge.top);
  };
  const open = (event) => {
    const point = at(event) ?? near;
    // Where the pointer hovers, a link is at the point, which opens itself.
    if (point && !event.target.closest("a")) app.go({ view: "sample", sample: ids[point.samples[0]] });
  };
  const shown = near && pairs.find(({ i }) => i === near.samples[0]);
  // All marks in one path, as thousands of elements would make the slider heavy.
  const marks = points.map((point) => round(point.x, point.y, size(point))).join("");
  return html`<div ref=${ref} class="drawing">
    <svg class=${near ? "chart pointed" : "chart"} width=${width} height=${height} role="group"
      aria-label=${`${first.name} against ${second.name}, ${counted(pairs.length, "sample")}; the samples that differ most stand below.`}
      onPointerMove=${(event) => setNear(at(event))} onPointerLeave=${() => setNear(null)} onClick=${open}>
      <${Axes} box=${{ ...box, xs: second.scale, ys: first.scale }} x=${visible(second.name)} y=${visible(first.name)} />
      <g class="threshold">
        ${first.threshold !== null && html`<line x1=${box.left} x2=${box.right} y1=${box.y(first.threshold)} y2=${box.y(first.threshold)} />`}
        ${second.threshold !== null && html`<line x1=${box.x(second.threshold)} x2=${box.x(second.threshold)} y1=${box.top} y2=${box.bottom} />`}
      </g>
      <path class="marks" d=${marks} />
      ${shown && html`<a href=${app.link({ view: "sample", sample: ids[shown.i] })} tabindex="-1"><circle class="dot near" cx=${near.x} cy=${near.y} r=${size(near) + 1.5} /></a>`}
    </svg>
    <${Tip} at=${shown && { x: near.x, y: near.y - 8, text: said(shown, near.samples.length - 1, questions[shown.i] || ids[shown.i]) }} width=${width} />
    <p class="note">Dashed lines are the thresholds. A point opens its sample; a larger one stands for several.${spread.some(Boolean) && " Points with equal scores of a method with few scores are spread a little, so that none hides another."}</p>
  </div>`;
}

function said({ scores }, others, name) {
  const more = others > 0 ? ` and ${counted(others, "sample")} more` : "";
  return `${brief(name, 32)}${more}: ${figure(scores[0])} and ${figure(scores[1])}`;
}

const hasFewScores = (pairs, k) => {
  const found = new Set();
  return pairs.every(({ scores }) => found.add(scores[k]).size <= FEW_SCORES);
};

/** A number in [-0.5, 0.5] for each sample and axis, always the same. */
const jitter = (i, k) => (Math.imul(i + 1, k ? 0x9e3779b1 : 0x85ebca6b) >>> 0) / 2 ** 32 - 0.5;

function round(x, y, s) {
  const [left, top, size] = [x - s, y, s].map((value) => Math.round(10 * value) / 10);
  return `M${left} ${top}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0Z`;
}

/** Points at the same place are one, larger point. */
function grouped(pairs, both, spread) {
  const cells = pairs.length > MANY ? FEW_CELLS : MANY_CELLS;
  const places = new Map();
  for (const { i, scores } of pairs) {
    const cell = both.map(({ scale: [low, high] }, k) => Math.round(cells * ((scores[k] - low) / (high - low) + (spread[k] ? SPREAD * jitter(i, k) : 0))));
    const key = cell.join(" ");
    const point = places.get(key);
    if (point) point.samples.push(i);
    else places.set(key, { samples: [i], at: both.map(({ scale: [low, high] }, k) => low + ((high - low) * cell[k]) / cells) });
  }
  return [...places.values()];
}

function closest(points, x, y) {
  let [best, reach] = [null, REACH ** 2];
  for (const point of points) {
    const apart = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (apart < reach) [best, reach] = [point, apart];
  }
  return best;
}

function padded([low, high], isSpread) {
  const edge = (high - low) * (isSpread ? 0.08 : 0.035);
  return [low - edge, high + edge];
}
