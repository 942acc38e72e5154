// What every view is written with: components, markup and hooks.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
export { render } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

const isNothing = (value) => value === null || value === undefined || Number.isNaN(value);

/** A number as the command line rounds it; a dash where there is none. */
export function figure(value, digits = 3) {
  return isNothing(value) ? "–" : value.toFixed(digits).replace("-", "−");
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
