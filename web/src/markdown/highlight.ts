/** Colours for code: words, strings, comments, numbers. One small grammar a family of languages; exact enough to read by. */
export type Token = { kind: "plain" | "keyword" | "string" | "comment" | "number" | "added" | "removed" | "name"; text: string };

const C_LIKE =
  "abstract as async await break case catch class const continue crate debugger default defer delete do dyn else enum export extends extern false final finally fn for from func function go if impl implements import in instanceof interface is let loop match mod move mut namespace new nil null of override package private protected pub public readonly ref return satisfies select self Self static struct super switch this throw trait true try type typeof undefined union unsafe use using var void volatile where while yield int long float double char bool boolean string byte short unsigned signed auto template typename sizeof map chan range val when object fun";
const PYTHON =
  "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return self True try while with yield begin do end elsif ensure module nil require rescue then unless until when";
const SHELL = "if then else elif fi for while until do done case esac in function return local export readonly set unset exit echo cd source";
const SQL = "select from where and or not insert into values update set delete create table index drop alter join left right inner outer on group by order limit offset as distinct union all null is primary key references default";

type Grammar = { comment: string; words: Set<string>; ignoreCase?: boolean };
const grammar = (comment: string, words: string, ignoreCase = false): Grammar => ({ comment, words: new Set(words.split(" ")), ignoreCase });
const slashes = grammar("\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)", C_LIKE);
const hash = grammar("#[^\\n]*", PYTHON);
const shell = grammar("(?:^|(?<=\\s))#[^\\n]*", SHELL);
const sql = grammar("--[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)", SQL, true);
const markup = grammar("<!--[\\s\\S]*?(?:-->|$)", "");
const data = grammar("#[^\\n]*|\\/\\/[^\\n]*", "true false null yes no");

const FAMILIES: Record<string, Grammar> = {};
const family = (names: string, one: Grammar) => names.split(" ").forEach((name) => (FAMILIES[name] = one));
family("rust rs ts tsx js jsx mjs javascript typescript java c h cpp cc hpp cs csharp go kotlin kt scala swift php dart zig css scss proto", slashes);
family("python py ruby rb elixir r perl pl", hash);
family("sh bash zsh fish shell console dockerfile make makefile", shell);
family("sql", sql);
family("html xml svg vue svelte", markup);
family("json jsonc toml yaml yml ini", data);

/** The language of a file, by the end of its name. */
export function languageOf(path: string): string {
  return path.split("/").at(-1)?.split(".").at(-1)?.toLowerCase() ?? "";
}

/** Longer than this nobody reads it, and it is shown as it is. */
const MAX_LENGTH = 60_000;

export function highlight(text: string, language: string): Token[] {
  const name = language.toLowerCase();
  if (name === "diff" || name === "patch") return diffTokens(text);
  const found = FAMILIES[name];
  if (found === undefined || text.length > MAX_LENGTH) return [{ kind: "plain", text }];
  const pattern = new RegExp(
    `(${found.comment})|("(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\`)|(\\b\\d[\\w.]*)|([A-Za-z_][\\w-]*)`,
    "gm",
  );
  const tokens: Token[] = [];
  let at = 0;
  for (const piece of text.matchAll(pattern)) {
    if (piece.index > at) tokens.push({ kind: "plain", text: text.slice(at, piece.index) });
    at = piece.index + piece[0].length;
    const word = piece[4];
    const isKeyword = word !== undefined && found.words.has(found.ignoreCase ? word.toLowerCase() : word);
    const isCall = word !== undefined && text[at] === "(";
    const kind = piece[1] !== undefined ? "comment" : piece[2] !== undefined ? "string" : piece[3] !== undefined ? "number" : isKeyword ? "keyword" : isCall ? "name" : "plain";
    tokens.push({ kind, text: piece[0] });
  }
  if (at < text.length) tokens.push({ kind: "plain", text: text.slice(at) });
  return tokens;
}

function diffTokens(text: string): Token[] {
  const kind = (line: string) => (line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "keyword" : "plain");
  return text.split(/(?<=\n)/).map((line): Token => ({ kind: kind(line), text: line }));
}
