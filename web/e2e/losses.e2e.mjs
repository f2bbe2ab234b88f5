import { answered, ask, assert, newSession, story } from "./stage.mjs";

const slow = `reply\n  text: ${JSON.stringify(Array.from({ length: 120 }, (_, at) => `word${at}`).join(" "))}\n  chunk: 6\n  pace: 15\nmodel: After.`;

export const tests = {
  "the network goes in the middle of an answer and comes back": story(slow, async ({ open }) => {
    const page = await open();
    await newSession(page);
    await ask(page, "go");
    await page.waitForSelector(".message:has-text('word3')");
    await page.context().setOffline(true);
    await page.waitForSelector(".connection");
    await page.context().setOffline(false);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await answered(page, "word119");
    const text = await page.locator(".message").first().textContent();
    const words = text.match(/word\d+/g);
    assert.deepEqual(words, Array.from({ length: 120 }, (_, at) => `word${at}`));
  }, { noisy: true }),

  "a prompt sent without a connection arrives once": story("model: First.\nmodel: Second.", async ({ open, world }) => {
    const page = await open();
    await newSession(page);
    await page.context().setOffline(true);
    await page.waitForSelector(".connection");
    await ask(page, "sent into the dark");
    await page.waitForSelector(".prompt.unsent");
    await page.context().setOffline(false);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await answered(page, "First.");
    assert.equal(await page.locator(".prompt").count(), 1);
    const [session] = await world.api("GET", "/api/sessions");
    const events = await world.api("GET", `/api/sessions/${session.session}/events?limit=1000`);
    assert.equal(events.filter((event) => event.type === "user_prompt").length, 1);
  }, { noisy: true }),

  "the server is killed and started again, and the session goes on": story("model: Before.\nmodel: After.", async ({ open, world }) => {
    const page = await open();
    await newSession(page);
    const path = new URL(page.url()).pathname;
    await ask(page, "first");
    await answered(page, "Before.");
    await page.fill("#composer", "a draft");
    await world.kill();
    await page.waitForSelector(".connection");
    await world.serve(new URL(world.url).host);
    // The cookie was of the run that is over.
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await page.waitForSelector("text=Signed out");
    await page.fill("#address", world.link);
    await page.click("button:has-text('Sign in')");
    await answered(page, "Before.");
    assert.equal(new URL(page.url()).pathname, path);
    assert.equal(await page.inputValue("#composer"), "a draft");
    await ask(page, "second");
    await answered(page, "After.");
  }, { noisy: true }),

  "logging out ends what is open": story("model: Hello.", async ({ open }) => {
    const page = await open();
    await page.keyboard.press("Control+k");
    await page.fill(".palette input", "sign out");
    await page.keyboard.press("Enter");
    await page.waitForSelector("text=Signed out");
    await page.reload();
    await page.waitForSelector("text=Signed out");
  }, { noisy: true }),
};
