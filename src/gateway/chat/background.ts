// /background: runs a task in a separate conversation. Its result is sent to the chat as a message with a header.
import { randomBytes } from "node:crypto";
import type { Destination } from "../../core/chat/platform.ts";
import type { AgentEvent } from "../../core/event.ts";
import { copyPresence, type Human } from "../../core/human.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { oneLine } from "../../lib/text/one-line.ts";
import type { BackgroundRequest, BackgroundTasks, GatewayContext } from "../control/gateway-context.ts";
import { checkAccess } from "../inbound/access.ts";
import { formatEnd, outgoingAnswer } from "../outbound/answer.ts";
import { withoutProtected } from "../outbound/media.ts";
import { conversationOptionsFor } from "./chat-entry.ts";
import { RESUME_NOTE, recover } from "./recover.ts";

const MEMORY = "background";
const TITLE = 60;
/** A task that was interrupted this often may be what crashes the program. */
const MAX_STARTS = 3;

/** A running task as stored on disk. */
interface StoredTask {
  readonly id: string;
  readonly platform: string;
  readonly to: Destination;
  readonly prompt: string;
  /** The message with the command: its sender owns the task. */
  readonly row: InboxRow;
  readonly starts: number;
}

interface Task extends StoredTask {
  readonly controller: AbortController;
  readonly startedAt: number;
  work: Promise<void>;
  /** Number of open questions. */
  openQuestions: number;
  /** Interrupted by a stop: resumed at the next start. */
  suspended: boolean;
}

/** Interrupts a task and keeps it in the list. */
function suspend(task: Task): void {
  task.suspended = true;
  task.controller.abort();
}

function newId(now: number): string {
  const time = new Date(now).toTimeString().slice(0, 8).replaceAll(":", "");
  return `bg_${time}_${randomBytes(3).toString("hex")}`;
}

function short(text: string): string {
  return oneLine(text, TITLE);
}

function formatHeader(task: Pick<StoredTask, "id" | "prompt">): string {
  return `🗂 Background task ${task.id}: ${short(task.prompt)}`;
}

/** The tasks of all chats. Tasks that a stop or a crash interrupted resume at the next start. */
export class Background implements BackgroundTasks {
  readonly #gateway: () => GatewayContext;
  readonly #human: (row: InboxRow) => Human;
  readonly #tasks = new Map<string, Task>();

  /** `human` returns the user of the chat that a message came from. */
  constructor(gateway: () => GatewayContext, human: (row: InboxRow) => Human) {
    this.#gateway = gateway;
    this.#human = human;
  }

  list(to: Destination): string[] {
    const now = this.#gateway().now();
    return [...this.#tasks.values()]
      .filter((task) => task.to.chatId === to.chatId && task.to.threadId === to.threadId)
      .map((task) => `${task.id}: ${short(task.prompt)} (${Math.round((now - task.startedAt) / 1000)} s)`);
  }

  async start({ row, prompt, platform, to }: BackgroundRequest): Promise<string> {
    const id = newId(this.#gateway().now());
    await this.#startAll([{ id, platform: platform.name, to, prompt, row, starts: 1 }]);
    return id;
  }

  /** Stores the tasks before they start; when storing fails, none starts. */
  async #startAll(all: readonly StoredTask[]): Promise<void> {
    const startedAt = this.#gateway().now();
    const fresh = () => ({
      controller: new AbortController(),
      startedAt,
      work: Promise.resolve(),
      openQuestions: 0,
      suspended: false,
    });
    const tasks = all.map((stored): Task => ({ ...stored, ...fresh() }));
    for (const task of tasks) this.#tasks.set(task.id, task);
    try {
      await this.#store();
    } catch (error) {
      for (const task of tasks) this.#tasks.delete(task.id);
      throw error;
    }
    for (const task of tasks) task.work = this.#runToEnd(task);
  }

  /** Never rejects. */
  async #runToEnd(task: Task): Promise<void> {
    try {
      await this.#run(task);
      if (task.suspended) return;
      this.#tasks.delete(task.id);
      await this.#store();
    } catch (error) {
      this.#tasks.delete(task.id);
      this.#gateway().log("error", `background task ${task.id}: ${String(error)}`);
    }
  }

  async #store(): Promise<void> {
    const stored = [...this.#tasks.values()].map(
      ({ id, platform, to, prompt, row, starts }): StoredTask => ({ id, platform, to, prompt, row, starts }),
    );
    await this.#gateway().opened.mailbox.setMemory("gateway", MEMORY, JSON.stringify(stored));
  }

  async #run(task: Task): Promise<void> {
    try {
      const text = await this.#work(task);
      if (!task.suspended) await this.#sendResult(task, text);
    } catch (error) {
      await this.#sendResult(task, `⚠️ ${errorMessage(error)}`);
    }
  }

  /** Returns the text of the result. Resumes an interrupted task. */
  async #work(task: Task): Promise<string> {
    const gateway = this.#gateway();
    const { app } = gateway.opened;
    const found = await recover(app.store, { ...task.row, state: "running", sessionId: task.id, logAfter: 0 });
    if (found.state === "answered") return found.text;
    const known = (await app.store.getSession(task.id)) ? await app.store.getCompressionTip(task.id) : null;
    const opened = await app.openConversation({
      ...conversationOptionsFor(gateway, task.row, this.#taskHuman(task)),
      ...(known === null ? { sessionId: task.id } : { resume: known }),
    });
    try {
      let ended: Extract<AgentEvent, { type: "ended" }> | undefined;
      const { signal } = task.controller;
      const input = found.state === "begun" ? `${RESUME_NOTE}\n\n${task.prompt}` : task.prompt;
      for await (const event of opened.conversation.send(input, { signal })) if (event.type === "ended") ended = event;
      return ended ? formatEnd(ended) : "(no answer)";
    } finally {
      await opened.conversation.close();
    }
  }

  /** Looked up for each question: the object of a chat is replaced after long idle times. */
  #taskHuman(task: Task): Human {
    const human = () => this.#human(task.row);
    return {
      ...copyPresence(human()),
      approve: (request, signal) => this.#asking(task, human().approve(request, signal)),
      clarify: (request, signal) => this.#asking(task, human().clarify(request, signal)),
      secret: (prompt, signal) => human().secret(prompt, signal),
    };
  }

  /** A task that asks while the gateway stops cannot be answered: it is suspended until the next start. */
  async #asking<T>(task: Task, answer: Promise<T>): Promise<T> {
    task.openQuestions += 1;
    if (this.#gateway().draining()) suspend(task);
    try {
      return await answer;
    } finally {
      task.openQuestions -= 1;
    }
  }

  async #sendResult(task: Pick<StoredTask, "id" | "prompt" | "platform" | "to" | "row">, text: string): Promise<void> {
    const { opened, sender, platform: find, roleFor } = this.#gateway();
    const platform = find(task.platform);
    if (!platform) return;
    const words = await withoutProtected(text, (path) => opened.isProtected(path, roleFor(task.row)));
    const place = { platform, to: task.to, key: `bg:${task.id}`, replyMode: "off" as const };
    // Always the same key: a task sends one result.
    sender.add(await opened.mailbox.enqueue(outgoingAnswer(`${formatHeader(task)}\n\n${words}`, place)));
  }

  /** Resumes the tasks that an earlier process did not finish. */
  async resumeStored(): Promise<void> {
    const { opened, access } = this.#gateway();
    const stored = await opened.mailbox.getMemory("gateway", MEMORY);
    const resumed: StoredTask[] = [];
    for (const task of stored ? (JSON.parse(stored) as StoredTask[]) : []) {
      if (!task.row || (await checkAccess(task.row.event, access)).allowed === false) continue;
      if (task.starts < MAX_STARTS) resumed.push({ ...task, starts: task.starts + 1 });
      else
        await this.#sendResult(
          task,
          `The gateway ended ${MAX_STARTS} times before this task finished. To try again:\n/background ${task.prompt}`,
        );
    }
    await this.#startAll(resumed);
  }

  /** While the gateway stops: resolves when no task runs. Tasks that wait for an answer are suspended. */
  async settled(): Promise<void> {
    const tasks = [...this.#tasks.values()];
    for (const task of tasks) if (task.openQuestions > 0) suspend(task);
    await Promise.all(tasks.map((task) => task.work));
  }

  /** Suspends the running tasks until the next start. */
  async stop(): Promise<void> {
    for (const task of this.#tasks.values()) suspend(task);
    await this.settled();
  }
}
