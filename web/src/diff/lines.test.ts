import { expect, it } from "vitest";
import { counts, diffLines, hunks, sides } from "./lines";

it("finds what changed, by line and by word", () => {
  const lines = diffLines("a\nb\nlet x = 1;\nc\n", "a\nlet x = 2;\nc\nd\n");
  expect(lines.map((line) => `${line.kind[0]} ${line.pieces.map((piece) => piece.text).join("")}`)).toEqual(["s a", "r b", "r let x = 1;", "a let x = 2;", "s c", "a d"]);
  expect(counts(lines)).toEqual({ added: 2, removed: 2 });
  const words = diffLines("let x = 1;", "let x = 2;");
  expect(words[0]!.pieces).toEqual([{ text: "let x = ", changed: false }, { text: "1", changed: true }, { text: ";", changed: false }]);
});

it("rebuilds both sides", () => {
  for (let seed = 1; seed < 60; seed++) {
    const text = (salt: number) => Array.from({ length: 12 }, (_, at) => String((seed * 7919 * (at + salt)) % 5)).join("\n");
    const [before, after] = [text(1), text(seed)];
    const lines = diffLines(before, after);
    const side = (gone: string) => lines.filter((line) => line.kind !== gone).map((line) => line.pieces.map((piece) => piece.text).join("")).join("\n");
    expect([side("added"), side("removed")]).toEqual([before, after]);
  }
});

it("leaves out what is far from any change", () => {
  const before = Array.from({ length: 100 }, (_, at) => `line ${at}`);
  const after = before.with(50, "changed");
  const parts = hunks(diffLines(before.join("\n"), after.join("\n")));
  expect(parts.length).toBe(1);
  expect(parts[0]!.lines.length).toBe(8);
  expect(parts[0]!.skipped).toBe(47);
  expect(sides(parts[0]!.lines).length).toBe(7);
});

it("does not hang on two large texts that share nothing", () => {
  const text = (name: string) => Array.from({ length: 20_000 }, (_, at) => `${name} ${at}`).join("\n");
  expect(counts(diffLines(text("a"), text("b")))).toEqual({ added: 20_000, removed: 20_000 });
});
