// What the session store and its worker have in common: methods, options, and errors as plain data.
import { UserError } from "../core/failure.ts";
import type { SessionStore } from "../core/session.ts";
import { sqliteCode } from "../lib/sqlite-error.ts";
import type { SqliteSessionStore, SqliteStoreOptions } from "./sqlite-session-store.ts";

/** Methods that are called as they are: all except the generator `exportAll`. */
export type Method = Exclude<keyof SessionStore, "exportAll"> | "exportOrder";

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

/** Replaces the progress function in the arguments: functions cannot be sent to a worker. */
export const PROGRESS = "\u0000progress";

export function packError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  return {
    name: error.name,
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error instanceof UserError ? { exitCode: error.exitCode } : {}),
    ...(error instanceof UserError && error.hint !== undefined ? { hint: error.hint } : {}),
    ...codeOf(error),
  };
}

function codeOf(error: Error): { code?: string | undefined } {
  const code = sqliteCode(error) ?? ("code" in error ? error.code : undefined);
  return typeof code === "string" ? { code } : {};
}

export function unpackError(plain: PlainError): Error {
  if (plain.name === "UserError") {
    return new UserError(plain.message, {
      ...(plain.hint === undefined ? {} : { hint: plain.hint }),
      ...(plain.exitCode === undefined ? {} : { exitCode: plain.exitCode }),
    });
  }
  const error = Object.assign(new Error(plain.message), plain.code === undefined ? {} : { code: plain.code });
  error.name = plain.name;
  if (plain.stack !== undefined) error.stack = plain.stack;
  return error;
}

/** A store whose methods can be called by name. */
export type Callable = { readonly [name in Method]: (...args: never[]) => Promise<unknown> } & SqliteSessionStore;
