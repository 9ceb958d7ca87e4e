// Detects values that cannot be keys: placeholders, truncated copies, references to unset variables.

/** No service on the internet issues shorter keys. */
const SHORTEST_REMOTE_KEY = 6;

/** Words that users of local servers write when no key is needed. They are not keys of a service on the internet. */
const NO_KEY_WORDS = new Set([
  "none",
  "null",
  "nil",
  "undefined",
  "empty",
  "dummy",
  "test",
  "secret",
  "password",
  "example",
  "not-needed",
  "not-required",
  "no-key",
  "no-key-required",
  "n/a",
]);

const PLACEHOLDERS: readonly RegExp[] = [
  // sk-..., sk-…, ***, sk-***
  /\.{3}|…|\*{2,}|•/,
  // <key>, [key], {{key}}
  /^(?:<.*>|\[.*\]|\{.*\})$/,
  // xxxx, sk-xxxx, sk-or-v1-XXXX
  /^(?:[a-z0-9]{1,4}[-_])*x{3,}(?:[-_]?x+)*$/i,
  /^(?:[a-z0-9]{1,4}[-_])*(?:0{6,}|_{3,}|-{3,}|#{3,}|\?{3,})$/i,
  /(?:change|replace|fill|edit)[-_ ]?(?:me|this|it|in)(?![a-z])/i,
  // your-key-here, YOUR_OPENAI_API_KEY, insert-token
  /(?:^|[^a-z])(?:your|insert|enter|put|paste)[-_ ]?(?:[a-z0-9]+[-_ ]){0,3}(?:api[-_ ]?)?(?:key|token|secret)(?![a-z])/i,
  /(?:key|token|secret)[-_ ]?(?:goes[-_ ]?)?here/i,
  /^(?:(?:my[-_ ]?)?api[-_ ]?key|access[-_ ]?token|placeholder|todo|tbd|fixme|redacted|hidden|masked|sample[-_ ]?key|example[-_ ]?key|sk-|sk-ant-|sk-or-|sk-or-v1-)$/i,
];

/** Why the text cannot be a key; undefined when it may be one. `local` is a server on this machine or network. */
export function keyProblem(value: string, local: boolean): string | undefined {
  const key = value.trim();
  if (key === "") return "it is empty";
  const reference = /\$\{(\w+)\}/.exec(key)?.[1];
  if (reference !== undefined) return `it refers to ${reference}, which is not set`;
  if (/\s/.test(key)) return "it contains a space or a line break";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a header cannot carry them
  if (/[\u0000-\u001f\u007f]/.test(key)) return "it contains a control character";
  if (PLACEHOLDERS.some((pattern) => pattern.test(key))) return "it is a placeholder";
  if (/[^\u0021-\u007e]/.test(key)) return "it contains a character that no key has";
  if (local) return undefined;
  if (NO_KEY_WORDS.has(key.toLowerCase())) return "it is a placeholder";
  return key.length < SHORTEST_REMOTE_KEY ? "it is too short" : undefined;
}

export function isUsableKey(value: string | undefined, local: boolean): value is string {
  return value !== undefined && keyProblem(value, local) === undefined;
}
