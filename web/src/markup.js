// Markup as tagged templates: read once for each template, and built with its values at each call.
import { h } from "preact";

/** In the place of a value, while a template is read. */
const HOLE = "\u0000";
const PIECE = /<(\/?)([^\s/>]*)((?:"[^"]*"|[^">])*?)(\/?)>|[^<]+/g;
const ATTRIBUTE = /(\.\.\.)?([^\s=]+)(?:=(?:"([^"]*)"|(\u0000)))?/g;
/** Line breaks at the ends of a text, with the blanks around them, are layout. */
const LAYOUT = /^\s*\n\s*|\s*\n\s*$/g;
const READ = new WeakMap();

/**
 * What a template says, for Preact: one node, or a list of several.
 *
 * Tags and components (`<${Component} />`, closed by `<//>`), attributes without a value, with a quoted
 * text or with one value (`a`, `a="b"`, `a=${b}`), spread ones (`...${all}`), texts and values.
 */
export function html(template, ...values) {
  if (!READ.has(template)) READ.set(template, read(template.join(HOLE)));
  const built = READ.get(template).map((node) => build(node, values));
  return built.length > 1 ? built : built[0];
}

/** A template as nodes: a text, the number of a value, or `[tag, attributes, children]` made of these. */
function read(text) {
  let values = 0;
  const held = (part) => (part === HOLE ? values++ : part);
  const open = [[null, [], []]];
  for (const [piece, isEnd, tag, attributes, isEmpty] of text.matchAll(PIECE)) {
    const [, , children] = open.at(-1);
    if (isEnd) open.pop();
    else if (tag === undefined) {
      for (const part of piece.split(/(\u0000)/)) {
        const words = part.replace(LAYOUT, "");
        if (words) children.push(held(words));
      }
    } else {
      const node = [held(tag), [], []];
      for (const [, isSpread, name, quoted, hole] of attributes.matchAll(ATTRIBUTE)) {
        node[1].push(isSpread ? [null, held(name)] : [name, hole ? held(hole) : (quoted ?? true)]);
      }
      children.push(node);
      if (!isEmpty) open.push(node);
    }
  }
  return open[0][2];
}

function build(node, values) {
  const valueOf = (part) => (typeof part === "number" ? values[part] : part);
  if (!Array.isArray(node)) return valueOf(node);
  const [tag, attributes, children] = node;
  const given = {};
  for (const [name, part] of attributes) Object.assign(given, name ? { [name]: valueOf(part) } : valueOf(part));
  return h(valueOf(tag), given, ...children.map((child) => build(child, values)));
}
