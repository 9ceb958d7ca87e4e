// The gate: decides about every command, program, file access, URL and durable change.
import { resolve } from "node:path";
import type { Gate, GateContext, Intent, Verdict } from "../../core/gate.ts";
import { noHooks } from "../../core/hook.ts";
import type { PathRequest } from "../path-guard.ts";
import { findProtectedRoots } from "../protected-paths.ts";
import { expandHome } from "../real-path.ts";
import { checkUrl } from "../url-guard.ts";
import { AllowList, intentKey } from "./allow-list.ts";
import { analyseCommand, analyseProgram } from "./analyse.ts";
import { analyseInput } from "./analyse-input.ts";
import { askJudge, askUser } from "./consent.ts";
import { effectsBeyond, effectsOnOthers, privilegedEffects, uncontainedEffects } from "./containment.ts";
import { Denials } from "./denials.ts";
import { type Analysis, type Effect, isUnchecked, worstLevel } from "./effects.ts";
import {
  buildApprovalRequest,
  describeAction,
  type GateCase,
  joinReasons,
  UNCONTAINED,
  withTaintOrigin,
} from "./gate-case.ts";
import type { GateOptions } from "./gate-options.ts";
import { type ExecutionIntent, GuestAccess, type PathIntent } from "./guest-access.ts";
import {
  guestReason,
  instructionWrites,
  isAskedFor,
  taintedInstructions,
  writesInstructions,
} from "./lasting-change.ts";
import type { Policy } from "./policies.ts";
import { applyPolicies, policySubject, programCalls } from "./policy-check.ts";
import { isInstructionFile, proposalFor } from "./proposed-change.ts";
import { blocked, denied, deniedByPolicy, NO_VARIANTS, refuseUnreadable, SPLIT, UNDECIDED } from "./refusals.ts";
import { HOME_RULES } from "./rules/protected-path-rules.ts";
import { isOutside } from "./rules/vital-paths.ts";
import { loadShellParser } from "./shell/shell-parser.ts";

export interface SecurityGate extends Gate {
  /** `/yolo`: for one session only. */
  setYolo(sessionId: string, on: boolean): void;
}

/** Backends in which a command cannot reach this machine. */
const CONTAINERS = new Set(["docker", "podman", "singularity", "apptainer", "modal", "daytona", "vercel_sandbox"]);

/** For guests, commands of these categories always need the owner's approval, in every mode. */
const OWNERS_ONLY: ReadonlySet<Effect["category"]> = new Set(["self", "credentials"]);

function isGuest({ human }: GateContext): boolean {
  return human.guest === true;
}

function isElsewhere(intent: Intent): boolean {
  return "backend" in intent && CONTAINERS.has(intent.backend);
}

class PolicyGate implements SecurityGate {
  readonly #options: GateOptions;
  readonly #allow: AllowList;
  readonly #denials = new Denials();
  readonly #guests: GuestAccess;
  readonly #yolo = new Set<string>();
  readonly #asking = new Map<string, Promise<Verdict>>();

  constructor(options: GateOptions) {
    this.#guests = new GuestAccess({ userHome: options.userHome, hermesHome: options.hermesHome });
    this.#options = options;
    this.#allow = new AllowList(options.allowlist ?? []);
  }

  beginTurn(sessionId: string): void {
    this.#denials.begin(sessionId);
  }

  setYolo(sessionId: string, on: boolean): void {
    if (on) this.#yolo.add(sessionId);
    else this.#yolo.delete(sessionId);
  }

  async check(intent: Intent, context: GateContext): Promise<Verdict> {
    if (intent.kind === "fetch") return this.#underPolicies(intent, context) ?? this.#checkFetch(intent.url);
    if (intent.kind === "durable" || intent.kind === "send")
      return this.#underPolicies(intent, context) ?? this.#checkTainted(intent, context);
    if (intent.kind === "read" || intent.kind === "write") return this.#checkPath(intent, context);
    const found = await this.#analyse(intent, context);
    const ruled = applyPolicies(this.#policies(), policySubject(intent, found.effects, context));
    if ("denied" in ruled) return deniedByPolicy(ruled.denied);
    const analysis = {
      ...found,
      effects: intent.contained ? effectsBeyond(ruled.effects, context.human) : ruled.effects,
    };
    const level = worstLevel(analysis.effects);
    if (analysis.refusal !== undefined && level !== "hardline" && !(intent.contained && level !== "dangerous"))
      return refuseUnreadable(analysis.refusal);
    const key = intentKey(
      analysis.effects,
      intent.cwd,
      `${intent.kind === "code" ? `${intent.language} ` : ""}${analysis.normal}`,
    );
    const { effects, outside } = analysis;
    const verdict = await this.#decide({ intent, context, effects, key, action: describeAction(intent) });
    if (!verdict.allowed) return verdict;
    const isApproved = verdict.how === "approved" || verdict.how === "allow_list";
    const leaves = intent.contained && isApproved && effects.some(({ category }) => category === "sudo");
    return {
      ...verdict,
      ...(intent.kind === "command" && intent.contained !== undefined ? programCalls(analysis) : {}),
      ...(outside === null ? {} : { outside }),
      ...(leaves ? { leaves } : {}),
    };
  }

  #policies(): readonly Policy[] {
    return this.#options.policy().policies ?? [];
  }

  /** The refusal by a policy, for actions without effects. */
  #underPolicies(intent: Intent, context: GateContext, path?: string): Verdict | undefined {
    const ruled = applyPolicies(this.#policies(), policySubject(intent, [], context, path));
    return "denied" in ruled ? deniedByPolicy(ruled.denied) : undefined;
  }

  async #analyse(intent: ExecutionIntent, context: GateContext): Promise<Analysis> {
    const found = await this.#analyseFor(intent, context);
    const lasting = context.tainted ? instructionWrites(intent, found, context, this.#options) : [];
    const analysis = { ...found, effects: [...found.effects, ...lasting] };
    // Commands in a container cannot reach the home.
    if (!isGuest(context) || (intent.kind === "command" && CONTAINERS.has(intent.backend))) return analysis;
    const more = await this.#guests.effects(intent, analysis, context.workspace);
    return { ...analysis, effects: [...analysis.effects, ...more] };
  }

  async #analyseFor(intent: ExecutionIntent, context: GateContext): Promise<Analysis> {
    const parse = await loadShellParser();
    const isRemote = intent.kind === "command" && intent.backend !== "local";
    const host = {
      userHome: this.#options.userHome,
      hermesHome: this.#options.hermesHome,
      cwd: resolve(context.workspace ?? "/", expandHome(intent.cwd, this.#options.userHome)),
      // The workspace is a local folder; on another machine the folder of the command is used instead.
      workspace: isRemote ? undefined : context.workspace || undefined,
      guest: context.human.guest ?? false,
    };
    if (intent.kind === "input") return analyseInput(intent, host, parse);
    if (intent.kind === "command") {
      const analysis = analyseCommand(intent.command, host, parse);
      if (intent.contained === undefined) return analysis;
      const more = intent.contained ? privilegedEffects(analysis) : uncontainedEffects(analysis);
      return { ...analysis, effects: [...analysis.effects, ...more] };
    }
    const analysis = analyseProgram(intent.language, intent.code, host, parse);
    return intent.contained === false ? { ...analysis, effects: [...analysis.effects, UNCONTAINED] } : analysis;
  }

  #checkFetch(url: string): Verdict {
    const verdict = checkUrl(url, this.#options.urlPolicy?.() ?? {});
    if (verdict.ok) return { allowed: true, how: "harmless" };
    return { allowed: false, status: "blocked", rule: verdict.rule, message: `Blocked: ${verdict.reason}.` };
  }

  /** Injected text must not be stored or sent: in a tainted turn these need the user's approval in every mode. */
  async #checkTainted(intent: Extract<Intent, { kind: "durable" | "send" }>, context: GateContext): Promise<Verdict> {
    const because = intent.kind === "durable" ? (intent.because ?? guestReason(intent, context)) : undefined;
    if (!context.tainted && because === undefined) return { allowed: true, how: "harmless" };
    if (because === undefined && isAskedFor(intent, context)) return { allowed: true, how: "approved" };
    const what = intent.kind === "send" ? "message" : intent.what;
    const does = intent.kind === "send" ? `write to ${intent.to}` : `change ${what}`;
    const effect: Effect = {
      rule: context.tainted ? `tainted_${what}` : `consent_${what}`,
      category: "durable",
      level: "dangerous",
      reason: [
        because,
        context.tainted
          ? `would ${does} after reading untrusted text${context.origin ? ` (${context.origin})` : ""}`
          : "",
      ]
        .filter(Boolean)
        .join("; "),
      targets: [intent.kind === "send" ? intent.to : what],
    };
    const key = `exact [${effect.rule}] in session: ${intent.summary}`;
    const earlier = this.#denials.find(context.sessionId, key, [effect]);
    if (earlier && context.human.present) return denied(earlier, "the user already denied this in this turn.");
    return this.#ask({ intent, context, effects: [effect], key, action: `${what}: ${intent.summary}` }, [
      "once",
      "deny",
    ]);
  }

  async #checkPath(intent: PathIntent, context: GateContext): Promise<Verdict> {
    if (isGuest(context)) {
      const refused = await this.#guests.refusedPath(intent, context.toolName, context.workspace);
      if (refused) {
        this.#denials.record(context.sessionId, "", [refused]);
        const message = `Blocked: ${refused.reason}. ${NO_VARIANTS}`;
        return { allowed: false, status: "blocked", rule: refused.rule, message };
      }
    }
    const guard = this.#options.pathGuard;
    const request: PathRequest = {
      // The only files of the home that remain for guests at this point are those attached to their conversations.
      policy: isGuest(context) && !(await this.#guests.isInHome(intent)) ? "guest" : "owner",
      workspace: context.workspace,
    };
    const verdict = await guard[intent.kind](intent.path, intent.cwd, request);
    const ruled = applyPolicies(this.#policies(), policySubject(intent, [], context, verdict.realPath));
    if ("denied" in ruled) return deniedByPolicy(ruled.denied);
    const [asked] = ruled.effects;
    const category = intent.kind === "write" ? "protected_file" : "credentials";
    const targets = [verdict.realPath];
    const removal = this.#removalOutside(intent, verdict.realPath);
    const stopping = removal ?? asked;
    if (verdict.action === "allow" && stopping) {
      const action = removal ? `delete, move or empty ${verdict.realPath}` : `${intent.kind} ${verdict.realPath}`;
      const key = intentKey([stopping], intent.cwd, action);
      return this.#decide({ intent, context, effects: [stopping], key, action });
    }
    if (verdict.action === "allow") {
      if (intent.kind === "write" && context.tainted && isInstructionFile(verdict.realPath)) {
        const effect = taintedInstructions(verdict.realPath, context);
        const action = `write ${verdict.realPath}`;
        const key = `exact [${effect.rule}] in session: ${action}`;
        return this.#ask({ intent, context, effects: [effect], key, action }, ["once", "deny"]);
      }
      const note: Effect = { rule: `${intent.kind}_file`, category, level: "note", reason: "", targets };
      const earlier = this.#denials.find(context.sessionId, "", [note]);
      return earlier
        ? denied(earlier, "the same action was already denied in this turn.")
        : { allowed: true, how: "harmless" };
    }
    const effect: Effect = { rule: verdict.rule, category, level: "dangerous", reason: verdict.reason, targets };
    if (verdict.action === "deny") {
      this.#denials.record(context.sessionId, "", [effect]);
      const message = `Blocked: ${verdict.reason}.`;
      const refused = { allowed: false, status: "blocked", rule: verdict.rule, message } as const;
      return this.#keep({ intent, context, effects: [effect], key: "", action: "" }, refused);
    }
    const key = intentKey([effect], intent.cwd, `${intent.kind} ${verdict.realPath}`);
    return this.#decide({ intent, context, effects: [effect], key, action: `${intent.kind} ${verdict.realPath}` });
  }

  /** As for `rm`: removing files outside the workspace needs approval. */
  #removalOutside(intent: PathIntent, path: string): Effect | undefined {
    if (intent.kind !== "write" || !intent.removes) return undefined;
    const { userHome, hermesHome } = this.#options;
    const host = {
      userHome,
      hermesHome,
      cwd: intent.cwd,
      workspace: intent.workspace || undefined,
    };
    if (!isOutside(path, host)) return undefined;
    return {
      rule: "delete_outside",
      category: "deletion",
      level: "dangerous",
      reason: "deletes files outside the working folder",
      targets: [path],
    };
  }

  async #decide(subject: GateCase): Promise<Verdict> {
    const { intent, context, effects, key } = subject;
    const policy = this.#options.policy();
    const hard = effects.find((effect) => effect.level === "hardline");
    if (hard) {
      this.#denials.record(context.sessionId, key, effects);
      return blocked(hard);
    }
    const earlier = this.#denials.find(context.sessionId, key, effects);
    if (earlier) return denied(earlier, "the same action was already denied in this turn.");
    if (isElsewhere(intent) && worstLevel(effectsOnOthers(effects)) !== "dangerous")
      return { allowed: true, how: "sandboxed" };
    const sudo = effects.find(
      (effect) => effect.rule === "sudo_flags" && effect.targets.some((flag) => /S|stdin/.test(flag)),
    );
    if (sudo && !policy.sudoPassword)
      return {
        allowed: false,
        status: "blocked",
        rule: sudo.rule,
        message:
          "Blocked: sudo may not read a guessed or piped password. Use plain sudo; Hermes asks the user for the password or uses SUDO_PASSWORD.",
      };
    // In a tainted turn, changes to Hermes' own files need approval every time, in every mode.
    if (context.tainted && effects.some((effect) => HOME_RULES.has(effect.rule) || writesInstructions(effect)))
      return this.#ask(withTaintOrigin(subject), ["once", "deny"]);
    if (worstLevel(effects) !== "dangerous") return { allowed: true, how: "harmless" };
    if (this.#approvalsOff(context, effects)) {
      // An unchecked command may contain a hardline effect, so it is refused even with approvals off.
      const unchecked = effects.find(isUnchecked);
      if (!unchecked) return { allowed: true, how: "mode_off" };
      const message = `Blocked: it ${unchecked.reason}. ${SPLIT}`;
      return { allowed: false, status: "blocked", rule: unchecked.rule, message };
    }
    if (this.#allow.allows(context.sessionId, key, effects)) return { allowed: true, how: "allow_list" };
    if (policy.mode === "smart" && this.#options.judge && !isGuest(context)) {
      const judgement = await askJudge(this.#options.judge, subject.action, joinReasons(effects), {
        timeoutMs: this.#options.judgeTimeoutMs ?? 30_000,
        signal: context.signal,
      });
      if (judgement === "approve") {
        this.#allow.addForSession(context.sessionId, key);
        return { allowed: true, how: "approved" };
      }
      if (judgement === "deny") return this.#refuse(subject, "the smart-mode check denied it.");
    }
    return this.#ask(subject, ["once", "session", "always", "deny"]);
  }

  /** True when approvals are off. For guests, some categories still need the owner's approval. */
  #approvalsOff(context: GateContext, effects: readonly Effect[]): boolean {
    const { yolo, mode } = this.#options.policy();
    const off = yolo || mode === "off";
    if (!isGuest(context)) return off || this.#yolo.has(context.sessionId);
    return off && !effects.some(({ category, level }) => level !== "note" && OWNERS_ONLY.has(category));
  }

  /** Concurrent calls with the same key share one question. */
  #ask(subject: GateCase, choices: readonly ("once" | "session" | "always" | "deny")[]): Promise<Verdict> {
    const { context, key } = subject;
    const { human } = context;
    if (!human.present && !this.#options.policy().program) {
      human.onDenied?.(buildApprovalRequest(subject, choices));
      const why = `it ${joinReasons(subject.effects)}, and ${human.absence ?? "no user is available to approve it"}.`;
      return this.#keep(subject, this.#refuse(subject, why));
    }
    const name = `${context.sessionId}\n${key}`;
    const waiting = this.#asking.get(name);
    if (waiting) return waiting;
    const asking = this.#askOnce(subject, choices).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }

  async #askOnce(subject: GateCase, choices: readonly ("once" | "session" | "always" | "deny")[]): Promise<Verdict> {
    const { context, key } = subject;
    const { approvalTimeoutMs: timeoutMs, program } = this.#options.policy();
    const answer = await askUser(buildApprovalRequest(subject, choices), context, {
      hooks: this.#options.hooks ?? noHooks,
      timeoutMs,
      program,
    });
    if (answer.choice === "deny") {
      const silence = "unattended" in answer;
      const refused = this.#refuse(
        subject,
        silence
          ? (answer.why ?? "the user did not answer in time, which counts as a denial.")
          : `the ${isGuest(context) ? "owner" : "user"} denied it.`,
      );
      // The turn was aborted before an answer: a resumed turn may ask again.
      if (silence && context.signal.aborted) return { ...refused, message: UNDECIDED };
      return silence ? this.#keep(subject, refused) : refused;
    }
    if (answer.choice === "session" || answer.choice === "always") this.#allow.addForSession(context.sessionId, key);
    if (answer.choice === "always") {
      this.#allow.addPermanent(key);
      await this.#options.remember?.(key);
    }
    return { allowed: true, how: "approved" };
  }

  /** A lasting change without a decision is stored for review. */
  async #keep(subject: GateCase, refused: Extract<Verdict, { allowed: false }>): Promise<Verdict> {
    const { propose } = subject.context;
    const { hermesHomes } = findProtectedRoots(this.#options);
    const proposal = propose && proposalFor(subject, hermesHomes);
    if (!proposal) return refused;
    const id = await propose(proposal);
    const kept = `It is not done, but kept as proposal ${id}: the user can accept it with \`hermes review accept ${id}\` or /review. Tell the user, and continue without it.`;
    return { ...refused, message: `${refused.message} ${kept}` };
  }

  #refuse(subject: GateCase, why: string): Extract<Verdict, { allowed: false }> {
    const stopping = subject.effects.filter((effect) => effect.level === "dangerous");
    const [first] = stopping;
    if (first && stopping.every(isUnchecked))
      return { allowed: false, status: "denied", rule: first.rule, message: `Denied: ${why} ${SPLIT}` };
    this.#denials.record(subject.context.sessionId, subject.key, subject.effects);
    return denied(first?.rule ?? "denied", why);
  }
}

/** Creates the gate that every tool consults. */
export function createGate(options: GateOptions): SecurityGate {
  return new PolicyGate(options);
}
