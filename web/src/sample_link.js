import { visible } from "./text.js";
import { html } from "./ui.js";

/** The way to a sample, by its name; with its question where there is room. */
export function SampleLink({ app, i, method, withQuestion = false }) {
  const { ids, questions } = app.report.samples;
  const address = app.link({ view: "sample", sample: ids[i], ...(method ? { method: method.name } : {}) });
  return html`<a href=${address}><bdi>${visible(String(ids[i]))}</bdi></a>${withQuestion && questions?.[i] && html` <span class="aside"><bdi>${visible(questions[i])}</bdi></span>`}`;
}
