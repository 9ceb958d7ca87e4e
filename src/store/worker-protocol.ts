// The messages between a worker-hosted store and its owner.
import { UserError } from "../core/failure.ts";
import type { SessionStore } from "../core/session.ts";
import { sqliteCode } from "../lib/sqlite-error.ts";
import type { SqliteSessionStore, SqliteStoreOptions } from "./sqlite-session-store.ts";

/** Calls that travel as they are: everything except the stream of `exportAll`. */
export type Method = Exclude<keyof SessionStore, "exportAll"> | "exportOrder";

export type WorkerOptions = Pick<
  SqliteStoreOptions,
  "path" | "runtimePath" | "indexLayout" | "busyTimeoutMs" | "readOnly"
>;

export interface Call {
  readonly id: number;
  readonly method: Method | "open";
  readonly args: readonly unknown[];
}

export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly code?: string | undefined;
  readonly stack?: string | undefined;
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: PlainError }
  | { readonly id: number; readonly progress: readonly [number, number] }
  | { readonly notice: string };

/** Stands in an argument for the caller's progress function, which cannot travel. */
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
