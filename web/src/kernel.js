// The score of one row of level counts, step by step as tcva_adapters/core/kernel.py computes it:
// the same sums in the same order, the same reductions and the same special cases.

/** Below this distance from 0 the geometric mean stands in; likewise 1 and the arithmetic mean. */
export const TINY_EXPONENT = 1e-12;
/** Expected counts that are whole numbers of 1/GRAINS are summed and reduced exactly. */
const GRAINS = 2 ** 30;
const EXACT_DECIMALS = 15;
const ABSOLUTE_STEPS = 10;

/** The exponent of the power mean at a temperature. */
export function exponentAt(temperature, bounds) {
  const share = (temperature - bounds.t_min) / (bounds.t_max - bounds.t_min);
  return bounds.p_min + share * (bounds.p_max - bounds.p_min);
}

/**
 * What is fixed before the first row is looked at.
 * @param {{weights: number[], penalty: string, eps: number, floor: string, bounds: object}} settings
 * @param {object} math exp, expm1, log, log1p and pow
 */
export function makePlan({ weights, penalty, eps, floor, bounds }, math = Math) {
  const floored = weights.map((weight) => Math.max(weight, eps));
  const used = floor === "always" ? floored : weights;
  return { low: side(floored).reverse(), high: side(used), exact: asIntegers(side(used)), penalty, bounds, math };
}

/** The distinct weights, falling, each with the columns that have it. */
function side(weights) {
  const levels = [...new Set(weights)].sort((a, b) => b - a);
  return levels.map((level) => ({ level, columns: weights.flatMap((w, i) => (w === level ? [i] : [])) }));
}

/**
 * One row, ready to be scored at any temperature.
 * @param {number[]} row five counts or shares, fully first
 * @returns {(temperature: number) => number} NaN throughout for a row of zeros
 */
export function preparedRow(row, plan) {
  if (!row.some((count) => count > 0)) return () => NaN;
  const low = powerMean(row, plan.low, plan.math);
  const high = powerMean(row, plan.high, plan.math);
  const arithmetic = arithmeticRatio(row, plan);
  const { kept, of, alphaAt } = penaltyTerms(row, plan.penalty);
  const base = kept / of;
  return (temperature) => {
    const p = exponentAt(temperature, plan.bounds);
    const alpha = alphaAt(temperature);
    let score;
    if (Math.abs(p - 1) < TINY_EXPONENT) {
      // One division for mean and penalty: equal fractions give equal numbers.
      const linear = Math.abs(alpha - 1) < TINY_EXPONENT;
      const top = arithmetic.top * (linear ? kept : plan.math.pow(base, alpha));
      score = top / (arithmetic.bottom * (linear ? of : 1));
    } else {
      score = (p < TINY_EXPONENT ? low : high)(p);
      if (plan.penalty !== "off") score *= plan.math.pow(base, alpha);
    }
    return clip(score, 0, 1);
  };
}

/** The factor of a row as (kept / of) ** alpha. */
function penaltyTerms(row, penalty) {
  if (penalty === "off") return { kept: 1, of: 1, alphaAt: () => 1 };
  if (penalty === "absolute") {
    return { kept: Math.max(ABSOLUTE_STEPS - row[4], 0), of: ABSOLUTE_STEPS, alphaAt: () => 1 };
  }
  const counts = reduced(row);
  const ramp = penalty === "ramped" ? clip((total(row) - 1) / 4, 0, 1) : 1;
  return { kept: total(counts.slice(0, 4)), of: total(counts), alphaAt: (t) => (1.5 - t) * ramp };
}

/** The arithmetic mean as numerator and denominator, exact for counts and decimal weights. */
function arithmeticRatio(row, plan) {
  const counts = reduced(merged(row, plan.high));
  const { whole, scale } = plan.exact;
  let top = 0;
  for (let i = 0; i < whole.length; i += 1) top += counts[i] * whole[i];
  return { top, bottom: total(counts) * scale };
}

/** Short decimals as whole numbers over a power of ten; other numbers as they are, over 1. */
function asIntegers(levels) {
  const decimals = levels.map(({ level }) => {
    const [digits, power] = level.toExponential().split("e");
    const plain = digits.replace(".", "");
    return { plain, places: plain.length - 1 - Number(power) };
  });
  const places = Math.max(1, ...decimals.map((each) => each.places));
  if (places > EXACT_DECIMALS) return { whole: levels.map(({ level }) => level), scale: 1 };
  const whole = decimals.map((each) => Number(each.plain + "0".repeat(places - each.places)));
  return { whole, scale: Number(`1e${places}`) };
}

/**
 * The power means of a row, as a function of the exponent.
 *
 * With w0 the weight that the exponent favours, M = w0 * exp(ln(1 + S) / p) and
 * S = sum of share * ((w / w0) ** p - 1). All terms of S lie in [-1, 0]: nothing overflows and
 * nothing cancels, however small p is.
 */
function powerMean(row, levels, math) {
  const counts = reduced(merged(row, levels));
  const all = total(counts);
  const present = levels.flatMap(({ level }, i) => (counts[i] > 0 ? [{ level, share: counts[i] / all }] : []));
  const first = present[0].level;
  if (first === 0) return () => 0;
  const last = present.at(-1).level;
  const terms = present.map(({ level, share }) => ({ share, log: math.log(level / first) }));
  return (p) => clip(first * relativeMean(terms, p, math), Math.min(first, last), Math.max(first, last));
}

/** Power mean of exp(log); p * log is nowhere positive. */
function relativeMean(terms, p, math) {
  if (Math.abs(p) < TINY_EXPONENT) {
    let centre = 0;
    for (const { share, log } of terms) centre += share * log;
    return math.exp(centre);
  }
  let deficit = 0;
  for (const { share, log } of terms) deficit += share * math.expm1(log * p);
  if (deficit > -0.5) return math.exp(math.log1p(deficit) / p);
  // 1 + S loses digits where S is close to -1; the plain sum of positive terms does not.
  let value = 0;
  for (const { share, log } of terms) value += share * math.exp(log * p);
  return math.exp(math.log(value) / p);
}

/** A row with the columns of equal weight added. */
function merged(row, levels) {
  return levels.map(({ columns }) => columns.reduce((sum, column) => sum + row[column], 0));
}

/** A row of whole numbers, or of whole GRAINS, over its greatest common divisor; others as they are. */
function reduced(row) {
  const scaled = row.every(Number.isInteger) ? row : row.map((count) => count * GRAINS);
  if (!scaled.every((count) => Number.isInteger(count) && count < 2 ** 53)) return row;
  const divisor = Math.max(scaled.reduce(gcd, 0), 1);
  return scaled.map((count) => count / divisor);
}

function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

/** Added from the first to the last. */
function total(row) {
  let sum = 0;
  for (const count of row) sum += count;
  return sum;
}

export function clip(value, low, high) {
  return value < low ? low : value > high ? high : value;
}
