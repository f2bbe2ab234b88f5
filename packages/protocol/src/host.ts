/**
 * Being the editor of a session: doing each request once, whatever becomes of the connection.
 *
 * A request that comes again, because the socket was lost before its answer arrived, is answered again and not done again.
 */
import type { HostAnswer, HostRequest } from "./generated/protocol";

/** Does what is asked. Several may be under way at once. */
export type Editor = (request: HostRequest) => Promise<HostAnswer>;

export class EditorHost {
  /** What is being done, and what was done and may not have arrived. */
  private known = new Map<number, HostAnswer | undefined>();

  constructor(
    private readonly editor: Editor,
    /** Resolves when the answer arrived. */
    private readonly tell: (request: number, answer: HostAnswer) => Promise<unknown>,
  ) {}

  async take(request: HostRequest): Promise<void> {
    const id = request.request;
    if (this.known.has(id)) {
      const answer = this.known.get(id);
      return answer === undefined ? undefined : this.answer(id, answer);
    }
    this.known.set(id, undefined);
    const answer = await this.editor(request).catch((error: unknown): HostAnswer => ({ answer: "failed", why: "failed", message: String(error) }));
    this.known.set(id, answer);
    await this.answer(id, answer);
  }

  private async answer(id: number, answer: HostAnswer) {
    try {
      await this.tell(id, answer);
      this.known.delete(id);
    } catch {
      // Lost on the way: it is asked for again, and told again.
    }
  }
}
