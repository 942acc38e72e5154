// Pass rate and mean score over the temperature, with the place of the dial and the cliff.
import { Axes, frame, path, useWidth } from "./chart.js";
import { cliff } from "./flip.js";
import { figure, html, percent } from "./ui.js";

const HEIGHT = 250;
const NONE = 4;

export function Curve({ app }) {
  const { look, looks } = app;
  const [ref, width] = useWidth();
  const points = looks.curve(look);
  const { bounds, temperature, threshold } = look.settings;
  const box = frame(width, HEIGHT, [bounds.t_min, bounds.t_max], [0, 1], { right: 58 });
  const line = (name) => path(points.map((point) => [box.x(point.temperature), box.y(point[name])]));
  const fall = hasCliff(look) ? cliff(bounds) : null;
  const last = points.at(-1);
  const move = (event) => {
    const at = event.clientX - ref.current.getBoundingClientRect().left;
    const share = Math.min(1, Math.max(0, (at - box.left) / (box.right - box.left)));
    app.set({ temperature: Math.round(100 * (bounds.t_min + share * (bounds.t_max - bounds.t_min))) / 100 });
  };
  const drag = (event) => event.buttons === 1 && move(event);
  const [passLabel, meanLabel] = apart(box.y(last.passRate), box.y(last.mean));
  return html`<figure class="card wide-card">
    <figcaption><h3>Over the temperature</h3></figcaption>
    <div ref=${ref} class="drawing">
      <svg class="chart movable" width=${width} height=${HEIGHT} role="img" aria-label=${said(points)}
        onPointerDown=${move} onPointerMove=${drag}>
        <${Axes} box=${box} x="temperature" yText=${(tick) => `${Math.round(100 * tick)}%`} />
        ${fall !== null && html`<g class="cliff">
          <line x1=${box.x(fall)} x2=${box.x(fall)} y1=${box.top} y2=${box.bottom} />
          <text x=${box.x(fall) - 5} y=${box.top + 8} text-anchor="end">cliff</text>
        </g>`}
        <line class="dial-line" x1=${box.x(temperature)} x2=${box.x(temperature)} y1=${box.top} y2=${box.bottom} />
        <path class="line mean-line" d=${line("mean")} />
        <path class="line pass-line" d=${line("passRate")} />
        <text class="line-name pass-name" x=${box.right + 6} y=${passLabel} dy="0.32em">passed</text>
        <text class="line-name" x=${box.right + 6} y=${meanLabel} dy="0.32em">mean</text>
      </svg>
    </div>
    <p class="note">Solid: share of scored samples that pass from ${threshold} on. Dashed: mean score. ${
      fall !== null && html`At T = ${figure(fall, 4)} the exponent turns positive: where a claim has <b>none</b>, the
      score falls right above it before it rises again.`
    }</p>
  </figure>`;
}

/** Scores with a `none` fall at exponent 0 where the floor under the weights ends there. */
function hasCliff({ run, settings }) {
  const { floor, weights } = settings;
  return floor === "paper" && weights[NONE] === 0 && run.rows.some((judges) => judges.some((counts) => counts?.[NONE] > 0));
}

function apart(first, second) {
  const near = 13 - Math.abs(first - second);
  if (near <= 0) return [first, second];
  return first < second ? [first - near / 2, second + near / 2] : [first + near / 2, second - near / 2];
}

function said(points) {
  const few = points.filter(({ temperature }) => [0.1, 0.3, 0.5, 0.7, 0.9, 1].includes(temperature));
  const texts = few.map((each) => `at ${each.temperature} ${percent(each.passRate)} pass, mean ${figure(each.mean)}`);
  return `Pass rate and mean score over the temperature: ${texts.join("; ")}.`;
}
