// The report of the guard: findings with their position, and a verdict.

export type Severity = "critical" | "high" | "medium" | "low";

export type Category =
  | "exfiltration"
  | "injection"
  | "obfuscation"
  | "persistence"
  | "supply_chain"
  | "network"
  | "destructive"
  | "execution"
  | "credential_exposure"
  | "traversal"
  | "privilege_escalation"
  | "mining"
  | "structure";

export interface Finding {
  readonly pattern_id: string;
  readonly severity: Severity;
  readonly category: Category;
  readonly file: string;
  /** Counted from 1; 0 for findings about the whole file or skill. */
  readonly line: number;
  readonly match: string;
  readonly description: string;
  /** A critical rule matched, but nothing confirms it. */
  readonly unconfirmed?: boolean | undefined;
}

export type GuardVerdict = "safe" | "caution" | "dangerous";

export interface GuardReport {
  readonly verdict: GuardVerdict;
  readonly findings: readonly Finding[];
  readonly files: number;
  readonly bytes: number;
}

/** A file that the guard scans. */
export interface SkillFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly content: Uint8Array | string;
  /** Unix mode, when known. */
  readonly mode?: number | undefined;
  /** For symbolic links: the target, and whether it is inside the skill. */
  readonly link?: { readonly target: string; readonly state: "inside" | "outside" | "broken" };
}

export interface Pattern {
  readonly id: string;
  readonly category: Category;
  readonly severity: Severity;
  readonly description: string;
  /** Matched against each line and against joined continuation lines, ignoring case. */
  readonly match: RegExp;
  /** Restricts the rule to program files or to text. */
  readonly where?: "program" | "text" | undefined;
  /** True when the match is harmless. */
  readonly unless?: ((text: string) => boolean) | undefined;
  /** True when a preceding "never run …" turns the match into a warning. */
  readonly unlessWarned?: boolean | undefined;
}

/** A critical finding makes a skill dangerous; high and medium ones require caution; low ones are remarks. */
export function computeVerdict(findings: readonly Finding[]): GuardVerdict {
  if (findings.some((finding) => finding.severity === "critical")) return "dangerous";
  return findings.some((finding) => finding.severity !== "low") ? "caution" : "safe";
}
