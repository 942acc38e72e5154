// What every view is written with: components, markup and hooks.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
export { render } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

/** A number as the command line prints it; a dash where there is none. */
export function figure(value, digits = 3) {
  return value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(digits);
}

/** A share in [0, 1] as per cent. */
export function percent(share, digits = 0) {
  return share === null || share === undefined || Number.isNaN(share)
    ? "–"
    : `${(100 * share).toFixed(digits)} %`;
}

/** "1 sample", "2 samples". */
export function counted(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : plural}`;
}
