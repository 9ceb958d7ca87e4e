// The environment of a script: a short list of harmless names, nothing that looks like a secret, and what was let through.

const SECRET_WORDS = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|PASSWD|AUTH/i;
const KEPT =
  /^(?:PATH|HOME|USER|LANG|LC_|TERM|TMPDIR|TMP|TEMP|SHELL|LOGNAME|XDG_|PYTHONPATH|VIRTUAL_ENV|CONDA|HERMES_|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT)/i;

export interface ScriptEnvironment {
  readonly env: { readonly [name: string]: string | undefined };
  /** Names that the person or a skill declared; they pass whatever they are called. */
  readonly passthrough?: readonly string[];
  /** HOME for children, when the program brings its own. */
  readonly home?: string;
}

/** A HERMES_ variable may carry a secret under a harmless name; what redaction would mask does not go. */
export function scriptEnvironment(
  source: ScriptEnvironment,
  redact: (text: string) => string,
): { [name: string]: string } {
  const declared = new Set(source.passthrough ?? []);
  const env: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(source.env)) {
    if (value === undefined) continue;
    const harmless = KEPT.test(name) && !SECRET_WORDS.test(name);
    const clean = !name.startsWith("HERMES_") || redact(value) === value;
    if (declared.has(name) || (harmless && clean)) env[name] = value;
  }
  if (source.home !== undefined) env.HOME = source.home;
  return env;
}
