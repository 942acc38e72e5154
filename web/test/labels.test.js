import assert from "node:assert/strict";
import { test } from "node:test";
import { shuffled } from "../src/label.js";
import { levelSteps, ratingSteps } from "../src/label_item.js";
import { LabelStore } from "../src/labels.js";

const IDS = ["a", "b", "c"];
const LEVELS = ["fully", "mostly", "partial", "minor", "none"];
const REPORT = { figures: { title: "t", levels: LEVELS }, samples: { ids: IDS }, indexOf: (id) => IDS.indexOf(id) };

/** What a browser offers, as far as it is used. */
function storage({ full = false } = {}) {
  const values = new Map();
  const setItem = (key, value) => {
    if (full) throw new Error("quota");
    values.set(key, value);
  };
  return { getItem: (key) => values.get(key) ?? null, setItem };
}

test("labels outlive the page where the browser keeps something", () => {
  const kept = storage();
  const store = new LabelStore(REPORT, kept);
  store.rate("a", 0.5);
  store.mark("a", "It is so.", "minor");
  store.mark("a", "It is so.", "none");
  const again = new LabelStore(REPORT, kept);
  assert.equal(again.rating("a"), 0.5);
  assert.equal(again.level("a", "It is so."), "none");
  assert.equal(new LabelStore({ ...REPORT, samples: { ids: ["a"] } }, kept).labels.size, 0);
  const other = new LabelStore(REPORT, kept, "correctness");
  assert.equal(other.labels.size, 0);
  other.mark("a", "It is so.", "fully");
  assert.equal(new LabelStore(REPORT, kept).level("a", "It is so."), "none");
  assert.equal(new LabelStore(REPORT, kept, "correctness").level("a", "It is so."), "fully");
  for (const poor of [null, storage({ full: true })]) {
    const page = new LabelStore(REPORT, poor);
    page.rate("b", 1);
    assert.deepEqual([page.rating("b"), page.isKept, page.unsaved], [1, false, true]);
  }
  assert.equal(new LabelStore(REPORT, { getItem: () => "{nonsense", setItem: () => {} }).labels.size, 0);
});

test("labels are taken back one by one, and nothing stays of an empty one", () => {
  const store = new LabelStore(REPORT, null);
  store.rate("a", 0);
  store.mark("a", "x", "fully");
  assert.equal(store.undo(({ id, claim }) => `${id} ${claim}`), "a x");
  assert.deepEqual([...store.labels], [["a", { human: 0 }]]);
  store.rate("a", undefined);
  assert.equal(store.labels.size, 0);
  assert.deepEqual([store.undo(), store.rating("a"), store.undo(), store.undo()], [true, 0, true, null]);
});

test("only what has a place is taken back, and no label that came after it", () => {
  const store = new LabelStore(REPORT, null);
  store.mark("a", "x", "fully");
  store.mark("a", "x", "none");
  store.mark("a", "y", "minor");
  store.rate("a", 1);
  assert.equal(store.undo(({ claim }) => claim === "x"), true);
  assert.deepEqual([store.level("a", "x"), store.level("a", "y"), store.rating("a")], ["fully", "minor", 1]);
  assert.equal(store.undo(() => null), null);
});

test("an export is what the library reads, and comes back", () => {
  const store = new LabelStore(REPORT, null);
  store.rate("a", 0.25);
  store.mark("b", "It is so.", "minor");
  store.mark("c", "Half of it.", "none");
  const claims = store.toJsonl("claims", (id) => id === "b", 0.3);
  assert.equal(claims, '{"id":"b","claims":[{"claim":"It is so.","verdict":"minor"}],"temperature":0.3}\n');
  const answers = store.toJsonl("answers", (id) => store.rating(id) !== undefined);
  assert.equal(answers, '{"id":"a","human":0.25}\n');
  const other = new LabelStore(REPORT, null);
  assert.deepEqual(other.read(claims + answers, [0, 1]), ["2 read."]);
  assert.deepEqual([other.level("b", "It is so."), other.rating("a")], ["minor", 0.25]);
  const said = other.read('{"id":"z"}\n{"id":"a","human":7}\nno\n{"id":"b","claims":[{"claim":"x","verdict":"so"}]}', [0, 1]);
  assert.deepEqual([said.length, said[0], other.labels.size], [5, "0 read.", 2]);
});

test("a sentence that claims nothing has the label null, which is no missing one", () => {
  const store = new LabelStore(REPORT, null);
  store.mark("a", "Hello!", null);
  store.mark("a", "It is so.", "fully");
  assert.deepEqual([store.level("a", "Hello!"), store.level("a", "Else.")], [null, undefined]);
  const text = store.toJsonl("claims", () => true, 0.5);
  assert.equal(text, '{"id":"a","claims":[{"claim":"Hello!","verdict":null},{"claim":"It is so.","verdict":"fully"}],"temperature":0.5}\n');
  const other = new LabelStore(REPORT, null);
  assert.deepEqual([other.read(text, [0, 1]), other.level("a", "Hello!")], [["1 read."], null]);
  store.mark("a", "Hello!", undefined);
  assert.equal(store.level("a", "Hello!"), undefined);
  assert.deepEqual([store.undo(), store.level("a", "Hello!")], [true, null]);
});

test("a higher key is the better label, among levels as among ratings", () => {
  const shown = (steps) => steps.map(({ value, key }) => `${key}=${value}`).join(" ");
  assert.equal(shown(levelSteps(LEVELS)), "1=none 2=minor 3=partial 4=mostly 5=fully");
  assert.equal(shown(ratingSteps([0, 1])), "1=0 2=0.25 3=0.5 4=0.75 5=1");
  assert.equal(shown(ratingSteps([1, 5])), "1=1 2=2 3=3 4=4 5=5");
  assert.equal(shown(ratingSteps([0, 10])), "0=0 1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8 9=9 x=10");
});

test("a seed gives one order, and every sample stands in it", () => {
  const all = Array.from({ length: 50 }, (_, i) => i);
  assert.deepEqual(shuffled(all, 1), shuffled(all, 1));
  assert.notDeepEqual(shuffled(all, 1), shuffled(all, 2));
  assert.deepEqual(shuffled(all, 7).sort((a, b) => a - b), all);
});
