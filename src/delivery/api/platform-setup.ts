// Setting up chat platforms: what each one needs, what is missing, and a trial sign-in.

import type { Platform, PlatformContext } from "../../core/chat/platform.ts";
import type { PlatformSettings } from "../../core/chat/platform-settings.ts";
import { formatError } from "../../core/failure.ts";

const TRIAL_MS = 30_000;

export interface PlatformState {
  readonly name: string;
  readonly label: string;
  /** Where to get the values that are asked for. */
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
  /** `account` is the account that signed in; null for platforms that do not sign in. */
  { readonly ok: true; readonly account: string | null } | { readonly ok: false; readonly reason: string };

export function describePlatform(platform: Platform, settings: PlatformSettings): PlatformState {
  const enabled = platform.enabled(settings);
  return {
    name: platform.name,
    label: platform.label,
    hint: platform.setupHint,
    ready: enabled.ok,
    reason: enabled.ok ? "" : enabled.reason,
    settings: platform.settings.map(({ env, description, required = false, secret = false }) => ({
      env,
      description,
      required,
      secret,
      set: settings.setting(env) !== undefined,
    })),
  };
}

/** A context that receives nothing and stores nothing. */
function trialContext(settings: PlatformSettings, homePath: string): PlatformContext {
  const refuse = async () => {
    throw new Error("this is only a trial");
  };
  return {
    ...settings,
    receive: refuse,
    receiveAll: refuse,
    deliver: refuse,
    memory: { get: async () => null, set: async () => undefined },
    log: () => undefined,
    lost: () => undefined,
    now: Date.now,
    signal: AbortSignal.timeout(TRIAL_MS),
    homePath,
  };
}

/** Signs in as the gateway does, without receiving anything. */
export async function checkPlatform(
  platform: Platform,
  settings: PlatformSettings,
  homePath: string,
): Promise<PlatformCheck> {
  const enabled = platform.enabled(settings);
  if (!enabled.ok) return enabled;
  if (!platform.openSender) return { ok: true, account: null };
  try {
    const context = trialContext(settings, homePath);
    await platform.prove?.(context);
    const connection = await platform.openSender(context);
    const { account, accountName } = connection;
    await connection.close();
    return { ok: true, account: accountName ?? account };
  } catch (error) {
    return { ok: false, reason: formatError(error) };
  }
}
