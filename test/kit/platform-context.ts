// The context of a platform connection, as values that a test can inspect.
import type { InboundEvent, Platform, PlatformContext } from "../../src/core/chat/platform.ts";

export interface TestPlatformContext extends PlatformContext {
  readonly events: InboundEvent[];
  readonly delivered: { readonly target: string; readonly text: string; readonly key: string }[];
  readonly lines: string[];
  readonly losses: string[];
  /** Targets that do not exist. */
  readonly unreachable: Set<string>;
  /** Makes the next calls of `receive` fail, as with a full disk. */
  failNext(count: number): void;
  stop(): void;
}

export interface TestContextOptions {
  readonly homePath: string;
  readonly env?: { readonly [name: string]: string };
  readonly section?: { readonly [key: string]: unknown };
  readonly memory?: Map<string, string>;
  now?(): number;
}

export function platformContext(platform: Platform, options: TestContextOptions): TestPlatformContext {
  const { env = {}, section = {}, memory = new Map<string, string>() } = options;
  const stopping = new AbortController();
  const events: InboundEvent[] = [];
  const delivered: { target: string; text: string; key: string }[] = [];
  const lines: string[] = [];
  const losses: string[] = [];
  const unreachable = new Set<string>();
  let failures = 0;
  const take = (more: readonly InboundEvent[]) => {
    if (failures > 0) {
      failures -= 1;
      throw new Error("the disk is full");
    }
    // An inbox keeps plain JSON, one row per key.
    for (const event of more) {
      const key = (item: InboundEvent) => `${item.account} ${item.source.chatId} ${item.messageId}`;
      if (!events.some((known) => key(known) === key(event))) events.push(JSON.parse(JSON.stringify(event)));
    }
  };
  return {
    events,
    delivered,
    lines,
    losses,
    unreachable,
    failNext: (count) => {
      failures = count;
    },
    stop: () => stopping.abort(),
    setting: (name) => {
      if (env[name] !== undefined) return env[name];
      const key = platform.settings.find((setting) => setting.env === name)?.key;
      const value = key === undefined ? undefined : section[key];
      return value === undefined ? undefined : Array.isArray(value) ? value.join(",") : String(value);
    },
    section,
    receive: async (event) => take([event]),
    receiveAll: async (more) => take(more),
    memory: {
      get: async (key) => memory.get(key) ?? null,
      set: async (key, value) => void memory.set(key, value),
    },
    log: (level, text) => void lines.push(`${level}: ${text}`),
    lost: (reason) => void losses.push(reason),
    now: options.now ?? Date.now,
    signal: stopping.signal,
    deliver: async (target, text, key) => void delivered.push({ target, text, key }),
    reaches: (target) => !unreachable.has(target),
    homePath: options.homePath,
  };
}
