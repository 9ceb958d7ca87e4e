// Masks secrets, recognised by the name of the key or the shape of the value.
import { isSecretEnvName } from "./env-names.ts";

const SECRET_KEY = /(^|[_-])(api_?key|key|token|secret|password|passwd|credentials?|authorization|cookie)$/i;
const NOT_SECRET = /(^|_)(record_key|key_env|ssh_key|max_tokens|session_key)$/i;
const SHAPES = [
  /\b(sk|pk|rk|ghp|gho|ghu|ghs|xox[abposr]|glpat|hf|gsk|tvly|fc|AIza|AKIA|eyJ)[-_A-Za-z0-9]{12,}/,
  /\bBearer\s+\S{8,}/i,
  /:\/\/[^/\s:@]+:[^/\s@]+@/,
];

/** True for names such as api_key, TELEGRAM_BOT_TOKEN or Authorization. */
export function isSecretKey(name: string): boolean {
  if (NOT_SECRET.test(name)) return false;
  return SECRET_KEY.test(name) || (/^[A-Z0-9_]+$/.test(name) && isSecretEnvName(name));
}

export function looksSecret(value: string): boolean {
  return SHAPES.some((shape) => shape.test(value));
}

/** Keeps the last four characters of a long secret; references such as `${NAME}` stay readable. */
export function maskSecret(value: string): string {
  if (value === "" || /^\$\{\w+\}$/.test(value)) return value;
  return value.length >= 16 ? `***${value.slice(-4)}` : "***";
}

/** A copy in which every secret is masked. `name` is the key that the value belongs to. */
export function maskTree(value: unknown, name = ""): unknown {
  if (typeof value === "string") return isSecretKey(name) || looksSecret(value) ? maskSecret(value) : value;
  if (typeof value === "number" && isSecretKey(name)) return "***";
  if (Array.isArray(value)) return value.map((item) => maskTree(item, name));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskTree(inner, key)]));
  }
  return value;
}
