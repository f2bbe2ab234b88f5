/** The part of JSON Patch (RFC 6902) that servers send: maps keyed by id. */
export type PatchStep =
  | { op: "add" | "replace"; path: string; value: unknown }
  | { op: "remove"; path: string };

/** A new state with the patch applied; what did not change is the same object as before. */
export function applyPatch<T>(state: T, patch: PatchStep[]): T {
  return patch.reduce((current, step) => applyStep(current, pointer(step.path), step) as T, state);
}

function pointer(path: string): string[] {
  return path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function applyStep(state: unknown, [key, ...rest]: string[], step: PatchStep): unknown {
  if (key === undefined) return step.op === "remove" ? undefined : step.value;
  if (typeof state !== "object" || state === null || Array.isArray(state)) {
    throw new Error(`a patch leads to ${step.path}, where there is nothing`);
  }
  const copy: Record<string, unknown> = { ...(state as Record<string, unknown>) };
  const last = rest.length === 0;
  if (last && step.op !== "add" && !Object.hasOwn(copy, key)) throw new Error(`nothing at ${step.path}`);
  if (last && step.op === "remove") delete copy[key];
  else Object.defineProperty(copy, key, {
    // A key may be any text, `__proto__` too.
    value: applyStep(copy[key], rest, step),
    enumerable: true,
    writable: true,
    configurable: true,
  });
  return copy;
}
