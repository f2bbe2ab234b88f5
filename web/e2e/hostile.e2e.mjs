import { answered, ask, assert, newSession, settled, story } from "./stage.mjs";

/** Ways in which text of a model, a tool or a title has become script elsewhere. */
const corpus = [
  "<script>window.owned=1</script>", "<img src=x onerror=window.owned=1>", "<svg/onload=window.owned=1>", "<iframe srcdoc='<script>parent.owned=1</script>'>",
  "[x](javascript:window.owned=1)", "[x](JaVaScRiPt:window.owned=1)", "[x](data:text/html,<script>parent.owned=1</script>)", "[x](java\tscript:window.owned=1)", "[x](vbscript:x)",
  "![x](javascript:window.owned=1)", "![x](x\"onerror=\"window.owned=1)", "<a href=\"javascript:window.owned=1\">x</a>", "<javascript:window.owned=1>", "[x](https://ok.example\"onmouseover=\"window.owned=1)",
  "<math><mtext></p><style><img src onerror=window.owned=1>", "<form action=javascript:window.owned=1><input type=submit autofocus onfocus=window.owned=1>", "<body onload=window.owned=1>", "<style>*{background:url(javascript:window.owned=1)}</style>",
  "<details open ontoggle=window.owned=1>", "<video><source onerror=window.owned=1>", "<object data=javascript:window.owned=1>", "<base href=//evil.example/>", "<link rel=stylesheet href=//evil.example/x.css>", "<meta http-equiv=refresh content='0;url=javascript:window.owned=1'>",
  "`<img src=x onerror=window.owned=1>`", "```html\n<script>window.owned=1</script>\n```", "```\"><script>window.owned=1</script>\nx\n```", "| <img src=x onerror=window.owned=1> | b |\n|---|---|\n| <svg onload=window.owned=1> | c |",
  "```mermaid\ngraph TD; A[\"<img src=x onerror=parent.owned=1>\"]-->B; click A \"javascript:parent.owned=1\"\n```", "&lt;script&gt;window.owned=1&lt;/script&gt;", "<!--><script>window.owned=1</script>-->", "{{constructor.constructor('window.owned=1')()}}", "__proto__", "the end of it",
];

export const tests = {
  "nothing that a model writes becomes script": story(`model: ${JSON.stringify(corpus.join("\n\n"))}`, async ({ open }) => {
    const page = await open();
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await newSession(page);
    await ask(page, corpus.join("\n"));
    await answered(page, "the end of it");
    await page.waitForSelector(".diagram img, p:has-text('can not be drawn')");
    await settled(page);
    assert.equal(await page.evaluate(() => window.owned), undefined);
    const found = await page.evaluate(() => ({
      elements: document.querySelectorAll(".thread script, .thread iframe, .thread object, .thread svg, .thread form, .thread style, .thread link, .thread base, .thread meta, .thread video").length,
      links: [...document.querySelectorAll(".thread a")].map((link) => link.protocol).filter((protocol) => !["http:", "https:", "mailto:"].includes(protocol)),
      handlers: [...document.querySelectorAll(".thread *")].flatMap((element) => element.getAttributeNames().filter((name) => name.startsWith("on"))),
    }));
    assert.deepEqual(found, { elements: 0, links: [], handlers: [] });
    const host = new URL(page.url()).host;
    assert.deepEqual(asked.filter((url) => !url.startsWith("blob:") && !url.startsWith("data:") && new URL(url).host !== host), []);
  }),

  "nor anything in titles, paths and tool results": story(
    `reply\n  call: shell {"command":"printf '%s' '<img src=x onerror=window.owned=1>'"}\nmodel: Done.`,
    async ({ open, world }) => {
      await world.api("POST", "/api/sessions", { title: "<img src=x onerror=window.owned=1>" });
      const page = await open();
      await newSession(page);
      await page.click("[aria-label^='Mode:']");
      await page.click("[role=menuitemradio]:has-text('full')");
      await ask(page, "go");
      await answered(page, "Done.");
      await page.click(".tool-head");
      await settled(page);
      assert.equal(await page.evaluate(() => window.owned), undefined);
      assert.equal(await page.locator(".sidebar img, .tool img").count(), 0);
    },
  ),

  "the page's policy stops script that got in anyway": story("model: Hello.", async ({ open }) => {
    const page = await open();
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.owned=1";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.owned=1'>");
    });
    await settled(page);
    assert.equal(await page.evaluate(() => window.owned), undefined);
  }, { noisy: true }),
};
