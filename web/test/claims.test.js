import assert from "node:assert/strict";
import test from "node:test";
import { guilty, lightOf, weightOf, withoutEach } from "../src/claims.js";
import { Looks } from "../src/look.js";
import { worstOf } from "../src/worst.js";

const LEVELS = ["fully", "mostly", "partial", "minor", "none"];
const FIGURES = { levels: LEVELS, schemes: { default: [1, 0.9, 0.7, 0.3, 0] }, penalties: ["paper", "off"] };
const RUN = {
  name: "run", judges: ["c by j"],
  settings: {
    temperature: 0.5, threshold: 0.5, weights: FIGURES.schemes.default, penalty: "paper", eps: 1e-9, floor: "paper",
    bounds: { p_min: -8, p_max: 12.25, t_min: 0.1, t_max: 1 }, fuse_weights: null, on_unscored: null,
  },
  rows: [[[2, 0, 0, 0, 1]], [[0, 0, 0, 0, 2]], [[0, 0, 0, 0, 1]], [[1, 0, 0, 0, 0]]],
  row: [0, 1, 2, 3, -1],
  levels: ["004", "44", "4", "0", ""],
  unscored: [[4, "refusal", null]],
  whole: { row: [], unscored: [] },
};
const CLAIMS = ["fully", null, "none", "fully"].map((verdict) => ({ claim: "It is so.", verdict }));
const look = new Looks({ figures: FIGURES, methods: [] }).at(RUN, {});

test("the claims to blame are those of least weight, each with its number", () => {
  const soft = { claim: "Perhaps.", verdict: "minor", probabilities: [0, 0, 0.5, 0.5, 0] };
  assert.equal(weightOf(soft, LEVELS, RUN.settings.weights), 0.5);
  const found = guilty({ report: { figures: FIGURES } }, look, [soft, ...CLAIMS]);
  assert.deepEqual(found.map(({ n, level }) => [n, level]), [[3, 4], [0, 3]]);
});

test("a score without a claim is that of the others", () => {
  const scores = withoutEach(look, 0, CLAIMS, LEVELS)(0.5);
  assert.deepEqual(scores, [0.25, null, 1, 0.25]);
  assert.equal(withoutEach(look, 1, CLAIMS, LEVELS), null); // the row is made of something else
});

test("at a low temperature the worst claims decide, at a high one the best", () => {
  const lights = (temperature) => lightOf({ settings: { ...RUN.settings, temperature } }, CLAIMS, LEVELS).map((light) => Math.round(light));
  assert.deepEqual(lights(0.1), [0, 0, 1, 0]);
  assert.deepEqual(lights(0.9), [1, 0, 0, 1]);
});

test("of equal scores those with most claims of the lowest level come first", () => {
  const report = { samples: { line: [0, 1, 2, 3, 4] } };
  assert.deepEqual(worstOf({ report, main: look }, 3), [1, 2, 0]);
  assert.deepEqual(worstOf({ report, main: look }), [1, 2, 0, 3]);
});
