/** What the server said no to. `kind` is what can be done about it. */
export class RpcFailure extends Error {
  constructor(
    message: string,
    readonly kind: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}
