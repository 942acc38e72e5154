/** What there is to label, in what order, and by which steps answers are rated. */

const MOST_STEPS = 11;
const STEPS = 5;

/**
 * Samples in random order; the same seed gives the same order (mulberry32, Fisher and Yates).
 * @param {number[]} samples
 * @param {number} seed
 */
export function shuffled(samples, seed) {
  const found = [...samples];
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let i = found.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [found[i], found[j]] = [found[j], found[i]];
  }
  return found;
}

/** The scale of human ratings: the report's, else 0 to 1. */
export const scaleOf = (report) => report.samples.human_scale ?? [0, 1];

/**
 * The ratings to choose from, each with its key: whole numbers where the scale has at most eleven,
 * else five steps from end to end.
 */
export function ratingSteps([low, high]) {
  const whole = Number.isInteger(low) && Number.isInteger(high) && high - low >= 2 && high - low < MOST_STEPS;
  if (!whole)
    return Array.from({ length: STEPS }, (_, i) => ({
      value: low + ((high - low) * i) / (STEPS - 1),
      key: String(i + 1),
    }));
  return Array.from({ length: high - low + 1 }, (_, i) => {
    const value = low + i;
    return { value, key: value >= 0 && value <= 9 ? String(value) : "x" };
  });
}

/** The claims of a sample that carry a verdict; what claims nothing is not labelled. */
export const claimsOf = ({ report, run }, i) =>
  (report.detail(i)?.runs?.[run?.name]?.claims ?? []).filter(({ verdict }) => verdict);

/** Whether a sample has all its labels. */
export function isDone(app, store, what, i) {
  const id = String(app.report.samples.ids[i]);
  return what === "answers"
    ? store.rating(id) !== undefined
    : claimsOf(app, i).every(({ claim }) => store.level(id, claim) !== undefined);
}
