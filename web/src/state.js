// What the reader is looking at, in memory and in the address, so that a link shows the same.

/** What an address holds besides the view: short names there, names of the state here. */
const TEXTS = { run: "run", other: "other", method: "method", sample: "sample", scheme: "scheme", penalty: "penalty" };
const NUMBERS = { T: "temperature", threshold: "threshold" };
/** These move the same view: the address follows, but the back button does not stop at each. */
const DIAL = ["temperature", "threshold", "scheme", "penalty"];
const WRITE_AFTER = 250;

/** The state that an address describes; whatever is not in it is undefined. */
export function fromAddress(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { view: fields.get("view") ?? undefined };
  for (const [short, name] of Object.entries(TEXTS)) state[name] = fields.get(short) ?? undefined;
  for (const [short, name] of Object.entries(NUMBERS)) {
    const text = fields.get(short);
    const number = text === null || text.trim() === "" ? NaN : Number(text);
    state[name] = Number.isFinite(number) ? number : undefined;
  }
  return state;
}

/** The address of a state. */
export function toAddress(state) {
  const parts = [];
  const add = (short, value) => {
    if (value !== undefined && value !== null) parts.push(`${short}=${encodeURIComponent(value)}`);
  };
  add("view", state.view);
  for (const [short, name] of Object.entries(TEXTS)) add(short, state[name]);
  for (const [short, name] of Object.entries(NUMBERS)) add(short, state[name]);
  return `#${parts.join("&")}`;
}

/**
 * The state with its listeners, kept in step with the address.
 *
 * Anything may stand in it (filters, the sorting); what `TEXTS` and `NUMBERS` name is in links.
 */
export class Store {
  constructor(window, initial = {}) {
    this._window = window;
    this._listeners = new Set();
    this._timer = null;
    this.state = { ...initial, ...defined(fromAddress(window.location.hash)) };
    window.addEventListener("hashchange", () => this._read());
  }

  listen(listener) {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  /** Changes a part of the state; undefined takes a setting back to the run's own. */
  set(patch) {
    this.state = { ...this.state, ...patch };
    for (const listener of this._listeners) listener(this.state);
    // Browsers allow only so many changes of the address in a while, and a slider makes more.
    this._window.clearTimeout(this._timer);
    this._timer = this._window.setTimeout(() => this._write(), WRITE_AFTER);
  }

  /** An address with a part of the state changed: for links. */
  link(patch) {
    return toAddress({ ...this.state, sample: undefined, ...patch });
  }

  /** Goes to another view; the back button comes back. */
  go(patch) {
    this._write();
    this._window.location.hash = this.link(patch);
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

  _read() {
    const found = fromAddress(this._window.location.hash);
    this._window.clearTimeout(this._timer);
    this.state = { ...this.state, ...found };
    for (const listener of this._listeners) listener(this.state);
  }
}

/** The settings of the dial that the reader has changed. */
export function changedDial(state) {
  return defined(Object.fromEntries(DIAL.map((name) => [name, state[name]])));
}

function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
