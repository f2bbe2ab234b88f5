// An editor, made with the official SDK of the Agent Client Protocol: what it is told is checked by the SDK's own schema.
// node client.mjs SDK-FOLDER PROJECT -- COMMAND...    prints what happened as one JSON object.
import { execFile, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [sdk, project, , ...command] = process.argv.slice(2);
const acp = await import(pathToFileURL(`${sdk}/dist/v1/stable/acp.js`));
const { methods } = acp;

const agent = spawn(command[0], command.slice(1), { cwd: project, stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

const seen = { updates: {}, asked: [], written: [], read: 0, terminals: 0, said: "", diffs: 0, embedded: 0 };
let answer = "allow";
let cancelOnText = null;
const terminals = new Map();

const client = acp.client({ name: "covey-test" })
  .onNotification(methods.client.session.update, ({ params }) => {
    const { update } = params;
    seen.updates[update.sessionUpdate] = (seen.updates[update.sessionUpdate] ?? 0) + 1;
    if (update.sessionUpdate === "agent_message_chunk") {
      seen.said += update.content.text ?? "";
      cancelOnText?.();
      cancelOnText = null;
    }
    for (const part of update.content?.length ? update.content : []) {
      if (part.type === "diff") seen.diffs += 1;
      if (part.type === "terminal") seen.embedded += 1;
    }
  })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    seen.asked.push(params.toolCall.title);
    const wanted = answer === "allow" ? "allow_once" : "reject_once";
    const option = params.options.find((option) => option.kind === wanted);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onRequest(methods.client.fs.readTextFile, async ({ params }) => {
    seen.read += 1;
    return { content: await readFile(params.path, "utf8") };
  })
  .onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
    seen.written.push(params.path.slice(project.length + 1));
    await writeFile(params.path, params.content);
    return {};
  })
  .onRequest(methods.client.terminal.create, ({ params }) => {
    const id = `terminal-${(seen.terminals += 1)}`;
    const env = { ...process.env, ...Object.fromEntries((params.env ?? []).map(({ name, value }) => [name, value])) };
    const terminal = { output: "", exit: null };
    terminal.ended = new Promise((resolve) => {
      terminal.child = execFile(params.command, params.args ?? [], { cwd: params.cwd, env }, (error) => {
        terminal.exit = { exitCode: error ? (error.code ?? 1) : 0, signal: null };
        resolve(terminal.exit);
      });
    });
    for (const pipe of [terminal.child.stdout, terminal.child.stderr]) pipe.on("data", (text) => (terminal.output += text));
    terminals.set(id, terminal);
    return { terminalId: id };
  })
  .onRequest(methods.client.terminal.output, ({ params }) => {
    const { output, exit } = terminals.get(params.terminalId);
    return { output, truncated: false, exitStatus: exit };
  })
  .onRequest(methods.client.terminal.waitForExit, ({ params }) => terminals.get(params.terminalId).ended)
  .onRequest(methods.client.terminal.kill, ({ params }) => (terminals.get(params.terminalId).child.kill(), {}))
  .onRequest(methods.client.terminal.release, ({ params }) => (terminals.get(params.terminalId).child.kill(), {}));

const result = {};
await client.connectWith(stream, async (ctx) => {
  const capabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
  const info = { name: "covey-test", version: "1.0.0" };
  result.agent = await ctx.request(methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: capabilities, clientInfo: info,
  });
  const opened = await ctx.request(methods.agent.session.new, { cwd: project, mcpServers: [] });
  const { sessionId } = opened;
  result.modes = opened.modes.availableModes.map((mode) => mode.id);
  result.options = opened.configOptions.map((option) => option.id);
  const prompt = async (text) => {
    seen.said = "";
    const done = await ctx.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    return { stop: done.stopReason, said: seen.said };
  };
  result.hello = await prompt("Say hello");
  result.shell = await prompt('Do it. [[tool:shell {"command":"touch shown.txt; echo done"}]]');
  answer = "reject";
  result.denied = await prompt('Do it. [[tool:shell {"command":"touch denied.txt"}]]');
  answer = "allow";
  result.write = await prompt('Do it. [[tool:write {"path":"new.txt","content":"text"}]]');
  await ctx.request(methods.agent.session.setMode, { sessionId, modeId: "plan" });
  result.plan = await prompt('Do it. [[tool:write {"path":"planned.txt","content":"text"}]]');
  result.command = await prompt("/status");
  cancelOnText = () => ctx.notify(methods.agent.session.cancel, { sessionId });
  result.cancelled = await prompt("[[slow]] [[say:one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty]]");
  result.listed = (await ctx.request(methods.agent.session.list, { cwd: project })).sessions.length;
  const before = { ...seen.updates };
  await ctx.request(methods.agent.session.load, { sessionId, cwd: project, mcpServers: [] });
  result.told_again = (seen.updates.user_message_chunk ?? 0) - (before.user_message_chunk ?? 0);
  result.resumed = await prompt("Say hello");
  await ctx.request(methods.agent.session.close, { sessionId });
});
agent.stdin.end();
result.exit = await new Promise((resolve) => agent.on("close", resolve));
console.log(JSON.stringify({ ...result, seen }));
process.exit(0);
