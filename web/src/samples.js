// All samples as a list to sort, filter and search.
import { Balls, claimsOf, guilty } from "./claims.js";
import { EVERYTHING, LEAST_SEARCH, fitting, inTexts, kindOf, rangeOf, sorted } from "./filters.js";
import { Ball, missingText, Outcome } from "./marks.js";
import { toAddress } from "./state.js";
import { Grid } from "./table.js";
import { brief, visible } from "./text.js";
import { counted, figure, html, inSlices, Select, useEffect, useKeys, useMedia, useMemo, useRef, useState } from "./ui.js";

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
    // An address may name what this report has not.
    different: (i, name) => (name !== "*" && !others.some((each) => each.name === name)) || others.some((each) => (name === "*" || each.name === name) && otherwise(main, each, i)),
    has: (i, level) => !levels.includes(level) || (main.run?.levels[i].includes(String(levels.indexOf(level))) ?? false),
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
  if (column === "claims") return (i) => main.run?.levels[i].split("4").length - 1;
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
  const list = useRef(null);
  useKeys({ "/": () => search.current.focus() });
  const toList = (patch) => {
    app.set(patch);
    list.current.focus({ preventScroll: true });
  };
  const toFirst = () => toList({ current: order[0] });
  const searchKeys = { Enter: toFirst, ArrowDown: toFirst, Escape: () => toList({ filters: { ...filtersOf(state), search: "" } }) };
  const searching = useTextSearch(app);
  const isNarrow = useMedia("(max-width: 700px)");
  const isMedium = useMedia("(max-width: 1100px)");
  return html`<h2 class="spoken">Samples</h2>
    <${Filters} app=${app} listed=${listed} search=${search} searchKeys=${searchKeys} isNarrow=${isNarrow} />
    <p class="count" role="status">
      <b>${order.length === report.size ? counted(order.length, "sample") : `${order.length.toLocaleString("en")} of ${counted(report.size, "sample")}`}</b>${searching}
      ${report.samples.drawn && " · the texts of a draw of them are in this page"}
      <span class="keys"><kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> opens, <kbd>/</kbd> searches (<kbd>Enter</kbd> goes to the first, <kbd>Esc</kbd> clears)</span>
    </p>
    <${Grid} key=${isNarrow} box=${list} label="Samples" rows=${order} high=${isNarrow ? 124 : 88} columns=${columnsOf(app, isNarrow, isMedium)} sorting=${sortingOf(state)}
      onSort=${(sorting) => app.set({ sorting })} current=${state.current ?? -1}
      onCurrent=${(current) => app.set({ current })} onOpen=${(i) => app.go({ view: "sample", sample: report.samples.ids[i] })} />
    ${order.length === 0 && html`<p class="notice">No sample fits. <button type="button" class="quiet" onClick=${() => app.set({ filters: {} })}>Show all samples</button></p>`}`;
}

function columnsOf({ report, main, look, looks }, isNarrow, isMedium) {
  const { human } = report.samples;
  const columns = [
    { key: "sample", label: "Sample", width: isNarrow ? 12 : 15, grows: true, cell: (i) => html`<${Named} report=${report} main=${main} i=${i} balls=${isNarrow} />` },
    { key: "score", label: look ? "TCVA" : main.name, width: isNarrow ? 4.6 : 5.4, isNumeric: true, cell: (i) => html`<${Outcome} of=${main} i=${i} />` },
  ];
  if (isNarrow) return columns;
  if (look) columns.splice(1, 0, { key: "claims", label: "Claims", width: 6.4, help: `Sort by the number of claims at ${report.figures.levels[4]}`, cell: (i) => html`<${Balls} report=${report} run=${main.run} i=${i} />` });
  for (const method of looks.methods.filter(({ name }) => name !== main.name).slice(0, isMedium ? 1 : SHOWN_METHODS)) {
    const cell = (i) => html`${otherwise(main, method, i) && html`<span class="otherwise" role="img" aria-label="decides differently" title="decides differently">≠</span> `}${figure(method.scores[i], 2)}`;
    columns.push({ key: `method:${method.name}`, label: method.name, width: 5.6, isNumeric: true, cell });
  }
  if (human) columns.push({ key: "human", label: "Human rating", width: 4.4, isNumeric: true, cell: (i) => figure(human[i], 2) });
  if (look) {
    const cell = (i) => figure(looks.passesFrom(look, i), 2).replace("–", Number.isNaN(look.scores[i]) ? "–" : "never");
    columns.push({ key: "from", label: "Lowest T that passes", width: 4.4, isNumeric: true, cell });
  }
  return columns;
}

/** Question and id, the beginning of the answer, and the claim of least weight: three lines. */
function Named({ report, main, i, balls }) {
  const { ids, questions } = report.samples;
  const response = report.detail(i)?.response;
  const [worst] = guilty({ report }, main, claimsOf({ report }, main, i));
  return html`<div class="named" data-sample=${ids[i]}>
    <p><b><bdi>${brief(questions[i] || ids[i], 120)}</bdi></b>${questions[i] && html`<span class="aside sample-id"><bdi>${brief(ids[i], 60)}</bdi></span>`}</p>
    ${response && html`<p class="aside"><bdi>${brief(response, 200)}</bdi></p>`}
    ${worst && html`<p class=${`mark mark-${worst.level}`}><span class=${`level level-${worst.level}`}><${Ball} level=${worst.level} />${worst.claim.verdict}</span> <bdi>${brief(worst.claim.claim, 160)}</bdi></p>`}
    ${balls && html`<p><${Balls} report=${report} run=${main.run} i=${i} /></p>`}
  </div>`;
}

function Filters({ app, listed, search, searchKeys, isNarrow }) {
  const { report, state, look, main, looks } = app;
  const [open, setOpen] = useState(false);
  const filters = filtersOf(state);
  const change = (patch) => app.set({ filters: { ...filters, ...patch } });
  const reasons = useMemo(() => [...new Set(listed.ids.map((_, i) => kindOf(listed.unscored(i) ?? "")))].filter(Boolean).sort(), [listed]);
  const outcomes = [["all", "all"], ["failed", "failures"], ["passed", "passes"], ["unscored", "unscored"], ...reasons.map((why) => [`unscored:${why}`, missingText(why)])];
  const levels = [["", "any"], ...report.figures.levels.map((name) => [name, name])];
  const others = looks.methods.filter(({ name }) => name !== main.name).map(({ name }) => [name, `${visible(name)} decides differently`]);
  if (others.length > 1) others.unshift(["*", "any method decides differently"]);
  const range = rangeOf(filters.scores);
  const isFiltered = toAddress({ filters }) !== "#";
  return html`<form class="filters" role="search" aria-label="Filter samples" onSubmit=${(event) => event.preventDefault()}>
    <label class="wide">Search
      <input ref=${search} type="search" value=${filters.search} placeholder="id, question, texts" onInput=${(event) => change({ search: event.target.value })}
        onKeyDown=${(event) => {
          if (event.isComposing || !searchKeys[event.key]) return;
          event.preventDefault();
          searchKeys[event.key]();
        }} />
    </label>
    ${isNarrow && html`<button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}>Filters</button>`}
    ${(open || !isNarrow) && html`
      <${Select} label="Decision" value=${filters.outcome} options=${outcomes} onChange=${(outcome) => change({ outcome })} />
      ${others.length > 0 && html`<${Select} label="Difference" value=${filters.different} options=${[["", "all"], ...others]} onChange=${(different) => change({ different })} />`}
      ${look && html`<${Select} label="Has a claim" value=${filters.level} options=${levels} onChange=${(level) => change({ level })} />`}
      ${Object.entries(listed.groups).map(([field, values]) => html`<${Select} key=${field} label=${visible(field)} value=${filters.groups[field] ?? ""}
        options=${[["", "all"], ...[...new Set(values)].filter(Boolean).sort().map((value) => [value, brief(value, 40)])]}
        onChange=${(value) => change({ groups: { ...filters.groups, [field]: value } })} />`)}`}
    ${range && html`<button type="button" onClick=${() => change({ scores: "" })} title="Show all scores">Score ${range[0]} ${range[1] === Infinity ? "or more" : `to ${range[1]}`} <span aria-hidden="true">×</span></button>`}
    ${isFiltered && html`<button type="button" class="quiet" onClick=${() => app.set({ filters: {} })}>Clear filters</button>`}
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
