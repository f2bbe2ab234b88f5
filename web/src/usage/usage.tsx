import { useEffect, useMemo, useState } from "preact/hooks";
import type { UsageRow } from "@covey/protocol";
import { connection, link } from "../app/model";
import { useStore } from "../app/store";
import { count, money } from "../app/words";
import { PageHeader } from "../app/page_header";
import "./usage.css";

type Unit = "cost" | "tokens";
const COLOURS = 6;

/** What was spent: a bar a day, a colour a model, and the same as a table. */
export default function Usage() {
  const online = useStore(link, (now) => now.state === "online");
  const [days, setDays] = useState(14);
  const [chosen, setUnit] = useState<Unit>();
  const [by, setBy] = useState<"model" | "agent">("model");
  const [rows, setRows] = useState<UsageRow[]>();
  useEffect(() => {
    if (online) connection.read({ type: "usage", days }, "usage").then(setRows, () => undefined);
  }, [online, days]);
  // Models on this machine cost nothing; what they did is counted in tokens.
  const unit = chosen ?? ((rows ?? []).some((row) => (row.usage.cost_usd ?? 0) > 0) || (rows ?? []).length === 0 ? "cost" : "tokens");
  const value = (row: UsageRow) => (unit === "cost" ? (row.usage.cost_usd ?? 0) : row.usage.input + row.usage.output);
  const name = (row: UsageRow) => (by === "agent" ? row.agent : (row.model ?? "unknown"));
  const names = useMemo(() => [...new Set((rows ?? []).map(name))].sort(), [rows, by]);
  const dates = useMemo(() => Array.from({ length: days }, (_, at) => new Date(Date.now() - (days - 1 - at) * 86_400_000).toISOString().slice(0, 10)), [days]);
  const total = (rows ?? []).reduce((sum, row) => sum + value(row), 0);
  const most = Math.max(1e-9, ...dates.map((day) => (rows ?? []).filter((row) => row.day === day).reduce((sum, row) => sum + value(row), 0)));
  const words = (amount: number) => (unit === "cost" ? money(amount) : count(amount));
  return (
    <main id="main" tabIndex={-1} class="main page">
      <PageHeader title="Usage" />
      <div class="page-body">
        <div class="fields inline">
          <label>Last<select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>{[7, 14, 30, 90].map((one) => <option key={one} value={one}>{one} days</option>)}</select></label>
          <label>In<select value={unit} onChange={(event) => setUnit(event.currentTarget.value as Unit)}><option value="cost">US dollars</option><option value="tokens">tokens</option></select></label>
          <label>By<select value={by} onChange={(event) => setBy(event.currentTarget.value as "model")}><option value="model">model</option><option value="agent">agent</option></select></label>
          <strong class="total">{words(total)}</strong>
        </div>
        {rows !== undefined && rows.length === 0 && <p class="empty">Nothing was spent in these days.</p>}
        <div class="chart" role="img" aria-label={`${words(total)} in ${days} days; the table below has the numbers`}>
          {dates.map((day) => (
            <div key={day} class="column" title={day}>
              <div class="bars">
                {names.map((one, at) => {
                  const amount = (rows ?? []).filter((row) => row.day === day && name(row) === one).reduce((sum, row) => sum + value(row), 0);
                  return amount > 0 && <div key={one} class="bar" data-colour={at % COLOURS} title={`${day} · ${one} · ${words(amount)}`} ref={(element) => element?.style.setProperty("height", `${(100 * amount) / most}%`)} />;
                })}
              </div>
              <span class="day">{day.slice(8)}</span>
            </div>
          ))}
        </div>
        <div class="table" tabIndex={0} role="group" aria-label="Usage as a table">
          <table>
            <thead><tr><th scope="col">{by}</th><th scope="col">calls</th><th scope="col">in</th><th scope="col">cached</th><th scope="col">out</th><th scope="col">cost</th></tr></thead>
            <tbody>
              {names.map((one, at) => {
                const list = (rows ?? []).filter((row) => name(row) === one);
                const sum = (pick: (row: UsageRow) => number) => list.reduce((all, row) => all + pick(row), 0);
                return <tr key={one}><th scope="row"><span class="swatch" data-colour={at % COLOURS} />{one}</th><td>{sum((row) => row.calls)}</td><td>{count(sum((row) => row.usage.input))}</td><td>{count(sum((row) => row.usage.cache_read))}</td><td>{count(sum((row) => row.usage.output))}</td><td>{money(sum((row) => row.usage.cost_usd ?? 0))}</td></tr>;
              })}
            </tbody>
          </table>
        </div>
      </div>
    </main>
  );
}
