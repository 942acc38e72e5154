// What the reader is looking at, in memory and in the address, so that a link shows the same.

/** What an address holds: short names there, names of the state here. */
const TEXTS = { view: "view", run: "run", method: "method", sample: "sample", scheme: "scheme", penalty: "penalty" };
const NUMBERS = { T: "temperature", threshold: "threshold" };
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
  return state;
}

/** The address of a state. */
export function toAddress(state) {
  const parts = Object.entries({ ...TEXTS, ...NUMBERS })
    .filter(([, name]) => state[name] !== undefined && state[name] !== null)
    .map(([short, name]) => `${short}=${encodeURIComponent(state[name])}`);
  return `#${parts.join("&")}`;
}

/**
 * The state with its listeners, kept in step with the address.
 *
 * Anything may stand in it (filters, the sorting); what `TEXTS` and `NUMBERS` name is in links.
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
    return toAddress({ ...this.state, sample: undefined, ...patch });
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
