import { describe, expect, it } from "vitest";
import { GrowingText, parseBlocks } from "./blocks";
import { parseInline, safeUrl } from "./inline";

describe("blocks", () => {
  const text = "# Title\n\nA paragraph\nof two lines.\n\n- one\n- two\n  - nested\n\n3. three\n4. four\n\n```rust\nfn a() {}\n\n# not a heading\n```\n\n> quoted\n> more\n\n| a | b |\n|---|--:|\n| 1 | `x|y` |\n\n---\n- [x] done\n- [ ] open\n";

  it("are what they look like", () => {
    expect(parseBlocks(text).map((block) => block.type)).toEqual(["heading", "paragraph", "list", "list", "code", "quote", "table", "rule", "list"]);
    expect(parseBlocks(text)[3]).toMatchObject({ ordered: true, start: 3 });
    expect(parseBlocks(text)[6]).toMatchObject({ align: [undefined, "right"], rows: [["1", "`x|y`"]] });
    expect(parseBlocks(text)[8]).toMatchObject({ items: [{ checked: true }, { checked: false }] });
  });

  it("are the same however the text arrives", () => {
    for (const size of [1, 3, 7]) {
      const growing = new GrowingText();
      let blocks = growing.update("");
      for (let at = 0; at < text.length; at += size) blocks = growing.update(text.slice(0, at + size));
      expect(blocks).toEqual(parseBlocks(text));
    }
  });

  it("that are settled are never made again", () => {
    const growing = new GrowingText();
    const before = growing.update("first\n\nsecond\n\nthi");
    const after = growing.update("first\n\nsecond\n\nthird\n\nfourth");
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after.length).toBe(4);
  });

  it("of hostile text end in time", () => {
    const started = performance.now();
    for (const evil of ["> ".repeat(5000), "- ".repeat(5000), "*".repeat(20_000), "[".repeat(20_000), "`".repeat(9999) + "x", "_a".repeat(10_000), "|".repeat(20_000), "![](".repeat(5000), "<".repeat(20_000)]) {
      parseBlocks(evil).forEach((block) => block.type === "paragraph" && parseInline(block.text));
    }
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe("inline", () => {
  it("has emphasis, code and links", () => {
    expect(parseInline("a **b** *c* `d` ~~e~~ [f](https://x.y) snake_case_name")).toEqual([
      "a ", { type: "strong", children: ["b"] }, " ", { type: "em", children: ["c"] }, " ", { type: "code", text: "d" }, " ",
      { type: "strike", children: ["e"] }, " ", { type: "link", url: "https://x.y", children: ["f"] }, " snake_case_name",
    ]);
    expect(parseInline("see https://a.b/c_d. ok")).toEqual(["see ", { type: "link", url: "https://a.b/c_d", children: ["https://a.b/c_d"] }, ". ok"]);
  });

  it("leads nowhere but to the web", () => {
    const evil = ["javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "java\tscript:x", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "\u0001javascript:x", "//evil", "blob:x", "about:blank", "javascript&colon;alert(1)"];
    for (const url of evil) {
      expect(safeUrl(url)).toBeUndefined();
      expect(JSON.stringify(parseInline(`[x](${url})`))).not.toContain('"link"');
      expect(JSON.stringify(parseInline(`<${url}>`))).not.toContain('"link"');
    }
  });
});
