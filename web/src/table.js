/** A list of any length as a grid: only the rows in sight are in the page. */
import { brief, visible } from "./text.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./ui.js";

const ROW = 52;
const HEADING = 54;
/** Between columns and at both ends, in rem, as in the styles. */
const GAP = 0.9;
const BEYOND = 6;
const PRINTED = 500;

/**
 * @typedef {object} Column
 * @property {string} key
 * @property {string} label
 * @property {number} width in rem
 * @property {boolean} [grows] takes what is left of the width
 * @property {boolean} [numeric]
 * @property {(i: number) => any} cell
 */

/**
 * @param {object} given
 * @param {string} given.label what the grid holds
 * @param {number[]} given.rows
 * @param {Column[]} given.columns
 * @param {{column: string, descending: boolean}} given.sorting
 * @param {(sorting: object) => void} given.onSort
 * @param {number} given.current the row that the reader is at, as an entry of `rows`
 * @param {(entry: number) => void} given.onCurrent
 * @param {(entry: number) => void} given.onOpen
 * @param {boolean} [given.short] as high as its rows, up to a part of the page
 */
export function Grid({ label, rows, columns, sorting, onSort, current, onCurrent, onOpen, short = false }) {
  const box = useRef(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const printing = usePrinting();
  const at = Math.max(0, rows.indexOf(current));
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => setHeight(box.current.clientHeight));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  // Where the list changes or the reader moves, the row stays in sight below the heading.
  useLayoutEffect(() => {
    const { scrollTop, clientHeight } = box.current;
    if (at * ROW < scrollTop) box.current.scrollTop = at * ROW;
    else if ((at + 2) * ROW > scrollTop + clientHeight) box.current.scrollTop = (at + 2) * ROW - clientHeight;
  }, [at]);
  const first = printing ? 0 : Math.max(0, Math.floor(top / ROW) - BEYOND);
  const last = printing
    ? Math.min(rows.length, PRINTED)
    : Math.min(rows.length, Math.ceil((top + height) / ROW) + BEYOND);
  const shown = rows.slice(first, last);
  const move = (to) => rows.length && onCurrent(rows[Math.min(rows.length - 1, Math.max(0, to))]);
  const onKeyDown = (event) => {
    const page = Math.max(1, Math.floor(height / ROW) - 2);
    const to = {
      ArrowDown: at + 1,
      j: at + 1,
      ArrowUp: at - 1,
      k: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey) return;
    if (to !== undefined) move(to);
    else if (event.key === "Enter" && rows.length) onOpen(rows[at]);
    else return;
    event.preventDefault();
  };
  // Every row is a grid of its own: only widths that are known beforehand stand below each other.
  const tracks = columns
    .map(({ width, grows }) => (grows ? `minmax(${width}rem, 1fr)` : `${width}rem`))
    .join(" ");
  const least = columns.reduce((sum, { width }) => sum + width, 0) + GAP * (columns.length + 1);
  return html`<div
    class=${short ? "grid grid-short" : "grid"}
    ref=${box}
    role="grid"
    tabindex="0"
    aria-label=${label}
    style=${{ "--least": `${least}rem`, "--tracks": tracks, height: short ? `${rows.length * ROW + HEADING}px` : "" }}
    aria-rowcount=${rows.length + 1}
    aria-colcount=${columns.length}
    aria-activedescendant=${rows.length ? `row-${rows[at]}` : undefined}
    onScroll=${() => setTop(box.current.scrollTop)}
    onKeyDown=${onKeyDown}>
    <${Heading} columns=${columns} sorting=${sorting} onSort=${onSort} />
    <div class="grid-body" role="rowgroup" style=${{ height: `${(printing ? last : rows.length) * ROW}px` }}>
      ${shown.map(
        (entry, n) =>
          html`<div
            key=${entry}
            id=${`row-${entry}`}
            role="row"
            aria-rowindex=${first + n + 2}
            aria-selected=${entry === rows[at]}
            class="grid-row"
            style=${{ transform: `translateY(${(first + n) * ROW}px)` }}
            onClick=${() => {
              onCurrent(entry);
              onOpen(entry);
            }}>
            ${columns.map(({ key, numeric, cell }) => html`<div key=${key} role="gridcell" class=${numeric ? "numeric" : ""}>${cell(entry)}</div>`)}
          </div>`,
      )}
    </div>
    ${printing && last < rows.length && html`<p class="printed-part">The first ${last} of ${rows.length}.</p>`}
  </div>`;
}

function Heading({ columns, sorting, onSort }) {
  const sort = (key) => onSort({ column: key, descending: sorting.column === key && !sorting.descending });
  return html`<div role="rowgroup" class="grid-heading">
    <div role="row" aria-rowindex="1" class="grid-row">
      ${columns.map(({ key, label, numeric }) => {
        const sorted = sorting.column === key;
        const direction = sorting.descending ? "descending" : "ascending";
        return html`<div
          key=${key}
          role="columnheader"
          class=${numeric ? "numeric" : ""}
          aria-sort=${sorted ? direction : "none"}>
          <button type="button" onClick=${() => sort(key)} title=${`Sort by ${visible(label)}`}>
            <bdi>${brief(label, 60)}</bdi>
            <span class="arrow" aria-hidden="true">${sorted ? (sorting.descending ? "▾" : "▴") : ""}</span>
          </button>
        </div>`;
      })}
    </div>
  </div>`;
}

/** Whether the page is being printed: then nothing is folded or left out of sight. */
export const usePrinting = () => useMedia("print");

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
