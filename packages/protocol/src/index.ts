export type * from "./generated/protocol";
export { Connection, type Link, type Pending, type Topic, type SessionNews } from "./connect";
export { RpcFailure } from "./failure";
export { applyPatch, type PatchStep } from "./patch";
export { emptyView, foldAll, promptText, reduce } from "./reduce";
