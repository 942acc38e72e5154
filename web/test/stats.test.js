import assert from "node:assert/strict";
import test from "node:test";
import { meanInterval, studentQuantile } from "../src/stats.js";
import { cases } from "./python.js";

const { quantiles, means } = cases("stats_cases.py");

test("quantiles of Student's t are scipy's", () => {
  for (const [probability, freedom, wanted] of quantiles) {
    const found = studentQuantile(probability, freedom);
    assert.ok(Math.abs(found / wanted - 1) <= 1e-12, `${found} is not ${wanted} at ${freedom}`);
  }
});

test("means and their intervals are the library's", () => {
  for (const { scores, ends, ...wanted } of means) {
    const found = meanInterval(scores, 0.95, ends);
    for (const [name, value] of Object.entries(wanted)) {
      if (value === null) assert.equal(found[name], null);
      else assert.ok(Math.abs(found[name] - value) <= 1e-12, `${name}: ${found[name]} is not ${value}`);
    }
  }
});

test("few scores have a mean and no interval, nor have equal ones; none has neither", () => {
  assert.deepEqual(meanInterval([0.25], 0.95), { n: 1, mean: 0.25, low: null, high: null });
  const same = meanInterval(new Array(20).fill(0.1), 0.95);
  assert.deepEqual([same.low, same.high], [null, null]);
  assert.ok(Number.isNaN(meanInterval([], 0.95).mean));
});
