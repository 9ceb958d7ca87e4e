// Finds secrets by their shape: key prefixes, assignments, headers, tokens, key blocks, addresses with passwords.
import type { Span } from "./redact-values.ts";
import { isSecretName } from "./secret-names.ts";

/** Up to 17 characters are masked completely; longer secrets keep the first six and the last four characters. */
export function maskSecret(secret: string): string {
  return secret.length < 18 ? "***" : `${secret.slice(0, 6)}...${secret.slice(-4)}`;
}

/** Matches a mask: masked text must not change when it is redacted again. */
function isMasked(value: string): boolean {
  return value.includes("***") || /^.{6}\.\.\..{4}$/.test(value) || value === "[REDACTED]";
}

/** True for random-looking text: mixed digits and letters, or a long run. */
export function looksRandom(body: string): boolean {
  for (const run of body.split(/[^A-Za-z0-9]+/)) {
    if (run.length >= 24) return true;
    if (run.length < 10) continue;
    if (/\d/.test(run) && /[A-Za-z]/.test(run)) return true;
    if ((run.match(/[a-z][A-Z]|[A-Z][a-z]/g) ?? []).length >= 4) return true;
  }
  return false;
}

interface Shape {
  readonly pattern: RegExp;
  /** The group to mask; the whole match when absent. */
  readonly group?: number | undefined;
  readonly when?: ((match: RegExpExecArray) => boolean) | undefined;
  /** Replaces the usual mask, which keeps a few characters. */
  readonly mask?: string | undefined;
  /** Skipped for source code, which contains many such assignments. */
  readonly prose?: boolean | undefined;
}

// Prefixes that no ordinary word has: one digit or a long body is sufficient.
const STRONG =
  /(?<![A-Za-z0-9_-])(?:sk-|sk_live_|sk_test_|rk_live_|rk_test_|pplx-|gsk_|hsk-|retaindb_|gh[opusr]_|github_pat_|glpat-|xox[baprse]-|xapp-|bb_live_|tvly-|xai-|fw_|gloas-|dop_v1_|doo_v1_|shpat_|dckr_pat_|lin_api_|GOCSPX-|whsec_|AGE-SECRET-KEY-1)([A-Za-z0-9_-]{10,4096})/g;
// Prefixes that identifiers may have too: the body must look random.
const WEAK =
  /(?<![A-Za-z0-9_-])(?:sk_|hf_|r8_|fal_|mem0_|brv_|fc-|exa_|am_|npm_|pypi-|syt_|ntn_|key-|pat-)([A-Za-z0-9_-]{10,4096})/g;
const FIXED =
  /(?<![A-Za-z0-9_-])(?:AIza[A-Za-z0-9_-]{30,64}|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|gAAAA[A-Za-z0-9_=-]{20,4096}|SG\.[A-Za-z0-9_-]{10,64}(?:\.[A-Za-z0-9_-]{1,128})?|ya29\.[A-Za-z0-9_-]{20,1024}|hvs\.[A-Za-z0-9_-]{20,512})/g;
const JWT =
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,8192}={0,2}\.[A-Za-z0-9_-]{4,16384}={0,2}(?:\.[A-Za-z0-9_-]{0,8192}={0,2})?/g;
const TELEGRAM = /(?<![0-9A-Za-z])(?:bot)?(\d{8,12}:[A-Za-z0-9_-]{30,50})(?![A-Za-z0-9_-])/g;
const DISCORD = /(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?![A-Za-z0-9_-])/g;
const WEBHOOK =
  /(?:hooks\.slack\.com\/(?:services|workflows)\/|discord(?:app)?\.com\/api\/webhooks\/\d{6,24}\/)([A-Za-z0-9_/-]{16,256})/g;
const USERINFO = /:\/\/[^\s/@:"'<>]{0,256}:([^\s/@"'<>]{1,512})@/g;
const USER_TOKEN = /:\/\/([A-Za-z0-9_-]{16,512})@/g;
const SECRET_QUERY =
  /[?&](?:access_token|refresh_token|id_token|token|api_key|apikey|client_secret|password|passwd|secret|jwt)=([^\s&#"'<>`\\]{1,4096})/gi;
const QUERY =
  /[?&](?:access_token|refresh_token|id_token|token|api_key|apikey|client_secret|password|passwd|auth|jwt|session|secret|key|code|signature|sig|x-amz-signature|x-amz-security-token|x-amz-credential)=([^\s&#"'<>`\\]{4,4096})/gi;
const AUTH_HEADER =
  /(?<![A-Za-z0-9])(?:proxy-)?authorization["']?[ \t]{0,8}[:=][ \t]{0,8}["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|bot)[ \t]{1,8})?([^\s"',;\\]{6,8192})/gi;
const BEARER = /(?<![A-Za-z0-9])(?:bearer|basic)[ \t]{1,8}([A-Za-z0-9_.~+/=-]{12,8192})/gi;
const FLAG =
  /(?<![^\s"'])--?(?:password|passwd|passphrase|api-key|apikey|token|secret|access-token|auth-token|client-secret)(?:=|[ \t]{1,4})["']?([^\s"'$<>{}]{6,1024})/gi;
const QUOTED_FIELD =
  /["']([A-Za-z][A-Za-z0-9_. -]{1,64})["'][ \t]{0,8}[:=][ \t]{0,8}(?:"((?:[^"\\\n]|\\[^\n]){1,8192})"|'([^'\n]{1,8192})')/g;
const ESCAPED_FIELD = /\\"([A-Za-z][A-Za-z0-9_.-]{1,64})\\"[ \t]{0,8}:[ \t]{0,8}\\"([^"\\\n]{1,8192})\\"/g;
const ASSIGNMENT =
  /(?<![A-Za-z0-9_.$-])([A-Za-z][A-Za-z0-9_.-]{1,64})[ \t]{0,8}(=|:)[ \t]{0,8}(?:"([^"\n]{1,4096})"|'([^'\n]{1,4096})'|([^\s"'`,;&|)}\]]{1,4096}))/g;

const PLACEHOLDER =
  /^(?:\$.*|%.*%|<.*|\{.*|\[.*|\(.*|true|false|null|none|nil|undefined|string|number|boolean|object|any|unknown|str|int|bool|bytes|optional.*|required|missing|set|unset|ok|yes|no|your[-_ ].*|x{3,}.*|\*+|\.{3}|…|changeme|example)$/i;

/** True when the value of a secret name is a secret: not a placeholder, a number, a path, a call or a type. */
function isAssignedSecret(name: string, value: string, operator = "="): boolean {
  if (value.length < 4 || isMasked(value) || PLACEHOLDER.test(value)) return false;
  if (/^[\d.]{1,12}$/.test(value) || /^(?:\.{0,2}\/|~|https?:\/\/)/.test(value)) return false;
  if (/[([{]|=>|::/.test(value)) return false;
  if (/^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(value)) return false;
  if (name === name.toUpperCase() && operator === "=") return true;
  if (/pass/i.test(name)) return operator === "=" || /[\d\W_]/.test(value);
  return value.length >= 8 && (/\d/.test(value) || value.length >= 24) && !/^[a-z]+(?:[-_ ][a-z]+)*$/.test(value);
}

const SHAPES: readonly Shape[] = [
  { pattern: STRONG, when: (match) => /\d/.test(match[1] ?? "") || looksRandom(match[1] ?? "") },
  { pattern: WEAK, when: (match) => looksRandom(match[1] ?? "") },
  { pattern: FIXED },
  { pattern: JWT },
  { pattern: TELEGRAM, group: 1, when: (match) => /[A-Za-z]/.test(match[1] ?? "") },
  { pattern: DISCORD, when: (match) => /\d/.test(match[0]) },
  { pattern: WEBHOOK, group: 1 },
  { pattern: USERINFO, group: 1, when: (match) => !PLACEHOLDER.test(match[1] ?? "") },
  { pattern: USER_TOKEN, group: 1, when: (match) => looksRandom(match[1] ?? "") },
  { pattern: SECRET_QUERY, group: 1, when: (match) => !PLACEHOLDER.test(match[1] ?? "") },
  { pattern: QUERY, group: 1, when: (match) => !PLACEHOLDER.test(match[1] ?? "") },
  { pattern: AUTH_HEADER, group: 1, when: (match) => isHeaderSecret(match[1] ?? "") },
  {
    pattern: BEARER,
    group: 1,
    when: (match) => looksRandom(match[1] ?? "") || /^[A-Za-z0-9+/]{12,}={1,2}$/.test(match[1] ?? ""),
  },
  { pattern: FLAG, group: 1, when: (match) => /\d|[^A-Za-z-]/.test(match[1] ?? ""), prose: true },
  { pattern: QUOTED_FIELD, group: 2, when: isSecretField, prose: true },
  { pattern: QUOTED_FIELD, group: 3, when: isSecretField, prose: true },
  { pattern: ESCAPED_FIELD, group: 2, when: isSecretField, prose: true },
  ...[3, 4, 5].map((group) => ({ pattern: ASSIGNMENT, group, when: isSecretAssignment, prose: true })),
];

function isHeaderSecret(value: string): boolean {
  return !PLACEHOLDER.test(value) && (/\d/.test(value) || value.length >= 20) && !/^[a-z]+$/.test(value);
}

function isSecretField(match: RegExpExecArray): boolean {
  const value = match[2] ?? match[3] ?? "";
  return isSecretName(match[1] ?? "") && value.length >= 4 && !isMasked(value) && !PLACEHOLDER.test(value);
}

function isSecretAssignment(match: RegExpExecArray): boolean {
  const value = match[3] ?? match[4] ?? match[5] ?? "";
  return isSecretName(match[1] ?? "") && isAssignedSecret(match[1] ?? "", value, match[2]);
}

const PII: readonly Shape[] = [
  { pattern: /<@[!&]?(\d{15,21})>/g, group: 1, mask: "***" },
  { pattern: /(?<![\w+])\+[1-9]\d{7,14}(?!\w)/g },
];

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Private key blocks; an unterminated block is masked to the end of its key material. */
function pemSpans(text: string): Span[] {
  const spans: Span[] = [];
  const begins = [...text.matchAll(PEM_BEGIN)];
  const ends = [...text.matchAll(PEM_END)];
  let at = 0;
  for (const [index, begin] of begins.entries()) {
    const body = begin.index + begin[0].length;
    while ((ends[at]?.index ?? text.length) < body) at += 1;
    const end = ends[at];
    const next = begins[index + 1]?.index ?? text.length;
    const stop = end && end.index < next ? end.index + end[0].length : unfinishedPem(text, body);
    if (stop > body + 8) spans.push({ start: begin.index, end: stop, mask: "[REDACTED PRIVATE KEY]" });
  }
  return spans;
}

/** The end of key material whose end line is missing. */
function unfinishedPem(text: string, from: number): number {
  const body = /(?:\s|\\[nr]|[A-Za-z0-9+/=:,-]{32,}|[A-Za-z0-9+/=]+(?=\s|\\n|$))*/y;
  body.lastIndex = from;
  return from + (body.exec(text)?.[0].length ?? 0);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes inside a key hide it
const HIDDEN = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\u001b\[[0-?]*[ -/]*[@-~]|\u001b/g;

/** The spans of a text in which invisible characters are ignored: one inside a key would hide it. */
export function visibleSpans(text: string, find: (plain: string) => Span[]): Span[] {
  HIDDEN.lastIndex = 0;
  if (!HIDDEN.test(text)) return find(text);
  HIDDEN.lastIndex = 0;
  const positions: number[] = [];
  const parts: string[] = [];
  let at = 0;
  for (const match of text.matchAll(HIDDEN)) {
    parts.push(text.slice(at, match.index));
    for (; at < match.index; at++) positions.push(at);
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  for (; at < text.length; at++) positions.push(at);
  return find(parts.join("")).map(({ start, end, mask }) => ({
    start: positions[start] ?? 0,
    end: (positions[end - 1] ?? text.length - 1) + 1,
    mask,
  }));
}

/** All secret-shaped spans, in no particular order; they may overlap. */
export function shapeSpans(text: string, options: { code: boolean; pii: boolean }): Span[] {
  const spans = text.includes("-----BEGIN") ? pemSpans(text) : [];
  for (const shape of options.pii ? [...SHAPES, ...PII] : SHAPES) {
    if (shape.prose && options.code) continue;
    collect(text, shape, spans);
  }
  return spans;
}

function collect(text: string, shape: Shape, spans: Span[]): void {
  const { pattern } = shape;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const secret = match[shape.group ?? 0];
    if (secret === undefined || isMasked(secret) || (shape.when && !shape.when(match))) {
      // The value of a harmless pair may itself be the start of a pair: `a: password: x`.
      pattern.lastIndex = match.index + Math.max(1, match[1]?.length ?? 1);
      continue;
    }
    const start = match.index + (shape.group ? match[0].lastIndexOf(secret) : 0);
    spans.push({ start, end: start + secret.length, mask: shape.mask ?? maskSecret(secret) });
  }
}
