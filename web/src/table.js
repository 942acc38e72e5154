// A list of any length as a grid: only the rows in sight are in the page.
import { brief, visible } from "./text.js";
import { html, useLayoutEffect, useRef, useState } from "./ui.js";

const ROW = 52;
/** Between columns and at both ends, in rem, as in the styles. */
const GAP = 0.9;
const BEYOND = 6;

/**
 * @typedef {object} Column
 * @property {string} key
 * @property {string} label
 * @property {number} width in rem
 * @property {boolean} [grows] takes what is left of the width
 * @property {boolean} [isNumeric]
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
 */
export function Grid({ label, rows, columns, sorting, onSort, current, onCurrent, onOpen }) {
  const box = useRef(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
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
  const first = Math.max(0, Math.floor(top / ROW) - BEYOND);
  const shown = rows.slice(first, Math.ceil((top + height) / ROW) + BEYOND);
  const onKeyDown = (event) => {
    const page = Math.max(1, Math.floor(height / ROW) - 2);
    const moves = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 };
    const to = moves[event.key];
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey || rows.length === 0) return;
    if (to !== undefined) onCurrent(rows[Math.min(rows.length - 1, Math.max(0, to))]);
    else if (event.key === "Enter") onOpen(rows[at]);
    else return;
    event.preventDefault();
  };
  // Every row is a grid of its own: only widths that are known beforehand stand below each other.
  const tracks = columns.map(({ width, grows }) => (grows ? `minmax(${width}rem, 1fr)` : `${width}rem`)).join(" ");
  const least = columns.reduce((sum, { width }) => sum + width, 0) + GAP * (columns.length + 1);
  const open = (entry) => {
    onCurrent(entry);
    onOpen(entry);
  };
  return html`<div class="grid" ref=${box} role="grid" tabindex="0" aria-label=${label} style=${{ "--least": `${least}rem`, "--tracks": tracks }}
    aria-rowcount=${rows.length + 1} aria-colcount=${columns.length} aria-activedescendant=${rows.length ? `row-${rows[at]}` : undefined}
    onScroll=${() => setTop(box.current.scrollTop)} onKeyDown=${onKeyDown}>
    <div role="rowgroup" class="grid-heading"><div role="row" aria-rowindex="1" class="grid-row">
      ${columns.map((column) => html`<${Heading} key=${column.key} column=${column} sorting=${sorting} onSort=${onSort} />`)}
    </div></div>
    <div class="grid-body" role="rowgroup" style=${{ height: `${rows.length * ROW}px` }}>
      ${shown.map((entry, n) => html`<div key=${entry} id=${`row-${entry}`} role="row" aria-rowindex=${first + n + 2} aria-selected=${entry === rows[at]}
        class="grid-row" style=${{ transform: `translateY(${(first + n) * ROW}px)` }} onClick=${() => open(entry)}>
        ${columns.map(({ key, isNumeric, cell }) => html`<div key=${key} role="gridcell" class=${isNumeric ? "numeric" : ""}>${cell(entry)}</div>`)}
      </div>`)}
    </div>
  </div>`;
}

function Heading({ column: { key, label, isNumeric }, sorting, onSort }) {
  const isSorted = sorting.column === key;
  const direction = sorting.descending ? "descending" : "ascending";
  const sort = () => onSort({ column: key, descending: isSorted && !sorting.descending });
  return html`<div role="columnheader" class=${isNumeric ? "numeric" : ""} aria-sort=${isSorted ? direction : "none"}>
    <button type="button" onClick=${sort} title=${`Sort by ${visible(label)}`}>
      <bdi>${brief(label, 60)}</bdi>
      <span class="arrow" aria-hidden="true">${isSorted ? (sorting.descending ? "▾" : "▴") : ""}</span>
    </button>
  </div>`;
}
