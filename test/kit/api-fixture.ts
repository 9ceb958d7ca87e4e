// A running API server over a scripted model, for tests of its clients.
import OpenAI from "openai";
import type { App } from "../../src/app/app.ts";
import { openApp } from "../../src/app/compose.ts";
import { openServer, type RunningServer } from "../../src/app/open-server.ts";
import { openHome } from "../../src/home/api.ts";
import { type FakeLlm, startFakeLlm, text } from "../servers/fake-llm.ts";
import type { Reply } from "../servers/fake-llm-replies.ts";
import type { RecordedRequest } from "../servers/fake-llm-request.ts";
import { workspaceEnv } from "./home-workspace.ts";
import { type TempHome, tempHome } from "./temp-home.ts";

export const API_KEY = "test-key-0123456789";

export interface ApiFixture {
  readonly home: TempHome;
  readonly llm: FakeLlm;
  readonly app: App;
  readonly server: RunningServer;
  readonly client: OpenAI;
  /** Replies for turns of the agent, in order; side questions such as titles do not use them up. */
  reply(...replies: Reply[]): void;
  /** Lines of the server's log. */
  readonly log: readonly string[];
  /** Requests that turns made. */
  turns(): readonly RecordedRequest[];
  post(path: string, body: unknown, headers?: { [name: string]: string }): Promise<Response>;
  get(path: string): Promise<Response>;
  restart(env: { [name: string]: string }): Promise<void>;
  close(): Promise<void>;
}

function isTurn(request: RecordedRequest): boolean {
  return request.tools.length > 0;
}

async function serve(
  home: TempHome,
  env: { [name: string]: string },
  log: string[],
): Promise<{ app: App; server: RunningServer }> {
  const opened = openHome([], {
    env: {
      ...workspaceEnv(home.path, home.path),
      PATH: process.env.PATH ?? "",
      HOME: home.path,
      HERMES_HOME: home.path,
      ...env,
    },
    cwd: home.path,
    platform: process.platform,
    homedir: home.path,
  });
  const app = await openApp(opened.home);
  return { app, server: await openServer(app, { port: 0, onLog: (_level, line) => void log.push(line) }) };
}

export interface ApiFixtureOptions {
  /** More lines of config.yaml. */
  readonly config?: string | undefined;
  /** The reply of the model when the test has given no other. */
  readonly always?: ((request: RecordedRequest) => Reply) | undefined;
}

export async function apiFixture(options: ApiFixtureOptions = {}): Promise<ApiFixture> {
  const home = tempHome();
  const replies: Reply[] = [];
  const log: string[] = [];
  const none: Reply = { status: 400, text: "the test has no more replies" };
  const llm = await startFakeLlm({
    script: (request) => (isTurn(request) ? (replies.shift() ?? options.always?.(request) ?? none) : text("A title")),
  });
  home.useModel(llm, `approvals:\n  mode: manual\n${options.config ?? ""}`);
  let running = await serve(home, { API_SERVER_KEY: API_KEY }, log);
  const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" };
  const stop = async () => {
    await running.server.close();
    await running.app.close();
  };
  return {
    home,
    llm,
    get app() {
      return running.app;
    },
    get server() {
      return running.server;
    },
    get client() {
      return new OpenAI({ baseURL: `${running.server.url}/v1`, apiKey: API_KEY, maxRetries: 0 });
    },
    reply: (...more) => void replies.push(...more),
    log,
    turns: () => llm.requests.filter(isTurn),
    post: (path, body, more = {}) =>
      fetch(`${running.server.url}${path}`, {
        method: "POST",
        headers: { ...headers, ...more },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    get: (path) => fetch(`${running.server.url}${path}`, { headers }),
    restart: async (env) => {
      await stop();
      running = await serve(home, env, log);
    },
    close: async () => {
      await stop();
      await llm.close();
      home.remove();
    },
  };
}
