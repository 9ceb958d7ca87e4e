// Options and status of the gateway.
import type { MailboxCounts } from "../../core/store/mailbox.ts";
import type { LinkState, LinkTimes } from "./platform-link.ts";

export interface GatewayOptions {
  log(level: "info" | "warning" | "error", text: string): void;
  /** Called when `status` has changed. */
  changed?(): void;
  /** Called when the gateway should restart. */
  restart?(): void;
  now?(): number;
  readonly times?: LinkTimes | undefined;
  /** How long a platform may be unreachable before an alert is sent on another one. */
  readonly alertDelayMs?: number | undefined;
  readonly agents?: { readonly most: number; readonly idleMs: number };
  /** Interval of the clean-up of old rows and idle conversations. */
  readonly cleanUpMs?: number | undefined;
}

export interface GatewayStatus {
  readonly state: "starting" | "running" | "degraded" | "draining" | "stopped";
  readonly startedAt: number;
  readonly platforms: readonly LinkState[];
  readonly activeTurns: number;
  readonly openAgents: number;
  readonly mailbox: MailboxCounts;
}
