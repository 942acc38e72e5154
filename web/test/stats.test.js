import assert from "node:assert/strict";
import test from "node:test";
import { meanBetween, meanInterval, studentQuantile } from "../src/stats.js";
import { cases } from "./python.js";

const { quantiles, means, between } = cases("stats_cases.py");

test("quantiles of Student's t are scipy's", () => {
  for (const [probability, freedom, wanted] of quantiles) {
    const found = studentQuantile(probability, freedom);
    assert.ok(Math.abs(found / wanted - 1) <= 1e-12, `${found} is not ${wanted} at ${freedom}`);
  }
});

test("means and their intervals are the library's", () => {
  for (const { scores, ...wanted } of means) {
    const found = meanInterval(scores, 0.95);
    for (const [name, value] of Object.entries(wanted)) {
      assert.ok(Math.abs(found[name] - value) <= 1e-12, `${name}: ${found[name]} is not ${value}`);
    }
  }
});

test("means between two ends have the library's interval, of single samples and of groups", () => {
  for (const { values, ends, codes, interval } of between) {
    const found = meanBetween(values, ends, 0.95, codes);
    for (const k of [0, 1]) {
      const apart = Math.abs(found[k] - interval[k]) / (ends[1] - ends[0]);
      assert.ok(apart <= 1e-7, `${found[k]} is not ${interval[k]}: ${values.length} values, ${codes ? "groups" : "alone"}`);
    }
    if (codes && values.length >= 10) assert.deepEqual(meanInterval(values, 0.95, codes, ends).low, found[0]);
  }
});

test("few scores have a mean and no interval, nor have equal ones; none has neither", () => {
  assert.deepEqual(meanInterval([0.25], 0.95), { n: 1, mean: 0.25, low: null, high: null });
  const same = meanInterval(new Array(20).fill(0.1), 0.95);
  assert.deepEqual([same.low, same.high], [null, null]);
  assert.ok(Number.isNaN(meanInterval([], 0.95).mean));
});
