// Setting up chat platforms: what each needs, what is missing, writing it down, and proving it by signing in.

import type { App } from "../app/app.ts";
import { openApp } from "../app/compose.ts";
import { allPlatforms } from "../app/platforms.ts";
import { errorMessage } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { Platform, PlatformContext, PlatformSetting } from "../core/platform.ts";
import { rereadEnv } from "../home/api.ts";
import { readPlatformSettings } from "./platform-settings.ts";

const TRIAL_MS = 30_000;

export interface PlatformState {
  readonly name: string;
  readonly label: string;
  /** Where people get what is asked for. */
  readonly hint?: string | undefined;
  readonly ready: boolean;
  /** What is missing; empty when it is ready. */
  readonly reason: string;
  readonly settings: readonly {
    readonly env: string;
    readonly description: string;
    readonly required: boolean;
    readonly secret: boolean;
    readonly set: boolean;
  }[];
}

export type PlatformCheck =
  /** `account` is who we are there; null for platforms that people or programs call. */
  { readonly ok: true; readonly account: string | null } | { readonly ok: false; readonly reason: string };

async function withPlatforms<T>(
  home: Home,
  work: (platforms: readonly Platform[], app: App) => Promise<T> | T,
): Promise<T> {
  const app = await openApp(home);
  try {
    return await work(await allPlatforms(app), app);
  } finally {
    await app.close();
  }
}

export function platformStates(home: Home): Promise<readonly PlatformState[]> {
  return withPlatforms(home, (platforms, app) =>
    platforms.map((platform) => {
      const context = readPlatformSettings(app, platform.name, platform.settings);
      const enabled = platform.enabled(context);
      return {
        name: platform.name,
        label: platform.label,
        ...(platform.setupHint ? { hint: platform.setupHint } : {}),
        ready: enabled.ok,
        reason: enabled.ok ? "" : enabled.reason,
        settings: platform.settings.map(({ env, description, required, secret }: PlatformSetting) => ({
          env,
          description,
          required: required ?? false,
          secret: secret ?? false,
          set: context.setting(env) !== undefined,
        })),
      };
    }),
  );
}

/** Writes the values to `.env`, readable by the owner only; they are in effect afterwards. */
export async function savePlatformSettings(home: Home, values: { readonly [env: string]: string }): Promise<void> {
  const { setEnvValue } = await import("../config/env-write.ts");
  for (const [env, value] of Object.entries(values)) await setEnvValue(home, env, value);
  rereadEnv(home);
}

/** For a trial nothing is received and nothing is kept. */
function trialContext(app: App, platform: Platform): PlatformContext {
  const refuse = async () => {
    throw new Error("this is only a trial");
  };
  return {
    ...readPlatformSettings(app, platform.name, platform.settings),
    receive: refuse,
    receiveAll: refuse,
    deliver: refuse,
    memory: { get: async () => null, set: async () => undefined },
    log: () => undefined,
    lost: () => undefined,
    now: Date.now,
    signal: AbortSignal.timeout(TRIAL_MS),
    homePath: app.home.path,
  };
}

/** Signs in as the gateway would, without receiving anything. */
export function checkPlatform(home: Home, name: string): Promise<PlatformCheck> {
  return withPlatforms(home, async (platforms, app) => {
    const platform = platforms.find((each) => each.name === name);
    if (!platform) return { ok: false, reason: `there is no platform "${name}"` };
    const enabled = platform.enabled(readPlatformSettings(app, name, platform.settings));
    if (!enabled.ok) return enabled;
    if (!platform.openSender) return { ok: true, account: null };
    try {
      const context = trialContext(app, platform);
      await platform.prove?.(context);
      const connection = await platform.openSender(context);
      const { account, accountName } = connection;
      await connection.close();
      return { ok: true, account: accountName ?? account };
    } catch (error) {
      return { ok: false, reason: app.redact(errorMessage(error)) };
    }
  });
}
