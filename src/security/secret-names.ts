// Recognises secret names of variables, fields and headers. Used by redaction, child environments and the audit.

const ALWAYS = new Set([
  "password",
  "passwd",
  "passphrase",
  "pwd",
  "secret",
  "secrets",
  "token",
  "apikey",
  "credential",
  "credentials",
  "creds",
  "passcode",
  "bearer",
  "authorization",
  "privatekey",
  "secretkey",
  "accesskey",
  "accesstoken",
  "authtoken",
  "clientsecret",
]);

/** Words that make a following `key` secret; a bare `key` is an ordinary word. */
const KEY_KINDS = new Set([
  "api",
  "access",
  "secret",
  "private",
  "auth",
  "signing",
  "encryption",
  "service",
  "master",
  "account",
  "subscription",
  "app",
  "admin",
  "role",
  "openai",
  "anthropic",
  "openrouter",
  "gemini",
  "groq",
  "mistral",
  "deepseek",
  "stripe",
  "aws",
]);

/** A last word that describes a secret without being one: `token_count`, `KEY_FILE`. */
const ABOUT = new Set([
  "count",
  "counts",
  "limit",
  "max",
  "min",
  "file",
  "path",
  "dir",
  "name",
  "names",
  "url",
  "uri",
  "endpoint",
  "type",
  "types",
  "ttl",
  "expires",
  "expiry",
  "expiration",
  "length",
  "len",
  "size",
  "budget",
  "usage",
  "enabled",
  "required",
  "sock",
  "method",
  "mode",
  "policy",
  "header",
  "prefix",
  "suffix",
  "hint",
  "env",
  "var",
  "index",
  "manager",
  "provider",
  "store",
  "reset",
  "field",
  "input",
  "form",
]);

/** Splits a name into words: `apiKey`, `API_KEY` and `api-key` give the same ones. */
export function nameWords(name: string): readonly string[] {
  return name
    .slice(0, 128)
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

/** True when a value under this name must not be shown. Works for variables, JSON fields and headers. */
export function isSecretName(name: string): boolean {
  const words = nameWords(name);
  const last = words[words.length - 1];
  if (last === undefined || ABOUT.has(last) || words.includes("public")) return false;
  for (const [index, word] of words.entries()) {
    if (ALWAYS.has(word) || /(?:password|passwd|apikey|secret)$/.test(word)) return true;
    if (word === "key" && (KEY_KINDS.has(words[index - 1] ?? "") || isSecretVariable(name, index, words))) return true;
    if (word === "auth" && index === words.length - 1 && name === name.toUpperCase()) return true;
    if (word === "pat" && name === name.toUpperCase()) return true;
    // `MYSQL_PASS`, not the `PASS` of a test report.
    if ((word === "pass" || word === "cred") && index > 0 && index === words.length - 1) return true;
  }
  return false;
}

/** In a variable such as OPENROUTER_KEY the last word decides. */
function isSecretVariable(name: string, index: number, words: readonly string[]): boolean {
  return index > 0 && index === words.length - 1 && name === name.toUpperCase();
}

/** True for values that should be masked everywhere: long enough, and not a switch, a number or a path. */
export function isSecretValue(value: string): boolean {
  if (value.length < 6) return false;
  if (
    /^(?:true|false|enabled|disabled|default|none|null|undefined|postgres|password|changeme|example|secret|localhost|\d{1,8})$/i.test(
      value,
    )
  )
    return false;
  return !/^(?:\.{0,2}\/|~\/|[A-Za-z]:\\)[^\s]*$/.test(value) || value.length > 200;
}

/** The passwords in addresses, such as `postgres://user:password@host`. */
function addressPasswords(value: string): string[] {
  return [...value.matchAll(/[a-z][\w+.-]*:\/\/[^\s/@:]*:([^\s/@]{4,})@/gi)].map((match) => match[1] ?? "");
}

/** The strings of inline JSON, for service accounts in a variable. */
function jsonKeys(value: string): string[] {
  if (!value.trimStart().startsWith("{") || !/private_key|client_secret|"password"/.test(value)) return [];
  return [...value.matchAll(/"(?:private_key|client_secret|password|private_key_id)"\s*:\s*"([^"]{8,})"/g)].map(
    (match) => match[1] ?? "",
  );
}

/** The secret values of an environment. */
export function collectSecretValues(env: { readonly [name: string]: string | undefined }): string[] {
  const values = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (isSecretName(name) && isSecretValue(value)) values.add(value);
    for (const found of [...addressPasswords(value), ...jsonKeys(value)]) if (isSecretValue(found)) values.add(found);
  }
  return [...values];
}
