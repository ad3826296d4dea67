// Ids of texts by @huggingface/tokenizers, the independent reference.
//   node hf_tokenize.mjs PREFIX TOKENIZER_JSON < LINES
// PREFIX holds node_modules. Each line of input is {"text": base64, "specials": bool}; each line of output the ids as a list.
// Without specials the added tokens are left out, so that their text is plain text, but for white space that is not special.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [prefix, file] = process.argv.slice(2);
const module = join(prefix, "node_modules", "@huggingface", "tokenizers", "dist", "tokenizers.mjs");
const { Tokenizer } = await import(pathToFileURL(module));
const json = readFileSync(file, "utf8");
const withSpecials = new Tokenizer(JSON.parse(json), {});
const whole = JSON.parse(json).added_tokens.filter((t) => !t.special && /^\s+$/.test(t.content));
const plain = new Tokenizer({ ...JSON.parse(json), added_tokens: whole }, {});

const out = [];
for (const line of readFileSync(0, "utf8").split("\n")) {
  if (line === "") continue;
  const { text, specials } = JSON.parse(line);
  const decoded = Buffer.from(text, "base64").toString("utf8");
  out.push(JSON.stringify((specials ? withSpecials : plain).encode(decoded, { add_special_tokens: false }).ids));
}
process.stdout.write(out.join("\n") + "\n");
