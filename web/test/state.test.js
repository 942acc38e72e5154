import assert from "node:assert/strict";
import test from "node:test";
import { Store, changedSettings, fromAddress, toAddress } from "../src/state.js";

/** As much of a window as a store needs. */
class FakeWindow extends EventTarget {
  constructor(hash) {
    super();
    this.location = { hash };
    this.history = { replaceState: (_, __, address) => { this.location.hash = address; } };
    this.pending = null;
  }
  setTimeout(call) {
    this.pending = call;
    return 1;
  }
  clearTimeout() {
    this.pending = null;
  }
}

test("an address and its state are the same thing", () => {
  const state = { view: "sample", run: "a & b", sample: "ä/1#=", temperature: 0.35, threshold: 0, penalty: "off" };
  const found = fromAddress(toAddress(state));
  delete found.filters;
  assert.deepEqual(Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)), state);
});

test("filters, their groups and the order stand in the address, what is usual does not", () => {
  const filters = { outcome: "failed", level: "none", scores: "0.2,0.25", groups: { "a=b&": "x y", gone: "" } };
  const address = toAddress({ filters: { ...filters, search: "" }, sorting: { column: "method:ragas", descending: true } });
  assert.equal(address, "#decision=failed&level=none&scores=0.2%2C0.25&meta.a%3Db%26=x%20y&sort=-method%3Aragas");
  const found = fromAddress(address);
  assert.deepEqual(found.filters, { ...filters, groups: { "a=b&": "x y" } });
  assert.deepEqual(found.sorting, { column: "method:ragas", descending: true });
});

test("a move of the slider reaches listeners at once and the address once it rests", () => {
  const window = new FakeWindow("#view=samples");
  const store = new Store(window);
  const seen = [];
  store.listen((state) => seen.push(state.temperature));
  store.set({ temperature: 0.3 });
  store.set({ temperature: 0.31 });
  assert.deepEqual(seen, [0.3, 0.31]);
  assert.equal(window.location.hash, "#view=samples");
  window.pending();
  assert.equal(window.location.hash, "#view=samples&T=0.31");
  assert.equal(store.link({ view: "overview" }), "#view=overview&T=0.31");
});

test("an address that changes is followed, and takes settings back that it does not name", () => {
  const window = new FakeWindow("#T=0.2&penalty=off");
  const store = new Store(window);
  window.location.hash = "#view=samples&penalty=off";
  window.dispatchEvent(new Event("hashchange"));
  assert.deepEqual(changedSettings(store.state), { penalty: "off" });
});
