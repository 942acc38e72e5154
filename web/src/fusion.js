// Scores of several judges made into one, as tcva_adapters/core/panel.py fuses them.
import { TINY_EXPONENT, added, clip, exponentAt, rounded } from "./kernel.js";

const EPS = 1e-9;
const PAPER_BOUNDS = { p_min: -8, p_max: 12.25, t_min: 0.1, t_max: 1 };

/**
 * The weighted power mean of one sample's scores, NaN where the main judge has none.
 * @param {number[]} scores one per judge, the main judge's first; NaN where one has none
 * @param {{temperature: number|null, weights: number[]|null}} fusion
 */
export function fused(scores, fusion) {
  if (scores.length === 1 || Number.isNaN(scores[0])) return scores[0];
  const power = fusion.temperature === null ? 0 : exponentAt(fusion.temperature, PAPER_BOUNDS);
  const members = scores.map((score, i) => {
    const share = fusion.weights === null ? 1 : fusion.weights[i];
    return Number.isNaN(score) || !(share > 0) ? { value: 0, share: 0 } : { value: score, share };
  });
  // A fixed order of the summands: the order of the judges must not move the last bit.
  members.sort((a, b) => a.value - b.value || a.share - b.share);
  const all = added(members.map(({ share }) => share));
  return all > 0 ? rounded(mean(members.map(({ value, share }) => ({ value, share: share / all })), power)) : NaN;
}

function mean(members, power) {
  const values = members.filter(({ share }) => share > 0).map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const used = members.map(({ value }) => (power < TINY_EXPONENT ? Math.max(value, EPS) : value));
  if (Math.abs(power) < TINY_EXPONENT) {
    return clip(Math.exp(added(members.map(({ share }, i) => share * Math.log(used[i])))), low, high);
  }
  // Relative to the score that dominates, so that no power overflows.
  const end = Math.max(power < 0 ? low : high, EPS);
  const terms = members.map(({ share }, i) => (share > 0 ? share * Math.pow(used[i] / end, power) : 0));
  // A mean lies between its members; equal scores have exactly that score as their mean.
  return clip(end * Math.pow(added(terms), 1 / power), low, high);
}
