// /background: a task in a conversation of its own, beside the chat; its result comes as a message with a header.
import { randomBytes } from "node:crypto";
import type { AgentEvent } from "../core/event.ts";
import type { Destination } from "../core/platform.ts";
import { outgoingAnswer, outgoingText, textOfEnd } from "./answer.ts";
import { wishFor } from "./chat-entry.ts";
import type { BackgroundTasks, BackgroundWish, Office } from "./office.ts";

const MEMORY = "background";
const TITLE = 60;

/** A task as it is kept on disk while it runs. */
interface Kept {
  readonly id: string;
  readonly platform: string;
  readonly to: Destination;
  readonly title: string;
}

interface Task extends Kept {
  readonly controller: AbortController;
  readonly work: Promise<void>;
  readonly startedAt: number;
}

function newId(now: number): string {
  const time = new Date(now).toTimeString().slice(0, 8).replaceAll(":", "");
  return `bg_${time}_${randomBytes(3).toString("hex")}`;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > TITLE ? `${line.slice(0, TITLE - 1)}…` : line;
}

/** The tasks of all chats. What a crash cut off is reported at the next start. */
export class Background implements BackgroundTasks {
  readonly #office: () => Office;
  readonly #tasks = new Map<string, Task>();

  constructor(office: () => Office) {
    this.#office = office;
  }

  list(to: Destination): string[] {
    const now = this.#office().now();
    return [...this.#tasks.values()]
      .filter((task) => task.to.chatId === to.chatId && task.to.threadId === to.threadId)
      .map((task) => `${task.id}: ${task.title} (${Math.round((now - task.startedAt) / 1000)} s)`);
  }

  async start(wish: BackgroundWish): Promise<string> {
    const id = newId(this.#office().now());
    const controller = new AbortController();
    const kept: Kept = { id, platform: wish.platform.name, to: wish.to, title: short(wish.prompt) };
    const task: Task = {
      ...kept,
      controller,
      startedAt: this.#office().now(),
      work: Promise.resolve(),
    };
    this.#tasks.set(id, task);
    await this.#keep();
    (task as { work: Promise<void> }).work = this.#run(wish, task).finally(async () => {
      this.#tasks.delete(id);
      await this.#keep();
    });
    return id;
  }

  async #keep(): Promise<void> {
    const kept = [...this.#tasks.values()].map(({ id, platform, to, title }): Kept => ({ id, platform, to, title }));
    await this.#office().opened.mailbox.setMemory("gateway", MEMORY, JSON.stringify(kept));
  }

  async #run(wish: BackgroundWish, task: Task): Promise<void> {
    const office = this.#office();
    const place = { platform: wish.platform, to: wish.to, key: `bg:${task.id}`, replyMode: "off" as const };
    try {
      const opened = await office.opened.app.openConversation({
        ...wishFor(office, wish.row, wish.human),
        sessionId: task.id,
      });
      try {
        let ended: Extract<AgentEvent, { type: "ended" }> | undefined;
        const { signal } = task.controller;
        for await (const event of opened.conversation.send(wish.prompt, { signal }))
          if (event.type === "ended") ended = event;
        const text = ended ? textOfEnd(ended) : "(no answer)";
        const cut = signal.aborted ? "The gateway stopped before this was done; ask again." : text;
        await this.#say(outgoingAnswer(`${this.#header(task)}\n\n${cut}`, place));
      } finally {
        await opened.conversation.close();
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await this.#say(outgoingText(`${this.#header(task)}\n\n⚠️ ${why}`, place));
    }
  }

  #header(task: Kept): string {
    return `🗂 Background task ${task.id}: ${task.title}`;
  }

  async #say(outgoing: Parameters<Office["opened"]["mailbox"]["enqueue"]>[0]): Promise<void> {
    const { opened, sender } = this.#office();
    sender.add(await opened.mailbox.enqueue(outgoing));
  }

  /** Tells the chats whose tasks were cut off by a crash. */
  async reportLost(): Promise<void> {
    const office = this.#office();
    const stored = await office.opened.mailbox.getMemory("gateway", MEMORY);
    for (const task of stored ? (JSON.parse(stored) as Kept[]) : []) {
      const platform = office.platform(task.platform);
      if (!platform || this.#tasks.has(task.id)) continue;
      const text = `${this.#header(task)}\n\nThe gateway was restarted before this was done; ask again.`;
      await this.#say(outgoingText(text, { platform, to: task.to, key: `bg:${task.id}`, replyMode: "off" }));
    }
    await this.#keep();
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#tasks.values()].map((task) => task.work));
  }

  async stop(): Promise<void> {
    for (const task of this.#tasks.values()) task.controller.abort();
    await this.settled();
  }
}
