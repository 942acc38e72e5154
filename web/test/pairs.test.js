import assert from "node:assert/strict";
import { test } from "node:test";
import { ratingSteps, shuffled } from "../src/label_order.js";
import { claimPairs, compared } from "../src/pairs.js";

const look = (scores) => ({ scores, passed: (i) => (Number.isNaN(scores[i]) ? null : scores[i] >= 0.5) });

test("samples are parted by what two runs have of them", () => {
  const found = compared(look([0.9, 0.2, NaN, 0.6, NaN]), look([0.4, 0.7, 0.5, NaN, NaN]));
  assert.deepEqual(found, { both: [0, 1], onlyBefore: [3], onlyAfter: [2], gained: [1], lost: [0], same: 0 });
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

test("a seed gives one order, and every sample stands in it", () => {
  const all = Array.from({ length: 50 }, (_, i) => i);
  assert.deepEqual(shuffled(all, 1), shuffled(all, 1));
  assert.notDeepEqual(shuffled(all, 1), shuffled(all, 2));
  assert.deepEqual(shuffled(all, 7).sort((a, b) => a - b), all);
  assert.equal(all[0], 0);
});

test("ratings have a key each, that of their number where there is one", () => {
  const shown = (scale) => ratingSteps(scale).map(({ value, key }) => `${key}=${value}`).join(" ");
  assert.equal(shown([0, 1]), "1=0 2=0.25 3=0.5 4=0.75 5=1");
  assert.equal(shown([1, 5]), "1=1 2=2 3=3 4=4 5=5");
  assert.equal(shown([0, 10]), "0=0 1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8 9=9 x=10");
  assert.equal(shown([0, 100]), "1=0 2=25 3=50 4=75 5=100");
});
