// Light or dark: as the system says, until the reader says otherwise.
import { html, useEffect, useState } from "./ui.js";

const SYSTEM = matchMedia("(prefers-color-scheme: dark)");

export function ThemeButton() {
  const [system, setSystem] = useState(SYSTEM.matches ? "dark" : "light");
  const [chosen, setChosen] = useState(null);
  useEffect(() => {
    const follow = () => setSystem(SYSTEM.matches ? "dark" : "light");
    SYSTEM.addEventListener("change", follow);
    return () => SYSTEM.removeEventListener("change", follow);
  }, []);
  const other = (chosen ?? system) === "dark" ? "light" : "dark";
  const turn = () => {
    document.documentElement.dataset.theme = other;
    setChosen(other);
  };
  return html`<button type="button" class="quiet theme" onClick=${turn}>${other === "light" ? "Light" : "Dark"} theme</button>`;
}
