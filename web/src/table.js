// A list of any length as a grid: only the rows in sight are in the page.
import { brief, visible } from "./text.js";
import { html, useKeys, useLayoutEffect, useState } from "./ui.js";

/** Between columns and at both ends, in rem, as in the styles. */
const GAP = 0.9;
const BEYOND = 4;
/** Height of the heading, as in the styles. */
const HEADING = 56;

/**
 * @typedef {object} Column
 * @property {string} key
 * @property {string} label
 * @property {number} width in rem
 * @property {boolean} [grows] takes what is left of the width
 * @property {boolean} [isNumeric]
 * @property {string} [help]
 * @property {(i: number) => any} cell
 */

/**
 * @param {object} given
 * @param {{current: HTMLElement|null}} given.box a reference that gets the grid
 * @param {string} given.label what the grid holds
 * @param {number[]} given.rows
 * @param {Column[]} given.columns
 * @param {number} given.high the height of a row in pixels
 * @param {{column: string, descending: boolean}} given.sorting
 * @param {(sorting: object) => void} given.onSort
 * @param {number} given.current the row that the reader is at, as an entry of `rows`
 * @param {(entry: number) => void} given.onCurrent
 * @param {(entry: number) => void} given.onOpen
 */
export function Grid({ box, label, rows, columns, high, sorting, onSort, current, onCurrent, onOpen }) {
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
    if (at * high < scrollTop) box.current.scrollTop = at * high;
    else if ((at + 1) * high + HEADING > scrollTop + clientHeight) box.current.scrollTop = (at + 1) * high + HEADING - clientHeight;
  }, [at]);
  const first = Math.max(0, Math.floor(top / high) - BEYOND);
  const shown = rows.slice(first, Math.ceil((top + height) / high) + BEYOND);
  const page = Math.max(1, Math.floor(height / high) - 1);
  const move = (to) => () => {
    box.current.focus({ preventScroll: true });
    if (rows.length) onCurrent(rows[Math.min(rows.length - 1, Math.max(0, to))]);
  };
  // Wherever the focus is, so that the first key that is pressed in the view counts.
  useKeys({
    ArrowDown: move(at + 1), j: move(at + 1), ArrowUp: move(at - 1), k: move(at - 1),
    PageDown: move(at + page), PageUp: move(at - page), Home: move(0), End: move(rows.length - 1),
    Enter: () => rows.length && onOpen(rows[at]),
  });
  // Every row is a grid of its own: only widths that are known beforehand stand below each other.
  const tracks = columns.map(({ width, grows }) => (grows ? `minmax(${width}rem, 1fr)` : `${width}rem`)).join(" ");
  const least = columns.reduce((sum, { width }) => sum + width, 0) + GAP * (columns.length + 1);
  const open = (entry) => {
    onCurrent(entry);
    onOpen(entry);
  };
  return html`<div class="grid" ref=${box} role="grid" tabindex="0" aria-label=${label} style=${{ "--least": `${least}rem`, "--tracks": tracks }}
    aria-rowcount=${rows.length + 1} aria-colcount=${columns.length} aria-activedescendant=${rows.length ? `row-${rows[at]}` : undefined}
    onScroll=${() => setTop(box.current.scrollTop)}>
    <div role="rowgroup" class="grid-heading"><div role="row" aria-rowindex="1" class="grid-row">
      ${columns.map((column) => html`<${Heading} key=${column.key} column=${column} sorting=${sorting} onSort=${onSort} />`)}
    </div></div>
    <div class="grid-body" role="rowgroup" style=${{ height: `${rows.length * high}px` }}>
      ${shown.map((entry, n) => html`<div key=${entry} id=${`row-${entry}`} role="row" aria-rowindex=${first + n + 2} aria-selected=${entry === rows[at]}
        class="grid-row" style=${{ transform: `translateY(${(first + n) * high}px)`, height: `${high}px` }} onClick=${() => open(entry)}>
        ${columns.map(({ key, isNumeric, cell }) => html`<div key=${key} role="gridcell" class=${isNumeric ? "numeric" : ""}>${cell(entry)}</div>`)}
      </div>`)}
    </div>
  </div>`;
}

function Heading({ column: { key, label, isNumeric, help }, sorting, onSort }) {
  const isSorted = sorting.column === key;
  const direction = sorting.descending ? "descending" : "ascending";
  const sort = () => onSort({ column: key, descending: isSorted && !sorting.descending });
  return html`<div role="columnheader" class=${isNumeric ? "numeric" : ""} aria-sort=${isSorted ? direction : "none"}>
    <button type="button" onClick=${sort} title=${visible(help ?? `Sort by ${label}`)}>
      <bdi>${brief(label, 60)}</bdi>
      <span class="arrow" aria-hidden="true">${isSorted ? (sorting.descending ? "▾" : "▴") : ""}</span>
    </button>
  </div>`;
}
