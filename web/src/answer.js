// The answer with its claims marked, each claim with its verdict, and the contexts with the evidence.
import { CAUSES } from "./causes.js";
import { Citation, citationsOf, citationText, markSpans, Rests, usesOf } from "./citations.js";
import { weightOf } from "./claims.js";
import { between, find, findIn, pieces, searchable, stays } from "./evidence.js";
import { Ball, CHECKS, Decision, isKind, kindText, Level, NAMES, Prose } from "./marks.js";
import { visible } from "./text.js";
import { counted, figure, html, percent, useEffect, useKeys, useMemo, useRef, useState } from "./ui.js";

/** Texts with more characters are folded. */
const LONG = 1500;
/** In the place of a claim's number: a part of the answer that is cut. */
const CUT = -1;
/** In the address: the answer is shown as it is served. */
const SERVED = "served";
/** Headings of the texts of a sample beside its contexts. */
const FIELDS = { input: "Question", response: "Answer", reference: "Reference" };

export function Answer({ app, i, detail, claims, said, lights, without }) {
  const { levels } = app.report.figures;
  const { claims: claimed = "response", against = "contexts" } = app.look?.run ?? {};
  const contexts = detail.contexts ?? [];
  const sources = against === "contexts" ? contexts : [detail[against] ?? ""];
  const served = useMemo(() => stays(detail.response ?? "", said?.served), [detail, said]);
  const places = useMemo(() => placesOf(detail[claimed] ?? "", sources, claims, served?.parts), [detail, claims, served]);
  const citations = citationsOf(said);
  const marks = useMemo(() => markSpans(detail[claimed] ?? "", places.said, citations), [places]);
  const isAsServed = Boolean(served) && app.state.answer === SERVED;
  const cuts = served ? between(detail.response, served.left) : [];
  // Of an answer that was not judged, the parts are no claims of the judge.
  const parts = served?.parts.length === claims.length ? served.parts : [];
  const isCut = (n) => parts[n]?.stays === false;
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
  const uses = usesOf(said, contexts);
  const used = uses?.filter(({ claims: resting }) => resting.length > 0).length;
  const marking = { claims, levels, lights, chosen: target.claim, jump };
  const isTarget = (id) => target.id.startsWith(id);
  /** A text with the claims that stand in it, or else the evidence. */
  const marked = (field, p = 0) => {
    const id = field === claimed ? "said" : "evidence";
    const evidence = field === against ? places.evidence.flatMap((place, key) => (place?.passage === p ? place.spans.map((span) => ({ ...span, key })) : [])) : [];
    const text = field === "contexts" ? contexts[p] : detail[field];
    const opened = id === "said" ? isTarget(id) : isTarget(id) && field === against && places.evidence[target.claim]?.passage === p;
    return html`<${Folded} text=${text} opened=${opened}>
      <${Marked} text=${text} spans=${id === "said" ? places.said : evidence} marks=${id === "said" ? marks : []} cuts=${field === "response" ? cuts : []} isAsServed=${isAsServed} id=${id} ...${marking} />
    <//>`;
  };
  const shown = Object.keys(FIELDS).filter((field) => detail[field] !== undefined && (field !== "reference" || [claimed, against].includes(field)));
  return html`<div class="answer" ref=${box}>
    <div class="answer-said">
      ${shown.map((field) => html`<h3 key=${field}>${FIELDS[field]}</h3>
        ${field === "response" && served && html`<${Served} app=${app} claims=${claims} served=${served} isAsServed=${isAsServed} />`}
        ${marked(field)}`)}
      ${claims.length > 0 && html`<h3>Claims${claimed === "response" ? "" : ` of the ${NAMES[claimed]}`}</h3>${lights?.some(Boolean) && html`<p class="note">The stronger the highlight, the more a claim decides the score at this temperature.</p>`}
        <ol class="claims">
          ${claims.map((claim, n) => html`<${Claim} key=${n} n=${n} claim=${claim} levels=${levels} look=${app.look} light=${lights?.[n]} without=${without?.[n]} place=${places.evidence[n]} claimed=${claimed} against=${against}
            said=${places.said.some(({ key }) => key === n) && !(isAsServed && isCut(n))} isCut=${isCut(n)} isOrphan=${Boolean(parts[n]?.isOrphan)} fault=${app.report.faultOf(app.look?.run, i, n)} cites=${citations.filter((each) => each.n === n)} chosen=${n === target.claim} hasSources=${sources.some(Boolean)} jump=${jump} />`)}
        </ol>`}
    </div>
    ${contexts.length > 0 && html`<div class="answer-contexts">
      <h3>Contexts</h3>
      ${uses && html`<p class="note">${used} of ${counted(uses.length, "context")} used.${used < uses.length ? " Each claim has one quote, so an unused context may have served, too." : ""}</p>`}
      ${contexts.map((_, p) => html`<section key=${p} class="passage" aria-label=${`Context ${p + 1}`}>
        <h4>${p + 1}</h4>
        ${uses?.[p] && html`<${Rests} use=${uses[p]} claims=${claims} levels=${levels} look=${app.look} jump=${jump} />`}
        ${marked("contexts", p)}
      </section>`)}
    </div>`}
  </div>`;
}

/** What a reader gets of the answer, and the switch that shows it. */
function Served({ app, claims, served: { parts, left }, isAsServed }) {
  const { claim_threshold: threshold = "partial", max_removed: most = 1 } = app.look.run.settings;
  const judged = claims.filter(({ verdict }) => verdict).length;
  const removed = parts.filter(({ stays }) => !stays).length;
  const orphans = parts.filter(({ isOrphan }) => isOrphan).length;
  // The library cuts, so other weights on the page do not move what is cut.
  const isReweighted = app.look.settings.weights !== app.look.run.settings.weights;
  const how = `at the claim threshold ${typeof threshold === "number" ? Number(threshold.toPrecision(6)) : threshold}${isReweighted ? " and the weights of the run" : ""}${app.look.run.settings.require_citations ? ", wrong citations included" : ""}`;
  const sentence = removed === 0 ? `Nothing is removed ${how}.`
    : judged === 0 ? "It was not judged: what may claim something is removed."
    : left.length === 0 ? `Nothing is served ${how}${most < 1 ? `, where more than ${percent(most)} of an answer's claims would be removed` : ""}.`
    : `${removed} of ${counted(judged, "claim")} removed ${how}.${orphans ? ` ${orphans} may refer to a removed one.` : ""}`;
  return html`<p class="served">
    <button type="button" aria-pressed=${isAsServed} onClick=${() => app.set({ answer: isAsServed ? undefined : SERVED })}>As served</button>
    <span class="aside">${visible(sentence)}</span>
  </p>`;
}

/**
 * Where claims stand in their text, and where their evidence stands in the texts that they were judged against.
 * @param {Part[]} [parts] the sentences of the text, where they are known
 */
export function placesOf(claimed, sources, claims, parts) {
  const [answer, ...texts] = [claimed, ...sources].map(searchable);
  const said = parts?.length === claims.length
    ? parts.map(({ start, end }, key) => ({ start, end, key }))
    : claims.flatMap(({ claim }, key) => (find(answer, claim) ?? []).map((span) => ({ ...span, key })));
  return { said, evidence: claims.map(({ evidence, context }) => (evidence ? findIn(texts, evidence, context) : null)) };
}

function Claim({ n, claim, levels, look, light, without, place, claimed, against, said, isCut, isOrphan, fault, cites, chosen, hasSources, jump }) {
  const { original_verdict: original, evidence_check: check, probabilities: shares } = claim;
  const weight = shares && look && weightOf(claim, levels, look.settings.weights);
  return html`<li id=${`claim-${n}`} tabindex="-1" class=${`claim edge-${levels.indexOf(claim.verdict)} ${chosen ? "chosen" : ""}`} style=${{ "--light": light ?? 1 }}>
    <div class="claim-top">
      <span class="claim-number">${n + 1}</span>
      <${Level} name=${claim.verdict} levels=${levels} of=${claim} />
      ${weight !== null && weight !== undefined && html`<span class="aside" title="1 for fully, 0 for none; between them by the probabilities of the levels">weight ${figure(weight)}</span>`}
      ${without !== null && without !== undefined && html`<span class="aside" title="The score of the answer, were this claim not in it">without it ${Number.isNaN(without) ? "no score" : html`${figure(without)} <${Decision} passed=${without >= look.settings.threshold} />`}</span>`}
      ${isCut && html`<span class="aside">removed</span>`}
      ${isOrphan && html`<span class="aside" title="It begins with a word that may stand for something in a removed claim">may refer to a removed claim</span>`}
      ${said && html`<button type="button" class="quiet" onClick=${() => jump(`said-${n}`, n)} aria-label=${`Claim ${n + 1} in the ${NAMES[claimed]}`}>in the ${NAMES[claimed]}</button>`}
    </div>
    <${Prose} text=${claim.claim} class="claim-text" />
    ${fault && html`<p class="cause-text">${visible(CAUSES[fault.cause].one)}</p>`}
    ${cites.map((each, k) => html`<${Citation} key=${k} of=${each} />`)}
    ${original && html`<p class="lowered">Lowered from <${Level} name=${original} levels=${levels} />: ${CHECKS[check] ?? ""}.</p>`}
    ${!original && check && html`<p class="lowered">${check === "unchecked" ? "Not checked" : "Not supported"}: ${CHECKS[check] ?? visible(check)}.</p>`}
    ${claim.reason && !isKind(claim) && html`<${Prose} text=${claim.reason} class="aside" />`}
    ${claim.evidence && html`<${Evidence} n=${n} claim=${claim} place=${place} against=${against} hasSources=${hasSources} jump=${jump} />`}
    ${shares && html`<p class="aside">Probabilities: ${shares.map((share, level) => [levels[level], share.toFixed(2)]).filter(([, share]) => share !== "0.00").map((pair) => pair.join(" ")).join(", ")}</p>`}
  </li>`;
}

function Evidence({ n, claim: { evidence, context }, place, against, hasSources, jump }) {
  const inContexts = against === "contexts";
  const where = place && (inContexts ? `context ${place.passage + 1}` : `the ${NAMES[against]}`);
  return html`<div class="evidence">
    <blockquote dir="auto">${visible(evidence)}</blockquote>
    ${place && html`<button type="button" class="quiet" onClick=${() => jump(`evidence-${n}`, n)} aria-label=${`Evidence of claim ${n + 1} in ${where}`}>${where} →</button>`}
    ${inContexts && place && context && place.passage !== context - 1 && html`<span class="aside">The judge named context ${context}.</span>`}
    ${!place && hasSources && html`<span class="aside">${inContexts ? `No context contains these words${context ? `; the judge named context ${context}` : ""}.` : `The ${NAMES[against]} does not contain these words.`}</span>`}
  </div>`;
}

/** A text with the places of claims marked, each with the number that leads to its claim, and the citations in them; what is cut is struck through, or not there. */
export function Marked({ text, spans, marks = [], cuts = [], isAsServed = false, id, claims, levels, lights, chosen, jump }) {
  const begun = new Set();
  return html`<div class="prose" dir="auto">
    ${pieces(text, [...spans, ...marks, ...cuts.map((cut) => ({ ...cut, key: CUT }))]).map(({ text: piece, keys: all, ends: allEnds }, i) => {
      const isCut = all.includes(CUT);
      if (isCut && isAsServed) return null;
      const [keys, ends] = [all, allEnds].map((some) => some.filter((key) => Number.isInteger(key) && key !== CUT));
      const cited = all.find((key) => key.outcome);
      const shown = cited ? html`<span class=${`cite cite-${cited.outcome}`} title=${citationText(cited)}>${visible(piece)}</span>` : visible(piece);
      const inCut = (part) => (isCut && piece.trim() ? html`<del key=${i}>${part}</del>` : part);
      if (!keys.length) return inCut(html`<span key=${i}>${visible(piece)}</span>`);
      const [first] = keys;
      const levelOf = (key) => levels.indexOf(claims[key].verdict);
      const ids = keys.filter((key) => !begun.has(key) && begun.add(key));
      const lead = (event, key) => {
        event.stopPropagation();
        jump(`claim-${key}`, key);
      };
      return inCut(html`<mark key=${i} class=${`mark-${levelOf(first) < 0 ? "off" : levelOf(first)} ${keys.includes(chosen) ? "chosen" : ""}`} style=${{ "--light": lights?.[first] ?? 1 }} onClick=${(event) => lead(event, first)}>
        ${ids.map((key) => html`<span key=${key} id=${`${id}-${key}`} class="anchor"></span>`)}${shown}${ends.map(
          (key) => html`<button key=${key} type="button" class="mark-number" aria-label=${`Claim ${key + 1}: ${claims[key].verdict ?? kindText(claims[key])}${isCut ? ", removed" : ""}`}
            onClick=${(event) => lead(event, key)}>${levelOf(key) >= 0 && html`<${Ball} level=${levelOf(key)} />`}${key + 1}</button>`,
        )}
      </mark>`);
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
