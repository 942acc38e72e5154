// Turns of conversations: what was said before one, and its neighbours.
import { Decision, Prose, SampleLink } from "./marks.js";
import { brief } from "./text.js";
import { counted, figure, html } from "./ui.js";

/** What was said before a sample's question: the turns before it, else the history that it came with. */
export function Earlier({ app: { report }, i }) {
  const { turns = [], n = 0 } = report.turn(i) ?? {};
  const history = report.detail(i)?.history;
  if (!history && n === 0) return null;
  return html`<details class="earlier"><summary>${history ? "Said before" : counted(n, "earlier turn")}</summary>
    ${history && html`<${Prose} text=${history} class="aside" />`}
    ${turns.slice(0, n).map((turn) => html`<${Exchange} key=${turn} detail=${report.detail(turn)} />`)}
  </details>`;
}

/** A question and its answer. */
export function Exchange({ detail, children }) {
  if (!detail?.input && !detail?.response) return html`<p class="aside">The texts of this turn are not in this page.</p>${children}`;
  return html`${detail.input && html`<${Prose} text=${detail.input} class="asked" />`}
    <div class="answered">${children ?? html`<${Prose} text=${detail.response ?? ""} />`}</div>`;
}

/** Where a sample stands in its conversation, with the score of the whole and the turns next to it. */
export function Place({ app, i }) {
  const { report, look } = app;
  const turn = report.turn(i);
  if (!turn) return null;
  const { k, n, turns } = turn;
  const { id } = report.conversations[k];
  const step = (to, text) => turns[to] !== undefined && html` <${SampleLink} app=${app} i=${turns[to]} text=${text} />`;
  return html`<nav class="steps" aria-label="Turns of the conversation">
    <span>Turn ${n + 1} of ${turns.length} of <a href=${app.link({ view: "conversation", conversation: id })}><bdi>${brief(id)}</bdi></a>${look && !Number.isNaN(look.whole.scores[k]) && html`, which scores ${figure(look.whole.scores[k])} <${Decision} passed=${look.whole.passed(k)} />`}</span>
    ${step(n - 1, "‹ earlier turn")}${step(n + 1, "later turn ›")}
    <span class="keys"><kbd>h</kbd> <kbd>l</kbd> turns, <kbd>c</kbd> conversation</span>
  </nav>`;
}
