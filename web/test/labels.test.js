import assert from "node:assert/strict";
import { test } from "node:test";
import { LabelStore } from "../src/labels.js";
import { toJsonl } from "../src/labels_export.js";

const IDS = ["a", "b", "c"];
const REPORT = {
  figures: { title: "t", levels: ["fully", "mostly", "partial", "minor", "none"] },
  samples: { ids: IDS },
  indexOf: (id) => IDS.indexOf(id),
};

/** What a browser offers, as far as it is used. */
function storage({ full = false } = {}) {
  const values = new Map();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => {
      if (full) throw new Error("quota");
      values.set(key, value);
    },
  };
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
  assert.equal(again.level("a", "It is not."), undefined);
  assert.equal(new LabelStore({ ...REPORT, samples: { ids: ["a"] } }, kept).labels.size, 0);
});

test("without storage, or with a full one, the page has them and says so", () => {
  for (const kept of [null, storage({ full: true })]) {
    const store = new LabelStore(REPORT, kept);
    store.rate("b", 1);
    assert.equal(store.rating("b"), 1);
    assert.equal(store.isKept, false);
    assert.equal(store.unsaved, true);
  }
});

test("what another page wrote under the name is no label", () => {
  assert.equal(new LabelStore(REPORT, { getItem: () => "{nonsense", setItem: () => {} }).labels.size, 0);
});

test("labels are taken back one by one, and nothing stays of an empty one", () => {
  const store = new LabelStore(REPORT, null);
  store.rate("a", 0);
  store.mark("a", "x", "fully");
  assert.equal(store.undo(), true);
  assert.deepEqual([...store.labels], [["a", { human: 0 }]]);
  store.rate("a", undefined);
  assert.equal(store.labels.size, 0);
  store.undo();
  assert.equal(store.rating("a"), 0);
  store.undo();
  assert.equal(store.labels.size, 0);
  assert.equal(store.undo(), false);
});

test("an import joins what is there, and says what it leaves out", () => {
  const store = new LabelStore(REPORT, null);
  store.mark("a", "x", "fully");
  const labels = new Map([["a", { human: 1 }], ["z", { human: 1 }], ["b", { human: 7 }], ["c", { claims: [{ claim: "y", label: "none" }] }]]);
  const said = store.read(toJsonl(labels), [0, 1]);
  assert.deepEqual([...store.labels], [["a", { claims: [{ claim: "x", label: "fully" }], human: 1 }], ["c", { claims: [{ claim: "y", label: "none" }] }]]);
  assert.deepEqual(said, ["2 read.", '1 left out, as no sample has their id, e.g. "z".', "1 left out, as their rating is not within 0 to 1."]);
});
