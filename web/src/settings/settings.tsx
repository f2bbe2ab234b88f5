import { useEffect, useState } from "preact/hooks";
import type { AgentSummary, ModelSummary, ToolSummary } from "@covey/protocol";
import { connection, hello, link, page, signOut } from "../app/model";
import { setting } from "../app/settings";
import { useStore } from "../app/store";
import { count, MODES } from "../app/words";
import { Line } from "../markdown/markdown";
import { PageHeader } from "../app/page_header";
import { ruleOf, usePreferences, type Change, type Effect, type Preferred } from "./preferences";
import "./settings.css";

export default function Settings() {
  const online = useStore(link, (now) => now.state === "online");
  const greeting = useStore(hello);
  const [models, setModels] = useState<ModelSummary[]>();
  const [agents, setAgents] = useState<AgentSummary[]>();
  const [tools, setTools] = useState<ToolSummary[]>();
  const [chosen, change] = usePreferences(online);
  const part = useStore(page, (now) => (now.page === "settings" ? now.part : undefined));
  useEffect(() => {
    // What was asked for by its name is opened and shown, once there is something to show.
    const section = document.getElementById(part ?? "")?.closest("section");
    section?.querySelector("details")?.setAttribute("open", "");
    section?.scrollIntoView();
  }, [part, tools !== undefined, models !== undefined]);
  useEffect(() => {
    if (!online) return;
    connection.read({ type: "models" }, "models").then(setModels, () => undefined);
    connection.read({ type: "agents" }, "agents").then(setAgents, () => undefined);
    connection.read({ type: "tools" }, "tools").then(setTools, () => undefined);
  }, [online]);
  return (
    <main id="main" tabIndex={-1} class="main page">
      <PageHeader title="Settings" />
      <div class="page-body">
        <NewSessions chosen={chosen} change={change} agents={agents} models={models} />
        <Look />
        <section aria-labelledby="agents">
          <h2 id="agents">Agents</h2>
          {agents === undefined ? <p class="faint">…</p> : (
            <ul class="rows">{agents.map((one) => <li key={one.agent}><span class={`dot ${one.usable ? "good" : "grey"}`} /><span>{one.agent}</span><span class="faint">{one.usable ? "ready" : <Line text={one.reason ?? "not usable"} />}</span></li>)}</ul>
          )}
        </section>
        <Providers models={models} />
        <Tools tools={tools} chosen={chosen} change={change} />
        <Servers chosen={chosen} change={change} />
        <section aria-labelledby="about">
          <h2 id="about">This server</h2>
          <p class="faint">covey {greeting?.covey ?? ""} · {greeting?.cwd ?? ""}</p>
          <p class="faint">What is chosen here is kept in <code>{chosen?.file ?? "config.toml"}</code>; for the rest: <code>covey config edit</code></p>
          <button type="button" onClick={() => void signOut()}>Sign out of this browser</button>
        </section>
      </div>
    </main>
  );
}

type Choosing = { chosen: Preferred | undefined; change: (change: Change) => Promise<void> };

/** What a session has that does not say. */
function NewSessions({ chosen, change, agents, models }: Choosing & { agents: AgentSummary[] | undefined; models: ModelSummary[] | undefined }) {
  const usable = (models ?? []).filter((one) => one.usable).map((one) => one.model);
  const named = chosen?.model === undefined || usable.includes(chosen.model) ? usable : [chosen.model, ...usable];
  return (
    <section aria-labelledby="new">
      <h2 id="new">New sessions</h2>
      <div class="fields">
        <label>Agent<select disabled={chosen === undefined} value={chosen?.agent ?? ""} onChange={(event) => void change({ agent: event.currentTarget.value })}>{(agents ?? []).filter((one) => one.usable || one.agent === chosen?.agent).map((one) => <option key={one.agent} value={one.agent}>{one.agent}</option>)}</select></label>
        <label>Model<select disabled={chosen === undefined} value={chosen?.model ?? ""} onChange={(event) => void change({ model: event.currentTarget.value })}>{chosen?.model === undefined && <option value="">none</option>}{named.map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
        <label>Mode<select disabled={chosen === undefined} value={chosen?.mode ?? ""} onChange={(event) => void change({ mode: event.currentTarget.value })}>{Object.entries(MODES).map(([mode, note]) => <option key={mode} value={mode}>{mode}: {note}</option>)}</select></label>
      </div>
    </section>
  );
}

/** The person's MCP servers. */
function Servers({ chosen, change }: Choosing) {
  return (
    <section aria-labelledby="mcp">
      <h2 id="mcp">MCP servers</h2>
      {chosen !== undefined && chosen.servers.length === 0 && <p class="faint">None yet. <code>covey mcp add NAME -- COMMAND</code> adds one.</p>}
      <ul class="rows">
        {chosen?.servers.map((one) => (
          <li key={one.name}>
            <label class="check"><input type="checkbox" checked={one.enabled} onChange={(event) => void change({ server: { name: one.name, enabled: event.currentTarget.checked } })} />{one.name}</label>
            <span class="faint clip">{one.what}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Look() {
  const theme = useStore(setting.theme);
  const diff = useStore(setting.diff);
  const thoughts = useStore(setting.thoughts);
  const notify = useStore(setting.notify);
  return (
    <section aria-labelledby="look">
      <h2 id="look">Look</h2>
      <div class="fields">
        <label>Theme<select value={theme} onChange={(event) => setting.theme.set(event.currentTarget.value as "system")}><option value="system">as the system</option><option value="light">light</option><option value="dark">dark</option></select></label>
        <label>Changes of files<select value={diff} onChange={(event) => setting.diff.set(event.currentTarget.value as "unified")}><option value="unified">unified</option><option value="split">side by side</option></select></label>
        <label class="check"><input type="checkbox" checked={thoughts} onChange={(event) => setting.thoughts.set(event.currentTarget.checked)} />Show what models think</label>
        <label class="check"><input type="checkbox" checked={notify} onChange={(event) => {
          const wanted = event.currentTarget.checked;
          setting.notify.set(wanted);
          if (wanted && typeof Notification !== "undefined") void Notification.requestPermission();
        }} />Tell me when a turn ends while I look elsewhere</label>
      </div>
    </section>
  );
}

function Providers({ models }: { models: ModelSummary[] | undefined }) {
  const [query, setQuery] = useState("");
  const providers = new Map<string, ModelSummary[]>();
  for (const model of models ?? []) {
    const name = model.model.split("/")[0]!;
    providers.set(name, [...(providers.get(name) ?? []), model]);
  }
  const sorted = [...providers].sort(([a, one], [b, two]) => Number(two.some((model) => model.usable)) - Number(one.some((model) => model.usable)) || a.localeCompare(b));
  return (
    <section aria-labelledby="models">
      <h2 id="models">Providers and models</h2>
      <input type="search" aria-label="Filter models" placeholder="Filter" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
      {models === undefined && <p class="faint">…</p>}
      {sorted.map(([name, list]) => {
        const shown = list.filter((model) => model.model.toLowerCase().includes(query.toLowerCase()));
        if (shown.length === 0) return null;
        const usable = list.filter((model) => model.usable).length;
        return (
          <details key={name} class="provider" open={query !== "" || undefined}>
            <summary><span class={`dot ${usable > 0 ? "good" : "grey"}`} />{name}<span class="faint">{usable > 0 ? `${usable} of ${list.length} models` : <Line text={list[0]?.reason ?? "no key"} />}</span></summary>
            <ul class="rows">{shown.slice(0, 100).map((model) => <li key={model.model}><span>{model.model}</span><span class="faint">{model.context === undefined ? "" : `${count(model.context)} tokens`}{model.usable ? "" : ` ${model.reason ?? ""}`}</span></li>)}</ul>
          </details>
        );
      })}
    </section>
  );
}

const EFFECTS: Record<Effect, string> = { default: "as the mode says", allow: "always allowed", ask: "always asks", deny: "never" };

function Tools({ tools, chosen, change }: Choosing & { tools: ToolSummary[] | undefined }) {
  const groups = new Map<string, ToolSummary[]>();
  for (const tool of tools ?? []) groups.set(tool.group, [...(groups.get(tool.group) ?? []), tool]);
  return (
    <section aria-labelledby="tools">
      <h2 id="tools">Tools and what they may do</h2>
      {[...groups].map(([name, list]) => (
        <details key={name} class="provider">
          <summary>{name}<span class="faint">{list.length}{list.every((tool) => tool.offered) ? "" : `, ${list.filter((tool) => !tool.offered).length} switched off`}</span></summary>
          <ul class="rows">{list.map((tool) => <li key={tool.name}><span class={`dot ${tool.offered ? "good" : "grey"}`} /><code>{tool.name}</code><span class="faint clip">{tool.description.split(". ")[0]}</span><Rule tool={tool.name} chosen={chosen} change={change} /></li>)}</ul>
        </details>
      ))}
    </section>
  );
}

/** May this tool run? A rule for everything that it does, unless the settings file has a word on it. */
function Rule({ tool, chosen, change }: Choosing & { tool: string }) {
  const now = ruleOf(chosen, tool);
  if (!now.own) return <span class="faint">{EFFECTS[now.effect]} (settings file)</span>;
  return (
    <select class="rule" aria-label={`May ${tool} run?`} disabled={chosen === undefined} value={now.effect} onChange={(event) => void change({ rule: { rule: tool, effect: event.currentTarget.value as Effect } })}>
      {(Object.keys(EFFECTS) as Effect[]).map((effect) => <option key={effect} value={effect}>{EFFECTS[effect]}</option>)}
    </select>
  );
}
