// A gateway with a temporary home, a scripted model and a Bot API server on loopback.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type OpenedGateway, openGateway } from "../../src/app/open-gateway.ts";
import { Gateway } from "../../src/gateway/control/gateway.ts";
import { openHome } from "../../src/home/api.ts";
import { type FakeLlm, startFakeLlm, text } from "../servers/fake-llm.ts";
import { FakeTelegram, type FakeTelegramOptions } from "../servers/fake-telegram.ts";
import { workspaceEnv } from "./home-workspace.ts";
import { type TempHome, tempHome } from "./temp-home.ts";

export interface GatewayFixture {
  readonly home: TempHome;
  readonly llm: FakeLlm;
  readonly telegram: FakeTelegram;
  readonly log: string[];
  gateway: Gateway;
  opened: OpenedGateway;
  /** Running turns get `drainMs`, two seconds by default. */
  restart(drainMs?: number): Promise<void>;
  /** Moves the gateway's clock forward. */
  later(ms: number): void;
}

const fixtures: GatewayFixture[] = [];
export type Script = NonNullable<Parameters<typeof startFakeLlm>[0]>["script"];

async function startGateway(
  home: TempHome,
  telegram: FakeTelegram,
  env: { [name: string]: string },
  watch: { readonly log: string[]; readonly now: () => number; readonly cleanUpMs?: number; readonly cwd?: string },
): Promise<{ gateway: Gateway; opened: OpenedGateway }> {
  const host = {
    env: {
      ...workspaceEnv(home.path, watch.cwd ?? home.path),
      HERMES_HOME: home.path,
      TELEGRAM_BOT_TOKEN: telegram.token,
      TELEGRAM_API_ROOT: telegram.url,
      PATH: "/usr/local/bin:/usr/bin:/bin",
      ...env,
    },
    cwd: watch.cwd ?? home.path,
    platform: "linux",
    homedir: home.path,
  };
  const opened = await openGateway(openHome([], host).home, { host: "in-process" });
  const times = { connectMs: 2_000, firstPauseMs: 50, maxPauseMs: 500, watchMs: 50, rebuildMs: 200 };
  const log = (level: string, line: string) => watch.log.push(`${level}: ${line}`);
  const chores = watch.cleanUpMs === undefined ? {} : { cleanUpMs: watch.cleanUpMs };
  const gateway = new Gateway(opened, { log, times, now: watch.now, alertDelayMs: 300, ...chores });
  await gateway.start();
  return { gateway, opened };
}

export async function openGatewayFixture(
  options: {
    script?: Script;
    env?: { [name: string]: string };
    config?: string;
    telegram?: FakeTelegramOptions;
    /** Files of the home, by path. */
    files?: { [path: string]: string };
    /** How often what is idle is let go. */
    cleanUpMs?: number;
    /** Where commands run; the home itself when absent. */
    cwd?: string;
  } = {},
): Promise<GatewayFixture> {
  const home = tempHome();
  const llm = await startFakeLlm({
    script: options.script ?? ((request) => text(`You said: ${String(request.messages.at(-1)?.text ?? "")}`)),
  });
  const extra =
    "platforms:\n  telegram:\n    extra:\n      poll_seconds: 1\n      grace_seconds: 1\n      webhook_check_seconds: 0.2\n      red_seconds: 2\n      rate_per_chat: 1000\n      rate_total: 1000\n";
  // By default three users are allowed, and the first is the owner.
  const named = options.env === undefined && !/^gateway:/m.test(options.config ?? "");
  const owners = named ? 'gateway:\n  owners: ["telegram:1"]\n' : "";
  home.useModel(llm, `${extra}${owners}${options.config ?? ""}`);
  for (const [path, content] of Object.entries(options.files ?? {})) {
    mkdirSync(dirname(join(home.path, path)), { recursive: true });
    writeFileSync(join(home.path, path), content);
  }
  const telegram = await new FakeTelegram(options.telegram).start();
  const env = options.env ?? { TELEGRAM_ALLOWED_USERS: "1,2,3" };
  const log: string[] = [];
  let ahead = 0;
  const chores = options.cleanUpMs === undefined ? {} : { cleanUpMs: options.cleanUpMs };
  const place = options.cwd === undefined ? {} : { cwd: options.cwd };
  const watch = { log, now: () => Date.now() + ahead, ...chores, ...place };
  const started = await startGateway(home, telegram, env, watch);
  const made: GatewayFixture = {
    home,
    llm,
    telegram,
    log,
    ...started,
    restart: async (drainMs = 2_000) => {
      await made.gateway.stop(drainMs);
      await made.opened.close();
      Object.assign(made, await startGateway(home, telegram, env, watch));
    },
    later: (ms) => {
      ahead += ms;
    },
  };
  fixtures.push(made);
  return made;
}

/** For `afterEach`. */
export async function closeGateways(): Promise<void> {
  for (const each of fixtures.splice(0)) {
    await each.gateway.stop(500);
    await each.opened.close();
    await each.telegram.close();
    await each.llm.close();
    each.home.remove();
  }
}

export const texts = (w: GatewayFixture, chat: number) =>
  w.telegram
    .fromBot(chat)
    .map((message) => message.text)
    // Leaves out progress and the placeholder that is sent before the first message.
    .filter((shown) => !shown.startsWith("🔧") && shown !== "…");
export const answered = (w: GatewayFixture, chat: number, count = 1) =>
  w.telegram.until(() => texts(w, chat).length >= count);
