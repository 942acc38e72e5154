// Citations held against the quotes of claims, and the passages that claims rest on, as the library found them.
import { weightOf } from "./claims.js";
import { Words } from "./marks.js";
import { visible } from "./text.js";
import { counted, figure, html } from "./ui.js";

/**
 * @typedef {object} Citation
 * @property {number} n its claim
 * @property {string[]} marks as they stand in the text
 * @property {number[]} cited passages, from 1
 * @property {number[]} found the passages that hold the claim's quote
 * @property {string} outcome
 */

/** The citations of a judgement. @returns {Citation[]} */
export const citationsOf = (said) => (said?.citations ?? []).map(([n, marks, cited, found, outcome]) => ({ n, marks, cited, found, outcome }));

/** Which claims rest on each context; null where that is not known. */
export const usesOf = (said, contexts) => (said?.passages?.length === contexts.length ? said.passages.map(([id, claims]) => ({ id, claims })) : null);

const named = (numbers) => `context${numbers.length === 1 ? "" : "s"} ${numbers.join(", ")}`;

/** What came of a citation, in words. */
export function citationText({ outcome, cited, found }) {
  const right = cited.filter((passage) => found.includes(passage));
  const others = cited.filter((passage) => !found.includes(passage));
  return {
    confirmed: `confirmed: ${named(right)} ${right.length === 1 ? "holds" : "hold"} the quote${others.length ? `, ${named(others)} ${others.length === 1 ? "does" : "do"} not` : ""}`,
    elsewhere: `elsewhere: the quote stands in ${named(found)}, not in ${named(cited)}`,
    unconfirmed: "unconfirmed: no quote was found for this claim",
    broken: "broken: a context is cited that does not exist",
    missing: "missing: the claim is supported and cites nothing",
  }[outcome] ?? outcome;
}

/** A claim's citation: its marks, and what came of it. */
export function Citation({ of }) {
  return html`<p class="citation">${of.marks.map((mark, k) => html`<span key=${k} class=${`cite cite-${of.outcome}`}><${Words} text=${mark} /></span> `)}<span class="aside">Citation ${visible(citationText(of))}.</span></p>`;
}

/** Where the marks of citations stand in a text; each has its citation as its key. */
export function markSpans(text, places, citations) {
  return citations.flatMap((citation) => {
    const spans = places.filter(({ key }) => key === citation.n);
    let at = Math.min(...spans.map(({ start }) => start));
    const end = Math.max(...spans.map((span) => span.end));
    return citation.marks.flatMap((mark) => {
      const start = spans.length ? text.indexOf(mark, at) : -1;
      if (start < 0 || start + mark.length > end) return [];
      at = start + mark.length;
      return [{ start, end: at, key: citation }];
    });
  });
}

/** The claims that rest on a passage, with their weight at the weights of the page. */
export function Rests({ use: { id, claims: resting }, claims, levels, look, jump }) {
  const weight = resting.reduce((sum, n) => sum + weightOf(claims[n], levels, look.settings.weights), 0);
  return html`<p class="aside rests">${id && html`<${Words} text=${id} /> · `}${resting.length === 0 ? "no claim rests on it" : html`${counted(resting.length, "claim")} ${resting.length === 1 ? "rests" : "rest"} on it:
    ${resting.map((n) => html`<button key=${n} type="button" class="mark-number" aria-label=${`Claim ${n + 1} rests on this context`} onClick=${() => jump(`claim-${n}`, n)}>${n + 1}</button>`)} weight ${figure(weight, 2)}`}</p>`;
}
