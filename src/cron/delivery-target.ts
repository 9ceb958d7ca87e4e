// Parses the `deliver` field of a job, checks it when a job is created, and resolves it to chats when the job runs.
import { UserError } from "../core/failure.ts";
import type { Deliverer, DeliveryTarget, Job, JobOrigin } from "../core/job.ts";
import { nearest } from "../lib/nearest.ts";

export type TargetText =
  | { readonly kind: "local" | "origin" | "all" }
  | { readonly kind: "platform"; readonly platform: string; readonly reference?: string; readonly thread?: string };

/** Matrix and Yuanbao ids contain colons. */
function splitReference(platform: string, rest: string): { reference: string; thread?: string } {
  if (platform === "matrix") {
    const [reference = rest, thread] = rest.split(/:(?=\$)/);
    return { reference, ...(thread ? { thread } : {}) };
  }
  const prefix = platform === "yuanbao" ? (/^(?:group|direct):/.exec(rest)?.[0] ?? "") : "";
  const [reference = "", ...thread] = rest.slice(prefix.length).split(":");
  return { reference: prefix + reference, ...(thread.length > 0 && thread[0] ? { thread: thread.join(":") } : {}) };
}

/** The targets of a text, without duplicates and blanks. */
export function splitTargets(deliver: string): string[] {
  return [...new Set(deliver.split(",").map((target) => target.trim()))].filter((target) => target !== "");
}

/** An empty text means `local`. */
export function parseTargets(deliver: string): TargetText[] {
  const texts = splitTargets(deliver);
  return (texts.length > 0 ? texts : ["local"]).map((target) => {
    const lower = target.toLowerCase();
    if (lower === "local" || lower === "origin" || lower === "all") return { kind: lower };
    const colon = target.indexOf(":");
    if (colon < 0) return { kind: "platform", platform: lower };
    const platform = lower.slice(0, colon);
    return { kind: "platform", platform, ...splitReference(platform, target.slice(colon + 1)) };
  });
}

/** True when results are only stored and no platform is needed. */
export function isLocalOnly(deliver: string): boolean {
  return parseTargets(deliver).every((target) => target.kind === "local");
}

function homeChannels(deliverer: Deliverer): DeliveryTarget[] {
  return deliverer
    .known()
    .filter((platform) => deliverer.problem(platform) === undefined)
    .flatMap((platform) => deliverer.home(platform) ?? []);
}

function originTarget(origin: JobOrigin): DeliveryTarget {
  return { platform: origin.platform, chatId: origin.chat_id, threadId: origin.thread_id || undefined };
}

type Resolved = DeliveryTarget | { readonly error: string };

async function platformTarget(
  target: Extract<TargetText, { kind: "platform" }>,
  origin: JobOrigin | null,
  deliverer: Deliverer,
): Promise<Resolved> {
  const { platform, reference, thread } = target;
  if (!deliverer.known().includes(platform)) {
    const guess = nearest(platform, ["local", "origin", "all", ...deliverer.known()]);
    return { error: `there is no platform "${platform}"${guess ? ` (did you mean "${guess}"?)` : ""}` };
  }
  const problem = deliverer.problem(platform);
  if (problem !== undefined) return { error: problem };
  if (reference === undefined || reference === "") {
    if (origin?.platform === platform) return originTarget(origin);
    return (
      deliverer.home(platform) ?? {
        error: `${platform} has no home channel: name a chat (${platform}:<chat>) or set its home channel`,
      }
    );
  }
  const found = await deliverer.resolve(platform, reference);
  if (found === undefined) return { error: `${platform} has no chat "${reference}"` };
  return { ...found, ...(thread ? { threadId: thread } : {}) };
}

async function resolveTarget(target: TargetText, origin: JobOrigin | null, deliverer: Deliverer): Promise<Resolved[]> {
  switch (target.kind) {
    case "local":
      return [];
    case "platform":
      return [await platformTarget(target, origin, deliverer)];
    case "all": {
      const all = homeChannels(deliverer);
      return all.length > 0 ? all : [{ error: "no platform has a home channel, so `all` has no target" }];
    }
    case "origin": {
      if (origin) {
        const problem = deliverer.problem(origin.platform);
        return [problem === undefined ? originTarget(origin) : { error: problem }];
      }
      const [home] = homeChannels(deliverer);
      return [home ?? { error: "this job was not created in a chat and no platform has a home channel" }];
    }
    default:
      return [];
  }
}

export interface ResolvedTargets {
  readonly targets: readonly DeliveryTarget[];
  readonly errors: readonly string[];
}

/** The chats that receive the result of a job, each once, and the targets that cannot be reached. */
export async function resolveTargets(
  job: Pick<Job, "deliver" | "origin">,
  deliverer: Deliverer,
): Promise<ResolvedTargets> {
  const targets = new Map<string, DeliveryTarget>();
  const errors: string[] = [];
  const parsed = parseTargets(job.deliver);
  // With the origin as a target, `all` means the other platforms: the chat would get the result twice.
  const covered = parsed.some(({ kind }) => kind === "origin") ? job.origin?.platform : undefined;
  for (const target of parsed) {
    for (const found of await resolveTarget(target, job.origin, deliverer)) {
      if (target.kind === "all" && "platform" in found && found.platform === covered) continue;
      if ("error" in found) errors.push(found.error);
      else targets.set([found.platform, found.chatId, found.threadId ?? ""].join("\n"), found);
    }
  }
  return { targets: [...targets.values()], errors };
}

/** Throws UserError when a target cannot be reached at the moment. */
export async function checkTargets(job: Pick<Job, "deliver" | "origin">, deliverer: Deliverer): Promise<void> {
  const { errors } = await resolveTargets(job, deliverer);
  if (errors.length === 0) return;
  throw new UserError(`The result cannot be delivered to "${job.deliver}": ${errors.join("; ")}.`, {
    hint: "Use local (a file only), origin (this chat), all, or platform[:chat[:thread]] of a platform that is set up.",
    exitCode: 2,
  });
}
