// The score of one row of level counts, as tcva_adapters/core/aggregation.py computes it.

/** Below this distance from 0 the geometric mean stands in. */
const TINY_EXPONENT = 1e-12;
/** Significant digits of every score. */
const DIGITS = 12;
const SCALES = Array.from({ length: 301 }, (_, places) => Number(`1e${places}`));
/** In place of the logarithm of 0: times a power of 0 it is 0. */
const LEAST_LOG = -1e300;

/** The exponent of the power mean at a temperature. */
export function exponentAt(temperature, bounds) {
  const share = (temperature - bounds.t_min) / (bounds.t_max - bounds.t_min);
  return bounds.p_min + share * (bounds.p_max - bounds.p_min);
}

/**
 * What is fixed before the first row is looked at.
 * @param {{weights: number[], penalty: string, eps: number, floor: string, bounds: object}} settings
 */
export function makePlan({ weights, penalty, eps, floor, bounds }) {
  const floored = weights.map((weight) => Math.max(weight, eps));
  return { floored, weights: floor === "always" ? floored : weights, penalty, bounds };
}

/**
 * One row, ready to be scored at any temperature.
 * @param {number[]} row five counts or shares, fully first
 * @returns {(temperature: number) => number} NaN throughout for a row of zeros
 */
export function preparedRow(row, plan) {
  const total = added(row);
  if (!(total > 0)) return () => NaN;
  const shares = row.map((count) => count / total);
  const low = powerMean([...shares].reverse(), [...plan.floored].reverse());
  const high = powerMean(shares, plan.weights);
  const logFactorAt = penaltyOf(row, total, plan.penalty);
  return (temperature) => {
    const p = exponentAt(temperature, plan.bounds);
    return rounded((p < TINY_EXPONENT ? low : high)(p, logFactorAt(temperature)));
  };
}

/** A number in [0, 1] to 12 significant digits; NaN stays. */
export function rounded(score) {
  if (!(score > 0)) return score;
  const scale = SCALES[Math.min(DIGITS - 1 - Math.floor(Math.log10(score)), SCALES.length - 1)];
  return Math.round(score * scale) / scale;
}

/** The logarithm of the factor for `none` verdicts, as a function of the temperature. */
function penaltyOf(row, total, penalty) {
  if (penalty === "off") return () => 0;
  const kept = penalty === "absolute" ? Math.max(10 - row[4], 0) / 10 : added(row.slice(0, 4)) / total;
  const log = Math.max(Math.log(kept), LEAST_LOG);
  if (penalty === "absolute") return () => log;
  const ramp = penalty === "ramped" ? clip((total - 1) / 4, 0, 1) : 1;
  return (temperature) => log * ramp * (1.5 - temperature);
}

/**
 * The power mean of weights, the favoured ones first, times a factor; of exponents of one sign.
 *
 * With w0 the first weight that is present, M = w0 * exp(ln(1 + S) / p) and
 * S = sum of share * ((w / w0) ** p - 1). All terms of S lie in [-1, 0]: nothing overflows and
 * nothing cancels, however small p is.
 */
function powerMean(shares, weights) {
  const first = weights[shares.findIndex((share) => share > 0)];
  if (first === 0) return () => 0;
  const present = weights.flatMap((weight, i) => (shares[i] > 0 ? [{ share: shares[i], log: Math.log(weight / first) }] : []));
  const mean = (valueOf) => added(present.map(({ share, log }) => share * valueOf(log)));
  const logMean = (p) => {
    if (Math.abs(p) < TINY_EXPONENT) return mean((log) => log);
    const deficit = mean((log) => Math.expm1(log * p));
    // 1 + S loses digits where S is close to -1; the plain sum of positive terms does not.
    return (deficit < -0.5 ? Math.log(mean((log) => Math.exp(log * p))) : Math.log1p(deficit)) / p;
  };
  return (p, logFactor) => first * Math.exp(logMean(p) + logFactor);
}

/** Added from the first to the last. */
export function added(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

export function clip(value, low, high) {
  return value < low ? low : value > high ? high : value;
}
