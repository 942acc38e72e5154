/** The list of samples that the reader has made: what stands in it, and in what order. */
import { EVERYTHING, fitting, sorted } from "./filters.js";

const SHOWN_METHODS = 3;

/** Whether a method passes a sample; null where it has no score. */
export function passes(method, i) {
  const score = method.scores[i];
  if (score === null || score === undefined || method.threshold === null || method.threshold === undefined)
    return null;
  return method.higher_is_better === false ? score <= method.threshold : score >= method.threshold;
}

/** The metric that the reader compares with. */
export function chosenMethod({ report, state }) {
  return report.method(state.method) ?? report.methods[0] ?? null;
}

/** The methods that have a column. */
export function shownMethods({ report, state }) {
  const names = state.shownMethods ?? report.methods.slice(0, SHOWN_METHODS).map(({ name }) => name);
  return report.methods.filter(({ name }) => names.includes(name));
}

/**
 * What the list knows of its samples: TCVA at the dial, or the chosen method where nothing was judged.
 * @returns {import("./filters.js").Listed}
 */
export function listedOf(app) {
  const { report, look } = app;
  const source = look ? lookedAt(look) : ofMethod(chosenMethod(app));
  return {
    ids: report.samples.ids,
    questions: report.samples.questions ?? [],
    groups: report.samples.groups ?? {},
    ...source,
    different: (i, name) => {
      const methods = name === "*" ? report.methods : report.methods.filter((method) => method.name === name);
      const decided = source.passed(i);
      return decided !== null && methods.some((method) => passes(method, i) === !decided);
    },
  };
}

function lookedAt(look) {
  const { run, scores } = look;
  const reasons = new Map(run.unscored.map(([i, reason]) => [i, reason]));
  return {
    score: (i) => scores[i],
    passed: look.passed,
    unscored: (i) => (Number.isNaN(scores[i]) ? (reasons.get(i) ?? "not in this run") : null),
    has: (i, level) => (run.rows[run.row[i]]?.[0]?.[level] ?? 0) > 0,
  };
}

function ofMethod(method) {
  const reasons = new Map((method?.unscored ?? []).map(([i, reason]) => [i, reason]));
  const score = (i) => method?.scores[i] ?? NaN;
  return {
    score,
    passed: (i) => (method ? passes(method, i) : null),
    unscored: (i) => (Number.isNaN(score(i)) ? (reasons.get(i) ?? "no score") : null),
    has: () => false,
  };
}

export const filtersOf = (state) => ({ ...EVERYTHING, ...state.filters });
export const sortingOf = (state) => state.sorting ?? { column: "score", descending: false };

/** The samples of the list in its order. */
export function orderOf(app, listed = listedOf(app)) {
  const filters = filtersOf(app.state);
  const { column, descending } = sortingOf(app.state);
  const found = app.state.found?.search === filters.search ? app.state.found.samples : undefined;
  return sorted(fitting(listed, filters, found), valueOf(app, listed, column), descending);
}

/** What a column sorts by. */
function valueOf({ report, look, looks }, listed, column) {
  if (column === "file") return (i) => i;
  if (column === "sample") return (i) => String(listed.ids[i]);
  if (column === "decision") return (i) => (listed.passed(i) === null ? null : Number(listed.passed(i)));
  if (column === "human") return (i) => report.human?.[i] ?? null;
  if (column === "flip") return (i) => look && looks.flipOf(look, i);
  const method = column.startsWith("method:") ? report.method(column.slice("method:".length)) : null;
  return method ? (i) => method.scores[i] ?? null : listed.score;
}
