// Runs scheduled jobs while an interactive conversation is open.
import type { App } from "../app/app.ts";
import { errorMessage } from "../lib/error-message.ts";

/** How long leaving waits for a run that has begun. */
const DRAIN_MS = 3_000;

/** Starts the ticker when there are jobs; returns the function that stops it. Due jobs are claimed, so each runs once. */
export async function startJobs(app: App, warn: (text: string) => void): Promise<() => Promise<void>> {
  let stopped = false;
  const ticker = (async () => {
    const cron = await app.cron();
    const jobs = await cron.actions.list();
    if (stopped || jobs.length === 0) return undefined;
    const started = cron.ticker();
    started.start();
    return started;
  })().catch((error) => {
    warn(`Scheduled jobs do not run in this conversation: ${errorMessage(error)}`);
    return undefined;
  });
  return async () => {
    stopped = true;
    await (await ticker)?.stop({ drainMs: DRAIN_MS });
  };
}
