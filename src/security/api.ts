// The security audit: unsafe settings, permanent permissions, file modes and clear-text secrets, each with a hint.
import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { Home } from "../core/home.ts";
import type { LoadedConfig } from "../core/settings.ts";
import { shellQuote } from "../lib/text/shell-quote.ts";
import { type ContainerFacts, containerFindings, declaredFindings, jobFindings } from "./audit-container.ts";
import type { AuditFinding, AuditSeverity } from "./audit-finding.ts";
import { createRedactor } from "./redact.ts";
import { isSecretName, isSecretValue } from "./secret-names.ts";

export interface AuditReport {
  /** False when something should be changed. */
  readonly ok: boolean;
  readonly findings: readonly AuditFinding[];
}

type Tree = { readonly [key: string]: unknown };

const TRUE = /^(1|true|yes|on)$/i;
const isOn = (value: unknown): boolean => value === true || (typeof value === "string" && TRUE.test(value));
const set = (key: string, value: string): string => `hermes config set ${key} ${value}`;

function at(tree: Tree, path: string): unknown {
  return path.split(".").reduce<unknown>((node, key) => (node as Tree | undefined)?.[key], tree);
}

/** Every value with its path, lists included. */
function values(tree: unknown, path: readonly string[] = []): { path: readonly string[]; value: unknown }[] {
  if (tree === null || typeof tree !== "object") return [{ path, value: tree }];
  return Object.entries(tree).flatMap(([key, value]) => values(value, [...path, key]));
}

/** Settings that are safe by default and reduce protection when changed. */
const SWITCHES: readonly {
  id: string;
  path: string;
  open: (value: unknown) => boolean;
  severity: AuditSeverity;
  what: string;
  value: string;
}[] = [
  {
    id: "approvals_off",
    path: "approvals.mode",
    open: (value) => value === "off" || value === false,
    severity: "high",
    what: "dangerous commands run without approval (approvals.mode is off)",
    value: "manual",
  },
  {
    id: "approvals_smart",
    path: "approvals.mode",
    open: (value) => value === "smart",
    severity: "info",
    what: "a model approves dangerous commands (approvals.mode is smart)",
    value: "manual",
  },
  {
    id: "cron_approves",
    path: "approvals.cron_mode",
    open: (value) => isOn(value) || /^(?:approve|off|allow)$/.test(String(value)),
    severity: "medium",
    what: "scheduled jobs run dangerous commands without approval",
    value: "deny",
  },
  {
    id: "subagents_approve",
    path: "delegation.subagent_auto_approve",
    open: isOn,
    severity: "medium",
    what: "subagents approve dangerous commands themselves",
    value: "false",
  },
  {
    id: "private_urls",
    path: "security.allow_private_urls",
    open: isOn,
    severity: "medium",
    what: "tools may fetch addresses of the local network",
    value: "false",
  },
  {
    id: "browser_private_urls",
    path: "browser.allow_private_urls",
    open: isOn,
    severity: "medium",
    what: "the browser may open addresses of the local network",
    value: "false",
  },
  {
    id: "redaction_off",
    path: "security.redact_secrets",
    open: (value) => value === false || /^(?:false|no|off|0)$/i.test(String(value)),
    severity: "high",
    what: "secrets are not masked in output and logs",
    value: "true",
  },
  {
    id: "inline_shell",
    path: "skills.inline_shell",
    open: isOn,
    severity: "medium",
    what: "skills may run shell commands while they are loaded",
    value: "false",
  },
];

function switchFindings(config: Tree): AuditFinding[] {
  return SWITCHES.filter((row) => row.open(at(config, row.path))).map((row) => ({
    id: row.id,
    severity: row.severity,
    what: row.what,
    hint: set(row.path, row.value),
  }));
}

function environmentFindings(env: Home["env"]): AuditFinding[] {
  const findings: AuditFinding[] = [];
  const add = (id: string, severity: AuditSeverity, what: string, hint: string): void =>
    void findings.push({ id, severity, what, hint });
  if (isOn(env.HERMES_YOLO_MODE))
    add(
      "yolo",
      "high",
      "HERMES_YOLO_MODE is set: dangerous commands run without approval",
      "remove HERMES_YOLO_MODE from the environment and .env",
    );
  if (isOn(env.HERMES_ACCEPT_HOOKS))
    add(
      "accept_hooks",
      "medium",
      "HERMES_ACCEPT_HOOKS is set: shell hooks run without consent",
      "remove HERMES_ACCEPT_HOOKS",
    );
  if (/^(?:0|false|no|off)$/i.test(env.HERMES_REDACT_SECRETS ?? ""))
    add("redaction_off", "high", "HERMES_REDACT_SECRETS turns masking off", "remove HERMES_REDACT_SECRETS");
  if (isOn(env.HERMES_ALLOW_PRIVATE_URLS))
    add(
      "private_urls",
      "medium",
      "HERMES_ALLOW_PRIVATE_URLS is set: tools may fetch addresses of the local network",
      "remove HERMES_ALLOW_PRIVATE_URLS",
    );
  for (const [name, value] of Object.entries(env)) {
    if (/_ALLOW_ALL_USERS$/.test(name) && isOn(value))
      add(
        "all_users",
        "high",
        `${name} lets anyone talk to the agent`,
        `remove ${name} and list the allowed users in ${name.replace("ALLOW_ALL_USERS", "ALLOWED_USERS")}`,
      );
    if (/^(?:API_SERVER|WEBHOOK|DASHBOARD|HERMES)\w*_HOST$/.test(name) && isOpenHost(value))
      add(
        "open_server",
        "high",
        `${name} binds a server to ${value}`,
        `set ${name}=127.0.0.1, or protect it with a strong key and a firewall`,
      );
  }
  return findings;
}

/** Reachable from other machines. */
function isOpenHost(value: unknown): boolean {
  if (typeof value !== "string" || value === "" || value === "localhost") return false;
  const host = value.replace(/^\[|\]$/g, "");
  if (host === "*" || host === "0.0.0.0" || host === "::") return true;
  return isIP(host) !== 0 && !/^127\.|^::1$/.test(host);
}

function configFindings(raw: Tree): AuditFinding[] {
  const redactor = createRedactor();
  const findings: AuditFinding[] = [];
  for (const { path, value } of values(raw)) {
    const name = path.join(".");
    const key = path.at(-1) ?? "";
    if (typeof value !== "string") continue;
    if (
      /^(?:host|bind|listen|bind_host|address)$/i.test(key) &&
      /server|webhook|dashboard|gateway|api/i.test(name) &&
      isOpenHost(value)
    )
      findings.push({
        id: "open_server",
        severity: "high",
        what: `${name} binds a server to ${value}`,
        hint: set(name, "127.0.0.1"),
      });
    if (isClearSecret(key, value, redactor.redact(value, { code: true }) !== value))
      findings.push({
        id: "secret_in_config",
        severity: "high",
        what: `config.yaml contains a clear-text secret at ${name}`,
        hint: "move it to .env and reference the variable",
      });
  }
  const allowed = raw.command_allowlist;
  if (Array.isArray(allowed) && allowed.length > 0) {
    const wide = allowed.filter((entry) => !String(entry).startsWith("exact ")).length;
    findings.push({
      id: "allow_list",
      severity: wide > 0 ? "low" : "info",
      what: `${allowed.length} commands are always allowed${wide > 0 ? `, ${wide} of them as a whole class of commands` : ""} (command_allowlist)`,
      hint: wide > 0 ? "review them: hermes config get command_allowlist" : null,
    });
  }
  return findings;
}

function isClearSecret(key: string, value: string, shaped: boolean): boolean {
  if (/^\$\{?\w+\}?$/.test(value.trim()) || !isSecretValue(value)) return false;
  return shaped || (isSecretName(key) && !/\s/.test(value) && value.length >= 8);
}

const PRIVATE_FILES: readonly { name: string; severity: AuditSeverity; mode: string }[] = [
  { name: "", severity: "medium", mode: "700" },
  { name: ".env", severity: "high", mode: "600" },
  { name: "auth.json", severity: "high", mode: "600" },
  { name: "config.yaml", severity: "medium", mode: "600" },
  { name: "state.db", severity: "medium", mode: "600" },
  { name: "runtime.db", severity: "medium", mode: "600" },
  { name: "sessions", severity: "low", mode: "700" },
  { name: "logs", severity: "low", mode: "700" },
];

async function fileFindings(home: string, uid: number | undefined): Promise<AuditFinding[]> {
  if (uid === undefined) return [];
  const findings: AuditFinding[] = [];
  const folderClosed = await stat(home).then(
    (info) => (info.mode & 0o077) === 0,
    () => false,
  );
  for (const { name, severity, mode } of PRIVATE_FILES) {
    const path = join(home, name);
    const info = await stat(path).catch(() => null);
    if (!info) continue;
    const what = fileProblem(info, uid);
    // In a private folder, files readable by others are a low risk; files writable by others never are.
    const level = folderClosed && name !== "" && (info.mode & 0o022) === 0 && severity !== "high" ? "low" : severity;
    if (what)
      findings.push({
        id: "file_mode",
        severity: level,
        what: `${path} ${what}`,
        hint:
          info.uid === uid
            ? `chmod ${mode} ${shellQuote(path)}`
            : `chown "$(id -un)" ${shellQuote(path)} && chmod ${mode} ${shellQuote(path)}`,
      });
  }
  return findings;
}

function fileProblem(info: Stats, uid: number): string | null {
  const mode = (info.mode & 0o777).toString(8).padStart(3, "0");
  if (info.uid !== uid) return `belongs to another user (mode ${mode})`;
  if ((info.mode & 0o022) !== 0) return `can be changed by other users (mode ${mode})`;
  return (info.mode & 0o077) !== 0 ? `can be read by other users (mode ${mode})` : null;
}

/** Without the grammar the gate cannot parse commands and blocks every unclear one. */
async function grammarFindings(): Promise<AuditFinding[]> {
  const { loadShellParser } = await import("./gate/shell/shell-parser.ts");
  const parse = await loadShellParser();
  if (parse("true") !== null) return [];
  const what = "the shell grammar could not be loaded, so harmless commands may be refused";
  return [{ id: "no_grammar", severity: "medium", what, hint: "reinstall Hermes" }];
}

const ORDER: readonly AuditSeverity[] = ["high", "medium", "low", "info"];

/** Inspects the home, its settings and the environment. Changes nothing. */
export async function securityAudit(
  home: Pick<Home, "path" | "env">,
  { config, raw, blocking }: Pick<LoadedConfig, "config" | "raw" | "blocking">,
  container?: ContainerFacts,
): Promise<AuditReport> {
  const findings = [
    ...blocking.map(
      ({ message }): AuditFinding => ({
        id: "broken_config",
        severity: "high",
        what: message.replace(/; (?:using [^;]*|left out)$/, ""),
        hint: "hermes config edit",
      }),
    ),
    ...switchFindings(config as unknown as Tree),
    ...environmentFindings(home.env),
    ...configFindings(raw),
    ...(container ? containerFindings(container) : []),
    ...declaredFindings(raw),
    ...(await jobFindings(home.path)),
    ...(await fileFindings(home.path, process.getuid?.())),
    ...(await grammarFindings()),
  ];
  const seen = new Set<string>();
  const unique = findings.filter((finding) => !seen.has(finding.what) && seen.add(finding.what));
  unique.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
  return {
    ok: !unique.some((finding) => finding.severity === "high" || finding.severity === "medium"),
    findings: unique,
  };
}
