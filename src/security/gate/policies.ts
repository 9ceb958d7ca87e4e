// The user's policies: rules by tool, toolset, command class, path, host and platform. The strictest matching rule wins.
import { matchesGlob } from "../../lib/text/match-glob.ts";
import type { Effect } from "./effects.ts";

export type PolicyAction = "allow" | "ask" | "deny";

/** All given conditions must match; a rule without conditions matches everything. */
export interface Policy {
  readonly action: PolicyAction;
  readonly tool?: string | undefined;
  readonly toolset?: string | undefined;
  /** A class of effects: publishing, deletion, sudo, remote, credentials … */
  readonly class?: string | undefined;
  /** A path or pattern, compared with the files that the action names. */
  readonly path?: string | undefined;
  readonly host?: string | undefined;
  /** cli, telegram, discord, cron … */
  readonly platform?: string | undefined;
  /** A pattern for the whole command. */
  readonly command?: string | undefined;
}

/** What the rules are compared with. */
export interface PolicySubject {
  readonly tool: string;
  readonly toolset?: string | undefined;
  readonly platform: string;
  readonly text: string;
  readonly effects: readonly Effect[];
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
}

export interface PolicyDecision {
  readonly action: PolicyAction;
  readonly policy: Policy;
  /** The number of the rule in the configuration, from 1; 0 for a built-in rule. */
  readonly number: number;
}

/** Publishing asks by default. A rule of the user for this class replaces it. */
export const DEFAULT_POLICIES: readonly Policy[] = [{ action: "ask", class: "publishing" }];

const STRICTNESS: readonly PolicyAction[] = ["deny", "ask", "allow"];
const KEYS = ["action", "tool", "toolset", "class", "path", "host", "platform", "command"] as const;

/** The rules of a configuration value. Throws a message for the user when one is malformed: rules must not be skipped. */
export function parsePolicies(value: readonly unknown[]): Policy[] {
  return value.map((item, index) => {
    const rule = item as { readonly [key: string]: unknown };
    const wrong = (why: string) => new Error(`approvals.policies: rule ${index + 1} ${why}`);
    if (typeof item !== "object" || item === null || Array.isArray(item)) throw wrong("is not a map");
    const unknown = Object.keys(rule).find((key) => !KEYS.some((known) => known === key));
    if (unknown !== undefined) throw wrong(`has the unknown key ${unknown}; there are ${KEYS.join(", ")}`);
    if (!STRICTNESS.some((action) => action === rule.action)) throw wrong("needs action: allow, ask or deny");
    const text = KEYS.find((key) => rule[key] !== undefined && typeof rule[key] !== "string");
    if (text !== undefined) throw wrong(`has a ${text} that is not a text`);
    return item as Policy;
  });
}

function matches(policy: Policy, subject: PolicySubject): boolean {
  const some = (pattern: string | undefined, values: readonly string[]) =>
    pattern === undefined || values.some((value) => matchesGlob(pattern, value));
  const classes = subject.effects.filter(({ level }) => level !== "note").map(({ category }) => category);
  return (
    some(policy.tool, [subject.tool]) &&
    some(policy.toolset, subject.toolset === undefined ? [] : [subject.toolset]) &&
    some(policy.class, classes) &&
    some(policy.platform, [subject.platform]) &&
    some(policy.path, subject.paths) &&
    some(policy.host, subject.hosts) &&
    some(policy.command, [subject.text])
  );
}

/** The strictest of the matching rules; the first of equal ones. Undefined when none matches. */
export function decidePolicy(policies: readonly Policy[], subject: PolicySubject): PolicyDecision | undefined {
  const numbered = policies.map((policy, index) => ({ policy, number: index + 1, action: policy.action }));
  const mine = numbered.filter(({ policy }) => matches(policy, subject));
  const builtIn = DEFAULT_POLICIES.filter(
    (policy) => matches(policy, subject) && !mine.some((own) => own.policy.class === policy.class),
  ).map((policy) => ({ policy, number: 0, action: policy.action }));
  const all = [...mine, ...builtIn];
  for (const action of STRICTNESS) {
    const found = all.find((decision) => decision.action === action);
    if (found) return found;
  }
  return undefined;
}

/** The rule as one line, for explanations. */
export function describePolicy({ policy, number, action }: PolicyDecision): string {
  const conditions = KEYS.filter((key) => key !== "action" && policy[key] !== undefined).map(
    (key) => `${key} ${policy[key]}`,
  );
  const where = number === 0 ? "the built-in rule" : `rule ${number} of approvals.policies`;
  return `${where}: ${action} ${conditions.join(", ") || "everything"}`;
}
