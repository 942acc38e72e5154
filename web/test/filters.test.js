import assert from "node:assert/strict";
import { test } from "node:test";
import { EVERYTHING, fitting, inTexts, sorted } from "../src/filters.js";

const SCORES = [0.9, 0.2, NaN, 0.5];
const LISTED = {
  ids: ["case-10", "case-2", "case-3", "Other (1)"],
  questions: ["When?", "Where is it?", "", "When not?"],
  score: (i) => SCORES[i],
  passed: (i) => (Number.isNaN(SCORES[i]) ? null : SCORES[i] >= 0.5),
  unscored: (i) => (i === 2 ? "refusal: the text is a refusal" : null),
  different: (i, name) => i === 3 && name !== "same",
  has: (i, level) => level === "none" && i === 1,
  groups: { domain: ["a", "b", "a", "b"] },
};
const fit = (filters, found) => fitting(LISTED, { ...EVERYTHING, ...filters }, found);

test("filters keep what fits, all of them together", () => {
  assert.deepEqual(fit({}), [0, 1, 2, 3]);
  assert.deepEqual(fit({ outcome: "failed" }), [1]);
  assert.deepEqual(fit({ outcome: "passed" }), [0, 3]);
  assert.deepEqual(fit({ outcome: "unscored" }), [2]);
  assert.deepEqual(fit({ outcome: "unscored:refusal" }), [2]);
  assert.deepEqual(fit({ outcome: "unscored:timeout" }), []);
  assert.deepEqual(fit({ level: "none" }), [1]);
  assert.deepEqual([fit({ scores: "0.2,0.5" }), fit({ scores: "0.5," }), fit({ scores: "x" })], [[1], [0, 3], [0, 1, 2, 3]]);
  assert.deepEqual(fit({ different: "*" }), [3]);
  assert.deepEqual(fit({ different: "same" }), []);
  assert.deepEqual(fit({ level: "none" }), [1]);
  assert.deepEqual(fit({ groups: { domain: "b" }, outcome: "passed" }), [3]);
  assert.deepEqual(fit({ groups: { domain: "", gone: "x" } }), [0, 1, 2, 3]);
});

test("a search looks at ids, questions and what was found in texts, and is no expression", () => {
  assert.deepEqual(fit({ search: " when " }), [0, 3]);
  assert.deepEqual(fit({ search: "r (1)" }), [3]);
  assert.deepEqual(fit({ search: "zzz" }, new Set([2])), [2]);
  assert.deepEqual(fit({ search: ".*" }), []);
});

test("sorting is stable, by the numbers within ids, and leaves what has no value behind", () => {
  const all = [0, 1, 2, 3];
  assert.deepEqual(sorted(all, (i) => SCORES[i]), [1, 3, 0, 2]);
  assert.deepEqual(sorted(all, (i) => SCORES[i], true), [0, 3, 1, 2]);
  assert.deepEqual(sorted(all, (i) => LISTED.ids[i]), [1, 2, 0, 3]);
  assert.deepEqual(sorted(all, () => 1, true), all);
});

test("texts are searched, not the names of their fields, and lines are parsed only where it helps", () => {
  const lines = ['{"response":"It says \\"no\\" & a\\u003cb","claims":[{"verdict":"none"}]}', '{"response":"Größe"}', null, "not JSON"];
  const search = (sought) => {
    const steps = inTexts(sought, 4, (i) => lines[i] ?? "");
    for (let step = steps.next(); ; step = steps.next()) if (step.done) return [...step.value];
  };
  assert.deepEqual(search('"NO"'), [0]);
  assert.deepEqual(search("a<b"), [0]);
  assert.deepEqual(search("größe"), [1]);
  assert.deepEqual(search("response"), []);
  assert.deepEqual(search("[a-z]+"), []);
});
