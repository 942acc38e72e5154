// Light or dark: as the system says, until the reader says otherwise.
import { html, useState } from "./ui.js";

export function ThemeButton() {
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const turn = () => {
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    setDark(!dark);
  };
  return html`<button type="button" class="quiet theme" onClick=${turn}>${dark ? "Light theme" : "Dark theme"}</button>`;
}
