import { figure, html } from "./ui.js";

export function Overview({ app }) {
  const { report, look } = app;
  const scored = look ? look.scores.filter((score) => !Number.isNaN(score)) : [];
  const mean = scored.reduce((sum, score) => sum + score, 0) / scored.length;
  return html`<h2>Overview</h2>
    <p>${report.figures.sentence}</p>
    <p>Mean ${figure(mean)}</p>`;
}
