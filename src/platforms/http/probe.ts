// Proves that a local server is reachable by requesting it regularly, because real requests may be rare.

import type { PlatformHealth } from "../../core/chat/platform.ts";
import { errorMessage } from "../../lib/error-message.ts";

const SECONDS = 30;

export interface Probe {
  /** Called for each real request, which also proves that the server is reachable. */
  recordRequest(): void;
  /** Red when nothing was proven for three intervals. */
  health(): PlatformHealth;
  stop(): void;
}

/** What is wrong with the server; undefined when it answers. */
async function requestHealth(url: string, limitMs: number): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(limitMs) });
    return answer.ok ? undefined : `the server answers ${answer.status}`;
  } catch (error) {
    return `the server does not answer: ${errorMessage(error)}`;
  }
}

export function startProbe(
  url: string,
  options: { readonly now: () => number; readonly seconds?: number | undefined },
): Probe {
  const { now } = options;
  const roundMs = (options.seconds ?? SECONDS) * 1000;
  let provenAt = now();
  let problem: string | undefined;
  const timer = setInterval(async () => {
    problem = await requestHealth(url, roundMs);
    if (problem === undefined) provenAt = now();
  }, roundMs);
  timer.unref();
  return {
    recordRequest: () => {
      provenAt = now();
    },
    health: () => {
      const isOverdue = now() - provenAt > 3 * roundMs;
      return { state: isOverdue ? "red" : problem ? "degraded" : "ok", provenAt, reason: problem };
    },
    stop: () => clearInterval(timer),
  };
}
