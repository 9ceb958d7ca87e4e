// What is wrong in a configuration, as data for a person.

export interface ConfigWarning {
  readonly kind: "syntax" | "unreadable" | "unknown_key" | "wrong_value" | "structure" | "unset_variable";
  /** Dotted path of the key; empty when the whole file is meant. */
  readonly path: string;
  /** One sentence without secrets. */
  readonly message: string;
  /** Where in config.yaml, counted from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}
