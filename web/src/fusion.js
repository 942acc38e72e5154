// Scores of several judges made into one, as tcva_adapters/core/panel.py fuses them.
import { added, clip, rounded } from "./kernel.js";

const EPS = 1e-9;

/**
 * The weighted geometric mean of one sample's scores, NaN where the main judge has none.
 * @param {number[]} scores one per judge, the main judge's first; NaN where one has none
 * @param {number[]|null} weights one per judge; null for equal ones
 */
export function fused(scores, weights) {
  if (scores.length === 1 || Number.isNaN(scores[0])) return scores[0];
  const members = scores
    .map((value, i) => ({ value, share: weights === null ? 1 : weights[i] }))
    .filter(({ value, share }) => !Number.isNaN(value) && share > 0);
  if (members.length === 0) return NaN;
  // A fixed order of the summands: the order of the judges must not move the last bit.
  members.sort((a, b) => a.value - b.value || a.share - b.share);
  const all = added(members.map(({ share }) => share));
  const logs = members.map(({ value, share }) => (share / all) * Math.log(Math.max(value, EPS)));
  // A mean lies between its members; equal scores have exactly that score as their mean.
  return rounded(clip(Math.exp(added(logs)), members[0].value, members.at(-1).value));
}
