// Scores of a run at a temperature: every distinct row is scored once, and samples look theirs up.
import { added, clip, makePlan, preparedRow, rounded } from "./kernel.js";

/** In a run's list of rows: the sample is not in this run; -1 is one without a score. */
export const ABSENT = -2;
/** The least score that enters a geometric mean. */
const EPS = 1e-9;

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

/** The weighted geometric mean of one sample's scores, NaN where the main judge has none: core/panel.py. */
function fused(scores, weights) {
  if (Number.isNaN(scores[0])) return NaN;
  const members = scores
    .map((value, i) => ({ value, share: weights === null ? 1 : weights[i] }))
    .filter(({ value, share }) => !Number.isNaN(value) && share > 0);
  if (members.length === 0) return NaN;
  // A fixed order of the summands: the order of the judges must not move the last bit.
  members.sort((a, b) => a.value - b.value || a.share - b.share);
  const all = added(members.map(({ share }) => share));
  const logs = members.map(({ value, share }) => (share / all) * Math.log(Math.max(value, EPS)));
  // A mean lies between its members; equal scores have exactly that score as their mean.
  return rounded(clip(Math.exp(added(logs)), members[0].value, members.at(-1).value));
}

/** The temperatures that the slider has, the ends included. */
export function stepsWithin({ t_min: low, t_max: high }) {
  const between = Array.from({ length: Math.max(0, Math.ceil(100 * high) - 1) }, (_, i) => (i + 1) / 100);
  return [low, ...between.filter((step) => step > low && step < high), high];
}

/**
 * The first step of the slider from which on a sample passes; null where it does not at the last.
 * @param {(temperature: number) => number} score as `prepared` gives it
 */
export function passesFrom(score, { threshold, bounds }) {
  const steps = stepsWithin(bounds);
  return steps[steps.findLastIndex((step) => !(score(step) >= threshold)) + 1] ?? null;
}

/**
 * One score per sample from one score per distinct row; NaN where there is none.
 * @param {object} run of the figures
 * @param {ArrayLike<number>} rowScores
 */
export function bySample(run, rowScores) {
  const scores = new Float64Array(run.row.length).fill(NaN);
  run.row.forEach((row, sample) => {
    if (row >= 0) scores[sample] = rowScores[row];
  });
  // A refusal or an empty context may count as something, by the setting on_unscored.
  for (const [sample, , given] of run.unscored) scores[sample] = given ?? NaN;
  return scores;
}
