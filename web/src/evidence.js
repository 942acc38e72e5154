/** Where quotes stand in contexts and claims in responses, and texts cut into marked pieces. */

// In scripts without spaces each character is a word, as in tcva_adapters/text/words.py.
const UNSPACED =
  "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff";
const WORD = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+`, "gu");
const ELLIPSIS = /[[(]?\.(?:[ \t]?\.){2,}[\])]?|\[?…\]?/;
const LONGEST = 10_000;
const MOST_FRAGMENTS = 10;

/**
 * @typedef {{start: number, end: number}} Span places in a text, `end` behind the last character
 * @typedef {{text: string, line: string, starts: number[], spans: Span[]}} Searchable a text's words in one line
 *   between blanks, where each begins there and where it stands in the text
 */

/**
 * Where a quote stands in a text, whatever its case, spaces and punctuation: as a whole, else each
 * part between ellipses by itself.
 * @param {Searchable} text
 * @param {string} quote
 * @returns {Span[] | null}
 */
export function find(text, quote) {
  if (quote.length > LONGEST) return null;
  const whole = place(text, quote);
  if (whole) return [whole];
  const parts = quote.split(ELLIPSIS).filter((part) => part.match(WORD));
  if (parts.length < 2 || parts.length > MOST_FRAGMENTS) return null;
  const spans = parts.map((part) => place(text, part));
  return spans.every(Boolean) ? spans : null;
}

/**
 * The passage that holds a quote: the one that the judge named, else the first that does.
 * @param {Searchable[]} contexts
 * @param {number | null | undefined} named counted from 1
 * @returns {{passage: number, spans: Span[]} | null} the passage counted from 0
 */
export function findIn(contexts, quote, named) {
  const first = named ? named - 1 : -1;
  const order = contexts.map((_, i) => i).sort((a, b) => (b === first) - (a === first));
  for (const passage of order) {
    const spans = find(contexts[passage], quote);
    if (spans) return { passage, spans };
  }
  return null;
}

/**
 * What stays of an answer, at offsets of this page: the library counts characters, a browser halves of some.
 * @typedef {{start: number, end: number, stays: boolean, isOrphan: boolean}} Part a sentence
 * @typedef {{left: [number, number][], parts: Part[]}} Stays
 * @param {string} text
 * @param {{left: [number, number][], parts: [number, number, boolean, boolean][]} | null | undefined} served as in the page's data
 * @returns {Stays | null} null where nothing can be cut
 */
export function stays(text, served) {
  if (!served) return null;
  const offsets = [0];
  for (const letter of text) offsets.push(offsets.at(-1) + letter.length);
  return {
    left: served.left.map((span) => span.map((at) => offsets[at])),
    parts: served.parts.map(([start, end, isLeft, isOrphan]) => ({ start: offsets[start], end: offsets[end], stays: isLeft, isOrphan })),
  };
}

/**
 * What lies between spans of a text: with the spans that are left of it, those that are gone.
 * @param {string} text
 * @param {[number, number][]} left in order
 * @returns {Span[]}
 */
export function between(text, left) {
  const ends = [[0, 0], ...left, [text.length, text.length]];
  return ends.slice(1).flatMap(([to], i) => (ends[i][1] < to ? [{ start: ends[i][1], end: to }] : []));
}

/**
 * A text in pieces, each with the keys of the spans that cover it, and of those that end with it.
 * @param {string} text
 * @param {(Span & {key: number})[]} spans
 * @returns {{text: string, keys: number[], ends: number[]}[]}
 */
export function pieces(text, spans) {
  const cuts = [...new Set([0, text.length, ...spans.flatMap(({ start, end }) => [start, end])])].sort(
    (a, b) => a - b,
  );
  return cuts.slice(0, -1).map((from, i) => ({
    text: text.slice(from, cuts[i + 1]),
    keys: spans.filter(({ start, end }) => start <= from && cuts[i + 1] <= end).map(({ key }) => key),
    ends: spans.filter(({ end }) => end === cuts[i + 1]).map(({ key }) => key),
  }));
}

/**
 * @param {string} text
 * @returns {Searchable}
 */
export function searchable(text) {
  const starts = [];
  const spans = [];
  let line = " ";
  for (const found of text.matchAll(WORD)) {
    starts.push(line.length);
    spans.push({ start: found.index, end: found.index + found[0].length });
    line += `${folded(found[0])} `;
  }
  return { text, line, starts, spans };
}

function place({ text, line, starts, spans }, quote) {
  const sought = searchable(quote).line;
  if (sought === " ") return null;
  const at = line.indexOf(sought);
  if (at < 0) return null;
  const { start } = spans[wordAt(starts, at + 1)];
  const { end } = spans[wordAt(starts, at + sought.length - 2)];
  // With the punctuation that closes it, where that is the same.
  const [closing] = quote.trimEnd().match(/[^\p{L}\p{N}\p{M}\s]*$/u);
  return { start, end: text.startsWith(closing, end) ? end + closing.length : end };
}

/** The last word that begins at or before a place. */
function wordAt(starts, place) {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

const folded = (word) => word.normalize("NFKC").toLowerCase().replace(/\s+/g, "_");
