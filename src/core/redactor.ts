// Removes secrets from text before it is sent to a model, logged, stored, displayed or exported.

export interface RedactOptions {
  /** Source code keeps its assignments and JSON fields readable; known secret values and shapes are still masked. */
  readonly code?: boolean | undefined;
  /** The text is (part of) an env file: every value that may be a secret is masked, also a short one. */
  readonly env?: boolean | undefined;
}

/** A file of `NAME=value` lines with a project's secrets; examples and templates are not. */
export function isEnvFile(path: string): boolean {
  return /(?:^|[\\/])\.env(?:rc)?(?:\.(?!(?:example|sample|template|dist|defaults?)$)[\w.-]+)?$|\.env$/i.test(path);
}

export interface Redactor {
  redact(text: string, options?: RedactOptions): string;
  /** For streamed text: holds back what might be the start of a secret, so that a value split over chunks is caught. */
  stream(options?: RedactOptions): { push(chunk: string): string; end(): string };
  /** Adds a secret that became known at run time (a key that was typed in, a token that was refreshed). */
  learn(value: string): void;
}
