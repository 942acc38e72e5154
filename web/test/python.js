/** Cases that Python prints. */
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));

/** What a script beside this file prints, parsed; `PYTHON` names another interpreter. */
export function cases(script) {
  const python = process.env.PYTHON ?? "python3";
  const env = { ...process.env, PYTHONPATH: [join(HERE, "../.."), process.env.PYTHONPATH].filter(Boolean).join(":") };
  return JSON.parse(execFileSync(python, [join(HERE, script)], { env, maxBuffer: 2 ** 28, encoding: "utf8" }));
}
