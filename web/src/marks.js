/** Levels, decisions and texts as every view shows them: a shape and a word, never colour alone. */
import { CAUSES } from "./causes.js";
import { kindOf } from "./filters.js";
import { brief, visible } from "./text.js";
import { figure, html } from "./ui.js";

/** How a sentence names the texts of a sample. */
export const NAMES = { input: "question", response: "answer", reference: "reference" };

/** A circle filled by the level's rank: full for `fully`, empty for `none`. */
export function Ball({ level }) {
  const share = 1 - level / 4;
  const angle = 2 * Math.PI * share;
  const [x, y] = [8 + 6 * Math.sin(angle), 8 - 6 * Math.cos(angle)];
  const sector = `M8 8V2A6 6 0 ${share > 0.5 ? 1 : 0} 1 ${x.toFixed(2)} ${y.toFixed(2)}Z`;
  return html`<svg class="ball" viewBox="0 0 16 16" aria-hidden="true">
    <circle cx="8" cy="8" r="6" class=${share === 1 ? "ball-full" : "ball-rim"} />
    ${share > 0 && share < 1 && html`<path d=${sector} />`}
  </svg>`;
}

/** What sentences that claim nothing are, beyond that they do. */
const KINDS = ["greeting", "question", "offer", "refusal"];

/** What a claim without a level is, in words: its kind, and whether no list of phrases knows it. */
export function kindText({ reason, marked_by_judge: isMarked } = {}) {
  return `no claim${KINDS.includes(reason) ? `: ${reason}` : ""}${isMarked ? ", by the judge alone" : ""}`;
}

/** Whether the reason of a claim only names its kind. */
export const isKind = ({ verdict, reason }) => !verdict && [...KINDS, "not_a_claim"].includes(reason);

/** A level by its name, with its circle; a sentence that claims nothing has none. */
export function Level({ name, levels, of }) {
  const level = levels.indexOf(name);
  if (level < 0) return html`<span class="level level-off">${kindText(of)}</span>`;
  return html`<span class=${`level level-${level}`}><${Ball} level=${level} />${name}</span>`;
}

/** A claim that pulls its score down: its level, its text in the level's mark, and why; a click leads to it. */
export function GuiltyClaim({ claim, level, href, fault }) {
  const why = claim.original_verdict ? `lowered from ${claim.original_verdict}: ${CHECKS[claim.evidence_check] ?? claim.reason ?? ""}` : claim.reason;
  return html`<p class="guilty"><span class=${`level level-${level}`}><${Ball} level=${level} />${claim.verdict}</span>
    <span><a href=${href} class=${`mark mark-${level}`}><bdi>${brief(claim.claim, 200)}</bdi></a>${why && html` <span class="aside"><bdi>${brief(why, 160)}</bdi></span>`}${fault && html` <span class="cause-text">${CAUSES[fault.cause].one}</span>`}</span></p>`;
}

/** Pass or fail; nothing where there is no decision. */
export function Decision({ passed }) {
  if (passed === null) return null;
  return html`<span class=${`decision ${passed ? "passes" : "fails"}`}>
    <span aria-hidden="true">${passed ? "✓" : "✗"}</span> ${passed ? "pass" : "fail"}</span>
  `;
}

/** A text of others in a line of ours: its direction ends where it ends. */
export function Words({ text }) {
  return html`<bdi class="words">${visible(String(text))}</bdi>`;
}

/** A text of others as a block of its own. */
export function Prose({ text, class: extra = "" }) {
  return html`<div class=${`prose ${extra}`} dir="auto">${visible(String(text))}</div>`;
}

/** The way to a sample or one of its claims, by its name; with its question where there is room. */
export function SampleLink({ app, i, run, claim, text, withQuestion = false }) {
  const { ids, questions } = app.report.samples;
  const address = app.link({ view: "sample", sample: ids[i], claim, ...(run ? { run } : {}) });
  return html`<a href=${address}><bdi>${text ?? brief(ids[i], 60)}</bdi></a>${withQuestion && questions[i] && html` <span class="aside"><bdi>${visible(questions[i])}</bdi></span>`}`;
}

/** Whether a sample without a score is none that lacks one: it claims nothing. */
export const isEmpty = (why) => ["no_claims", "refusal", "nothing_to_check"].includes(kindOf(why));

/** Why there is no score, in a few words. */
export function missingText(why) {
  const kind = kindOf(why).replaceAll("_", " ");
  return `${isEmpty(why) ? "nothing to check" : "unscored"}${kind === "nothing to check" ? "" : `: ${brief(kind, 30)}`}`;
}

/** A score with its decision, or why there is none. */
export function Outcome({ of, i }) {
  const why = of.unscored(i);
  if (why !== null) return html`<span class="unscored" title=${visible(why)}>${missingText(why)}</span>`;
  return html`<b data-value=${of.scores[i]}>${figure(of.scores[i])}</b> <${Decision} passed=${of.passed(i)} />`;
}

/** Why a sample has no score, in plain words. */
export const REASONS = {
  no_claims: "The answer makes no claim that can be checked.",
  nothing_to_check: "The answer makes no claim that can be checked.",
  refusal: "The answer is a refusal.",
  empty_response: "The answer is empty.",
  empty_context: "There is no context to check the answer against.",
  empty_reference: "There is no reference to check the answer against.",
  empty_input: "The question is empty.",
  missing_field: "A field that the criterion needs is missing.",
  incomplete_verdicts: "The judge did not give a verdict on every claim.",
  unreadable_reply: "The judge's reply could not be read.",
  judge_error: "The call of the judge failed.",
  rate_limit: "The judge's server refused the call: too many requests.",
  timeout: "The judge did not answer in time.",
  invalid_input: "The judge's server refused the text.",
  too_long: "The answer has more claims than are judged.",
};

/** What the check of a quote found, as tcva_adapters/results/assessment.py says it. */
export const CHECKS = {
  not_found: "the quote is in no context",
  unrelated: "the quote has nothing to do with the claim",
  negated: "a negation stands next to the quote",
  contradicts: "a number or negation of the quote contradicts the claim",
  too_short: "the quote is a word or two and lacks numbers or names of the claim",
  unchecked: "quote and claim share no word; it may be a paraphrase or another language",
};
