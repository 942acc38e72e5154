// Temperature and threshold, and behind "More" weights and penalty, for everything that the page shows.
import { visible } from "./text.js";
import { html, useEffect, useState } from "./ui.js";

const NO_CHANGE = { temperature: undefined, scheme: undefined, penalty: undefined, threshold: undefined };
const STRICTNESS = "Temperature here is the strictness of the score, not the model's sampling temperature: low is strict";

export function Settings({ app, hasRun }) {
  const { report, state, look } = app;
  const [open, setOpen] = useState(state.scheme !== undefined || state.penalty !== undefined);
  const { settings, run } = look;
  const { schemes, penalties, presets } = report.figures;
  const { t_min: low, t_max: high } = settings.bounds;
  const changed = Object.keys(NO_CHANGE).some((name) => state[name] !== undefined);
  const scheme = schemeName(settings, schemes);
  return html`<form class=${open ? "settings open" : "settings"} aria-label="Settings" onSubmit=${(event) => event.preventDefault()}>
    ${hasRun && report.runs.length > 1 && html`<${Choice} id="run" label="Run" value=${run.name} names=${report.runs.map(({ name }) => name)} onChange=${(name) => app.set({ run: name })} />`}
    <div class="field strictness">
      <label for="temperature" title=${STRICTNESS}>Temperature</label>
      <input id="temperature" type="range" min=${low} max=${high} step="0.01" value=${settings.temperature} title=${STRICTNESS}
        aria-valuetext=${`T = ${settings.temperature}, low is strict`}
        onInput=${(event) => app.set({ temperature: Number(event.target.value) })} />
      <${NumberEntry} label="Temperature, as a number" value=${settings.temperature} low=${low} high=${high}
        onChange=${(temperature) => app.set({ temperature })} />
    </div>
    <div class="presets" role="group" aria-label="Presets">
      ${Object.entries(presets).map(
        ([name, temperature]) => html`<button type="button" key=${name} aria-pressed=${settings.temperature === temperature} title=${`T = ${temperature}`}
          onClick=${() => app.set({ temperature })}>${name}</button>`,
      )}
    </div>
    <div class="field passes">
      <label for="threshold">Passes at</label>
      <${NumberEntry} id="threshold" label="Threshold" value=${settings.threshold} low=${0} high=${1} onChange=${(threshold) => app.set({ threshold })} />
      <span class="aside">or more</span>
    </div>
    <button type="button" class="quiet more" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? "Less" : "More"}</button>
    <button type="button" class="quiet reset" disabled=${!changed} onClick=${() => app.set(NO_CHANGE)}
      title=${`Back to the settings of ${run.name}`}>Reset</button>
    ${open && html`<div class="further">
      <${Choice} id="scheme" label="Weights of the levels" value=${scheme} names=${Object.keys(schemes)} onChange=${(name) => app.set({ scheme: name })} />
      <${Choice} id="penalty" label=${`Penalty for ${report.figures.levels[4]}`} value=${settings.penalty} names=${penalties} onChange=${(penalty) => app.set({ penalty })} />
    </div>`}
    <p class="printed">T = ${settings.temperature}, weights ${scheme}, penalty ${settings.penalty}, passes at ${settings.threshold} or more; ${visible(run.name)}</p>
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

/** A number typed by hand: taken where it lies in its range; any other is refused, and the box shows what is in use again. */
function NumberEntry({ id, label, value, low, high, onChange }) {
  const [text, setText] = useState(String(value));
  const [refused, setRefused] = useState("");
  const reset = (typed) => {
    setText(String(value));
    setRefused(typed && `${typed} is outside ${low} to ${high}`);
  };
  useEffect(() => reset(""), [value]);
  const take = ({ target }) => {
    const number = target.value.trim() === "" ? NaN : Number(target.value);
    if (number > high || number < 0) {
      reset(target.value);
      target.value = value;
      return target.select();
    }
    // What is too small may be the beginning of a number that is not: it is refused when it is complete.
    setText(target.value);
    setRefused("");
    if (number >= low) onChange(number);
  };
  const settle = () => (text === "" || Number(text) !== value) && reset(text);
  return html`<span class="entry"><input id=${id} class="number" type="number" aria-label=${label} min=${low} max=${high} step="0.01"
    value=${text} onInput=${take} onChange=${settle} onBlur=${settle} />${refused && html`<span class="refused" role="alert">${refused}</span>`}</span>`;
}
