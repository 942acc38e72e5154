// What every drawing shares: its width, its scales and its axes.
import { html, useLayoutEffect, useRef, useState } from "./ui.js";

const MARGIN = { top: 14, right: 14, bottom: 34, left: 40 };
const FIRST_WIDTH = 640;

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

/** The place of a value on a straight axis. */
export function scale([low, high], [from, to]) {
  return (value) => from + ((value - low) / (high - low)) * (to - from);
}

/** The inner rectangle of a drawing and its two scales. */
export function frame(width, height, xs, ys = [0, 1], margin = {}) {
  const edge = { ...MARGIN, ...margin };
  const box = { left: edge.left, right: width - edge.right, top: edge.top, bottom: height - edge.bottom };
  return { ...box, x: scale(xs, [box.left, box.right]), y: scale(ys, [box.bottom, box.top]), xs, ys };
}

/** Round values that divide a range into a few parts. */
export function ticks([low, high], few = 5) {
  const rough = (high - low) / few;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Both axes with their names; `yText` writes the values of the upright one. */
export function Axes({ box, x, y, yText = String, xTicks = ticks(box.xs), yTicks = ticks(box.ys, 4) }) {
  return html`<g class="axes" aria-hidden="true">
    ${yTicks.map(
      (tick) => html`<g key=${`y${tick}`}>
        <line class="grid-line" x1=${box.left} x2=${box.right} y1=${box.y(tick)} y2=${box.y(tick)} />
        <text x=${box.left - 7} y=${box.y(tick)} dy="0.32em" text-anchor="end">${yText(tick)}</text>
      </g>`,
    )}
    ${xTicks.map(
      (tick) => html`<text key=${`x${tick}`} x=${box.x(tick)} y=${box.bottom + 15} text-anchor="middle">${tick}</text>`,
    )}
    <line class="base-line" x1=${box.left} x2=${box.right} y1=${box.bottom} y2=${box.bottom} />
    <text class="axis-name" x=${box.right} y=${box.bottom + 29} text-anchor="end">${x}</text>
    ${y && html`<text class="axis-name" x=${box.left} y=${box.top - 4} text-anchor="start">${y}</text>`}
  </g>`;
}

/** The points of a line as a path; undefined where a value is missing. */
export function path(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}
