/** All samples as a list to sort, filter and search. */
import { inTexts, LEAST_SEARCH } from "./filters.js";
import { chosenMethod, filtersOf, listedOf, orderOf, passes, shownMethods, sortingOf } from "./listing.js";
import { Decision } from "./marks.js";
import { inSlices } from "./slices.js";
import { Grid, useMedia } from "./table.js";
import { brief, visible } from "./text.js";
import { counted, figure, html, useEffect, useMemo, useRef } from "./ui.js";

export function Samples({ app }) {
  const { report, state } = app;
  const listed = useMemo(() => listedOf(app), [app.look, state.method]);
  const order = useMemo(() => orderOf(app, listed), [listed, state.filters, state.sorting, state.found]);
  const search = useRef(null);
  useSlash(search);
  const searching = useTextSearch(app);
  const narrow = useMedia("(max-width: 560px)");
  const open = (i) => app.go({ view: "sample", sample: report.samples.ids[i] });
  return html`<h2>Samples</h2>
    <${Filters} app=${app} listed=${listed} search=${search} />
    <p class="count" role="status">
      ${order.length === report.size ? counted(order.length, "sample") : `${order.length.toLocaleString("en")} of ${counted(report.size, "sample")}`}${searching}
      ${report.samples.drawn && ` · of ${report.samples.drawn.of.toLocaleString("en")} samples in all, the texts of a draw are in this page`}
      <span class="keys"><kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> opens, <kbd>/</kbd> searches</span>
    </p>
    <${Grid}
      label="Samples"
      rows=${order}
      columns=${columnsOf(app, listed, narrow)}
      sorting=${sortingOf(state)}
      onSort=${(sorting) => app.set({ sorting })}
      current=${state.current ?? -1}
      onCurrent=${(current) => app.set({ current })}
      onOpen=${open}
    />
    ${order.length === 0 && html`<p class="nothing">No sample fits. <button type="button" class="quiet" onClick=${() => app.set({ filters: {} })}>Show all samples</button></p>`}`;
}

function columnsOf(app, listed, narrow) {
  const { report, look, looks } = app;
  const number = 7;
  const columns = [
    {
      key: "sample",
      label: "Sample",
      width: narrow ? 8.5 : 11,
      grows: true,
      cell: (i) => html`<${Named} listed=${listed} i=${i} />`,
    },
    {
      key: "score",
      label: look ? "TCVA" : (chosenMethod(app)?.name ?? "Score"),
      width: narrow ? 4.5 : 9.5,
      numeric: true,
      cell: (i) => html`<${Score} listed=${listed} i=${i} bar=${look !== null && !narrow} />`,
    },
    {
      key: "decision",
      label: "Decision",
      width: 5.5,
      cell: (i) => html`<${Decision} passed=${listed.passed(i)} />`,
    },
  ];
  for (const method of look
    ? shownMethods(app)
    : report.methods.filter((each) => each !== chosenMethod(app)).slice(0, 4)) {
    const cell = (i) => html`${figure(method.scores[i], 2)}${marked(listed, method, i)}`;
    columns.push({ key: `method:${method.name}`, label: method.name, width: 10.5, numeric: true, cell });
  }
  if (report.human)
    columns.push({
      key: "human",
      label: "Human rating",
      width: number,
      numeric: true,
      cell: (i) => figure(report.human[i], 2),
    });
  if (look)
    columns.push({
      key: "flip",
      label: "Passes from T",
      width: number,
      numeric: true,
      cell: (i) => flip(looks.flipOf(look, i), listed.score(i)),
    });
  return columns;
}

/** That a method decides otherwise, as a sign with its meaning. */
function marked(listed, method, i) {
  const decided = listed.passed(i);
  if (decided === null || passes(method, i) !== !decided) return null;
  return html`<span
    class="otherwise"
    role="img"
    aria-label="decides otherwise"
    title=${`${method.name} decides otherwise`}>
    ≠</span>
  `;
}

const flip = (temperature, score) =>
  temperature === null ? (Number.isNaN(score) ? "–" : "never") : figure(temperature, 2);

function Named({ listed, i }) {
  const question = listed.questions[i];
  return html`<span class="sample-id"><bdi>${brief(String(listed.ids[i]), 60)}</bdi></span>
    ${question && html`<span class="sample-question"><bdi>${brief(question)}</bdi></span>`}`;
}

function Score({ listed, i, bar }) {
  const why = listed.unscored(i);
  if (why !== null)
    return html`<span class="unscored" title=${visible(why)}>
      unscored: ${brief(why, 40)}</span>
    `;
  const score = listed.score(i);
  return html`${bar && html`<span class=${`score-bar ${listed.passed(i) ? "passes" : "fails"}`} aria-hidden="true"><span style=${{ width: `${100 * score}%` }}></span></span>`}<span
      data-value=${score}>
      ${figure(score)}</span>
    `;
}

function Filters({ app, listed, search }) {
  const { report, state, look } = app;
  const filters = filtersOf(state);
  const change = (patch) => app.set({ filters: { ...filters, ...patch } });
  const reasons = useMemo(
    () => [...new Set(listed.ids.map((_, i) => listed.unscored(i)).filter((why) => why !== null))].sort(),
    [listed],
  );
  const outcomes = [
    ["all", "all"],
    ["failed", "failures"],
    ["passed", "passes"],
    ["unscored", "unscored"],
    ...reasons.map((why) => [`unscored:${why}`, `unscored: ${visible(why)}`]),
  ];
  const levels = [[-1, "any"], ...report.figures.levels.map((name, level) => [level, name])];
  const methods = [
    ["", "all"],
    ...(report.methods.length > 1 ? [["*", "any metric decides otherwise"]] : []),
    ...report.methods.map(({ name }) => [name, `${name} decides otherwise`]),
  ];
  return html`<form
    class="filters"
    role="search"
    aria-label="Filter samples"
    onSubmit=${(event) => event.preventDefault()}>
    <label class="wide">
      Search
      <input
        ref=${search}
        type="search"
        value=${filters.search}
        placeholder="id, question, texts"
        onInput=${(event) => change({ search: event.target.value })} />
    </label>
    <${Select}
      label="Decision"
      value=${filters.outcome}
      options=${outcomes}
      onChange=${(outcome) => change({ outcome })}
    />
    ${look && report.methods.length > 0 && html`<${Select} label="Difference" value=${filters.different} options=${methods} onChange=${(different) => change({ different })} />`}
    ${look && html`<${Select} label="Has a claim" value=${filters.level} options=${levels} onChange=${(level) => change({ level: Number(level) })} />`}
    ${Object.entries(listed.groups).map(
      ([field, values]) =>
        html`<${Select}
          key=${field}
          label=${visible(field)}
          value=${filters.groups[field] ?? ""}
          options=${[
            ["", "all"],
            ...[...new Set(values)]
              .filter(Boolean)
              .sort()
              .map((value) => [value, brief(value, 40)]),
          ]}
          onChange=${(value) => change({ groups: { ...filters.groups, [field]: value } })}
        />`,
    )}
    ${look && report.methods.length > 0 && html`<${Columns} app=${app} />`}
  </form>`;
}

function Select({ label, value, options, onChange }) {
  return html`<label>
    <bdi>${label}</bdi>
    <select value=${String(value)} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(([key, name]) => html`<option key=${key} value=${key}>${name}</option>`)}
    </select></label>
  `;
}

function Columns({ app }) {
  const shown = shownMethods(app).map(({ name }) => name);
  const turn = (name) =>
    app.set({
      shownMethods: shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name],
    });
  return html`<details class="columns">
    <summary>Metrics shown</summary>
    <div class="choices">
      ${app.report.methods.map(({ name }) => html`<label key=${name}><input type="checkbox" checked=${shown.includes(name)} onChange=${() => turn(name)} /> <bdi>${visible(name)}</bdi></label>`)}
    </div>
  </details>`;
}

/** A slash goes to the search, wherever the reader is not typing. */
function useSlash(search) {
  useEffect(() => {
    const go = (event) => {
      if (
        event.key !== "/" ||
        event.ctrlKey ||
        event.metaKey ||
        event.target.closest?.("input, select, textarea")
      )
        return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener("keydown", go);
    return () => removeEventListener("keydown", go);
  }, [search]);
}

/** Looks through the texts while the page stays awake; a few words on how far it is. */
function useTextSearch({ report, state, set }) {
  const { search } = filtersOf(state);
  const long = search.trim().length >= LEAST_SEARCH;
  useEffect(() => {
    if (!long) return undefined;
    return inSlices(
      inTexts(search, report.size, (i) => report.line(i)),
      (samples) => set({ found: { search, samples } }),
    );
  }, [search]);
  if (search.trim() && !long) return html` · texts are searched from ${LEAST_SEARCH} characters on`;
  return long && state.found?.search !== search ? " · searching the texts …" : "";
}
