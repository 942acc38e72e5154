// A person's labels while the page is open, in the browser's own storage where it has one, and as a file.

const OF_REPORT = new WeakMap();

/**
 * The labels of a report, the same ones for whoever asks.
 * @param {import("./data.js").ReportData} report
 * @param {string} [criterion] of several: the same claim may be supported by the contexts and wrong by the reference
 */
export function labelsOf(report, criterion = "") {
  const stores = OF_REPORT.get(report) ?? new Map();
  OF_REPORT.set(report, stores);
  if (!stores.has(criterion)) stores.set(criterion, new LabelStore(report, storage(), criterion));
  return stores.get(criterion);
}

/** Whether closing the page would lose labels of a report. */
export const losesLabels = (report) => [...(OF_REPORT.get(report)?.values() ?? [])].some((store) => !store.isKept && store.unsaved && store.labels.size > 0);

/**
 * The labels of answers (a rating) and of claims (a level), by sample.
 * @typedef {{human?: number, claims?: {claim: string, verdict: string | null}[]}} Label
 */
export class LabelStore {
  /**
   * @param {import("./data.js").ReportData} report
   * @param {Storage | null} kept null where the browser keeps nothing for this page
   * @param {string} [criterion] see `labelsOf`
   */
  constructor(report, kept, criterion = "") {
    this._report = report;
    this._kept = kept;
    this._key = `tcva labels ${digest(JSON.stringify([report.figures.title, report.samples.ids]))}${criterion && ` ${criterion}`}`;
    this._done = [];
    /** Whether labels are in no file yet. */
    this.unsaved = false;
    /** @type {Map<string, Label>} */
    this.labels = this._read();
  }

  /** Whether labels outlive the page. */
  get isKept() {
    return this._kept !== null;
  }

  /** A sample's rating; undefined where there is none. */
  rating(id) {
    return this.labels.get(id)?.human;
  }

  /** A claim's level, null for a sentence that claims nothing; undefined where there is no label. */
  level(id, claim) {
    return this.labels.get(id)?.claims?.find((each) => each.claim === claim)?.verdict;
  }

  /** @param {number | undefined} human undefined takes the rating back */
  rate(id, human) {
    this._done.push({ id, value: this.rating(id) });
    this._replace(id, undefined, human);
  }

  /** @param {string | null | undefined} verdict undefined takes the label back */
  mark(id, claim, verdict) {
    this._done.push({ id, claim, value: this.level(id, claim) });
    this._replace(id, claim, verdict);
  }

  /**
   * Takes the last label back that has a place in what the reader labels, and gives this place.
   * @param {(label: {id: string, claim?: string}) => any} placeOf null for a label that is shown nowhere; a rating has no claim
   */
  undo(placeOf = () => true) {
    const last = this._done.findLastIndex(placeOf);
    if (last < 0) return null;
    const [done] = this._done.splice(last, 1);
    this._replace(done.id, done.claim, done.value);
    return placeOf(done);
  }

  clear() {
    this.labels = new Map();
    this._done = [];
    this._write();
  }

  /**
   * A line of JSON for each sample: its rating, or its claims' levels with the temperature that makes a rating of them.
   * @param {"claims" | "answers"} what
   * @param {(id: string) => boolean} isDone whether a sample has all its labels: of a part no rating could be made
   * @param {number} [temperature]
   */
  toJsonl(what, isDone, temperature) {
    return [...this.labels]
      .filter(([id]) => isDone(id))
      .map(([id, { human, claims }]) => `${JSON.stringify(what === "answers" ? { id, human } : { id, claims, temperature })}\n`)
      .join("");
  }

  /**
   * Labels of a file that was written here earlier.
   * @param {string} text
   * @param {[number, number]} scale of ratings
   * @returns {string[]} what became of them, in sentences
   */
  read(text, [low, high]) {
    const bad = [];
    let read = 0;
    text.split("\n").forEach((line, i) => {
      if (!line.trim()) return;
      try {
        const { id, human, claims } = JSON.parse(line);
        if (this._report.indexOf(id) < 0) throw new Error(`no sample has the id ${JSON.stringify(id)}`);
        if (human !== undefined && !(human >= low && human <= high)) throw new Error(`the rating ${JSON.stringify(human)} is not within ${low} to ${high}`);
        if (claims?.some(({ verdict }) => verdict !== null && !this._report.figures.levels.includes(verdict))) throw new Error("a claim's verdict is no level");
        this._put(id, { ...this.labels.get(id), ...(human === undefined ? {} : { human }), ...(claims ? { claims } : {}) });
        read += 1;
      } catch (error) {
        bad.push(`Line ${i + 1} is left out: ${error.message}.`);
      }
    });
    return [`${read} read.`, ...bad];
  }

  /** One label in place of another: undefined for none, as the claim of a rating. */
  _replace(id, claim, value) {
    const label = this.labels.get(id);
    if (claim === undefined) return this._put(id, { ...label, human: value });
    const others = (label?.claims ?? []).filter((each) => each.claim !== claim);
    this._put(id, { ...label, claims: value === undefined ? others : [...others, { claim, verdict: value }] });
  }

  /** Without what is empty, and a label that says nothing not at all. */
  _put(id, { human, claims = [] } = {}) {
    if (human === undefined && claims.length === 0) this.labels.delete(id);
    else this.labels.set(id, { ...(human === undefined ? {} : { human }), ...(claims.length ? { claims } : {}) });
    this._write();
  }

  _read() {
    try {
      return new Map(JSON.parse(this._kept?.getItem(this._key) ?? "[]"));
    } catch {
      return new Map(); // Something else wrote under this name.
    }
  }

  _write() {
    this.unsaved = true;
    try {
      this._kept?.setItem(this._key, JSON.stringify([...this.labels]));
    } catch {
      this._kept = null; // Full, or forbidden since: from now on the page alone has them.
    }
  }
}

function storage() {
  try {
    const name = "tcva labels ?";
    localStorage.setItem(name, "");
    localStorage.removeItem(name);
    return localStorage;
  } catch {
    return null; // A page from disk, or a private window, may have none.
  }
}

/** A short name for a text (FNV-1a); it only keeps reports apart. */
function digest(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16);
}
