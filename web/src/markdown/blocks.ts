/**
 * Splits Markdown into its top-level blocks, a line at a time.
 *
 * Text only ever grows at its end while an agent speaks, so everything but the last block is settled: it is never looked at
 * again, and what was drawn of it stays. The last block is read again with each piece.
 */
export type Align = "left" | "center" | "right" | undefined;

export type ListItem = { checked?: boolean; blocks: Block[] };

export type Block =
  | { type: "paragraph"; text: string }
  | { type: "heading"; level: number; text: string }
  | { type: "code"; language: string; text: string; closed: boolean }
  | { type: "quote"; blocks: Block[] }
  | { type: "list"; ordered: boolean; start: number; items: ListItem[] }
  | { type: "table"; align: Align[]; head: string[]; rows: string[][] }
  | { type: "rule" };

/** Nesting beyond this is shown as text: nobody writes it, and it must not cost anything. */
const MAX_DEPTH = 12;

/** The blocks of a text that grows. Settled ones are the same objects each time. */
export class GrowingText {
  private text = "";
  private settled: Block[] = [];
  /** Where the last block begins. */
  private from = 0;
  private last: Block[] = [];

  /** Takes the whole text as it is now. */
  update(text: string): Block[] {
    if (text === this.text) return [...this.settled, ...this.last];
    if (!text.startsWith(this.text)) {
      this.settled = [];
      this.from = 0;
    }
    this.text = text;
    const lines = text.slice(this.from).split("\n");
    const found = readBlocks(lines, 0);
    const last = found.at(-1);
    for (const { block } of found.slice(0, -1)) this.settled.push(block);
    if (last !== undefined) {
      this.from += lines.slice(0, last.line).reduce((sum, line) => sum + line.length + 1, 0);
    }
    this.last = last === undefined ? [] : [last.block];
    return [...this.settled, ...this.last];
  }
}

export function parseBlocks(text: string, depth = 0): Block[] {
  return readBlocks(text.split("\n"), depth).map(({ block }) => block);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const BULLET = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +|$)/;
const DELIMITER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

type Found = { block: Block; line: number };

function readBlocks(lines: string[], depth: number): Found[] {
  const found: Found[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at]!;
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const start = at;
    let block: Block;
    [block, at] = readBlock(lines, at, depth);
    found.push({ block, line: start });
  }
  return found;
}

function readBlock(lines: string[], start: number, depth: number): [Block, number] {
  const line = lines[start]!;
  const fence = FENCE.exec(line);
  if (fence) return readFence(lines, start, fence[1]!, fence[2]!.trim());
  const heading = HEADING.exec(line);
  if (heading) return [{ type: "heading", level: heading[1]!.length, text: heading[2] ?? "" }, start + 1];
  if (RULE.test(line)) return [{ type: "rule" }, start + 1];
  if (depth < MAX_DEPTH && QUOTE.test(line)) return readQuote(lines, start, depth);
  if (depth < MAX_DEPTH && BULLET.test(line)) return readList(lines, start, depth);
  if (line.includes("|") && DELIMITER.test(lines[start + 1] ?? "") && cells(line).length === cells(lines[start + 1]!).length) {
    return readTable(lines, start);
  }
  return readParagraph(lines, start);
}

function readFence(lines: string[], start: number, fence: string, info: string): [Block, number] {
  const close = new RegExp(`^ {0,3}${fence[0] === "`" ? "`" : "~"}{${fence.length},}\\s*$`);
  let at = start + 1;
  while (at < lines.length && !close.test(lines[at]!)) at += 1;
  const text = lines.slice(start + 1, at).join("\n");
  const closed = at < lines.length;
  return [{ type: "code", language: info.split(/\s/)[0] ?? "", text, closed }, closed ? at + 1 : at];
}

function readQuote(lines: string[], start: number, depth: number): [Block, number] {
  const inner: string[] = [];
  let at = start;
  while (at < lines.length && lines[at]!.trim() !== "") {
    // A line without its mark goes on with the paragraph.
    if (!QUOTE.test(lines[at]!) && startsBlock(lines[at]!)) break;
    inner.push(lines[at]!.replace(QUOTE, ""));
    at += 1;
  }
  return [{ type: "quote", blocks: parseBlocks(inner.join("\n"), depth + 1) }, at];
}

function readList(lines: string[], start: number, depth: number): [Block, number] {
  const first = BULLET.exec(lines[start]!)!;
  const ordered = /\d/.test(first[2]!);
  const same = (mark: string) => (ordered ? /\d/.test(mark) && mark.at(-1) === first[2]!.at(-1) : mark === first[2]);
  const items: ListItem[] = [];
  let at = start;
  while (at < lines.length) {
    const bullet = BULLET.exec(lines[at]!);
    if (!bullet || !same(bullet[2]!) || RULE.test(lines[at]!)) break;
    const indent = Math.min(bullet[0].length, bullet[1]!.length + bullet[2]!.length + 4);
    const inner = [lines[at]!.slice(bullet[0].length)];
    at += 1;
    while (at < lines.length) {
      const line = lines[at]!;
      const spaces = line.length - line.trimStart().length;
      if (line.trim() === "") {
        // Only what follows tells whether the item goes on.
        const next = lines.slice(at).find((later) => later.trim() !== "");
        if (next === undefined || next.length - next.trimStart().length < Math.min(indent, 2)) break;
        inner.push("");
      } else if (spaces >= Math.min(indent, 2)) inner.push(line.slice(Math.min(spaces, indent)));
      else if (startsBlock(line)) break;
      else inner.push(line);
      at += 1;
    }
    items.push(listItem(inner.join("\n"), depth));
    while (at < lines.length && lines[at]!.trim() === "") {
      const next = BULLET.exec(lines.slice(at).find((later) => later.trim() !== "") ?? "");
      if (!next || !same(next[2]!)) break;
      at += 1;
    }
  }
  return [{ type: "list", ordered, start: ordered ? Number.parseInt(first[2]!, 10) : 1, items }, at];
}

function listItem(text: string, depth: number): ListItem {
  const task = /^\[([ xX])\] /.exec(text);
  const blocks = parseBlocks(task ? text.slice(task[0].length) : text, depth + 1);
  return task ? { checked: task[1] !== " ", blocks } : { blocks };
}

function readTable(lines: string[], start: number): [Block, number] {
  const align = cells(lines[start + 1]!).map((cell): Align => {
    const left = cell.startsWith(":");
    if (cell.endsWith(":")) return left ? "center" : "right";
    return left ? "left" : undefined;
  });
  const rows: string[][] = [];
  let at = start + 2;
  while (at < lines.length && lines[at]!.trim() !== "" && lines[at]!.includes("|")) {
    rows.push(cells(lines[at]!).slice(0, align.length));
    at += 1;
  }
  return [{ type: "table", align, head: cells(lines[start]!), rows }, at];
}

function cells(line: string): string[] {
  const parts: string[] = [];
  let part = "";
  let code = false;
  const text = line.trim().replace(/^\|/, "");
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\" && text[at + 1] === "|") part += text[++at];
    else if (text[at] === "|" && !code) {
      parts.push(part);
      part = "";
    } else {
      if (text[at] === "`") code = !code;
      part += text[at];
    }
  }
  if (part.trim() !== "" || parts.length === 0) parts.push(part);
  return parts.map((one) => one.trim());
}

function readParagraph(lines: string[], start: number): [Block, number] {
  let at = start + 1;
  while (at < lines.length && lines[at]!.trim() !== "" && !startsBlock(lines[at]!)) at += 1;
  return [{ type: "paragraph", text: lines.slice(start, at).map((line) => line.trimStart()).join("\n") }, at];
}

function startsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || BULLET.test(line);
}
