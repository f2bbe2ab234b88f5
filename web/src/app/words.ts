/** How numbers, times and names are said. The same words as in the terminal. */
export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 100_000) return `${(value / 1000).toFixed(1).replace(/\.0$/, "")}k`;
  if (value < 1_000_000) return `${Math.round(value / 1000)}k`;
  return `${(value / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}

export function money(value: number | undefined): string {
  if (value === undefined) return "";
  if (value === 0) return "$0";
  return value < 0.01 ? "<$0.01" : `$${value.toFixed(2)}`;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function ago(ts: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(ts)) / 1000);
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return new Date(ts).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

export function folder(path: string): string {
  return path.split("/").filter((part) => part !== "").at(-1) ?? "/";
}

export const MODES = {
  explore: "no writes",
  plan: "read, then propose",
  ask: "reads run, the rest asks",
  edit: "edits in the project run, commands ask",
  auto: "the safety classifier decides",
  full: "no questions; the sandbox stays",
} as const;

/** How well letters fit into a text, in order; higher is better, nothing if they do not. */
export function fuzzy(query: string, text: string): number | undefined {
  if (query === "") return 0;
  const [needle, hay] = [query.toLowerCase(), text.toLowerCase()];
  const whole = hay.indexOf(needle);
  if (whole >= 0) return 1000 - whole - hay.length / 1000;
  let [at, score, run] = [0, 0, 0];
  for (const letter of needle) {
    const found = hay.indexOf(letter, at);
    if (found < 0) return undefined;
    run = found === at ? run + 1 : 0;
    score += run + (/[\s/_.-]/.test(hay[found - 1] ?? "/") ? 3 : 0);
    at = found + 1;
  }
  return score - hay.length / 100;
}
