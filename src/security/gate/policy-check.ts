// Applies the policies to what the gate has found about an action.
import type { ProgramCall } from "../../core/container.ts";
import type { GateContext, Intent } from "../../core/gate.ts";
import type { Analysis, Effect } from "./effects.ts";
import { decidePolicy, describePolicy, type Policy, type PolicyDecision, type PolicySubject } from "./policies.ts";

/** Tools and their toolsets, as far as they ask the gate. */
const TOOLSETS: Readonly<Record<string, string>> = {
  terminal: "terminal",
  process: "terminal",
  execute_code: "code_execution",
  read_file: "file",
  write_file: "file",
  patch: "file",
  search_files: "file",
  web_extract: "web",
  web_search: "web",
  memory: "memory",
  cronjob: "cronjob",
  send_message: "messaging",
};

function hostsIn(text: string): string[] {
  return [...text.matchAll(/\b(?:https?|ssh|git|ftp|wss?):\/\/(?:[^\s/@"']*@)?([\w.-]+)|\b[\w.-]+@([\w.-]+):/g)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
}

function textOf(intent: Intent): string {
  if (intent.kind === "command") return intent.command;
  if (intent.kind === "input") return intent.text;
  if (intent.kind === "code") return intent.code;
  if (intent.kind === "fetch") return intent.url;
  return intent.kind === "read" || intent.kind === "write" ? intent.path : intent.summary;
}

export function policySubject(
  intent: Intent,
  effects: readonly Effect[],
  context: Pick<GateContext, "toolName" | "human">,
  realPath?: string,
): PolicySubject {
  const text = textOf(intent);
  return {
    tool: context.toolName,
    toolset: TOOLSETS[context.toolName],
    platform: context.human.platform ?? context.human.surface ?? "cli",
    text,
    effects,
    paths: realPath === undefined ? effects.flatMap(({ targets }) => targets) : [realPath],
    hosts: intent.kind === "read" || intent.kind === "write" ? [] : hostsIn(text),
  };
}

export type PolicyResult =
  | { readonly denied: PolicyDecision }
  | { readonly effects: readonly Effect[]; readonly decision?: PolicyDecision | undefined };

/** `allow` removes the effects of its class, or all of them; `ask` adds one; hardline effects are never removed. */
export function applyPolicies(policies: readonly Policy[], subject: PolicySubject): PolicyResult {
  const decision = decidePolicy(policies, subject);
  if (!decision) return { effects: subject.effects };
  if (decision.action === "deny") return { denied: decision };
  if (decision.action === "allow") {
    const { class: name } = decision.policy;
    const effects = subject.effects.filter(
      ({ level, category }) => level !== "dangerous" || (name !== undefined && category !== name),
    );
    return { effects, decision };
  }
  // The built-in rule only keeps the effects that it is about.
  if (decision.number === 0) return { effects: subject.effects, decision };
  const asked: Effect = {
    rule: "policy",
    category: "policy",
    level: "dangerous",
    reason: `needs approval by ${describePolicy(decision)}`,
    targets: [],
  };
  return { effects: [...subject.effects, asked], decision };
}

/** The programs of a command, and whether they are all of it: nothing computed, no files written by the shell. */
export function programCalls({ invocations, readable }: Analysis): { calls: ProgramCall[]; exact: boolean } {
  const calls = invocations
    .filter(({ name }) => !name.dynamic)
    .map(({ name, args }) => ({ name: name.text, args: args.map((arg) => arg.text) }));
  const exact =
    readable &&
    calls.length === invocations.length &&
    invocations.every(
      ({ args, redirects, assigned, upstream, stdin }) =>
        redirects.length === 0 &&
        assigned.length === 0 &&
        upstream.length === 0 &&
        stdin === undefined &&
        args.every((arg) => !arg.dynamic && arg.inner === undefined),
    );
  return { calls, exact };
}
