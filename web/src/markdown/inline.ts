/** Text inside a block: emphasis, code, links. Answers a tree of plain data; nothing of it is ever HTML. */
export type Inline =
  | string
  | { type: "strong" | "em" | "strike"; children: Inline[] }
  | { type: "code"; text: string }
  | { type: "link"; url: string; children: Inline[] }
  | { type: "break" };

const MAX_DEPTH = 8;

/** Only these lead anywhere. Whatever else calls itself an address is shown as the text that it is. */
export function safeUrl(url: string): string | undefined {
  // Browsers drop these before they look at an address, so they must not hide what it is.
  // eslint-disable-next-line no-control-regex
  const clean = url.replace(/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028-\u202f\ufeff]/g, "");
  return /^(https?:\/\/|mailto:)/i.test(clean) ? clean : undefined;
}

export function parseInline(text: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let plain = "";
  const push = (node: Inline) => {
    if (plain !== "") out.push(plain);
    plain = "";
    out.push(node);
  };
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at, at + 4000);
    const found = depth < MAX_DEPTH ? match(text, at, rest, depth) : undefined;
    if (found === undefined) {
      plain += text[at];
      at += 1;
      continue;
    }
    if (typeof found.node === "string") plain += found.node;
    else push(found.node);
    at += found.length;
  }
  if (plain !== "") out.push(plain);
  return out;
}

type Match = { node: Inline; length: number };

function match(text: string, at: number, rest: string, depth: number): Match | undefined {
  switch (text[at]) {
    case "\\": {
      const next = text[at + 1];
      if (next === "\n") return { node: { type: "break" }, length: 2 };
      return next !== undefined && /[!-/:-@[-`{-~]/.test(next) ? { node: next, length: 2 } : undefined;
    }
    case "\n":
      return text.endsWith("  ", at) || text.slice(Math.max(0, at - 2), at) === "  " ? { node: { type: "break" }, length: 1 } : { node: "\n", length: 1 };
    case "`": {
      const ticks = /^`+/.exec(rest)![0];
      const end = closing(text, at + ticks.length, ticks);
      if (end < 0) return { node: ticks, length: ticks.length };
      let code = text.slice(at + ticks.length, end).replaceAll("\n", " ");
      if (/^ .*[^ ].* $/.test(code)) code = code.slice(1, -1);
      return { node: { type: "code", text: code }, length: end + ticks.length - at };
    }
    case "*":
    case "_":
      return emphasis(text, at, rest, depth);
    case "~": {
      const struck = /^~~(?=\S)([\s\S]*?\S)~~/.exec(rest);
      return struck ? { node: { type: "strike", children: parseInline(struck[1]!, depth + 1) }, length: struck[0].length } : undefined;
    }
    case "!": {
      // A picture from elsewhere is not fetched behind the reader's back; it is a link to it.
      const image = rest[1] === "[" ? link(rest.slice(1), depth) : undefined;
      return image ? { node: image.node, length: image.length + 1 } : undefined;
    }
    case "[":
      return link(rest, depth);
    case "<": {
      const auto = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/i.exec(rest);
      const url = auto && safeUrl(auto[1]!);
      return auto && url ? { node: { type: "link", url, children: [auto[1]!] }, length: auto[0].length } : undefined;
    }
    case "h":
    case "H": {
      if (/\w/.test(text[at - 1] ?? "")) return undefined;
      const bare = /^https?:\/\/[^\s<>"'`]+/i.exec(rest)?.[0].replace(/[.,;:!?)\]*_]+$/, "");
      const url = bare && safeUrl(bare);
      return bare && url ? { node: { type: "link", url, children: [bare] }, length: bare.length } : undefined;
    }
    default:
      return undefined;
  }
}

function emphasis(text: string, at: number, rest: string, depth: number): Match | undefined {
  const mark = text[at]!;
  const run = /^(\*+|_+)/.exec(rest)![0].length;
  // Inside a word an underscore is an underscore.
  if (mark === "_" && /\w/.test(text[at - 1] ?? "")) return { node: rest.slice(0, run), length: run };
  for (const [size, type] of [[2, "strong"], [1, "em"]] as const) {
    if (run < size || /^\s/.test(rest.slice(size))) continue;
    const token = mark.repeat(size);
    let end = at + size;
    for (;;) {
      end = text.indexOf(token, end);
      if (end < 0 || end - at > 4000) break;
      const before = text[end - 1]!;
      const after = text[end + size] ?? "";
      const fits = !/\s/.test(before) && before !== "\\" && !(mark === "_" && /\w/.test(after)) && (size === 2 || (after !== mark && before !== mark));
      if (fits && end > at + size) {
        const children = parseInline(text.slice(at + size, end), depth + 1);
        return { node: { type, children }, length: end + size - at };
      }
      end += size;
    }
  }
  return undefined;
}

function link(rest: string, depth: number): Match | undefined {
  const found = /^\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(\s*(<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(rest);
  if (!found) return undefined;
  const target = found[2]!.replace(/^<|>$/g, "");
  const url = safeUrl(target);
  const children = parseInline(found[1]!, depth + 1);
  // What leads nowhere safe is shown whole, so that nobody wonders what it would have been.
  if (url === undefined) return { node: `${found[1]!} (${target})`, length: found[0].length };
  return { node: { type: "link", url, children: children.length > 0 ? children : [url] }, length: found[0].length };
}

function closing(text: string, from: number, ticks: string): number {
  let at = from;
  for (;;) {
    at = text.indexOf(ticks, at);
    if (at < 0) return -1;
    if (text[at + ticks.length] !== "`" && text[at - 1] !== "`") return at;
    at += 1;
    while (text[at] === "`") at += 1;
  }
}
