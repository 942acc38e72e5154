// The two data blocks of the page. Figures are parsed at once, a sample's details when it is opened.

/** Criteria whose claims a diagnosis joins, as tcva_adapters/compare/diagnosis names them. */
const DIAGNOSED = ["correctness", "faithfulness", "completeness", "context_recall"];

/** Reads the page's blocks. */
export function readReport(document) {
  return new ReportData(
    JSON.parse(document.getElementById("figures").textContent),
    () => document.getElementById("details").textContent,
  );
}

export class ReportData {
  /**
   * @param {object} figures the parsed first block, as the library wrote it
   * @param {() => string} detailsText gives the second one, one JSON line per sample
   */
  constructor(figures, detailsText) {
    this.figures = figures;
    const size = figures.samples.ids.length;
    this.runs = figures.runs.map((run) => ({ ...run, ...part(run, 0, size), whole: part(run, size, Infinity) }));
    this.methods = figures.methods;
    this.samples = figures.samples;
    this.size = size;
    /** Each with its id and the places of its turns. */
    this.conversations = figures.samples.conversations.map(([id, turns]) => ({ id, turns }));
    /** The claims that a diagnosis finds wrong or missing: of the sample `i` the claim `n` of one of its texts. */
    this.faults = figures.faults.map(([i, of, n, cause, passages]) => ({ i, of, n, cause, passages }));
    this._faultsOf = new Map(this.faults.map((fault) => [`${fault.i} ${fault.of} ${fault.n}`, fault]));
    this._detailsText = detailsText;
    this._lines = null;
    this._parsed = new Map();
    this._places = null;
    this._turns = new Map(this.conversations.flatMap(({ turns }, k) => turns.map((i, n) => [i, { k, n, turns }])));
  }

  /** A sample's place in all lists; -1 for an unknown id. */
  indexOf(id) {
    this._places ??= new Map(this.samples.ids.map((each, index) => [each, index]));
    return this._places.get(String(id)) ?? -1;
  }

  /** The conversation that a sample is a turn of, its place there and the turns; undefined for other samples. */
  turn(index) {
    return this._turns.get(index);
  }

  /** What is wrong with a claim that a run judged; undefined where nothing is, or it was not diagnosed. */
  faultOf(run, index, n) {
    return DIAGNOSED.includes(run?.criterion) ? this._faultsOf.get(`${index} ${run.claims} ${n}`) : undefined;
  }

  /** Its human rating; null where there is none. */
  rating(index) {
    return this.samples.human?.[index] ?? null;
  }

  /** A sample's details as one unparsed line, for a search; "" where its text is not in the page. */
  line(index) {
    this._lines ??= this._detailsText().split("\n").filter((line) => line.trim() !== "");
    return this._lines[this.samples.line[index]] ?? "";
  }

  /** A sample's details; null where its text is not in the page. */
  detail(index) {
    if (!this._parsed.has(index)) {
      const line = this.line(index);
      this._parsed.set(index, line ? JSON.parse(line) : null);
    }
    return this._parsed.get(index);
  }
}

/** Rows of a run and why there is none, of the samples or of the conversations behind them. */
function part({ row, unscored }, from, to) {
  const inside = ([i]) => i >= from && i < to;
  return { row: row.slice(from, to), unscored: unscored.filter(inside).map(([i, ...why]) => [i - from, ...why]) };
}
