// One finding of the security audit.

export type AuditSeverity = "info" | "low" | "medium" | "high";

export interface AuditFinding {
  readonly id: string;
  readonly severity: AuditSeverity;
  /** The finding, without secrets. */
  readonly what: string;
  /** How to fix it; null when nothing needs to change. */
  readonly hint: string | null;
}
