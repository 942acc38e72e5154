// Every view by its name in the address, in the order of the menu.
import { Overview } from "./overview.js";
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

/** @type {View[]} */
export const VIEWS = [
  { name: "overview", title: "Overview", component: Overview, inMenu: true, applies: () => true },
  { name: "samples", title: "Samples", component: Samples, inMenu: true, applies: (report) => report.size > 0 },
  { name: "changes", title: "Changes", component: Changes, inMenu: true, applies: (report) => report.runs.length > 1 },
  { name: "label", title: "Label", component: Label, inMenu: true, applies: (report) => report.size > 0 },
  { name: "sample", title: "Sample", component: Sample, inMenu: false, under: "samples", applies: (report) => report.size > 0 },
];
