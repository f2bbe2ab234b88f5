// Every flow, in a real browser, against the real server and a scripted model.
import { launch } from "./world.mjs";

const files = ["conversation", "work", "sessions", "together", "losses", "hostile", "pages", "access", "look"];
const only = process.argv[2];
const browser = await launch();
let failed = 0;
const started = Date.now();
for (const file of files) {
  const { tests } = await import(`./${file}.e2e.mjs`);
  for (const [name, test] of Object.entries(tests)) {
    if (only !== undefined && !`${file} ${name}`.includes(only)) continue;
    // A busy machine may be slower than a story's patience. One that needs a second try is reported as flaky.
    for (const last of [false, true]) {
      const begun = Date.now();
      const limit = new Promise((_, reject) => setTimeout(() => reject(new Error("takes more than 60 s")), 60_000).unref());
      try {
        await Promise.race([test(browser), limit]);
        console.log(`ok    ${file}: ${name} (${Date.now() - begun} ms)`);
        break;
      } catch (error) {
        if (last) failed += 1;
        console.log(`${last ? "FAIL " : "FLAKY"} ${file}: ${name}\n${error.stack ?? error}`);
      }
    }
  }
}
await browser.close();
console.log(`${failed === 0 ? "all passed" : `${failed} failed`} in ${Math.round((Date.now() - started) / 1000)} s`);
process.exit(failed === 0 ? 0 : 1);
