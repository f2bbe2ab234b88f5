import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { answered, ask, assert, newSession, story } from "./stage.mjs";

/** A session of so many events, written as its log. */
function longSession(world, count) {
  const session = "20260125-143052-a1b2c3d4";
  const folder = join(world.home, "sessions", session);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lines = [];
  const add = (body) => {
    const seq = lines.length + 1;
    const text = JSON.stringify({ v: 1, seq, ts: "2026-01-25T14:30:52.000Z", ...body }).slice(0, -1);
    lines.push(`${text},"crc":"${sum(text)}"}`);
  };
  add({ type: "session_start", session, cwd: world.project, agent: "native", model: "testkit/scripted", mode: "ask", title: "Long one", covey: "0.1.0" });
  for (let at = 0; lines.length < count; at++) {
    add({ type: "agent_message", message: `m${at}`, text: `Message number ${at} says something.` });
    add({ type: "message_end", message: `m${at}` });
  }
  writeFileSync(join(folder, "events.jsonl"), `${lines.join("\n")}\n`, { mode: 0o600 });
  return session;
}

const TABLE = Array.from({ length: 256 }, (_, byte) => Array.from({ length: 8 }).reduce((value) => (value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1), byte));
const sum = (text) => {
  if (crc32 !== undefined) return crc32(text).toString(16).padStart(8, "0");
  let value = -1;
  for (const byte of Buffer.from(text)) value = (value >>> 8) ^ TABLE[(value ^ byte) & 255];
  return ((value ^ -1) >>> 0).toString(16).padStart(8, "0");
};

export const tests = {
  "a hundred thousand events open quickly and are loaded backwards": story("model: Hello.", async ({ open, world }) => {
    const session = longSession(world, 100_000);
    // The first opening reads the whole log once and writes its snapshot.
    await world.api("PATCH", `/api/sessions/${session}`, { title: "Long one" });
    const page = await open();
    const begun = Date.now();
    await page.goto(`${world.url}session/${session}`);
    await page.waitForSelector(".message:has-text('Message number 49999')");
    const took = Date.now() - begun;
    assert.ok(took < 5000, `took ${took} ms`);
    console.log(`      opened in ${took} ms`);
    assert.ok((await page.locator(".thread > *").count()) <= 420);
    for (let at = 0; at < 12; at++) {
      const before = await page.locator(".message").first().textContent();
      await page.waitForFunction((was) => {
        if (document.querySelector(".message")?.textContent !== was) return true;
        // Again and again, as a hand does: a place that is reached already tells nothing.
        const place = document.querySelector(".conversation");
        place.scrollTop = 10;
        place.scrollTop = 0;
        return false;
      }, before, { polling: 100 });
    }
    const oldest = await page.locator(".message").first().textContent();
    assert.ok(Number(/\d+/.exec(oldest)[0]) < 49_600, oldest);
    assert.ok((await page.locator(".thread > *").count()) <= 420);
    await page.click(".pill");
    await page.waitForSelector(".message:has-text('Message number 49999')");
  }),

  "replay goes to any event": story("model: First answer.\nmodel: Second answer.", async ({ open }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "one");
    await answered(page, "First answer.");
    await ask(page, "two");
    await answered(page, "Second answer.");
    await page.click(".header [aria-label=Session]");
    await page.click("[role=menuitem]:has-text('Replay')");
    await page.waitForSelector(".message:has-text('Second answer.')");
    await page.$eval(".timeline input", (input) => {
      input.value = "3";
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await page.waitForSelector(".message", { state: "detached" });
    assert.equal(await page.locator(".prompt").count(), 1);
    await page.selectOption(".speed select", "64");
    await page.click("button:has-text('Play')");
    await page.waitForSelector(".message:has-text('Second answer.')");
    await page.click(".filters button:has-text('messages')");
    assert.equal(await page.locator(".message").count(), 0);
  }),

  "usage, settings and the first page say what there is": story("model: Hello.", async ({ open, world }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "hi");
    await answered(page, "Hello.");
    await page.goto(`${world.url}usage`);
    await page.waitForSelector("tbody th:has-text('testkit/scripted')");
    await page.goto(`${world.url}settings`);
    await page.waitForSelector(".provider:has-text('testkit')");
    await page.selectOption("section[aria-labelledby=look] select >> nth=0", "dark");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await page.goto(`${world.url}welcome`);
    await page.waitForSelector("text=covey auth login");
  }),

  "without anybody who could answer the page says how to get somebody": story("", async ({ open }) => {
    const page = await open();
    await page.click(".sidebar .new");
    await page.waitForSelector("h1:has-text('Connect a model or an agent')");
    await page.waitForSelector("text=Nothing is connected yet");
    assert.ok((await page.locator(".toast .faint").textContent()).length > 10);
  }, { bare: true }),

  "a session is shared as one file": story("model: Hello.", async ({ open }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "hi");
    await answered(page, "Hello.");
    await page.click(".header [aria-label=Session]");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("[role=menuitem]:has-text('Share as one HTML file')")]);
    assert.match(download.suggestedFilename(), /\.html$/);
  }),

  "words are found in the session": story("model: The needle is here.\nmodel: Hay.", async ({ open }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "one");
    await answered(page, "needle");
    await page.keyboard.press("Control+f");
    await page.fill(".find input", "needle");
    await page.press(".find input", "Enter");
    await page.waitForSelector(".find:has-text('1 of 1')");
  }),
};
