// Scores of a run at the dial: every distinct row is scored once, and samples look theirs up.
import { flipPoint } from "./flip.js";
import { fused } from "./fusion.js";
import { makePlan, preparedRow } from "./kernel.js";

/** In a run's list of rows: the sample is not in this run; -1 is one without a score. */
export const ABSENT = -2;

/**
 * Counts of several judges, ready to be scored at any temperature.
 * @param {(number[]|null)[]} judges counts of each judge, the main one first; null for no verdicts
 * @param {object} settings weights, penalty, eps, floor, bounds, fuse_weights
 * @returns {(temperature: number) => number}
 */
export function prepared(judges, settings, plan = makePlan(settings)) {
  const each = judges.map((counts) => preparedRow(counts ?? [0, 0, 0, 0, 0], plan));
  if (each.length === 1) return each[0];
  return (temperature) => fused(each.map((score) => score(temperature)), settings.fuse_weights);
}

/** All distinct rows of a run, ready. */
export function preparedRows(rows, settings) {
  const plan = makePlan(settings);
  return rows.map((judges) => prepared(judges, settings, plan));
}

/**
 * The temperature from which on a sample passes; null where it never does.
 * @param {(temperature: number) => number} score as `prepared` gives it
 */
export function flipTemperature(score, { threshold, bounds }) {
  return flipPoint((temperature) => score(temperature) >= threshold, bounds);
}

/**
 * One score per sample from one score per distinct row; NaN where there is none.
 * @param {object} run of the figures
 * @param {ArrayLike<number>} rowScores
 * @param {number|null} onUnscored what a refusal or an empty context counts as; failures never do
 */
export function bySample(run, rowScores, onUnscored) {
  const scores = new Float64Array(run.row.length).fill(NaN);
  run.row.forEach((row, sample) => {
    if (row >= 0) scores[sample] = rowScores[row];
  });
  if (onUnscored !== null && onUnscored !== undefined) {
    for (const [sample, , isFailure] of run.unscored) if (!isFailure) scores[sample] = onUnscored;
  }
  return scores;
}
