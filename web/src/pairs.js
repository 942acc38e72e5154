/** Two runs on the same samples. */

/**
 * Samples by what two runs have of them.
 * @param {import("./look.js").Look} before
 * @param {import("./look.js").Look} after
 */
export function compared(before, after) {
  const found = { both: [], onlyBefore: [], onlyAfter: [], gained: [], lost: [], same: 0 };
  before.scores.forEach((_, i) => {
    const [one, two] = [before.passed(i), after.passed(i)];
    if (one !== null && two !== null) {
      found.both.push(i);
      if (one === two) found.same += 1;
      else (two ? found.gained : found.lost).push(i);
    } else if (one !== null) found.onlyBefore.push(i);
    else if (two !== null) found.onlyAfter.push(i);
  });
  return found;
}

/**
 * Claims that two runs judged, matched by their text within a sample. A generator, as details are parsed.
 * @param {import("./data.js").ReportData} report
 * @param {number[]} samples
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
  new Map(
    claims.filter(({ verdict }) => verdict).map(({ claim, verdict }) => [claim, levels.indexOf(verdict)]),
  );
