// Looks for smuggled instructions in text that enters the prompt or memory. The security part supplies it.

export interface ScanFinding {
  readonly rule: string;
  readonly severity: "low" | "medium" | "high";
}

/** Returns `text` with the suspicious spans quarantined and the rest unchanged. `source` names the file or entry. */
export type Scan = (
  text: string,
  source: string,
) => { readonly text: string; readonly findings: readonly ScanFinding[] };

export const noScan: Scan = (text) => ({ text, findings: [] });
