// exp, log and powers, correctly rounded but for one argument in many millions.
//
// What Math.exp and its like return is left to each browser, and differs from the library's by a
// last bit now and then. A score that should equal the threshold would then pass here and fail there.
// These work with pairs of numbers (the second holds what the first has rounded away).

const SPLIT = 2 ** 27 + 1;
const LN2 = [0.6931471805599453, 2.3190468138462996e-17];
const HALVINGS = 8;
const TERMS = 9;
const LARGEST = 709.7;
const SMALLEST = -745.2;

/** e ** x */
export function exp(x) {
  return exponential(x, 0);
}

/** e ** x - 1 */
export function expm1(x) {
  if (x < -40) return -1;
  const power = Math.round(x / LN2[0]);
  const rest = small(reduced(x, 0, power));
  const scale = 2 ** power;
  const sum = plus([-1, 0], plus([scale, 0], [scale * rest[0], scale * rest[1]]));
  return sum[0] + sum[1];
}

/** The natural logarithm of x >= 0. */
export function log(x) {
  if (x === 0) return -Infinity;
  const pair = logarithm(x);
  return pair[0] + pair[1];
}

/** The natural logarithm of 1 + x, x > -1/2 and not large. */
export function log1p(x) {
  const pair = nearOne(x);
  return pair[0] + pair[1];
}

/** base ** power for base >= 0 */
export function pow(base, power) {
  if (power === 0 || base === 1) return 1;
  if (power === 1) return base;
  if (base === 0) return power > 0 ? 0 : Infinity;
  const [high, low] = logarithm(base);
  const [first, second] = times([high, low], [power, 0]);
  return exponential(first, second);
}

function exponential(high, low) {
  if (high > LARGEST) return Math.exp(high);
  if (high < SMALLEST) return 0;
  const power = Math.round(high / LN2[0]);
  const rest = plus([1, 0], small(reduced(high, low, power)));
  // In two steps, as 2 ** power alone may be too small a number.
  const half = Math.trunc(power / 2);
  return (rest[0] + rest[1]) * 2 ** half * 2 ** (power - half);
}

/** high + low - power * ln 2 */
function reduced(high, low, power) {
  return plus([high, low], times([-power, 0], LN2));
}

/** e ** x - 1 of a pair close to 0: a short series for a part of it, squared up again. */
function small([high, low]) {
  const part = [high / 2 ** HALVINGS, low / 2 ** HALVINGS];
  let sum = [1, 0];
  for (let n = TERMS; n > 1; n -= 1) sum = plus([1, 0], over(times(sum, part), n));
  sum = times(sum, part);
  for (let i = 0; i < HALVINGS; i += 1) sum = plus([2 * sum[0], 2 * sum[1]], times(sum, sum));
  return sum;
}

function logarithm(x) {
  let power = Math.round(Math.log2(x));
  // A subnormal number's power of two is out of range by itself.
  const scaled = power < -1000 ? (x * 2 ** 60) / 2 ** (power + 60) : x / 2 ** power;
  return plus(times([power, 0], LN2), nearOne(scaled - 1));
}

/** The logarithm of 1 + x: a guess, and how far its exponential is from 1 + x. */
function nearOne(x) {
  if (x === 0) return [0, 0];
  const guess = Math.log1p(x);
  const inverse = small([-guess, 0]);
  const [off, rest] = plus(plus([x, 0], inverse), times([x, 0], inverse));
  return plus([guess, 0], [off, rest - (off * off) / 2]);
}

/** A sum of pairs. */
function plus([a, x], [b, y]) {
  const high = a + b;
  const part = high - a;
  const low = a - (high - part) + (b - part) + (x + y);
  const sum = high + low;
  return [sum, low - (sum - high)];
}

/** A product of pairs. */
function times([a, x], [b, y]) {
  const high = a * b;
  const left = a * SPLIT - (a * SPLIT - a);
  const right = b * SPLIT - (b * SPLIT - b);
  const [a2, b2] = [a - left, b - right];
  const low = left * right - high + left * b2 + a2 * right + a2 * b2 + (a * y + x * b);
  const product = high + low;
  return [product, low - (product - high)];
}

/** A pair over a small whole number. */
function over([high, low], divisor) {
  const first = high / divisor;
  const back = times([first, 0], [divisor, 0]);
  return plus([first, 0], [(high - back[0] - back[1] + low) / divisor, 0]);
}
