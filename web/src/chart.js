// Drawings: their width, scales and axes; the curve over the temperature and how scores are spread.
import { counted, degree, figure, html, percent, useLayoutEffect, useRef, useState } from "./ui.js";

const MARGIN = { top: 14, right: 14, bottom: 34, left: 48 };
const FIRST_WIDTH = 640;
export const HEIGHT = 250;
const BINS = 20;

/** The width of an element, and the ref to put on it; drawings have the size at which they are seen. */
export function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(FIRST_WIDTH);
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.max(220, Math.floor(ref.current.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** The inner rectangle of a drawing and its two scales. */
export function frame(width, height, xs, ys, margin = {}) {
  const edge = { ...MARGIN, ...margin };
  const box = { left: edge.left, right: width - edge.right, top: edge.top, bottom: height - edge.bottom };
  const scale = ([low, high], from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);
  return { ...box, xs, ys, x: scale(xs, box.left, box.right), y: scale(ys, box.bottom, box.top) };
}

/** Round values that divide a range into a few parts. */
function ticks([low, high], few) {
  const power = 10 ** Math.floor(Math.log10((high - low) / few));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each * few >= (high - low) * 0.999);
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Both axes with their names; `yText` writes the values of the upright one. */
export function Axes({ box, x, y, yText = String, isWhole = false }) {
  const yTicks = ticks(box.ys, 4).filter((tick) => !isWhole || Number.isInteger(tick));
  return html`<g class="axes" aria-hidden="true">
    ${yTicks.map((tick) => html`<g key=${`y${tick}`}>
      <line class="grid-line" x1=${box.left} x2=${box.right} y1=${box.y(tick)} y2=${box.y(tick)} />
      <text x=${box.left - 7} y=${box.y(tick)} dy="0.32em" text-anchor="end">${yText(tick)}</text>
    </g>`)}
    ${ticks(box.xs, 5).map((tick) => html`<text key=${`x${tick}`} x=${box.x(tick)} y=${box.bottom + 15} text-anchor="middle">${tick}</text>`)}
    <line class="base-line" x1=${box.left} x2=${box.right} y1=${box.bottom} y2=${box.bottom} />
    <text class="axis-name" x=${box.right} y=${box.bottom + 29} text-anchor="end">${x}</text>
    ${y && html`<text class="axis-name" x=${box.left} y=${box.top - 4} text-anchor="start">${y}</text>`}
  </g>`;
}

/** The points of a line as a path. */
export function path(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** What the pointer is at, in a few words next to it. */
export function Tip({ at, width }) {
  if (!at) return null;
  const side = at.x < width / 2 ? { left: `${at.x + 6}px` } : { right: `${width - at.x + 6}px` };
  return html`<div class="tip" aria-hidden="true" style=${{ ...side, top: `${Math.max(2, at.y - 34)}px` }}>${at.text}</div>`;
}

/** Pass rate and mean score over the temperature; a click or a drag sets it. */
export function Curve({ app }) {
  const { look, looks } = app;
  const [ref, width] = useWidth();
  const [tip, setTip] = useState(null);
  const points = looks.curve(look);
  const { bounds, temperature, threshold } = look.settings;
  const box = frame(width, HEIGHT, [bounds.t_min, bounds.t_max], [0, 1]);
  const line = (name) => path(points.map((point) => [box.x(point.temperature), box.y(point[name])]));
  const temperatureAt = (event) => {
    const at = event.clientX - ref.current.getBoundingClientRect().left;
    const share = Math.min(1, Math.max(0, (at - box.left) / (box.right - box.left)));
    return Math.round(100 * (bounds.t_min + share * (bounds.t_max - bounds.t_min))) / 100;
  };
  const move = (event) => app.set({ temperature: temperatureAt(event) });
  const point = (event) => {
    if (event.buttons === 1) move(event);
    const at = temperatureAt(event);
    const near = points.reduce((one, other) => (Math.abs(other.temperature - at) < Math.abs(one.temperature - at) ? other : one));
    setTip({ x: box.x(near.temperature), y: box.y(near.passRate), text: `T = ${degree(near.temperature)}: ${percent(near.passRate)} pass, mean ${figure(near.mean)}` });
  };
  const here = points.reduce((one, other) => (Math.abs(other.temperature - temperature) < Math.abs(one.temperature - temperature) ? other : one));
  const [first, last] = [points[0], points.at(-1)];
  const label = `Over the temperature: from ${percent(first.passRate)} that pass and a mean of ${figure(first.mean)} to ${percent(last.passRate)} and ${figure(last.mean)}.`;
  return html`<figure class="card">
    <figcaption><h3>Pass rate over the temperature</h3> <span class="legend"><i class="key-line"></i>pass rate <i class="key-line dashed"></i>mean score</span></figcaption>
    <div ref=${ref} class="drawing">
      <svg class="chart movable" width=${width} height=${HEIGHT} role="img" aria-label=${label}
        onPointerDown=${move} onPointerMove=${point} onPointerLeave=${() => setTip(null)}>
        <${Axes} box=${box} x="temperature" yText=${(tick) => percent(tick)} />
        <line class="now-line" x1=${box.x(temperature)} x2=${box.x(temperature)} y1=${box.top} y2=${box.bottom} />
        <path class="line mean-line dashed" d=${line("mean")} />
        <path class="line pass-line" d=${line("passRate")} />
        <circle class="dot" cx=${box.x(temperature)} cy=${box.y(here.passRate)} r="4" />
        ${tip && html`<circle class="dot near" cx=${tip.x} cy=${tip.y} r="4" />`}
      </svg>
      <${Tip} at=${tip} width=${width} />
    </div>
    <p class="note">Scored samples that pass at ${threshold} or more. Click or drag to set the temperature: the strictness of the score, not the model's sampling temperature.</p>
  </figure>`;
}

/** How many scores lie in each of equal parts of a scale; the last one holds its upper end. */
export function counts(scores, [low, high], bins = BINS) {
  const found = new Array(bins).fill(0);
  for (const score of scores) {
    if (Number.isNaN(score)) continue;
    const place = Math.floor(((score - low) / (high - low)) * bins + 1e-9);
    found[Math.min(bins - 1, Math.max(0, place))] += 1;
  }
  return found;
}

/** How the scores of a run or a method are spread; each bar leads to its samples. */
export function Histogram({ app, of }) {
  const [ref, width] = useWidth();
  const [tip, setTip] = useState(null);
  const { scale, threshold } = of;
  const bars = counts(of.scores, scale);
  const box = frame(width, HEIGHT, scale, [0, Math.max(1, ...bars)]);
  const size = (box.right - box.left) / BINS;
  const edge = (i) => Number((scale[0] + (i * (scale[1] - scale[0])) / BINS).toPrecision(6));
  const all = bars.reduce((sum, count) => sum + count, 0);
  return html`<figure class="card">
    <figcaption><h3>Scores</h3>${threshold !== null && html`<span class="legend"><i class="key-bar"></i>pass <i class="key-bar below"></i>fail</span>`}</figcaption>
    <div ref=${ref} class="drawing">
      <svg class="chart" width=${width} height=${HEIGHT} role="group" aria-label=${`${counted(all, "score")} from ${scale[0]} to ${scale[1]}`}>
        <${Axes} box=${box} x="score" y="samples" isWhole />
        ${bars.map((count, i) => {
          if (!count) return null;
          const isBelow = threshold !== null && edge(i) + 1e-9 < threshold;
          const text = `${counted(count, "sample")} from ${edge(i)} to ${edge(i + 1)}`;
          const show = () => setTip({ x: box.left + (i + 0.5) * size, y: box.y(count), text });
          const end = i === BINS - 1 ? "" : edge(i + 1);
          return html`<a key=${i} href=${app.link({ view: "samples", filters: { scores: `${edge(i)},${end}` } })} aria-label=${text}
            onPointerEnter=${show} onPointerLeave=${() => setTip(null)} onFocus=${show} onBlur=${() => setTip(null)}>
            <rect class="hit" x=${box.left + i * size} width=${size} y=${box.top} height=${box.bottom - box.top} />
            <rect class=${isBelow ? "bar-below" : "bar-above"} data-count=${count} rx="1.5"
              x=${box.left + i * size + 1} width=${Math.max(1, size - 2)} y=${box.y(count)} height=${box.bottom - box.y(count)} />
          </a>`;
        })}
      </svg>
      <${Tip} at=${tip} width=${width} />
    </div>
    <p class="note">Click a bar to see its samples.</p>
  </figure>`;
}
