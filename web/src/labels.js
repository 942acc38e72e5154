/** A person's labels while the page is open, and in the browser's own storage where it has one. */
import { fromText } from "./labels_export.js";

const OF_REPORT = new WeakMap();

/** The labels of a report, the same ones for whoever asks. */
export function labelsOf(report) {
  if (!OF_REPORT.has(report)) OF_REPORT.set(report, new LabelStore(report, storage()));
  return OF_REPORT.get(report);
}

export class LabelStore {
  /**
   * @param {import("./data.js").ReportData} report
   * @param {Storage | null} kept null where the browser keeps nothing for this page
   */
  constructor(report, kept) {
    this._report = report;
    this._kept = kept;
    this._key = `tcva labels ${digest(JSON.stringify([report.figures.title, report.samples.ids]))}`;
    this._done = [];
    this.unsaved = false;
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

  /** A claim's level; undefined where there is none. */
  level(id, claim) {
    return this.labels.get(id)?.claims?.find((each) => each.claim === claim)?.label;
  }

  /** @param {number | undefined} human undefined takes the rating back */
  rate(id, human) {
    this._change(id, (label) => ({ ...label, human }));
  }

  /** @param {string | undefined} level undefined takes the label back */
  mark(id, claim, level) {
    this._change(id, (label) => {
      const others = (label.claims ?? []).filter((each) => each.claim !== claim);
      return { ...label, claims: level === undefined ? others : [...others, { claim, label: level }] };
    });
  }

  /** Takes the last label back. */
  undo() {
    const last = this._done.pop();
    if (!last) return false;
    this._put(last.id, last.before);
    return true;
  }

  clear() {
    this.labels = new Map();
    this._done = [];
    this._write();
  }

  /** Labels of a file that was written here earlier; says what became of them. */
  read(text, scale) {
    const { levels } = this._report.figures;
    const { labels, bad } = fromText(text, levels);
    const strangers = [...labels.keys()].filter((id) => this._report.indexOf(id) < 0);
    const outside = [...labels].filter(
      ([, { human }]) => human !== undefined && !(human >= scale[0] && human <= scale[1]),
    );
    for (const [id] of [...strangers.map((each) => [each]), ...outside]) labels.delete(id);
    for (const [id, label] of labels) this.labels.set(id, { ...this.labels.get(id), ...label });
    this._write();
    return [
      `${labels.size} read.`,
      strangers.length &&
        `${strangers.length} left out, as no sample has their id, e.g. ${JSON.stringify(strangers[0])}.`,
      outside.length && `${outside.length} left out, as their rating is not within ${scale.join(" to ")}.`,
      ...bad,
    ].filter(Boolean);
  }

  _change(id, change) {
    const before = this.labels.get(id);
    this._done.push({ id, before });
    this._put(id, change(before ?? {}));
  }

  _put(id, label) {
    const { human, claims = [] } = label ?? {};
    // Without what is empty, and a label that says nothing not at all.
    const kept = { ...(human === undefined ? {} : { human }), ...(claims.length ? { claims } : {}) };
    if (Object.keys(kept).length) this.labels.set(id, kept);
    else this.labels.delete(id);
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
