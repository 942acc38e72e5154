// A run seen at one setting of the dial: scores, passes, and what follows from them over all T.
import { bySample, flipTemperature, preparedRows } from "./scoring.js";

/** The temperatures of a curve, in the steps of the slider. */
export function stepsWithin({ t_min: low, t_max: high }) {
  const between = Array.from({ length: Math.max(0, Math.ceil(100 * high) - 1) }, (_, i) => (i + 1) / 100);
  return [low, ...between.filter((step) => step > low && step < high), high];
}

/** Settings that change what a row is worth at a temperature. */
const ROW_SETTINGS = ["weights", "penalty", "eps", "floor", "bounds", "fuse_weights", "threshold"];
const REMEMBERED = 8;

/**
 * @typedef {object} Look
 * @property {object} run
 * @property {object} settings the run's own with what the reader changed
 * @property {Float64Array} scores one per sample, NaN where there is none
 * @property {(index: number) => boolean|null} passed null without a score
 * @property {(index: number) => ((temperature: number) => number)|null} scoreOf a sample at any T
 */

/** The settings of a run with what the reader has changed; an address may hold anything. */
export function settingsOf(run, dial, { schemes, penalties }) {
  const settings = { ...run.settings };
  const { t_min: low, t_max: high } = settings.bounds;
  if (dial.temperature >= low && dial.temperature <= high) settings.temperature = dial.temperature;
  if (dial.threshold >= 0 && dial.threshold <= 1) settings.threshold = dial.threshold;
  if (penalties.includes(dial.penalty)) settings.penalty = dial.penalty;
  if (Object.hasOwn(schemes, dial.scheme ?? "")) {
    settings.scheme = dial.scheme;
    settings.weights = schemes[dial.scheme];
  }
  return settings;
}

/** Looks at runs, remembering what a move of the slider does not change. */
export class Looks {
  constructor(report) {
    this._report = report;
    this._cache = new Map();
  }

  /** @returns {Look} */
  at(run, dial) {
    const settings = settingsOf(run, dial, this._report.figures);
    const rowKey = `${run.name} ${JSON.stringify(ROW_SETTINGS.map((name) => settings[name]))}`;
    const rows = this._remembered(rowKey, () => preparedRows(run.rows, settings));
    return this._remembered(`${rowKey} ${settings.temperature}`, () => {
      const rowScores = rows.map((score) => score(settings.temperature));
      const scores = bySample(run, rowScores, settings.on_unscored);
      return {
        run,
        settings,
        rows,
        rowKey,
        scores,
        passed: (index) => (Number.isNaN(scores[index]) ? null : scores[index] >= settings.threshold),
        scoreOf: (index) => rows[run.row[index]] ?? null,
      };
    });
  }

  /** Mean score and pass rate of a run at each temperature; NaN where nothing is scored. */
  curve(look) {
    const { run, rows, settings } = look;
    return this._remembered(`curve ${look.rowKey}`, () =>
      stepsWithin(settings.bounds).map((temperature) => {
        const rowScores = rows.map((score) => score(temperature));
        const scores = bySample(run, rowScores, settings.on_unscored).filter((score) => !Number.isNaN(score));
        const passed = scores.reduce((sum, score) => sum + (score >= settings.threshold), 0);
        const sum = scores.reduce((before, score) => before + score, 0);
        return { temperature, mean: sum / scores.length, passRate: passed / scores.length };
      }),
    );
  }

  /** From which temperature on a sample passes; null where it never does or has no row. */
  flipOf(look, index) {
    const row = look.run.row[index];
    if (row < 0) return null;
    const flips = this._remembered(`flips ${look.rowKey}`, () => new Map());
    if (!flips.has(row)) flips.set(row, flipTemperature(look.rows[row], look.settings));
    return flips.get(row);
  }

  _remembered(key, make) {
    const found = this._cache.get(key) ?? make();
    this._cache.delete(key);
    this._cache.set(key, found);
    // Three kinds of things are remembered for each of two runs.
    if (this._cache.size > 6 * REMEMBERED) this._cache.delete(this._cache.keys().next().value);
    return found;
  }
}
