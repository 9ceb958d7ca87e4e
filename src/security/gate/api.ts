// Explains what the gate and the container do with a command, without running it.
import { homedir } from "node:os";
import type { Config } from "../../core/config/config.ts";
import type { ContainerState } from "../../core/container.ts";
import type { GateContext } from "../../core/gate.ts";
import type { Home } from "../../core/home.ts";
import { absentHuman } from "../../core/human.ts";
import { analyseCommand } from "./analyse.ts";
import { effectsBeyond, privilegedEffects, uncontainedEffects } from "./containment.ts";
import { type Effect, worstLevel } from "./effects.ts";
import { describePolicy, parsePolicies } from "./policies.ts";
import { applyPolicies, policySubject } from "./policy-check.ts";
import { loadShellParser } from "./shell/shell-parser.ts";

export interface Explanation {
  readonly command: string;
  /** Where the command would run. */
  readonly place: "container" | "machine";
  /** What happens when a user can answer, and when no user can. */
  readonly attended: Outcome;
  readonly unattended: Outcome;
  /** Everything that was found, whether it decides or not. */
  readonly found: readonly { readonly rule: string; readonly class: string; readonly reason: string }[];
}

export interface Outcome {
  readonly decision: "runs" | "asks" | "refused";
  readonly because: string;
}

type Settings = Pick<Config, "approvals" | "terminal">;

function outcomeOf(effects: readonly Effect[], present: boolean, settings: Settings, contained: boolean): Outcome {
  const hard = effects.find(({ level }) => level === "hardline");
  if (hard) return { decision: "refused", because: `it ${hard.reason}; this is never allowed (rule ${hard.rule})` };
  const [first] = effects.filter(({ level }) => level === "dangerous");
  if (!first)
    return { decision: "runs", because: contained ? "nothing of it reaches beyond the container" : "no rule stops it" };
  const because = `it ${first.reason} (class ${first.category}, rule ${first.rule})`;
  if (settings.approvals.mode === "off") return { decision: "runs", because: `${because}; approvals.mode is off` };
  if (present) return { decision: "asks", because };
  if (settings.approvals.program.trim() !== "")
    return { decision: "asks", because: `${because}; approvals.program answers` };
  return { decision: "refused", because: `${because}, and nobody can be asked` };
}

export async function explainCommand(
  command: string,
  home: Pick<Home, "path" | "env" | "cwd">,
  settings: { readonly config: Settings; readonly state: ContainerState },
): Promise<Explanation> {
  const { config, state } = settings;
  const userHome = home.env.HOME ?? homedir();
  const host = { userHome, hermesHome: home.path, cwd: home.cwd, workspace: home.cwd };
  const analysis = analyseCommand(command, host, await loadShellParser());
  const contained = state.kind === "contained" && config.terminal.backend === "local";
  const isOpen = state.kind === "none" && config.terminal.backend === "local";
  const more = isOpen ? uncontainedEffects(analysis) : contained ? privilegedEffects(analysis) : [];
  const effects = [...analysis.effects, ...more];
  const outcome = (present: boolean): Outcome => {
    const human = { ...absentHuman, present };
    const context: Pick<GateContext, "toolName" | "human"> = { toolName: "terminal", human };
    const intent = { kind: "command", command, cwd: home.cwd, backend: config.terminal.backend } as const;
    const ruled = applyPolicies(parsePolicies(config.approvals.policies), policySubject(intent, effects, context));
    if ("denied" in ruled) return { decision: "refused", because: describePolicy(ruled.denied) };
    const left = contained ? effectsBeyond(ruled.effects, human) : ruled.effects;
    if (analysis.refusal !== undefined && (!contained || worstLevel(left) === "dangerous"))
      return { decision: "refused", because: analysis.refusal };
    const result = outcomeOf(left, present, config, contained);
    const rule = ruled.decision && result.decision !== "runs" ? `; decided by ${describePolicy(ruled.decision)}` : "";
    return { ...result, because: `${result.because}${rule}` };
  };
  return {
    command,
    place: contained ? "container" : "machine",
    attended: outcome(true),
    unattended: outcome(false),
    found: effects.map(({ rule, category, reason }) => ({ rule, class: category, reason })),
  };
}
