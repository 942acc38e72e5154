import assert from "node:assert/strict";
import { test } from "node:test";
import { html } from "../src/markup.js";

const shown = (node) => (node?.props ? [node.type, (({ children, ...props }) => props)(node.props), [node.props.children ?? []].flat().map(shown)] : node);

test("tags, attributes, spread ones, texts and values", () => {
  const rest = { id: "x", hidden: false };
  const node = html`<p class="a b" title=${"1 > 0"} disabled ...${rest}>One ${2}<br />
      <b>${"three"}</b> four
    </p>`;
  assert.deepEqual(shown(node), ["p", { class: "a b", title: "1 > 0", disabled: true, id: "x", hidden: false }, ["One ", 2, ["br", {}, []], ["b", {}, ["three"]], " four"]]);
});

test("components with children, and several nodes", () => {
  const Box = () => null;
  const list = html`<${Box} n=${1}>text<${Box} /><//>${null}
    <i></i>`;
  assert.deepEqual(shown(list[0]), [Box, { n: 1 }, ["text", [Box, {}, []]]]);
  assert.equal(list[1], null);
  assert.deepEqual(shown(list[2]), ["i", {}, []]);
  assert.equal(html``, undefined);
});

test("a quoted text may hold what looks like the end of a tag, and values are never read as markup", () => {
  assert.deepEqual(shown(html`<p title="a > b">${"<b>"}</p>`), ["p", { title: "a > b" }, ["<b>"]]);
});

test("the same template builds new nodes of each call's values", () => {
  const line = (text) => html`<p>${text}</p>`;
  const [one, two] = [line("a"), line("b")];
  assert.deepEqual([shown(one), shown(two)], [["p", {}, ["a"]], ["p", {}, ["b"]]]);
});
