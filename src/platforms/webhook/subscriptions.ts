// webhook_subscriptions.json: routes added by command. Read again when the file changes.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../core/failure.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { withFileLock } from "../../lib/file-lock.ts";

/** One entry of the file. */
export interface Subscription {
  readonly description?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly secret: string;
  readonly prompt?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly deliver?: string | undefined;
  readonly deliver_only?: boolean | undefined;
  readonly deliver_extra?: { readonly [key: string]: string };
  readonly created_at?: string | undefined;
}

export type Subscriptions = { readonly [name: string]: Subscription };

export function subscriptionsPath(homePath: string): string {
  return join(homePath, "webhook_subscriptions.json");
}

/** Empty when there is no file; an unreadable file is an error, so that it is never overwritten. */
export async function readSubscriptions(path: string): Promise<Subscriptions> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Subscriptions;
  } catch (error) {
    throw new UserError(`${path} is not JSON`, { hint: "Correct it by hand, or move it away.", cause: error });
  }
  throw new UserError(`${path} does not contain a map of routes`, { hint: "Correct it by hand, or move it away." });
}

export async function changeSubscriptions(
  path: string,
  change: (before: Subscriptions) => Subscriptions,
): Promise<Subscriptions> {
  return withFileLock(path, async () => {
    const after = change(await readSubscriptions(path));
    await atomicWrite(path, `${JSON.stringify(after, null, 2)}\n`, 0o600);
    return after;
  });
}

/** The current content of the file; parsed again only after a change. */
export class SubscriptionFile {
  readonly #path: string;
  #known: Subscriptions = {};
  #stamp = "";

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the last valid content when the file cannot be read. */
  async current(onProblem: (text: string) => void): Promise<Subscriptions> {
    const info = await stat(this.#path).catch(() => undefined);
    const stamp = info ? `${info.mtimeMs}:${info.size}:${info.ino}` : "";
    if (stamp === this.#stamp) return this.#known;
    this.#stamp = stamp;
    try {
      this.#known = await readSubscriptions(this.#path);
    } catch (error) {
      onProblem(errorMessage(error));
    }
    return this.#known;
  }
}
