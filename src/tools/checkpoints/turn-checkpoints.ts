// Takes checkpoints before files change: once per project and turn. Failures never stop the work.
import { dirname } from "node:path";
import type { ToolContext } from "../../core/tool/tool.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";
import { projectHash, projectRoot, rootProblem } from "./project-root.ts";
import { keepNewest, type PruneRules, prune, pruneIsDue } from "./prune.ts";
import type { ShadowStore } from "./shadow-store.ts";
import { type SnapshotLimits, take } from "./snapshot.ts";

export interface CheckpointParts {
  readonly store: ShadowStore;
  readonly limits: SnapshotLimits;
  readonly rules: PruneRules;
  readonly autoPrune: boolean;
  readonly minIntervalHours: number;
  readonly userHome: string;
  readonly hermesHome: string;
  /** True for every conversation; otherwise only after `enable`. */
  readonly enabled: boolean;
  /** True for a command that may delete or overwrite files. */
  isDestructive(command: string, cwd: string): boolean | Promise<boolean>;
  redact(text: string): string;
  /** Called once for each reason why a checkpoint could not be taken. */
  notice(text: string): void;
}

/** More than the turns that run at the same time. */
const MAX_SESSIONS = 2_000;

export interface CheckpointedCommand {
  readonly command: string;
  /** It runs in a container. */
  readonly contained: boolean;
}

export class TurnCheckpoints {
  readonly #parts: CheckpointParts;
  readonly #conversations = new Set<string>();
  /** Projects with a checkpoint in the current turn, by session. */
  readonly #taken = new Map<string, Set<string>>();
  readonly #reported = new Set<string>();
  readonly #closing = new AbortController();
  #pruning: Promise<void> | undefined;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  /** Enables checkpoints for one conversation. */
  enable(conversationId: string): void {
    this.#conversations.add(conversationId);
  }

  beginTurn(sessionId: string): void {
    this.#taken.delete(sessionId);
  }

  async beforeChange(path: string, context: ToolContext): Promise<void> {
    await this.#take(dirname(path), `before a change of ${path}`, context, { include: path });
  }

  /**
   * A contained command runs without a question when no user can answer, so it is preceded by a checkpoint, whatever it
   * is: a function or a search path of an earlier command may have changed what it does. Otherwise only destructive
   * commands are.
   */
  async beforeCommand({ command, contained }: CheckpointedCommand, context: ToolContext): Promise<void> {
    const always = contained && (!context.human.present || context.tainted);
    if (!always && !this.#active(context)) return;
    if (!always && !(await this.#parts.isDestructive(command, context.cwd))) return;
    const folder = always ? (context.workspace ?? context.cwd) : context.cwd;
    await this.#take(folder, `before: ${this.#parts.redact(command)}`, context, { always });
  }

  /** The changes of a script are not known in advance. Without a user present a checkpoint is taken in any case. */
  async beforeScript(context: ToolContext): Promise<void> {
    await this.#take(context.workspace ?? context.cwd, "before a script", context, { always: !context.human.present });
  }

  #active(context: ToolContext): boolean {
    return this.#parts.enabled || this.#conversations.has(context.conversationId);
  }

  #report(root: string, reason: string): void {
    const text = `No checkpoint of ${root}: ${reason}.`;
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#parts.notice(text);
  }

  /** Never throws. */
  async #take(
    folder: string,
    reason: string,
    context: ToolContext,
    options: { readonly include?: string | undefined; readonly always?: boolean } = {},
  ): Promise<void> {
    const active = this.#active(context);
    if (!active && !options.always) return;
    const { include } = options;
    // A machine without git takes no checkpoints; that is not reported for each home that never enabled them.
    const report = (root: string, why: string) =>
      active || why !== "git is not installed" ? this.#report(root, why) : undefined;
    const { store, limits, rules, userHome, hermesHome } = this.#parts;
    let root = folder;
    try {
      root = projectRoot(folder, userHome);
      const taken = this.#taken.get(context.sessionId) ?? new Set<string>();
      rememberNewest(this.#taken, context.sessionId, taken, MAX_SESSIONS);
      if (taken.has(root)) return;
      taken.add(root);
      const problem = rootProblem(root, { userHome, hermesHome });
      if (problem !== undefined) return report(root, problem);
      const result = await underSignals([context.signal, this.#closing.signal], undefined, (signal) =>
        store.locked(async () => {
          const done = await take(store, { root, reason, limits, signal, include });
          if (done.ok && done.fresh) await keepNewest(store, projectHash(root), rules.maxSnapshots);
          return done;
        }),
      );
      if (!result.ok) report(root, result.reason);
      else if (result.fresh) this.#pruneInBackground();
    } catch (error) {
      if (!context.signal.aborted) report(root, errorMessage(error));
    }
  }

  /** Prunes when the interval has passed or the store exceeds its size limit. */
  #pruneInBackground(): void {
    const { store, rules, autoPrune, minIntervalHours } = this.#parts;
    if (!autoPrune || this.#pruning) return;
    const work = async () => {
      const over = rules.maxTotalBytes > 0 && (await store.objectBytes()) > rules.maxTotalBytes;
      if (over || (await pruneIsDue(store, minIntervalHours)))
        await store.locked(() => prune(store, rules, this.#closing.signal));
    };
    this.#pruning = work()
      .catch((error) => {
        if (!this.#closing.signal.aborted) this.#report(store.path, `cleaning up failed: ${errorMessage(error)}`);
      })
      .finally(() => {
        this.#pruning = undefined;
      });
  }

  /** Stops a running clean-up. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#pruning;
  }
}
