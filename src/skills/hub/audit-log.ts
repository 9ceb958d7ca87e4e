// Writes `skills/.hub/audit.log`: one line for every installed, removed or refused skill.
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { hubFolders } from "./hub-folders.ts";

export interface AuditLine {
  readonly action: "INSTALL" | "UPDATE" | "UNINSTALL" | "BLOCKED" | "FORGET";
  readonly name: string;
  readonly source: string;
  readonly trust: string;
  readonly verdict: string;
  readonly extra?: string | undefined;
}

/** Untrusted text must not break the line or the columns. */
function word(text: string): string {
  const plain = text.replaceAll(/[\p{C}\s]+/gu, "_").slice(0, 200);
  return plain === "" ? "-" : plain;
}

export async function appendAudit(skillsDir: string, now: Date, line: AuditLine): Promise<void> {
  const { hub } = await hubFolders(skillsDir);
  const time = now.toISOString().replace(/\.\d+Z$/, "Z");
  const extra = line.extra
    ? ` ${line.extra
        .replaceAll(/[\p{C}\s]+/gu, " ")
        .trim()
        .slice(0, 300)}`
    : "";
  const text = `${time} ${line.action} ${word(line.name)} ${word(line.source)}:${word(line.trust)} ${word(line.verdict)}${extra}\n`;
  await appendFile(join(hub, "audit.log"), text, { mode: 0o600 });
}
