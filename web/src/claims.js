// Claims as a score sees them: their weights, the ones that pull it down, and what it would be without each.
import { added, exponentAt, makePlan, preparedRow } from "./kernel.js";
import { Ball } from "./marks.js";
import { counted, html } from "./ui.js";

/** Balls of one sample in the list. */
const MOST_BALLS = 14;

/** The claims of a run or a method in a sample, where the texts are in the page. */
export function claimsOf({ report }, of, i) {
  const detail = report.detail(i);
  return (of.run ? detail?.runs?.[of.name]?.claims : detail?.methods?.[of.name]?.verdicts) ?? [];
}

/** A claim's shares of the levels: its probabilities, else all of it at its verdict. */
const sharesOf = ({ probabilities, verdict }, levels) => probabilities ?? levels.map((level) => Number(level === verdict));

/** A claim's weight in [0, 1]; NaN for a sentence that claims nothing. */
export function weightOf(claim, levels, weights) {
  return claim.verdict ? added(sharesOf(claim, levels).map((share, level) => share * weights[level])) : NaN;
}

/**
 * The claims that are not fully supported, those of least weight first, each with its number.
 * @returns {{claim: object, n: number, level: number}[]}
 */
export function guilty({ report }, of, claims) {
  const { levels, schemes } = report.figures;
  const weights = of.settings?.weights ?? schemes.default ?? [1, 0.9, 0.7, 0.3, 0];
  const found = claims.map((claim, n) => ({ claim, n, level: levels.indexOf(claim.verdict), weight: weightOf(claim, levels, weights) }));
  return found.filter(({ level }) => level > 0).sort((a, b) => a.weight - b.weight);
}

/**
 * What the score at a temperature would be without each claim; null where it is made of something else as well.
 * @param {import("./look.js").Scored} look
 * @returns {((temperature: number) => (number|null)[]) | null}
 */
export function withoutEach(look, i, claims, levels) {
  const judges = look.run.rows[look.run.row[i]];
  if (judges?.length !== 1 || !claims.length) return null;
  const rows = claims.map((claim) => (claim.verdict ? sharesOf(claim, levels) : null));
  const sums = levels.map((_, level) => added(rows.map((row) => row?.[level] ?? 0)));
  if (sums.some((sum, level) => Math.abs(sum - judges[0][level]) > 1e-6)) return null;
  const plan = makePlan(look.settings);
  const others = rows.map((row) => row && preparedRow(sums.map((sum, level) => Math.max(0, sum - row[level])), plan));
  return (temperature) => others.map((score) => (score ? score(temperature) : null));
}

/**
 * How much each claim decides the score at the temperature, the most decisive 1: at a low one the worst claims, at a high one the best.
 * It is the slope of the power mean by the claim's weight.
 */
export function lightOf({ settings }, claims, levels) {
  const { temperature, bounds, weights, eps } = settings;
  const power = exponentAt(temperature, bounds) - 1;
  const logs = weights.map((weight) => power * Math.log(Math.max(weight, eps)));
  const there = claims.filter(({ verdict }) => verdict).map((claim) => logs[levels.indexOf(claim.verdict)]);
  const most = Math.max(...there);
  return claims.map(({ verdict }) => (verdict ? Math.exp(logs[levels.indexOf(verdict)] - most) : 0));
}

/** A ball for each claim of a sample, in the answer's order; where there are many, the lowest levels. */
export function Balls({ report, run, i }) {
  const all = [...(run?.levels[i] ?? "")].map(Number);
  if (!all.length) return null;
  const { levels } = report.figures;
  const shown = all.length > MOST_BALLS ? all.slice().sort((a, b) => b - a).slice(0, MOST_BALLS) : all;
  const counts = levels.map((name, level) => [all.filter((each) => each === level).length, name]).filter(([count]) => count);
  const text = `${counted(all.length, "claim")}: ${counts.map((pair) => pair.join(" ")).join(", ")}`;
  return html`<span class="balls" role="img" aria-label=${text} title=${text}>
    ${shown.map((level, n) => html`<span key=${n} class=${`level-${level}`}><${Ball} level=${level} /></span>`)}${all.length > MOST_BALLS && html`<span class="aside">+${all.length - MOST_BALLS}</span>`}
  </span>`;
}
