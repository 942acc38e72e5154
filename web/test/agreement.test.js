import assert from "node:assert/strict";
import { test } from "node:test";
import { jackknife, rankInterval, sameShare, shareInterval, spearman, weightedKappa } from "../src/agreement.js";
import { fromText, toCsv, toJsonl } from "../src/labels_export.js";
import { cases } from "./python.js";

const CASES = cases("agreement_cases.py");
const LEVELS = ["fully", "mostly", "partial", "minor", "none"];

function near(found, wanted) {
  for (const [i, each] of [wanted].flat().entries()) {
    assert.ok(Math.abs([found].flat()[i] - each) <= 1e-12, `${found} is not ${wanted}`);
  }
}

test("kappa, exact share and their jackknife are the library's", () => {
  for (const { answers, kappa, same, interval } of CASES.claims) {
    near(weightedKappa(answers.flat()), kappa);
    near(sameShare(answers.flat()), same);
    near(jackknife(answers, weightedKappa, CASES.z, [-1, 1]), interval);
  }
});

test("rank correlation and its interval are scipy's", () => {
  for (const { scores, human, r, interval } of CASES.ratings) {
    near(spearman(scores, human), r);
    near(rankInterval(r, scores.length, CASES.z), interval);
  }
});

test("the exact interval of a share is scipy's", () => {
  for (const { hits, n, interval } of CASES.shares) near(shareInterval(hits, n, 0.95), interval);
});

test("nothing is claimed of few labels or of constant ones", () => {
  assert.equal(shareInterval(9, 9, 0.95), null);
  assert.equal(rankInterval(0.5, 9, 1.96), null);
  assert.equal(rankInterval(1, 20, 1.96), null);
  assert.equal(jackknife([[[0, 1]]], weightedKappa, 1.96, [-1, 1]), null);
  assert.ok(Number.isNaN(weightedKappa([[2, 2], [2, 2]])));
  assert.ok(Number.isNaN(weightedKappa([])));
  assert.ok(Number.isNaN(spearman([1, 2, 3], [4, 4, 4])));
  assert.ok(Number.isNaN(spearman([], [])));
});

test("what a spreadsheet would run is written as the library writes it, and read back", () => {
  for (const [text, safe] of CASES.cells) {
    const csv = toCsv(new Map([[text, { human: 0.5 }]]));
    const quoted = /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    assert.equal(csv, `id,human\r\n${quoted},0.5\r\n`);
    assert.deepEqual([...fromText(csv, LEVELS).labels], [[text, { human: 0.5 }]]);
  }
});

test("labels come back from both kinds of file", () => {
  const labels = new Map([
    ["a,b", { human: 1 }],
    ['"', { claims: [{ claim: "It is\nso.", label: "minor" }] }],
    ["both", { human: 4.5, claims: [{ claim: "x", label: "fully" }] }],
  ]);
  assert.deepEqual(fromText(toJsonl(labels), LEVELS), { labels, bad: [] });
  const rated = [...labels].filter(([, { human }]) => human !== undefined).map(([id, { human }]) => [id, { human }]);
  assert.deepEqual([...fromText(toCsv(labels), LEVELS).labels], rated);
});

test("lines that are no labels are said and left out", () => {
  const found = fromText('{"id": "a", "human": 1}\n{"id": 3}\nnonsense\n{"id": "b", "claims": [{"claim": "x", "label": "so"}]}\n{"id": "c", "human": "high"}\n', LEVELS);
  assert.deepEqual([...found.labels.keys()], ["a"]);
  assert.equal(found.bad.length, 4);
  assert.match(found.bad[0], /^Line 2: there is no id/);
  assert.deepEqual(fromText("id;human\na;1\n", LEVELS).bad, ["Line 1: a label file has the columns id and human."]);
  const csv = fromText("\ufeffid,human,note\r\na,high,\r\nb,,\r\nc,2,x", LEVELS);
  assert.deepEqual([...csv.labels], [["c", { human: 2 }]]);
  assert.deepEqual(csv.bad, ['Row 2: "high" is no rating.']);
});
