// Pictures of a conversation that shows everything, at four widths and in both themes.
import { mkdirSync } from "node:fs";
import { settled } from "./stage.mjs";
import { launch, World } from "./world.mjs";

const out = new URL("./out/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });
const answer = [
  "I'll look at how coupons are applied.",
];
const script = `
reply
  think: Coupons are applied in src/coupon.rs. A set of the ones that were applied would stop the second.
  text: ${JSON.stringify(answer[0])}
  call: todo {"items":[{"text":"find the cause","status":"completed"},{"text":"fix it","status":"in_progress"},{"text":"run the tests","status":"pending"}]}
  call: read {"path":"src/coupon.rs"}
reply
  text: The discount is added every time, so a coupon that is applied twice counts twice.
  call: edit {"path":"src/coupon.rs","old":"        self.discount += coupon.value;","new":"        if self.applied.insert(coupon.id) {\\n            self.discount += coupon.value;\\n        }"}
reply
  text: ${JSON.stringify("Fixed. A coupon now counts **once**:\n\n| before | after |\n|---|---|\n| every call adds | the first call adds |\n\n```rust\nif self.applied.insert(coupon.id) {\n    self.discount += coupon.value; // only the first time\n}\n```\n\n1. `applied` is a set of ids.\n2. `insert` answers whether it was new.\n\nShall I run the tests? They are described in [the book](https://doc.rust-lang.org/book/).")}
reply
  text: Running them.
  call: shell {"command":"cargo test -p cart && rm -rf target/tmp"}
model: All 14 tests pass.
`;
const world = await World.make(script);
world.write("src/coupon.rs", "impl Cart {\n    pub fn apply(&mut self, coupon: &Coupon) {\n        self.discount += coupon.value;\n    }\n}\n");
await world.serve();
const browser = await launch();
try {
  const titles = ["Deploy script for staging", "Explain the retry policy", "Docs for the public API"];
  for (const title of titles) await world.api("POST", "/api/sessions", { title });
  const { session } = await world.api("POST", "/api/sessions", { mode: "edit" });
  const wait = async (status) => {
    for (;;) {
      const view = await world.api("GET", `/api/sessions/${session}`);
      if (view.status === status) return view;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await world.api("POST", `/api/sessions/${session}/prompt`, { text: "the cart total is wrong when a coupon is applied twice", attended: true });
  await wait("idle");
  await world.api("PATCH", `/api/sessions/${session}`, { title: "Coupon applied twice" });
  await world.api("POST", `/api/sessions/${session}/prompt`, { text: "yes, run them", attended: true });
  await wait("waiting");
  for (const theme of ["light", "dark"]) {
    const context = await browser.newContext({ colorScheme: theme, viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.on("console", (message) => message.type() === "error" && console.log(theme, message.text()));
    page.on("pageerror", (error) => console.log(theme, error.message));
    await page.goto(world.link);
    await page.waitForSelector(".start");
    await page.screenshot({ path: `${out}start-${theme}.png` });
    await page.goto(`${world.url}session/${session}`);
    await page.waitForSelector(".permission");
    for (const [width, height] of [[360, 740], [768, 900], [1280, 940], [1920, 1000]]) {
      await page.setViewportSize({ width, height });
      await settled(page);
      await page.screenshot({ path: `${out}session-${width}-${theme}.png` });
    }
    for (const path of ["settings", "usage", "welcome", `session/${session}/replay`]) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${world.url}${path}`);
      await settled(page);
      await page.screenshot({ path: `${out}${path.split("/").at(-1)}-${theme}.png` });
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${world.url}session/${session}`);
    await page.waitForSelector(".permission");
    await page.click("button[aria-label=Sessions]");
    await settled(page);
    await page.screenshot({ path: `${out}drawer-${theme}.png` });
    await context.close();
  }
} finally {
  await browser.close();
  world.end();
}
