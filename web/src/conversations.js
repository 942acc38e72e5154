// Conversations: all of them as a list, and one with its score and its turns in order.
import { Marked, placesOf } from "./answer.js";
import { Balls, claimsOf, guilty } from "./claims.js";
import { citationsOf, markSpans, Rests, usesOf } from "./citations.js";
import { sorted } from "./filters.js";
import { GuiltyClaim, Level, missingText, Outcome, Prose, REASONS, Words } from "./marks.js";
import { Score } from "./sample.js";
import { Grid } from "./table.js";
import { brief, visible } from "./text.js";
import { Exchange } from "./turns.js";
import { counted, figure, html, useEffect, useKeys, useMedia, useMemo, useRef, useState } from "./ui.js";
import { Verdict } from "./verdict.js";

const sortingOf = ({ talks }) => talks?.sorting ?? { column: "score", descending: false };

/** The conversations of the list in its order. */
function orderOf({ report, state, main, look }) {
  const { column, descending } = sortingOf(state);
  const values = { conversation: (k) => report.conversations[k].id, turns: (k) => report.conversations[k].turns.length, lowest: (k) => lowestOf(report, main, k) };
  return sorted([...report.conversations.keys()], values[column] ?? ((k) => look && look.whole.scores[k]), descending);
}

/** The lowest score of a conversation's turns; NaN where none has one. */
function lowestOf(report, main, k) {
  const scores = report.conversations[k].turns.map((i) => main.scores[i]).filter((score) => !Number.isNaN(score));
  return scores.length ? Math.min(...scores) : NaN;
}

export function Conversations({ app }) {
  const { report, state, look, main } = app;
  const order = useMemo(() => orderOf(app), [main, state.talks?.sorting]);
  const list = useRef(null);
  const isNarrow = useMedia("(max-width: 700px)");
  const change = (patch) => app.set({ talks: { ...state.talks, ...patch } });
  const columns = [
    { key: "conversation", label: "Conversation", width: 12, grows: true, cell: (k) => html`<${Named} report=${report} k=${k} />` },
    look && { key: "score", label: "TCVA", width: 6, isNumeric: true, cell: (k) => html`<${Outcome} of=${look.whole} i=${k} />` },
    !isNarrow && { key: "turns", label: "Turns", width: 4, isNumeric: true, cell: (k) => report.conversations[k].turns.length },
    !isNarrow && { key: "lowest", label: "Lowest turn", width: 5.4, isNumeric: true, cell: (k) => figure(lowestOf(report, main, k)) },
  ];
  return html`<h2 class="spoken">Conversations</h2>
    <p class="count"><b>${counted(report.conversations.length, "conversation")}</b> ${look && "· scored over the claims of all turns"}
      <span class="keys"><kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> opens</span></p>
    <${Grid} key=${isNarrow} box=${list} label="Conversations" rows=${order} high=${76} columns=${columns.filter(Boolean)} sorting=${sortingOf(state)} onSort=${(sorting) => change({ sorting })}
      current=${state.talks?.current ?? -1} onCurrent=${(current) => change({ current })} onOpen=${(k) => app.go({ view: "conversation", conversation: report.conversations[k].id })} />`;
}

/** Id and first question. */
function Named({ report, k }) {
  const { id, turns } = report.conversations[k];
  const question = report.samples.questions[turns[0]];
  return html`<div class="named"><p><b><bdi>${brief(id, 80)}</bdi></b></p>${question && html`<p class="aside"><bdi>${visible(question)}</bdi></p>`}</div>`;
}

export function Conversation({ app }) {
  const { report, state, look, main } = app;
  const order = useMemo(() => orderOf(app), [report]);
  const found = state.conversation === undefined ? order[0] : report.conversations.findIndex(({ id }) => id === state.conversation);
  const at = order.indexOf(found);
  const { id, turns } = report.conversations[found] ?? { turns: [] };
  const [chosen, setChosen] = useState(-1);
  const box = useRef(null);
  useEffect(() => setChosen(-1), [found]);
  useEffect(() => app.set({ talks: { ...state.talks, current: found } }), [found]);
  useEffect(() => {
    const place = chosen >= 0 && box.current?.children[chosen];
    if (place) place.focus();
  }, [chosen]);
  const idOf = (to) => report.conversations[order[to]]?.id;
  const goTo = (to) => order[to] !== undefined && app.go({ view: "conversation", conversation: idOf(to) });
  const open = (i, claim) => app.go({ view: "sample", sample: report.samples.ids[i], claim });
  useKeys({
    ArrowLeft: () => goTo(at - 1), ArrowRight: () => goTo(at + 1), Escape: () => app.go({ view: "conversations" }),
    j: () => setChosen(Math.min(turns.length - 1, chosen + 1)), k: () => setChosen(Math.max(0, chosen - 1)),
    Enter: () => chosen >= 0 && open(turns[chosen]),
  });
  if (found < 0) return html`<h2>Conversation</h2><p>No conversation of this report has the id <${Words} text=${state.conversation} />.</p>`;
  const step = (to, text) => order[to] !== undefined && html`<a href=${app.link({ view: "conversation", conversation: idOf(to) })}>${text}</a>`;
  const why = look?.whole.unscored(found);
  return html`<div class="sample" key=${found}>
    <nav class="steps" aria-label="Conversations of the list">
      ${step(at - 1, "‹ previous")}<a href=${app.link({ view: "conversations" })}>${at + 1} of ${order.length}</a>${step(at + 1, "next ›")}
      <span class="keys"><kbd>←</kbd> <kbd>→</kbd> conversations, <kbd>j</kbd> <kbd>k</kbd> turns, <kbd>Enter</kbd> opens one, <kbd>Esc</kbd> list</span>
    </nav>
    <h2 class="sample-title"><bdi>${brief(id, 200)}</bdi></h2>
    ${look && html`<${Verdict} app=${app} of=${look.whole} i=${found}>${why && html`<${Prose} text=${why} class="aside" />`}<//>`}
    <nav class="turn-strip" aria-label="Turns">${turns.map((i, n) => html`<button key=${i} type="button" aria-pressed=${n === chosen} onClick=${() => setChosen(n)}
      aria-label=${`Turn ${n + 1}: ${outcomeText(main, i)}`}>${n + 1} ${MARKS[outcomeText(main, i).split(":")[0]]}</button>`)}</nav>
    <ol class="turns" ref=${box}>${turns.map((i, n) => html`<${Turn} key=${i} app=${app} i=${i} n=${n} chosen=${n === chosen} open=${open} />`)}</ol>
    ${look && html`<${Score} app=${app} look=${look.whole} i=${found} />`}
  </div>`;
}

const MARKS = { pass: "✓", fail: "✗", "nothing to check": "·", unscored: "?" };

/** What came of a turn, in words. */
function outcomeText(main, i) {
  const why = main.unscored(i);
  return why === null ? { true: "pass", false: "fail" }[main.passed(i)] ?? figure(main.scores[i]) : missingText(why);
}

function Turn({ app, i, n, chosen, open }) {
  const { report, main, look } = app;
  const { levels } = report.figures;
  const detail = report.detail(i) ?? {};
  const claims = claimsOf(app, main, i);
  const why = main.unscored(i);
  const contexts = detail.contexts ?? [];
  const judged = detail.runs?.[main.name];
  const uses = usesOf(judged, contexts);
  const jump = (_, claim) => open(i, claim + 1);
  const { said } = useMemo(() => placesOf((look?.run.claims ?? "response") === "response" ? (detail.response ?? "") : "", [], claims), [detail, claims]);
  const to = (claim) => app.link({ view: "sample", sample: report.samples.ids[i], claim });
  return html`<li tabindex="-1" class=${`card turn ${chosen ? "chosen" : ""}`}>
    <div class="claim-top"><h3><a href=${to()}>Turn ${n + 1}</a></h3><span><${Outcome} of=${main} i=${i} /></span><${Balls} report=${report} run=${main.run} i=${i} /></div>
    ${why !== null && html`<p class="aside">${REASONS[why.split(":")[0]] ?? visible(why)}</p>`}
    <${Exchange} detail=${detail}>${detail.response && html`<${Marked} text=${detail.response} spans=${said} marks=${markSpans(detail.response, said, citationsOf(judged))} id=${`turn-${n}`} claims=${claims} levels=${levels} chosen=${-1} jump=${jump} />`}<//>
    ${claims.map((claim, place) => !claim.verdict && html`<p key=${`n ${place}`} class="aside"><${Words} text=${brief(claim.claim, 160)} /> · <${Level} levels=${levels} of=${claim} /></p>`)}
    ${guilty(app, main, claims).map((each) => html`<${GuiltyClaim} key=${each.n} href=${to(each.n + 1)} fault=${report.faultOf(main.run, i, each.n)} ...${each} />`)}
    ${contexts.length > 0
      ? html`<details><summary>${counted(contexts.length, "context")}</summary>${contexts.map((text, p) => html`<section key=${p} class="passage" aria-label=${`Context ${p + 1}`}><h4>${p + 1}</h4>${uses?.[p] && html`<${Rests} use=${uses[p]} claims=${claims} levels=${levels} look=${look} jump=${jump} />`}<${Prose} text=${text} /></section>`)}</details>`
      : detail.contexts && html`<p class="aside">No contexts.</p>`}
  </li>`;
}
