// Intervals of means and shares, as the library has them.

const STEPS = 300;
const SMALLEST = 1e-300;
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

/** Scores that an interval of their mean needs, and others than the most frequent one. */
const [LEAST, LEAST_OTHERS] = [10, 5];

/** A mean with its interval, within the ends of what there can be; null where there is none, see `mean_interval`. */
export function meanInterval(scores, level, [lowest, highest] = [0, 1]) {
  const n = scores.length;
  const mean = scores.reduce((sum, score) => sum + score, 0) / n;
  const moment = (power) => scores.reduce((sum, score) => sum + (score - mean) ** power, 0) / n;
  const variance = moment(2);
  const none = { n, mean: n ? mean : NaN, low: null, high: null };
  if (n < LEAST || !(variance > 1e-24 * mean * mean)) return none;
  const [usual, often] = mostFrequent(scores);
  const bothSided = lowest < 0 || (lowest < usual && usual < highest && 2 * often >= n);
  if (bothSided && n - often < LEAST_OTHERS) return none;
  // Hall (1992): Student's quantile, bent by the skewness.
  const bend = moment(3) / variance ** 1.5 / Math.sqrt(n);
  const bent = (q) => {
    const moved = q - bend / 6;
    return Math.abs(bend) < 1e-6 ? moved : (3 / bend) * (Math.cbrt(1 + bend * moved) - 1);
  };
  const quantile = studentQuantile((1 + level) / 2, n - 1);
  const error = Math.sqrt(variance / (n - 1));
  let [below, above] = [bent(quantile), -bent(-quantile)];
  if (bothSided) [below, above] = [Math.max(below, quantile), Math.max(above, quantile)];
  const [low, high] = [mean - below * error, mean + above * error];
  return {
    n,
    mean,
    low: scores.some((score) => score < lowest) ? low : Math.max(low, lowest),
    high: scores.some((score) => score > highest) ? high : Math.min(high, highest),
  };
}

/** The value that most have, the lowest of several, and how many have it. */
function mostFrequent(scores) {
  const counts = new Map();
  for (const score of scores) {
    const rounded = Math.round(score * 1e12) / 1e12;
    counts.set(rounded, (counts.get(rounded) ?? 0) + 1);
  }
  return [...counts].reduce((a, b) => (b[1] > a[1] || (b[1] === a[1] && b[0] < a[0]) ? b : a));
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
