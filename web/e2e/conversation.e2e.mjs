import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answered, ask, assert, newSession, story } from "./stage.mjs";

export const tests = {
  "the token leaves the address and a conversation works": story("model: Hello **there**.", async ({ open }) => {
    const page = await open();
    assert.ok(!page.url().includes("token"), page.url());
    await newSession(page);
    await ask(page, "hi");
    await answered(page, "Hello there.");
    assert.equal(await page.locator(".message strong").textContent(), "there");
    assert.equal(await page.locator(".prompt").textContent(), "hi");
    assert.equal(await page.locator(".title").textContent(), "hi");
  }),

  "text streams into stable blocks without moving what is above": story(
    `reply\n  text: ${JSON.stringify(Array.from({ length: 30 }, (_, at) => `Paragraph ${at} with some words in it.`).join("\n\n"))}\n  chunk: 12\n  pace: 8`,
    async ({ open }) => {
      const page = await open();
      await newSession(page);
      await ask(page, "go");
      await page.waitForSelector(".markdown p:nth-child(3)");
      const first = await page.$(".markdown p:nth-child(1)");
      const before = await first.evaluate((element) => element.textContent);
      await answered(page, "Paragraph 29");
      // The same element, with the same text: settled blocks are not drawn again.
      assert.equal(await first.evaluate((element) => element.isConnected && element.textContent), before);
      const room = await page.$eval(".conversation", (element) => element.scrollHeight - element.scrollTop - element.clientHeight);
      assert.ok(room < 60, `not at the end: ${room}`);
    },
  ),

  "a question is answered by its number, and the card shows what happened": story(
    'reply\n  call: write {"path":"b.txt","content":"hello"}\nmodel: Wrote it.',
    async ({ open }) => {
      const page = await open();
      await newSession(page);
      await ask(page, "write it");
      await page.waitForSelector(".permission");
      assert.match(await page.locator(".permission h2").textContent(), /b\.txt/);
      await page.keyboard.press("1");
      await answered(page, "Wrote it.");
      assert.equal(await page.locator(".permission").count(), 0);
      assert.equal(await page.locator(".tool[data-status=completed]").count(), 1);
    },
  ),

  "a refusal can say why": story('reply\n  call: write {"path":"b.txt","content":"hello"}\nmodel: I left it.', async ({ open, world }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "write it");
    await page.waitForSelector(".permission");
    await page.click(".permission .reject");
    await page.fill(".permission input", "not that file");
    await page.click(".permission [type=submit]");
    await answered(page, "I left it.");
    const [session] = await world.api("GET", "/api/sessions");
    const events = await world.api("GET", `/api/sessions/${session.session}/events?limit=1000`);
    assert.equal(events.find((event) => event.type === "permission").reason, "not that file");
  }),

  "an edit shows its diff, unified and side by side": story(
    'reply\n  call: read {"path":"a.txt"}\nreply\n  call: edit {"path":"a.txt","old":"teh cat","new":"the cat"}\nmodel: Fixed.',
    async ({ open, world }) => {
      world.write("a.txt", "one\nteh cat\nthree\n");
      const page = await open();
      await newSession(page);
      await page.click("[aria-label^='Mode:']");
      await page.click("[role=menuitemradio]:has-text('edit')");
      await ask(page, "fix it");
      await answered(page, "Fixed.");
      assert.equal(await page.locator(".line.added mark").textContent(), "the");
      await page.click(".diff-head button");
      assert.equal(await page.locator(".diff-body[data-layout=split] .row").count(), 3);
      assert.match(await page.locator(".panel .files").textContent(), /a\.txt/);
    },
  ),

  "whoever is asked about an edit sees it first, at its place in the file": story(
    'reply\n  call: edit {"path":"a.txt","old":"teh cat","new":"the cat"}\nmodel: As you like.',
    async ({ open, world }) => {
      world.write("a.txt", "one\nteh cat\nthree\n");
      const page = await open();
      await newSession(page);
      await ask(page, "fix it");
      await page.waitForSelector(".permission");
      assert.equal(await page.locator(".line.added mark").textContent(), "the");
      assert.match(await page.locator(".line.added").textContent(), /^2/);
      await page.locator(".permission button.reject").click();
      await page.locator(".permission form button").click();
      await answered(page, "As you like.");
      assert.equal(await page.locator(".line.added").count(), 0);
      assert.equal(readFileSync(join(world.project, "a.txt"), "utf8"), "one\nteh cat\nthree\n");
    },
  ),

  "stop stops, and a prompt typed meanwhile comes next": story("reply\n  repeat: 4000 \"word \"\n  pace: 5\nmodel: Second answer.", async ({ open }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "long");
    await page.waitForSelector(".message");
    await ask(page, "and then this");
    await page.waitForSelector(".prompt.unsent");
    await page.click(".stop");
    await answered(page, "Second answer.");
    assert.equal(await page.locator(".prompt.unsent").count(), 0);
  }),

  "drafts stay with their session, and history comes back": story("model: Hello.", async ({ open }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "remembered");
    await answered(page, "Hello.");
    await page.fill("#composer", "half a thought");
    await newSession(page);
    await page.waitForFunction(() => document.querySelector("#composer").value === "");
    await page.press("#composer", "ArrowUp");
    await page.waitForFunction(() => document.querySelector("#composer").value === "remembered");
    await page.click(".entry:has-text('remembered') a");
    await page.waitForFunction(() => document.querySelector("#composer").value === "half a thought");
    await page.reload();
    await page.waitForFunction(() => document.querySelector("#composer")?.value === "half a thought");
  }),

  "slash and at complete": story("model: Hello.", async ({ open, world }) => {
    world.write("src/coupon.rs", "x");
    const page = await open();
    await newSession(page);
    await page.locator("#composer").pressSequentially("/ren");
    await page.waitForSelector(".choices li:has-text('/rename')");
    await page.press("#composer", "Tab");
    await page.locator("#composer").pressSequentially("Better name");
    await page.press("#composer", "Enter");
    await page.waitForSelector(".title:has-text('Better name')");
    await page.locator("#composer").pressSequentially("look at @coup");
    await page.waitForSelector(".choices li:has-text('src/coupon.rs')");
    await page.press("#composer", "Enter");
    assert.equal(await page.inputValue("#composer"), "look at @src/coupon.rs ");
  }),

  "a picture can be pasted": story("model: A red dot.", async ({ open }) => {
    const page = await open();
    await newSession(page);
    await page.evaluate(() => {
      const bytes = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="), (one) => one.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], "dot.png", { type: "image/png" }));
      document.querySelector("#composer").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.waitForSelector(".attached img");
    await ask(page, "what is it");
    await answered(page, "A red dot.");
    await page.waitForFunction(() => document.querySelector(".prompt img")?.naturalWidth === 1);
  }),

  "a diagram is drawn in its sandbox": story(`model: ${JSON.stringify("Here:\n\n```mermaid\ngraph TD; A-->B;\n```\n\nDone.")}`, async ({ open }) => {
    const page = await open();
    await newSession(page);
    assert.equal(await page.locator("iframe").count(), 0);
    await ask(page, "draw");
    await page.waitForSelector(".diagram img", { timeout: 30_000 });
    assert.ok((await page.$eval(".diagram img", (image) => image.naturalWidth)) > 20);
  }),

  "errors come with what to do": story("reply\n  fault: 401 message=\"no such key\"", async ({ open }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "hi");
    await page.waitForSelector(".error-card");
    assert.equal(await page.locator(".error-card .hint").count(), 1);
  }),
};
