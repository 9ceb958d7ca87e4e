// What `hermes api` does beside serving: the key, and whether a server answers.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { openSettings } from "../../config/api.ts";
import { envPath, setEnvValue } from "../../config/env-write.ts";
import { configPath } from "../../config/load.ts";
import { decodeEnvFile, parseEnvFile } from "../../core/config/env-file.ts";
import type { Home } from "../../core/home.ts";
import { readPlatformSettings } from "../../delivery/platform-settings.ts";
import { API_SERVER_SETTINGS, DEFAULT_HOST, DEFAULT_PORT } from "./settings.ts";

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

async function settings(home: Home): Promise<(name: string) => string | undefined> {
  const { config } = await openSettings(home).load();
  return readPlatformSettings({ home, config }, "api_server", API_SERVER_SETTINGS).setting;
}

async function findKey(home: Home): Promise<ApiKey | undefined> {
  const own = home.env[KEY] || (await keptKey(home));
  if (own) return { key: own, path: envPath(home), made: false };
  const configured = (await settings(home))(KEY);
  return configured ? { key: configured, path: configPath(home), made: false } : undefined;
}

/** The key of this home; made from 32 random bytes and kept in `.env` when there is none, or when `renew` is set. */
export async function ensureApiKey(
  home: Home,
  options: { readonly renew?: boolean | undefined } = {},
): Promise<ApiKey> {
  const known = options.renew ? undefined : await findKey(home);
  if (known) return known;
  const key = randomBytes(32).toString("base64url");
  await setEnvValue(home, KEY, key);
  return { key, path: envPath(home), made: true };
}

export interface ServerState {
  readonly url: string;
  readonly reachable: boolean;
  /** What the server says about itself; null when it did not accept the key. */
  readonly detail: unknown;
  readonly problem?: string | undefined;
}

/** Asks the server itself, with a short deadline; where it is, the settings say, unless `where` does. */
export async function serverState(
  home: Home,
  where: { readonly host?: string | undefined; readonly port?: number | undefined } = {},
): Promise<ServerState> {
  const setting = await settings(home);
  const asked = where.host ?? setting("API_SERVER_HOST") ?? DEFAULT_HOST;
  const host = asked === "0.0.0.0" || asked === "::" ? DEFAULT_HOST : asked;
  const port = where.port ?? (Number(setting("API_SERVER_PORT")) || DEFAULT_PORT);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const key = (await findKey(home))?.key ?? "";
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
