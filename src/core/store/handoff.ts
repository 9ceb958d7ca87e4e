// Handoff: moving a live session to a chat platform. States: NULL → pending → running → completed | failed.
import type { SessionRow } from "./session.ts";

export interface HandoffState {
  readonly state: string | null;
  readonly platform: string | null;
  readonly error: string | null;
}

export interface HandoffStore {
  /** False when the session is being handed over already. */
  requestHandoff(id: string, platform: string): Promise<boolean>;
  /** True for one caller only. */
  claimHandoff(id: string): Promise<boolean>;
  completeHandoff(id: string): Promise<void>;
  failHandoff(id: string, error: string): Promise<void>;
  getHandoffState(id: string): Promise<HandoffState | null>;
  listPendingHandoffs(): Promise<SessionRow[]>;
}
