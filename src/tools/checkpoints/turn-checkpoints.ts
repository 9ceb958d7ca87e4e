// When checkpoints are taken: before a file or a command changes a project, once per project and turn, never in the way.
import { dirname } from "node:path";
import type { ToolContext } from "../../core/tool.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
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
  /** On for every conversation; else only for those that ask. */
  readonly enabled: boolean;
  /** True for a command that looks as if it destroyed or overwrote files. */
  isDestructive(command: string, cwd: string): boolean | Promise<boolean>;
  redact(text: string): string;
  /** Said once per reason: a checkpoint that could not be taken never stops the work. */
  notice(text: string): void;
}

/** More turns than ever run at once. */
const MOST_SESSIONS = 2_000;

export class TurnCheckpoints {
  readonly #parts: CheckpointParts;
  readonly #conversations = new Set<string>();
  /** Projects already kept in the current turn, by session. */
  readonly #kept = new Map<string, Set<string>>();
  readonly #said = new Set<string>();
  readonly #closing = new AbortController();
  #tidying: Promise<void> | undefined;

  constructor(parts: CheckpointParts) {
    this.#parts = parts;
  }

  /** For a conversation that asked for checkpoints while they are off in general. */
  enable(conversationId: string): void {
    this.#conversations.add(conversationId);
  }

  beginTurn(sessionId: string): void {
    this.#kept.delete(sessionId);
  }

  async beforeChange(path: string, context: ToolContext): Promise<void> {
    await this.#keep(dirname(path), `before a change of ${path}`, context, { include: path });
  }

  async beforeCommand(command: string, context: ToolContext): Promise<void> {
    if (!this.#active(context) || !(await this.#parts.isDestructive(command, context.cwd))) return;
    await this.#keep(context.cwd, `before: ${this.#parts.redact(command)}`, context);
  }

  /** What a script will change is not known; when nobody is there to watch it, the project is kept in any case. */
  async beforeScript(context: ToolContext): Promise<void> {
    await this.#keep(context.workspace ?? context.cwd, "before a script", context, { always: !context.human.present });
  }

  #active(context: ToolContext): boolean {
    return this.#parts.enabled || this.#conversations.has(context.conversationId);
  }

  #say(root: string, reason: string): void {
    const text = `No checkpoint of ${root}: ${reason}.`;
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#parts.notice(text);
  }

  /** Never throws. */
  async #keep(
    folder: string,
    reason: string,
    context: ToolContext,
    options: { readonly include?: string | undefined; readonly always?: boolean } = {},
  ): Promise<void> {
    const active = this.#active(context);
    if (!active && !options.always) return;
    const { include } = options;
    // Who has not asked for checkpoints is not told about those that could not be taken.
    const say = (root: string, why: string) => (active ? this.#say(root, why) : undefined);
    const { store, limits, rules, userHome, hermesHome } = this.#parts;
    let root = folder;
    try {
      root = projectRoot(folder, userHome);
      const kept = this.#kept.get(context.sessionId) ?? new Set<string>();
      rememberNewest(this.#kept, context.sessionId, kept, MOST_SESSIONS);
      if (kept.has(root)) return;
      kept.add(root);
      const problem = rootProblem(root, { userHome, hermesHome });
      if (problem !== undefined) return say(root, problem);
      const taken = await underSignals([context.signal, this.#closing.signal], undefined, (signal) =>
        store.locked(async () => {
          const done = await take(store, { root, reason, limits, signal, ...(include ? { include } : {}) });
          if (done.ok && done.fresh) await keepNewest(store, projectHash(root), rules.maxSnapshots);
          return done;
        }),
      );
      if (!taken.ok) say(root, taken.reason);
      else if (taken.fresh) this.#tidy();
    } catch (error) {
      if (!context.signal.aborted) say(root, error instanceof Error ? error.message : String(error));
    }
  }

  /** In the background: when it is time, or when the store is over its budget. */
  #tidy(): void {
    const { store, rules, autoPrune, minIntervalHours } = this.#parts;
    if (!autoPrune || this.#tidying) return;
    const work = async () => {
      const over = rules.maxTotalBytes > 0 && (await store.objectBytes()) > rules.maxTotalBytes;
      if (over || (await pruneIsDue(store, minIntervalHours)))
        await store.locked(() => prune(store, rules, this.#closing.signal));
    };
    this.#tidying = work()
      .catch((error) => {
        if (!this.#closing.signal.aborted) this.#say(store.path, `cleaning up failed: ${error.message ?? error}`);
      })
      .finally(() => {
        this.#tidying = undefined;
      });
  }

  /** Ends a clean-up that is under way; what it has done stays. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#tidying;
  }
}
