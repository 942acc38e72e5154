// All samples as a list to sort, filter and search.
import { EVERYTHING, LEAST_SEARCH, fitting, inTexts, sorted } from "./filters.js";
import { Decision } from "./marks.js";
import { Grid } from "./table.js";
import { brief, visible } from "./text.js";
import { counted, figure, html, inSlices, Select, useEffect, useKeys, useMedia, useMemo, useRef } from "./ui.js";

const SHOWN_METHODS = 3;

/** @returns {import("./filters.js").Listed} */
function listedOf({ report, main, looks }) {
  const { ids, questions, groups } = report.samples;
  const { levels } = report.figures;
  const others = looks.methods.filter(({ name }) => name !== main.name);
  return {
    ids,
    questions,
    groups,
    passed: main.passed,
    unscored: main.unscored,
    different: (i, name) => others.some((each) => (name === "*" || each.name === name) && otherwise(main, each, i)),
    has: (i, level) => main.run?.levels[i].includes(String(levels.indexOf(level))) ?? false,
    score: (i) => main.scores[i],
  };
}

/** Whether another method decides a sample, and not as this one. */
const otherwise = (main, other, i) => main.passed(i) !== null && other.passed(i) === !main.passed(i);

const filtersOf = (state) => ({ ...EVERYTHING, ...state.filters });
const sortingOf = (state) => state.sorting ?? { column: "score", descending: false };

/** The samples of the list in its order. */
export function orderOf(app, listed = listedOf(app)) {
  const filters = filtersOf(app.state);
  const { column, descending } = sortingOf(app.state);
  const found = app.state.found?.search === filters.search ? app.state.found.samples : undefined;
  return sorted(fitting(listed, filters, found), valueOf(app, column), descending);
}

/** What a column sorts by. */
function valueOf({ report, main, look, looks }, column) {
  if (column === "sample") return (i) => report.samples.ids[i];
  if (column === "decision") return (i) => (main.passed(i) === null ? null : Number(main.passed(i)));
  if (column === "human") return (i) => report.rating(i);
  if (column === "from") return (i) => look && looks.passesFrom(look, i);
  const { scores } = looks.methods.find(({ name }) => column === `method:${name}`) ?? main;
  return (i) => scores[i];
}

export function Samples({ app }) {
  const { report, state, main } = app;
  const listed = useMemo(() => listedOf(app), [main]);
  const order = useMemo(() => orderOf(app, listed), [listed, state.filters, state.sorting, state.found]);
  const search = useRef(null);
  useKeys({ "/": () => search.current.focus() });
  const searching = useTextSearch(app);
  const narrow = useMedia("(max-width: 560px)");
  return html`<h2>Samples</h2>
    <${Filters} app=${app} listed=${listed} search=${search} />
    <p class="count" role="status">
      ${order.length === report.size ? counted(order.length, "sample") : `${order.length.toLocaleString("en")} of ${counted(report.size, "sample")}`}${searching}
      ${report.samples.drawn && " · the texts of a draw of them are in this page"}
      <span class="keys"><kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> opens, <kbd>/</kbd> searches</span>
    </p>
    <${Grid} label="Samples" rows=${order} columns=${columnsOf(app, narrow)} sorting=${sortingOf(state)}
      onSort=${(sorting) => app.set({ sorting })} current=${state.current ?? -1}
      onCurrent=${(current) => app.set({ current })} onOpen=${(i) => app.go({ view: "sample", sample: report.samples.ids[i] })} />
    ${order.length === 0 && html`<p class="notice">No sample fits. <button type="button" class="quiet" onClick=${() => app.set({ filters: {} })}>Show all samples</button></p>`}`;
}

function columnsOf({ report, main, look, looks }, narrow) {
  const { ids, questions, human } = report.samples;
  const columns = [
    { key: "sample", label: "Sample", width: narrow ? 8.5 : 11, grows: true, cell: (i) => html`<${Named} id=${ids[i]} question=${questions[i]} />` },
    { key: "score", label: look ? "TCVA" : main.name, width: narrow ? 4.5 : 9.5, isNumeric: true, cell: (i) => html`<${Score} main=${main} i=${i} bar=${look && !narrow} />` },
    { key: "decision", label: "Decision", width: 5.5, cell: (i) => html`<${Decision} passed=${main.passed(i)} />` },
  ];
  for (const method of looks.methods.filter(({ name }) => name !== main.name).slice(0, SHOWN_METHODS)) {
    const cell = (i) => html`${figure(method.scores[i], 2)}${otherwise(main, method, i) && html`<span class="otherwise" role="img" aria-label="decides otherwise">≠</span>`}`;
    columns.push({ key: `method:${method.name}`, label: method.name, width: 10.5, isNumeric: true, cell });
  }
  if (human) columns.push({ key: "human", label: "Human rating", width: 7, isNumeric: true, cell: (i) => figure(human[i], 2) });
  if (look) {
    const cell = (i) => figure(looks.passesFrom(look, i), 2).replace("–", Number.isNaN(look.scores[i]) ? "–" : "never");
    columns.push({ key: "from", label: "Passes from T", width: 7, isNumeric: true, cell });
  }
  return columns;
}

function Named({ id, question }) {
  return html`<span class="sample-id"><bdi>${brief(id, 60)}</bdi></span>
    ${question && html`<span class="sample-question"><bdi>${brief(question)}</bdi></span>`}`;
}

function Score({ main, i, bar }) {
  const why = main.unscored(i);
  if (why !== null) return html`<span class="unscored" title=${visible(why)}>unscored: ${brief(why, 40)}</span>`;
  const score = main.scores[i];
  return html`${bar && html`<span class=${`score-bar ${main.passed(i) ? "passes" : "fails"}`} aria-hidden="true"><span style=${{ width: `${100 * score}%` }}></span></span>`}
    <span data-value=${score}>${figure(score)}</span>`;
}

function Filters({ app, listed, search }) {
  const { report, state, look, main, looks } = app;
  const filters = filtersOf(state);
  const change = (patch) => app.set({ filters: { ...filters, ...patch } });
  const reasons = useMemo(() => [...new Set(listed.ids.map((_, i) => listed.unscored(i)))].filter((why) => why !== null).sort(), [listed]);
  const outcomes = [["all", "all"], ["failed", "failures"], ["passed", "passes"], ["unscored", "unscored"], ...reasons.map((why) => [`unscored:${why}`, `unscored: ${brief(why)}`])];
  const levels = [["", "any"], ...report.figures.levels.map((name) => [name, name])];
  const others = looks.methods.filter(({ name }) => name !== main.name).map(({ name }) => [name, `${visible(name)} decides otherwise`]);
  if (others.length > 1) others.unshift(["*", "any method decides otherwise"]);
  return html`<form class="filters" role="search" aria-label="Filter samples" onSubmit=${(event) => event.preventDefault()}>
    <label class="wide">Search
      <input ref=${search} type="search" value=${filters.search} placeholder="id, question, texts" onInput=${(event) => change({ search: event.target.value })} />
    </label>
    <${Select} label="Decision" value=${filters.outcome} options=${outcomes} onChange=${(outcome) => change({ outcome })} />
    ${others.length > 0 && html`<${Select} label="Difference" value=${filters.different} options=${[["", "all"], ...others]} onChange=${(different) => change({ different })} />`}
    ${look && html`<${Select} label="Has a claim" value=${filters.level} options=${levels} onChange=${(level) => change({ level })} />`}
    ${Object.entries(listed.groups).map(([field, values]) => html`<${Select} key=${field} label=${visible(field)} value=${filters.groups[field] ?? ""}
      options=${[["", "all"], ...[...new Set(values)].filter(Boolean).sort().map((value) => [value, brief(value, 40)])]}
      onChange=${(value) => change({ groups: { ...filters.groups, [field]: value } })} />`)}
  </form>`;
}

/** Looks through the texts while the page stays awake; a few words on how far it is. */
function useTextSearch({ report, state, set }) {
  const { search } = filtersOf(state);
  const isLong = search.trim().length >= LEAST_SEARCH;
  useEffect(() => {
    if (!isLong) return undefined;
    return inSlices(inTexts(search, report.size, (i) => report.line(i)), (samples) => set({ found: { search, samples } }));
  }, [search]);
  if (search.trim() && !isLong) return ` · texts are searched from ${LEAST_SEARCH} characters on`;
  return isLong && state.found?.search !== search ? " · searching the texts …" : "";
}
