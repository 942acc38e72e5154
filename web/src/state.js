// What the reader is looking at, in memory and in the address: a link and a reload show the same.
import { EVERYTHING } from "./filters.js";

/** What an address holds: short names there, names of the state here. */
const TEXTS = { view: "view", run: "run", method: "method", sample: "sample", conversation: "conversation", scheme: "scheme", penalty: "penalty", theme: "theme", answer: "answer", cause: "cause" };
const NUMBERS = { T: "temperature", threshold: "threshold", claim: "claim" };
const FILTERS = { decision: "outcome", differs: "different", level: "level", scores: "scores", q: "search" };
/** Before a metadata field, whose value the samples of the list have. */
const GROUP = "meta.";
/** These move the same view: the address follows, but the back button does not stop at each. */
const SETTINGS = ["temperature", "threshold", "scheme", "penalty"];
const WRITE_AFTER = 250;

/** The state that an address describes; whatever is not in it is undefined. */
export function fromAddress(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const state = {};
  for (const [short, name] of Object.entries(TEXTS)) state[name] = fields.get(short) ?? undefined;
  for (const [short, name] of Object.entries(NUMBERS)) {
    const text = fields.get(short)?.trim() ?? "";
    state[name] = text !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
  }
  const filters = Object.fromEntries(Object.entries(FILTERS).flatMap(([short, name]) => (fields.has(short) ? [[name, fields.get(short)]] : [])));
  const groups = [...fields].filter(([short]) => short.startsWith(GROUP)).map(([short, value]) => [short.slice(GROUP.length), value]);
  if (groups.length) filters.groups = Object.fromEntries(groups);
  const [, descends, column] = (fields.get("sort") ?? "").match(/^(-?)(.+)$/) ?? [];
  return { ...state, filters, sorting: column && { column, descending: descends === "-" } };
}

/** The address of a state. */
export function toAddress(state) {
  const { filters = {}, sorting } = state;
  const pairs = [
    ...Object.entries({ ...TEXTS, ...NUMBERS }).map(([short, name]) => [short, state[name]]),
    ...Object.entries(FILTERS).map(([short, name]) => [short, filters[name] === EVERYTHING[name] ? undefined : filters[name]]),
    ...Object.entries(filters.groups ?? {}).map(([field, value]) => [GROUP + field, value || undefined]),
    ["sort", sorting && (sorting.descending ? "-" : "") + sorting.column],
  ];
  const parts = pairs.filter(([, value]) => value !== undefined && value !== null).map((pair) => pair.map(encodeURIComponent).join("="));
  return `#${parts.join("&")}`;
}

/**
 * The state with its listeners, kept in step with the address.
 *
 * Anything may stand in it; what the tables above name is in links.
 */
export class Store {
  constructor(window) {
    this._window = window;
    this._listeners = new Set();
    this._timer = null;
    this.state = fromAddress(window.location.hash);
    window.addEventListener("hashchange", () => {
      this._window.clearTimeout(this._timer);
      this._tell(fromAddress(this._window.location.hash));
    });
  }

  listen(listener) {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  /** Changes a part of the state; undefined takes a setting back to the run's own. */
  set(patch) {
    this._tell(patch);
    // Browsers allow only so many changes of the address in a while, and a slider makes more.
    this._window.clearTimeout(this._timer);
    this._timer = this._window.setTimeout(() => this._write(), WRITE_AFTER);
  }

  /** An address with a part of the state changed: for links. */
  link(patch) {
    return toAddress({ ...this.state, sample: undefined, conversation: undefined, claim: undefined, ...patch });
  }

  /** Goes to another view; the back button comes back. */
  go(patch) {
    this._write();
    this._window.location.hash = this.link(patch);
  }

  _tell(patch) {
    this.state = { ...this.state, ...patch };
    for (const listener of this._listeners) listener(this.state);
  }

  _write() {
    this._window.clearTimeout(this._timer);
    const address = toAddress(this.state);
    if (address === this._window.location.hash) return;
    try {
      this._window.history.replaceState(null, "", address);
    } catch {
      // A frame without an address of its own: the page works, its links stay as they were.
    }
  }
}

/** The settings that the reader has changed. */
export function changedSettings(state) {
  return Object.fromEntries(SETTINGS.filter((name) => state[name] !== undefined).map((name) => [name, state[name]]));
}
