// Prepares the text of a SKILL.md for the agent: fills in placeholders and, when enabled, runs shell snippets.
import type { GateContext } from "../core/gate.ts";
import type { SkillHost } from "./skill-host.ts";

const MAX_OUTPUT = 4_000;
/** An exclamation mark directly before a code span of one line. */
const SNIPPET = /!`([^`\n]+)`/g;

export interface PreprocessContext {
  readonly dir: string;
  readonly sessionId: string;
  readonly gate: GateContext;
}

export function fillPlaceholders(text: string, values: { readonly dir: string; readonly sessionId: string }): string {
  const filled = text.replaceAll(/\$\{HERMES_SKILL_DIR\}/g, () => values.dir);
  return values.sessionId === "" ? filled : filled.replaceAll(/\$\{HERMES_SESSION_ID\}/g, () => values.sessionId);
}

function cut(text: string): string {
  return text.length > MAX_OUTPUT ? `${text.slice(0, MAX_OUTPUT)}...[truncated]` : text;
}

async function runSnippet(host: SkillHost, command: string, context: PreprocessContext): Promise<string> {
  const { inlineShellSeconds } = host.settings();
  const verdict = await host.gate.check({ kind: "command", command, cwd: context.dir, backend: "local" }, context.gate);
  if (!verdict.allowed) return `[inline-shell error: ${verdict.message}]`;
  const outcome = await host.shell(command, {
    cwd: context.dir,
    timeoutMs: inlineShellSeconds * 1000,
    signal: context.gate.signal,
  });
  if (outcome.kind === "timeout") return `[inline-shell timeout after ${inlineShellSeconds}s: ${command}]`;
  if (outcome.kind === "refused") return `[inline-shell error: ${outcome.reason}]`;
  const output = (outcome.stdout.trim() === "" ? outcome.stderr : outcome.stdout).replace(/\n+$/, "");
  if (outcome.code === 0) return cut(output);
  return `[inline-shell error: exit code ${outcome.code}${output === "" ? "" : `: ${cut(output)}`}]`;
}

/** Runs snippets one after the other through the gate; a failure leaves a marker and does not stop the skill. */
export async function preprocess(host: SkillHost, text: string, context: PreprocessContext): Promise<string> {
  const settings = host.settings();
  const filled = settings.templateVars ? fillPlaceholders(text, context) : text;
  if (!settings.inlineShell) return filled;
  let result = "";
  let from = 0;
  for (const match of filled.matchAll(SNIPPET)) {
    result += filled.slice(from, match.index) + (await runSnippet(host, match[1] ?? "", context));
    from = match.index + match[0].length;
  }
  return result + filled.slice(from);
}
