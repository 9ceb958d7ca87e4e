// What the gateway is started with, and what it says about itself.
import type { MailboxCounts } from "../../core/mailbox.ts";
import type { LinkState, LinkTimes } from "./platform-link.ts";

export interface GatewayOptions {
  log(level: "info" | "warning" | "error", text: string): void;
  /** Told when something in `status` changed. */
  changed?(): void;
  /** The gateway should be started anew after it stopped. */
  restart?(): void;
  now?(): number;
  readonly times?: LinkTimes | undefined;
  /** How long a platform may be deaf before another one tells of it. */
  readonly patienceMs?: number | undefined;
  readonly agents?: { readonly most: number; readonly idleMs: number };
  /** How often what is old or idle is let go. */
  readonly choresMs?: number | undefined;
}

export interface GatewayStatus {
  readonly state: "starting" | "running" | "degraded" | "draining" | "stopped";
  readonly startedAt: number;
  readonly platforms: readonly LinkState[];
  readonly activeTurns: number;
  readonly openAgents: number;
  readonly mailbox: MailboxCounts;
}
