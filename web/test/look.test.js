import assert from "node:assert/strict";
import test from "node:test";
import { counts } from "../src/chart.js";
import { ReportData } from "../src/data.js";
import { Looks, averages } from "../src/look.js";
import { claimPairs, decisions, meet, mostDifferent, paired } from "../src/pairs.js";

const SCHEMES = { default: [1, 0.9, 0.7, 0.3, 0], linear: [1, 0.75, 0.5, 0.25, 0] };
const RUN = {
  name: "run", judges: ["c by j"],
  settings: {
    temperature: 0.5, threshold: 0.5, weights: SCHEMES.default, penalty: "paper", eps: 1e-9, floor: "paper",
    bounds: { p_min: -8, p_max: 12.25, t_min: 0.1, t_max: 1 }, fuse_weights: null, on_unscored: null,
  },
  rows: [[[2, 0, 0, 0, 0]], [[4, 0, 0, 0, 1]], [[0, 0, 0, 0, 2]]],
  row: [0, 1, 2, -1, 1],
  unscored: [[3, "refusal: it declines", null]],
  whole: { row: [1, -1, -2], unscored: [[1, "judge_error: turn 2", null]] },
};
const METHOD = { name: "m", about: "", scale: [0, 1], threshold: 0.5, scores: [0.2, 1, 0, 1, null], unscored: [[4, "timeout"]] };
const FIGURES = { schemes: SCHEMES, penalties: ["paper", "ramped", "absolute", "off"] };
const looks = new Looks({ figures: FIGURES, methods: [METHOD, { ...METHOD, name: "none", scores: [null, null, null, 1, null] }] });

test("scores, decisions and reasons at a temperature", () => {
  const look = looks.at(RUN, {});
  assert.deepEqual([...look.scores], [1, 0.64, 0, NaN, 0.64]);
  assert.deepEqual(RUN.row.map((_, i) => look.passed(i)), [true, true, false, null, true]);
  assert.deepEqual([look.unscored(3), look.unscored(0), looks.methods[0].unscored(4)], ["refusal: it declines", null, "timeout"]);
  assert.deepEqual([0, 2, 3].map((i) => looks.passesFrom(look, i)), [0.1, null, null]);
  assert.equal(looks.at(RUN, { temperature: 0.2 }).passed(1), false);
  assert.deepEqual(averages(look), { n: 4, passed: 3, mean: (1 + 0.64 + 0.64) / 4, passRate: 0.75 });
});

test("conversations have the scores of their own rows", () => {
  const { whole } = looks.at(RUN, { temperature: 0.2 });
  assert.deepEqual([whole.scores.length, whole.scores[0], whole.passed(0)], [3, looks.at(RUN, { temperature: 0.2 }).scores[1], false]);
  assert.deepEqual([1, 2].map((k) => [whole.scores[k], whole.unscored(k), whole.scoreOf(k)]), [[NaN, "judge_error: turn 2", null], [NaN, "not in this run", null]]);
  assert.equal(looks.passesFrom(whole, 0), looks.passesFrom(looks.at(RUN, {}), 1));
});

test("rows behind those of the samples are those of conversations", () => {
  const run = { name: "run", row: [0, -1, 2, -1], unscored: [[1, "refusal", false], [3, "timeout", true]] };
  const samples = { ids: ["a/1", "a/2"], conversations: [["a", [0, 1]], ["b", []]] };
  const report = new ReportData({ runs: [run], methods: [], faults: [], samples }, () => "");
  assert.deepEqual(report.runs[0], { name: "run", row: [0, -1], unscored: [[1, "refusal", false]], whole: { row: [2, -1], unscored: [[1, "timeout", true]] } });
  assert.deepEqual([report.turn(1), report.turn(2)], [{ k: 0, n: 1, turns: [0, 1] }, undefined]);
});

test("what an address makes up is not followed", () => {
  const { settings } = looks.at(RUN, { temperature: 7, threshold: -1, penalty: "none", scheme: "toString" });
  assert.deepEqual(settings, RUN.settings);
});

test("a threshold moves the curve's pass rate and not its mean", () => {
  const [mild, hard] = [0.5, 0.9].map((threshold) => looks.curve(looks.at(RUN, { threshold })));
  assert.equal(mild.length, 91);
  assert.deepEqual(mild.map(({ mean }) => mean), hard.map(({ mean }) => mean));
  assert.deepEqual([mild, hard].map((curve) => curve.find(({ temperature }) => temperature === 0.5).passRate), [0.75, 0.25]);
});

test("two side by side", () => {
  const both = [looks.at(RUN, {}), looks.methods[0]];
  const { both: found, alone } = paired(...both);
  assert.deepEqual(alone, [[4], [3]]);
  assert.deepEqual(decisions(found), { both: 1, first: 1, second: 0, neither: 1 });
  assert.deepEqual(mostDifferent(found, both, 5).map(({ i }) => i), [0, 1]);
  assert.deepEqual(mostDifferent(found, both, 1).map(({ i }) => i), [0]);
  assert.deepEqual(looks.methods.map((each) => meet(both[0], each)), [true, false]);
});

test("claims are matched by their text, and those of one run alone are counted", () => {
  const claim = (text, verdict) => ({ claim: text, verdict });
  const details = [
    { runs: { a: { claims: [claim("x", "fully"), claim("y", "none"), claim("hi", null)] }, b: { claims: [claim("y", "minor"), claim("z", "none")] } } },
    null,
    { runs: { b: { claims: [claim("x", "fully")] } } },
  ];
  const steps = claimPairs({ detail: (i) => details[i] }, [0, 1, 2], { name: "a" }, { name: "b" }, ["fully", "mostly", "partial", "minor", "none"]);
  assert.deepEqual(steps.next(), { done: true, value: { pairs: [{ i: 0, claim: "y", from: 4, to: 3 }], alone: [1, 2] } });
});

test("a histogram counts every score once, the ends included", () => {
  assert.deepEqual(counts([0, 0.1, 0.3, NaN, 0.5, 1], [0, 1], 10), [1, 1, 0, 1, 0, 1, 0, 0, 0, 1]);
  assert.deepEqual(counts([1, 5], [1, 5], 2), [1, 1]);
});
