/**
 * Agreement of a person with a judge, from labels as they come. The same figures as
 * tcva_adapters.stats has; nan where one is not defined.
 */

import { betaQuantile } from "./stats.js";
import { percent } from "./ui.js";

/** Fewer labels than this have no interval: it would be as wide as the scale. */
export const LEAST = 10;

/**
 * Quadratically weighted kappa of two raters' levels (Cohen 1968): 1 less the observed squared
 * distance over the one that chance would give.
 * @param {[number, number][]} pairs levels from 0 to `levels - 1`
 * @param {number} levels
 */
export function weightedKappa(pairs, levels = 5) {
  const table = Array.from({ length: levels }, () => new Array(levels).fill(0));
  for (const [one, two] of pairs) table[one][two] += 1;
  const rows = table.map((row) => row.reduce(add, 0));
  const columns = table.map((_, j) => table.reduce((sum, row) => sum + row[j], 0));
  let seen = 0;
  let chance = 0;
  for (let i = 0; i < levels; i++) {
    for (let j = 0; j < levels; j++) {
      const far = (i - j) ** 2;
      seen += far * table[i][j];
      chance += far * ((rows[i] * columns[j]) / pairs.length);
    }
  }
  return chance > 0 ? 1 - seen / chance : NaN;
}

/** The share of pairs with the same level. */
export function sameShare(pairs) {
  return pairs.length ? pairs.filter(([one, two]) => one === two).length / pairs.length : NaN;
}

/** How often each side has the highest level: no kappa is read without. */
export function firstShares(pairs) {
  return [0, 1].map((side) => percent(pairs.filter((pair) => pair[side] === 0).length / pairs.length)).join(" and ");
}

/**
 * An interval for a figure of claims: the figure without each answer in turn (jackknife), as claims
 * of one answer resemble each other.
 * @param {[number, number][][]} answers the pairs of each answer
 * @param {(pairs: [number, number][]) => number} figure
 * @returns {[number, number] | null} null where it is not defined
 */
export function jackknife(answers, figure, z, [least, most]) {
  const n = answers.length;
  if (n < LEAST || !z) return null;
  const whole = figure(answers.flat());
  const without = answers.map((_, i) => figure(answers.filter((_, j) => j !== i).flat()));
  const mean = without.reduce(add, 0) / n;
  const half = z * Math.sqrt(((n - 1) / n) * without.reduce((sum, each) => sum + (each - mean) ** 2, 0));
  if (!Number.isFinite(whole) || !Number.isFinite(half)) return null;
  return [Math.max(least, whole - half), Math.min(most, whole + half)];
}

/** Spearman's rank correlation; ties have their mean rank. */
export function spearman(first, second) {
  return pearson(ranks(first), ranks(second));
}

/**
 * Fisher's interval of a rank correlation, with the standard error of Bonett and Wright (2000).
 * @param {number | null} z null where samples belong together: these intervals are of single ones
 * @returns {[number, number] | null} null below ten pairs, and where the ranks agree wholly
 */
export function rankInterval(r, n, z) {
  if (n < LEAST || !z || !(Math.abs(r) < 1)) return null;
  const half = z * Math.sqrt((1 + (r * r) / 2) / (n - 3));
  return [Math.tanh(Math.atanh(r) - half), Math.tanh(Math.atanh(r) + half)];
}

/** The exact interval of a share (Clopper and Pearson); null below ten. */
export function shareInterval(hits, n, level) {
  if (n < LEAST) return null;
  const tail = (1 - level) / 2;
  const least = (of) => (of ? betaQuantile(tail, of, n - of + 1) : 0);
  return [least(hits), 1 - least(n - hits)];
}

/** Ranks from 1, the mean of its places for each tie. Ties are many: each value is sorted once. */
export function ranks(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const found = new Map();
  let below = 0;
  for (const value of [...counts.keys()].sort((a, b) => a - b)) {
    const same = counts.get(value);
    found.set(value, below + (same + 1) / 2);
    below += same;
  }
  return values.map((value) => found.get(value));
}

function pearson(x, y) {
  const n = x.length;
  const [a, b] = [x.reduce(add, 0) / n, y.reduce(add, 0) / n];
  let [xy, xx, yy] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    xy += (x[i] - a) * (y[i] - b);
    xx += (x[i] - a) ** 2;
    yy += (y[i] - b) ** 2;
  }
  return n > 1 && xx > 0 && yy > 0 ? Math.max(-1, Math.min(1, xy / (Math.sqrt(xx) * Math.sqrt(yy)))) : NaN;
}

const add = (a, b) => a + b;
