/** Texts of others as a reader can see them: what a page would obey, or hide, is written out. */

// As tcva_adapters/console.py has it, with line feed and tab left to the page, and the marks of no width in addition.
const OBEYED =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\u{e0000}-\u{e007f}]/gu;
// Hundreds of marks on one letter would paint over the lines around it.
const STACKED = /(\p{M}{3})\p{M}+/gu;

/**
 * A text with control characters, turns of direction and half characters written out.
 * A joiner between two letters or pictures stays: scripts and emoji are made of it.
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  return text
    .replace(OBEYED, (found, at) => (joins(text, at) ? found : escaped(found)))
    .replace(STACKED, "$1…");
}

/** The same in one line, cut at so many characters. */
export function brief(text, most = 80) {
  const line = visible(
    text
      .slice(0, most * 4)
      .replace(/\s+/g, " ")
      .trim(),
  );
  const letters = Array.from(line);
  return letters.length > most || text.length > most * 4 ? `${letters.slice(0, most - 1).join("")}…` : line;
}

function joins(text, at) {
  const code = text.charCodeAt(at);
  return (
    (code === 0x200d || code === 0x200c) &&
    /[^\s\u0000-\u00ff]/.test(text[at - 1] ?? " ") &&
    /[^\s\u0000-\u00ff]/.test(text[at + 1] ?? " ")
  );
}

function escaped(found) {
  const code = found.codePointAt(0);
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}
