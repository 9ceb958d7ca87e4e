// What the gate still decides about a command in a container: only what reaches beyond it.
import type { Human } from "../../core/human.ts";
import type { Analysis, Category, Effect } from "./effects.ts";
import { isReadOnlyCall } from "./read-only-programs.ts";
import { programName } from "./shell/shell-types.ts";

/** Effects on other machines, other people, or with another account's rights. */
const BEYOND: ReadonlySet<Category> = new Set([
  "sudo",
  "remote",
  "sql",
  "publishing",
  "policy",
  "durable",
  "guest",
  "address",
]);
/** Loss of work in the workspace. An attending user is asked; otherwise a checkpoint is taken first. */
const LOSS: ReadonlySet<Category> = new Set(["deletion", "git"]);

/** The effects that matter although the command is contained. */
export function effectsBeyond(effects: readonly Effect[], human: Human): Effect[] {
  return effects.filter(
    ({ category, level }) => level !== "dangerous" || BEYOND.has(category) || (human.present && LOSS.has(category)),
  );
}

const UNCONTAINED = {
  rule: "uncontained_program",
  category: "execution",
  level: "dangerous",
  targets: [],
} as const;

/** Without a container every program that does more than read needs approval. */
export function uncontainedEffects(analysis: Analysis): Effect[] {
  const other = analysis.invocations.find((invocation) => !isReadOnlyCall(invocation));
  if (!other && analysis.readable) return [];
  const what = other ? `runs ${other.name.text}` : "cannot be read completely";
  const reason = `${what} with all permissions of your account, because there is no container here (hermes doctor tells why; terminal.container: host declares the machine the boundary)`;
  return [{ ...UNCONTAINED, reason }];
}

const PRIVILEGED = new Set(["sudo", "doas", "pkexec", "su", "runuser", "gosu"]);

/** A privileged command leaves the container, so it needs approval whatever it does. */
export function privilegedEffects({ invocations }: Analysis): Effect[] {
  const found = invocations.find((invocation) => PRIVILEGED.has(programName(invocation)));
  if (!found) return [];
  const reason = "runs outside the container with the rights of another account";
  return [{ rule: "leaves_container", category: "sudo", level: "dangerous", reason, targets: [] }];
}

/** What a container of docker or another machine does not stop. */
export function effectsOnOthers(effects: readonly Effect[]): Effect[] {
  return effects.filter(
    ({ category, level }) => level !== "dangerous" || category === "publishing" || category === "policy",
  );
}
