// Which samples a list shows and in what order. Nothing here knows of the page.

/**
 * What a list knows of its samples, one entry a sample.
 * @typedef {object} Listed
 * @property {string[]} ids
 * @property {string[]} questions
 * @property {(i: number) => boolean | null} passed null where unscored
 * @property {(i: number) => string | null} unscored the reason
 * @property {(i: number, method: string) => boolean} different whether a method, or `*` any, decides otherwise
 * @property {(i: number, level: string) => boolean} has whether a claim has this level
 * @property {(i: number) => number} score NaN where unscored
 * @property {Record<string, string[]>} groups
 */

/**
 * @typedef {object} Filters
 * @property {string} outcome all, failed, passed, unscored, or `unscored:` and a reason
 * @property {string} different a method, `*` for any of them; "" for all samples
 * @property {string} level "" for any
 * @property {string} scores a range as `0.2,0.25`, see `rangeOf`; "" for any
 * @property {Record<string, string>} groups field to value; "" for any
 * @property {string} search
 */

/** Bars begin at multiples of their width, which floating point may miss. */
const TINY = 1e-9;

/** @type {Filters} */
export const EVERYTHING = { outcome: "all", different: "", level: "", scores: "", groups: {}, search: "" };

/**
 * The samples that fit, in their order.
 * @param {Listed} listed
 * @param {Filters} filters
 * @param {Set<number>} found those whose texts hold what is searched for
 * @returns {number[]}
 */
export function fitting(listed, filters, found = new Set()) {
  const groups = Object.entries(filters.groups).filter(([field, value]) => value !== "" && Object.hasOwn(listed.groups, field));
  const sought = pattern(filters.search);
  const range = rangeOf(filters.scores);
  const fits = (i) =>
    hasOutcome(listed, filters.outcome, i) &&
    (!filters.different || listed.different(i, filters.different)) &&
    (!filters.level || listed.has(i, filters.level)) &&
    (!range || (listed.score(i) >= range[0] - TINY && listed.score(i) < range[1] - TINY)) &&
    groups.every(([field, value]) => listed.groups[field][i] === value) &&
    (!sought || sought.test(listed.ids[i]) || sought.test(listed.questions[i]) || found.has(i));
  return [...listed.ids.keys()].filter(fits);
}

/** The ends of a range of scores: with the first, without the second, which `0.95,` has not; null for none. */
export function rangeOf(text) {
  const [low, high] = text.split(",").map((end) => (end.trim() === "" ? Infinity : Number(end)));
  return low < high ? [low, high] : null;
}

/** The kind of a reason why a sample has no score, without its detail. */
export const kindOf = (reason) => reason.split(":")[0];

function hasOutcome(listed, outcome, i) {
  if (outcome === "unscored") return listed.unscored(i) !== null;
  if (outcome.startsWith("unscored:")) return outcome === `unscored:${kindOf(listed.unscored(i) ?? "")}`;
  return outcome === "passed" || outcome === "failed" ? listed.passed(i) === (outcome === "passed") : true;
}

// Numbers within ids by their value: case-2 stands before case-10.
const WORDS = new Intl.Collator(undefined, { numeric: true });

/**
 * Samples by a column; those without a value stay behind, whichever way it goes, and ties keep their order.
 * @param {number[]} samples
 * @param {(i: number) => number | string | null} value
 */
export function sorted(samples, value, descending = false) {
  const sign = descending ? -1 : 1;
  const keyed = samples.map((i) => [i, value(i)]);
  const there = ([, each]) => each !== null && each !== undefined && !Number.isNaN(each);
  const compare = ([, a], [, b]) => sign * (typeof a === "string" ? WORDS.compare(a, b) : a - b);
  return [...keyed.filter(there).sort(compare), ...keyed.filter((pair) => !there(pair))].map(([i]) => i);
}

/** The shortest search that looks into the texts; shorter ones are in nearly all of them. */
export const LEAST_SEARCH = 3;

/** What is searched for, in any case; null for nothing. */
function pattern(search) {
  return search.trim() ? new RegExp(literal(search.trim()), "iu") : null;
}

/**
 * The samples whose texts hold what is searched for. A line is only parsed when it may hold it.
 * A generator, so that the page stays awake: it yields now and then.
 * @param {string} search
 * @param {number} n samples
 * @param {(i: number) => string} line the JSON of a sample; "" for none
 * @returns {Generator<void, Set<number>>}
 */
export function* inTexts(search, n, line) {
  const found = new Set();
  const sought = pattern(search);
  // As the data block writes it; letters in other scripts stand there as they are.
  const written = JSON.stringify(search.trim()).slice(1, -1).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
  const maybe = new RegExp(literal(written), "iu");
  for (let i = 0; i < n; i++) {
    const json = line(i);
    if (json && maybe.test(json) && strings(JSON.parse(json)).some((text) => sought.test(text))) found.add(i);
    if (i % 200 === 199) yield;
  }
  return found;
}

/** All texts of a value, without the names of its keys. */
function strings(value) {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(strings) : [];
}

const literal = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
