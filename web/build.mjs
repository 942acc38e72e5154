// Writes the report's page: one file with its styles, its script and the licences of what is in it.
// The same sources and the same versions give the same bytes; nothing else enters it.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const PAGE = process.argv[2] ?? join(HERE, "../tcva_adapters/report/page.html");
const INLINED = ["preact"];

/** Markup stands in the script as it is written: what is dropped of it later would make the page larger. */
const trimmed = {
  name: "trimmed",
  setup(build) {
    build.onLoad({ filter: /\/web\/src\/[^/]+\.js$/ }, ({ path }) => ({ contents: trim(readFileSync(path, "utf8")) }));
  },
};

/** Without indentation, and without line breaks before a tag or a part of a text. */
function trim(source) {
  return source.replace(/\n\s+/g, "\n").replace(/(?<!\/\/.*)\n(?=<|\$\{)/g, "");
}

async function bundled(entry) {
  const result = await build({
    entryPoints: [join(HERE, "src", entry)],
    absWorkingDir: HERE,
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome103", "firefox104", "safari15.4"],
    charset: "utf8",
    mangleProps: /^_[a-z]/,
    plugins: [trimmed],
    legalComments: "none",
  });
  const text = result.outputFiles[0].text.trim();
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${entry} would end its own block`);
  return text;
}

function hashOf(text) {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

function licences() {
  const parts = INLINED.map((name) => {
    const folder = join(HERE, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}`;
  });
  const text = parts.join("\n\n\n").replace(/^ +/gm, "");
  // "--" may not stand in a comment.
  return `<!--\nThis page contains:\n\n${text.replaceAll("--", "- -")}\n-->`;
}

const script = await bundled("main.js");
const style = await bundled("style.css");
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const places = { policy, style, script, licences: licences() };
const template = readFileSync(join(HERE, "src", "template.html"), "utf8");
const page = template.replace(/\{\{(\w+)\}\}/g, (_, name) => places[name]);
writeFileSync(PAGE, page);
console.log(`${PAGE}: ${(Buffer.byteLength(page) / 1000).toFixed(1)} kB, script ${(Buffer.byteLength(script) / 1000).toFixed(1)} kB`);
