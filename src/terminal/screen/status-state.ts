// The figures of the status bar, kept up to date by the events of turns.
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import type { App } from "../../app/app.ts";
import type { OpenedConversation } from "../../core/conversation.ts";
import type { AgentEvent } from "../../core/event.ts";
import type { SessionStatus } from "../chat-ui.ts";
import type { StatusData } from "../view/status-bar.ts";

const GIT_MS = 2_000;

function gitBranch(cwd: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile("git", ["rev-parse", "--abbrev-ref", "HEAD"], { cwd, timeout: GIT_MS }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim() || undefined),
    );
  });
}

function busyModeOf(mode: string | undefined): StatusData["busyMode"] {
  return mode === "queue" || mode === "steer" ? mode : "interrupt";
}

export class StatusState {
  readonly #app: App;
  readonly #folder: string;
  readonly #threshold: number;
  #model = "";
  #contextTokens: number | undefined;
  #contextLength = 0;
  #usd: number | undefined;
  #estimated = false;
  #compactions = 0;
  #startedAt: number | undefined;
  #session: SessionStatus = {};
  branch: string | undefined;

  constructor(app: App) {
    this.#app = app;
    const home = app.home.env.HOME ?? homedir();
    const { cwd } = app.home;
    this.#folder = cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
    this.#threshold = app.config.compression.enabled ? Number(app.config.compression.threshold) : 1;
  }

  async opened(opened: OpenedConversation): Promise<void> {
    this.#model = opened.identity.model;
    this.#contextLength = opened.contextLength;
    this.#contextTokens = undefined;
    this.#usd = undefined;
    this.#compactions = 0;
    const id = opened.conversation.sessionId;
    const row = opened.resumed ? await this.#app.store.getSession(id).catch(() => null) : null;
    this.#session = { ...this.#session, title: row?.title ?? undefined };
    // The branch appears when git has answered.
    void gitBranch(this.#app.home.cwd).then((branch) => {
      this.branch = branch;
    });
  }

  update(status: SessionStatus): void {
    this.#session = { ...this.#session, ...status };
  }

  turnStarted(): void {
    this.#startedAt = Date.now();
  }

  turnEnded(): void {
    this.#startedAt = undefined;
  }

  event(event: AgentEvent): void {
    if (event.type === "usage") {
      this.#contextTokens = event.contextTokens;
      this.#contextLength = event.contextLength;
      if (event.cost.usd !== null) this.#usd = (this.#usd ?? 0) + event.cost.usd;
      this.#estimated ||= event.cost.status === "estimated";
    } else if (event.type === "compressed") {
      this.#compactions += 1;
      this.#contextTokens = event.afterTokens;
    } else if (event.type === "fallback") this.#model = event.to.model;
  }

  data(now: number): StatusData {
    const { busyMode, background, title, yolo } = this.#session;
    return {
      model: this.#model,
      contextTokens: this.#contextTokens,
      contextLimit: this.#contextLength === 0 ? undefined : Math.round(this.#contextLength * this.#threshold),
      costUsd: this.#usd,
      costEstimated: this.#estimated,
      title,
      folder: this.#folder,
      branch: this.branch,
      busyMode: busyModeOf(busyMode ?? this.#app.config.display.busy_input_mode),
      turnMs: this.#startedAt === undefined ? undefined : now - this.#startedAt,
      background,
      compactions: this.#compactions,
      yolo,
      profile: this.#app.home.profile === "default" ? undefined : this.#app.home.profile,
    };
  }
}
