/**
 * A person's labels as files, and back: csv with `id,human`, or one JSON object a line with the
 * claims' levels as well. Of both, `tcva compare` and `tcva calibrate` read the ratings.
 *
 * @typedef {{human?: number, claims?: {claim: string, label: string}[]}} Label
 * @typedef {Map<string, Label>} Labels by sample id
 */

// As tcva_adapters/samples/csv_cells.py: a spreadsheet takes such a cell for a formula.
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** @param {Labels} labels */
export function toCsv(labels) {
  const rows = [...labels].filter(([, { human }]) => human !== undefined);
  return ["id,human", ...rows.map(([id, { human }]) => `${cell(id)},${human}`)]
    .map((row) => `${row}\r\n`)
    .join("");
}

/** @param {Labels} labels; an answer without a rating has null as such: what reads it looks for one in each line */
export function toJsonl(labels) {
  return [...labels].map(([id, label]) => `${JSON.stringify({ id, human: null, ...label })}\n`).join("");
}

/**
 * The labels of a file that this page wrote.
 * @param {string} text
 * @param {string[]} levels the words of the levels
 * @returns {{labels: Labels, bad: string[]}} what could be read, and a sentence for each line that could not
 */
export function fromText(text, levels) {
  const plain = text.replace(/^\ufeff/, "");
  return plain.trimStart().startsWith("{") ? fromJsonl(plain, levels) : fromCsv(plain);
}

function fromJsonl(text, levels) {
  const labels = new Map();
  const bad = [];
  text.split("\n").forEach((line, i) => {
    if (!line.trim()) return;
    try {
      const [id, label] = checked(JSON.parse(line), levels);
      labels.set(id, label);
    } catch (error) {
      bad.push(`Line ${i + 1}: ${error.message}`);
    }
  });
  return { labels, bad };
}

function checked(entry, levels) {
  if (typeof entry?.id !== "string") throw new Error("there is no id.");
  const label = {};
  if (entry.human !== undefined && entry.human !== null) label.human = number(entry.human);
  if (entry.claims !== undefined) {
    if (!Array.isArray(entry.claims)) throw new Error("claims is no list.");
    label.claims = entry.claims.map((each) => {
      if (typeof each?.claim !== "string" || !levels.includes(each.label))
        throw new Error(`a claim's label is one of ${levels.join(", ")}.`);
      return { claim: each.claim, label: each.label };
    });
  }
  return [entry.id, label];
}

function fromCsv(text) {
  const [header, ...rows] = cells(text);
  const [id, human] = ["id", "human"].map((name) => (header ?? []).indexOf(name));
  if (id < 0 || human < 0)
    return { labels: new Map(), bad: ["Line 1: a label file has the columns id and human."] };
  const labels = new Map();
  const bad = [];
  rows.forEach((row, i) => {
    if (row.length === 1 && row[0] === "") return;
    try {
      if ((row[human] ?? "").trim() !== "") labels.set(original(row[id]), { human: number(row[human]) });
    } catch (error) {
      bad.push(`Row ${i + 2}: ${error.message}`);
    }
  });
  return { labels, bad };
}

function number(value) {
  const found = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof found !== "number" || !Number.isFinite(found))
    throw new Error(`${JSON.stringify(value)} is no rating.`);
  return found;
}

/** The cells of a csv text, by RFC 4180. */
function cells(text) {
  const rows = [[]];
  const CELL = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|\n|\r|$)/gy;
  for (let found = CELL.exec(text); found; found = CELL.exec(text)) {
    const [whole, value, end] = found;
    rows.at(-1).push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end === "" || (whole === "" && CELL.lastIndex >= text.length)) break;
    if (end !== ",") rows.push([]);
  }
  return rows;
}

function cell(text) {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const original = (text) => (FORMULA.test(text) && text.startsWith("'") ? text.slice(1) : text);
