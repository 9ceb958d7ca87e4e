// Masks values in env files: by name, or because they look random.
import type { Span } from "./redact-values.ts";
import { isSecretName } from "./secret-names.ts";

/** `NAME=value`, also after a line number, a diff sign, `export` or a comment sign. */
const LINE = /^([ \t]*(?:\d+[|:])?[ \t]*[+\-#]?[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*)(\S[^\n]*)$/gm;
const MASKED = /^["']?\*{3}/;

/** A random-looking word of letters and digits. */
function looksRandom(value: string): boolean {
  const word = value.replace(/^["']|["']$/g, "");
  return (
    /^[A-Za-z0-9+/=_.-]{12,}$/.test(word) && /\d/.test(word) && /[A-Za-z]/.test(word) && !/^\d+(?:\.\d+)*/.test(word)
  );
}

function isSecretEnv(name: string, value: string): boolean {
  return (
    isSecretName(name) ||
    /(?:CREDS?|PASS|PASSWD|SALT|DSN|SIGNATURE|COOKIE|SESSION|KEY|CERT)$/i.test(name) ||
    looksRandom(value)
  );
}

export function envSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(LINE)) {
    const [, lead = "", name = "", value = ""] = match;
    if (MASKED.test(value) || !isSecretEnv(name, value)) continue;
    const start = match.index + lead.length;
    spans.push({ start, end: start + value.trimEnd().length, mask: "***" });
  }
  return spans;
}
