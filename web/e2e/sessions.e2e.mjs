import { assert, story } from "./stage.mjs";

const entry = (page, title) => page.locator(`.entry:has-text("${title}")`).first();
const act = async (page, title, name) => {
  await entry(page, title).hover();
  await entry(page, title).locator(".menu > button").click();
  await page.click(`[role=menu] [role=menuitem]:has-text("${name}")`);
};

export const tests = {
  "pin, rename, archive, delete with undo": story("model: Hello.", async ({ open, world }) => {
    for (const title of ["First", "Second", "Third"]) await world.api("POST", "/api/sessions", { title });
    const page = await open();
    await page.waitForSelector(".entry:has-text('Third')");
    await act(page, "First", "Pin");
    await page.waitForSelector("section[aria-label=Pinned] .entry:has-text('First')");
    await act(page, "Second", "Rename");
    await page.fill(".rename", "Renamed");
    await page.press(".rename", "Enter");
    await page.waitForSelector(".entry:has-text('Renamed')");
    await act(page, "Renamed", "Archive");
    await page.waitForSelector(".entry:has-text('Renamed')", { state: "detached" });
    await act(page, "Third", "Delete");
    await page.waitForSelector(".entry:has-text('Third')", { state: "detached" });
    await page.click(".toast button:has-text('Undo')");
    await page.waitForSelector(".entry:has-text('Third')");
    assert.equal((await world.api("GET", "/api/sessions")).length, 3);
  }),

  "search looks at names and at what was said": story("model: The answer mentions pterodactyls.", async ({ open, world }) => {
    const { session } = await world.api("POST", "/api/sessions", { title: "About birds" });
    await world.api("POST", "/api/sessions", { title: "Other" });
    await world.api("POST", `/api/sessions/${session}/prompt`, { text: "tell me" });
    const page = await open();
    await page.waitForSelector(".entry:has-text('Other')");
    await page.fill(".search", "birds");
    await page.waitForFunction(() => document.querySelectorAll(".entry").length === 1);
    await page.fill(".search", "pterodactyls");
    await page.waitForSelector(".hit mark:has-text('pterodactyls')");
  }),

  "news of a session that is not open are marked": story("model: Hello.", async ({ open, world }) => {
    const { session } = await world.api("POST", "/api/sessions", { title: "Watched" });
    await world.api("POST", "/api/sessions", { title: "Other" });
    const page = await open();
    await page.click(".entry:has-text('Watched') a");
    await page.waitForSelector("#composer");
    await page.click(".entry:has-text('Other') a");
    await page.waitForSelector(".title:has-text('Other')");
    await world.api("POST", `/api/sessions/${session}/prompt`, { text: "go" });
    await page.waitForSelector(".entry[data-unread=true]:has-text('Watched')");
  }),
};
