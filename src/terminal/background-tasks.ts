// Tasks that run in conversations of their own beside the current one.
import type { App } from "../app/app.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import { errorMessage } from "../lib/error-message.ts";
import { oneLine } from "../lib/text/one-line.ts";
import type { ChatUi } from "./chat-ui.ts";

interface Task {
  readonly number: number;
  readonly text: string;
  readonly startedAt: number;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

export class BackgroundTasks {
  readonly #app: App;
  readonly #ui: ChatUi;
  readonly #options: () => Promise<ConversationOptions>;
  readonly #tasks = new Map<number, Task>();
  #count = 0;

  constructor(deps: { app: App; ui: ChatUi; options(): Promise<ConversationOptions> }) {
    this.#app = deps.app;
    this.#ui = deps.ui;
    this.#options = deps.options;
  }

  /** One line per running task. */
  lines(): string[] {
    return [...this.#tasks.values()].map(({ number, text, startedAt }) => {
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      return `${number}. ${oneLine(text, 80)} (${seconds} s)`;
    });
  }

  /** Starts the task; without a text it lists the running ones. */
  start(text: string): void {
    if (text.trim() === "") {
      const lines = this.lines();
      this.#ui.text(
        lines.length === 0 ? "No task runs in the background. Start one: /background TASK" : lines.join("\n"),
      );
      return;
    }
    this.#count += 1;
    const number = this.#count;
    const stop = new AbortController();
    const done = this.#run(number, text, stop.signal).finally(() => {
      this.#tasks.delete(number);
      this.#ui.status({ background: this.#tasks.size });
    });
    this.#tasks.set(number, { number, text, startedAt: Date.now(), stop, done });
    this.#ui.status({ background: this.#tasks.size });
    this.#ui.notice(`task ${number} runs in the background: ${oneLine(text, 80)}`);
  }

  async #run(number: number, text: string, signal: AbortSignal): Promise<void> {
    try {
      const opened = await this.#app.openConversation(await this.#options());
      try {
        const input = await this.#app.prepareInput(text, opened);
        for await (const event of opened.conversation.send(input.text, { signal, tainted: input.untrusted })) {
          if (event.type !== "ended") continue;
          const failure = event.failure ? `failed: ${event.failure.message}` : "";
          this.#ui.text(
            `Task ${number} (${oneLine(text, 60)}), session ${event.sessionId}:\n\n${event.text || failure || event.end}`,
          );
        }
      } finally {
        await opened.conversation.close({ reason: "cli_close" });
      }
    } catch (error) {
      this.#ui.error(`task ${number} failed: ${errorMessage(error)}`);
    }
  }

  /** Stops all tasks and waits for them. */
  async close(): Promise<void> {
    for (const task of this.#tasks.values()) task.stop.abort();
    await Promise.all([...this.#tasks.values()].map((task) => task.done));
  }
}
