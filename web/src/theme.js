// Light or dark: as the system says, until the reader says otherwise.
import { html, useEffect, useState } from "./ui.js";

const SYSTEM = matchMedia("(prefers-color-scheme: dark)");
const ofSystem = () => (SYSTEM.matches ? "dark" : "light");
const show = (theme) => {
  document.documentElement.dataset.theme = theme;
};
show(ofSystem()); // before anything is drawn

export function ThemeButton() {
  const [system, setSystem] = useState(ofSystem);
  const [chosen, choose] = useState(null);
  useEffect(() => {
    const follow = () => setSystem(ofSystem());
    SYSTEM.addEventListener("change", follow);
    return () => SYSTEM.removeEventListener("change", follow);
  }, []);
  const theme = chosen ?? system;
  useEffect(() => show(theme), [theme]);
  const other = theme === "dark" ? "light" : "dark";
  return html`<button type="button" class="quiet theme" onClick=${() => choose(other)}>${other === "light" ? "Light" : "Dark"} theme</button>`;
}
