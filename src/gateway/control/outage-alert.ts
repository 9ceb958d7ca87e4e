// Sends an alert on another platform when a platform is unreachable, and when it recovers.
import type { LinkState } from "./platform-link.ts";

const ALERT_DELAY_MS = 90_000;

export interface OutageAlertOptions {
  /** How long a platform may be unreachable before the alert. */
  readonly alertDelayMs?: number | undefined;
  state(platform: string): LinkState | undefined;
  label(platform: string): string;
  /** Sends to the home channel of another platform that is connected; false when there is none. */
  send(text: string, except: string): Promise<boolean>;
}

function isHealthy(state: LinkState["state"]): boolean {
  return state === "ok" || state === "degraded" || state === "stopped";
}

export class OutageAlert {
  readonly #parts: OutageAlertOptions;
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  /** Platforms for which an alert was sent. */
  readonly #reported = new Set<string>();
  #closed = false;

  constructor(parts: OutageAlertOptions) {
    this.#parts = parts;
  }

  /** Called at every change. A short outage causes no alert. */
  changed({ name, state }: Pick<LinkState, "name" | "state">): void {
    if (isHealthy(state)) {
      clearTimeout(this.#waiting.get(name));
      this.#waiting.delete(name);
      // A paused platform is no outage.
      if (this.#reported.delete(name) && state !== "stopped")
        void this.#send(`✓ ${this.#parts.label(name)} is reachable again.`, name);
      return;
    }
    if (this.#waiting.has(name) || this.#reported.has(name)) return;
    this.#raiseIn(state === "fatal" ? 0 : this.#delayMs, name);
  }

  get #delayMs(): number {
    return this.#parts.alertDelayMs ?? ALERT_DELAY_MS;
  }

  #raiseIn(ms: number, name: string): void {
    this.#waiting.set(name, setTimeout(() => void this.#raise(name), ms).unref());
  }

  async #raise(name: string): Promise<void> {
    this.#waiting.delete(name);
    const now = this.#parts.state(name);
    if (!now || isHealthy(now.state)) return;
    const reason = now.reason ? `: ${now.reason}` : "";
    const text = `⚠️ ${this.#parts.label(name)} is unreachable${reason}. Messages there are not received. See: hermes gateway status --deep`;
    if (await this.#send(text, name)) this.#markReported(name);
    // Retried: at start-up the others may not be connected yet.
    else if (!this.#closed && !this.#waiting.has(name)) this.#raiseIn(this.#delayMs, name);
  }

  /** The platform may have recovered while the alert was sent: then the recovery is reported at once. */
  #markReported(name: string): void {
    this.#reported.add(name);
    const now = this.#parts.state(name);
    if (now) this.changed({ name, state: now.state });
  }

  /** False when the alert could not be stored. */
  #send(text: string, except: string): Promise<boolean> {
    return this.#parts.send(text, except).catch(() => false);
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#waiting.values()) clearTimeout(timer);
  }
}
