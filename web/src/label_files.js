/** Labels out to files and in again. */
import { toCsv, toJsonl } from "./labels_export.js";
import { visible } from "./text.js";
import { counted, html, useState } from "./ui.js";

export function Files({ report, store, scale, onChange }) {
  const [said, setSaid] = useState([]);
  const [sure, setSure] = useState(false);
  const rated = [...store.labels.values()].filter(({ human }) => human !== undefined).length;
  const claims = [...store.labels.values()].reduce((sum, each) => sum + (each.claims?.length ?? 0), 0);
  const save = (name, text) => {
    download(name, text);
    store.unsaved = false;
    setSaid([`${name} holds the labels as they are now.`]);
  };
  const read = async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (!file) return;
    setSaid(store.read(await file.text(), scale));
    onChange();
  };
  const clear = () => {
    setSure(!sure);
    if (!sure) return;
    store.clear();
    setSaid(["All labels are gone."]);
    onChange();
  };
  return html`<section class="label-files">
    <h3>Files</h3>
    <p>
      ${counted(rated, "rated answer")}, ${counted(claims, "labelled claim")}.
      ${store.isKept ? " They stay in this browser, for this report." : " This browser keeps nothing for this page: what is not exported is lost when it closes."}
    </p>
    <p class="buttons">
      <button
        type="button"
        disabled=${!store.labels.size}
        onClick=${() => save("labels.jsonl", toJsonl(store.labels))}>
        Export jsonl (all labels)
      </button>
      <button type="button" disabled=${!rated} onClick=${() => save("labels.csv", toCsv(store.labels))}>
        Export csv (ratings)
      </button>
      <label class="file">
        Import an earlier export <input type="file" accept=".csv,.jsonl,.json,.txt" onChange=${read} />
      </label>
      <button
        type="button"
        class="quiet"
        disabled=${!store.labels.size}
        onClick=${clear}
        onBlur=${() => setSure(false)}>
        ${sure ? "Once more to delete them all" : "Delete all labels"}
      </button>
    </p>
    <div role="status">
      ${said.slice(0, 12).map((line, n) => html`<p key=${n} class="aside">${visible(line)}</p>`)}${said.length > 12 && html`<p class="aside">and ${said.length - 12} more lines</p>`}
    </div>
    <p class="aside">
      <code>tcva calibrate judged.jsonl --labels labels.csv</code> and ${" "}
      <code>tcva compare samples.jsonl --labels labels.csv</code> read the ratings, by the samples' ids, from
      either file. The levels of claims are in the jsonl file alone.
    </p>
  </section>`;
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
