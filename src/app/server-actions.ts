// What `hermes api` does beside serving: the key, and whether a server answers.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { decodeEnvFile, parseEnvFile } from "../config/env-file.ts";
import { envPath, setEnvValue } from "../config/env-write.ts";
import type { Home } from "./home.ts";

const KEY = "API_SERVER_KEY";

export interface ApiKey {
  readonly key: string;
  /** Where it is kept. */
  readonly path: string;
  /** It was made just now. */
  readonly made: boolean;
}

async function keptKey(home: Home): Promise<string | undefined> {
  const text = await readFile(envPath(home)).then(decodeEnvFile, () => "");
  return parseEnvFile(text).get(KEY);
}

/** The key of this home; made from 32 random bytes and kept in `.env` when there is none, or when `renew` is set. */
export async function ensureApiKey(home: Home, options: { readonly renew?: boolean } = {}): Promise<ApiKey> {
  const path = envPath(home);
  const known = home.env[KEY] || (await keptKey(home));
  if (known && !options.renew) return { key: known, path, made: false };
  const key = randomBytes(32).toString("base64url");
  await setEnvValue(home, KEY, key);
  return { key, path, made: true };
}

export interface ServerState {
  readonly url: string;
  readonly reachable: boolean;
  /** What the server says about itself; null when it did not accept the key. */
  readonly detail: unknown;
  readonly problem?: string;
}

/** Asks the server itself, with a short deadline. */
export async function serverState(
  home: Home,
  where: { readonly host: string; readonly port: number },
): Promise<ServerState> {
  const url = `http://${where.host.includes(":") ? `[${where.host}]` : where.host}:${where.port}`;
  const key = home.env[KEY] || (await keptKey(home)) || "";
  try {
    const answer = await fetch(`${url}/health/detailed`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(3_000),
    });
    if (answer.ok) return { url, reachable: true, detail: await answer.json() };
    const problem = answer.status === 401 ? "it has another key than this home" : `it answered ${answer.status}`;
    return { url, reachable: true, detail: null, problem };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { url, reachable: false, detail: null, problem: cause };
  }
}
