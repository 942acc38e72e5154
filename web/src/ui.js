// What every view is written with: components, markup and hooks.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
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

/** A temperature: two digits, so that texts do not jump while the slider moves. */
export function degree(temperature) {
  return String(temperature).length > 4 ? String(temperature) : temperature.toFixed(2);
}

/** A share in [0, 1] as per cent. */
export function percent(share, digits = 0) {
  return isNothing(share) ? "–" : `${(100 * share).toFixed(digits)}%`;
}

/** An interval in few digits, as `figure` or `percent` writes its ends. */
export function between([low, high], write) {
  const digits = write === figure ? 2 : 0;
  return `${write(low, digits).replace("%", "")} to ${write(high, digits)}`;
}

/** "1 sample", "2 samples". */
export function counted(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}
