// What the guard reports: findings with their place, and a verdict.

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
  /** From 1; 0 for findings about the whole file or skill. */
  readonly line: number;
  readonly match: string;
  readonly description: string;
}

export type GuardVerdict = "safe" | "caution" | "dangerous";

export interface GuardReport {
  readonly verdict: GuardVerdict;
  readonly findings: readonly Finding[];
  readonly files: number;
  readonly bytes: number;
}

/** A file as the guard sees it. */
export interface SkillFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly content: Uint8Array | string;
  /** Unix mode, when it is known. */
  readonly mode?: number | undefined;
  /** For symbolic links: where it points, and whether that is inside the skill. */
  readonly link?: { readonly target: string; readonly state: "inside" | "outside" | "broken" };
}

export interface Pattern {
  readonly id: string;
  readonly category: Category;
  readonly severity: Severity;
  readonly description: string;
  /** Tried on each line, and on lines joined where a script continues them. Case does not matter. */
  readonly match: RegExp;
  /** Only in files that are programs, or only in text that the agent reads. */
  readonly where?: "program" | "text" | undefined;
  /** The found text is honest after all. */
  readonly unless?: ((text: string) => boolean) | undefined;
  /** A person who writes "never run …" before it means the opposite. */
  readonly unlessWarned?: boolean | undefined;
}

/** Any critical finding is dangerous; high and medium ones ask for care; low ones are remarks. */
export function verdictOf(findings: readonly Finding[]): GuardVerdict {
  if (findings.some((finding) => finding.severity === "critical")) return "dangerous";
  return findings.some((finding) => finding.severity !== "low") ? "caution" : "safe";
}
