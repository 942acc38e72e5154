// The two data blocks of the page. Figures are parsed at once, a sample's details when it is opened.

/**
 * @typedef {object} Report
 * @property {object} figures all of them, as the library wrote them
 * @property {number} size samples that the page knows
 * @property {object[]} runs judged by TCVA; they follow the dial
 * @property {object[]} methods with fixed scores
 */

/** Reads the page's blocks. */
export function readReport(document) {
  return new ReportData(
    JSON.parse(document.getElementById("figures").textContent),
    () => document.getElementById("details").textContent,
  );
}

export class ReportData {
  /**
   * @param {object} figures the parsed first block
   * @param {() => string} detailsText gives the second one, one JSON line per sample
   */
  constructor(figures, detailsText) {
    this.figures = figures;
    this.runs = figures.runs ?? [];
    this.methods = figures.methods ?? [];
    this.samples = figures.samples;
    this.size = this.samples.ids.length;
    this._detailsText = detailsText;
    this._lines = null;
    this._parsed = new Map();
    this._places = null;
  }

  /** A sample's place in all lists; -1 for an unknown id. */
  indexOf(id) {
    this._places ??= new Map(this.samples.ids.map((each, index) => [String(each), index]));
    return this._places.get(String(id)) ?? -1;
  }

  run(name) {
    return this.runs.find((run) => run.name === name) ?? null;
  }

  method(name) {
    return this.methods.find((method) => method.name === name) ?? null;
  }

  /** A sample's details as one unparsed line, for a search; "" where its text is not in the page. */
  line(index) {
    this._lines ??= this._detailsText().split("\n").filter((line) => line.trim() !== "");
    return this._lines[this.samples.line?.[index] ?? -1] ?? "";
  }

  /** A sample's details; null where its text is not in the page. */
  detail(index) {
    if (!this._parsed.has(index)) {
      const line = this.line(index);
      this._parsed.set(index, line ? JSON.parse(line) : null);
    }
    return this._parsed.get(index);
  }

  /** The groups of some of the samples, by number; null where samples stand alone. */
  codes(places) {
    const { clusters } = this.samples;
    return clusters ? places.map((i) => clusters[i]) : null;
  }

  /** Human ratings, one per sample, null where there is none; null without any. */
  get human() {
    return this.samples.human ?? null;
  }
}
