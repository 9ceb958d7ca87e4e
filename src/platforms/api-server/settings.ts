// The API server's settings, read and checked before it listens.
import { hostname } from "node:os";
import type { PlatformSetting } from "../../core/chat/platform.ts";
import { UserError } from "../../core/failure.ts";
import { isLoopback, weakKey } from "../http/guards.ts";
import { readPort } from "../http/listen.ts";

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 8642;
const DEFAULT_MODEL = "hermes-agent";
/** Names by which programs in containers reach this machine; no public name server answers for them. */
const CONTAINER_HOSTS = ["host.docker.internal", "gateway.docker.internal", "host.containers.internal"];

export const API_SERVER_SETTINGS: readonly PlatformSetting[] = [
  { env: "API_SERVER_ENABLED", key: "enabled", description: "Serve the OpenAI-compatible API from the gateway" },
  { env: "API_SERVER_KEY", key: "key", description: "Key that clients must send; created when absent", secret: true },
  { env: "API_SERVER_HOST", key: "host", description: "Address to listen on (127.0.0.1)" },
  { env: "API_SERVER_PORT", key: "port", description: "Port to listen on (8642)" },
  { env: "API_SERVER_CORS_ORIGINS", key: "cors_origins", description: "Origins of web pages that may call, by comma" },
  { env: "API_SERVER_ALLOWED_HOSTS", key: "allowed_hosts", description: "Host names by which clients may call" },
  {
    env: "API_SERVER_MODEL_NAME",
    key: "model_name",
    description: "Name of the model in listings (the profile's, else hermes-agent)",
  },
];

export interface ApiServerSettings {
  readonly host: string;
  readonly port: number;
  readonly key: string;
  readonly corsOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly modelName: string;
}

type Lookup = (name: string) => string | undefined;

export function parseList(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim().toLowerCase().replace(/\/$/, ""))
    .filter((item) => item !== "");
}

/** `profile` is the default model name. Throws when other machines could connect and the key is too weak. */
export function readApiServerSettings(setting: Lookup, key: string, profile = "default"): ApiServerSettings {
  const host = setting("API_SERVER_HOST")?.trim() || DEFAULT_HOST;
  const weak = weakKey(key);
  if (key === "") throw new UserError("the API server has no key", { hint: "Create one: hermes api key --new" });
  if (weak !== undefined && !isLoopback(host))
    throw new UserError(`the API server will not listen on ${host}: API_SERVER_KEY is too weak, ${weak}`, {
      hint: "Create a new key: hermes api key --new, or listen on 127.0.0.1.",
    });
  return {
    host,
    port: readPort(setting("API_SERVER_PORT"), DEFAULT_PORT, "API_SERVER_PORT"),
    key,
    corsOrigins: parseList(setting("API_SERVER_CORS_ORIGINS")),
    allowedHosts: [
      hostname().toLowerCase(),
      host.toLowerCase(),
      ...CONTAINER_HOSTS,
      ...parseList(setting("API_SERVER_ALLOWED_HOSTS")),
    ],
    modelName: setting("API_SERVER_MODEL_NAME")?.trim() || (profile === "default" ? DEFAULT_MODEL : profile),
  };
}
