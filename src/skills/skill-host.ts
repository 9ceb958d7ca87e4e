// The dependencies of the skills, provided by app/.
import type { Gate } from "../core/gate.ts";

export interface SkillSettings {
  readonly templateVars: boolean;
  readonly inlineShell: boolean;
  readonly inlineShellSeconds: number;
  /** Absolute paths of existing folders. */
  readonly externalDirs: readonly string[];
  /** Folders of skills that plugins registered. */
  readonly pluginDirs: readonly string[];
  disabled(platform: string | undefined): ReadonlySet<string>;
  /** The value at `skills.config.<key>`; undefined when not set. */
  value(key: string): unknown;
  /** Also quarantine changes with the verdict `caution`, not only dangerous ones. */
  readonly strictGuard: boolean;
}

export type ShellOutcome =
  | { readonly kind: "done"; readonly stdout: string; readonly stderr: string; readonly code: number }
  | { readonly kind: "timeout" }
  | { readonly kind: "refused"; readonly reason: string };

export type TextChange =
  | { readonly ok: true; readonly text: string; readonly count: number }
  | { readonly ok: false; readonly error: string };

export interface SkillHost {
  /** HERMES_HOME. */
  readonly home: string;
  /** `process.platform`. */
  readonly system: string;
  readonly gate: Gate;
  /** The folder of bundled skills; null when missing or not wanted. */
  readonly bundled: string | null;
  /** The build id of the bundled skills; undefined when they may change without a new build. */
  readonly bundledBuild?: string | undefined;
  settings(): SkillSettings;
  /** Single skills of plugins: `plugin:name` and the path of the SKILL.md. */
  pluginSkills(): readonly { readonly name: string; readonly path: string }[];
  /** Expands `~` and `${VAR}` in a setting. */
  expand(text: string): string;
  /** The current value in the home's `.env`, otherwise in the environment; an empty value counts as unset. */
  variable(name: string): Promise<string | undefined>;
  /** Stores a value in `.env` and adds it to the redactor. */
  storeVariable(name: string, value: string): Promise<void>;
  /** Passes a variable to the conversation's commands; false when it is a secret of Hermes itself. */
  declare(conversationId: string, name: string, value: string): boolean;
  /** Adds the secrets in a credential file to the redactor. */
  protect(path: string): void;
  shell(
    command: string,
    options: { readonly cwd: string; readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<ShellOutcome>;
  hasCommand(name: string): Promise<boolean>;
  /** The tolerant text replacement of the file tools. */
  replace(
    text: string,
    options: { readonly oldText: string; readonly newText: string; readonly all: boolean },
  ): Promise<TextChange>;
  notice(text: string): void;
}
