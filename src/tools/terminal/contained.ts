// Runs commands on this machine in the container of the conversation; asks for the permissions they lack.
import {
  type ConversationContainer,
  describePermission,
  formatPermission,
  type Need,
  type ProgramCall,
} from "../../core/container.ts";
import type { Availability } from "../../core/tool/tool.ts";
import type { Backend, ExecRequest, ExecResult, RunningProcess, SpawnRequest } from "./backend.ts";
import { LocalBackend, type LocalOptions } from "./local.ts";

const MAX_PERMISSIONS = 5;
const WATCHED_CHARS = 16_000;

type Place = Pick<ExecRequest, "calls" | "exact" | "outside">;

export class ContainedBackend implements Backend {
  readonly name = "local";
  readonly container: ConversationContainer;
  readonly #inner: LocalBackend;

  constructor(options: Omit<LocalOptions, "contain" | "hostPath">, container: ConversationContainer) {
    this.container = container;
    this.#inner = new LocalBackend({
      ...options,
      hostPath: (path) => container.hostPath(path),
      contain: ({ cwd, stateFolder, request }) => {
        if (this.#isOutside(request)) return Promise.resolve(null);
        const { calls = [], exact } = request;
        return container.contain({
          cwd,
          folders: [stateFolder],
          local: calls.length > 0 && exact === true && container.areLocal(calls),
          changesRepositorySettings: exact === true && container.changesSettings(calls),
        });
      },
    });
  }

  get cwd(): string {
    return this.#inner.cwd;
  }

  get home(): string | undefined {
    return this.#inner.home;
  }

  get busy(): boolean {
    return this.#inner.busy;
  }

  available(): Promise<Availability> {
    return this.#inner.available();
  }

  #isOutside({ calls = [], exact, outside }: Place): boolean {
    return outside === true || (exact === true && this.container.runsOutside(calls));
  }

  /** Asks for what the programs of the command are known to need. Returns what was denied. */
  async #ask(calls: readonly ProgramCall[], permit: ExecRequest["permit"]): Promise<Need[]> {
    const denied: Need[] = [];
    for (const need of this.container.missing(calls)) {
      const answer = (await permit?.(need)) ?? "deny";
      if (answer === "deny") denied.push(need);
      else await this.container.allow(need.permission, answer);
    }
    return denied;
  }

  /** When the container denied something and the user allows it, the command runs again. */
  async run(request: ExecRequest): Promise<ExecResult> {
    if (request.stateless) return this.#inner.run(request);
    const before = this.cwd;
    const denied = await this.#ask(request.calls ?? [], request.permit);
    try {
      for (let asked = 0; ; asked++) {
        const { result, seen } = await this.#runOnce(request);
        if (result.exitCode === 0 || result.timedOut || result.interrupted) return result;
        const need = this.container.explainFailure(seen, [request.cwd ?? before, this.cwd]);
        if (!need) return denied[0] ? { ...result, note: denialNote(denied[0]) } : result;
        const known = denied.some((item) => formatPermission(item.permission) === formatPermission(need.permission));
        const answer = known || asked >= MAX_PERMISSIONS ? "deny" : ((await request.permit?.(need)) ?? "deny");
        if (answer === "deny") return { ...result, note: denialNote(need) };
        await this.container.allow(need.permission, answer);
        request.output.push(Buffer.from(`[allowed: ${formatPermission(need.permission)}; the command runs again]\n`));
      }
    } finally {
      this.container.endCommand();
    }
  }

  async #runOnce(request: ExecRequest): Promise<{ result: ExecResult; seen: string }> {
    let seen = "";
    const guarded = this.container.guard();
    const result = await this.#inner.run({
      ...request,
      onOutput: (text) => {
        seen = (seen + text).slice(-WATCHED_CHARS);
        request.onOutput?.(text);
      },
    });
    if (this.#isOutside(request)) return { result, seen };
    const held = await this.container.holdCreated(guarded);
    return { result: held.length > 0 ? { ...result, note: heldNote(held) } : result, seen };
  }

  spawn(request: SpawnRequest): Promise<RunningProcess> {
    return this.#inner.spawn(request);
  }

  async close(): Promise<void> {
    await this.#inner.close();
    await this.container.close();
  }
}

export function denialNote({ permission, reason }: Need): string {
  const text = formatPermission(permission);
  return `Stopped by the container: ${reason}. Do not work around it. The user can allow commands to ${describePermission(permission)}: hermes permissions grant ${text}`;
}

function heldNote(paths: readonly string[]): string {
  return `${paths.join(", ")}: programs of the user run these files by themselves, so new ones are not kept without permission; they are in /tmp/held now. The user can allow them: hermes permissions grant write:${paths[0]}`;
}
