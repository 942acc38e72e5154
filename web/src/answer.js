/** The answer with its claims marked, each claim with its verdict, and the passages with the evidence. */
import { find, findIn, pieces, searchable } from "./evidence.js";
import { CHECKS, Ball, Level, Prose, Words } from "./marks.js";
import { visible } from "./text.js";
import { figure, html, useEffect, useMemo, useRef, useState } from "./ui.js";

/** Texts with more characters are folded. */
const LONG = 1500;
/** A level that is surer than this needs no picture of the others. */
const SURE = 0.995;

export function Answer({ detail, claims, levels, weights, printing }) {
  const passages = detail.contexts ?? [];
  const places = useMemo(() => placesOf(detail.response ?? "", passages, claims), [detail, claims]);
  const [target, setTarget] = useState(null);
  const box = useRef(null);
  const jump = (id, claim) => setTarget({ id, claim });
  useEffect(() => target && show(box.current, target.id), [target]);
  useClaimKeys(claims.length, target?.claim ?? -1, jump);
  const marking = { claims, levels, chosen: target?.claim ?? -1, jump };
  return html`<div class="answer" ref=${box}>
    <div class="answer-said">
      ${
        detail.input &&
        html`<section>
          <h3>Question</h3>
          <${Folded} text=${detail.input} printing=${printing}><${Prose} text=${detail.input} /><//>
        </section>`
      }
      ${
        detail.response !== undefined &&
        html`<section>
          <h3>Response</h3>
          <${Folded} text=${detail.response} printing=${printing} opened=${target?.id.startsWith("said")}>
            <${Marked} text=${detail.response} spans=${places.said} id="said" to="claim" ...${marking} />
          <//>
        </section>`
      }
      ${
        claims.length > 0 &&
        html`<section>
          <h3>Claims</h3>
          <ol class="claims">
            ${claims.map(
              (claim, n) =>
                html`<${Claim}
                  key=${n}
                  n=${n}
                  claim=${claim}
                  levels=${levels}
                  weights=${weights}
                  place=${places.evidence[n]}
                  said=${places.said.some(({ key }) => key === n)}
                  chosen=${n === marking.chosen}
                  passages=${passages}
                  jump=${jump}
                />`,
            )}
          </ol>
        </section>`
      }
    </div>
    ${
      passages.length > 0 &&
      html`<div class="answer-passages">
        <h3>Passages</h3>
        ${passages.map(
          (text, p) =>
            html`<section key=${p} class="passage" aria-label=${`Passage ${p + 1}`}>
              <h4>${p + 1}</h4>
              <${Folded}
                text=${text}
                printing=${printing}
                opened=${target?.id.startsWith("evidence") && places.evidence[target.claim]?.passage === p}>
                <${Marked}
                  text=${text}
                  spans=${spansIn(places.evidence, p)}
                  id="evidence"
                  to="claim"
                  ...${marking}
                />
              <//>
            </section>`,
        )}
      </div>`
    }
  </div>`;
}

/** Where claims stand in the response, and where their evidence stands in the passages. */
function placesOf(response, passages, claims) {
  const [answer, ...texts] = [response, ...passages].map(searchable);
  const said = claims.flatMap(({ claim }, key) =>
    (find(answer, claim) ?? []).map((span) => ({ ...span, key })),
  );
  return {
    said,
    evidence: claims.map(({ evidence, passage }) => (evidence ? findIn(texts, evidence, passage) : null)),
  };
}

const spansIn = (evidence, p) =>
  evidence.flatMap((place, key) =>
    place?.passage === p ? place.spans.map((span) => ({ ...span, key })) : [],
  );

function Claim({ n, claim, levels, weights, place, said, chosen, passages, jump }) {
  return html`<li id=${`claim-${n}`} tabindex="-1" class=${`claim ${chosen ? "chosen" : ""}`}>
    <div class="claim-top">
      <span class="claim-number">${n + 1}</span>
      <${Level} name=${claim.verdict} levels=${levels} />
      ${claim.probabilities && weights && html`<span class="aside">weight ${figure(weighed(claim.probabilities, weights))}</span>`}
      ${said && html`<button type="button" class="quiet" onClick=${() => jump(`said-${n}`, n)} aria-label=${`Claim ${n + 1} in the response`}>in the response</button>`}
    </div>
    <${Prose} text=${claim.claim} class="claim-text" />
    ${claim.original_verdict && html`<p class="lowered">Lowered from <${Level} name=${claim.original_verdict} levels=${levels} />: ${CHECKS[claim.evidence_check] ?? ""}.</p>`}
    ${!claim.original_verdict && claim.evidence_check && html`<p class="lowered">${claim.evidence_check === "unchecked" ? "Not checked" : "Not supported"}: ${CHECKS[claim.evidence_check] ?? visible(claim.evidence_check)}.</p>`}
    ${claim.reason && html`<${Prose} text=${claim.reason} class="aside" />`}
    ${claim.evidence && html`<${Evidence} n=${n} claim=${claim} place=${place} passages=${passages} jump=${jump} />`}
    ${claim.probabilities && Math.max(...claim.probabilities) < SURE && html`<${Probabilities} shares=${claim.probabilities} levels=${levels} />`}
  </li>`;
}

/** The expected weight of a claim. */
const weighed = (shares, weights) => shares.reduce((sum, share, level) => sum + share * weights[level], 0);

function Evidence({ n, claim, place, passages, jump }) {
  const elsewhere = place && claim.passage && place.passage !== claim.passage - 1;
  return html`<div class="evidence">
    <blockquote dir="auto">${visible(claim.evidence)}</blockquote>
    ${place && html`<button type="button" class="quiet" onClick=${() => jump(`evidence-${n}`, n)} aria-label=${`Evidence of claim ${n + 1} in passage ${place.passage + 1}`}>passage ${place.passage + 1} →</button>`}
    ${elsewhere && html`<span class="aside">The judge named passage ${claim.passage}.</span>`}
    ${!place && passages.length > 0 && html`<span class="aside">These words do not stand side by side in any passage${claim.passage ? `; the judge named passage ${claim.passage}` : ""}.</span>`}
  </div>`;
}

function Probabilities({ shares, levels }) {
  const text = shares.map((share, level) => `${levels[level]} ${share.toFixed(2)}`).join(", ");
  return html`<div class="probabilities" role="img" aria-label=${`Probabilities: ${text}`} title=${text}>
    ${shares.map((share, level) => share > 0 && html`<span key=${level} class=${`fill-${level}`} style=${{ width: `${100 * share}%` }}>${share >= 0.3 ? `${levels[level]} ${share.toFixed(2)}` : ""}</span>`)}
  </div>`;
}

/** A text with the places of claims marked; each mark ends with the number that leads to its claim. */
function Marked({ text, spans, id, to, claims, levels, chosen, jump }) {
  const begun = new Set();
  return html`<div class="prose" dir="auto">
    ${pieces(text, spans).map(({ text: piece, keys, ends }, i) => {
      if (!keys.length) return html`<span key=${i}>${visible(piece)}</span>`;
      const [first] = keys;
      const level = levels.indexOf(claims[first].verdict);
      const ids = keys.filter((key) => !begun.has(key) && begun.add(key));
      return html`<mark
        key=${i}
        class=${`mark-${level < 0 ? "off" : level} ${keys.includes(chosen) ? "chosen" : ""}`}
        onClick=${() => jump(`${to}-${first}`, first)}>
        ${ids.map((key) => html`<span key=${key} id=${`${id}-${key}`} class="anchor"></span>`)}${visible(piece)}${ends.map(
          (key) =>
            html`<button
              key=${key}
              type="button"
              class="mark-number"
              aria-label=${`Claim ${key + 1}: ${claims[key].verdict ?? "not a claim"}`}
              onClick=${(event) => {
                event.stopPropagation();
                jump(`${to}-${key}`, key);
              }}>
              ${level >= 0 && html`<${Ball} level=${levels.indexOf(claims[key].verdict)} />`}${key + 1}
            </button>`,
        )}
      </mark>`;
    })}
  </div>`;
}

/** A long text, folded until the reader or a jump into it opens it. */
function Folded({ text, printing, opened = false, children }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (opened) setOpen(true);
  }, [opened]);
  if (text.length <= LONG) return children;
  const whole = open || opened || printing;
  return html`<div class=${whole ? "" : "folded"}>${children}</div>
    ${
      !printing &&
      html`<button type="button" class="quiet fold" aria-expanded=${whole} onClick=${() => setOpen(!whole)}>
        ${whole ? "Fold" : `Show all ${text.length.toLocaleString("en")} characters`}
      </button>`
    }`;
}

/** Brings a place into sight and, where it can have it, gives it the focus. */
function show(box, id) {
  const place = box.querySelector(`#${id}`);
  if (!place) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  place.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
  place.focus({ preventScroll: true });
}

function useClaimKeys(count, chosen, jump) {
  useEffect(() => {
    const turn = (event) => {
      const step = { j: 1, k: -1 }[event.key];
      if (
        !step ||
        !count ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.target.closest?.("input, select, textarea")
      )
        return;
      const to = Math.min(count - 1, Math.max(0, chosen + step));
      jump(`claim-${to}`, to);
    };
    addEventListener("keydown", turn);
    return () => removeEventListener("keydown", turn);
  });
}
