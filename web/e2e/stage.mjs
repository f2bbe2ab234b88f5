// What the tests share: a world with a page that is logged in.
import assert from "node:assert/strict";
import { World } from "./world.mjs";

export { assert };

/** Runs a story in a world of its own. Whatever the page reports as an error fails it. */
export const story = (script, tell, options = {}) => async (browser) => {
  const world = await World.make(script);
  if (options.bare) world.configure("");
  const errors = [];
  const contexts = [];
  try {
    await world.serve();
    const open = async (more = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...more });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("console", (message) => message.type() === "error" && !options.noisy && errors.push(message.text()));
      await page.goto(world.link);
      await page.waitForSelector(".shell");
      return page;
    };
    await tell({ world, open, browser });
    assert.deepEqual(errors, []);
  } finally {
    await Promise.all(contexts.map((context) => context.close().catch(() => undefined)));
    world.end();
  }
};

export async function newSession(page) {
  const before = page.url();
  await page.click(".sidebar .new");
  await page.waitForSelector("#composer");
  await page.waitForFunction((before) => location.href !== before && location.pathname.startsWith("/session/"), before);
}

export async function ask(page, text) {
  await page.fill("#composer", text);
  await page.press("#composer", "Enter");
}

/** Waits until everything that was due is drawn, and the page has nothing to do. */
export async function settled(page) {
  await page.evaluate(async () => {
    await document.fonts.ready;
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 }));
    await frame();
    await frame();
  });
}

/** Waits until the last answer is there and the turn is over. */
export async function answered(page, text) {
  await page.waitForFunction((wanted) => [...document.querySelectorAll(".message[data-done=true]")].some((one) => one.textContent.includes(wanted)), text);
}
