import { useEffect, useState } from "preact/hooks";
import type { AgentSummary, Mode, ModelSummary } from "@covey/protocol";
import { connection, drawer, exportAs, fork, go, link, setAgent, setMode, setModel, view } from "../app/model";
import { setting } from "../app/settings";
import { useStore } from "../app/store";
import { count, MODES, money } from "../app/words";
import { Menu } from "../app/menu";

export function Header() {
  const now = useStore(view);
  const state = useStore(link, (all) => all.state);
  const panel = useStore(setting.panel);
  const { models, agents } = useChoices(state === "online");
  const used = now?.context?.parts.reduce((sum, part) => sum + part.tokens, 0);
  const share = now?.context?.window !== undefined && used !== undefined ? Math.min(100, Math.round((100 * used) / now.context.window)) : undefined;
  return (
    <header class="header">
      <button class="quiet icon only-narrow" type="button" aria-label="Sessions" onClick={() => drawer.set(true)}>☰</button>
      <h1 class="title">{now === undefined ? "covey" : now.title === "" ? "New session" : now.title}</h1>
      {now !== undefined && (
        <div class="chips">
          <Menu label={`Agent: ${now.agent}`} sign={`${now.agent} ▾`} side="left" items={agents.map((one) => ({
            name: one.agent, checked: one.agent === now.agent, act: () => void setAgent(now.session, one.agent),
            ...(one.usable ? {} : { note: one.reason ?? "not usable" }),
          }))} />
          <Menu label={`Model: ${now.model ?? "none"}`} sign={`${(now.model ?? "model").split("/").at(-1)} ▾`} side="left" items={models.filter((one) => one.usable).slice(0, 60).map((one) => ({
            name: one.model, checked: one.model === now.model, act: () => void setModel(now.session, one.model),
            ...(one.context === undefined ? {} : { note: `${count(one.context)} tokens` }),
          }))} />
          <Menu label={`Mode: ${now.mode}`} sign={`${now.mode} ▾`} side="left" items={(Object.keys(MODES) as Mode[]).map((mode) => ({
            name: mode, note: MODES[mode], checked: mode === now.mode, act: () => void setMode(now.session, mode),
          }))} />
          {share !== undefined && (
            <span class="meter" title={`${count(used!)} of ${count(now.context!.window!)} tokens`}>
              <meter min={0} max={100} high={80} value={share} aria-label={`Context ${share}% full`} />{share}%
            </span>
          )}
          {now.usage.cost_usd !== undefined && <span class="cost">{money(now.usage.cost_usd)}</span>}
        </div>
      )}
      <span class={`dot ${state === "online" ? "good" : "amber"}`} role="img" aria-label={state === "online" ? "connected" : "not connected"} title={state === "online" ? "connected" : "not connected"} />
      {now !== undefined && (
        <Menu label="Session" sign="⋯" items={[
          { name: panel ? "Hide panel" : "Show panel", act: () => setting.panel.set(!panel) },
          { name: "Replay", act: () => go({ page: "replay", session: now.session }) },
          { name: "Fork", act: () => void fork(now.session) },
          { name: "Share as one HTML file", act: () => void exportAs(now.session, "html") },
          { name: "Export as Markdown", act: () => void exportAs(now.session, "markdown") },
          { name: "Export as JSON", act: () => void exportAs(now.session, "json") },
        ]} />
      )}
    </header>
  );
}

/** Who can answer. Asked for once, and again after a reconnect. */
function useChoices(online: boolean): { models: ModelSummary[]; agents: AgentSummary[] } {
  const [models, setModels] = useState<ModelSummary[]>([]);
  const [agents, setAgents] = useState<AgentSummary[]>([]);
  useEffect(() => {
    if (!online) return;
    connection.read({ type: "models" }, "models").then(setModels, () => undefined);
    connection.read({ type: "agents" }, "agents").then(setAgents, () => undefined);
  }, [online]);
  return { models, agents };
}
