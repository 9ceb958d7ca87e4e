// Runs scheduled jobs while an interactive conversation is open.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../app/app.ts";
import { errorMessage } from "../lib/error-message.ts";

/** The first look waits until the conversation is ready; later ones find jobs that were created in it. */
const FIRST_LOOK_MS = 5_000;
const NEXT_LOOK_MS = 60_000;
/** How long leaving waits for a run that has begun. */
const DRAIN_MS = 3_000;

type Ticker = ReturnType<Awaited<ReturnType<App["cron"]>>["ticker"]>;

/** Starts the ticker as soon as there are jobs; returns the function that stops it. Due jobs are claimed, so each runs once. */
export function startJobs(app: App, warn: (text: string) => void): () => Promise<void> {
  const file = join(app.home.path, "cron", "jobs.json");
  let timer: NodeJS.Timeout | undefined;
  let starting: Promise<Ticker | undefined> | undefined;
  let stopped = false;
  const start = async (): Promise<Ticker | undefined> => {
    const cron = await app.cron();
    if (stopped || (await cron.actions.list()).length === 0) return undefined;
    const ticker = cron.ticker();
    ticker.start();
    return ticker;
  };
  const look = async () => {
    if (existsSync(file)) {
      starting = start();
      try {
        if (await starting) return;
      } catch (error) {
        starting = undefined;
        warn(`Scheduled jobs do not run in this conversation: ${errorMessage(error)}`);
        return;
      }
    }
    if (!stopped) plan(NEXT_LOOK_MS);
  };
  const plan = (ms: number) => {
    timer = setTimeout(() => void look(), ms);
    timer.unref();
  };
  plan(FIRST_LOOK_MS);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await (await starting)?.stop({ drainMs: DRAIN_MS });
  };
}
