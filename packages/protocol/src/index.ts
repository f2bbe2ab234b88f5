export type * from "./generated/protocol";
export { COMMANDS, type CommandName } from "./generated/commands";
export { Connection, type Link, type Pending, type Topic, type SessionNews } from "./connect";
export { EditorHost, type Editor } from "./host";
export { RpcFailure } from "./failure";
export { applyPatch, type PatchStep } from "./patch";
export { emptyView, foldAll, promptText, reduce } from "./reduce";
