/** What the person chose for all sessions, as the server keeps it. */
import { useEffect, useState } from "preact/hooks";
import { RpcFailure } from "@covey/protocol";
import { tell } from "../app/model";

export type Effect = "allow" | "ask" | "deny" | "default";
export type Preferred = {
  file: string;
  agent: string;
  model?: string;
  mode: string;
  rules: { rule: string; effect: Effect; own: boolean }[];
  servers: { name: string; what: string; enabled: boolean }[];
};
export type Change = { agent?: string; model?: string; mode?: string; rule?: { rule: string; effect: Effect }; server?: { name: string; enabled: boolean } };

async function ask(init?: RequestInit): Promise<Preferred> {
  const response = await fetch("/api/settings", init);
  const body = (await response.json()) as Preferred & { message?: string; error?: string; hint?: string };
  if (!response.ok) throw new RpcFailure(body.message ?? "the server said no", body.error ?? "invalid", body.hint);
  return body;
}

/** What is chosen, and how to choose otherwise. */
export function usePreferences(online: boolean): [Preferred | undefined, (change: Change) => Promise<void>] {
  const [chosen, setChosen] = useState<Preferred>();
  useEffect(() => {
    if (online) ask().then(setChosen, tell);
  }, [online]);
  const change = async (change: Change) => {
    try {
      setChosen(await ask({ method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(change) }));
    } catch (error) {
      tell(error);
    }
  };
  return [chosen, change];
}

/** What a rule about a whole tool says: the strictest counts. */
export function ruleOf(chosen: Preferred | undefined, tool: string): { effect: Effect; own: boolean } {
  const rules = chosen?.rules.filter((one) => one.rule === tool || one.rule === `${tool}(*)`) ?? [];
  for (const effect of ["deny", "ask", "allow"] as const) {
    const found = rules.find((one) => one.effect === effect);
    if (found !== undefined) return { effect, own: found.own };
  }
  return { effect: "default", own: true };
}
