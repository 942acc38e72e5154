/** What others said of the same sample: a panel's judges, repeats, additional judges, the framework metrics. */
import { passes } from "./listing.js";
import { Decision, Level, Prose, REASONS, Words } from "./marks.js";
import { visible } from "./text.js";
import { figure, html } from "./ui.js";

export function Others({ app, i, detail, printing }) {
  const { run, report } = app;
  const said = run && detail.runs?.[run.name];
  const { levels } = report.figures;
  return html` ${
    said?.panel?.length > 0 &&
    html`<section>
      <h3>The panel's judges</h3>
      <${Beside} said=${said} others=${said.panel} levels=${levels} />
    </section>`
  }
  ${
    said?.repeats?.length > 0 &&
    html`<section>
      <h3>Repeats</h3>
      <${Beside} said=${said} others=${said.repeats} levels=${levels} />
    </section>`
  }
  ${
    said?.members?.length > 0 &&
    html`<section>
      <h3>Additional judges</h3>
      <${Beside} said=${said} others=${said.members} levels=${levels} />
    </section>`
  }
  ${
    report.methods.length > 0 &&
    html`<section>
      <h3>Framework metrics and other scores</h3>
      <${Methods} app=${app} i=${i} detail=${detail} printing=${printing} />
    </section>`
  }`;
}

/** Several judges' verdicts, claim by claim. */
function Beside({ said, others, levels }) {
  const claims = [
    ...new Set([said, ...others].flatMap((each) => (each.claims ?? []).map(({ claim }) => claim))),
  ];
  const verdictOf = (each, claim) => each.claims?.find((entry) => entry.claim === claim);
  const names = { panel: "The panel", repeats: "All repeats" };
  const first = names[Object.keys(names).find((kind) => said[kind] === others)] ?? "This run";
  return html`<div
    class="wide-table"
    tabindex="0"
    role="region"
    aria-label=${`Verdicts of ${first.toLowerCase()} and others`}>
    <table class="beside">
      <thead>
        <tr>
          <th scope="col">Claim</th>
          <th scope="col">${first}</th>
          ${others.map(
            (each, n) =>
              html`<th key=${n} scope="col">
                <${Words} text=${each.judge} /><br /><span class="aside">
                  <${Words} text=${each.criterion ?? ""} />
                </span>
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${claims.map(
          (claim) =>
            html`<tr key=${claim}>
              <th scope="row"><${Prose} text=${claim} /></th>
              ${[said, ...others].map((each, n) => {
                const found = verdictOf(each, claim);
                return html`<td key=${n}>
                  ${found ? html`<${Level} name=${found.verdict} levels=${levels} />${n > 0 && found.reason && html`<${Prose} text=${found.reason} class="aside" />`}` : "–"}
                </td>`;
              })}
            </tr>`,
        )}
        ${
          others.some(({ unscored }) => unscored) &&
          html`<tr>
            <th scope="row">Why there is no score</th>
            <td></td>
            ${others.map(({ unscored }, n) => html`<td key=${n}>${unscored ? (REASONS[unscored.reason] ?? visible(String(unscored.reason))) : ""}</td>`)}
          </tr>`
        }
      </tbody>
    </table>
  </div>`;
}

function Methods({ app, i, detail, printing }) {
  const { report, look } = app;
  const decided = look ? look.passed(i) : null;
  return html`<ul class="methods">
    ${report.methods.map((method) => {
      const said = detail.methods?.[method.name] ?? {};
      const passed = passes(method, i);
      const unscored = (method.unscored ?? []).find(([sample]) => sample === i)?.[1];
      return html`<li key=${method.name}>
        <div class="method-top">
          <strong><${Words} text=${method.name} /></strong>
          <span class="figure">${figure(method.scores[i])}</span>
          <${Decision} passed=${passed} />
          ${decided !== null && passed === !decided && html`<span class="otherwise">≠ TCVA decides otherwise</span>`}
        </div>
        ${(said.error ?? unscored) && html`<${Prose} text=${said.error ?? unscored} class="aside" />`}
        ${said.reason && html`<${Prose} text=${said.reason} class="aside" />`}
        ${
          said.verdicts?.length > 0 &&
          html`<details open=${printing || report.methods.length < 4}>
            <summary>
              ${said.verdicts.length} ${said.verdicts.length === 1 ? "verdict" : "verdicts"} of its own
            </summary>
            <ul class="own">
              ${said.verdicts.map(
                (each, n) =>
                  html`<li key=${n}>
                    ${each.verdict ? html`<${Level} name=${each.verdict} levels=${report.figures.levels} />` : ""}
                    ${each.word && each.word !== each.verdict && html`<span class="own-word">“<${Words} text=${each.word} />”</span>`}
                    <${Prose}
                      text=${each.claim ?? ""} />
                    ${each.reason && html`<${Prose} text=${each.reason} class="aside" />`}
                  </li>`,
              )}
            </ul>
          </details>`
        }
      </li>`;
    })}
  </ul>`;
}
