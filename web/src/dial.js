// Temperature, weights, penalty and threshold, for everything that the page shows.
import { visible } from "./text.js";
import { html, useEffect, useState } from "./ui.js";

const NO_CHANGE = { temperature: undefined, scheme: undefined, penalty: undefined, threshold: undefined };

export function Dial({ app }) {
  const { report, state, look } = app;
  const { settings, run } = look;
  const { schemes, penalties, presets } = report.figures;
  const { t_min: low, t_max: high } = settings.bounds;
  const changed = Object.keys(NO_CHANGE).some((name) => state[name] !== undefined);
  const scheme = schemeName(settings, schemes);
  return html`<form class="dial" aria-label="Settings" onSubmit=${(event) => event.preventDefault()}>
    ${report.runs.length > 1 && html`<${Choice} id="run" label="Run" value=${run.name} names=${report.runs.map(({ name }) => name)} onChange=${(name) => app.set({ run: name })} />`}
    <div class="field strictness">
      <label for="temperature">Temperature</label>
      <input id="temperature" type="range" min=${low} max=${high} step="0.01" value=${settings.temperature}
        aria-valuetext=${`T = ${settings.temperature}, low is strict`}
        onInput=${(event) => app.set({ temperature: Number(event.target.value) })} />
      <${NumberEntry} label="Temperature, as a number" value=${settings.temperature} low=${low} high=${high}
        onChange=${(temperature) => app.set({ temperature })} />
    </div>
    <div class="field presets" role="group" aria-label="Presets">
      ${Object.entries(presets).map(
        ([name, temperature]) => html`<button type="button" key=${name} aria-pressed=${settings.temperature === temperature}
          onClick=${() => app.set({ temperature })}>${name}</button>`,
      )}
    </div>
    <${Choice} id="scheme" label="Weights" value=${scheme} names=${Object.keys(schemes)} onChange=${(name) => app.set({ scheme: name })} />
    <${Choice} id="penalty" label="Penalty" value=${settings.penalty} names=${penalties} onChange=${(penalty) => app.set({ penalty })} />
    <div class="field">
      <label for="threshold">Passes from</label>
      <${NumberEntry} id="threshold" label="Threshold" value=${settings.threshold} low=${0} high=${1} onChange=${(threshold) => app.set({ threshold })} />
    </div>
    <p class="printed">T = ${settings.temperature}, weights ${scheme}, penalty ${settings.penalty}, passes from ${settings.threshold}; ${visible(run.name)}</p>
    <button type="button" class="quiet reset" disabled=${!changed} onClick=${() => app.set(NO_CHANGE)}
      title=${`Back to the settings of ${run.name}`}>Reset</button>
  </form>`;
}

function Choice({ id, label, value, names, onChange }) {
  const all = names.includes(value) ? names : [value, ...names];
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select id=${id} value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${all.map((name) => html`<option key=${name} value=${name}>${visible(name)}</option>`)}
    </select>
  </div>`;
}

/** The published name of the weights in use, else the weights. */
function schemeName(settings, schemes) {
  const same = ([, weights]) => weights.every((weight, i) => weight === settings.weights[i]);
  return Object.entries(schemes).find(same)?.[0] ?? settings.weights.join("/");
}

/** A number typed by hand: taken once it is one and lies in its range. */
function NumberEntry({ id, label, value, low, high, onChange }) {
  const [text, setText] = useState(String(value));
  useEffect(() => setText(String(value)), [value]);
  const take = (typed) => {
    setText(typed);
    const number = typed.trim() === "" ? NaN : Number(typed);
    if (number >= low && number <= high) onChange(number);
  };
  return html`<input id=${id} class="number" type="number" aria-label=${label} min=${low} max=${high} step="0.01"
    value=${text} onInput=${(event) => take(event.target.value)} onBlur=${() => setText(String(value))} />`;
}
