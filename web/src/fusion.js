// Scores of several judges made into one, as tcva_adapters/core/panel.py fuses them.
import { TINY_EXPONENT, clip, exponentAt } from "./kernel.js";

const EPS = 1e-9;
const PAPER_BOUNDS = { p_min: -8, p_max: 12.25, t_min: 0.1, t_max: 1 };
/** numpy adds up to so many numbers one after the other, and more of them in eight strands. */
const STRANDS = 8;

/**
 * The weighted power mean of one sample's scores, NaN where the main judge has none.
 * @param {number[]} scores one per judge, the main judge's first; NaN where one has none
 * @param {{temperature: number|null, weights: number[]|null}} fusion
 * @param {object} math exp, log and pow
 */
export function fused(scores, fusion, math = Math) {
  if (scores.length === 1 || Number.isNaN(scores[0])) return scores[0];
  const power = fusion.temperature === null ? 0 : exponentAt(fusion.temperature, PAPER_BOUNDS);
  const members = scores.map((score, i) => {
    const share = fusion.weights === null ? 1 : fusion.weights[i];
    return Number.isNaN(score) || !(share > 0) ? { value: 0, share: 0 } : { value: score, share };
  });
  // A fixed order of the summands: the order of the judges must not move the last bit.
  members.sort((a, b) => a.value - b.value || a.share - b.share);
  const all = added(members.map(({ share }) => share));
  return all > 0 ? mean(members.map(({ value, share }) => ({ value, share: share / all })), power, math) : NaN;
}

function mean(members, power, math) {
  const values = members.filter(({ share }) => share > 0).map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const used = members.map(({ value }) => (power < TINY_EXPONENT ? Math.max(value, EPS) : value));
  if (Math.abs(power) < TINY_EXPONENT) {
    return clip(math.exp(added(members.map(({ share }, i) => share * math.log(used[i])))), low, high);
  }
  // Relative to the score that dominates, so that no power overflows.
  const end = Math.max(power < 0 ? low : high, EPS);
  const terms = members.map(({ share }, i) => (share > 0 ? share * math.pow(used[i] / end, power) : 0));
  // A mean lies between its members; equal scores have exactly that score as their mean.
  return clip(end * math.pow(added(terms), 1 / power), low, high);
}

/** A sum as numpy makes it of a short row. */
function added(values) {
  if (values.length < STRANDS) return values.reduce((sum, value) => sum + value, 0);
  const strands = values.slice(0, STRANDS);
  const whole = values.length - (values.length % STRANDS);
  for (let i = STRANDS; i < whole; i += 1) strands[i % STRANDS] += values[i];
  const [a, b, c, d, e, f, g, h] = strands;
  const sum = a + b + (c + d) + (e + f + (g + h));
  return values.slice(whole).reduce((before, value) => before + value, sum);
}
