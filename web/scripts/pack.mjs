// Compresses what was built, because the binary embeds only that, and holds the first script to its budget.
import { copyFileSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const BUDGET = 150_000;
const dist = new URL("../dist/", import.meta.url).pathname;
copyFileSync(new URL("../node_modules/mermaid/dist/mermaid.min.js", import.meta.url), join(dist, "assets/diagram-mermaid.js"));

const files = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
const sizes = new Map();
for (const path of files(dist)) {
  const packed = gzipSync(readFileSync(path), { level: 9 });
  writeFileSync(`${path}.gz`, packed);
  sizes.set(path.slice(dist.length), packed.length);
  rmSync(path);
}
const page = (await import("node:zlib")).gunzipSync(readFileSync(join(dist, "index.html.gz"))).toString();
const first = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].reduce((sum, [, name]) => sum + sizes.get(name), 0);
console.log(`first script: ${first} bytes gzipped of ${BUDGET}; all: ${[...sizes.values()].reduce((a, b) => a + b, 0)}`);
if (first > BUDGET) {
  console.error("error: the first paint needs too much script");
  process.exit(1);
}
