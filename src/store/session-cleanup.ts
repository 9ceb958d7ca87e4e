// `sessions.auto_prune`: removes old, ended sessions once per interval.
import type { FullStore } from "./full-store.ts";

export interface CleanupSettings {
  readonly sessions: {
    readonly auto_prune: boolean;
    readonly retention_days: number;
    readonly vacuum_after_prune: boolean;
    readonly min_interval_hours: number;
  };
  /** The folder of transcripts, which are removed with their sessions. */
  readonly sessionsDir: string;
  /** Run at once and then once per interval, for long-running processes. Else the run happens at `close`, after the answer. */
  readonly now: boolean;
}

const HOUR_MS = 3_600_000;

export function startSessionCleanup(
  store: Pick<FullStore, "maybeAutoPruneAndVacuum">,
  { sessions, sessionsDir, now }: CleanupSettings,
): { close(): Promise<void> } {
  if (!sessions.auto_prune) return { close: async () => undefined };
  const run = async () => {
    await store.maybeAutoPruneAndVacuum({
      retentionDays: sessions.retention_days,
      minIntervalHours: sessions.min_interval_hours,
      vacuum: sessions.vacuum_after_prune,
      sessionsDir,
    });
  };
  if (!now) return { close: run };
  let running = run();
  // Hourly: whether the interval has passed is decided by the time of the last run, which other processes share.
  const timer = setInterval(() => {
    running = running.then(run);
  }, HOUR_MS);
  timer.unref();
  return {
    close: () => {
      clearInterval(timer);
      return running;
    },
  };
}
