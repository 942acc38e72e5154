import assert from "node:assert/strict";
import { test } from "node:test";
import { between, find, findIn, pieces, searchable, stays } from "../src/evidence.js";
import { brief, visible } from "../src/text.js";

const TEXT = "Opening hours.\nThe  office opens at NINE, and closes at five; on Sundays it stays closed.";
const cut = (text, quote) => find(searchable(text), quote)?.map(({ start, end }) => text.slice(start, end)) ?? null;

test("a quote is found by its words, as a whole or in parts, and never within a word", () => {
  assert.deepEqual(cut(TEXT, "closes at five"), ["closes at five"]);
  assert.deepEqual(cut(TEXT, " the office opens at nine and closes "), ["The  office opens at NINE, and closes"]);
  assert.deepEqual(cut(TEXT, "it stays closed."), ["it stays closed."]);
  assert.deepEqual(cut(TEXT, "it stays closed!"), ["it stays closed"]);
  assert.deepEqual(cut(TEXT, "The office … it stays closed"), ["The  office", "it stays closed"]);
  assert.equal(cut(TEXT, "The office ... stays open"), null);
  assert.equal(cut(TEXT, "fice opens"), null);
  assert.equal(cut(TEXT, ""), null);
  assert.equal(cut(TEXT, "?! …"), null);
  assert.equal(cut("", "nine"), null);
});

test("words are those of any script", () => {
  assert.deepEqual(cut("办公室九点开门，周日关闭。", "周日 关闭"), ["周日关闭"]);
  assert.equal(cut("Größe: 5 ㎏", "GRÖSSE"), null);
  assert.deepEqual(cut("ﬁne Straße", "FINE straße"), ["ﬁne Straße"]);
  assert.deepEqual(cut("a 🎉 b\u0301c", "A b\u0301C"), ["a 🎉 b\u0301c"]);
});

test("the context that the judge named comes first, then the others", () => {
  const passages = ["one two", "one two three", "one"].map(searchable);
  assert.equal(findIn(passages, "one two", 2).passage, 1);
  assert.equal(findIn(passages, "one two three", 1).passage, 1);
  assert.equal(findIn(passages, "one", 9).passage, 0);
  assert.equal(findIn(passages, "four", null), null);
  assert.equal(findIn([], "four", 1), null);
});

test("pieces hold the whole text, each with the marks that cover it", () => {
  const found = pieces("abcdef", [{ start: 1, end: 4, key: 0 }, { start: 3, end: 5, key: 1 }]);
  assert.deepEqual(found, [
    { text: "a", keys: [], ends: [] },
    { text: "bc", keys: [0], ends: [] },
    { text: "d", keys: [0, 1], ends: [0] },
    { text: "e", keys: [1], ends: [1] },
    { text: "f", keys: [], ends: [] },
  ]);
  assert.deepEqual(pieces("", []), []);
});

test("what a page would obey or hide is written out", () => {
  assert.equal(visible("a\x1b[2Jb\rc\u202ed\ud800e\u200bf\0"), "a\\x1b[2Jb\\x0dc\\u202ed\\ud800e\\u200bf\\x00");
  assert.equal(visible("line\n\ttab é 🎉 👩‍👩‍👧 क्‍ष"), "line\n\ttab é 🎉 👩‍👩‍👧 क्‍ष");
  assert.equal(visible("a\u200db"), "a\\u200db");
  assert.equal(visible(`Z${"\u0335".repeat(400)}`), "Z\u0335\u0335\u0335…");
  assert.equal(visible("nine\u{e0073}"), "nine\\u{e0073}");
  assert.equal(brief("a \n b".repeat(100), 6), "a ba …");
  assert.equal(brief("short"), "short");
});

test("what lies between the spans that are left is gone, and only that", () => {
  const text = "Prices:\n- 5\n- 9\n";
  assert.deepEqual(between(text, [[0, 7], [11, 16]]), [{ start: 7, end: 11 }]);
  assert.deepEqual(between(text, [[0, 7], [7, 16]]), []);
  assert.deepEqual(between(text, [[4, 7]]), [{ start: 0, end: 4 }, { start: 7, end: 16 }]);
  assert.deepEqual(between(text, []), [{ start: 0, end: 16 }]);
  assert.deepEqual(between("", []), []);
});

test("offsets of the library are those of the page, whatever stands before them", () => {
  const text = "🎉 It is so. Not so 👩‍👧.";
  const at = (part) => [...text.slice(0, text.indexOf(part))].length;
  const [second, end] = [at("Not"), [...text].length];
  const served = stays(text, { left: [[0, second - 1]], parts: [[0, second - 1, true, false], [second, end, false, true]] });
  assert.deepEqual(served.left.map(([from, to]) => text.slice(from, to)), ["🎉 It is so."]);
  assert.deepEqual(served.parts.map((part) => [text.slice(part.start, part.end), part.stays, part.isOrphan]), [["🎉 It is so.", true, false], ["Not so 👩‍👧.", false, true]]);
  assert.equal(stays(text, null), null);
});
