import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { answered, ask, assert, newSession, settled, story } from "./stage.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What a screen reader, a keyboard or weak eyes would stumble over. */
async function scan(page, where) {
  // Playwright evaluates outside the page's policy, which would not let this in.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
  const found = violations.map((one) => `${where}: ${one.id} (${one.impact}): ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
  assert.deepEqual(found, []);
}

const script = 'reply\n  think: Let me see.\n  text: "Some *text*.\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\n```rust\\nfn a() {}\\n```"\n  call: write {"path":"b.txt","content":"hello"}\nmodel: Wrote it.';

export const tests = {
  "no page has what axe finds, in either theme": story(script, async ({ open, world }) => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open({ colorScheme });
      await page.waitForSelector(".start");
      await scan(page, `start ${colorScheme}`);
      if (colorScheme === "light") {
        await newSession(page);
        await ask(page, "write it");
      } else await page.goto(`${world.url}session/${(await world.api("GET", "/api/sessions"))[0].session}`);
      await page.waitForSelector(".permission");
      await scan(page, `session ${colorScheme}`);
      for (const path of ["settings", "usage", "welcome"]) {
        await page.goto(`${world.url}${path}`);
        await page.waitForSelector({ settings: ".provider", usage: ".page-body table", welcome: ".page-body .primary" }[path]);
        await settled(page);
        await scan(page, `${path} ${colorScheme}`);
      }
      await page.setViewportSize({ width: 360, height: 740 });
      await page.click("button[aria-label=Sessions]");
      await scan(page, `drawer ${colorScheme}`);
    }
  }),

  "everything can be done with the keyboard": story(script, async ({ open }) => {
    const page = await open();
    await page.waitForSelector("#start");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#composer");
    await page.waitForFunction(() => document.activeElement?.id === "composer");
    await page.keyboard.type("write it");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".permission");
    await page.keyboard.press("1");
    await answered(page, "Wrote it.");
    await page.keyboard.press("Control+k");
    await page.waitForSelector(".palette input:focus");
    await page.keyboard.type("settings");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".page h1:has-text('Settings')");
  }),

  "nothing is wider than a phone": story(script, async ({ open, world }) => {
    const page = await open({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await page.click("#start");
    await page.waitForSelector("#composer");
    await ask(page, "write it");
    await page.waitForSelector(".permission");
    const check = async () => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
    await check();
    for (const path of ["settings", "usage", "welcome"]) {
      await page.goto(`${world.url}${path}`);
      await settled(page);
      await check();
    }
  }),
};
