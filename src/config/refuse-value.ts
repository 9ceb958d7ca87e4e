// Values that the schema allows and that could not work: they are refused when they are set, not at the first use.
import { UNAVAILABLE_BACKENDS } from "../core/config/execution.ts";
import { UserError } from "../core/failure.ts";

function isAddress(keys: readonly string[]): boolean {
  const last = keys.at(-1) ?? "";
  return last === "base_url" || (keys[0] === "providers" && keys.length === 3 && (last === "api" || last === "url"));
}

function addressProblem(value: string): string | undefined {
  const text = value.trim();
  // A reference is known only when the configuration is read.
  if (text === "" || text.includes("${")) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "")
    return "it must begin with http:// or https:// and name a host, for example http://127.0.0.1:8080/v1";
  return url.username || url.password ? "it must not contain a user name or password; use an API key" : undefined;
}

/** Throws UserError when the value, or one inside it, cannot work. */
export function refuseUnusable(keys: readonly string[], value: unknown): void {
  if (value !== null && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) refuseUnusable([...keys, key], inner);
    return;
  }
  if (typeof value !== "string") return;
  const path = keys.join(".");
  if (/^terminal\.(?:backend|env_type)$/.test(path) && UNAVAILABLE_BACKENDS.includes(value))
    throw new UserError(`${path}: the backend ${value} is not available yet`, {
      hint: "Nothing was changed. Use local, docker or ssh.",
      exitCode: 2,
    });
  const problem = isAddress(keys) ? addressProblem(value) : undefined;
  if (problem !== undefined)
    throw new UserError(`${path}: "${value}" is not an address: ${problem}`, {
      hint: "Nothing was changed.",
      exitCode: 2,
    });
}
