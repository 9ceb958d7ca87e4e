// One workspace per conversation: its backend for commands, its working directory, its background processes.
import type { Redactor } from "../core/redactor.ts";
import { stripAnsi } from "../tools/terminal/ansi.ts";
import type { Backend } from "../tools/terminal/backend.ts";
import { ProcessRegistry } from "../tools/terminal/process-registry.ts";

export type OpenBackend = (cwd: string) => Promise<Backend>;

export class Workspaces {
  readonly processes: ProcessRegistry;
  readonly #open: OpenBackend;
  readonly #backends = new Map<string, Promise<Backend>>();
  readonly #ready = new Map<string, Backend>();

  constructor(open: OpenBackend, redactor: Redactor) {
    this.#open = open;
    this.processes = new ProcessRegistry((text) => redactor.redact(stripAnsi(text)));
  }

  /** Made at the first command of a conversation. */
  backend(conversationId: string, cwd: string): Promise<Backend> {
    const known = this.#backends.get(conversationId);
    if (known) return known;
    const opening = this.#open(cwd).then((backend) => {
      this.#ready.set(conversationId, backend);
      return backend;
    });
    this.#backends.set(conversationId, opening);
    return opening;
  }

  /** Where the conversation stands now: the start directory until a command moves it. */
  cwd(conversationId: string, start: string): string {
    return this.#ready.get(conversationId)?.cwd ?? start;
  }

  async close(): Promise<void> {
    await this.processes.close();
    const backends = await Promise.allSettled(this.#backends.values());
    await Promise.all(backends.map((result) => (result.status === "fulfilled" ? result.value.close() : undefined)));
    this.#backends.clear();
    this.#ready.clear();
  }
}
