// The score of one sample at the temperature, its decision, and where along the temperature that changes.
import { Axes, frame, path, Tip, useWidth } from "./chart.js";
import { Decision, isEmpty } from "./marks.js";
import { stepsWithin } from "./scoring.js";
import { degree, figure, html, signed, useState } from "./ui.js";

const HEIGHT = 150;

/** @param {import("./look.js").Scored} of what the score is of: samples, or the conversations of a run */
export function Verdict({ app, of, i, rating = null, children }) {
  const { looks, report } = app;
  const look = of.run ? of : null;
  const rated = rating !== null && html`<p>Human rating ${Number(rating.toFixed(3))} on a scale of ${report.samples.human_scale.join(" to ")}.</p>`;
  const score = of.scores[i];
  if (Number.isNaN(score)) return html`<div class="card verdict"><div><p><strong class="big">${isEmpty(of.unscored(i)) ? "Nothing to check" : "Unscored"}</strong></p>${rated}${children}</div></div>`;
  const passed = of.passed(i);
  const said = html`<p class="verdict-line"><strong class="big" data-value=${score}>${figure(score)}</strong>
    <span key=${String(passed)} class=${`badge ${passed === null ? "" : passed ? "passes" : "fails"}`}><${Decision} passed=${passed} /></span></p>`;
  if (!look) return html`<div class="card verdict"><div>${said}<p>${of.name}</p>${rated}${children}</div></div>`;
  const { temperature, threshold, bounds } = look.settings;
  const from = looks.passesFrom(look, i);
  const where = from === null ? "at no temperature" : from <= bounds.t_min ? "at every temperature" : `from T = ${degree(from)}`;
  const start = look.run.settings.temperature;
  const scoreAt = look.scoreOf(i);
  const before = scoreAt?.(start);
  return html`<div class="card verdict">
    <div>
      ${said}
      <p>${passed ? "Passes" : "Fails"} at T = ${degree(temperature)}${scoreAt ? html`; passes <b>${where}</b> (${threshold} or more).` : "."}</p>
      ${scoreAt && temperature !== start && html`<p class="aside">At T = ${degree(start)}, as in the run: ${figure(before)}, ${before >= threshold ? "pass" : "fail"}. Change: ${signed(score - before)}.</p>`}
      ${rated}${children}
    </div>
    ${scoreAt && html`<${ScoreCurve} app=${app} look=${look} score=${scoreAt} from=${from} />`}
  </div>`;
}

/** The score over the temperature; where it passes is tinted. A click or a drag sets the temperature. */
function ScoreCurve({ app, look, score, from }) {
  const [ref, width] = useWidth();
  const [tip, setTip] = useState(null);
  const { temperature, threshold, bounds } = look.settings;
  const box = frame(width, HEIGHT, [bounds.t_min, bounds.t_max], [0, 1], { left: 34 });
  const at = (event) => {
    const share = (event.clientX - ref.current.getBoundingClientRect().left - box.left) / (box.right - box.left);
    return Math.round(100 * (bounds.t_min + Math.min(1, Math.max(0, share)) * (bounds.t_max - bounds.t_min))) / 100;
  };
  const point = (event) => {
    const t = at(event);
    if (event.buttons === 1) app.set({ temperature: t });
    setTip({ x: box.x(t), y: box.y(score(t)), text: `T = ${degree(t)}: ${figure(score(t))}, ${score(t) >= threshold ? "passes" : "fails"}` });
  };
  return html`<div ref=${ref} class="drawing">
    <svg class="chart movable" width=${width} height=${HEIGHT} role="img" aria-label=${`Score over the temperature, ${figure(score(bounds.t_min))} to ${figure(score(bounds.t_max))}`}
      onPointerDown=${(event) => app.set({ temperature: at(event) })} onPointerMove=${point} onPointerLeave=${() => setTip(null)}>
      ${from !== null && html`<rect class="passing" x=${box.x(from)} width=${box.right - box.x(from)} y=${box.top} height=${box.bottom - box.top} />`}
      <${Axes} box=${box} x="temperature" y="score" />
      <g class="threshold"><line x1=${box.left} x2=${box.right} y1=${box.y(threshold)} y2=${box.y(threshold)} /></g>
      <path class="line pass-line" d=${path(stepsWithin(bounds).map((t) => [box.x(t), box.y(score(t))]))} />
      ${tip && html`<circle class="dot near" cx=${tip.x} cy=${tip.y} r="4" />`}
      <circle class="dot" cx=${box.x(temperature)} cy=${box.y(score(temperature))} r="5" />
    </svg>
    <${Tip} at=${tip} width=${width} />
  </div>`;
}
