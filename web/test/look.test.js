import assert from "node:assert/strict";
import test from "node:test";
import { decisions, mostDifferent, pairs } from "../src/beside.js";
import { counts } from "../src/histogram.js";
import { Looks } from "../src/look.js";
import { least } from "../src/nearest.js";

const SCHEMES = { default: [1, 0.9, 0.7, 0.3, 0], linear: [1, 0.75, 0.5, 0.25, 0] };
const RUN = {
  name: "run",
  settings: {
    temperature: 0.5, threshold: 0.5, weights: SCHEMES.default, penalty: "paper", eps: 1e-9, floor: "paper",
    bounds: { p_min: -8, p_max: 12.25, t_min: 0.1, t_max: 1 }, fuse_weights: null,
    on_unscored: null,
  },
  rows: [[[2, 0, 0, 0, 0]], [[4, 0, 0, 0, 1]], [[0, 0, 0, 0, 2]]],
  row: [0, 1, 2, -1, 1],
  unscored: [[3, "refusal: it declines", false]],
};
const looks = new Looks({ figures: { schemes: SCHEMES, penalties: ["paper", "ramped", "absolute", "off"] } });
const METHOD = { scale: [0, 1], threshold: 0.5, scores: [0.2, 1, 0, 1, null], higher_is_better: true };

test("scores, decisions and flips at the dial", () => {
  const look = looks.at(RUN, {});
  assert.deepEqual([...look.scores], [1, 0.64, 0, NaN, 0.64]);
  assert.deepEqual(RUN.row.map((_, i) => look.passed(i)), [true, true, false, null, true]);
  assert.equal(looks.flipOf(look, 0), 0.1);
  assert.equal(looks.flipOf(look, 2), null);
  assert.equal(looks.at(RUN, { temperature: 0.2 }).passed(1), false);
});

test("what an address makes up is not followed", () => {
  const { settings } = looks.at(RUN, { temperature: 7, threshold: -1, penalty: "none", scheme: "toString" });
  assert.deepEqual(settings, RUN.settings);
});

test("a threshold moves the curve's pass rate and not its mean", () => {
  const [mild, hard] = [{ threshold: 0.5 }, { threshold: 0.9 }].map((dial) => looks.curve(looks.at(RUN, dial)));
  assert.equal(mild.length, 91);
  assert.deepEqual(mild.map(({ mean }) => mean), hard.map(({ mean }) => mean));
  const at = (curve) => curve.find(({ temperature }) => temperature === 0.5).passRate;
  assert.deepEqual([at(mild), at(hard)], [0.75, 0.25]);
});

test("two methods side by side", () => {
  const found = pairs(looks.at(RUN, {}), METHOD);
  assert.deepEqual(decisions(found), { both: 1, onlyTcva: 1, onlyOther: 0, neither: 1, same: 2, decided: 3 });
  assert.deepEqual(mostDifferent(found, METHOD, 2).map(({ i }) => i), [0, 1]);
});

test("a histogram counts every score once, the ends included", () => {
  assert.deepEqual(counts([0, 0.1, 0.3, 0.5, 1], [0, 1], 10), [1, 1, 0, 1, 0, 1, 0, 0, 0, 1]);
  assert.deepEqual(counts([1, 5], [1, 5], 2), [1, 1]);
});

test("the least few of many, infinite ones last", () => {
  assert.deepEqual(least([5, 1, 4, 2], (item) => item, 2), [1, 2]);
  assert.deepEqual(least([Infinity, 3, Infinity], (item) => item, 5), [3, Infinity, Infinity]);
});
