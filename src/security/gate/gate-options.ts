// What the gate is opened with: settings that may change while it runs, and the parts that it asks.
import type { Judge } from "../../core/gate.ts";
import type { Hooks } from "../../core/hook.ts";
import type { PathGuard } from "../path-guard.ts";
import type { UrlPolicy } from "../url-guard.ts";
import type { ApprovalProgram } from "./approval-program.ts";
import type { Policy } from "./policies.ts";

export interface GatePolicy {
  readonly mode: "manual" | "smart" | "off";
  /** HERMES_YOLO_MODE or `--yolo`, for the whole process. */
  readonly yolo: boolean;
  /** Time limit for the user's answer. */
  readonly approvalTimeoutMs: number;
  /** SUDO_PASSWORD is set: Hermes supplies it to `sudo -S`. */
  readonly sudoPassword: boolean;
  /** `approvals.policies`. */
  readonly policies?: readonly Policy[] | undefined;
  /** Answers instead of the user. */
  readonly program?: ApprovalProgram | undefined;
}

export interface GateOptions {
  readonly userHome: string;
  readonly hermesHome: string;
  readonly pathGuard: PathGuard;
  /** Called at every check, because settings may change while the process runs. */
  readonly policy: () => GatePolicy;
  readonly urlPolicy?: (() => UrlPolicy) | undefined;
  /** `command_allowlist` of the configuration. */
  readonly allowlist?: Iterable<string> | undefined;
  /** Stores an "always" answer in the configuration. */
  readonly remember?: ((entry: string) => Promise<void>) | undefined;
  readonly judge?: Judge | undefined;
  readonly judgeTimeoutMs?: number | undefined;
  readonly hooks?: Hooks | undefined;
}
