// Looks for smuggled instructions in text that enters the prompt or memory. The security part supplies it.

export interface ScanFinding {
  readonly rule: string;
  readonly severity: "low" | "medium" | "high";
}

/** `text` comes back with the suspicious spans quarantined, the rest untouched. `source` names the file or entry. */
export type Scan = (
  text: string,
  source: string,
) => { readonly text: string; readonly findings: readonly ScanFinding[] };

export const noScan: Scan = (text) => ({ text, findings: [] });
