import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { applyPatch, emptyView, foldAll, reduce, type Event, type SessionStart } from "@covey/protocol";

const sessions = new URL("../../../crates/sessions/", import.meta.url);
const log = readFileSync(new URL("fixtures/v1/20260125-143052-a1b2c3d4/events.jsonl", sessions), "utf8");
const events = log.trim().split("\n").map((line) => {
  const { crc: _crc, ...event } = JSON.parse(line);
  return event as Event;
});
const start = () => emptyView(events[0] as Event & { type: "session_start" } & SessionStart);

/** What Rust makes of the same log: its own snapshot. */
function fromRust() {
  const snapshot = readFileSync(new URL("tests/it/snapshots/it__fixture__the_first_version_adds_up_to_the_same_view.snap", sessions), "utf8");
  return JSON.parse(snapshot.slice(snapshot.indexOf("\n{") + 1));
}

/** Rust leaves out what is empty, and fields that it does not know. */
function sparse(view: object) {
  const optional = new Set(["pins", "suggestions", "commands", "keys"]);
  const dropped = (key: string, value: unknown) => key === "colour" || (optional.has(key) && Array.isArray(value) && value.length === 0);
  return JSON.parse(JSON.stringify(view, (key, value) => (dropped(key, value) ? undefined : value)));
}

describe("the fold", () => {
  it("adds up to the same as in Rust", () => {
    expect(sparse(foldAll(start(), events))).toEqual(fromRust());
  });

  it("is the same one by one as all at once", () => {
    expect(events.reduce(reduce, start())).toEqual(foldAll(start(), events));
  });

  it("passes over what it has seen", () => {
    const view = foldAll(start(), events);
    expect(foldAll(view, events)).toEqual(view);
  });

  it("changes no view that somebody holds", () => {
    const before = foldAll(start(), events.slice(0, 10));
    const copy = structuredClone(before);
    foldAll(before, events.slice(10));
    expect(before).toEqual(copy);
  });

  it("carries on past a type that it does not know", () => {
    const next = reduce(start(), { v: 9, seq: 2, ts: "2026-01-25T14:30:53.000Z", type: "from_the_future" } as unknown as Event);
    expect(next.seq).toBe(2);
  });

  it("keeps the newest items only", () => {
    const many = Array.from({ length: 1000 }, (_, at) => ({ v: 1, seq: at + 2, ts: "2026-01-25T14:30:53.000Z", type: "notice", level: "info", text: `n${at}` }) as Event);
    const view = foldAll(start(), many);
    expect([view.items.length, view.first]).toEqual([400, 602]);
    expect(foldAll(start(), many, "all").items.length).toBe(1000);
  });
});

describe("patches", () => {
  it("change one key and leave the others as they are", () => {
    const state = { sessions: { a: { title: "A" }, b: { title: "B" } } };
    const next = applyPatch(state, [{ op: "replace", path: "/sessions/a", value: { title: "AA" } }, { op: "add", path: "/sessions/c", value: { title: "C" } }]);
    expect(next.sessions.b).toBe(state.sessions.b);
    expect(next.sessions).toEqual({ a: { title: "AA" }, b: { title: "B" }, c: { title: "C" } });
    expect(applyPatch(next, [{ op: "remove", path: "/sessions/a" }]).sessions).not.toHaveProperty("a");
  });

  it("that do not fit are an error", () => {
    expect(() => applyPatch({ sessions: {} }, [{ op: "remove", path: "/sessions/a" }])).toThrow();
    expect(() => applyPatch({}, [{ op: "add", path: "/sessions/a", value: 1 }])).toThrow();
  });

  it("can not reach a prototype", () => {
    const next = applyPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(next)).toBe(Object.prototype);
  });
});
