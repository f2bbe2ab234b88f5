// Generated from crates/client by `cargo xtask codegen`. Do not edit.

/** The slash commands that every front end has. */
export const COMMANDS = [
  { name: "new", aliases: ["clear"], section: "Session", help: "start a new session here", whileBusy: false },
  { name: "resume", aliases: ["sessions", "continue"], section: "Session", help: "open another session", hint: "[WORDS]", whileBusy: false },
  { name: "rename", aliases: ["title"], section: "Session", help: "name this session", hint: "TITLE", whileBusy: true },
  { name: "fork", aliases: ["branch"], section: "Session", help: "go on in a copy and leave this one as it is", whileBusy: false },
  { name: "rewind", aliases: ["back"], section: "Session", help: "go back to an earlier prompt, with the files or without", whileBusy: false },
  { name: "undo", aliases: [], section: "Session", help: "take back what was done to files", hint: "[turn, step, all]", whileBusy: false },
  { name: "redo", aliases: [], section: "Session", help: "do again what was taken back", whileBusy: false },
  { name: "diff", aliases: ["changes"], section: "Session", help: "what this session changed", hint: "[FILE]", whileBusy: true },
  { name: "export", aliases: ["save"], section: "Session", help: "write the conversation to a file", hint: "[FILE]", whileBusy: true },
  { name: "copy", aliases: ["yank"], section: "Session", help: "copy the last answer", whileBusy: true },
  { name: "quit", aliases: ["exit", "q"], section: "Session", help: "leave; the session is kept", whileBusy: true },
  { name: "context", aliases: ["ctx"], section: "Context", help: "what fills the window", whileBusy: true },
  { name: "compact", aliases: ["summarize"], section: "Context", help: "summarise earlier turns now", hint: "[WHAT TO KEEP]", whileBusy: false },
  { name: "uncompact", aliases: [], section: "Context", help: "have the whole conversation in the window again", whileBusy: false },
  { name: "pin", aliases: [], section: "Context", help: "keep something in the window", hint: "FILE or message:ID", whileBusy: false },
  { name: "unpin", aliases: [], section: "Context", help: "let it go", hint: "NAME", whileBusy: false },
  { name: "memory", aliases: [], section: "Context", help: "what is remembered between sessions, and the rules that are read", whileBusy: true },
  { name: "cost", aliases: ["usage"], section: "Context", help: "what this session spent", whileBusy: true },
  { name: "agent", aliases: ["agents"], section: "Agent and model", help: "who answers", hint: "[NAME]", whileBusy: false },
  { name: "model", aliases: ["models"], section: "Agent and model", help: "which model answers", hint: "[PROVIDER/MODEL]", whileBusy: false },
  { name: "mode", aliases: ["permission-mode"], section: "Agent and model", help: "how much happens without asking", hint: "[explore, plan, ask, edit, auto, full]", whileBusy: true },
  { name: "thinking", aliases: ["think"], section: "Agent and model", help: "show what the model thinks, or fold it", hint: "[on, off]", whileBusy: true },
  { name: "tools", aliases: [], section: "Agent and model", help: "what the agent can do", whileBusy: true },
  { name: "mcp", aliases: [], section: "Agent and model", help: "tools of other programs", whileBusy: true },
  { name: "permissions", aliases: ["allow", "rules"], section: "Agent and model", help: "what is allowed, asked and denied, and why", whileBusy: true },
  { name: "init", aliases: [], section: "Project", help: "write AGENTS.md from what the project is", whileBusy: false },
  { name: "shell", aliases: ["!"], section: "Project", help: "run a command and show the agent what it printed", hint: "COMMAND", whileBusy: false },
  { name: "editor", aliases: ["edit"], section: "Project", help: "write the prompt in your editor", whileBusy: true },
  { name: "theme", aliases: ["colors"], section: "Look", help: "the colours", hint: "[auto, terminal, dark, light, contrast, plain]", whileBusy: true },
  { name: "vim", aliases: [], section: "Look", help: "Vim's keys, on or off", whileBusy: true },
  { name: "fullscreen", aliases: ["screen"], section: "Look", help: "use the whole screen, or the terminal's scrollback", whileBusy: true },
  { name: "settings", aliases: ["config"], section: "Look", help: "where settings are and what they say", whileBusy: true },
  { name: "help", aliases: ["commands", "h"], section: "Help", help: "these commands", whileBusy: true },
  { name: "keys", aliases: ["keybindings", "shortcuts"], section: "Help", help: "the keys", whileBusy: true },
  { name: "status", aliases: [], section: "Help", help: "who answers, where, and how it goes", whileBusy: true },
  { name: "doctor", aliases: [], section: "Help", help: "check this machine", whileBusy: true },
  { name: "bug", aliases: ["feedback"], section: "Help", help: "what to tell us when something is wrong", whileBusy: true },
] as const;

export type CommandName = (typeof COMMANDS)[number]["name"];

/** What the agent is asked by `/init`. */
export const INIT =
  "Look at this project and write AGENTS.md in its root, for coding agents that will work here. If there is one already, improve it and keep what is right. Say, in at most 60 short lines: what the project is; how to build, run, test and lint it, with the exact commands, also for a single test; where things are; the conventions that the code follows and a newcomer would break; what to be careful with. Check each command and path against the files before you write it down. Leave out what every programmer knows.";
