// What every view is written with: components, markup, hooks, and figures as texts.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { html } from "./markup.js";

export { html } from "./markup.js";
export { render } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

const isNothing = (value) => value === null || value === undefined || Number.isNaN(value);

/** A number as the command line rounds it; a dash where there is none. */
export function figure(value, digits = 3) {
  if (isNothing(value)) return "–";
  // Python rounds what lies exactly between two figures to the even one: 0.8125 is 0.812.
  const scaled = Math.abs(value) * 10 ** digits;
  const isTie = Number.isInteger(value * 2 ** (digits + 1)) && scaled % 1 === 0.5;
  const shown = isTie && Math.floor(scaled) % 2 === 0 ? (Math.sign(value) * Math.floor(scaled)) / 10 ** digits : value;
  return shown.toFixed(digits).replace("-", "−");
}

/** The same with its sign. */
export const signed = (value, digits = 3) => (value > 0 ? `+${figure(value, digits)}` : figure(value, digits));

/** A temperature: two digits, so that texts do not jump while the slider moves. */
export function degree(temperature) {
  return String(temperature).length > 4 ? String(temperature) : temperature.toFixed(2);
}

/** A share in [0, 1] in per cent: not 0 or 100 where some do, or do not. */
export function percent(share) {
  if (isNothing(share)) return "–";
  return share > 0 && share < 0.005 ? "< 1 %" : share < 1 && share >= 0.995 ? "> 99 %" : `${figure(100 * share, 0)} %`;
}

/** A whole number. */
export const whole = (number) => number.toLocaleString("en");

/** "1 sample", "2 samples". */
export function counted(number, noun) {
  return `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Whether a media query holds, as it changes. */
export function useMedia(query) {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const follow = () => setMatches(media.matches);
    media.addEventListener("change", follow);
    return () => media.removeEventListener("change", follow);
  }, [query]);
  return matches;
}

/** Keys of the page, wherever the reader is not typing: names of keys to what they do. */
export function useKeys(actions) {
  // Before the next key: a reader may be faster than the next frame.
  useLayoutEffect(() => {
    const act = (event) => {
      const isOther = event.target.closest?.(event.key === "Enter" ? "input, select, textarea, a, button, summary" : "input, select, textarea");
      if (event.ctrlKey || event.metaKey || event.altKey || isOther || !actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    };
    addEventListener("keydown", act);
    return () => removeEventListener("keydown", act);
  });
}

const SLICE = 12;

/** Runs a generator to its end, a few milliseconds at a time, so that the page stays awake; gives what stops it. */
export function inSlices(steps, onDone) {
  let timer = setTimeout(run, 0);
  function run() {
    const end = performance.now() + SLICE;
    while (performance.now() < end) {
      const { done, value } = steps.next();
      if (done) return void onDone(value);
    }
    timer = setTimeout(run, 0);
  }
  return () => clearTimeout(timer);
}

/** A choice among names, under its label. */
export function Select({ label, value, options, onChange }) {
  return html`<label><bdi>${label}</bdi>
    <select value=${String(value)} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(([key, name]) => html`<option key=${key} value=${key}>${name}</option>`)}
    </select></label>`;
}
