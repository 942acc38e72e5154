// What gives samples a score: runs at the reader's temperature, and methods with fixed scores.
import { ABSENT, bySample, passesFrom, preparedRows, stepsWithin } from "./scoring.js";

/** Settings that change what a row is worth at a temperature. */
const ROW_SETTINGS = ["weights", "penalty", "eps", "floor", "bounds", "fuse_weights", "threshold"];
const REMEMBERED = 24;

/**
 * @typedef {object} Scored
 * @property {string} name
 * @property {string} about who judged, or which version
 * @property {Float64Array} scores one per sample, NaN where there is none
 * @property {(i: number) => boolean|null} passed null without a score
 * @property {(i: number) => string|null} unscored why there is no score
 * @property {[number, number]} scale lowest and highest score
 * @property {number|null} threshold
 * @property {object|null} run of the figures; null for fixed scores, and so are the next two
 * @property {object|null} settings the run's own with what the reader changed
 * @property {((i: number) => ((temperature: number) => number)|null)|null} scoreOf a sample at any T
 * @property {Scored} [whole] of a run: the same of its conversations, each over the claims of all its turns
 */

/** The settings of a run with what the reader has changed; an address may hold anything. */
function settingsOf(run, changed, { schemes, penalties }) {
  const settings = { ...run.settings };
  const { t_min: low, t_max: high } = settings.bounds;
  if (changed.temperature >= low && changed.temperature <= high) settings.temperature = changed.temperature;
  if (changed.threshold >= 0 && changed.threshold <= 1) settings.threshold = changed.threshold;
  if (penalties.includes(changed.penalty)) settings.penalty = changed.penalty;
  if (Object.hasOwn(schemes, changed.scheme ?? "")) settings.weights = schemes[changed.scheme];
  return settings;
}

/** Scores from a list, with decisions and reasons. */
function scored(scores, threshold, reasons, rest) {
  const why = new Map(reasons.map(([i, reason]) => [i, reason]));
  return {
    scores,
    threshold,
    passed: (i) => (Number.isNaN(scores[i]) || threshold === null ? null : scores[i] >= threshold),
    unscored: (i) => (Number.isNaN(scores[i]) ? (why.get(i) ?? "no score") : null),
    run: null,
    settings: null,
    scoreOf: null,
    ...rest,
  };
}

/** Looks at runs and methods, remembering what a move of the slider does not change. */
export class Looks {
  constructor(report) {
    this._figures = report.figures;
    this._cache = new Map();
    this.methods = report.methods.map(({ scores, threshold, unscored, ...rest }) =>
      scored(Float64Array.from(scores, (score) => score ?? NaN), threshold, unscored, rest),
    );
  }

  /** @returns {Scored} */
  at(run, changed) {
    const settings = settingsOf(run, changed, this._figures);
    const rowKey = `${run.name} ${JSON.stringify(ROW_SETTINGS.map((name) => settings[name]))}`;
    const rows = this._remembered(rowKey, () => preparedRows(run.rows, settings));
    return this._remembered(`${rowKey} ${settings.temperature}`, () => {
      const rowScores = rows.map((score) => score(settings.temperature));
      const about = { name: run.name, about: run.judges.join(", fused with "), scale: [0, 1], run, settings, rowKey, rows };
      const of = ({ row, unscored }) => {
        const absent = [...row.keys()].filter((i) => row[i] === ABSENT).map((i) => [i, "not in this run"]);
        const scores = bySample({ row, unscored }, rowScores);
        return scored(scores, settings.threshold, [...unscored, ...absent], { ...about, row, scoreOf: (i) => rows[row[i]] ?? null });
      };
      return { ...of(run), whole: of(run.whole) };
    });
  }

  /** Mean score and pass rate of a run at each temperature; NaN where nothing is scored. */
  curve({ run, rows, rowKey, settings }) {
    return this._remembered(`curve ${rowKey}`, () =>
      stepsWithin(settings.bounds).map((temperature) => {
        const scores = bySample(run, rows.map((score) => score(temperature)));
        return { temperature, ...averages({ scores, threshold: settings.threshold }) };
      }),
    );
  }

  /** From which temperature on a sample passes; null where it never does or nothing was judged. */
  passesFrom({ row: places, rows, rowKey, settings }, i) {
    const row = places[i];
    if (row < 0) return null;
    const known = this._remembered(`passes ${rowKey}`, () => new Map());
    if (!known.has(row)) known.set(row, passesFrom(rows[row], settings));
    return known.get(row);
  }

  _remembered(key, make) {
    const found = this._cache.get(key) ?? make();
    this._cache.delete(key);
    this._cache.set(key, found);
    if (this._cache.size > REMEMBERED) this._cache.delete(this._cache.keys().next().value);
    return found;
  }
}

/** How many samples have a score, how many of them pass, and their plain mean. */
export function averages({ scores, threshold }) {
  let [n, sum, passed] = [0, 0, 0];
  for (const score of scores) {
    if (Number.isNaN(score)) continue;
    n += 1;
    sum += score;
    if (score >= threshold) passed += 1;
  }
  return { n, passed, mean: sum / n, passRate: passed / n };
}
