import assert from "node:assert/strict";
import test from "node:test";
import { bySample, flipTemperature, prepared } from "../src/scoring.js";
import { cases as printedBy } from "./python.js";

/** A unit of the 12th digit, to which scores are rounded. */
const CLOSE = 1.001e-12;
const { temperatures, thresholds, cases } = printedBy("scoring_cases.py");

function described({ row, settings }, temperature) {
  return `${JSON.stringify(row)} at ${temperature} with ${JSON.stringify(settings)}`;
}

test("scores are the library's, and so are decisions", () => {
  for (const each of cases) {
    const score = prepared(each.row, each.settings);
    temperatures.forEach((temperature, i) => {
      const [found, wanted] = [score(temperature), each.scores[i] ?? NaN];
      const about = described(each, temperature);
      assert.equal(Number.isNaN(found), Number.isNaN(wanted), about);
      if (Number.isNaN(wanted)) return;
      assert.ok(Math.abs(found - wanted) <= CLOSE, `${found} is not ${wanted}: ${about}`);
      thresholds.forEach((threshold) => {
        assert.equal(found >= threshold, wanted >= threshold, `threshold ${threshold}, ${about}`);
      });
    });
  }
});

test("temperatures from which a row passes are the library's", () => {
  for (const each of cases.filter(({ flips }) => flips)) {
    thresholds.forEach((threshold, i) => {
      const settings = { ...each.settings, threshold };
      const found = flipTemperature(prepared(each.row, settings), settings);
      const wanted = each.flips[i];
      const about = `${found} is not ${wanted}: threshold ${threshold}, ${described(each, "")}`;
      if (found === null || wanted === null) assert.equal(found, wanted, about);
      else assert.ok(Math.abs(found - wanted) <= 1e-9, about);
    });
  }
});

test("what cannot lie is exact: uniform rows, the arithmetic mean, 0 and 1", () => {
  for (const each of cases) {
    const isUniform = each.row.every((counts) => counts?.filter((count) => count > 0).length === 1);
    const isLinear = each.row.length === 1 && each.settings.penalty !== "ramped";
    const score = prepared(each.row, each.settings);
    temperatures.forEach((temperature, i) => {
      const wanted = each.scores[i];
      const arithmetic = temperature === 0.5 && isLinear && each.settings.bounds.p_min === -8;
      const isBound = wanted === 0 || wanted === 1;
      const isLevel = isUniform && each.row.length === 1 && each.row[0][4] === 0;
      if (wanted !== null && (arithmetic || isBound || isLevel)) {
        assert.equal(score(temperature), wanted, described(each, temperature));
      }
    });
  }
});

test("samples look their row up; refusals may count, failures never do", () => {
  const run = { row: [1, 0, -1, -1, -2], unscored: [[2, "refusal", false], [3, "judge_error", true]] };
  assert.deepEqual([...bySample(run, [0.25, 0.5], null)], [0.5, 0.25, NaN, NaN, NaN]);
  assert.deepEqual([...bySample(run, [0.25, 0.5], 0)], [0.5, 0.25, 0, NaN, NaN]);
});
