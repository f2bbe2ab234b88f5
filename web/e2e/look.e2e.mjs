import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { answered, ask, assert, newSession, settled, story } from "./stage.mjs";

const kept = new URL("./snapshots/", import.meta.url).pathname;
/** How much of a picture may differ: fonts are drawn a little differently everywhere. */
const TOLERANCE = 0.02;

/** Compares with the kept picture, in the browser, which can read pictures. Without one it is kept. */
async function compare(page, name) {
  const path = `${kept}${name}.png`;
  const now = await page.screenshot({ mask: [page.locator(".entry-more, .where, .tool-more, .panel .path, .start .faint, .working")], animations: "disabled", caret: "hide" });
  if (!existsSync(path) || process.env.UPDATE_SNAPSHOTS !== undefined) {
    mkdirSync(kept, { recursive: true });
    return writeFileSync(path, now);
  }
  const { readFileSync } = await import("node:fs");
  const pictures = [readFileSync(path), now].map((bytes) => `data:image/png;base64,${bytes.toString("base64")}`);
  const differs = await page.evaluate(async ([before, after]) => {
    const pixels = async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    };
    const [a, b] = [await pixels(before), await pixels(after)];
    if (a.width !== b.width || a.height !== b.height) return 1;
    let count = 0;
    for (let at = 0; at < a.data.length; at += 4) {
      const distance = Math.abs(a.data[at] - b.data[at]) + Math.abs(a.data[at + 1] - b.data[at + 1]) + Math.abs(a.data[at + 2] - b.data[at + 2]);
      if (distance > 60) count += 1;
    }
    return count / (a.width * a.height);
  }, pictures);
  console.log(`      ${name} differs in ${(differs * 100).toFixed(2)} %`);
  const out = new URL("./out/", import.meta.url).pathname;
  if (differs > TOLERANCE) {
    mkdirSync(out, { recursive: true });
    writeFileSync(`${out}${name}.png`, now);
  }
  assert.ok(differs <= TOLERANCE, `${name} differs in ${(differs * 100).toFixed(1)} % of its pixels; the new one is in e2e/out/`);
}

const script = `model: ${JSON.stringify("A coupon now counts **once**:\n\n```rust\nif self.applied.insert(coupon.id) {\n    self.discount += coupon.value;\n}\n```\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |")}`;

export const tests = {
  "looks as it did": story(script, async ({ open }) => {
    const page = await open({ colorScheme: "light" });
    await newSession(page);
    await ask(page, "the cart total is wrong");
    await answered(page, "counts once");
    await settled(page);
    await compare(page, "session-1280-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 740 });
    await settled(page);
    await compare(page, "session-360-dark");
  }),
};
