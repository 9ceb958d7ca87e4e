// The types of a health check: what it examines, what it found, and how a finding can be repaired.

export type CheckStatus = "ok" | "warning" | "error" | "skipped";

export interface Finding {
  readonly status: CheckStatus;
  /** What is right or wrong, in one sentence, without secrets. */
  readonly what: string;
  /** What the user can do; null when nothing needs to be done. */
  readonly remedy: string | null;
  /** Repairs it and returns what was done. Only for repairs that lose nothing. */
  fix?(): Promise<string>;
}

export interface Check {
  /** `store.index`: stable, for scripts. */
  readonly id: string;
  /** The heading under which it is shown. */
  readonly area: string;
  /** What is examined: `the search index`. */
  readonly title: string;
  /** For checks that wait for other programs: no result within this time is an error. */
  readonly timeoutMs?: number | undefined;
  run(signal: AbortSignal): Promise<readonly Finding[]>;
}

export interface CheckResult {
  readonly id: string;
  readonly area: string;
  readonly title: string;
  readonly status: CheckStatus;
  readonly what: string;
  readonly remedy: string | null;
  /** What `--fix` did, or why it failed. */
  readonly fixed: string | null;
  /** Whether `--fix` could repair it. */
  readonly fixable: boolean;
}

export const good = (what: string): Finding => ({ status: "ok", what, remedy: null });
export const skipped = (what: string): Finding => ({ status: "skipped", what, remedy: null });
export const warning = (what: string, remedy: string, fix?: Finding["fix"]): Finding => ({
  status: "warning",
  what,
  remedy,
  ...(fix ? { fix } : {}),
});
export const wrong = (what: string, remedy: string, fix?: Finding["fix"]): Finding => ({
  status: "error",
  what,
  remedy,
  ...(fix ? { fix } : {}),
});
