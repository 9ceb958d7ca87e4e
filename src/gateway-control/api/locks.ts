// The two locks of a home: one for the running gateway, one for the process that sends from the outbox.

export interface HomeLock {
  /** Idempotent. */
  release(): void;
}

/**
 * Each lock is held by the kernel until it is released or the process ends; null when another process holds it. A process
 * takes each lock at most once at a time.
 */
export interface GatewayLocks {
  gateway(): Promise<HomeLock | null>;
  outbox(): Promise<HomeLock | null>;
}

const RETRY_MS = 100;

/** Retries until the outbox is free; null when another process still holds it after `waitMs`. */
export async function waitForOutbox(locks: GatewayLocks, waitMs: number): Promise<HomeLock | null> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const lock = await locks.outbox();
    if (lock || Date.now() >= deadline) return lock;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
