// Intervals of means and shares, as the library has them.

const STEPS = 300;
const SMALLEST = 1e-300;
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

/** Scores that an interval of their mean needs. */
const LEAST = 10;

/**
 * A mean with its interval; the ends are null below ten scores, and where all are equal.
 * @param {number[] | null} codes the group of each score: the interval is that of `meanBetween` then
 * @param {[number, number]} ends of the scale
 */
export function meanInterval(scores, level, codes = null, ends = [0, 1]) {
  const n = scores.length;
  const mean = scores.reduce((sum, score) => sum + score, 0) / n;
  if (codes && n >= LEAST && scores.every((score) => score >= ends[0] && score <= ends[1])) {
    const [low, high] = meanBetween(scores, ends, level, codes);
    return { n, mean, low, high };
  }
  const moment = (power) => scores.reduce((sum, score) => sum + (score - mean) ** power, 0) / n;
  const variance = moment(2);
  if (codes || n < LEAST || !(variance > 1e-24 * mean * mean)) return { n, mean: n ? mean : NaN, low: null, high: null };
  // Hall (1992): Student's quantile, bent by the skewness.
  const bend = moment(3) / variance ** 1.5 / Math.sqrt(n);
  const bent = (q) => {
    const moved = q - bend / 6;
    return Math.abs(bend) < 1e-6 ? moved : (3 / bend) * (Math.cbrt(1 + bend * moved) - 1);
  };
  const quantile = studentQuantile((1 + level) / 2, n - 1);
  const error = Math.sqrt(variance / (n - 1));
  return { n, mean, low: mean - bent(quantile) * error, high: mean - bent(-quantile) * error };
}

/** Steps of an integral, and values that are looked at one by one: more are split between two. */
const SUMMED = 75;
const MOST = 400;

/**
 * The interval of a mean of values between two ends, by Gaffke (2005): a value at the end is added,
 * and all are weighted at random. Groups are weighted as one. See stats/least_mean.py.
 * @returns {[number, number]}
 */
export function meanBetween(values, [low, high], level, codes = null) {
  const groups = new Map();
  let most = 0;
  values.forEach((value, i) => {
    const group = groups.get(codes?.[i] ?? i) ?? [0, 0];
    group[0] += value - low;
    group[1] += 1;
    most = Math.max(most, group[1]);
    groups.set(codes?.[i] ?? i, group);
  });
  const bound = (turned) => {
    const sums = [...groups.values()].map(([sum, n]) => [turned ? n * (high - low) - sum : sum, n, 1]);
    sums.push([0, most, 1]);
    // Of groups of one size, those that are alike stay alike wherever the bound is looked for.
    const same = sums.every(([, n]) => n === most);
    return lowerBound(same ? gathered(sums).map(([sum, count]) => [sum, most, count]) : sums, (1 - level) / 2);
  };
  return [low + bound(false), high - bound(true)];
}

function lowerBound(groups, share) {
  const total = (of) => groups.reduce((sum, [value, n, count]) => sum + count * of(value, n), 0);
  const n = total((_, size) => size);
  const mean = total((sum) => sum) / n;
  if (mean === 0) return 0;
  const error = Math.sqrt(total((sum, size) => (sum - mean * size) ** 2)) / n;
  const over = (at) => undercut(groups.map(([sum, size, count]) => [sum - at * size, 1, count])) - share;
  let low = Math.max(0, mean - 40 * error);
  let high = Math.min(groups.reduce((top, [sum, size]) => Math.max(top, sum / size), 0), mean + 40 * error);
  let [below, above] = [over(low), over(high)];
  if (below >= 0) return low;
  if (above <= 0) return high;
  // False position, the end that stays being halved (Illinois).
  for (let i = 0, side = 0; i < STEPS && high - low > 1e-9; i += 1) {
    const at = (low * above - high * below) / (above - below);
    const found = over(at);
    if (Math.abs(found) < 1e-9) return at;
    if (found < 0) {
      [low, below] = [at, found];
      if (side < 0) above /= 2;
      side = -1;
    } else {
      [high, above] = [at, found];
      if (side > 0) below /= 2;
      side = 1;
    }
  }
  return (low + high) / 2;
}

/** The probability that the sum of terms, each times an exponential variable, is below 0 (Daniels 1987). */
function undercut(terms) {
  const points = gathered(terms);
  const largest = points.reduce((top, [point]) => Math.max(top, Math.abs(point)), 0);
  const at = Float64Array.from(points, ([point]) => point / largest);
  const counts = Float64Array.from(points, ([, count]) => count);
  const sum = (of) => {
    let all = 0;
    for (let i = 0; i < at.length; i += 1) all += counts[i] * of(at[i]);
    return all;
  };
  const least = at.reduce((low, point) => Math.min(low, point), 0);
  if (least >= 0) return 0;
  // The saddle point lies between the pole and 0; close to it is enough.
  const pole = Math.log(-1 / least);
  let [low, high] = [pole - 30, pole - 1e-9];
  while (high - low > 0.01) {
    const middle = (low + high) / 2;
    const tilt = Math.exp(middle);
    if (sum((point) => point / (1 + point * tilt)) + 1 / tilt < 0) high = middle;
    else low = middle;
  }
  const tilt = Math.exp((low + high) / 2);
  const top = Math.log(tilt) + sum((point) => Math.log1p(point * tilt));
  at.forEach((point, i) => (at[i] = point / (1 + point * tilt)));
  const width = 1 / Math.sqrt(sum((point) => point * point) + tilt ** -2);
  const height = (along) => (sum((point) => Math.log1p((along * point) ** 2)) + Math.log1p((along / tilt) ** 2)) / 2;
  let far = 0.25;
  while (far < 20.75 && height(width * Math.sinh(far)) < 40) far += 0.25;
  const step = far / SUMMED;
  let inside = 0;
  for (let i = 0; i < SUMMED; i += 1) {
    const place = step * (i + 0.5);
    const along = width * Math.sinh(place);
    const angle = sum((point) => Math.atan(along * point)) + Math.atan(along / tilt);
    inside += Math.cos(angle) * Math.exp(-height(along) - top) * Math.cosh(place);
  }
  return (inside * step * width) / Math.PI;
}

/** Different values and how often each occurs; many are split between points of a grid. */
function gathered(values) {
  const counts = new Map();
  for (const [value, , count] of values) counts.set(value, (counts.get(value) ?? 0) + count);
  if (counts.size <= MOST) return [...counts];
  let [first, last] = [Infinity, -Infinity];
  for (const value of counts.keys()) [first, last] = [Math.min(first, value), Math.max(last, value)];
  const width = (last - first) / (MOST - 1);
  const split = Array.from({ length: MOST }, (_, i) => [first + width * i, 0]);
  for (const [value, count] of counts) {
    const place = (value - first) / width;
    const below = Math.min(Math.floor(place), MOST - 2);
    split[below][1] += count * (below + 1 - place);
    split[below + 1][1] += count * (place - below);
  }
  return split;
}

const known = new Map();

/** The quantile of Student's t for a probability above 1/2. */
export function studentQuantile(probability, freedom) {
  const key = `${probability} ${freedom}`;
  if (!known.has(key)) known.set(key, solved(probability, freedom));
  return known.get(key);
}

/** Where the distribution of Beta(a, b) reaches a probability. */
export function betaQuantile(probability, a, b) {
  let [low, high] = [0, 1];
  for (let i = 0; i < STEPS && high - low > 1e-15 * high; i += 1) {
    const middle = (low + high) / 2;
    if (incompleteBeta(middle, a, b) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function solved(probability, freedom) {
  // The tail beyond t is half the incomplete beta function at freedom / (freedom + t * t).
  const tail = (t) => incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  let [low, high] = [0, 1];
  while (tail(high) > 1 - probability) high *= 2;
  for (let i = 0; i < STEPS && high - low > 1e-15 * high; i += 1) {
    const middle = (low + high) / 2;
    if (tail(middle) > 1 - probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The regularised incomplete beta function by its continued fraction. */
function incompleteBeta(x, a, b) {
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta(a, b)) / a;
  let [c, d] = [1, 1 / kept(1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m <= STEPS; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    for (const term of [even, odd]) {
      d = 1 / kept(1 + term * d);
      c = kept(1 + term / c);
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return front * fraction;
}

function kept(value) {
  return Math.abs(value) < SMALLEST ? SMALLEST : value;
}

/** ln B(a, 1/2) and the like: for large a the difference of two large logarithms, as a series. */
function logBeta(a, b) {
  const [small, large] = a < b ? [a, b] : [b, a];
  if (large < 30) return logGamma(small) + logGamma(large) - logGamma(small + large);
  const sum = small + large;
  const shift = small * Math.log(large) + (sum - 0.5) * Math.log1p(small / large) - small;
  return logGamma(small) - shift + stirling(large) - stirling(sum);
}

/** What Stirling's formula leaves of ln Gamma(x), x large. */
function stirling(x) {
  const y = 1 / (x * x);
  return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / x;
}

function logGamma(x) {
  const sum = LANCZOS.slice(1).reduce((before, part, i) => before + part / (x + i), LANCZOS[0]);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}
