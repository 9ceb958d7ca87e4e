// The key of the API server, and whether a server answers.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { readPlatformSettings } from "../../core/chat/platform-settings.ts";
import { decodeEnvFile, parseEnvFile } from "../../core/config/env-file.ts";
import type { Home } from "../../core/home.ts";
import type { Settings } from "../../core/settings.ts";
import { API_SERVER_SETTINGS, DEFAULT_HOST, DEFAULT_PORT } from "./settings.ts";

const KEY = "API_SERVER_KEY";

export interface ApiKey {
  readonly key: string;
  /** The file that holds the key. */
  readonly path: string;
  /** True when the key was created by this call. */
  readonly made: boolean;
}

type ApiSettings = Pick<Settings, "path" | "envPath" | "load" | "setEnv">;

async function readStoredKey(settings: ApiSettings): Promise<string | undefined> {
  const text = await readFile(settings.envPath).then(decodeEnvFile, () => "");
  return parseEnvFile(text).get(KEY);
}

async function loadSetting(home: Home, settings: ApiSettings): Promise<(name: string) => string | undefined> {
  const { config } = await settings.load();
  return readPlatformSettings({ home, config }, "api_server", API_SERVER_SETTINGS).setting;
}

async function findKey(home: Home, settings: ApiSettings): Promise<ApiKey | undefined> {
  const own = home.env[KEY] || (await readStoredKey(settings));
  if (own) return { key: own, path: settings.envPath, made: false };
  const configured = (await loadSetting(home, settings))(KEY);
  return configured ? { key: configured, path: settings.path, made: false } : undefined;
}

/** The key of this home; created from 32 random bytes and stored in `.env` when there is none, or when `renew` is set. */
export async function ensureApiKey(
  home: Home,
  settings: ApiSettings,
  options: { readonly renew?: boolean | undefined } = {},
): Promise<ApiKey> {
  const known = options.renew ? undefined : await findKey(home, settings);
  if (known) return known;
  const key = randomBytes(32).toString("base64url");
  await settings.setEnv(KEY, key);
  return { key, path: settings.envPath, made: true };
}

export interface ServerState {
  readonly url: string;
  readonly reachable: boolean;
  /** The server's own status; null when it did not accept the key. */
  readonly detail: unknown;
  readonly problem?: string | undefined;
}

/** Asks the server for its status, with a short time-out. Its address comes from `where`, else from the settings. */
export async function serverState(
  home: Home,
  settings: ApiSettings,
  where: { readonly host?: string | undefined; readonly port?: number | undefined } = {},
): Promise<ServerState> {
  const setting = await loadSetting(home, settings);
  const configured = where.host ?? setting("API_SERVER_HOST") ?? DEFAULT_HOST;
  const host = configured === "0.0.0.0" || configured === "::" ? DEFAULT_HOST : configured;
  const port = where.port ?? (Number(setting("API_SERVER_PORT")) || DEFAULT_PORT);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const key = (await findKey(home, settings))?.key ?? "";
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
