import assert from "node:assert/strict";
import { test } from "node:test";
import { citationsOf, citationText, markSpans, usesOf } from "../src/citations.js";

const said = (...citations) => ({ citations });

test("marks are found in their claim, each once and in order", () => {
  const text = "It is 5 [1][1]. It was 4 [1].";
  const places = [{ start: 0, end: 15, key: 0 }, { start: 16, end: 29, key: 1 }];
  const citations = citationsOf(said([0, ["[1]", "[1]"], [1], [1], "confirmed"], [1, ["[1]"], [1], [2], "elsewhere"]));
  const spans = markSpans(text, places, citations).map(({ start, end, key }) => [start, end, key.outcome]);
  assert.deepEqual(spans, [[8, 11, "confirmed"], [11, 14, "confirmed"], [25, 28, "elsewhere"]]);
});

test("a mark that does not stand in its claim is marked nowhere", () => {
  const citations = citationsOf(said([0, ["[2]"], [2], [], "unconfirmed"], [1, ["[1]"], [1], [], "unconfirmed"]));
  assert.deepEqual(markSpans("It is. So [2].", [{ start: 0, end: 6, key: 0 }], citations), []);
  assert.deepEqual(markSpans("It is.", [], citations), []);
  assert.deepEqual(citationsOf(undefined), []);
});

test("an outcome names the contexts", () => {
  const [one, two, three] = citationsOf(said([0, ["[2]"], [2], [1, 4], "elsewhere"], [1, ["[2]"], [2], [2, 3], "confirmed"], [2, ["[1-3]"], [1, 2, 3], [1, 2], "confirmed"]));
  assert.equal(citationText(three), "confirmed: contexts 1, 2 hold the quote, context 3 does not");
  assert.equal(citationText(one), "elsewhere: the quote stands in contexts 1, 4, not in context 2");
  assert.equal(citationText(two), "confirmed: context 2 holds the quote");
});

test("claims rest on contexts only where all contexts are known", () => {
  const judged = { passages: [["doc-1", [0]], [null, []]] };
  assert.deepEqual(usesOf(judged, ["a", "b"]), [{ id: "doc-1", claims: [0] }, { id: null, claims: [] }]);
  assert.equal(usesOf(judged, ["a"]), null);
  assert.equal(usesOf({}, ["a"]), null);
});
