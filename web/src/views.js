// Every view by its name in the address, in the order of the menu.
import { Flips } from "./flips.js";
import { Methods } from "./methods.js";
import { Overview } from "./overview.js";
import { Parts } from "./parts.js";
import { Changes } from "./changes.js";
import { Label } from "./label.js";
import { Sample } from "./sample.js";
import { Samples } from "./samples.js";

/**
 * @typedef {object} View
 * @property {string} name in the address
 * @property {string} title
 * @property {Function} component gets `app`
 * @property {boolean} inMenu
 * @property {string} [under] the menu's entry that it belongs to, where it has none of its own
 * @property {(report: object) => boolean} applies whether the report has something to show in it
 */

/** What a command printed. */
const ofParts = (name, title) => ({ name, title, component: Parts, inMenu: true, applies: ({ figures }) => Boolean(figures.sections[name]) });

/** @type {View[]} */
export const VIEWS = [
  { name: "overview", title: "Overview", component: Overview, inMenu: true, applies: ({ runs, methods, figures }) => runs.length + methods.length > 0 || Object.keys(figures.sections).length === 0 },
  ofParts("systems", "Systems"),
  { name: "methods", title: "Side by side", component: Methods, inMenu: true, applies: ({ runs, methods }) => runs.length > 0 && methods.length > 0 },
  ofParts("errors", "Errors"),
  ofParts("estimate", "Estimate"),
  { name: "flips", title: "Flips", component: Flips, inMenu: true, applies: ({ runs }) => runs.length > 0 },
  { name: "samples", title: "Samples", component: Samples, inMenu: true, applies: (report) => report.size > 0 },
  { name: "changes", title: "Changes", component: Changes, inMenu: true, applies: (report) => report.runs.length > 1 },
  { name: "label", title: "Label", component: Label, inMenu: true, applies: (report) => report.size > 0 },
  { name: "sample", title: "Sample", component: Sample, inMenu: false, under: "samples", applies: (report) => report.size > 0 },
];
