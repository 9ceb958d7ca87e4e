// The long poll: an update is confirmed to Telegram only after it is stored. Stalls and conflicts are retried or reported.
import { setTimeout as sleep } from "node:timers/promises";
import type { Update } from "grammy/types";
import type { PlatformContext } from "../../core/chat/platform.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { type ApiProblem, describeApiError, type TelegramClient } from "./client.ts";
import type { HealthMonitor } from "./health-monitor.ts";
import type { TelegramSettings } from "./settings.ts";

export const UPDATE_KINDS = ["message", "edited_message", "callback_query"] as const;
const MAX_PAUSE_MS = 15_000;
/** After this many failures in a row the connection is replaced. */
const REBUILD_AFTER = 6;

export interface PollParts {
  readonly client: TelegramClient;
  readonly settings: TelegramSettings;
  readonly context: PlatformContext;
  readonly monitor: HealthMonitor;
  /** Stores the updates; resolves when they are on disk. */
  take(updates: readonly Update[]): Promise<void>;
}

async function pollOnce(
  { client, settings, context }: PollParts,
  { offset, timeout }: { readonly offset: number; readonly timeout: number },
  signal: AbortSignal,
): Promise<Update[]> {
  const api = await client.api();
  return underSignals([signal, context.signal], (timeout + settings.graceSeconds) * 1000, (limit) =>
    api.getUpdates(
      { offset, timeout, limit: 100, allowed_updates: UPDATE_KINDS },
      limit as Parameters<typeof api.getUpdates>[1],
    ),
  );
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

function describeFailure({ code, text, silent }: ApiProblem): string {
  if (code === 409)
    return "another program receives with this token (409): stop it, or use a separate bot for each program";
  if (silent) return "poll failed: no answer in time";
  return `poll failed: ${code === 0 ? "no answer," : code} ${text}`;
}

/** Runs until the signal fires. Never throws. */
export async function pollUntilAborted(parts: PollParts, signal: AbortSignal): Promise<void> {
  const { client, monitor, context, settings } = parts;
  let offset = 0;
  let failures = 0;
  // The first poll, and the first after a failure, do not wait: their answer proves that receiving works.
  let timeout = 0;
  while (!signal.aborted) {
    let answered = false;
    try {
      const updates = await pollOnce(parts, { offset, timeout }, signal);
      answered = true;
      monitor.beat(context.now());
      failures = 0;
      timeout = settings.pollSeconds;
      if (updates.length === 0) continue;
      await parts.take(updates);
      offset = (updates.at(-1)?.update_id ?? offset) + 1;
      // Handles the updates before the next poll.
      await new Promise((resolve) => setImmediate(resolve));
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      timeout = 0;
      const failure = describeApiError(error);
      const why = answered ? `messages could not be stored: ${failure.text}` : describeFailure(failure);
      monitor.miss(why);
      context.log("warning", `Telegram: ${why}`);
      // A half-open socket never reports an error: after a time-out all sockets are replaced.
      if (failure.silent && !answered) client.rebuild();
      else if (!answered && (failure.code === 0 || failure.code >= 500)) client.renew();
      if (failure.code === 401 || failure.code === 404) {
        context.lost("Telegram rejected the bot token", { fatal: true });
        return;
      }
      if (failures % REBUILD_AFTER === 0) {
        context.lost(why);
        return;
      }
      const unit = Math.min(1000, settings.graceSeconds * 100);
      await pause(failure.retryAfterMs ?? Math.min(unit * 2 ** (failures - 1), MAX_PAUSE_MS), signal);
    }
  }
}
