// Lasting changes that wait for the user's decision, in runtime.db.
import type { JobOrigin } from "../job.ts";
import type { ProposedCall } from "../tool/tool.ts";

export type ProposalState = "open" | "accepted" | "discarded" | "failed";

export interface Proposal extends ProposedCall {
  readonly id: number;
  /** Where the conversation took place: `cli`, `telegram`, `cron` … */
  readonly source: string;
  /** The chat of the conversation, for jobs that deliver there. */
  readonly chat?: JobOrigin | undefined;
  readonly state: ProposalState;
  /** What applying it returned; for `failed` the reason. */
  readonly result?: string | undefined;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly decidedAt?: number | undefined;
}

export interface ProposalStore {
  /** Resolves when the row is on disk. The same open change is stored once. */
  add(call: ProposedCall, place: Pick<Proposal, "source" | "chat">): Promise<number>;
  /** Oldest first. */
  list(filter?: { readonly open?: boolean | undefined }): Promise<Proposal[]>;
  find(id: number): Promise<Proposal | undefined>;
  /** Sets the state of an open or failed proposal. False when it was already decided, also by another process. */
  decide(id: number, state: Exclude<ProposalState, "open" | "failed">): Promise<boolean>;
  /** Records that an accepted proposal could not be applied: it can be accepted again. */
  fail(id: number, reason: string): Promise<void>;
  finish(id: number, result: string): Promise<void>;
}
