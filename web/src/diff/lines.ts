/** What changed between two texts: by line, and within changed lines by word. */
export type Piece = { text: string; changed: boolean };
export type DiffLine = { kind: "same" | "added" | "removed"; old?: number; new?: number; pieces: Piece[] };
export type Hunk = { lines: DiffLine[]; skipped: number };

/** Beyond this a diff is made without looking for what moved. */
const MAX_EDITS = 600;
const CONTEXT = 3;

export function diffLines(before: string, after: string): DiffLine[] {
  const a = split(before);
  const b = split(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const lines: DiffLine[] = [];
  const same = (i: number, j: number) => lines.push({ kind: "same", old: i + 1, new: j + 1, pieces: [{ text: a[i]!, changed: false }] });
  for (let i = 0; i < head; i++) same(i, i);
  let [i, j] = [head, head];
  for (const edit of edits(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    if (edit === "same") same(i++, j++);
    else if (edit === "removed") lines.push({ kind: edit, old: i + 1, pieces: [{ text: a[i++]!, changed: false }] });
    else lines.push({ kind: edit, new: j + 1, pieces: [{ text: b[j++]!, changed: false }] });
  }
  for (let k = 0; k < tail; k++) same(i++, j++);
  markWords(lines);
  return lines;
}

/** Only what changed and a little around it. */
export function hunks(lines: DiffLine[]): Hunk[] {
  const near = lines.map(() => false);
  lines.forEach((line, at) => {
    if (line.kind === "same") return;
    for (let k = Math.max(0, at - CONTEXT); k <= Math.min(lines.length - 1, at + CONTEXT); k++) near[k] = true;
  });
  const found: Hunk[] = [];
  let skipped = 0;
  lines.forEach((line, at) => {
    if (!near[at]) {
      skipped += 1;
      return;
    }
    if (at === 0 || !near[at - 1]) found.push({ lines: [], skipped });
    skipped = 0;
    found.at(-1)!.lines.push(line);
  });
  return found;
}

export function counts(lines: DiffLine[]): { added: number; removed: number } {
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}

/** Left and right of a side-by-side view. */
export function sides(lines: DiffLine[]): [DiffLine | undefined, DiffLine | undefined][] {
  const rows: [DiffLine | undefined, DiffLine | undefined][] = [];
  for (let at = 0; at < lines.length; ) {
    if (lines[at]!.kind === "same") {
      rows.push([lines[at], lines[at]]);
      at += 1;
      continue;
    }
    const removed: DiffLine[] = [];
    const added: DiffLine[] = [];
    for (; at < lines.length && lines[at]!.kind !== "same"; at++) (lines[at]!.kind === "removed" ? removed : added).push(lines[at]!);
    for (let k = 0; k < Math.max(removed.length, added.length); k++) rows.push([removed[k], added[k]]);
  }
  return rows;
}

function split(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Myers' greedy algorithm; answers one step a line. */
function edits<T>(a: T[], b: T[]): ("same" | "added" | "removed")[] {
  const most = Math.min(a.length + b.length, MAX_EDITS);
  const trace: Map<number, number>[] = [];
  const reach = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= most; d++) {
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) [x, y] = [x + 1, y + 1];
      reach.set(k, x);
      if (x >= a.length && y >= b.length) return walk(trace, a.length, b.length);
    }
  }
  return [...a.map(() => "removed" as const), ...b.map(() => "added" as const)];
}

function walk(trace: Map<number, number>[], x: number, y: number): ("same" | "added" | "removed")[] {
  const steps: ("same" | "added" | "removed")[] = [];
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const fromX = reach.get(from) ?? 0;
    const fromY = fromX - from;
    while (x > fromX && y > fromY) {
      steps.push("same");
      [x, y] = [x - 1, y - 1];
    }
    if (d === 0) break;
    steps.push(down ? "added" : "removed");
    [x, y] = [fromX, fromY];
  }
  while (x > 0 && y > 0) {
    steps.push("same");
    [x, y] = [x - 1, y - 1];
  }
  return steps.reverse();
}

/** Where as many lines came as went, the words in them are compared. */
function markWords(lines: DiffLine[]) {
  for (let at = 0; at < lines.length; ) {
    const removed: DiffLine[] = [];
    const added: DiffLine[] = [];
    while (lines[at]?.kind === "removed") removed.push(lines[at++]!);
    while (lines[at]?.kind === "added") added.push(lines[at++]!);
    if (removed.length === 0 && added.length === 0) at += 1;
    if (removed.length !== added.length) continue;
    removed.forEach((line, index) => {
      const other = added[index]!;
      [line.pieces, other.pieces] = words(line.pieces[0]!.text, other.pieces[0]!.text);
    });
  }
}

function words(before: string, after: string): [Piece[], Piece[]] {
  const parts = (text: string) => text.match(/\w+|\s+|[^\w\s]/g) ?? [];
  const [a, b] = [parts(before), parts(after)];
  const whole = (text: string): Piece[] => [{ text, changed: false }];
  if (a.length + b.length > 400) return [whole(before), whole(after)];
  const steps = edits(a, b);
  const kept = steps.filter((step) => step === "same").length;
  // Lines that share next to nothing are easier to read whole.
  if (kept * 3 < Math.max(a.length, b.length)) return [whole(before), whole(after)];
  const [left, right]: [Piece[], Piece[]] = [[], []];
  const push = (pieces: Piece[], text: string, changed: boolean) => {
    const last = pieces.at(-1);
    if (last?.changed === changed) last.text += text;
    else pieces.push({ text, changed });
  };
  let [i, j] = [0, 0];
  for (const step of steps) {
    if (step === "same") {
      push(left, a[i++]!, false);
      push(right, b[j++]!, false);
    } else if (step === "removed") push(left, a[i++]!, true);
    else push(right, b[j++]!, true);
  }
  return [left, right];
}
