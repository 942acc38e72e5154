// Two runs or methods on the same samples. Nothing here knows of the page.

/**
 * @typedef {object} Pair a sample that both have scored
 * @property {number} i the sample
 * @property {[number, number]} scores
 * @property {[boolean|null, boolean|null]} passed null where there is no threshold
 */

/**
 * The samples that both have scored, and those that one alone has.
 * @param {import("./look.js").Scored} first
 * @param {import("./look.js").Scored} second
 * @returns {{both: Pair[], alone: [number[], number[]]}}
 */
export function paired(first, second) {
  const found = { both: [], alone: [[], []] };
  first.scores.forEach((one, i) => {
    const two = second.scores[i];
    const has = [!Number.isNaN(one), !Number.isNaN(two)];
    if (has[0] && has[1]) found.both.push({ i, scores: [one, two], passed: [first.passed(i), second.passed(i)] });
    else if (has[0] || has[1]) found.alone[has[0] ? 0 : 1].push(i);
  });
  return found;
}

/** Whether two have a sample in common. */
export const meet = (first, second) => first.scores.some((score, i) => !Number.isNaN(score) && !Number.isNaN(second.scores[i]));

/** Whether both decide, and not alike. */
export const differ = ({ passed: [one, two] }) => one !== null && two !== null && one !== two;

/** How many pairs each of the four combinations of decisions has. */
export function decisions(pairs) {
  const found = { both: 0, first: 0, second: 0, neither: 0 };
  for (const { passed: [one, two] } of pairs) {
    if (one === null || two === null) continue;
    if (one) found[two ? "both" : "first"] += 1;
    else found[two ? "second" : "neither"] += 1;
  }
  return found;
}

/** Pairs with unlike scores on a common scale or unlike decisions: these first, then by their distance. */
export function mostDifferent(pairs, [first, second], most) {
  const unit = (score, [low, high]) => (score - low) / (high - low);
  const keys = Float64Array.from(pairs, (pair) => {
    const apart = Math.abs(unit(pair.scores[0], first.scale) - unit(pair.scores[1], second.scale));
    return apart + 2 * Number(differ(pair));
  });
  // Of many pairs only those near the top are sorted.
  const least = Math.max(keys.slice().sort().at(-most) ?? 0, Number.MIN_VALUE);
  const top = [...pairs.keys()].filter((n) => keys[n] >= least).sort((a, b) => keys[b] - keys[a]);
  return top.slice(0, most).map((n) => pairs[n]);
}

/**
 * Claims that two runs judged, matched by their text within a sample. A generator, as details are parsed.
 * @returns {Generator<void, {pairs: {i: number, claim: string, from: number, to: number}[], alone: [number, number]}>}
 *   levels by number; `alone` counts the claims that one run alone has
 */
export function* claimPairs(report, samples, before, after, levels) {
  const pairs = [];
  const alone = [0, 0];
  for (const [n, i] of samples.entries()) {
    const runs = report.detail(i)?.runs ?? {};
    const [one, two] = [before, after].map(({ name }) => levelsOf(runs[name]?.claims ?? [], levels));
    for (const [claim, from] of one) {
      if (two.has(claim)) pairs.push({ i, claim, from, to: two.get(claim) });
      else alone[0] += 1;
    }
    alone[1] += [...two.keys()].filter((claim) => !one.has(claim)).length;
    if (n % 50 === 49) yield;
  }
  return { pairs, alone };
}

const levelsOf = (claims, levels) =>
  new Map(claims.filter(({ verdict }) => verdict).map(({ claim, verdict }) => [claim, levels.indexOf(verdict)]));
