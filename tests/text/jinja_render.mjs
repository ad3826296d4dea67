// What @huggingface/jinja, the independent reference, renders.
//   node jinja_render.mjs PREFIX < LINES
// PREFIX holds node_modules. Each line of input is {"template": text, "context": {...}}; each line of output {"text": ...} or
// {"error": ...}. It is always the 4th of July 2026.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    given.length ? super(...given) : super(2026, 6, 4);
  }
};
const { Template } = await import(pathToFileURL(join(process.argv[2], "node_modules", "@huggingface", "jinja", "dist", "index.js")));

const parsed = new Map();
const template_of = (source) => {
  if (!parsed.has(source)) parsed.set(source, new Template(source));
  return parsed.get(source);
};
const answer = ({ template, context }) => {
  try {
    return { text: template_of(template).render(context) };
  } catch (e) {
    return { error: String(e.message) };
  }
};
const lines = readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
process.stdout.write(lines.map((line) => JSON.stringify(answer(JSON.parse(line)))).join("\n") + "\n");
