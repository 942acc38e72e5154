import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import { bySample, passesFrom, prepared } from "../src/scoring.js";

/** A unit of the 12th digit, to which scores are rounded. */
const CLOSE = 1.001e-12;
// What the library makes of them; `PYTHON` names another interpreter.
const folder = new URL("../..", import.meta.url).pathname;
const options = { cwd: folder, env: { ...process.env, PYTHONPATH: folder }, maxBuffer: 2 ** 28, encoding: "utf8" };
const { temperatures, cases } = JSON.parse(execFileSync(process.env.PYTHON ?? "python3", ["web/test/scoring_cases.py"], options));
const thresholds = [0, 0.3, 0.5, 0.64, 0.7, 0.9, 1];

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

test("a row passes from the step on after which the library's scores do not fall below the threshold", () => {
  for (const { row, settings, scores } of cases.filter((each) => each.settings.bounds.p_min === -8)) {
    for (const threshold of thresholds) {
      const start = scores.findLastIndex((score) => !(score !== null && score >= threshold)) + 1;
      const found = passesFrom(prepared(row, settings), { ...settings, threshold });
      assert.equal(found, temperatures[start] ?? null, described({ row, settings }, threshold));
    }
  }
});

test("samples look their row up; refusals may count, failures never do", () => {
  const run = (given) => ({ row: [1, 0, -1, -1, -2], unscored: [[2, "refusal", given], [3, "judge_error", null]] });
  assert.deepEqual([...bySample(run(null), [0.25, 0.5])], [0.5, 0.25, NaN, NaN, NaN]);
  assert.deepEqual([...bySample(run(0), [0.25, 0.5])], [0.5, 0.25, 0, NaN, NaN]);
});
