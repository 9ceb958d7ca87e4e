// What skills need from outside this part; the application hands it over.
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
  /** The value at `skills.config.<key>`; undefined when nobody set it. */
  value(key: string): unknown;
  /** Doubtful changes by the agent are set aside too, not only dangerous ones. */
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
  /** The skills that come with the program; null when they are missing or not wanted. */
  readonly bundled: string | null;
  /** Version and build of the program they came with; undefined when they may change without a new one. */
  readonly bundledBuild?: string | undefined;
  settings(): SkillSettings;
  /** Single skills of plugins: `plugin:name` and the path of its SKILL.md. */
  pluginSkills(): readonly { readonly name: string; readonly path: string }[];
  /** `~` and `${VAR}` in a setting's text. */
  expand(text: string): string;
  /** From the home's `.env` as it is now, else from the environment; empty counts as unset. */
  variable(name: string): Promise<string | undefined>;
  /** Keeps a value in `.env` and masks it everywhere from now on. */
  storeVariable(name: string, value: string): Promise<void>;
  /** Lets the conversation's commands see a variable; false when the name is the program's own secret. */
  declare(conversationId: string, name: string, value: string): boolean;
  /** Masks everywhere what looks like a secret in a file with credentials. */
  protect(path: string): void;
  shell(
    command: string,
    options: { readonly cwd: string; readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<ShellOutcome>;
  hasCommand(name: string): Promise<boolean>;
  /** The forgiving replacement of the file tools. */
  replace(
    text: string,
    options: { readonly oldText: string; readonly newText: string; readonly all: boolean },
  ): Promise<TextChange>;
  notice(text: string): void;
}
