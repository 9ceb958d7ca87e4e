// A program with jobs: a temporary home, a scripted model, real scripts, platforms that record what they send.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../src/app/app.ts";
import { openApp } from "../../src/app/compose.ts";
import type { Deliverer, DeliveryMessage, DeliveryTarget } from "../../src/core/job.ts";
import { openHome } from "../../src/home/api.ts";
import { type FakeLlm, startFakeLlm } from "../servers/fake-llm.ts";
import { workspaceEnv } from "./home-workspace.ts";
import { type TempHome, tempHome } from "./temp-home.ts";

export class CronFixture {
  readonly home: TempHome = tempHome();
  readonly llm: FakeLlm;
  readonly notices: string[] = [];
  readonly sent: { target: DeliveryTarget; message: DeliveryMessage }[] = [];
  #app: App | undefined;

  private constructor(llm: FakeLlm) {
    this.llm = llm;
  }

  static async start(): Promise<CronFixture> {
    return new CronFixture(await startFakeLlm());
  }

  get app(): App {
    if (!this.#app) throw new Error("open the fixture first");
    return this.#app;
  }

  /** Telegram is set up, Slack is not. */
  readonly chats: Deliverer = {
    known: () => ["telegram", "slack"],
    problem: (platform) => (platform === "telegram" ? undefined : `${platform} is not set up here`),
    home: (platform) => (platform === "telegram" ? { platform, chatId: "77" } : undefined),
    resolve: async (platform, reference) => {
      if (reference === "#topic") return { platform, chatId: "99", threadId: "8" };
      return reference === "#gone" ? undefined : { platform, chatId: reference.replace("#team", "99") };
    },
    send: async (target, message) => {
      if (target.chatId === "throws") throw new Error("the outbox is locked");
      this.sent.push({ target, message });
      return target.chatId === "broken" ? "the chat is closed" : undefined;
    },
  };

  async open(more = "", env: { [name: string]: string } = {}): Promise<void> {
    this.home.useModel(this.llm, more);
    const { home } = openHome([], {
      env: {
        ...workspaceEnv(this.home.path, this.home.path),
        PATH: process.env.PATH,
        HOME: this.home.path,
        HERMES_HOME: this.home.path,
        ...env,
      },
      cwd: this.home.path,
      platform: process.platform,
      homedir: this.home.path,
    });
    this.#app = await openApp(home, { onNotice: (line) => this.notices.push(line) });
    this.#app.deliverBy(this.chats);
  }

  async close(): Promise<void> {
    await this.#app?.close();
    await this.llm.close();
    this.home.remove();
  }

  script(name: string, content: string): void {
    mkdirSync(join(this.home.path, "scripts"), { recursive: true });
    writeFileSync(join(this.home.path, "scripts", name), content);
  }

  documents(id: string): string[] {
    const folder = join(this.home.path, "cron", "output", id);
    return existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")) : [];
  }
}
