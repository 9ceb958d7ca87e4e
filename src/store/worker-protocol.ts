// What the worker threads of the store and their clients share: options, method names and errors as plain data.
import { UserError } from "../core/failure.ts";
import { sqliteCode } from "../lib/sqlite-error.ts";
import type { FullStore } from "./full-store.ts";
import type { SqliteSessionStore, SqliteStoreOptions } from "./sqlite-session-store.ts";

/** Methods that are called in the worker as they are: all except `exportAll`, which is a stream. */
export type Method = Exclude<keyof FullStore, "exportAll"> | "exportOrder";

export type WorkerOptions = Pick<
  SqliteStoreOptions,
  "path" | "runtimePath" | "indexLayout" | "busyTimeoutMs" | "readOnly"
>;

export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly code?: string | undefined;
  readonly stack?: string | undefined;
}

/** Replaces a progress function in the arguments: functions cannot be sent to a worker. */
export const PROGRESS = "\u0000progress";

export function packError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, stack } = error;
  const code = sqliteCode(error) ?? ("code" in error ? error.code : undefined);
  const { hint, exitCode } = error instanceof UserError ? error : {};
  return { name, message, stack, hint, exitCode, code: typeof code === "string" ? code : undefined };
}

export function unpackError({ name, message, stack, hint, exitCode, code }: PlainError): Error {
  if (name === "UserError") return new UserError(message, { hint, exitCode });
  const error = Object.assign(new Error(message), code === undefined ? {} : { code });
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}

/** A store whose methods can be called by name. */
export type Callable = { readonly [name in Method]: (...args: never[]) => Promise<unknown> } & SqliteSessionStore;
