// The answer with its claims marked, each claim with its verdict, and the contexts with the evidence.
import { weightOf } from "./claims.js";
import { find, findIn, pieces, searchable } from "./evidence.js";
import { Ball, CHECKS, Decision, isKind, kindText, Level, Prose } from "./marks.js";
import { visible } from "./text.js";
import { figure, html, useEffect, useKeys, useMemo, useRef, useState } from "./ui.js";

/** Texts with more characters are folded. */
const LONG = 1500;

export function Answer({ app, detail, claims, lights, without }) {
  const { levels } = app.report.figures;
  const contexts = detail.contexts ?? [];
  const places = useMemo(() => placesOf(detail.response ?? "", contexts, claims), [detail, claims]);
  const named = Number.isInteger(app.state.claim) && app.state.claim >= 1 && app.state.claim <= claims.length ? app.state.claim - 1 : -1;
  const [target, setTarget] = useState({ id: named < 0 ? "" : `claim-${named}`, claim: named });
  const box = useRef(null);
  const jump = (id, claim) => {
    setTarget({ id, claim });
    app.set({ claim: claim + 1 });
  };
  useEffect(() => {
    if (target.id) show(box.current, target.id);
  }, [target]);
  const move = (step) => {
    const to = Math.min(claims.length - 1, Math.max(0, target.claim + step));
    if (claims.length) jump(`claim-${to}`, to);
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  const marking = { claims, levels, lights, chosen: target.claim, jump };
  const spansIn = (p) => places.evidence.flatMap((place, key) => (place?.passage === p ? place.spans.map((span) => ({ ...span, key })) : []));
  return html`<div class="answer" ref=${box}>
    <div class="answer-said">
      ${detail.input && html`<h3>Question</h3><${Folded} text=${detail.input}><${Prose} text=${detail.input} /><//>`}
      ${detail.response !== undefined && html`<h3>Answer</h3>
        <${Folded} text=${detail.response} opened=${target.id.startsWith("said")}>
          <${Marked} text=${detail.response} spans=${places.said} id="said" ...${marking} />
        <//>`}
      ${claims.length > 0 && html`<h3>Claims</h3>${lights?.some(Boolean) && html`<p class="note">The stronger the highlight, the more a claim decides the score at this temperature.</p>`}
        <ol class="claims">
          ${claims.map((claim, n) => html`<${Claim} key=${n} n=${n} claim=${claim} levels=${levels} look=${app.look} light=${lights?.[n]} without=${without?.[n]} place=${places.evidence[n]}
            said=${places.said.some(({ key }) => key === n)} chosen=${n === target.claim} contexts=${contexts} jump=${jump} />`)}
        </ol>`}
    </div>
    ${contexts.length > 0 && html`<div class="answer-contexts">
      <h3>Contexts</h3>
      ${contexts.map((text, p) => html`<section key=${p} class="passage" aria-label=${`Context ${p + 1}`}>
        <h4>${p + 1}</h4>
        <${Folded} text=${text} opened=${target.id.startsWith("evidence") && places.evidence[target.claim]?.passage === p}>
          <${Marked} text=${text} spans=${spansIn(p)} id="evidence" ...${marking} />
        <//>
      </section>`)}
    </div>`}
  </div>`;
}

/** Where claims stand in the response, and where their evidence stands in the contexts. */
export function placesOf(response, contexts, claims) {
  const [answer, ...texts] = [response, ...contexts].map(searchable);
  const said = claims.flatMap(({ claim }, key) => (find(answer, claim) ?? []).map((span) => ({ ...span, key })));
  return { said, evidence: claims.map(({ evidence, context }) => (evidence ? findIn(texts, evidence, context) : null)) };
}

function Claim({ n, claim, levels, look, light, without, place, said, chosen, contexts, jump }) {
  const { original_verdict: original, evidence_check: check, probabilities: shares } = claim;
  const weight = shares && look && weightOf(claim, levels, look.settings.weights);
  return html`<li id=${`claim-${n}`} tabindex="-1" class=${`claim edge-${levels.indexOf(claim.verdict)} ${chosen ? "chosen" : ""}`} style=${{ "--light": light ?? 1 }}>
    <div class="claim-top">
      <span class="claim-number">${n + 1}</span>
      <${Level} name=${claim.verdict} levels=${levels} of=${claim} />
      ${weight !== null && weight !== undefined && html`<span class="aside" title="1 for fully, 0 for none; between them by the probabilities of the levels">weight ${figure(weight)}</span>`}
      ${without !== null && without !== undefined && html`<span class="aside" title="The score of the answer, were this claim not in it">without it ${Number.isNaN(without) ? "no score" : html`${figure(without)} <${Decision} passed=${without >= look.settings.threshold} />`}</span>`}
      ${said && html`<button type="button" class="quiet" onClick=${() => jump(`said-${n}`, n)} aria-label=${`Claim ${n + 1} in the answer`}>in the answer</button>`}
    </div>
    <${Prose} text=${claim.claim} class="claim-text" />
    ${original && html`<p class="lowered">Lowered from <${Level} name=${original} levels=${levels} />: ${CHECKS[check] ?? ""}.</p>`}
    ${!original && check && html`<p class="lowered">${check === "unchecked" ? "Not checked" : "Not supported"}: ${CHECKS[check] ?? visible(check)}.</p>`}
    ${claim.reason && !isKind(claim) && html`<${Prose} text=${claim.reason} class="aside" />`}
    ${claim.evidence && html`<${Evidence} n=${n} claim=${claim} place=${place} contexts=${contexts} jump=${jump} />`}
    ${shares && html`<p class="aside">Probabilities: ${shares.map((share, level) => [levels[level], share.toFixed(2)]).filter(([, share]) => share !== "0.00").map((pair) => pair.join(" ")).join(", ")}</p>`}
  </li>`;
}

function Evidence({ n, claim, place, contexts, jump }) {
  return html`<div class="evidence">
    <blockquote dir="auto">${visible(claim.evidence)}</blockquote>
    ${place && html`<button type="button" class="quiet" onClick=${() => jump(`evidence-${n}`, n)} aria-label=${`Evidence of claim ${n + 1} in context ${place.passage + 1}`}>context ${place.passage + 1} →</button>`}
    ${place && claim.context && place.passage !== claim.context - 1 && html`<span class="aside">The judge named context ${claim.context}.</span>`}
    ${!place && contexts.length > 0 && html`<span class="aside">No context contains these words${claim.context && `; the judge named context ${claim.context}`}.</span>`}
  </div>`;
}

/** A text with the places of claims marked; each mark ends with the number that leads to its claim. */
export function Marked({ text, spans, id, claims, levels, lights, chosen, jump }) {
  const begun = new Set();
  return html`<div class="prose" dir="auto">
    ${pieces(text, spans).map(({ text: piece, keys, ends }, i) => {
      if (!keys.length) return html`<span key=${i}>${visible(piece)}</span>`;
      const [first] = keys;
      const levelOf = (key) => levels.indexOf(claims[key].verdict);
      const ids = keys.filter((key) => !begun.has(key) && begun.add(key));
      const lead = (event, key) => {
        event.stopPropagation();
        jump(`claim-${key}`, key);
      };
      return html`<mark key=${i} class=${`mark-${levelOf(first) < 0 ? "off" : levelOf(first)} ${keys.includes(chosen) ? "chosen" : ""}`} style=${{ "--light": lights?.[first] ?? 1 }} onClick=${(event) => lead(event, first)}>
        ${ids.map((key) => html`<span key=${key} id=${`${id}-${key}`} class="anchor"></span>`)}${visible(piece)}${ends.map(
          (key) => html`<button key=${key} type="button" class="mark-number" aria-label=${`Claim ${key + 1}: ${claims[key].verdict ?? kindText(claims[key])}`}
            onClick=${(event) => lead(event, key)}>${levelOf(key) >= 0 && html`<${Ball} level=${levelOf(key)} />`}${key + 1}</button>`,
        )}
      </mark>`;
    })}
  </div>`;
}

/** A long text, folded until the reader or a jump into it opens it. */
function Folded({ text, opened = false, children }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (opened) setOpen(true);
  }, [opened]);
  if (text.length <= LONG) return children;
  return html`<div class=${open || opened ? "" : "folded"}>${children}</div>
    <button type="button" class="quiet fold" aria-expanded=${open || opened} onClick=${() => setOpen(!open)}>
      ${open || opened ? "Fold" : `Show all ${text.length.toLocaleString("en")} characters`}
    </button>`;
}

/** Brings a place into sight and, where it can have it, gives it the focus. */
function show(box, id) {
  const place = box.querySelector(`#${id}`);
  if (!place) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  place.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  place.focus({ preventScroll: true });
}
