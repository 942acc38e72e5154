// Two methods on the same samples: decisions alike and different, and where they disagree most.
import { passes } from "./listing.js";
import { least } from "./nearest.js";

/**
 * A method's score in [0, 1] on its scale, 1 for the better end.
 * @param {object} method of the figures
 */
export function onUnit(method, score) {
  const [low, high] = method.scale;
  const share = (score - low) / (high - low);
  return method.higher_is_better === false ? 1 - share : share;
}

/**
 * @typedef {object} Pair
 * @property {number} i the sample
 * @property {number} tcva its score at the dial
 * @property {number} other the method's
 * @property {boolean} passed by TCVA
 * @property {boolean|null} otherPassed null where the method has no threshold
 */

/**
 * The samples that both have scored.
 * @returns {Pair[]}
 */
export function pairs(look, method) {
  const found = [];
  look.scores.forEach((tcva, i) => {
    const other = method.scores[i];
    if (Number.isNaN(tcva) || other === null || other === undefined) return;
    found.push({ i, tcva, other, passed: look.passed(i), otherPassed: passes(method, i) });
  });
  return found;
}

/** How many pairs each of the four combinations of decisions has. */
export function decisions(found) {
  const table = { both: 0, onlyTcva: 0, onlyOther: 0, neither: 0 };
  for (const { passed, otherPassed } of found) {
    if (otherPassed === null) continue;
    if (passed) table[otherPassed ? "both" : "onlyTcva"] += 1;
    else table[otherPassed ? "onlyOther" : "neither"] += 1;
  }
  const same = table.both + table.neither;
  return { ...table, same, decided: same + table.onlyTcva + table.onlyOther };
}

/** Pairs by their distance on a common scale, different decisions first. */
export function mostDifferent(found, method, most) {
  const apart = (pair) => Math.abs(pair.tcva - onUnit(method, pair.other));
  const differs = (pair) => Number(pair.otherPassed !== null && pair.passed !== pair.otherPassed);
  const unlike = found.filter((pair) => apart(pair) > 0);
  return least(unlike, (pair) => -2 * differs(pair) - apart(pair), most);
}
