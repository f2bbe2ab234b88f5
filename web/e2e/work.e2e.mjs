import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answered, ask, assert, newSession, story } from "./stage.mjs";

const type = (page, text) => page.locator("#composer").pressSequentially(text);
const toMode = async (page, mode) => {
  await page.click("[aria-label^='Mode:']");
  await page.click(`[role=menuitemradio]:has-text('${mode}')`);
  await page.waitForSelector(`[aria-label='Mode: ${mode}']`);
};

export const tests = {
  "commands are those of every front end, and those that people added": story("model: Looked at it.", async ({ open, world }) => {
    mkdirSync(join(world.home, "commands"));
    writeFileSync(join(world.home, "commands", "inspect.md"), "---\ndescription: look at something closely\n---\nLook at $ARGUMENTS closely.\n");
    const page = await open();
    await newSession(page);
    await type(page, "/clear");
    // Found by its other name.
    await page.waitForSelector(".choices li:has-text('/new')");
    await page.fill("#composer", "");
    await type(page, "/insp");
    await page.waitForSelector(".choices li:has-text('/inspect'):has-text('yours')");
    await page.press("#composer", "Tab");
    await type(page, "the cart");
    await page.press("#composer", "Enter");
    await answered(page, "Looked at it.");
    await ask(page, "/theme dark");
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await ask(page, "/help");
    await page.waitForSelector(".sheet:has-text('/compact')");
    assert.equal(await page.locator(".sheet:has-text('/vim')").count(), 0);
    await page.keyboard.press("Escape");
    await page.waitForSelector(".sheet", { state: "detached" });
    await ask(page, "/tools");
    await page.waitForSelector("#tools");
  }),

  "a folder is added, worked in, and what was done there is taken back": story(
    'reply\n  call: write {"path":"../library/a.txt","content":"made"}\nmodel: Written.',
    async ({ open, world }) => {
      const library = join(world.project, "..", "library");
      mkdirSync(library);
      const page = await open();
      await newSession(page);
      await toMode(page, "edit");
      await type(page, "/add-dir ../lib");
      await page.waitForSelector(".choices li:has-text('../library/')");
      await page.press("#composer", "Tab");
      await page.press("#composer", "Enter");
      await page.waitForSelector("aside .path[title$='library, added']", { state: "attached" });
      await ask(page, "write there");
      await answered(page, "Written.");
      assert.equal(readFileSync(join(library, "a.txt"), "utf8"), "made");
      await ask(page, "/undo");
      await page.waitForSelector(".sheet:has-text('library/a.txt')");
      await page.click(".sheet .primary");
      await page.waitForSelector(".sheet", { state: "detached" });
      await ask(page, "/redo");
      await page.waitForSelector(".sheet:has-text('Do this again')");
      assert.equal(existsSync(join(library, "a.txt")), false);
      await page.keyboard.press("Escape");
      await page.waitForSelector(".sheet", { state: "detached" });
      await ask(page, "/remove-dir nowhere");
      await page.waitForSelector(".toast:has-text('Which one?')");
    },
  ),

  "what was done to files is shown before it is taken back": story(
    'reply\n  call: read {"path":"a.txt"}\nreply\n  call: edit {"path":"a.txt","old":"teh cat","new":"the cat"}\nmodel: Fixed.',
    async ({ open, world }) => {
      world.write("a.txt", "teh cat\n");
      const file = join(world.project, "a.txt");
      const page = await open();
      await newSession(page);
      await toMode(page, "edit");
      await ask(page, "fix it");
      await answered(page, "Fixed.");
      await ask(page, "/diff");
      await page.waitForSelector(".sheet .line.added:has-text('the cat')");
      await page.keyboard.press("Escape");
      await ask(page, "/undo");
      await page.waitForSelector(".sheet .line.added:has-text('teh cat')");
      assert.equal(readFileSync(file, "utf8"), "the cat\n");
      await page.click(".sheet .primary");
      await page.waitForSelector(".sheet", { state: "detached" });
      await ask(page, "/redo");
      await page.waitForSelector(".sheet:has-text('Do this again')");
      assert.equal(readFileSync(file, "utf8"), "teh cat\n");
    },
  ),

  "the plan is beside the conversation": story(
    'reply\n  call: todo {"items":[{"text":"find the cause","status":"completed"},{"text":"fix it","status":"in_progress"}]}\nmodel: Planned.',
    async ({ open }) => {
      const page = await open();
      await newSession(page);
      await ask(page, "plan it");
      await answered(page, "Planned.");
      assert.equal(await page.locator(".plan li[data-status=completed]:has-text('find the cause')").count(), 1);
      assert.equal(await page.locator(".plan li[data-status=in_progress]:has-text('fix it')").count(), 1);
    },
  ),

  "a sub-agent has a lane of its own": story(
    'reply\n  call: task {"title":"look around","prompt":"Say what is here.","role":"explorer"}\nmodel: There is a shop.\nmodel: The explorer found a shop.',
    async ({ open }) => {
      const page = await open();
      await newSession(page);
      await ask(page, "send somebody");
      await answered(page, "The explorer found a shop.");
      const lane = page.locator(".lane[data-state=done]");
      assert.equal(await lane.count(), 1);
      assert.equal(await lane.locator(".message").count(), 0);
      await lane.locator(".lane-head").click();
      await lane.locator(".message:has-text('There is a shop.')").waitFor();
      assert.equal(await page.locator(".thread > .message").count(), 1);
    },
  ),

  "a suggested tool runs at once, and asks first": story(
    'reply\n  call: call_tool {"name":"suggest_actions","arguments":{"actions":[{"label":"Write it down","type":"run_tool","tool":"write","input":{"path":"note.txt","content":"kept @home"}},{"label":"Say more","type":"fill_input","text":"more about "}]}}\nmodel: What next?',
    async ({ open, world }) => {
      const page = await open();
      await newSession(page);
      await ask(page, "go");
      await answered(page, "What next?");
      await page.click(".suggestions button:has-text('Say more')");
      assert.equal(await page.inputValue("#composer"), "more about ");
      await page.click(".suggestions button:has-text('Write it down')");
      await page.waitForSelector(".permission:has-text('note.txt')");
      assert.ok(!existsSync(join(world.project, "note.txt")));
      await page.click(".permission .primary");
      await page.waitForSelector(".tool[data-status=completed]:has-text('note.txt')");
      assert.equal(readFileSync(join(world.project, "note.txt"), "utf8").trim(), "kept @home");
    },
  ),

  "an MCP server is switched on from the page, and the session that is open has its tools": story(
    "reply\n  call: mcp__own__list_dir {}\nmodel: Not there.\nreply\n  call: mcp__own__list_dir {}\nmodel: There.",
    async ({ open, world }) => {
      const config = join(world.home, "config.toml");
      appendFileSync(config, `\n[mcp.own]\ncommand = ${JSON.stringify(world.program)}\nargs = ["mcp", "serve"]\ndisabled = true\n`);
      const page = await open();
      await newSession(page);
      await toMode(page, "full");
      await ask(page, "look");
      await answered(page, "Not there.");
      const session = page.url();
      await page.goto(`${world.url}settings`);
      await page.locator("section[aria-labelledby=mcp] input[type=checkbox]").check();
      await page.waitForFunction(async () => (await (await fetch("/api/settings")).json()).servers[0].enabled);
      assert.match(readFileSync(config, "utf8"), /disabled = false/);
      await page.goto(session);
      await ask(page, "look again");
      await answered(page, "There.");
      const [found] = await world.api("GET", "/api/sessions");
      const events = await world.api("GET", `/api/sessions/${found.session}/events?limit=1000`);
      const results = events.filter((event) => event.type === "tool_call_update" && event.status !== undefined).map((event) => event.status);
      assert.deepEqual(results, ["failed", "completed"]);
    },
  ),

  "settings change what new sessions do": story("model: Hello.", async ({ open, world }) => {
    const page = await open();
    await page.goto(`${world.url}settings`);
    await page.waitForSelector("section[aria-labelledby=new] select:not([disabled])");
    await page.selectOption("section[aria-labelledby=new] select >> nth=2", "plan");
    await page.click("section[aria-labelledby=tools] summary >> nth=0");
    const rule = page.locator("select.rule").first();
    await rule.selectOption("deny");
    await page.waitForFunction(async () => (await (await fetch("/api/settings")).json()).rules.length === 1);
    await newSession(page);
    await page.waitForSelector("[aria-label='Mode: plan']");
    assert.match(readFileSync(join(world.home, "config.toml"), "utf8"), /mode = "plan"/);
  }),
};
